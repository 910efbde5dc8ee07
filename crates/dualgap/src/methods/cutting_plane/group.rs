//! A plane, and the planes of one slack.

use super::image::Image;
use super::simplex::Gram;

/// A plane: its value at zero, and its vector.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub offset: f64,
    pub image: Image,
}

impl Cut {
    /// Returns the plane's value at w.
    pub fn value(&self, w: &[f64]) -> f64 {
        self.offset - self.image.dot(w)
    }
}

/// The planes of one slack, and their products divided by λ.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub cuts: Vec<Cut>,
    pub gram: Gram,
}
