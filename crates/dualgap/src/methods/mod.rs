//! Methods that are not block-dual.
//!
//! - [`exponentiated_gradient`]: exponentiated gradient on the dual of a structural SVM.
//! - [`product`]: Frank-Wolfe for any smooth convex function over a product of compact convex sets.

pub mod exponentiated_gradient;
pub mod product;
