//! The state of the ascent in blocks.

use crate::ball::Touched;
use crate::ball::centre::Centre;
use crate::ball::shrinking::Shrinking;
use dualgap_dense::Mat;
use serde::{Deserialize, Serialize};

/// All that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Place {
    pub(super) alpha: Vec<f64>,
    /// U, row after row.
    pub(super) u: Vec<f64>,
    /// U'U and W. U'U is stored, not recomputed: it is updated step by step, and its accumulated rounding error is part
    /// of the state that must resume bit for bit.
    #[serde(with = "square")]
    pub(super) square: Mat<f64>,
    #[serde(with = "square")]
    pub(super) spread: Mat<f64>,
    pub(super) rank: usize,
    pub(super) centre: Centre,
    pub(super) shrinking: Shrinking,
    pub(super) passes: u64,
    /// The number of passes of a round: it grows by one when a certification finds the dual below the best.
    pub(super) round: u64,
    /// ς.
    pub(super) pull: f64,
    pub(super) shortened: u64,
    pub(super) touched: Touched,
    /// The gap at the last certification.
    pub(super) gap: f64,
}

impl Place {
    /// Starts at α = 0, for n examples, d features and c outputs.
    pub(super) fn new((n, d, c): (usize, usize, usize), mu: f64, seed: u64) -> Self {
        Self {
            alpha: vec![0.0; n * c],
            u: vec![0.0; d * c],
            square: Mat::zeros(c, c),
            spread: Mat::zeros(c, c),
            rank: 0,
            centre: Centre::none(mu),
            shrinking: Shrinking::new(n, seed),
            passes: 0,
            round: 1,
            pull: 1.0,
            shortened: 0,
            touched: Touched::default(),
            gap: f64::INFINITY,
        }
    }

    /// Whether a state from a checkpoint is valid in the place of `own`.
    pub(super) fn is_sound(&self, own: &Self, mu: f64) -> bool {
        let finite =
            |x: &[f64], own: &[f64]| x.len() == own.len() && x.iter().all(|x| x.is_finite());
        let c = own.square.nrows();
        finite(&self.alpha, &own.alpha)
            && finite(&self.u, &own.u)
            && [&self.square, &self.spread].iter().all(|matrix| matrix.nrows() == c)
            && self.centre.is_sound(mu, own.u.len())
            && self.shrinking.is_sound(own.alpha.len() / c)
    }
}

/// Stores a square matrix as its entries alone, column after column.
mod square {
    use super::{Deserialize, Mat, Serialize};
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(matrix: &Mat<f64>, to: S) -> Result<S::Ok, S::Error> {
        let columns = 0..matrix.ncols();
        let values: Vec<f64> = columns.flat_map(|j| matrix.col_as_slice(j)).copied().collect();
        values.serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Mat<f64>, D::Error> {
        let values = Vec::<f64>::deserialize(from)?;
        let side = values.len().isqrt();
        if side * side != values.len() || !values.iter().all(|x| x.is_finite()) {
            return Err(Error::custom("numbers that make no square matrix"));
        }
        Ok(Mat::from_fn(side, side, |i, j| values[j * side + i]))
    }
}
