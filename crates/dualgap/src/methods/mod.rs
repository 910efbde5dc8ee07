//! Methods that are not block-dual.
//!
//! - [`product`]: Frank-Wolfe for any smooth convex function over a product of compact convex sets.
//! - [`subgradient`]: stochastic and batch subgradient steps on the primal, certified.
//! - `shadow`: a dual point for methods that have none of their own.

pub mod product;
mod shadow;
pub mod subgradient;
