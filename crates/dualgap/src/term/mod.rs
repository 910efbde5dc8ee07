//! What objectives are made of: losses of a prediction, and regularisers as links from v to w.

pub mod elastic_net;
pub mod link;
pub mod loss;

pub use elastic_net::{ElasticNet, Regulariser};
pub use link::{L2, Link};
pub use loss::{Loss, ScalarLoss};
