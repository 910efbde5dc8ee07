//! The data of a run: by columns, or by rows with the matrix of all weights.

use super::design::Design;
use super::squares::{self, Squares};
use crate::dual::problem::Masses;
use crate::methods::newton::CurvedBlocks;

pub enum Data<'a> {
    Columns(Design),
    Rows(Squares<'a>),
}

impl<'a> Data<'a> {
    pub fn new<B: CurvedBlocks>(blocks: &'a B, masses: Masses) -> Self {
        if squares::pays(blocks) {
            return Self::Rows(Squares::new(blocks, masses));
        }
        Self::Columns(Design::new(blocks.inputs(), masses, blocks.outputs()))
    }

    /// Returns the number of predictions of an example.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Columns(design) => design.outputs,
            Self::Rows(_) => 1,
        }
    }

    pub fn masses(&self) -> &Masses {
        match self {
            Self::Columns(design) => &design.masses,
            Self::Rows(squares) => &squares.masses,
        }
    }

    /// Returns the number of weights.
    pub fn dim(&self) -> usize {
        match self {
            Self::Columns(design) => design.dim(),
            Self::Rows(squares) => squares.lengths.len(),
        }
    }

    /// Returns the number of predictions.
    pub fn predictions(&self) -> usize {
        self.masses().len() * self.outputs()
    }

    /// Returns the number of stored entries.
    pub fn stored(&self) -> usize {
        match self {
            Self::Columns(design) => design.columns.stored(),
            Self::Rows(squares) => squares.rows().stored(),
        }
    }

    /// Returns N_j = √(Σ mass_i x_ij²) of the column of a weight.
    #[inline]
    pub fn length(&self, c: usize) -> f64 {
        match self {
            Self::Columns(design) => design.lengths[c / design.outputs],
            Self::Rows(squares) => squares.lengths[c],
        }
    }

    /// Returns `Xw` for these weights, zero for all others, and the entries that were touched.
    pub fn predict(&self, weights: impl Iterator<Item = (usize, f64)>) -> (Vec<f64>, u64) {
        match self {
            Self::Columns(design) => design.predict(weights),
            Self::Rows(squares) => {
                let mut w = vec![0.0; self.dim()];
                weights.for_each(|(c, value)| w[c] = value);
                (squares.predict(&w), self.stored() as u64)
            }
        }
    }

    /// Returns the slopes of the losses along all weights at these ones, if they are known; nothing else.
    pub fn known_slopes(&self, w: &[f64]) -> Vec<f64> {
        match self {
            Self::Rows(squares) if w.iter().all(|&w| w == 0.0) => squares.at_zero.clone(),
            Self::Rows(_) | Self::Columns(_) => Vec::new(),
        }
    }

    /// Returns `X's` for all weights but those that were dropped, whose slopes may be zero, and the entries that were touched.
    pub fn slopes(&self, s: &[f64], dropped: &[bool]) -> (Vec<f64>, u64) {
        let mut z = vec![0.0; self.dim()];
        let touched = match self {
            Self::Columns(design) => design.slopes(s, dropped, &mut z),
            Self::Rows(squares) => {
                squares.add_slopes(s, &mut z);
                self.stored() as u64
            }
        };
        (z, touched)
    }
}
