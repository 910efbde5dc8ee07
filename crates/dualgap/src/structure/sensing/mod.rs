//! Matrices of low rank from linear measurements of them: affine rank minimisation and phase retrieval.
//!
//! ```text
//! P(X) = mean loss of ⟨A_i, X⟩ at y_i + μ/2‖X‖²      for ‖X‖_* ≤ r
//! matrices    a row of the data has the entries of A_i, row after row
//! squares     a row of the data is a_i, and A_i = a_i a_i':     ⟨A_i, xx'⟩ = ⟨a_i, x⟩²
//! ```
//!
//! From squares a vector x is found up to its sign: X is near xx', and its largest singular value and vector make x.

#[cfg(not(feature = "low-rank"))]
#[path = "absent.rs"]
mod maps;
#[cfg(feature = "low-rank")]
mod maps;
mod measurement;

pub use measurement::Measurement;

use crate::ball::PerOutput;
use crate::data::{Alphabet, Examples, Format, Loaded, Recipe, Source, TargetKind, Vocabulary};
use crate::structure::evaluation::{ErrorKind, Evaluation, NumberErrors};
use crate::structure::fitted::{no_probabilities, no_scores};
use crate::structure::posed::{Posed, Posing};
use crate::structure::words::scalar_loss;
use crate::structure::{Fitted, Names, Purpose, Structure, WeightOf, Words};
use crate::term::{Loss, Penalty, ScalarLoss};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A number for each measurement of an unknown matrix of low rank; see the module's head.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::Budget;
/// use dualgap::structure::{Measurement, Sensing};
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// // The squares of the products with x = (2, −1), which are all that is known of it.
/// let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0], vec![1.0, -1.0]];
/// let data = Examples::from_dense_numbers(&rows, &[4.0, 1.0, 1.0, 9.0])?;
/// let structure = Sensing::new(ScalarLoss::Squared, Measurement::Squares);
/// let task = Task::new(structure, Penalty::trace_ball(5.0, 0.0));
/// let budget = Budget { absolute: Some(1e-8), ..Budget::relative(0.0) };
/// let model = task.fit(&data, Plan::new(budget))?.model;
/// let new = Examples::from_dense_numbers(&[vec![1.0, 2.0]], &[0.0])?;
/// assert!(model.predict(&new)?[0].abs() < 1e-2, "(2 − 2)²");
/// model.certify(&data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensing {
    /// The loss of a measurement: a smooth one of numbers.
    pub loss: ScalarLoss,
    /// What a row measures.
    pub measured: Measurement,
}

impl Sensing {
    /// Returns the structure with this loss, for rows that measure so.
    pub fn new(loss: ScalarLoss, measured: Measurement) -> Self {
        Self { loss, measured }
    }

    /// Returns an error unless the loss is smooth, and of numbers.
    fn check_loss(&self) -> Result<()> {
        if self.loss.smoothness() > 0.0 && !self.loss.is_binary() {
            return Ok(());
        }
        Err(Error::setting(format!(
            "measurements are numbers under a smooth loss: take {} squared or huber",
            Setting::Loss
        )))
    }
}

impl Structure for Sensing {
    const NAME: &'static str = "sensing";
    type Data = Examples;
    type Output = f64;

    fn names(&self, data: &Examples) -> Result<Names> {
        Ok(Names::of(Vocabulary { alphabet: Alphabet::none(), ..data.vocabulary() }))
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.check_loss()?;
        if let Measurement::Matrices { columns } = self.measured
            && (columns == 0 || !names.features.is_multiple_of(columns))
        {
            return Err(Error::setting(format!(
                "the rows have {} entries, which do not make a matrix of {columns} columns",
                names.features
            )));
        }
        match names.alphabet.len() {
            0 => Ok(()),
            _ => Err(Error::setting("numbers have no names")),
        }
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        if penalty.is_low_rank() {
            return self.check_loss();
        }
        Err(Error::setting(format!(
            "a matrix is found from its measurements in the trace ball, which takes the place of other regularisers: take {} trace",
            Setting::Ball
        )))
    }

    fn pose<'d>(&'d self, data: &'d Examples, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let losses = PerOutput::new(self.loss, data.numbers()?.to_vec(), 1)?;
        maps::pose(self.measured, data.rows(), losses, posing)
    }

    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        vec![("weights", vec![self.rows(names), self.columns(names)])]
    }

    fn rows(&self, names: &Names) -> usize {
        match self.measured {
            Measurement::Matrices { columns } => names.features / columns.max(1),
            Measurement::Squares => names.features,
        }
    }

    fn columns(&self, names: &Names) -> usize {
        match self.measured {
            Measurement::Matrices { columns } => columns,
            Measurement::Squares => names.features,
        }
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Vec<f64>> {
        let Some(x) = fitted.low_rank else {
            return Err(Error::setting("the model has no weights in factors"));
        };
        let x = maps::entries(x)?;
        let columns = self.columns(fitted.names);
        fitted.each(data.rows(), |row| {
            let mut sum = 0.0;
            match self.measured {
                Measurement::Matrices { .. } => {
                    row.for_each(|j, a| sum += a * x.get(j).unwrap_or(&0.0));
                }
                Measurement::Squares => {
                    let known = || row.iter().filter(|&(j, _)| j < columns);
                    for (i, a) in known() {
                        let line = &x[i * columns..][..columns];
                        sum += a * known().map(|(j, b)| b * line[j]).sum::<f64>();
                    }
                }
            }
            sum
        })
    }

    fn check_scores(&self) -> Result<()> {
        Err(no_scores())
    }

    fn check_probabilities(&self) -> Result<()> {
        Err(no_probabilities())
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Evaluation> {
        let predicted = self.predict(fitted, data)?;
        Ok(Evaluation::Numbers(NumberErrors::weighted(data.numbers()?, &predicted, data.weights())))
    }

    fn error_kind(&self) -> ErrorKind {
        ErrorKind::RootMeanSquare
    }

    fn describe(&self, names: &Names) -> Words {
        let (rows, columns) = (self.rows(names), self.columns(names));
        let (task, features) = match self.measured {
            Measurement::Matrices { .. } => {
                ("affine-rank", format!("inner products with matrices of {rows} by {columns}"))
            }
            Measurement::Squares => {
                ("phase-retrieval", format!("squares of inner products with {rows} numbers"))
            }
        };
        Words {
            task,
            loss: scalar_loss(self.loss),
            scalar_loss: Some(self.loss),
            features: Some(features),
            ..Words::default()
        }
        .with("loss", json!(self.loss))
        .with("measured", json!(self.measured))
    }

    /// The vector of phase retrieval, up to its sign: the largest singular value and its vector make it.
    fn found(&self, fitted: Fitted<'_>) -> Vec<(&'static str, String, f64)> {
        let squares = self.measured == Measurement::Squares;
        let Some(x) = fitted.low_rank.filter(|x| squares && x.rank() > 0) else {
            return Vec::new();
        };
        let names = &fitted.names.dictionary;
        let name = |j: usize| names.name(j).map_or_else(|| (j + 1).to_string(), String::from);
        let numbers = x.u().chunks_exact(x.rank()).map(|row| row[0] * x.s()[0].sqrt());
        numbers.enumerate().map(|(j, number)| ("vector", name(j), number)).collect()
    }

    fn spell(&self, _: &Names, output: &f64) -> Vec<String> {
        vec![output.to_string()]
    }

    fn weight(&self, names: &Names, place: usize) -> WeightOf {
        let (feature, label) = match self.measured {
            Measurement::Matrices { .. } => (place, 0),
            Measurement::Squares => (place / names.features.max(1), place % names.features.max(1)),
        };
        WeightOf { kind: "entry", feature: Some(feature), from: None, label: Some(label) }
    }

    /// The other feature of a product, or that it is an entry of the matrix.
    fn weighted(&self, names: &Names) -> Vec<String> {
        match self.measured {
            Measurement::Matrices { .. } => vec!["the matrix".into()],
            Measurement::Squares => {
                let name = |j: usize| names.dictionary.name(j).map(String::from);
                (0..names.features).map(|j| name(j).unwrap_or((j + 1).to_string())).collect()
            }
        }
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

    fn target(&self) -> TargetKind {
        TargetKind::Number
    }
}
