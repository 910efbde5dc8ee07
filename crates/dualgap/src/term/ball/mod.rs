//! Norm balls: sets that weights are kept in, in the place of a penalty.
//!
//! - [`trace`]: weights of low rank; the projection, and a proven bound on the dual.

pub mod trace;
