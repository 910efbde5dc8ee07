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
//! The rooms, from the ground up; a lower one never imports a higher one (a test sees to it):
//!
//! | room | what it is for |
//! | --- | --- |
//! | [`linalg`] | rows, kernels, compensated sums, the seeded generator, low-rank matrices |
//! | [`container`] | the sealed file of tensors: model files, checkpoints, maps of converted data |
//! | [`data`] | readers, alphabets, data sets, fingerprints |
//! | [`term`] | what objectives are made of: losses, regularisers as links, and balls |
//! | [`run`] | certificate, budget, observers, checkpoints, and the one training loop |
//! | [`dual`] | the block-dual engine |
//! | [`ball`] | linear models in a norm ball: primal-dual block Frank-Wolfe |
//! | [`methods`] | methods that are not block-dual: Newton's and quasi-Newton, coordinate descent, subgradients, cutting planes, exponentiated gradient, Frank-Wolfe over any product of convex sets |
//! | [`structure`] | one room per structure: linear, multiclass, chain, a user's own |
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

pub use error::{Error, Result, Setting, Source};
