//! The front door: a problem as a value, and what can be done with it.
//!
//! ```text
//! data → TaskSpec → Task → fit → Report { Model, Certificate } → predict, evaluate, save, certify
//! ```
//!
//! [`Task`], [`Plan`] and [`Model`] are enough to train, to predict and to prove. [`PathPlan`] and [`TrialPlan`] choose λ; [`Registry`],
//! [`RawModel`] and [`AnyModel`] are for programs that meet a model file without knowing its type.
//!
//! - `problem`: [`Task`]: a structure, a penalty, scaling and class weights; `spec`: the same before the data are seen; `strength`: a λ, μ or σ
//!   as it is written.
//! - `accuracy`: a pure l1 problem to an accuracy that is known beforehand: sections 3.1 and 3.2 of the Prox-SDCA paper.
//! - `advice`: what a run suggests about its problem: an intercept, a scale.
//! - `appraise`: how far from the optimum the weights of anybody are.
//! - `plan`, `method`: how to fit a model; `fit`: training; `checkpoint`: runs that can resume.
//! - `model`: a fitted model: predict, scores, probabilities, evaluate.
//! - `file`: the model file; `version1`: files of the first version.
//! - `prove`: verification of a stored certificate; `compact`: weights in few bytes, and what they prove; `quantised`: integers in their place; `compress`: small models, and what
//!   that costs.
//! - `describe`: the problem behind a certificate, in words and as JSON.
//! - `path`: models that together are within a tolerance at every λ of an interval.
//! - `over`: what a grid is over, λ, σ or a radius; `cross_validation`: the one that predicts best.
//! - `grid_path`: a certified model at every number of a grid; `choose`: the number that predicts held-out examples best.
//! - `predict`: predictions for a file; `tag`: for a stream of sentences, in several forms.
//! - `shards`: a task whose examples are in several processes.
//! - `registry`: models whose structure is known only when their file is read.

mod accuracy;
mod advice;
mod appraise;
mod checkpoint;
mod choose;
mod compact;
mod compress;
mod cross_validation;
mod describe;
mod file;
mod fit;
mod grid_path;
#[cfg(all(test, not(feature = "low-rank")))]
mod lacking;
mod method;
mod model;
mod over;
mod path;
mod plan;
mod predict;
mod problem;
mod prove;
mod quantised;
mod registry;
mod shards;
mod spec;
mod strength;
mod tag;
mod version1;

pub use accuracy::{Accuracy, Approximation};
pub use appraise::Appraisal;
pub use checkpoint::Checkpoints;
pub use choose::Chosen;
pub use compress::{Compressed, Compression};
pub use cross_validation::{
    Candidate, CrossValidation, Edge, Score, Search, SearchEnd, Told, Trial, TrialPlan,
};
pub use describe::Description;
pub use file::RawModel;
pub use method::{DualMethod, Method};
pub use model::{Model, Provenance};
pub use over::{Grid, Over};
pub use path::{Covered, Ending, PathPlan, Piece, check_path};
pub use plan::{Keep, Plan, Resume};
pub use predict::{Predictions, Request};
pub use problem::Task;
pub use prove::{DualEvidence, Verified};
pub use registry::{AnyModel, Predictor, Registry};
pub use shards::Outcome;
pub use spec::{PenaltySpec, TaskSpec};
pub use strength::Strength;
pub use tag::{InputForm, OutputForm, Tagging};
