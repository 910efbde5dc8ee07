//! What must be the same, whichever way it is computed.
//!
//! - `algorithms`: Frank-Wolfe over one block and over all, as a subgradient method, and for two classes
//!   as the dual coordinate method of the binary SVM.
//! - `adapters`: a structure's own blocks, and the adapter around its oracle.
//! - `pairs`: features of label pairs that say nothing new.
//! - `sample_weights`: weights, and duplicates.
//! - `determinism`: any number of threads, and the same seed twice.
//!
//! One program, so that the engine is compiled once for all of them.

#[path = "../common/mod.rs"]
mod common;

mod adapters;
mod algorithms;
mod determinism;
mod pairs;
mod sample_weights;
