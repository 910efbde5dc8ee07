//! The terms of an objective: losses of a prediction, and regularisers as links from v to w, or balls in the place of a
//! regulariser.
//!
//! A task has a [`ScalarLoss`] or a [`MulticlassLoss`] and a [`Penalty`]; runs of the engine on blocks have a [`Regulariser`] in its
//! place. [`Loss`], [`Link`] and [`Kernel`] are the traits for those of one's own.

pub(crate) mod ball;
mod constant;
mod costs;
mod elastic_net;
pub(crate) mod kernel;
mod link;
mod loss;
mod penalty;
mod pure_l1;
mod q_norm;
mod regulariser;
mod unpenalised;

pub use ball::Ball;
pub(crate) use constant::best_constants;
pub use constant::{Constant, Constants};
pub use costs::{CheckedCosts, Costs};
pub use elastic_net::ElasticNet;
pub(crate) use kernel::KernelLink;
pub use kernel::{Gram, Kernel, KernelFunction};
pub use link::{L2, Link, Norm, Readable};
pub(crate) use loss::softmax;
pub use loss::{Loss, MulticlassLoss, ScalarLoss};
pub use penalty::Penalty;
pub use pure_l1::PureL1;
pub use q_norm::QNorm;
pub use regulariser::Regulariser;
pub use unpenalised::Free;
pub(crate) use unpenalised::Unpenalised;
