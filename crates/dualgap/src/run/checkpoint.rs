//! Checkpoints: what a run needs to resume as if it had never paused, and where that is stored.
//!
//! A run that resumes takes the same steps as one that was never interrupted. A checkpoint stores the state between two
//! steps, before the certification that ends a run at a limit: with more passes, the run continues as if it had been
//! allowed them from the start.

use crate::run::{RunState, Solver};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The state of a run: that of the loop, and that of the solver as bytes.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// The state of the loop.
    pub run: RunState,
    /// The state of the solver, serialised.
    pub solver: Vec<u8>,
}

impl Checkpoint {
    /// Returns a checkpoint of a solver and the loop.
    pub(crate) fn of<S: Resumable>(solver: &S, run: &RunState) -> Result<Self> {
        let solver = postcard::to_stdvec(&solver.state()).map_err(|error| {
            Error::setting(format!("the state cannot be stored: {error}")).caused_by(error)
        })?;
        Ok(Self { run: run.clone(), solver })
    }

    /// Returns the solver's state, or an error if the bytes are malformed. The solver checks whether the state fits its
    /// problem.
    pub(crate) fn state<T: DeserializeOwned>(&self) -> Result<T> {
        postcard::from_bytes(&self.solver).map_err(|error| {
            Error::setting(format!("the state makes no sense: {error}")).caused_by(error)
        })
    }
}

/// A solver whose state can be stored.
pub trait Resumable: Solver {
    /// Everything that later steps depend on.
    type State: Serialize;

    /// Returns the state from which another solver continues exactly as this one would.
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
    /// Returns the number of oracle calls after which the next checkpoint is due, given the number in a pass.
    fn interval(&self, calls_per_pass: u64) -> u64;

    /// Stores a checkpoint in place of the last one.
    fn store(&mut self, checkpoint: Checkpoint) -> Result<()>;
}

/// A sink that stores the last checkpoint in memory, after every pass.
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
    /// The last checkpoint, if there was one.
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
