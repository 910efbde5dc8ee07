//! `dualgap train` and `dualgap demo`, as their users see them.
//!
//! Numbers are judged by [`common::exact`], which goes through all outputs, or by relations that hold
//! for any correct program; none is copied from a run.

mod beams;
mod demo;
mod determinism;
mod exponentiated;
mod folds;
mod help;
#[cfg(unix)]
mod interrupt;
mod kernels;
mod limits;
mod methods;
mod output;
mod planes;
mod problems;
mod rescaling;
mod solvers;
mod spellings;
mod strengths;
mod trace;
mod weights;
