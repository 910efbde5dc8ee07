//! Multiclass as a structure: one label out of several for each example.

use super::{MulticlassBlocks, MulticlassOracle, ScoreBlocks};
use crate::ball::{BallSettings, ClassLosses};
use crate::container::{Fault, Reader, Tensor};
use crate::data::{Classes, Examples, Format, Loaded, Recipe, Sequences, Source};
use crate::linalg::kernels::argmax;
use crate::structure::definition::{needs_smooth, refuse_all_but_ridge_and_l1};
use crate::structure::evaluation::{Evaluation, LabelEvaluation, log_loss};
use crate::structure::fitted::{no_probabilities, softmax};
use crate::structure::own::{OracleBlocks, Rescaling};
use crate::structure::posed::{Posed, Posing};
use crate::structure::remarks::{mistakes, on_costs};
use crate::structure::words::{digest, exact, range, rescaled};
use crate::structure::{Choice, Fitted, Names, Purpose, Structure, Table, WeightOf, Words};
use crate::term::{Costs, MulticlassLoss, Penalty};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One label out of several, under a loss of the scores of all of them.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::Budget;
/// use dualgap::structure::Multiclass;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::Penalty;
///
/// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![0.9, 0.0], vec![0.0, 0.7]];
/// let data = Examples::from_dense(&rows, &["left", "right", "left", "right"])?;
/// let task = Task::new(Multiclass::default(), Penalty::ridge(0.01));
/// let report = task.fit(&data, Plan::new(Budget::relative(1e-4)))?;
/// assert_eq!(report.model.predict(&data)?, [0, 1, 0, 1]);
/// assert!(report.model.certify(&data)?.certificate.relative_gap() <= 1e-4);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Multiclass {
    /// The loss of the scores.
    #[serde(default)]
    pub loss: MulticlassLoss,
    /// What each mistake costs.
    #[serde(skip)]
    pub costs: Costs,
    /// How the cost and the score of a class make the hinge.
    #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
    pub rescaling: Rescaling,
}

impl Multiclass {
    /// Returns the structure with this loss, under which every mistake costs 1.
    pub fn new(loss: MulticlassLoss) -> Self {
        Self { loss, ..Self::default() }
    }

    /// Returns the structural hinge with these costs.
    pub fn with_costs(costs: Costs) -> Self {
        Self { costs, ..Self::default() }
    }

    /// Returns the structure with the hinge in this form.
    #[must_use]
    pub fn rescaled(self, rescaling: Rescaling) -> Self {
        Self { rescaling, ..self }
    }

    /// Returns the blocks under slack rescaling, whose corners are classes with their costs.
    fn slack_blocks<'d>(
        &self,
        data: &'d Examples,
    ) -> Result<OracleBlocks<'d, MulticlassOracle<'d>>> {
        // What these blocks refuse has the same reasons.
        MulticlassBlocks::new(data, &self.costs)?;
        let classes = data.classes()?;
        let (width, labels) = (data.rows().width(), classes.alphabet().len());
        let oracle = MulticlassOracle::new(width, labels, &self.costs)?;
        let numbers = classes.numbers().iter().enumerate();
        let examples = numbers.map(|(i, &label)| (data.rows().row(i), label)).collect();
        Ok(OracleBlocks::owned(oracle, examples)?.rescaled(Rescaling::Slack))
    }

    /// Returns an error if the loss has no such rescaling.
    fn check_rescaling(&self) -> Result<()> {
        if self.rescaling.is_margin() || self.loss == MulticlassLoss::Hinge {
            return Ok(());
        }
        Err(Error::setting(format!(
            "slack rescaling is for the hinge: take {} hinge, or {} margin",
            Setting::Loss,
            Setting::Rescale
        )))
    }
}

/// The layout, prediction and words of structures that have a score for every label of a row.
pub(crate) mod by_label {
    use super::{Fitted, Names, WeightOf};
    use crate::Result;
    use crate::linalg::Rows;
    use crate::structure::Table;

    pub fn layout(names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        vec![("weights", vec![names.features, names.alphabet.len()])]
    }

    pub fn weight(names: &Names, place: usize) -> WeightOf {
        let labels = names.alphabet.len().max(1);
        let (feature, label) = (Some(place / labels), Some(place % labels));
        WeightOf { kind: "feature", feature, from: None, label }
    }

    pub fn scores(fitted: Fitted<'_>, rows: &Rows) -> Result<Table> {
        let scores = fitted.each(rows, |row| fitted.scores(row))?;
        Ok(Table::of(fitted.names.alphabet.len(), &scores))
    }
}

/// Returns what is wrong with fewer than two labels, and what to do about it.
pub(crate) fn too_few(labels: usize, what: &str) -> Option<(String, String)> {
    let message = format!("there must be at least two {what} to tell apart, and it has {labels}");
    let remedy = "is the label where the format has it, and are the folds the right ones?";
    (labels < 2).then(|| (message, remedy.into()))
}

/// Returns the error for slack rescaling under the l1 norm alone.
pub(crate) fn slack_needs_lambda() -> Error {
    Error::setting(format!(
        "slack rescaling needs a lambda: {} 0, the l1 norm alone, goes with {} margin",
        Setting::Lambda,
        Setting::Rescale
    ))
}

/// Returns the error for options of Prox-SDCA under slack rescaling.
pub(crate) fn option_needs_margin() -> Error {
    Error::setting(format!(
        "the options of Prox-SDCA are for margin rescaling: leave {} out, or take {} margin",
        Setting::Option,
        Setting::Rescale
    ))
}

impl Structure for Multiclass {
    const NAME: &'static str = "multiclass";
    type Data = Examples;
    type Output = usize;

    fn names(&self, data: &Examples) -> Result<Names> {
        data.classes()?;
        Ok(Names::of(data.vocabulary()))
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.loss.check()?;
        self.check_rescaling()?;
        if names.alphabet.is_empty() {
            return Err(Error::setting("there is no class to predict"));
        }
        self.costs.check(names.alphabet.len()).map(drop)
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        self.check_rescaling()?;
        match penalty {
            Penalty::Ball { .. } if self.loss.smoothness() > 0.0 => Ok(()),
            Penalty::Ball { .. } => Err(needs_smooth("smooth-hinge or softmax")),
            Penalty::Lasso { .. } if !self.rescaling.is_margin() => Err(slack_needs_lambda()),
            _ => refuse_all_but_ridge_and_l1(penalty),
        }
    }

    fn allows_option(&self, _: Choice, _: &Penalty) -> Result<()> {
        if self.rescaling.is_margin() { Ok(()) } else { Err(option_needs_margin()) }
    }

    fn allows_in_ball(&self, settings: &BallSettings) -> Result<()> {
        settings.check_curved(self.loss.conditioning())
    }

    fn weighs_columns(&self) -> bool {
        true
    }

    fn pose<'d>(&'d self, data: &'d Examples, posing: &Posing<'_>) -> Result<Posed<'d>> {
        if posing.penalty.ball().is_some() {
            let classes = data.classes()?;
            let (numbers, count) = (classes.numbers(), classes.alphabet().len());
            let losses = ClassLosses::new(self.loss, numbers, count, &self.costs)?;
            return Posed::in_ball(data.rows(), losses, posing);
        }
        if self.rescaling == Rescaling::Slack {
            return Ok(Posed::penalised(self.slack_blocks(data)?, posing));
        }
        match (self.loss, posing.choice) {
            (MulticlassLoss::Hinge, None) => {
                Ok(Posed::with_corners(MulticlassBlocks::new(data, &self.costs)?, posing))
            }
            (loss, choice) => {
                let choice = choice.unwrap_or(Choice::I);
                Ok(Posed::curved(ScoreBlocks::new(data, &self.costs, loss, choice)?, posing))
            }
        }
    }

    /// A witness under slack rescaling has its classes in another form.
    fn is_akin(&self, other: &Self) -> bool {
        self.rescaling == other.rescaling
    }

    /// A point is a distribution over classes; their numbers may differ between the two models.
    fn relabel(
        &self,
        names: &Names,
        _: &Examples,
        _: usize,
        old: &Names,
        entries: &[(u64, f64)],
    ) -> Option<Vec<(u64, f64)>> {
        if self.rescaling == Rescaling::Slack {
            return (old.alphabet == names.alphabet).then(|| entries.to_vec());
        }
        let class = |key: u64| names.alphabet.index(old.alphabet.names().get(key as usize)?);
        let mut entries: Vec<(u64, f64)> = entries
            .iter()
            .map(|&(key, weight)| Some((class(key)? as u64, weight)))
            .collect::<Option<_>>()?;
        entries.sort_unstable_by_key(|&(key, _)| key);
        Some(entries)
    }

    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        by_label::layout(names)
    }

    fn put(&self, put: &mut dyn FnMut(&str, Tensor)) {
        if let Costs::Matrix(costs) = &self.costs {
            let classes = costs.len().isqrt();
            put("costs", Tensor::f64(&[classes, classes], costs));
        }
    }

    fn take(self, file: &Reader<'_>, names: &Names) -> Result<Self, Fault> {
        let classes = names.alphabet.len();
        let costs = if file.has("costs") {
            Costs::Matrix(file.f64("costs", &[classes, classes])?)
        } else {
            Costs::ZeroOne
        };
        Ok(Self { costs, ..self })
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Vec<usize>> {
        fitted.each(data.rows(), |row| fitted.best(row))
    }

    fn scores(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        by_label::scores(fitted, data.rows())
    }

    fn check_probabilities(&self) -> Result<()> {
        if self.loss != MulticlassLoss::Softmax {
            return Err(no_probabilities());
        }
        Ok(())
    }

    fn probabilities(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        self.check_probabilities()?;
        let mut table = self.scores(fitted, data)?;
        table.values.chunks_exact_mut(table.columns.max(1)).for_each(|row| _ = softmax(row));
        Ok(table)
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Evaluation> {
        let classes = data.classes()?;
        let probabilities = match self.loss {
            MulticlassLoss::Softmax => Some(self.probabilities(fitted, data)?),
            _ => None,
        };
        let predicted = match &probabilities {
            Some(table) => {
                let rows = table.values.chunks_exact(table.columns.max(1));
                rows.map(|row| argmax(row.iter().copied()).0).collect()
            }
            None => self.predict(fitted, data)?,
        };
        let evaluation = compare(classes, &predicted, data.weights(), fitted.names);
        Ok(Evaluation::Labels(Box::new(match probabilities {
            None => evaluation,
            Some(table) => {
                let column = |i: usize| fitted.names.alphabet.index(classes.name(i));
                let truths = (0..classes.len()).map(|i| column(i).map_or(0.0, |k| table.row(i)[k]));
                evaluation.with_log_loss(log_loss(truths, data.weights()))
            }
        })))
    }

    fn describe(&self, names: &Names) -> Words {
        let (costs, json, remarks) = match (&self.costs, self.loss) {
            (_, MulticlassLoss::Softmax) => (None, Value::Null, None),
            (Costs::ZeroOne, _) => {
                (Some("every mistake costs 1".into()), json!({ "name": "zero_one" }), None)
            }
            (Costs::Matrix(costs), loss) => {
                let classes = names.alphabet.len();
                let (line, json) = matrix_of_costs(costs, classes);
                (Some(line), json, on_costs(costs, classes, loss))
            }
        };
        let rescaling = match self.loss {
            MulticlassLoss::Hinge => json!(self.rescaling),
            _ => Value::Null,
        };
        Words {
            task: "multiclass",
            predicts: format!("{} labels", names.alphabet.len()),
            loss: match self.loss {
                MulticlassLoss::Hinge => format!("hinge{}", rescaled(self.rescaling)),
                MulticlassLoss::SmoothHinge { width } => {
                    format!("smooth-hinge (width {})", exact(width))
                }
                MulticlassLoss::Softmax => "softmax".into(),
            },
            lines: costs.into_iter().map(|costs| ("costs", costs)).collect(),
            remarks: remarks.into_iter().collect(),
            ..Words::default()
        }
        .with("loss", json!(self.loss))
        .with("costs", json)
        .with("rescaling", rescaling)
    }

    fn spell(&self, names: &Names, &output: &usize) -> Vec<String> {
        vec![names.alphabet.names()[output].clone()]
    }

    fn weight(&self, names: &Names, place: usize) -> WeightOf {
        by_label::weight(names, place)
    }

    fn guess(head: &str) -> Format {
        Format::guess_examples(head)
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<Examples>> {
        recipe.examples(source, purpose.known().map(Names::vocabulary))
    }

    fn of_sequences(sequences: Sequences) -> Option<Examples> {
        Some(sequences.into())
    }

    fn complaint(&self, data: &Examples) -> Option<(String, String)> {
        too_few(data.vocabulary().alphabet.len(), "classes")
    }

    fn classes<'d>(&self, data: &'d Examples) -> Option<&'d Classes> {
        data.classes().ok()
    }
}

/// Compares predicted classes with the true ones by name.
pub(crate) fn compare(
    classes: &Classes,
    predicted: &[usize],
    weights: Option<&[f64]>,
    names: &Names,
) -> LabelEvaluation {
    let mut evaluation = LabelEvaluation::default();
    for (i, &label) in predicted.iter().enumerate() {
        let name = names.alphabet.names().get(label).map_or("", String::as_str);
        match weights {
            Some(weights) => {
                evaluation.compare_weighted(&[classes.name(i)], &[name], weights[i]);
            }
            None => evaluation.compare(&[classes.name(i)], &[name]),
        }
    }
    evaluation
}

fn matrix_of_costs(costs: &[f64], classes: usize) -> (String, Value) {
    let mistakes = || mistakes(costs, classes);
    let (smallest, largest) = range(mistakes());
    let (zeros, digest) = (mistakes().filter(|&cost| cost == 0.0).count(), digest(costs));
    let line = format!(
        "a matrix: mistakes cost from {} to {} (SHA-256 {digest:.16}…)",
        exact(smallest),
        exact(largest)
    );
    let json = json!({
        "name": "matrix", "smallest": smallest, "largest": largest, "zeros": zeros, "digest": digest,
    });
    (line, json)
}
