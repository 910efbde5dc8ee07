//! Methods that are not block-dual.
//!
//! - [`product`]: Frank-Wolfe for any smooth convex function over a product of compact convex sets.
//! - [`cutting_plane`]: cutting planes, with one slack variable (BMRM) or one for each example.

pub mod cutting_plane;
pub mod product;
