//! What a task adds to the commands that train, its options and the structure that they name; and what a command is that takes any
//! task.

use crate::Outcome;
use crate::args::{COUNT, Common, no_accuracy};
use clap::Args;
use dualgap::Result;
use dualgap::data::{Format, Loaded};
use dualgap::structure::{Choice, Structure};
use dualgap::task::{Strength, TaskSpec};
use dualgap::term::Penalty;
use std::fmt::Debug;
use std::path::Path;

/// A command that trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `dualgap train`.
    Train,
    /// `dualgap cv`.
    Cv,
    /// `dualgap path`.
    Path,
    /// `dualgap appraise`.
    Appraise,
}

impl Verb {
    pub(crate) const ALL: [Self; 4] = [Self::Train, Self::Cv, Self::Path, Self::Appraise];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Cv => "cv",
            Self::Path => "path",
            Self::Appraise => "appraise",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Train => "Train a model until its certified gap is small enough",
            Self::Cv => "Find the regularisation that predicts best, by cross-validation",
            Self::Path => {
                "Train models for every lambda of an interval, each certified on a part of it"
            }
            Self::Appraise => "Prove how far from the optimum the weights of another program are",
        }
    }
}

/// A command that takes any task.
pub trait Work: Args {
    /// Returns the options that all such commands have.
    fn common(&self) -> Common<'_>;

    /// Reads the data and runs the command.
    fn run<T: TaskOptions>(&self, task: &T) -> Result<Outcome>;

    /// The same for a task under a kernel.
    fn run_under_kernel<T: TaskOptions>(&self, task: &T) -> Result<Outcome> {
        self.run(task)
    }
}

/// The options of a task, and the structure that they name. A task has the options of its command besides its own.
pub trait TaskOptions: Debug + Sized {
    /// What is trained.
    type Structure: Structure;

    /// The name of the task on the command line.
    const COMMAND: &'static str;

    /// Other names of the task.
    const ALIASES: &'static [&'static str] = &[];

    /// What the task is about, in a sentence.
    const ABOUT: &'static str;

    /// The options of commands that the task refuses, by their long names, and what to do in their place. They are not
    /// shown in its help.
    const REFUSES: &'static [(&'static str, &'static str)] = &[];

    /// The values that the task refuses, by the long names of their options, which have values to choose from. They are not shown
    /// in its help.
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] = &[];

    /// Options that are not shown in the help of the task, because it has only one choice.
    const HIDES: &'static [&'static str] = &[];

    /// Why the task has no λ to search for, and what to do in the place of `cv` and `path`; `None` if it has one.
    const NO_LAMBDA: Option<&'static str> = None;

    /// Whether `appraise` takes the task: weights of others can then be told apart by feature and label alone.
    const APPRAISED: bool = false;

    /// How many λ the default grid of a cross-validation has.
    const GRID: usize = COUNT;

    /// After how many numbers in a row that are no better than the best before the default grid of a cross-validation
    /// ends; `None` if all are tried.
    const PATIENCE: Option<usize> = None;

    /// μ in a ball, unless it is given.
    const DEFAULT_MU: Strength = Strength::PerExample(1.0);

    /// Returns examples of a command, which are shown below its options.
    fn examples(_verb: Verb) -> &'static str {
        ""
    }

    /// Returns the structure.
    fn structure(&self) -> Result<Self::Structure>;

    /// Returns the task, or an error for options that no task could have together: what the library refuses of it is checked where it
    /// is asked for.
    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Self::Structure>> {
        Ok(TaskSpec::new(self.structure()?, common.penalty(Self::DEFAULT_MU)?))
    }

    /// Returns how Prox-SDCA chooses its steps, if the task has such an option.
    fn option(&self) -> Option<Choice> {
        None
    }

    /// Runs a command on the task.
    fn run<W: Work>(&self, work: &W) -> Result<Outcome> {
        work.run(self)
    }

    /// Whether to append a constant feature to the data.
    fn constant(&self) -> bool {
        false
    }

    /// Completes the format with what the options of the task say about it.
    fn read_as(&self, _format: &mut Format) -> Result<()> {
        Ok(())
    }

    /// Completes the structure with defaults that depend on the format of the data.
    fn suit(&self, _structure: &mut Self::Structure, _format: &Format) {}

    /// Returns after how many passes a run ends if nothing was said about when to stop, with the weighted average of the
    /// iterates; `None` if a tolerance ends it.
    fn bare(&self, _format: &Format) -> Option<u64> {
        None
    }

    /// Completes the task with what it needs to read the data.
    fn prepare(&self, _spec: &mut TaskSpec<Self::Structure>, _common: &Common<'_>) -> Result<()> {
        Ok(())
    }

    /// Completes the task with what its options say about the labels of the training data.
    fn meet(
        &self,
        _spec: &mut TaskSpec<Self::Structure>,
        _file: &Path,
        _data: &<Self::Structure as Structure>::Data,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the data to train on and those to test on, if an option of the task splits them.
    #[allow(clippy::type_complexity)]
    fn split(
        &self,
        train: Loaded<<Self::Structure as Structure>::Data>,
        _common: &Common<'_>,
    ) -> Result<(
        Loaded<<Self::Structure as Structure>::Data>,
        Option<Loaded<<Self::Structure as Structure>::Data>>,
    )> {
        Ok((train, None))
    }
}

/// Returns an error for options that do not go together, before anything is read or written: those of the program's own, and what the
/// library refuses of the problem and the method that they name.
pub(crate) fn check<T: TaskOptions>(task: &T, common: &Common<'_>) -> Result<()> {
    let spec = task.spec(common)?;
    // Whoever asks for an accuracy has named no λ.
    let without_l1 = || spec.structure.allows(&Penalty::lasso(1.0)).is_err();
    if common.to_accuracy && spec.penalty.is_pure_l1() && without_l1() {
        return Err(no_accuracy());
    }
    spec.allows(&common.solver(task.option(), spec.penalty)?)
}
