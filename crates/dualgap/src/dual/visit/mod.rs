//! One visit to a block: which corners it needs, the step that it takes, and whether the oracle is called.
//!
//! - [`Plain`]: every visit calls the oracle and steps toward what it found (`toward`).
//! - [`ActiveSet`]: a visit may also step away from a known corner or between two of them, with the oracle or without
//!   (`active_set`).
//!
//! Both implement [`Visits`] (`definition`), and [`Blocks::Visits`](super::Blocks::Visits) names one of them, so that steps between
//! known corners are compiled for blocks that know theirs.

mod active_set;
mod definition;
mod plain;
mod toward;

pub use active_set::ActiveSet;
pub(in crate::dual) use definition::find;
pub use definition::{Outcome, Slot, Visit, Visits};
pub use plain::Plain;
pub(crate) use toward::no_number;
