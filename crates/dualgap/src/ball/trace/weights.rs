//! Weights in factors, in the trace ball.

use crate::ball::Weights;
use crate::linalg::{LowRank, Measured};

impl Weights for LowRank {
    fn zero((rows, columns): (usize, usize)) -> Self {
        LowRank::zero(rows, columns)
    }

    fn has_shape(&self, shape: (usize, usize)) -> bool {
        (self.rows(), self.columns()) == shape
    }

    fn fits(&self, shape: (usize, usize)) -> bool {
        self.has_shape(shape) && self.rank() <= shape.0.min(shape.1)
    }

    fn plain(&self) -> &[f64] {
        &[]
    }

    fn is_inside(&self, radius: f64) -> bool {
        let norm = self.nuclear_norm();
        (norm.value + norm.error) * (1.0 + f64::EPSILON) <= radius
    }

    fn brought_inside(self, radius: f64) -> Self {
        let shape = (self.rows(), self.columns());
        let mut x = self.within(radius);
        for _ in 0..8 {
            if x.is_inside(radius) {
                return x;
            }
            x = x.within(radius).scaled(1.0 - 2.0 * f64::EPSILON);
        }
        // Such numbers (overflow or NaN) cannot be proved to be in the ball; zero can.
        Weights::zero(shape)
    }

    fn squared_norm(&self) -> Measured {
        LowRank::squared_norm(self)
    }
}
