//! Fitted models: prediction, evaluation, files, and the verification of certificates.
//!
//! - [`fit`]: from data to a certified model; [`checkpoint`]: runs that can resume.
//! - [`ball`]: the same for weights in a norm ball.
//! - `low_rank`: weights in factors, in the trace ball; [`completion`]: matrix completion.
//! - `multi_label`: any number of labels for each example, in a ball; [`set_evaluation`]: its evaluation.
//! - `multi_output`: several numbers for each example, in a ball; [`output_evaluation`]: its evaluation.
//! - [`path`](mod@path): models that together are within a tolerance at every λ of an interval.
//! - [`fitted`]: a model and what it can do.
//! - [`evaluation`]: comparison of predictions with the truth; [`chunks`]: the same for chunk labels.
//! - [`cross_validation`]: the λ that predicts best.
//! - [`file`](mod@file): the model file.
//! - [`describe`](mod@describe): the problem behind a certificate, in words and as JSON; `remarks`: its caveats.
//! - `sides`: the two sides of a certificate; [`verify`](mod@verify): recomputes a stored one from the data.

pub mod ball;
pub mod checkpoint;
pub mod chunks;
pub mod completion;
pub mod cross_validation;
pub mod describe;
pub mod evaluation;
pub mod file;
pub mod fit;
pub mod fitted;
mod low_rank;
mod multi_label;
mod multi_output;
pub mod output_evaluation;
pub mod path;
mod remarks;
mod scaled;
pub mod set_evaluation;
mod sides;
pub mod verify;

pub use ball::{InBall, fit_classes_in_ball, fit_linear_in_ball};
pub use checkpoint::Checkpoints;
pub use chunks::{ChunkEvaluation, Count, Scores};
pub use completion::{Centre, Centring, Strangers, fit_completion, verify_completion};
pub use cross_validation::{Candidate, CrossValidation, Edge, Score, Trial, cross_validate};
pub use describe::{Description, describe, describe_with};
pub use evaluation::Evaluation;
pub use fit::{
    Plan, fit_chain, fit_chain_with, fit_linear, fit_linear_with, fit_multiclass,
    fit_multiclass_with, fit_vector_with,
};
pub use fitted::{Model, Provenance, Structure};
pub use multi_label::fit_labels_in_ball;
pub use multi_output::fit_outputs_in_ball;
pub use output_evaluation::{OutputEvaluation, OutputFigures};
pub use path::{PathPlan, check_path, path};
pub use remarks::{Remark, RemarkKind};
pub use set_evaluation::{SetEvaluation, SetFigures};
pub use verify::{
    DualEvidence, Verified, reach_examples, reach_linear, reach_sequences, verify_examples,
    verify_labels, verify_linear, verify_outputs, verify_sequences,
};
