//! What a step takes, in passes over the data.

use super::blocks::CurvedBlocks;
use crate::linalg::Rows;

/// A step by Cholesky may have the multiplications of as many passes over the data: conjugate gradients take hundreds on raw
/// columns, and a pass of theirs takes several times as long.
const WORTH: f64 = 400.0;

/// The largest number of weights whose matrix is written out, in 32 MB.
const MOST_WEIGHTS: usize = 2000;

/// A multiplication inside of a matrix product takes this share of the time of one in a pass over the rows: they are done
/// several at a time, and their factors are in registers.
const DENSE: f64 = 1.0 / 8.0;

/// The same where rows are sparse: a product for every pair of entries, each added to a place of its own.
const SPARSE: f64 = 1.0 / 2.0;

/// The eigenvectors of a matrix of d rows take this many multiplications, in units of d³.
#[cfg(feature = "low-rank")]
const EIGENVECTORS: f64 = 9.0;

/// The preconditioner of several outputs may take as long as this many passes over the data: it saves more products than that
/// on raw columns.
#[cfg(feature = "low-rank")]
const WORTH_OF_FACTORS: f64 = 20.0;

/// The most inputs of the preconditioner, whose matrix is then 8 MB.
#[cfg(feature = "low-rank")]
const MOST_INPUTS: usize = 1000;

/// What the conjugate gradients of a step take with the preconditioner of several outputs, in passes: four to twelve products
/// with matrices, each two passes at about half the time of one over rows.
#[cfg(feature = "low-rank")]
const PRODUCTS: f64 = 6.0;

/// The same where rows are dense, and a multiplication takes an eighth of the time.
#[cfg(feature = "low-rank")]
const PRODUCTS_OF_DENSE: f64 = 2.0;

/// A visit of dual ascent takes as long as this many entries of a row besides its own: its dual variable is found.
const VISIT: f64 = 60.0;

/// The same for each of several outputs, whose dual variables are found together: of the instructions of a visit on letter, with 26
/// classes and 16 columns, two thirds.
const VISIT_OF_SEVERAL: f64 = 20.0;

/// The same for a row that comes from anywhere in more memory than a cache has: a visit took 300 to 400 ns on 581,012 rows of twelve
/// entries, and 130 on rows that lie beside each other.
const FAR: f64 = 200.0;

/// An entry of a row that is stored with its zeros takes this share of the time of one that is not: several are multiplied at once.
const OF_FULL_ROW: f64 = 1.0 / 4.0;

/// The losses of a step of Newton's method are computed for all examples at once, ...
const LOSS: f64 = 10.0;

/// ... and besides its equations it has the predictions of the direction, the gradient, and now and then a shorter step.
const OTHERS: f64 = 4.0;

/// The share of entries from which on sparse rows are multiplied like dense ones. With a third of its entries a row has a ninth of
/// the pairs, and a pair in a matrix product takes a tenth of the time of one by itself: measured, the two are level at 0.35 with 20
/// columns, at 0.3 with 60 and at 0.2 with 200 to 600.
const FULL: f64 = 0.3;

/// The same with several outputs, whose products with an entry are made several at a time as well.
const FULL_OF_SEVERAL: f64 = 0.5;

/// Whether a matrix product of the rows, zeros included, is faster than one of their entries.
pub fn is_dense(rows: &Rows, outputs: usize) -> bool {
    let all = rows.len() as f64 * rows.width() as f64;
    let full = if outputs == 1 { FULL } else { FULL_OF_SEVERAL };
    all > 0.0 && (rows.dense_values().is_some() || rows.stored() as f64 >= full * all)
}

/// Returns the share of the time of a multiplication in a pass that one inside of X'DX takes.
fn share(rows: &Rows, outputs: usize) -> f64 {
    if is_dense(rows, outputs) { DENSE } else { SPARSE }
}

/// Returns the pairs of entries of all rows.
fn pairs(rows: &Rows, outputs: usize) -> f64 {
    if is_dense(rows, outputs) {
        return rows.len() as f64 * (rows.width() as f64).powi(2);
    }
    (0..rows.len()).map(|i| (rows.row(i).stored() as f64).powi(2)).sum::<f64>()
}

/// Returns the multiplications of the matrix of all weights and of its factorisation, in those of a pass over the data, if this share of
/// the examples have a curvature.
fn multiplications(rows: &Rows, outputs: usize, bent: f64) -> f64 {
    let k = outputs as f64;
    let dim = rows.width() as f64 * k;
    let entries = (rows.stored() as f64 * k).max(1.0);
    (bent * pairs(rows, outputs) * 0.25 * k * (k + 1.0) + dim.powi(3) / 3.0) / entries
}

/// Returns how long the matrix of all weights and its factorisation take, in passes over the data.
#[cfg(feature = "low-rank")]
pub fn cholesky_in_passes(rows: &Rows, outputs: usize) -> [f64; 2] {
    let (all, factors) = (multiplications(rows, outputs, 1.0), multiplications(rows, outputs, 0.0));
    [all - factors, factors].map(|passes| share(rows, outputs) * passes)
}

/// Returns how long the matrix X'DX of one output and its eigenvectors take, in passes over the data with all outputs.
#[cfg(feature = "low-rank")]
pub fn gram_in_passes(rows: &Rows, outputs: usize) -> f64 {
    let of_vectors = EIGENVECTORS * (rows.width() as f64).powi(3);
    (gram_in_products(rows) + of_vectors * DENSE) / (rows.stored() * outputs).max(1) as f64
}

/// Returns how long the matrix X'DX of one output takes, by the time of a multiplication in a pass over the rows.
pub fn gram_in_products(rows: &Rows) -> f64 {
    0.5 * share(rows, 1) * pairs(rows, 1)
}

/// Returns how long a step by Cholesky takes, in passes over the data, if it pays.
fn passes_of_cholesky(rows: &Rows, outputs: usize) -> Option<f64> {
    let dim = rows.width().saturating_mul(outputs);
    let small = cfg!(feature = "low-rank") && dim <= MOST_WEIGHTS;
    let passes =
        small.then(|| multiplications(rows, outputs, 1.0)).filter(|&passes| passes <= WORTH)?;
    Some(share(rows, outputs) * passes)
}

/// How the Newton equations are solved, and how long that takes in passes over the data: by the time of a multiplication in one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Cholesky(f64),
    /// Conjugate gradients with the preconditioner of several outputs.
    Factors(f64),
    /// Conjugate gradients with a diagonal preconditioner: what they take is known only afterwards.
    Diagonal,
}

impl Way {
    /// Returns the way that is likely to be the fastest.
    pub fn fastest(rows: &Rows, outputs: usize) -> Self {
        match (passes_of_cholesky(rows, outputs), passes_of_factors(rows, outputs)) {
            (Some(passes), Some(others)) if passes > others => Self::Factors(others),
            (Some(passes), _) => Self::Cholesky(passes),
            (None, Some(passes)) => Self::Factors(passes),
            (None, None) => Self::Diagonal,
        }
    }
}

/// Returns how long a step by conjugate gradients with the preconditioner of several outputs takes, if there is one.
fn passes_of_factors(rows: &Rows, outputs: usize) -> Option<f64> {
    #[cfg(feature = "low-rank")]
    {
        let products = if is_dense(rows, outputs) { PRODUCTS_OF_DENSE } else { PRODUCTS };
        passes_of_preconditioner(rows, outputs).map(|passes| passes + products)
    }
    #[cfg(not(feature = "low-rank"))]
    (rows.len() + outputs == 0).then_some(0.0)
}

/// Returns how long the preconditioner of several outputs takes, in passes over the data, if it pays.
#[cfg(feature = "low-rank")]
pub fn passes_of_preconditioner(rows: &Rows, outputs: usize) -> Option<f64> {
    let small = outputs > 1 && rows.width() <= MOST_INPUTS;
    small.then(|| gram_in_passes(rows, outputs)).filter(|&passes| passes <= WORTH_OF_FACTORS)
}

/// The share of the examples between the corners of smoothed losses, in the mean of the steps of a run: 0.02 to 0.16 after some passes
/// of dual ascent on all that was tried but raw columns.
const BETWEEN: f64 = 0.1;

/// The losses of a step on smoothed losses are computed at two points, and take as long as so many entries each, ...
const SMOOTHED: f64 = 40.0;

/// ... or, with several outputs, for each of those: a projection onto the simplex is a quarter of the time of a run on letter.
const SMOOTHED_OF_SEVERAL: f64 = 120.0;

/// Whether steps on smoothed losses are by Cholesky: the closer the losses come to their corners, the more products conjugate gradients
/// would take.
pub fn suits_corners<B: CurvedBlocks>(blocks: &B) -> bool {
    let (rows, k) = (blocks.inputs(), blocks.outputs());
    let small = cfg!(feature = "low-rank") && rows.width().saturating_mul(k) <= MOST_WEIGHTS;
    blocks.has_corners() && small && multiplications(rows, k, BETWEEN) <= WORTH
}

/// Returns how many passes of dual ascent take about as long as a step on smoothed losses.
pub fn passes_of_ascent_per_smoothed_step<B: CurvedBlocks>(blocks: &B) -> f64 {
    let (rows, k) = (blocks.inputs(), blocks.outputs());
    let predictions = (rows.len() * k) as f64;
    let entries = rows.stored() as f64 * k as f64;
    let matrix = share(rows, k) * multiplications(rows, k, BETWEEN) * entries;
    let losses = if k == 1 { SMOOTHED } else { SMOOTHED_OF_SEVERAL };
    let others = OTHERS * pass(rows, k) + losses * predictions;
    (matrix + others) / pass_of_ascent(blocks)
}

/// Returns how long a product with the data takes, in multiplications of a pass over sparse rows.
fn pass(rows: &Rows, outputs: usize) -> f64 {
    let share = if rows.dense_values().is_some() { OF_FULL_ROW } else { 1.0 };
    share * rows.stored() as f64 * outputs as f64
}

/// Returns the same for a pass of dual ascent.
fn pass_of_ascent<B: CurvedBlocks>(blocks: &B) -> f64 {
    let (rows, k) = (blocks.inputs(), blocks.outputs());
    let fetched = if blocks.locality().is_scattered() { FAR * rows.len() as f64 } else { 0.0 };
    let visit = if k == 1 { VISIT } else { VISIT_OF_SEVERAL };
    2.0 * pass(rows, k) + visit * (rows.len() * k) as f64 + fetched
}

/// Returns how many passes of dual ascent take about as long as a step, or `None` if that is known only afterwards.
pub fn passes_of_ascent_per_step<B: CurvedBlocks>(blocks: &B) -> Option<f64> {
    let (rows, k) = (blocks.inputs(), blocks.outputs());
    let (entries, predictions) = (rows.stored() as f64 * k as f64, (rows.len() * k) as f64);
    let (Way::Cholesky(passes) | Way::Factors(passes)) = Way::fastest(rows, k) else {
        return None;
    };
    let step = passes * entries + OTHERS * pass(rows, k) + LOSS * predictions;
    Some(step / pass_of_ascent(blocks))
}
