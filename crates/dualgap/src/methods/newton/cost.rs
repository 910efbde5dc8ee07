//! What a step takes, in passes over the data.

use super::blocks::CurvedBlocks;
use crate::linalg::Rows;

/// A step by Cholesky may take as many passes over the data: conjugate gradients take hundreds on raw columns, and a pass of
/// theirs takes several times as long.
const WORTH: f64 = 400.0;

/// The largest number of weights whose matrix is written out, in 32 MB.
const MOST_WEIGHTS: usize = 2000;

/// A multiplication inside of a matrix product takes this share of the time of one in a pass over the rows: they are done
/// several at a time, and their factors are in registers.
const DENSE: f64 = 1.0 / 8.0;

/// The same where rows are sparse: a product for every pair of entries, each added to a place of its own.
const SPARSE: f64 = 1.0 / 2.0;

/// The share of entries from which on sparse rows are multiplied like dense ones. With half of its entries a row has a quarter of
/// the pairs, and a pair in a matrix product takes a quarter of the time of one by itself.
const FULL: f64 = 0.5;

/// Whether a matrix product of the rows, zeros included, is faster than one of their entries.
pub fn is_dense(rows: &Rows) -> bool {
    let all = rows.len() as f64 * rows.width() as f64;
    all > 0.0 && (rows.dense_values().is_some() || rows.stored() as f64 >= FULL * all)
}

/// Returns the multiplications of the matrix of all weights and of its factorisation, in passes over the data.
pub fn cholesky_in_passes(rows: &Rows, outputs: usize) -> f64 {
    let k = outputs as f64;
    let of_row = |i| (rows.row(i).stored() as f64).powi(2);
    let squares = if is_dense(rows) {
        rows.len() as f64 * (rows.width() as f64).powi(2)
    } else {
        (0..rows.len()).map(of_row).sum::<f64>()
    };
    let dim = rows.width() as f64 * k;
    let entries = (rows.stored() as f64 * k).max(1.0);
    (squares * 0.25 * k * (k + 1.0) + dim.powi(3) / 3.0) / entries
}

/// Returns that work if it pays.
pub fn passes_of_cholesky(rows: &Rows, outputs: usize) -> Option<f64> {
    let dim = rows.width().saturating_mul(outputs);
    let small = cfg!(feature = "low-rank") && dim <= MOST_WEIGHTS;
    small.then(|| cholesky_in_passes(rows, outputs)).filter(|&passes| passes <= WORTH)
}

/// Returns how many passes of dual ascent take about as long as a step by Cholesky, or `None` if the equations are for
/// conjugate gradients: what their steps take is known only afterwards.
pub fn passes_of_ascent_per_step<B: CurvedBlocks>(blocks: &B) -> Option<f64> {
    let rows = blocks.inputs();
    let work = passes_of_cholesky(rows, blocks.outputs())?;
    // The products and the losses of a step besides its matrix take about as long as a pass and its certificate.
    Some(work * if is_dense(rows) { DENSE } else { SPARSE } + 2.0)
}
