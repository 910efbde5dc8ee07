//! What must be the same, whichever way it is computed.
//!
//! - `algorithms`: Frank-Wolfe over one block and over all, as a subgradient method, and for two classes
//!   as the dual coordinate method of the binary SVM.
//! - `adapters`: a structure's own blocks, and the adapter around its oracle.
//! - `faces`: what blocks know of the corners of their points, and what looking at all outputs says.
//! - `optima`: all ways to step, and a solver that shares nothing with ours.
//! - `pure_l1`: the l1 norm alone, beside linear programs and, for two classes, linear models of one output.
//! - `pairs`: features of label pairs that say nothing new.
//! - `sample_weights`: weights, and duplicates.
//! - `determinism`: any number of threads, and the same seed twice.
//!
//! One program, so that the engine is compiled once for all of them.

mod adapters;
mod algorithms;
mod determinism;
mod faces;
mod optima;
mod pairs;
mod pure_l1;
mod sample_weights;
