//! Chains as a structure: a label for each position of a sequence.

use super::blocks::layout as chain_layout;
use super::legal::{self, Legal};
use super::n_best::n_best;
use super::{
    Beam, ChainBlocks, ChainLayout, ChainOracle, Hamming, Label, Viterbi, crf, edges, slack,
};
use crate::data::{Format, Loaded, Recipe, Scheme, Sequences, Source};
use crate::linalg::memory::reserve_check;
use crate::linalg::parallel;
use crate::structure::definition::{refuse_all_but_ridge, refuse_all_but_ridge_and_l1};
use crate::structure::evaluation::{Calibration, Evaluation, LabelEvaluation, SequenceCalibration};
use crate::structure::fitted::{no_probabilities, no_scores};
use crate::structure::multiclass::definition::{option_needs_margin, slack_needs_lambda, too_few};
use crate::structure::own::{OracleBlocks, Rescaling};
use crate::structure::posed::{Posed, Posing};
use crate::structure::prox_sdca::{check_choice, stepped};
use crate::structure::words::rescaled;
use crate::structure::{
    Choice, Fitted, Names, Purpose, Ranked, Remark, RemarkKind, Structure, Table, WeightOf, Words,
};
use crate::term::Penalty;
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;

/// The loss of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChainLoss {
    /// The structural hinge: the largest loss of a labeling plus its score, less the score of the truth.
    #[default]
    Hinge,
    /// The negative log-likelihood of the truth: a conditional random field, whose models have probabilities.
    Log,
}

impl ChainLoss {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_hinge(&self) -> bool {
        *self == Self::Hinge
    }
}

/// A label for each position of a sequence, by a first-order chain under the structural hinge or the log-loss.
///
/// ```
/// use dualgap::data::Sequences;
/// use dualgap::run::Budget;
/// use dualgap::structure::Chain;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::Penalty;
///
/// let names = ["a", "b"].map(String::from);
/// let rows = [vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![vec![0.9, 0.1]]];
/// let data = Sequences::from_dense(&rows, &[vec![0, 1], vec![0]], &names)?;
/// let task = Task::new(Chain::default(), Penalty::ridge(0.01));
/// let model = task.fit(&data, Plan::new(Budget::relative(1e-4)))?.model;
/// assert_eq!(model.predict(&data)?, [vec![0, 1], vec![0]]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// How mistakes are counted.
    pub hamming: Hamming,
    /// How the loss and the score of a labeling make the hinge.
    #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
    pub rescaling: Rescaling,
    /// The search for labelings, if it is not Viterbi's algorithm. The problem is the same; what is certified of it rests
    /// on the search. Predictions are those of Viterbi's algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beam: Option<Beam>,
    /// The loss; the other fields are about the hinge.
    #[serde(default, skip_serializing_if = "ChainLoss::is_hinge")]
    pub loss: ChainLoss,
    /// The scheme whose illegal labelings are forbidden: they are no outputs, neither in training nor in predictions, so
    /// that the largest loss and log Z range over the legal ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forbid: Option<Scheme>,
}

impl Chain {
    /// Returns a conditional random field: the log-loss in the place of the hinge.
    ///
    /// ```
    /// use dualgap::data::Sequences;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Chain;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let names = ["a", "b"].map(String::from);
    /// let rows = [vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![vec![0.9, 0.1]]];
    /// let data = Sequences::from_dense(&rows, &[vec![0, 1], vec![0]], &names)?;
    /// let task = Task::new(Chain::crf(), Penalty::ridge(0.01));
    /// let model = task.fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
    /// assert!(model.certificate.relative_gap() <= 1e-6);
    /// let marginals = model.probabilities(&data)?; // a row for every position
    /// assert!(marginals.row(1)[1] > 0.5 && (marginals.row(1).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn crf() -> Self {
        Self { loss: ChainLoss::Log, ..Self::default() }
    }

    /// Returns the structure that counts mistakes so.
    pub fn new(hamming: Hamming) -> Self {
        Self { hamming, ..Self::default() }
    }

    /// Returns the structure with the hinge in this form.
    #[must_use]
    pub fn rescaled(self, rescaling: Rescaling) -> Self {
        Self { rescaling, ..self }
    }

    /// Returns the structure without the labelings that a scheme forbids.
    ///
    /// ```
    /// use dualgap::data::{Scheme, Sequences};
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Chain;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let names = ["B-X", "I-X", "O"].map(String::from);
    /// let x = |word: usize| (0..3).map(|k| f64::from(k == word)).collect::<Vec<f64>>();
    /// let data = Sequences::from_dense(&[vec![x(0), x(1), x(2)]], &[vec![0, 1, 2]], &names)?;
    /// let task = Task::new(Chain::default().forbidding(Some(Scheme::Bio)), Penalty::ridge(0.01));
    /// let model = task.fit(&data, Plan::new(Budget::relative(1e-4)))?.model;
    /// // The words alone look like O and I-X, which does not begin a chunk.
    /// let new = Sequences::from_dense(&[vec![x(2), x(1)]], &[vec![0, 0]], &names)?;
    /// assert_ne!(model.predict(&new)?[0], [2, 1]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[must_use]
    pub fn forbidding(self, scheme: Option<Scheme>) -> Self {
        Self { forbid: scheme, ..self }
    }

    /// Returns the structure that is trained by this search for labelings.
    #[must_use]
    pub fn searched(self, beam: Option<Beam>) -> Self {
        Self { beam, ..self }
    }

    /// Returns −log p(y|x) of every sequence under a conditional random field: what its labels cost. It is infinite where the
    /// model does not know a label.
    ///
    /// ```
    /// # use dualgap::data::Sequences;
    /// # use dualgap::run::Budget;
    /// # use dualgap::structure::Chain;
    /// # use dualgap::task::{Plan, Task};
    /// # use dualgap::term::Penalty;
    /// let names = ["a", "b"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0], vec![-1.0]]], &[vec![0, 1]], &names)?;
    /// let model = Task::new(Chain::crf(), Penalty::ridge(0.01)).fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
    /// let sentence = (-model.task.structure.sequence_losses(model.fitted(), &data)?[0]).exp();
    /// assert!(sentence > 0.5 && sentence < model.probabilities(&data)?.row(1)[1]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn sequence_losses(&self, fitted: Fitted<'_>, data: &Sequences) -> Result<Vec<f64>> {
        self.check_probabilities()?;
        let data = &*known(fitted.names, data);
        let names = data.alphabet().names();
        let own: Vec<Option<usize>> =
            names.iter().map(|name| fitted.names.alphabet.index(name)).collect();
        let labels = |i: usize| -> Option<Vec<Label>> {
            let number = |y: &Label| own.get(usize::from(*y)).copied().flatten();
            let labels = data.truth(i).iter().map(|y| number(y).map(|y| y as Label));
            labels.collect::<Option<Vec<_>>>().filter(|_| data.is_labelled())
        };
        let legal = Legal::shared(self.forbid, &fitted.names.alphabet);
        crf::log_losses(held_by(fitted), data, legal.as_deref(), labels)
    }

    /// Returns the mean of the sequences' losses for each of their labels, with the weights of the sequences.
    fn log_loss(&self, fitted: Fitted<'_>, data: &Sequences) -> Result<f64> {
        let (mut losses, mut labels) = (0.0, 0.0);
        for (i, loss) in self.sequence_losses(fitted, data)?.into_iter().enumerate() {
            let weight = data.weights().map_or(1.0, |weights| weights[i]);
            losses += if weight > 0.0 { weight * loss } else { 0.0 };
            labels += weight * data.truth(i).len() as f64;
        }
        Ok(losses / labels)
    }

    /// Returns an error if labelings cannot be searched as the structure says under its loss.
    fn check_search(&self) -> Result<()> {
        let (loss, rescale, beam) = (Setting::Loss, Setting::Rescale, Setting::Beam);
        let log = self.loss == ChainLoss::Log;
        if log && !self.rescaling.is_margin() {
            return Err(Error::setting(format!(
                "the log-loss sums over all labelings: leave {rescale} slack out, or take {loss} hinge"
            )));
        }
        let Some(wide) = self.beam else { return Ok(()) };
        if log {
            return Err(Error::setting(format!(
                "the log-loss sums over all labelings: leave {beam} out, or take {loss} hinge"
            )));
        }
        if !self.rescaling.is_margin() {
            return Err(Error::setting(format!(
                "slack rescaling is not searched by a beam: leave {beam} out, or take {rescale} margin"
            )));
        }
        wide.check().map(drop)
    }

    /// Returns the blocks under slack rescaling: it is not linear in marginals, so their points are mixtures of labelings.
    fn slack_blocks<'d>(&self, data: &'d Sequences) -> Result<OracleBlocks<'d, ChainOracle<'d>>> {
        let layout = chain_layout(data)?;
        let longest = (0..data.len()).map(|i| data.truth(i).len()).max().unwrap_or(0);
        reserve_check(slack::numbers(longest, layout.labels))?;
        let examples =
            (0..data.len()).map(|i| (data.sequence(i), data.truth(i).to_vec())).collect();
        let legal = Legal::shared(self.forbid, data.alphabet());
        let oracle = ChainOracle::new(layout, self.hamming).among(legal);
        let blocks = OracleBlocks::owned(oracle, examples)?;
        Ok(blocks.rescaled(Rescaling::Slack))
    }
}

/// Describes a search.
fn told(Beam { width, bound }: Beam) -> String {
    let labels = if width == 1 { "label" } else { "labels" };
    let others = if bound { "with a bound on the others" } else { "without a bound on the others" };
    format!("a beam of {width} {labels}, {others}")
}

/// Describes what is forbidden.
fn forbidden(scheme: Scheme) -> (&'static str, String) {
    ("forbidden", format!("labelings that are not {}", scheme.name()))
}

/// Returns the data without features that a model does not know.
fn known<'d>(names: &Names, data: &'d Sequences) -> Cow<'d, Sequences> {
    let (features, pairs) = (names.features, names.pair_features);
    if data.rows().width() > features || data.edge_features() > pairs {
        Cow::Owned(data.narrowed(features, pairs))
    } else {
        Cow::Borrowed(data)
    }
}

/// Returns an error unless the penalty is λ/2‖w‖² + σ‖w‖₁.
fn refuse_all_but_elastic_net(penalty: &Penalty) -> Result<()> {
    match penalty {
        Penalty::Ridge { nonnegative: false, free: None, .. } => Ok(()),
        Penalty::Ridge { .. } => Err(Error::setting(
            "the log-loss of chains is trained without nonnegative weights: leave them out",
        )),
        Penalty::Lasso { .. } => Err(Error::setting(format!(
            "{} must be positive: the log-loss of chains needs one beside the l1 penalty, which may be small",
            Setting::Lambda
        ))),
        _ => refuse_all_but_ridge(penalty),
    }
}

/// Returns the layout of a chain's weights.
pub(crate) fn layout_of(names: &Names) -> ChainLayout {
    let (features, labels, pairs) = (names.features, names.alphabet.len(), names.pair_features);
    ChainLayout { features, labels, pairs }
}

/// Returns the weights as the model has them.
fn held_by(fitted: Fitted<'_>) -> crf::Held<'_> {
    let packed = fitted.packed.map(|packed| &**packed);
    let whole = layout_of(fitted.names);
    let layout = if packed.is_some() { ChainLayout { features: 0, ..whole } } else { whole };
    crf::Held { layout, weights: fitted.weights, packed }
}

impl Structure for Chain {
    const NAME: &'static str = "chain";
    /// The model of a tagger is large and sparse: half the bits of its weights are half the file.
    const COMPACT: bool = true;
    const SEQUENCES: bool = true;
    type Data = Sequences;
    /// The label of each position.
    type Output = Vec<usize>;

    fn names(&self, data: &Sequences) -> Result<Names> {
        Ok(Names { pair_features: data.edge_features(), ..Names::of(data.vocabulary()) })
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.check_search()?;
        ChainLayout::new(names.features, names.alphabet.len()).map(drop)
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        self.check_search()?;
        match penalty {
            _ if self.loss == ChainLoss::Log => refuse_all_but_elastic_net(penalty),
            Penalty::Lasso { .. } if !self.rescaling.is_margin() => Err(slack_needs_lambda()),
            _ => refuse_all_but_ridge_and_l1(penalty),
        }
    }

    fn allows_option(&self, choice: Choice, penalty: &Penalty) -> Result<()> {
        if self.loss == ChainLoss::Log {
            return Err(Error::setting(format!(
                "the options of Prox-SDCA are for the hinge: leave {} out, or take {} hinge",
                Setting::Option,
                Setting::Loss
            )));
        }
        if !self.rescaling.is_margin() {
            return Err(option_needs_margin());
        }
        if let Penalty::Lasso { .. } = penalty {
            return Err(Error::setting(format!(
                "for chains, the options of Prox-SDCA need a lambda: leave {} out",
                Setting::Option
            )));
        }
        check_choice(choice)
    }

    fn pose<'d>(&'d self, data: &'d Sequences, posing: &Posing<'_>) -> Result<Posed<'d>> {
        if let Some((message, _)) = self.forbid.and_then(|scheme| legal::complaint(scheme, data)) {
            return Err(Error::setting(message));
        }
        if self.loss == ChainLoss::Log {
            let legal = Legal::shared(self.forbid, data.alphabet());
            return crf::posed(data, chain_layout(data)?, legal, posing);
        }
        match self.rescaling {
            Rescaling::Margin => {
                let blocks = ChainBlocks::new(data, self.hamming)?;
                let blocks = match self.beam {
                    Some(beam) => blocks.with_beam(beam)?,
                    None => blocks,
                };
                let blocks = match self.forbid {
                    Some(scheme) => blocks.forbidding(scheme)?,
                    None => blocks,
                };
                match posing.choice {
                    Some(_) => stepped(blocks, posing),
                    // Exponentiated gradient steps begin with a distribution over all labelings.
                    None if self.forbid.is_some() => Ok(Posed::penalised_or_l1(blocks, posing)),
                    None => Ok(Posed::with_expectations(blocks, posing)),
                }
            }
            Rescaling::Slack => Ok(Posed::penalised(self.slack_blocks(data)?, posing)),
        }
    }

    /// Marginals are no mixture of labelings.
    fn is_akin(&self, other: &Self) -> bool {
        self.rescaling == other.rescaling && self.loss == other.loss && self.forbid == other.forbid
    }

    /// The point of a sequence depends on its positions and labels, and not on the features. Labelings have no keys of
    /// their own to rename.
    fn relabel(
        &self,
        names: &Names,
        data: &Sequences,
        i: usize,
        old: &Names,
        entries: &[(u64, f64)],
    ) -> Option<Vec<(u64, f64)>> {
        if self.rescaling == Rescaling::Slack || self.loss == ChainLoss::Log {
            return (old.alphabet == names.alphabet).then(|| entries.to_vec());
        }
        let length = data.truth(i).len();
        let fits = entries.last().is_some_and(|&(key, _)| edges::position_of(key) + 1 == length);
        let label = |y: usize| names.alphabet.index(old.alphabet.names().get(y)?);
        fits.then(|| edges::relabelled(entries, label)).flatten()
    }

    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        let (f, k, e) = (names.features, names.alphabet.len(), names.pair_features);
        let mut parts = vec![
            ("emissions", vec![f, k]),
            ("start", vec![k]),
            ("end", vec![k]),
            ("transitions", vec![k, k]),
        ];
        if e > 0 {
            parts.push(("pairs", vec![e, k, k]));
        }
        parts
    }

    fn packs(&self) -> Option<&'static str> {
        Some("emissions")
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Sequences) -> Result<Vec<Vec<usize>>> {
        let (layout, data) = (held_by(fitted).layout, &*known(fitted.names, data));
        let legal = Legal::shared(self.forbid, &fitted.names.alphabet);
        parallel::map(
            data.len(),
            || Viterbi::among(legal.clone()).packed(fitted.packed.cloned()),
            |viterbi, i| {
                let mut best = Vec::new();
                viterbi.score(layout, fitted.weights, data.sequence(i), None);
                viterbi.decode(layout, fitted.weights, &mut best);
                Ok(best.into_iter().map(usize::from).collect())
            },
        )
    }

    fn check_n_best(&self) -> Result<()> {
        Ok(())
    }

    fn n_best(
        &self,
        fitted: Fitted<'_>,
        data: &Sequences,
        count: usize,
    ) -> Result<Vec<Vec<Ranked<Vec<usize>>>>> {
        let (layout, data) = (held_by(fitted).layout, &*known(fitted.names, data));
        let longest = (0..data.len()).map(|i| data.sequence(i).len()).max().unwrap_or(0);
        reserve_check(
            longest.saturating_mul(layout.labels).saturating_mul(count).saturating_mul(2),
        )?;
        let legal = Legal::shared(self.forbid, &fitted.names.alphabet);
        let viterbi = || Viterbi::among(legal.clone()).packed(fitted.packed.cloned());
        let found = parallel::map(data.len(), viterbi, |viterbi, i| {
            viterbi.score(layout, fitted.weights, data.sequence(i), None);
            Ok(n_best(viterbi, layout, fitted.weights, count))
        })?;
        let losses = match self.loss {
            ChainLoss::Hinge => None,
            ChainLoss::Log => {
                let best = |i: usize| found[i].first().map(|(labels, _)| labels.clone());
                Some(crf::log_losses(held_by(fitted), data, legal.as_deref(), best)?)
            }
        };
        let ranked = found.into_iter().enumerate().map(|(i, found)| {
            let top = found.first().map_or(0.0, |(_, score)| *score);
            let ranked = found.into_iter().map(|(labels, score)| Ranked {
                output: labels.into_iter().map(usize::from).collect(),
                score,
                // The probability of the best is known, and others differ by their scores.
                probability: losses.as_ref().map(|losses| (score - top - losses[i]).exp()),
            });
            ranked.collect()
        });
        Ok(ranked.collect())
    }

    fn check_scores(&self) -> Result<()> {
        Err(no_scores())
    }

    fn check_probabilities(&self) -> Result<()> {
        match self.loss {
            ChainLoss::Log => Ok(()),
            ChainLoss::Hinge => Err(no_probabilities()),
        }
    }

    /// The marginals, a row for every position of every sequence.
    fn probabilities(&self, fitted: Fitted<'_>, data: &Sequences) -> Result<Table> {
        self.check_probabilities()?;
        let (layout, data) = (held_by(fitted).layout, &*known(fitted.names, data));
        let legal = Legal::shared(self.forbid, &fitted.names.alphabet);
        let marginals = crf::marginals(held_by(fitted), data, legal.as_deref())?;
        Ok(Table::of(layout.labels, &marginals))
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Sequences) -> Result<Evaluation> {
        let mut evaluation = LabelEvaluation::default();
        for (i, predicted) in self.predict(fitted, data)?.iter().enumerate() {
            let truth: Vec<&String> =
                data.truth(i).iter().map(|&y| &data.alphabet().names()[y as usize]).collect();
            let predicted: Vec<&String> =
                predicted.iter().map(|&y| &fitted.names.alphabet.names()[y]).collect();
            match data.weights() {
                Some(weights) => evaluation.compare_weighted(&truth, &predicted, weights[i]),
                None => evaluation.compare(&truth, &predicted),
            }
        }
        if self.loss == ChainLoss::Log {
            evaluation = evaluation.with_log_loss(self.log_loss(fitted, data)?);
        }
        Ok(Evaluation::Labels(Box::new(evaluation)))
    }

    fn calibration(
        &self,
        fitted: Fitted<'_>,
        data: &Sequences,
    ) -> Result<Option<SequenceCalibration>> {
        if self.loss != ChainLoss::Log {
            return Ok(None);
        }
        let (layout, data) = (held_by(fitted).layout, &*known(fitted.names, data));
        let predicted = self.predict(fitted, data)?;
        let legal = Legal::shared(self.forbid, &fitted.names.alphabet);
        let marginals = crf::marginals(held_by(fitted), data, legal.as_deref())?;
        let labeling = |i: usize| Some(predicted[i].iter().map(|&y| y as Label).collect());
        let losses = crf::log_losses(held_by(fitted), data, legal.as_deref(), labeling)?;
        let (own, names) = (fitted.names.alphabet.names(), data.alphabet().names());
        let is_right = |i: usize, t: usize| {
            own.get(predicted[i][t]) == names.get(usize::from(data.truth(i)[t]))
        };
        let labels = (0..data.len()).flat_map(|i| {
            let (is_right, marginals, predicted) = (&is_right, &marginals, &predicted);
            (0..predicted[i].len())
                .map(move |t| (marginals[i][t * layout.labels + predicted[i][t]], is_right(i, t)))
        });
        let sequences = (0..data.len())
            .map(|i| ((-losses[i]).exp(), (0..predicted[i].len()).all(|t| is_right(i, t))));
        Ok(Some(SequenceCalibration {
            labels: Calibration::of(labels),
            sequences: Calibration::of(sequences),
        }))
    }

    fn describe(&self, names: &Names) -> Words {
        if self.loss == ChainLoss::Log {
            return Words {
                task: "chain",
                predicts: format!("{} labels", names.alphabet.len()),
                loss: "log-loss (a conditional random field)".into(),
                solver: Some(["lbfgs", "stochastic steps, then L-BFGS"]),
                proves_itself: true,
                lines: self.forbid.map(forbidden).into_iter().collect(),
                ..Words::default()
            }
            .with("loss", json!({ "name": "log" }))
            .with("forbid", json!(self.forbid));
        }
        let rescaled = rescaled(self.rescaling);
        Words {
            task: "chain",
            predicts: format!("{} labels", names.alphabet.len()),
            loss: match self.hamming {
                Hamming::Plain => format!("hinge{rescaled}, the number of wrong labels"),
                Hamming::Normalized => format!("hinge{rescaled}, the fraction of wrong labels"),
            },
            lines: (self.beam.map(|beam| ("search", told(beam))).into_iter())
                .chain(self.forbid.map(forbidden))
                .collect(),
            ..Words::default()
        }
        .with("forbid", json!(self.forbid))
        .with("beam", json!(self.beam))
        .with("loss", json!({ "name": "hamming_hinge" }))
        .with("hamming", json!(self.hamming))
        .with("rescaling", json!(self.rescaling))
    }

    fn spell(&self, names: &Names, output: &Vec<usize>) -> Vec<String> {
        output.iter().map(|&label| names.alphabet.names()[label].clone()).collect()
    }

    fn weight(&self, names: &Names, place: usize) -> WeightOf {
        let layout = layout_of(names);
        let labels = layout.labels.max(1);
        let single =
            |kind, feature, label| WeightOf { kind, feature, from: None, label: Some(label) };
        let pair = |kind, feature, edge: usize| {
            let (from, label) = (Some(edge / labels), Some(edge % labels));
            WeightOf { kind, feature, from, label }
        };
        if place < layout.start().start {
            single("feature", Some(place / labels), place % labels)
        } else if place < layout.start().end {
            single("start", None, place - layout.start().start)
        } else if place < layout.end().end {
            single("end", None, place - layout.end().start)
        } else if place < layout.transitions().end {
            pair("transition", None, place - layout.transitions().start)
        } else {
            let (k, size) = (place - layout.pairs().start, labels * labels);
            pair("pair", Some(names.features + k / size), k % size)
        }
    }

    fn guess(head: &str) -> Format {
        Format::guess_sequences(head)
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<Sequences>> {
        recipe.sequences(source, purpose.known().map(Names::vocabulary))
    }

    fn of_sequences(sequences: Sequences) -> Option<Sequences> {
        Some(sequences)
    }

    fn complaint(&self, data: &Sequences) -> Option<(String, String)> {
        let few = too_few(data.alphabet().len(), "labels");
        few.or_else(|| legal::complaint(self.forbid?, data))
    }

    /// Labels of chunks that break their scheme here and there.
    fn remark(&self, data: &Sequences) -> Option<Remark> {
        let found = Scheme::recognise(data)?;
        let first = found.scheme.describe_mistake(data, found.first?);
        let more = match found.mistakes {
            1 => String::new(),
            count => format!(", the first of {count} such places"),
        };
        let text = format!(
            "of the training data, {first}{more}; chunks are read as in the CoNLL shared tasks, and nothing else depends on it"
        );
        Some(Remark::new(RemarkKind::Scheme, text))
    }

    fn labels(&self, data: &Sequences, example: usize) -> Option<Vec<usize>> {
        Some(data.truth(example).iter().map(|&label| usize::from(label)).collect())
    }
}
