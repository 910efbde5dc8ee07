//! The linear map from X to the predictions of n examples, c for each.
//!
//! ```text
//! a_i = 𝒜_i(X),      V = Σ_i 𝒜_i*(y_i),      ⟨V, X⟩ = Σ_i ⟨y_i, a_i⟩
//! ```
//!
//! The solvers of the trace ball see the data through this map only. [`Features`] is the linear model, `a_i = X'x_i`;
//! [`Sampled`](super::Sampled) and [`Matrices`](super::Matrices) are others.

use crate::linalg::low_rank::dense::{add_product, by_rows};
use crate::linalg::low_rank::operator::add_rows;
use crate::linalg::memory::MOST_ENTRIES;
use crate::linalg::sum::squared_norm;
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{Dense, LowRank, Operator, OuterSum, Row, Rows, UNDERFLOW, gamma, kernels};
use crate::{Error, Result};
use dualgap_dense::MatMut;

/// A linear map from X to predictions; see the module's head.
pub trait Map: Send + Sync {
    /// Rows and columns of X.
    fn shape(&self) -> (usize, usize);

    /// n, the number of examples.
    fn len(&self) -> usize;

    /// Whether there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// c, the number of outputs.
    fn outputs(&self) -> usize;

    /// An upper bound on ‖𝒜_i‖², the largest ‖a_i‖² for ‖X‖_F = 1.
    fn squared_norm(&self, i: usize) -> f64;

    /// The data rows, if the predictions of an example are X'x for its row x.
    fn features(&self) -> Option<&Rows> {
        None
    }

    /// The largest eigenvalue of Σ m_i 𝒜_i*𝒜_i for these masses, if it is known without a search.
    fn steepness(&self, masses: &[f64]) -> Option<f64> {
        let _ = masses;
        None
    }

    /// How many numbers of the data a product of V with a vector reads.
    fn stored(&self) -> usize {
        self.features().map_or(self.len(), Rows::stored)
    }

    /// The cost of a certification, which forms V, in products of V with a vector.
    fn products_per_certificate(&self) -> u64 {
        let (rows, columns) = self.shape();
        rows.min(columns) as u64
    }

    /// Computes all predictions, example by example.
    fn predict(&self, x: &LowRank, a: &mut [f64]);

    /// Bounds the difference between each computed prediction and the exact one for the product of the factors.
    fn rounding(&self, x: &LowRank, off: &mut [f64]);

    /// Returns V as an operator; `products` is about how many products with a vector the caller will ask for.
    fn image<'a>(&'a self, y: &'a [f64], products: usize) -> Box<dyn Operator + 'a>;

    /// Computes the predictions of one example.
    fn predict_at(&self, x: &LowRank, i: usize, a: &mut [f64], buffer: &mut Vec<f64>);

    /// Returns the part of V that comes from these examples, with one y for each of them.
    fn image_at<'a>(&'a self, which: &'a [u32], y: &'a [f64]) -> Box<dyn Operator + 'a>;

    /// Returns the entries of V, row after row, and a bound on the Frobenius norm of their rounding: a tight bound, or
    /// one that costs no more than the sums.
    fn written(&self, y: &[f64], tight: bool) -> (Vec<f64>, f64);

    /// Returns V by its nonzero entries, if the map makes few of them.
    fn sparse_image<'a>(&'a self, y: &'a [f64]) -> Option<Box<dyn Operator + 'a>> {
        let _ = y;
        None
    }

    /// Returns an upper bound on the spectral norm of a V that is too large to be formed.
    fn bound(&self, y: &[f64]) -> f64 {
        let c = self.outputs();
        let each = y.chunks_exact(c).enumerate().map(|(i, y)| {
            let square = squared_norm(y);
            product_above(square.value + square.error, self.squared_norm(i)).sqrt()
        });
        each.sum::<f64>() * (1.0 + gamma(self.len() + 8))
    }
}

/// Returns an upper bound on `‖x‖²`, whatever the squares have lost to rounding and underflow.
pub(super) fn squared_norm_above(row: Row<'_>) -> f64 {
    let stored = row.stored();
    row.squared_norm() * (1.0 + gamma(stored + 2)) + stored as f64 * UNDERFLOW
}

/// A matrix with all of its entries stored.
pub(super) struct Written {
    pub shape: (usize, usize),
    pub values: Vec<f64>,
}

impl Written {
    fn dense(&self) -> Dense<'_> {
        Dense::new(self.shape.0, self.shape.1, &self.values)
    }
}

impl Operator for Written {
    fn rows(&self) -> usize {
        self.shape.0
    }

    fn columns(&self) -> usize {
        self.shape.1
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.dense().add_apply(factor, x, width, out);
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.dense().add_transposed(factor, x, width, out);
    }
}

/// The linear model: `a_i = X'x_i` for data rows x_i, d features down and c outputs across.
///
/// ```
/// use dualgap::linalg::{LowRank, Rows};
/// use dualgap::ball::trace::{Features, Map};
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![3.0, 4.0]])?;
/// let map = Features::new(&rows, 2)?;
/// let x = LowRank::new(2, 2, vec![0.6, 0.8], vec![1.0], vec![0.0, 1.0])?;
/// let mut a = [0.0; 4];
/// map.predict(&x, &mut a);
/// assert_eq!(a, [0.0, 0.6, 0.0, 5.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Features<'a> {
    rows: &'a Rows,
    outputs: usize,
    squared_norms: Vec<f64>,
}

impl<'a> Features<'a> {
    /// The map of these rows, with c outputs each.
    pub fn new(rows: &'a Rows, outputs: usize) -> Result<Self> {
        let squared_norms: Vec<f64> =
            (0..rows.len()).map(|i| squared_norm_above(rows.row(i))).collect();
        if let Some(i) = squared_norms.iter().position(|square| !square.is_finite()) {
            return Err(Error::setting(format!(
                "row {i} has a value that is not finite or is huge"
            )));
        }
        Ok(Self { rows, outputs, squared_norms })
    }

    /// The data rows.
    pub fn rows(&self) -> &'a Rows {
        self.rows
    }

    fn plainly(&self, y: &[f64]) -> Vec<f64> {
        let (d, c) = self.shape();
        let mut v = vec![0.0; d * c];
        if let Some(values) = self.rows.dense_values() {
            let out = MatMut::from_row_major_slice_mut(&mut v, d, c);
            let data = by_rows(values, self.len(), d);
            add_product(out, 1.0, data.transpose(), by_rows(y, self.len(), c));
        } else {
            for (i, y) in y.chunks_exact(c).enumerate() {
                kernels::add_outer(self.rows.row(i), y, 1.0, &mut v);
            }
        }
        v
    }
}

impl Map for Features<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.rows.width(), self.outputs)
    }

    fn features(&self) -> Option<&Rows> {
        Some(self.rows)
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.squared_norms[i]
    }

    fn predict(&self, x: &LowRank, a: &mut [f64]) {
        let (k, n) = (x.rank(), self.len());
        a.fill(0.0);
        if k == 0 {
            return;
        }
        let mut inner = vec![0.0; n * k];
        add_rows(self.rows, x.u(), k, &mut inner);
        for inner in inner.chunks_exact_mut(k) {
            inner.iter_mut().zip(x.s()).for_each(|(t, s)| *t *= s);
        }
        let a = MatMut::from_row_major_slice_mut(a, n, self.outputs);
        add_product(a, 1.0, by_rows(&inner, n, k), by_rows(x.v(), self.outputs, k).transpose());
    }

    /// `|Σ_j ⟨x_i, u_j⟩ s_j v_yj|` is off by at most `γ ‖x_i‖ Σ_j ‖u_j‖ s_j |v_yj|`. Underflow of products adds η times
    /// the sum of three terms: the number of entries of x_i times `Σ_j s_j |v_yj|`, then `Σ_j |v_yj|`, then k.
    fn rounding(&self, x: &LowRank, off: &mut [f64]) {
        let k = x.rank();
        let length = |j: usize| {
            let column: Vec<f64> = x.u().iter().skip(j).step_by(k).copied().collect();
            norm_above(&column)
        };
        let sizes: Vec<f64> =
            x.s().iter().enumerate().map(|(j, &s)| product_above(length(j), s)).collect();
        let along = |v: &[f64], sizes: &[f64]| -> f64 {
            v.iter().zip(sizes).map(|(v, &size)| product_above(v.abs(), size)).sum()
        };
        let output = |v: &[f64]| {
            let plain: f64 = v.iter().map(|v| v.abs()).sum();
            (along(v, &sizes), along(v, x.s()), plain + k as f64)
        };
        let mut across: Vec<(f64, f64, f64)> = x.v().chunks_exact(k.max(1)).map(output).collect();
        across.resize(self.outputs, (0.0, 0.0, 0.0));
        for (i, off) in off.chunks_exact_mut(self.outputs).enumerate() {
            let stored = self.rows.row(i).stored();
            let relative = gamma(stored + k + 8) * (1.0 + gamma(self.rows.width() + 8));
            let share = product_above(relative, self.squared_norms[i].sqrt());
            off.iter_mut().zip(&across).for_each(|(off, &(size, values, plain))| {
                let vanished = product_above(UNDERFLOW, stored as f64 * values + plain);
                *off = (product_above(share, size) + vanished) * (1.0 + 1e-6);
            });
        }
    }

    fn image<'a>(&'a self, y: &'a [f64], products: usize) -> Box<dyn Operator + 'a> {
        let ((d, c), stored) = (self.shape(), self.rows.stored());
        let by_parts = products.saturating_mul(stored + self.len() * c);
        let written = stored.saturating_mul(c).saturating_add(products.saturating_mul(d * c));
        if d.saturating_mul(c) <= MOST_ENTRIES && written < by_parts {
            return Box::new(Written { shape: (d, c), values: self.plainly(y) });
        }
        Box::new(OuterSum::new(self.rows, d, c, y))
    }

    fn predict_at(&self, x: &LowRank, i: usize, a: &mut [f64], buffer: &mut Vec<f64>) {
        x.scores(self.rows.row(i), a, buffer);
    }

    fn image_at<'a>(&'a self, which: &'a [u32], y: &'a [f64]) -> Box<dyn Operator + 'a> {
        Box::new(Part { map: self, which, y })
    }

    fn written(&self, y: &[f64], tight: bool) -> (Vec<f64>, f64) {
        let (d, c) = self.shape();
        if tight {
            return OuterSum::new(self.rows, d, c, y).to_dense();
        }
        // Every entry is off by at most γ_n times the sum of its terms' sizes; ‖|x| ⊗ |y|‖_F = ‖x‖‖y‖.
        let rounding = product_above(gamma(self.len() + 2), self.bound(y));
        let vanished = (self.len() + 1) as f64 * ((d * c) as f64).sqrt() * f64::MIN_POSITIVE;
        (self.plainly(y), rounding * (1.0 + 1e-6) + vanished)
    }
}

/// The operator `Σ x_i ⊗ y_i` over some rows.
struct Part<'a> {
    map: &'a Features<'a>,
    which: &'a [u32],
    y: &'a [f64],
}

impl Operator for Part<'_> {
    fn rows(&self) -> usize {
        self.map.rows.width()
    }

    fn columns(&self) -> usize {
        self.map.outputs
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let (count, c) = (self.which.len(), self.map.outputs);
        let mut scores = vec![0.0; count * width];
        let view = MatMut::from_row_major_slice_mut(&mut scores, count, width);
        add_product(view, factor, by_rows(self.y, count, c), by_rows(x, c, width));
        for (&i, score) in self.which.iter().zip(scores.chunks_exact(width.max(1))) {
            kernels::add_outer(self.map.rows.row(i as usize), score, 1.0, out);
        }
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let (count, c) = (self.which.len(), self.map.outputs);
        let mut scores = vec![0.0; count * width];
        for (&i, score) in self.which.iter().zip(scores.chunks_exact_mut(width.max(1))) {
            kernels::add_scores(self.map.rows.row(i as usize), x, score);
        }
        let out = MatMut::from_row_major_slice_mut(out, c, width);
        add_product(
            out,
            factor,
            by_rows(self.y, count, c).transpose(),
            by_rows(&scores, count, width),
        );
    }
}
