//! Fitted models and the runs that make them, through real files.
//!
//! - `pairs`: model files with features of label pairs and names of features.
//! - `resumed`: a run that was interrupted any number of times is the run that never was.
//! - `forgeries`: checkpoints of other runs, damaged ones, and ones that lie.
//! - `warm_starts`: runs that begin with an older model's witness.
//! - `cross_validation`: many of them, on parts of the data.
//! - `paths`: structural models for every λ of an interval.
//! - `strengths`: fractions of the largest σ, grids of σ and radii, and choices by held-out data.
//! - `sources`: the errors behind errors.
//! - `typed_data`: data with weights and without targets; files with recipes of earlier programs.
//! - `versions`: files of the first version.
//! - `predictions`: predictions, probabilities and evaluations beside their formulas.
//! - `own`: a structure of a user's own, with everything that a built-in one has.
//! - `outside`: a structure that is written outside of the library, without an oracle.
//! - `contract`: the check of an oracle against its contract.
//! - `reading`: files that are longer than what a thread takes at a time.
//! - `refusals`: what does not go together, refused before any data are there.
//! - `cancelled`: runs that other threads watch, store and end.
//!
//! One program, so that the engine and the judge are compiled once for all of them.

mod cancelled;
mod contract;
mod cross_validation;
mod fitting;
mod forgeries;
mod outside;
mod own;
mod pairs;
mod paths;
mod predictions;
mod reading;
mod refusals;
mod resumed;
mod sources;
mod strengths;
mod typed_data;
mod versions;
mod warm_starts;
