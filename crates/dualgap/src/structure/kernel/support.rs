//! The support of a model under a kernel: the training inputs that have coefficients.

use crate::container::{Fault, Reader, Tensor};
use crate::linalg::{Row, Rows};
use crate::structure::posed::refused;
use crate::{Error, Result};

/// The training inputs with coefficients: which ones they are, and the inputs themselves. The weights of the model begin
/// with their coefficients, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    examples: Vec<u64>,
    rows: Rows,
}

impl Support {
    /// Returns all inputs of some data.
    pub(super) fn all(rows: &Rows) -> Self {
        Self { examples: (0..rows.len() as u64).collect(), rows: rows.clone() }
    }

    /// Returns the number of support vectors.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are none: all scores are zero.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// Returns which of the training inputs they are, ascending from 0: examples, or positions of all sequences.
    pub fn examples(&self) -> &[u64] {
        &self.examples
    }

    /// Returns the inputs.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns the support without inputs whose coefficients are all zero, and the weights without these.
    pub(crate) fn condensed(self, weights: &[f64], columns: usize) -> (Self, Vec<f64>) {
        let (beta, rest) = weights.split_at((self.len() * columns).min(weights.len()));
        let of = |k: usize| &beta[k * columns..(k + 1) * columns];
        let some = |&k: &usize| of(k).iter().any(|&b| b != 0.0);
        let chosen: Vec<usize> = (0..beta.len() / columns.max(1)).filter(some).collect();
        let mut kept: Vec<f64> = chosen.iter().flat_map(|&k| of(k)).copied().collect();
        kept.extend_from_slice(rest);
        let examples = chosen.iter().map(|&k| self.examples[k]).collect();
        (Self { examples, rows: self.rows.select(chosen.into_iter()) }, kept)
    }

    /// Returns the weights with zeros for all other inputs of the training data, or what is wrong if an input is another
    /// one there.
    pub(super) fn expanded(
        &self,
        weights: &[f64],
        columns: usize,
        rows: &Rows,
    ) -> Result<Vec<f64>> {
        let (coefficients, n) = (self.len() * columns, rows.len());
        if weights.len() < coefficients {
            return Err(refused("the file has not as many coefficients as support vectors"));
        }
        let mut all = vec![0.0; n * columns];
        for (k, &example) in self.examples.iter().enumerate() {
            let i = example as usize;
            if i >= n || !equal(self.rows.row(k), rows.row(i)) {
                return Err(refused(format!(
                    "support vector {} is not input {} of the data",
                    k + 1,
                    example.saturating_add(1)
                )));
            }
            let own = &weights[k * columns..(k + 1) * columns];
            all[i * columns..(i + 1) * columns].copy_from_slice(own);
        }
        all.extend_from_slice(&weights[coefficients..]);
        Ok(all)
    }

    /// Stores the support.
    pub(crate) fn put(&self, put: &mut dyn FnMut(&str, Tensor)) {
        put("support.examples", Tensor::u64(&self.examples));
        if let Some(values) = self.rows.dense_values() {
            put("support.dense", Tensor::f64(&[self.len(), self.rows.width()], values));
            return;
        }
        let (mut ends, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..self.len() {
            self.rows.row(k).for_each(|f, x| {
                indices.push(f as u32);
                values.push(x);
            });
            ends.push(indices.len() as u64);
        }
        put("support.ends", Tensor::u64(&ends));
        put("support.features", Tensor::u32(&indices));
        put("support.values", Tensor::f64(&[values.len()], &values));
    }

    /// Reads what [`put`](Self::put) has stored, for this number of features.
    pub(crate) fn take(file: &Reader<'_>, features: usize) -> Result<Self, Fault> {
        let examples = file.u64("support.examples")?;
        if !examples.is_sorted_by(|a, b| a < b) {
            return Err("has support vectors that do not ascend".into());
        }
        let rows = if file.has("support.dense") {
            let values = file.f64("support.dense", &[examples.len(), features])?;
            Rows::from_dense(values, features)
        } else {
            let ends = file.u64("support.ends")?;
            let indices = file.u32("support.features")?;
            let values = file.f64("support.values", &[indices.len()])?;
            let starts: Vec<usize> =
                [0].into_iter().chain(ends.iter().map(|&e| e as usize)).collect();
            Rows::from_csr(starts, indices, values, features)
        };
        let rows = rows.map_err(|error: Error| Fault::caused("has support vectors", error))?;
        if rows.len() != examples.len() && !(features == 0 && rows.is_empty()) {
            return Err("has not as many inputs as support vectors".into());
        }
        Ok(Self { examples, rows })
    }
}

/// Whether two inputs are the same, in whatever form they are stored.
fn equal(a: Row<'_>, b: Row<'_>) -> bool {
    let some = |row: Row<'_>| row.iter().filter(|&(_, x)| x != 0.0).collect::<Vec<_>>();
    some(a) == some(b)
}
