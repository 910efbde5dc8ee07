//! The tasks as problems: what they predict under which loss, how they fit a model, and how they evaluate it.
//!
//! Commands are written once for all tasks: [`run`] makes the problem of a task and passes it on.

mod chain;
mod classes;
mod linear;
mod several;

use crate::Outcome;
use crate::args::{Task, Work};
use crate::report::Outcomes;
use chain::ChainProblem;
use classes::ClassesProblem;
use dualgap::data::{
    Alphabet, DataSet, Examples, Folds, Format, Loaded, Recipe, Sequences, Source, TargetKind,
    Vocabulary,
};
use dualgap::model::{
    InBall, Model, Plan, Structure, reach_examples, reach_linear, reach_sequences,
};
use dualgap::run::{Reach, Report};
use dualgap::term::Free;
use dualgap::{Error, Result};
use linear::LinearProblem;
use several::SeveralProblem;
use std::path::Path;

/// Runs a command on its task.
pub fn run<W: Work>(task: &Task<W>) -> Result<Outcome> {
    match task {
        Task::Binary { work, task } => work.run(LinearProblem::binary(task, work.common())?),
        Task::Regression { work, task } => {
            work.run(LinearProblem::regression(task, work.common())?)
        }
        Task::Multiclass { work, task } => work.run(ClassesProblem::new(task, work.common())?),
        Task::Multilabel { work, task } => work.run(SeveralProblem::labels(task, work.common())?),
        Task::Multioutput { work, task } => work.run(SeveralProblem::outputs(task, work.common())?),
        Task::Chain { work, task } => work.run(ChainProblem::new(task, work.common())?),
    }
}

/// What is asked of the data, apart from λ and the method.
pub trait Problem: Clone + Sync {
    /// Rows with one label each, or sequences of them.
    type Data: Dataset;

    /// Whether λ may be 0, with l1 in its place.
    const PURE_L1: bool;

    /// Returns the user's name for the task.
    fn task(&self) -> &'static str;

    /// Whether to append a constant feature.
    fn constant(&self) -> bool;

    /// Returns the kind of target of an example.
    fn target(&self) -> TargetKind {
        TargetKind::Class
    }

    /// Checks the training data, and returns an error if they are not suitable for this task.
    fn meet(&mut self, file: &Path, data: &Self::Data) -> Result<()>;

    /// Returns the training weights of the examples, which may differ from those of the data.
    fn weigh(&self, data: &Self::Data) -> Result<Option<Vec<f64>>> {
        Ok(data.weights().map(<[f64]>::to_vec))
    }

    /// Returns the weight without penalty, if there is one.
    fn free(&self, data: &Self::Data) -> Result<Option<Free>>;

    /// Returns the ball that constrains the weights instead of a penalty, if there is one.
    fn within(&self) -> Option<InBall> {
        None
    }

    /// Trains a model.
    fn fit(&self, data: &Self::Data, plan: Plan<'_, Self::Data>) -> Result<Report<Model>>;

    /// Whether the targets are labels; numbers are not.
    fn has_labels(&self) -> bool {
        true
    }

    /// Returns folds that suit the task.
    fn folds(&self, data: &Self::Data, count: usize, seed: u64) -> Result<Folds>;

    /// Compares predictions with the truth.
    fn evaluate(&self, model: &Model, data: &Self::Data) -> Result<Outcomes>;
}

/// What examples and sequences have in common, beside what all data sets do.
pub trait Dataset: DataSet + Sync + Sized {
    /// Guesses the format of a file from its beginning.
    fn guess(head: &str) -> Format;

    /// Reads data to train on, or with the names that a model knows.
    fn read(
        recipe: &Recipe,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Self>>;

    /// Returns the names of labels and features.
    fn vocabulary(&self) -> Vocabulary<'_>;

    /// Returns the labels of an example; none if the targets are not classes.
    fn labels(&self, example: usize) -> impl Iterator<Item = usize>;

    /// Sets the weight of each example.
    fn with_weights(self, weights: Vec<f64>) -> Result<Self>;

    /// Returns the bound that a model trained on these data proves at every λ.
    fn reach(&self, model: &Model) -> Result<Reach>;
}

impl Dataset for Examples {
    fn guess(head: &str) -> Format {
        Format::guess_examples(head)
    }

    fn read(
        recipe: &Recipe,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Self>> {
        recipe.examples(source, known)
    }

    fn vocabulary(&self) -> Vocabulary<'_> {
        Examples::vocabulary(self)
    }

    fn labels(&self, example: usize) -> impl Iterator<Item = usize> {
        self.classes().ok().map(|classes| classes.numbers()[example] as usize).into_iter()
    }

    fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        Examples::with_weights(self, weights)
    }

    fn reach(&self, model: &Model) -> Result<Reach> {
        match model.structure {
            Structure::Linear { .. } => reach_linear(model, self),
            _ => reach_examples(model, self),
        }
    }
}

impl Dataset for Sequences {
    fn guess(head: &str) -> Format {
        Format::guess_sequences(head)
    }

    fn read(
        recipe: &Recipe,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Self>> {
        recipe.sequences(source, known)
    }

    fn vocabulary(&self) -> Vocabulary<'_> {
        Sequences::vocabulary(self)
    }

    fn labels(&self, example: usize) -> impl Iterator<Item = usize> {
        self.truth(example).iter().map(|&label| usize::from(label))
    }

    fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        Sequences::with_weights(self, weights)
    }

    fn reach(&self, model: &Model) -> Result<Reach> {
        reach_sequences(model, self)
    }
}

/// Returns an error if there are fewer than two labels.
fn check_labels(file: &Path, labels: &Alphabet, what: &str) -> Result<()> {
    if labels.len() > 1 {
        return Ok(());
    }
    Err(Error::file(
        file,
        format!("there must be at least two {what} to tell apart, and it has {}", labels.len()),
        "is the label where the format has it, and are the folds the right ones?",
    ))
}
