//! One label out of several for each example.
//!
//! - `blocks`: a distribution over classes for each example, under the hinge.
//! - `scores`: the same under any loss of the scores, by the options of Prox-SDCA; `segment` is its search along a
//!   segment.
//! - `curved`: the hinge for Newton's method, and `support`: the curvature of a hinge that is rounded off.
//! - `expectation`: expectations under a distribution, for exponentiated gradient steps.
//! - `oracle`: the max-oracle, for comparison with users' own.

mod blocks;
mod curved;
pub(crate) mod definition;
mod expectation;
mod oracle;
mod scores;
mod segment;
mod support;

pub(crate) use blocks::KERNEL_WORK;
pub use blocks::MulticlassBlocks;
pub use definition::Multiclass;
pub use oracle::MulticlassOracle;
pub use scores::ScoreBlocks;
