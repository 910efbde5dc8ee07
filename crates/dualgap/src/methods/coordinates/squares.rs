//! Least squares with few weights: by rows, and with the matrix of all weights.
//!
//! ```text
//! P(w) = ½ w'Hw − q'w + constant + λ/2‖w‖² + σ‖w‖₁,     H = X'DX
//! ```
//!
//! H takes one pass over the rows, which gives the slopes at zero as well, and steps with it take none: a run that begins at zero knows the slopes
//! where the first of them ends, to their rounding. What the matrix rounds away the next step corrects, whose slopes are those of the predictions.

use super::gram;
use super::local::Local;
use super::terms::Terms;
use crate::dual::problem::Masses;
use crate::linalg::{Rows, UNIT_ROUNDOFF};
#[cfg(feature = "low-rank")]
use crate::methods::newton::Hessian;
use crate::methods::newton::{CurvedBlocks, RowDesign, gram_in_products};

/// The matrix may take so many products for every entry of the data: copying an entry into its column and some cycles over it take as long.
const WORTH: f64 = 20.0;

/// The weights are at a minimum when a step gains at most this share of the best one of the first cycle.
const SOLVED: f64 = 1e-14;

/// How many times the rounding of a sum of terms with random signs the slopes of the matrix may be off. If it is more, a certificate
/// takes another pass to find out.
const LOOSE: f64 = 4.0;

/// The rows, and H.
pub struct Squares<'a> {
    rows: RowDesign<'a>,
    pub masses: Masses,
    /// N_j = √(Σ mass_i x_ij²).
    pub lengths: Vec<f64>,
    matrix: Vec<f64>,
    /// The slopes of the losses along all weights where these are zero.
    pub at_zero: Vec<f64>,
}

/// Whether the matrix of all weights pays: the model is exact, and there are few weights for the data.
pub fn pays<B: CurvedBlocks>(blocks: &B) -> bool {
    let rows = blocks.inputs();
    let of_cycle = rows.width().saturating_mul(rows.width());
    cfg!(feature = "low-rank")
        && blocks.is_quadratic()
        && blocks.outputs() == 1
        && of_cycle <= rows.stored().min(gram::MOST * gram::MOST)
        && gram_in_products(rows) <= WORTH * rows.stored() as f64
}

impl<'a> Squares<'a> {
    /// Returns the matrix of these blocks, for which it [pays](pays).
    pub fn new<B: CurvedBlocks>(blocks: &'a B, masses: Masses) -> Self {
        let (rows, d) = (RowDesign::new(blocks.inputs(), 1), blocks.inputs().width());
        let start = Local::at(blocks, &masses, vec![0.0; masses.len()]);
        let (matrix, at_zero) = matrix(blocks, &rows, &masses, &start.slopes);
        let length = |j: usize| (blocks.smoothness() * matrix[j * d + j]).sqrt();
        Self { lengths: (0..d).map(length).collect(), rows, masses, matrix, at_zero }
    }

    pub fn rows(&self) -> &'a Rows {
        self.rows.rows
    }

    /// Returns `Xw`.
    pub fn predict(&self, w: &[f64]) -> Vec<f64> {
        if w.iter().all(|&w| w == 0.0) {
            return vec![0.0; self.masses.len()];
        }
        self.rows.predict(w)
    }

    /// Adds `X's` to z.
    pub fn add_slopes(&self, s: &[f64], z: &mut [f64]) {
        self.rows.add_adjoint(s, z);
    }

    /// Minimises P from these weights and slopes.
    pub fn descend(&self, slopes: &mut [f64], w: &mut [f64], terms: &Terms) {
        let all: Vec<u32> = (0..w.len() as u32).collect();
        gram::descend(&self.matrix, &all, slopes, w, terms, gram::Target::Share(SOLVED));
    }

    /// Returns about how far the slopes at these weights may be off if they are those of the matrix: its entries are sums over all
    /// examples, and so are the slopes at zero.
    pub fn rounding(&self, w: &[f64], smoothness: f64) -> f64 {
        let sizes: f64 = self.lengths.iter().zip(w).map(|(length, w)| length * w.abs()).sum();
        let longest = self.lengths.iter().copied().fold(0.0, f64::max);
        let of_sum = LOOSE * UNIT_ROUNDOFF * (self.masses.len() as f64).sqrt();
        of_sum * longest * sizes / smoothness
    }
}

/// Returns `X'DX` and `X's`.
#[cfg(feature = "low-rank")]
fn matrix<B: CurvedBlocks>(
    blocks: &B,
    design: &RowDesign<'_>,
    masses: &Masses,
    s: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let curves = vec![1.0 / blocks.smoothness(); masses.len()];
    let hessian = Hessian { design, blocks, masses, curves: &curves, sample: None };
    let (lower, slopes) = hessian.with_adjoint(Some(s));
    let d = lower.nrows();
    let places = (0..d).flat_map(|p| (0..d).map(move |q| (p.max(q), p.min(q))));
    (places.map(|place| lower[place]).collect(), slopes)
}

#[cfg(not(feature = "low-rank"))]
fn matrix<B: CurvedBlocks>(
    _: &B,
    _: &RowDesign<'_>,
    _: &Masses,
    _: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    (Vec::new(), Vec::new())
}
