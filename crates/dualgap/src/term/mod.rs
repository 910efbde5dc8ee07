//! What objectives are made of. For now the regulariser's side of the dual, the [`Link`].

mod link;

pub use link::{L2, Link};
