//! The two forms of the weights: a plain vector in the l1 ball, factors of a matrix of low rank in the trace ball.

use crate::linalg::Measured;
use crate::linalg::sum::squared_norm;
use crate::term::ball::l1;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Weights X of some rows and columns, and the ball that goes with their form.
pub trait Weights: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send {
    /// X = 0.
    fn zero(shape: (usize, usize)) -> Self;

    /// Whether X has this shape.
    fn has_shape(&self, shape: (usize, usize)) -> bool;

    /// Whether an X from a checkpoint has this shape, and no more numbers than an X of this shape needs.
    fn fits(&self, shape: (usize, usize)) -> bool {
        self.has_shape(shape)
    }

    /// The entries of X, row after row, or an empty slice if X is in factors.
    fn plain(&self) -> &[f64];

    /// Whether X is proved to be in the ball, whatever rounding did.
    fn is_inside(&self, radius: f64) -> bool;

    /// Returns this X, which is in the ball up to rounding, scaled down where the proof that it is inside needs that.
    #[must_use]
    fn brought_inside(self, radius: f64) -> Self;

    /// ‖X‖².
    fn squared_norm(&self) -> Measured;
}

impl Weights for Vec<f64> {
    fn zero((rows, columns): (usize, usize)) -> Self {
        vec![0.0; rows * columns]
    }

    fn has_shape(&self, (rows, columns): (usize, usize)) -> bool {
        self.len() == rows * columns
    }

    fn plain(&self) -> &[f64] {
        self
    }

    fn is_inside(&self, radius: f64) -> bool {
        l1::contains(self, radius)
    }

    fn brought_inside(mut self, radius: f64) -> Self {
        l1::bring_inside(&mut self, radius);
        self
    }

    fn squared_norm(&self) -> Measured {
        squared_norm(self)
    }
}
