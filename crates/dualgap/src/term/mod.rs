//! The terms of an objective: losses of a prediction, and regularisers as links from v to w, or balls in the place of a
//! regulariser.

pub mod ball;
mod constant;
mod costs;
mod elastic_net;
pub mod kernel;
mod link;
mod loss;
mod penalty;
mod pure_l1;
mod q_norm;
mod regulariser;
mod unpenalised;

pub use ball::Ball;
pub use constant::{Constant, Constants, best_constants};
pub use costs::{CheckedCosts, Costs};
pub use elastic_net::ElasticNet;
pub use kernel::{Gram, Kernel, KernelFunction, KernelLink};
pub use link::{L2, Link, Norm, Readable};
pub(crate) use loss::softmax;
pub use loss::{Loss, MulticlassLoss, ScalarLoss};
pub use penalty::Penalty;
pub use pure_l1::PureL1;
pub use q_norm::QNorm;
pub use regulariser::Regulariser;
pub use unpenalised::{Free, Unpenalised};
