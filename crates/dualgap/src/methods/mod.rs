//! Methods that are not block-dual.
//!
//! - [`product`]: Frank-Wolfe for any smooth convex function over a product of compact convex sets.

pub mod product;
