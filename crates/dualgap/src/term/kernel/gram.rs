//! The matrix of a kernel's values at the inputs of some data, by rows, with bounds on their rounding.
//!
//! Dense data are copied by column, so that the inner products of one input with all others are sums of contiguous
//! columns. The terms of an inner product are always added in the order of the features, so that k(x, z) and k(z, x) have
//! the same bits, whether a row is computed at once, in parts, or comes from the cache.

use super::cache::RowCache;
use super::function::Size;
use super::{Kernel, KernelFunction};
use crate::linalg::memory::reserve_check;
use crate::linalg::underflow::root_above;
use crate::linalg::{Row, Rows};
use crate::{Error, Result};
use multiversion::multiversion;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

/// Data with at least this share of stored entries are copied by column: a sparse inner product takes about four times as
/// long per entry.
const DENSE: f64 = 0.25;

/// The number of inner products that are computed at once: they stay in the fastest cache with a few columns.
const RUN: usize = 1024;

/// A kernel that states a larger error is refused: bounds elsewhere count on less.
const MOST_ERROR: f64 = 1e-8;

type Pair<'a> = Box<dyn Fn(Row<'_>, Row<'_>) -> f64 + Send + Sync + 'a>;

/// The matrix of a kernel; see the module's head.
///
/// ```
/// # use dualgap::{linalg::Rows, term::{Gram, Kernel, KernelFunction}};
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![1.0, 2.0]])?;
/// let kernel = KernelFunction::Polynomial { degree: 2, gamma: Some(1.0), coef0: 1.0 };
/// let gram = Gram::new(&rows, &kernel, 0)?;
/// assert_eq!(gram.row(0)[..], [4.0, 4.0]);
/// assert_eq!(gram.diagonal(), [4.0, 36.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct Gram<'a> {
    rows: &'a Rows,
    function: Option<KernelFunction>,
    pair: Pair<'a>,
    /// The entries by column, if the data are dense.
    columns: Option<Vec<f64>>,
    /// ‖x‖², for built-in kernels.
    squares: Vec<f64>,
    diagonal: Vec<f64>,
    sizes: Vec<Size>,
    /// What underflow can cost a value.
    underflow: f64,
    cache: Mutex<RowCache>,
    /// Two examples at which the kernel is not one.
    broken: OnceLock<(usize, usize)>,
}

impl fmt::Debug for Gram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gram of {} examples, {:?}", self.len(), self.function)
    }
}

impl<'a> Gram<'a> {
    /// Returns the matrix of a kernel that is definite; rows are kept in at most this many bytes. Returns an error if the
    /// kernel is out of its range, or one of its values on the diagonal is negative or no finite number.
    pub fn new(rows: &'a Rows, kernel: &'a impl Kernel, cache_bytes: usize) -> Result<Self> {
        kernel.check()?;
        let error = kernel.error();
        if !(0.0..=MOST_ERROR).contains(&error) {
            return Err(Error::setting(format!(
                "the error of a kernel's values is at most {MOST_ERROR:e} of their size, and this one states {error:e}"
            )));
        }
        let (n, width) = (rows.len(), rows.width());
        let all = || (0..n).map(|i| rows.row(i));
        let dense = rows.stored() as f64 >= DENSE * n as f64 * width as f64;
        let columns = if dense && kernel.function().is_some() {
            reserve_check(n.saturating_mul(width))?;
            let mut columns = vec![0.0; n * width];
            all().enumerate().for_each(|(i, row)| row.for_each(|f, x| columns[f * n + i] = x));
            Some(columns)
        } else {
            None
        };
        let squares: Vec<f64> = all().map(Row::squared_norm).collect();
        let terms = all().map(Row::stored).max().unwrap_or(0);
        let norms = || squares.iter().map(|&square| root_above(square, terms));
        let longest = norms().fold(0.0, f64::max);
        let diagonal: Vec<f64> = all().map(|row| kernel.value(row, row)).collect();
        if let Some(i) = diagonal.iter().position(|k| !(*k >= 0.0 && k.is_finite())) {
            return Err(Error::setting(format!(
                "this is no kernel for these data: at example {} with itself its value is {:?}, and k(x, x) must be a finite \
                 number that is not negative",
                i + 1,
                diagonal[i]
            )));
        }
        let sizes: Vec<Size> = if let Some(function) = kernel.function() {
            norms().map(|norm| function.size(norm, terms)).collect()
        } else {
            // The diagonal has an error of its own.
            let own = |&k: &f64| Size { kappa: k.sqrt() * (1.0 + 1e-7), rho: error };
            diagonal.iter().map(own).collect()
        };
        if let Some(i) = sizes.iter().position(|size| !(size.kappa * size.rho).is_finite()) {
            return Err(Error::setting(format!(
                "the kernel's values at example {} are lost in rounding: its entries are too large; subtract the mean of every \
                 column, or take a smaller gamma",
                i + 1
            )));
        }
        Ok(Self {
            rows,
            function: kernel.function(),
            pair: Box::new(|x, z| kernel.value(x, z)),
            columns,
            squares,
            diagonal,
            sizes,
            underflow: kernel.function().map_or(f64::MIN_POSITIVE, |f| f.underflow(longest, terms)),
            cache: Mutex::new(RowCache::new(n, cache_bytes)),
            broken: OnceLock::new(),
        })
    }

    /// Returns the number of inputs.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Whether there are no inputs.
    pub fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// Returns k(x_i, x_i) of all inputs.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Returns κ(x) and ρ(x) of all inputs.
    pub(super) fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    /// Returns what underflow can cost a value.
    pub(super) fn underflow(&self) -> f64 {
        self.underflow
    }

    /// Returns k(x_i, x_j) for all j.
    pub fn row(&self, i: usize) -> Arc<[f64]> {
        if let Some(row) = self.cache.lock().ok().and_then(|mut cache| cache.get(i)) {
            return row;
        }
        let mut row = vec![0.0; self.len()];
        self.values(self.rows.row(i), 0..self.len(), &mut row);
        self.check_row(i, 0, &row);
        let row: Arc<[f64]> = row.into();
        if let Ok(mut cache) = self.cache.lock() {
            cache.insert(i, &row);
        }
        row
    }

    /// Returns a row if it is kept.
    pub(super) fn kept(&self, i: usize) -> Option<Arc<[f64]>> {
        self.cache.lock().ok()?.peek(i)
    }

    /// Computes k(x_i, x_j) for the j of a range.
    pub fn part(&self, i: usize, range: Range<usize>, out: &mut [f64]) {
        self.values(self.rows.row(i), range.clone(), out);
        self.check_row(i, range.start, out);
    }

    /// Computes k(x, x_j) for the j of a range.
    pub fn values(&self, x: Row<'_>, range: Range<usize>, out: &mut [f64]) {
        let Some(function) = self.function else {
            for (j, out) in range.zip(out) {
                *out = (self.pair)(x, self.rows.row(j));
            }
            return;
        };
        let square = x.squared_norm();
        for (k, out) in out.chunks_mut(RUN).enumerate() {
            let first = range.start + k * RUN;
            let run = first..first + out.len();
            self.products(x, run.clone(), out);
            function.apply(square, &self.squares[run], out);
        }
    }

    /// Computes ⟨x, x_j⟩ for the j of a range.
    fn products(&self, x: Row<'_>, range: Range<usize>, out: &mut [f64]) {
        let Some(columns) = &self.columns else {
            for (j, out) in range.zip(out) {
                *out = x.dot(self.rows.row(j));
            }
            return;
        };
        out.fill(0.0);
        let n = self.len();
        let column = |f: usize| &columns[f * n + range.start..f * n + range.end];
        let width = self.rows.width();
        let mut four = [(0.0, &[][..]); 4];
        let mut filled = 0;
        x.for_each(|f, value| {
            if f < width && value != 0.0 {
                four[filled] = (value, column(f));
                filled += 1;
            }
            if filled == 4 {
                add_columns(four, out);
                filled = 0;
            }
        });
        for &(value, column) in &four[..filled] {
            crate::linalg::kernels::add_scaled(column, value, out);
        }
    }

    /// Notes values of a user's kernel that no kernel has.
    fn check_row(&self, i: usize, first: usize, values: &[f64]) {
        if self.function.is_some() {
            return;
        }
        let own = self.sizes[i];
        let within = |(value, size): (&f64, &Size)| {
            let most = own.kappa * size.kappa * (1.0 + own.rho + size.rho + 1e-6) + self.underflow;
            value.abs() <= most
        };
        if let Some(j) = values.iter().zip(&self.sizes[first..]).position(|pair| !within(pair)) {
            let _ = self.broken.set((i, first + j));
        }
    }

    /// Returns an error if a value was computed that the kernel cannot have.
    pub fn check(&self) -> Result<()> {
        let Some(&(i, j)) = self.broken.get() else { return Ok(()) };
        Err(Error::Unsound {
            message: format!(
                "this is no kernel: at the examples {} and {} its value is larger than √(k(x, x) k(z, z)), or no number",
                i + 1,
                j + 1
            ),
        })
    }
}

/// Adds multiples of four columns, in their order: the sums stay in registers.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_columns(four: [(f64, &[f64]); 4], out: &mut [f64]) {
    let [(a, x), (b, y), (c, z), (d, t)] = four;
    let n = out.len();
    let (x, y, z, t) = (&x[..n], &y[..n], &z[..n], &t[..n]);
    for j in 0..n {
        out[j] = (((out[j] + a * x[j]) + b * y[j]) + c * z[j]) + d * t[j];
    }
}
