//! The one training loop, and what it needs to know when to stop.
//!
//! A [`Budget`] says when a run ends, and a [`Report`] what it ended with; its [`Certificate`] holds for exactly the model that is
//! returned. An [`Observer`] watches, a [`CheckpointSink`] stores. [`Solver`] and [`Resumable`] are for methods of one's own.
//!
//! - `certificate`: what a certified gap is. `best_pair`: the best weights and the best dual point of a run. `mean`: a mean with a
//!   bound on its error.
//! - `budget`: tolerances, limits, and the flag that Ctrl-C raises.
//! - `solver`: the trait of all solvers, which only step and certify.
//! - `checkpoint`: what a run needs to resume later, and where it is stored.
//! - `observer`: observers of a run; the JSON-lines trace.
//! - `report`: the state of a run, and what it ends with.
//! - `train`: the loop itself.
//! - `reach`: at which other λ a certificate still holds.

mod basis;
mod best_pair;
mod budget;
mod certificate;
mod checkpoint;
mod mean;
mod observer;
mod reach;
mod report;
mod solver;
mod train;

pub use basis::Basis;
pub(crate) use best_pair::BestPair;
pub use best_pair::Solution;
pub use budget::{Budget, Interrupt};
pub use certificate::Certificate;
pub use checkpoint::{Checkpoint, CheckpointSink, InMemory, Resumable};
pub(crate) use mean::Mean;
pub use observer::{JsonLines, Observer, Progress};
pub use reach::{Interval, Reach, Tolerance};
pub use report::{Report, RunState, Stop};
pub use solver::{Certified, Counters, Expected, Quota, Solver, Work};
pub use train::{run, run_from};
