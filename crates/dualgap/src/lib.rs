//! **dualgap** trains linear and structured predictors to a *certified* optimum.
//!
//! Every run ends with a model and a duality gap that was recomputed from the data: the primal
//! value at exactly the weights that are returned, the dual value at a feasible dual point, and a
//! bound on the rounding of both. Nothing else may end a run as "gap reached".
//!
//! ```
//! use dualgap::data::Examples;
//! use dualgap::run::Budget;
//! use dualgap::structure::Multiclass;
//! use dualgap::task::{Plan, Task};
//! use dualgap::term::Penalty;
//!
//! let data = Examples::from_dense(
//!     &[vec![1.0, 0.0], vec![0.9, 0.2], vec![0.0, 1.0], vec![0.1, 0.8]],
//!     &["cat", "cat", "dog", "dog"],
//! )?;
//! let task = Task::new(Multiclass::default(), Penalty::ridge(0.1));
//! let report = task.fit(&data, Plan::new(Budget::relative(1e-3)))?;
//! assert!(report.certificate.gap() <= 1e-3 * report.certificate.primal);
//! // The same proof once more, from the data, the weights and the dual point that the model keeps.
//! report.model.certify(&data)?;
//! # Ok::<(), dualgap::Error>(())
//! ```
//!
//! # To train and to predict
//!
//! | | |
//! | --- | --- |
//! | the data | [`data::Examples`], [`data::Sequences`], [`data::Matchings`], [`data::Ratings`], from arrays or, by a [`data::Recipe`], from files |
//! | what is predicted | a [`structure::Structure`]: [`Linear`](structure::Linear), [`Multiclass`](structure::Multiclass), [`Chain`](structure::Chain), [`Matching`](structure::Matching), [`MultiLabel`](structure::MultiLabel), [`MultiOutput`](structure::MultiOutput), [`Completion`](structure::Completion), [`Sensing`](structure::Sensing), or one [under a kernel](structure::Kernelised) |
//! | with which loss, under which penalty | [`term::ScalarLoss`], [`term::MulticlassLoss`], [`term::Penalty`] |
//! | all of it as one value | [`task::Task`], or [`task::TaskSpec`] where the data decide |
//! | until when, and how | [`run::Budget`] in a [`task::Plan`], with a [`task::Method`] |
//! | what comes out | [`run::Report`] of a [`task::Model`] with its [`run::Certificate`] |
//!
//! # To bring something of one's own
//!
//! | yours | implements |
//! | --- | --- |
//! | an output space with a max-oracle | [`structure::Oracle`], with bytes for its outputs [`structure::OwnOracle`]; [`structure::check_oracle`] tests it |
//! | a structure with blocks of its own | [`dual::Blocks`] and [`structure::Structure`], which poses its problem by [`structure::Posed`] |
//! | a loss, a regulariser, a kernel | [`term::Loss`], [`term::Link`], [`term::Kernel`] |
//! | a map of a matrix, a smooth term, losses in a ball | [`ball::trace::Map`], [`ball::SmoothTerm`], [`ball::Losses`] |
//! | a smooth function over a product of convex sets | [`methods::product::Objective`], [`methods::product::Set`] |
//! | what watches a run, and where its checkpoints go | [`run::Observer`], [`run::CheckpointSink`] |
//! | a solver | [`run::Solver`], trained by [`run::run`] |
//!
//! # The rooms
//!
//! From the ground up; a lower one never imports a higher one (a test sees to it). One path leads to each item.
//!
//! | room | what it is for |
//! | --- | --- |
//! | [`linalg`] | rows, compensated sums, the seeded generator, low-rank matrices |
//! | [`container`] | what model files are made of, and files that are written whole or not at all |
//! | [`data`] | data sets and how files become such |
//! | [`term`] | what objectives are made of: losses, penalties, regularisers as links, kernels |
//! | [`run`] | certificate, budget, observers, checkpoints, and the one training loop |
//! | [`dual`] | the block-dual engine, for problems of one's own blocks |
//! | [`ball`] | linear models in a norm ball: primal-dual block Frank-Wolfe |
//! | [`methods`] | methods that are not block-dual, and the settings of those that a task can be trained by |
//! | [`structure`] | what is predicted: one structure for each kind of output, or one's own |
//! | [`task`] | the front door: a problem as a value; fit, certify, predict, save, load |

mod error;

/// The README's example is run with the others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub mod ball;
pub mod container;
pub mod data;
pub mod dual;
pub mod linalg;
pub mod methods;
pub mod run;
pub mod structure;
pub mod task;
pub mod term;

pub(crate) use error::Source;
pub use error::{Error, Result, Setting};
