//! A model: the task it solves, its weights, and their certificate.

use super::{Method, Task};
use crate::data::{Examples, Recipe};
use crate::dual::Witness;
use crate::linalg::memory::{MOST_ENTRIES, Need};
use crate::linalg::{LowRank, PackedRows, Rows};
use crate::run::{Basis, Certificate, Stop};
use crate::structure::evaluation::SequenceCalibration;
use crate::structure::{Evaluation, Fitted, Names, Ranked, Structure, Support, Table};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a model was made: the solver, its outcome, and the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program that trained the model.
    pub program: String,
    /// The solver and its settings.
    pub method: Method,
    /// Why the run ended.
    pub stop: Stop,
    /// The number of passes over the data.
    pub passes: f64,
    /// The number of oracle calls of the solver.
    pub oracle_calls: u64,
    /// The number of training examples.
    pub examples: usize,
    /// How the data file was read and the features made; absent if the data came from memory.
    pub recipe: Option<Recipe>,
    /// The fingerprint of the training data.
    pub fingerprint: String,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Model<S> {
    /// The problem that it solves.
    pub task: Task<S>,
    /// The names of labels and features.
    pub names: Names,
    /// The weights in the order of the structure; empty if they are stored as factors.
    pub weights: Vec<f64>,
    /// The weights of a model in the trace ball, with features as rows and labels as columns.
    pub low_rank: Option<LowRank>,
    /// The inputs that the weights are coefficients of, under a kernel.
    pub support: Option<Support>,
    /// The weights of the first array, of a model inside of a [`Predictor`](super::Predictor): `weights` has the others then.
    pub packed: Option<Arc<PackedRows>>,
    /// The certificate of exactly these weights.
    pub certificate: Certificate,
    /// How the model was made.
    pub provenance: Provenance,
    /// The weight of each training example, unless all are the same. Those of classes are part of the task.
    pub sample_weights: Option<Vec<f64>>,
    /// The dual point behind the certificate, if it was stored.
    pub witness: Option<Witness>,
}

impl<S: Structure> Model<S> {
    /// Returns a model with everything that is known before training.
    pub(super) fn untrained(
        task: Task<S>,
        names: Names,
        examples: usize,
        fingerprint: String,
        method: Method,
        sample_weights: Option<Vec<f64>>,
    ) -> Self {
        Self {
            task,
            names,
            weights: Vec::new(),
            low_rank: None,
            support: None,
            packed: None,
            certificate: Certificate {
                primal: 0.0,
                dual: 0.0,
                rounding_error: 0.0,
                certified: false,
                basis: Basis::Exact,
            },
            provenance: Provenance {
                program: concat!("dualgap ", env!("CARGO_PKG_VERSION")).into(),
                method,
                stop: Stop::Interrupted,
                passes: 0.0,
                oracle_calls: 0,
                examples,
                recipe: None,
                fingerprint,
            },
            sample_weights,
            witness: None,
        }
    }

    /// Returns the weights with their names, which is what prediction needs.
    pub fn fitted(&self) -> Fitted<'_> {
        let (names, weights) = (&self.names, &self.weights[..]);
        let (low_rank, support) = (self.low_rank.as_ref(), self.support.as_ref());
        Fitted { names, weights, low_rank, support, packed: self.packed.as_ref() }
    }

    /// Returns the prediction for every example. Targets are not needed, and features that the model does not know are
    /// ignored. This and the following methods use the threads of the current pool: see
    /// [`on_threads`](crate::linalg::parallel::on_threads).
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::linalg::Rows;
    /// use dualgap::linalg::on_threads;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Multiclass;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::{MulticlassLoss, Penalty};
    ///
    /// let data = Examples::from_dense(&[vec![1.0, 0.0], vec![0.0, 1.0]], &["cat", "dog"])?;
    /// let task = Task::new(Multiclass::new(MulticlassLoss::Softmax), Penalty::ridge(0.1));
    /// let model = task.fit(&data, Plan::new(Budget::default()))?.model;
    /// let new = Rows::dense(&[vec![0.2, 0.9]])?;
    /// assert_eq!(on_threads(2, || model.predict_rows(&new))??, [1]);
    /// let p = model.probabilities(&Examples::unlabelled(new)?)?;
    /// assert!(p.row(0)[1] > 0.5 && (p.row(0)[0] + p.row(0)[1] - 1.0).abs() < 1e-12);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn predict(&self, data: &S::Data) -> Result<Vec<S::Output>> {
        self.task.structure.predict(self.fitted(), data)
    }

    /// Returns the scores behind the predictions, a column for every label or output.
    pub fn scores(&self, data: &S::Data) -> Result<Table> {
        self.task.structure.scores(self.fitted(), data)
    }

    /// Returns the probabilities of the labels, if the loss has any: a column for every label, or for two classes that
    /// of the second.
    pub fn probabilities(&self, data: &S::Data) -> Result<Table> {
        self.task.structure.probabilities(self.fitted(), data)
    }

    /// Returns the best outputs of every input with their scores, the best first: at most `count` of them. This is for
    /// chains, under either loss; a conditional random field has their probabilities too.
    ///
    /// ```
    /// use dualgap::data::Sequences;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::{Chain, Ranked};
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let names = ["a", "b"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0], vec![-1.0]]], &[vec![0, 1]], &names)?;
    /// let task = Task::new(Chain::crf(), Penalty::ridge(0.01));
    /// let model = task.fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
    /// let ranked = &model.n_best(&data, 10)?[0];
    /// assert_eq!((ranked.len(), &ranked[0].output), (4, &model.predict(&data)?[0]));
    /// let sum: f64 = ranked.iter().filter_map(|one| one.probability).sum();
    /// assert!((sum - 1.0).abs() < 1e-9 && Ranked::margin(ranked, 0) > 0.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn n_best(&self, data: &S::Data, count: usize) -> Result<Vec<Vec<Ranked<S::Output>>>> {
        if count == 0 {
            return Err(Error::setting("the number of outputs for an input must be at least one"));
        }
        self.task.structure.check_n_best()?;
        self.task.structure.n_best(self.fitted(), data, count)
    }

    /// Compares predictions with the truth, with the weights of the data where they have any.
    pub fn evaluate(&self, data: &S::Data) -> Result<Evaluation> {
        self.task.structure.evaluate(self.fitted(), data)
    }

    /// Compares the probabilities of predictions with how many of them are right: a reliability table and the expected
    /// calibration error, of labels and of whole sequences. Only conditional random fields have it.
    ///
    /// ```
    /// use dualgap::data::Sequences;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Chain;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let names = ["a", "b"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0], vec![-1.0]]], &[vec![0, 1]], &names)?;
    /// let task = Task::new(Chain::crf(), Penalty::ridge(0.01));
    /// let model = task.fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
    /// let calibration = model.calibration(&data)?.expect("probabilities");
    /// assert_eq!(calibration.labels.bins.iter().map(|bin| bin.count).sum::<usize>(), 2);
    /// assert!(calibration.labels.error < calibration.sequences.error);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn calibration(&self, data: &S::Data) -> Result<Option<SequenceCalibration>> {
        self.task.structure.calibration(self.fitted(), data)
    }

    /// Returns the number of weights, of the whole matrix if they are stored as factors.
    pub fn dim(&self) -> usize {
        match self.low_rank {
            Some(_) => {
                let structure = &self.task.structure;
                structure.rows(&self.names).saturating_mul(structure.columns(&self.names))
            }
            None => self.weights.len(),
        }
    }

    /// Expands weights in factors into [`weights`](Self::weights), for callers that need the single entries. Scores
    /// and certificates still use the factors.
    pub fn write_out(&mut self) -> Result<()> {
        let Some(x) = &self.low_rank else { return Ok(()) };
        if self.dim() > MOST_ENTRIES {
            return Err(Error::setting(
                "the model has more weights than can be written out: use its factors",
            ));
        }
        Need { weights: self.dim(), copies: 1, others: 0 }.check()?;
        self.weights = x.to_dense();
        Ok(())
    }
}

impl<S: Structure<Data = Examples>> Model<S> {
    /// Returns the prediction for every row.
    pub fn predict_rows(&self, rows: &Rows) -> Result<Vec<S::Output>> {
        self.predict(&Examples::unlabelled(rows.clone())?)
    }
}
