//! The contract of an oracle, clause by clause, and what a check of it finds.

use crate::{Error, Result};
use std::fmt;

/// A clause of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clause {
    /// The loss of the truth is zero.
    TruthCostsNothing,
    /// Losses are finite, and none is negative.
    Loss,
    /// Features are finite, and their indices below the dimension.
    Features,
    /// The same pair has the same features, each time.
    SameFeatures,
    /// No output has more or larger features, or a larger loss, than the extent and the radius say.
    Extent,
    /// Decoding against the truth succeeds.
    Decodes,
    /// The bound of what was decoded against the truth is not below any output.
    Bound,
    /// The bound of what was decoded without a truth is not below the score of any output.
    Prediction,
    /// What was decoded against the truth is as good as the quality promises where it has no bound.
    Promise,
    /// The bound of what was decoded under slack rescaling is not below any output, if the oracle decodes so.
    Slack,
    /// What is decoded is an output of the input, and so is the truth.
    Output,
    /// An output is read as it was written.
    ByteForm,
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TruthCostsNothing => "the loss of the truth is zero",
            Self::Loss => "a loss is finite and not negative",
            Self::Features => "features are finite, with indices below the dimension",
            Self::SameFeatures => "the same pair has the same features",
            Self::Extent => "no output is beyond the extent",
            Self::Decodes => "decoding succeeds",
            Self::Bound => "no output scores higher than the bound",
            Self::Prediction => "without a truth, no output has a higher score than the bound",
            Self::Promise => "no output is better than the promise allows",
            Self::Slack => "under slack rescaling, no output has a larger loss than the bound",
            Self::Output => "truths and what is decoded are outputs of their input",
            Self::ByteForm => "an output is read as it was written",
        })
    }
}

/// A clause that an example has shown to be broken.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Breach {
    /// The example, counted from zero.
    pub example: usize,
    /// The clause.
    pub clause: Clause,
    /// How it is broken.
    pub message: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "example {}: {}: {}", self.example, self.clause, self.message)
    }
}

/// What a check has found: for every example the first breach of every clause.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The breaches, by example.
    pub breaches: Vec<Breach>,
    /// How many outputs were decoded.
    pub decoded: usize,
    /// How many of them no known output was better than. All of them, unless the oracle is a heuristic or wrong.
    pub best: usize,
    /// How many pairs of an input and an output were looked at.
    pub pairs: usize,
}

impl Checked {
    /// Returns an error that names the first breach and counts the others, if there is one.
    pub fn passed(&self) -> Result<()> {
        let Some(Breach { example, clause, message }) = self.breaches.first() else {
            return Ok(());
        };
        let more = match self.breaches.len() - 1 {
            0 => String::new(),
            more => format!(" ({more} more)"),
        };
        let message = format!("{clause}, but {message}{more}");
        Err(Error::Oracle { example: *example, message })
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { breaches, decoded, best, pairs } = self;
        writeln!(
            f,
            "{decoded} outputs decoded, {best} of them the best of {pairs} that are known"
        )?;
        breaches.iter().try_for_each(|breach| writeln!(f, "{breach}"))
    }
}
