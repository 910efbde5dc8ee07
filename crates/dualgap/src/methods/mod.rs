//! Methods that are not block-dual. A task is trained by them with their settings in its [`Method`](crate::task::Method); on blocks of
//! one's own they are called by the functions here. Frank-Wolfe over a [`product`] of sets stands alone.
//!
//! - [`product`]: Frank-Wolfe for any smooth convex function over a product of compact convex sets.
//! - [`subgradient`], [`cutting_plane`], [`exponentiated_gradient`]: the methods that papers compare block-coordinate
//!   Frank-Wolfe with, on the same blocks and under the same certificate.
//! - [`coordinates`]: coordinate descent for smooth losses under the l1 norm.
//! - [`newton`]: Newton's method for losses of linear predictions under a ridge.
//! - `quasi_newton`: a quasi-Newton method for smooth objectives whose weights are their own dual point.
//! - `shadow`: a dual point for methods that have none of their own.

pub mod coordinates;
pub mod cutting_plane;
pub mod exponentiated_gradient;
pub mod newton;
pub mod product;
pub(crate) mod quasi_newton;
mod shadow;
pub mod subgradient;
