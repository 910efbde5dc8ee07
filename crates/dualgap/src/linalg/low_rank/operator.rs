//! Matrices defined by their products with a block of vectors.
//!
//! A search for singular values needs products and no entries, so it never expands a gradient Σ a_i ⊗ y_i over
//! sparse rows, a low-rank iterate, or a sum of the two.
//!
//! A block of `width` vectors is a slice in row-major order: the same coordinate of all vectors is adjacent, as the
//! labels are in label-factored weights.

use super::dense::{add_product, by_rows, frobenius};
use crate::linalg::{Accumulate, CompensatedVec, Rows, UNIT_ROUNDOFF, kernels};
use dualgap_dense::MatMut;

/// A matrix, defined by its products.
pub trait Operator: Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The number of columns.
    fn columns(&self) -> usize;

    /// `out += factor · E x`: from `columns · width` numbers to `rows · width`.
    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]);

    /// `out += factor · E' x`: from `rows · width` numbers to `columns · width`.
    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]);
}

/// A matrix, given by its entries in row-major order.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    rows: usize,
    columns: usize,
    values: &'a [f64],
}

impl<'a> Dense<'a> {
    /// Returns the matrix of these entries, `columns` numbers per row.
    ///
    /// # Panics
    /// If there are not `rows · columns` numbers.
    pub fn new(rows: usize, columns: usize, values: &'a [f64]) -> Self {
        assert_eq!(values.len(), rows * columns, "a matrix has as many numbers as places");
        Self { rows, columns, values }
    }

    /// Returns the entries in row-major order.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }
}

impl Operator for Dense<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let matrix = by_rows(self.values, self.rows, self.columns);
        let out = MatMut::from_row_major_slice_mut(out, self.rows, width);
        add_product(out, factor, matrix, by_rows(x, self.columns, width));
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let matrix = by_rows(self.values, self.rows, self.columns);
        let out = MatMut::from_row_major_slice_mut(out, self.columns, width);
        add_product(out, factor, matrix.transpose(), by_rows(x, self.rows, width));
    }
}

/// `Σ_i a_i ⊗ y_i`: the sum over data rows of a row times its vector, with features as rows and outputs as columns.
///
/// Every gradient of a linear model has this form, and so does the dual's `V`.
#[derive(Clone, Copy, Debug)]
pub struct OuterSum<'a> {
    data: &'a Rows,
    features: usize,
    outputs: usize,
    y: &'a [f64],
}

impl<'a> OuterSum<'a> {
    /// Returns the sum for a `y` with `outputs` numbers per row of the data.
    ///
    /// # Panics
    /// If the data are wider than `features` or `y` has another length.
    pub fn new(data: &'a Rows, features: usize, outputs: usize, y: &'a [f64]) -> Self {
        assert!(data.width() <= features, "a data row is wider than the matrix");
        assert_eq!(y.len(), data.len() * outputs, "one vector for each data row");
        Self { data, features, outputs, y }
    }

    /// Returns the entries in row-major order, summed with compensation, and a bound on the Frobenius norm of their
    /// rounding.
    pub fn to_dense(self) -> (Vec<f64>, f64) {
        let mut sum = CompensatedVec::zeros(self.features * self.outputs);
        let (mut sizes, mut values) = (0.0, Vec::new());
        for (row, y) in self.y.chunks_exact(self.outputs.max(1)).enumerate() {
            let row = self.data.row(row);
            sum.add_outer(row, y, 1.0);
            // The Frobenius norm of |a| ⊗ |y|.
            values.clear();
            row.for_each(|_, x| values.push(x));
            sizes += frobenius(&values) * frobenius(y);
        }
        let entries = sum.round();
        // Each product is rounded once, each sum at its end, and the compensation adds a second-order term.
        let terms = self.data.len() as f64 * UNIT_ROUNDOFF;
        let relative = UNIT_ROUNDOFF + 2.0 * terms * terms;
        let rounding = relative * sizes + UNIT_ROUNDOFF * frobenius(&entries);
        let vanished =
            (self.data.len() + 1) as f64 * (entries.len() as f64).sqrt() * f64::MIN_POSITIVE;
        (entries, rounding * (1.0 + 1e-6) + vanished)
    }
}

impl Operator for OuterSum<'_> {
    fn rows(&self) -> usize {
        self.features
    }

    fn columns(&self) -> usize {
        self.outputs
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let count = self.data.len();
        let mut scores = vec![0.0; count * width];
        let view = MatMut::from_row_major_slice_mut(&mut scores, count, width);
        let y = by_rows(self.y, count, self.outputs);
        add_product(view, factor, y, by_rows(x, self.outputs, width));
        if let Some(values) = self.data.dense_values() {
            let features = self.data.width();
            let out =
                MatMut::from_row_major_slice_mut(&mut out[..features * width], features, width);
            let data = by_rows(values, count, features);
            add_product(out, 1.0, data.transpose(), by_rows(&scores, count, width));
            return;
        }
        for (i, score) in scores.chunks_exact(width.max(1)).enumerate() {
            out.add_outer(self.data.row(i), score, 1.0);
        }
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let count = self.data.len();
        let mut scores = vec![0.0; count * width];
        add_rows(self.data, x, width, &mut scores);
        let out = MatMut::from_row_major_slice_mut(out, self.outputs, width);
        let y = by_rows(self.y, count, self.outputs);
        add_product(out, factor, y.transpose(), by_rows(&scores, count, width));
    }
}

/// `out += A x` for data rows A and a block of vectors x.
pub(crate) fn add_rows(data: &Rows, x: &[f64], width: usize, out: &mut [f64]) {
    if let Some(values) = data.dense_values() {
        let (count, features) = (data.len(), data.width());
        let out = MatMut::from_row_major_slice_mut(out, count, width);
        let x = by_rows(&x[..features * width], features, width);
        return add_product(out, 1.0, by_rows(values, count, features), x);
    }
    for (i, score) in out.chunks_exact_mut(width.max(1)).enumerate() {
        kernels::add_scores(data.row(i), x, score);
    }
}

/// A weighted sum of matrices of the same shape.
pub struct Combination<'a> {
    terms: Vec<(f64, &'a dyn Operator)>,
}

impl<'a> Combination<'a> {
    /// Returns `Σ factor · matrix`.
    ///
    /// # Panics
    /// If there is no term, or if two shapes differ.
    pub fn new(terms: Vec<(f64, &'a dyn Operator)>) -> Self {
        let shape = |term: &(f64, &dyn Operator)| (term.1.rows(), term.1.columns());
        assert!(terms.iter().all(|term| shape(term) == shape(&terms[0])), "shapes differ");
        assert!(!terms.is_empty(), "a sum of nothing has no shape");
        Self { terms }
    }
}

impl Operator for Combination<'_> {
    fn rows(&self) -> usize {
        self.terms[0].1.rows()
    }

    fn columns(&self) -> usize {
        self.terms[0].1.columns()
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        for (share, term) in &self.terms {
            term.add_apply(factor * share, x, width, out);
        }
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        for (share, term) in &self.terms {
            term.add_transposed(factor * share, x, width, out);
        }
    }
}

/// The transpose of an operator.
pub(crate) struct Transposed<'a>(pub &'a dyn Operator);

impl Operator for Transposed<'_> {
    fn rows(&self) -> usize {
        self.0.columns()
    }

    fn columns(&self) -> usize {
        self.0.rows()
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.0.add_transposed(factor, x, width, out);
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.0.add_apply(factor, x, width, out);
    }
}

/// Returns the entries of an operator that is small enough to expand.
pub(crate) fn entries(operator: &dyn Operator) -> Vec<f64> {
    let (rows, columns) = (operator.rows(), operator.columns());
    let mut out = vec![0.0; rows * columns];
    let identity = dualgap_dense::Mat::<f64>::identity(columns, columns);
    operator.add_apply(1.0, &super::dense::to_rows(identity.as_ref()), columns, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{LowRank, Random};
    use proptest::prelude::*;

    proptest! {
        // ⟨y, E x⟩ = ⟨E' y, x⟩ for all kinds of matrices, and both agree with the entries.
        #[test]
        fn products_are_transposes_of_each_other(seed in 0_u64..1000, width in 1_usize..4) {
            let mut random = Random::new(seed);
            let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| random.unit() - 0.5).collect() };
            let mut data = Rows::sparse();
            for _ in 0..4 {
                let x = numbers(3);
                data.push_sparse(&[(0, x[0]), (2, x[1]), (4, x[2])]);
            }
            let (y, values) = (numbers(12), numbers(15));
            let sum = OuterSum::new(&data, 5, 3, &y);
            let dense = Dense::new(5, 3, &values);
            let low = LowRank::new(5, 3, numbers(10), vec![2.0, 1.0], numbers(6)).unwrap();
            let all = Combination::new(vec![(2.0, &sum), (-1.0, &dense), (0.5, &low)]);
            let mut expected = vec![0.0; 15];
            for i in 0..4 {
                expected.add_outer(data.row(i), &y[3 * i..3 * i + 3], 2.0);
            }
            let of_low = low.to_dense();
            for k in 0..15 {
                expected[k] += 0.5 * of_low[k] - values[k];
            }
            let found = entries(&all);
            prop_assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14));
            let (x, z) = (numbers(3 * width), numbers(5 * width));
            let (mut image, mut back) = (vec![0.0; 5 * width], vec![0.0; 3 * width]);
            all.add_apply(1.5, &x, width, &mut image);
            Transposed(&Transposed(&all)).add_transposed(1.5, &z, width, &mut back);
            prop_assert!((kernels::dot(&image, &z) - kernels::dot(&back, &x)).abs() < 1e-13);
        }
    }

    proptest! {
        // Integers whose products have more than 53 bits are exact in 128 bits.
        #[test]
        fn entries_written_out_are_within_their_bound(
            x in prop::collection::vec(-(1_i64 << 45)..1_i64 << 45, 12),
            y in prop::collection::vec(-(1_i64 << 45)..1_i64 << 45, 12),
        ) {
            let rows: Vec<Vec<f64>> =
                x.chunks(2).map(|row| row.iter().map(|&x| x as f64).collect()).collect();
            let floats: Vec<f64> = y.iter().map(|&y| y as f64).collect();
            let data = Rows::dense(&rows).unwrap();
            let (entries, rounding) = OuterSum::new(&data, 2, 2, &floats).to_dense();
            let mut squared = 0.0;
            for f in 0..2 {
                for j in 0..2 {
                    let exact: i128 =
                        (0..6).map(|i| i128::from(x[2 * i + f]) * i128::from(y[2 * i + j])).sum();
                    let away = (exact - entries[2 * f + j] as i128) as f64;
                    squared += away * away;
                }
            }
            prop_assert!(f64::sqrt(squared) <= rounding);
            prop_assert!(rounding <= 1e-15 * frobenius(&floats) * 6.0 * 2.0_f64.powi(46));
        }
    }

    #[test]
    fn a_dense_matrix_has_its_entries_row_by_row() {
        let matrix = Dense::new(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let mut out = [0.0; 2];
        matrix.add_apply(1.0, &[1.0, 0.0, -1.0], 1, &mut out);
        assert_eq!(out, [-2.0, -2.0]);
    }

    #[test]
    fn a_sum_of_outer_products_applies_as_its_matrix() {
        let mut data = Rows::sparse();
        data.push_sparse(&[(0, 1.0), (2, 2.0)]);
        data.push_sparse(&[(2, 3.0)]);
        let sum = OuterSum::new(&data, 3, 2, &[1.0, -1.0, 0.0, 1.0]);
        let mut entries = [0.0; 6];
        sum.add_apply(1.0, &[1.0, 0.0, 0.0, 1.0], 2, &mut entries);
        assert_eq!(entries, [1.0, -1.0, 0.0, 0.0, 2.0, 1.0]);
    }

    #[test]
    fn a_sum_of_outer_products_has_its_entries() -> crate::Result<()> {
        let data = Rows::dense(&[vec![1e16], vec![1.0], vec![-1e16]])?;
        let (entries, rounding) = OuterSum::new(&data, 1, 1, &[1.0; 3]).to_dense();
        assert_eq!(entries, [1.0]);
        assert!(rounding < 10.0);
        Ok(())
    }

    #[test]
    fn terms_are_weighted() {
        let (a, b) = (Dense::new(1, 1, &[2.0]), Dense::new(1, 1, &[3.0]));
        let sum = Combination::new(vec![(1.0, &a), (-2.0, &b)]);
        let mut out = [0.0];
        sum.add_apply(1.0, &[1.0], 1, &mut out);
        assert_eq!(out, [-4.0]);
    }
}
