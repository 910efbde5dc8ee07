//! The front door: a problem as a value, and what can be done with it.
//!
//! ```text
//! data → TaskSpec → Task → fit → Report { Model, Certificate } → predict, evaluate, save, certify
//! ```
//!
//! - `problem`: [`Task`]: a structure, a penalty, scaling and class weights; `spec`: the same before the data are seen.
//! - `accuracy`: a pure l1 problem to an accuracy that is known beforehand: sections 3.1 and 3.2 of the Prox-SDCA paper.
//! - `advice`: what a run suggests about its problem: an intercept, a scale.
//! - `appraise`: how far from the optimum the weights of anybody are.
//! - `plan`, `method`: how to fit a model; `fit`: training; `checkpoint`: runs that can resume.
//! - `model`: a fitted model: predict, scores, probabilities, evaluate.
//! - `file`: the model file; `version1`: files of the first version.
//! - `prove`: verification of a stored certificate.
//! - `describe`: the problem behind a certificate, in words and as JSON.
//! - `path`: models that together are within a tolerance at every λ of an interval.
//! - `cross_validation`: the λ that predicts best.
//! - `predict`: predictions for a file.
//! - `registry`: models whose structure is known only when their file is read.

mod accuracy;
mod advice;
mod appraise;
mod checkpoint;
mod cross_validation;
mod describe;
mod file;
mod fit;
#[cfg(all(test, not(feature = "low-rank")))]
mod lacking;
mod method;
mod model;
mod path;
mod plan;
mod predict;
mod problem;
mod prove;
mod registry;
mod spec;
mod version1;

pub use accuracy::{Accuracy, Approximation};
pub use appraise::Appraisal;
pub use checkpoint::Checkpoints;
pub use cross_validation::{Candidate, CrossValidation, Edge, Score, Trial, TrialPlan, grid};
pub use describe::Description;
pub use file::RawModel;
pub use method::{DualMethod, Method};
pub use model::{Model, Provenance};
pub use path::{Covered, Ending, PathPlan, Piece, check_path};
pub use plan::{Keep, Plan, Resume};
pub use predict::{Predictions, Request};
pub use problem::Task;
pub use prove::{DualEvidence, Verified};
pub use registry::{AnyModel, Registry};
pub use spec::{PenaltySpec, Strength, TaskSpec};
