//! Losses of a linear prediction: φ(a) for the prediction a = ⟨x, w⟩ of an example with target y.
//!
//! A loss enters the dual through its conjugate at −α, where α is the example's dual variable:
//!
//! ```text
//! φ*(−α) = max_a [−α a − φ(a)],        φ(a) + φ*(−α) + α a ≥ 0, and = 0 where −α ∈ ∂φ(a)
//! ```
//!
//! Each loss has a file with its formulas at the head; the same tests compare all losses with brute force.
//!
//! - `definition`: [`Loss`], which all of them implement. `scalar`: [`ScalarLoss`], any of them as a value that a model file stores.
//! - `multiclass`: losses of as many predictions as there are classes; `softmax`: what the log-loss of these rests on.

mod absolute;
mod definition;
mod hinge;
mod huber;
mod logistic;
mod multiclass;
mod scalar;
mod softmax;
mod squared;
mod squared_hinge;
#[cfg(test)]
mod tests;

pub use absolute::EpsilonInsensitive;
pub use definition::Loss;
pub use hinge::Hinge;
pub use huber::Huber;
pub use logistic::Logistic;
pub use multiclass::MulticlassLoss;
pub use scalar::ScalarLoss;
pub(crate) use softmax::distribution as softmax;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;
