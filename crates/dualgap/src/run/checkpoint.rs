//! Checkpoints: what a run needs to go on later as if it had never paused, and where that is stored.
//!
//! A run that resumes takes the same steps as one that was never interrupted. What is stored is the state between two steps on
//! the way, before the certification that ends a run at a limit: with more passes, the run goes on as if it had been allowed them
//! from the start.

use crate::run::{RunState, Solver};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a run stands: the state of the loop, and the solver's own as bytes.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// Of the loop.
    pub run: RunState,
    /// Of the solver.
    pub solver: Vec<u8>,
}

impl Checkpoint {
    /// Of a solver.
    pub(crate) fn of<S: Resumable>(solver: &S, run: &RunState) -> Result<Self> {
        let solver = postcard::to_stdvec(&solver.state())
            .map_err(|error| Error::setting(format!("the state cannot be stored: {error}")))?;
        Ok(Self { run: run.clone(), solver })
    }

    /// The solver's state; whether it is one of this problem, the solver finds out.
    pub(crate) fn state<T: DeserializeOwned>(&self) -> Result<T> {
        postcard::from_bytes(&self.solver)
            .map_err(|error| Error::setting(format!("the state makes no sense: {error}")))
    }
}

/// A solver whose state can be stored.
pub trait Resumable: Solver {
    /// All that later steps depend on.
    type State: Serialize;

    /// What another solver needs to go on as this one would.
    fn state(&self) -> Self::State;
}

/// Where checkpoints go: a file, memory, another machine.
///
/// ```
/// use dualgap::Result;
/// use dualgap::run::{Checkpoint, CheckpointSink};
///
/// /// Counts them, and keeps the last.
/// struct Counting(usize, Option<Checkpoint>);
///
/// impl CheckpointSink for Counting {
///     fn interval(&self, calls_per_pass: u64) -> u64 {
///         2 * calls_per_pass
///     }
///
///     fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
///         self.0 += 1;
///         self.1 = Some(checkpoint);
///         Ok(())
///     }
/// }
/// ```
pub trait CheckpointSink: Send {
    /// After how many oracle calls the next one is due, if a pass has so many.
    fn interval(&self, calls_per_pass: u64) -> u64;

    /// Stores one in the place of the last.
    fn store(&mut self, checkpoint: Checkpoint) -> Result<()>;
}

/// The last checkpoint, in memory; one after every pass.
///
/// ```
/// # use dualgap::run::{Checkpoint, CheckpointSink, InMemory};
/// let mut memory = InMemory::default();
/// memory.store(Checkpoint::default())?;
/// assert!(memory.last.is_some());
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    /// If there was one.
    pub last: Option<Checkpoint>,
}

impl CheckpointSink for InMemory {
    fn interval(&self, calls_per_pass: u64) -> u64 {
        calls_per_pass
    }

    fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.last = Some(checkpoint);
        Ok(())
    }
}
