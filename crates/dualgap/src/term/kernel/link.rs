//! The regulariser of a kernel: ½‖f‖² of the functions that coefficients stand for.
//!
//! The weights are β [n × K], and whatever has no kernel after them, such as the transitions of a chain:
//!
//! ```text
//! g(β, u) = g*(β, u) = ½ Σ_i ⟨β_i, f(x_i)⟩ + ½‖u‖²,      f(x_i) = Σ_j k(x_i, x_j) β_j
//! ```
//!
//! Blocks read f(x_i) in the place of β_i. A step on one example changes its β_i, and every f(x_j) by k(x_i, x_j) times as
//! much. A certificate computes all f(x_i) anew: one pass over the kernel matrix, in tiles of examples and coefficients, on
//! all threads. The order of the sums does not depend on the number of threads, nor on which rows are kept.
//!
//! **Rounding.** With κ and ρ of `function`, S₀ = Σ_j κ_j|β_j| and S₁ = Σ_j κ_jρ_j|β_j|, both for the class where they are
//! largest, and sums that are plain within a tile and compensated beyond,
//!
//! ```text
//! |f̂(x_i) − f(x_i)| ≤ κ_i(ρ_i S₀ + S₁ + γ S₀) + underflow
//! ```

use super::gram::Gram;
use crate::linalg::kernels::add_scaled;
use crate::linalg::sum::{squared_norm, two_sum};
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{Measured, Sum, UNDERFLOW, gamma, parallel};
use crate::term::Link;
use crate::term::link::Readable;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The examples of a tile, whose values of all classes stay in a fast cache.
const EXAMPLES: usize = 256;

/// The coefficients of a tile: γ of a longer plain sum would be a larger part of the error bound, and a shorter one would
/// take more compensated additions.
const COEFFICIENTS: usize = 64;

/// The regulariser of a kernel; see the module's head.
#[derive(Clone, Debug)]
pub struct KernelLink<'a> {
    gram: &'a Gram<'a>,
    /// K, the number of functions.
    classes: usize,
    /// The values at the weights that were asked for last: a certificate needs them three times.
    last: Arc<Mutex<Option<Arc<Values>>>>,
}

/// An example, and the range of its coefficients in a list of those that are not zero.
type Owner = (usize, Range<usize>);

#[derive(Debug)]
struct Values {
    weights: Vec<f64>,
    at_inputs: Vec<f64>,
    /// A bound on the error of each value of an example.
    errors: Vec<f64>,
}

impl<'a> KernelLink<'a> {
    /// Returns the regulariser of so many functions.
    pub fn new(gram: &'a Gram<'a>, classes: usize) -> Self {
        Self { gram, classes, last: Arc::default() }
    }

    /// Returns the number of coefficients.
    fn coefficients(&self) -> usize {
        self.gram.len() * self.classes
    }

    fn values(&self, weights: &[f64]) -> Arc<Values> {
        // Another thread at most computes the same values again.
        if let Ok(last) = self.last.lock()
            && let Some(values) = last.as_ref().filter(|values| values.weights == weights)
        {
            return Arc::clone(values);
        }
        let values = Arc::new(self.computed(weights));
        if let Ok(mut last) = self.last.lock() {
            *last = Some(Arc::clone(&values));
        }
        values
    }

    /// Returns the examples that have coefficients, and the range of each one's in the list of all that are not zero.
    fn support(&self, beta: &[f64]) -> (Vec<Owner>, Vec<(usize, f64)>) {
        let (mut examples, mut entries) = (Vec::new(), Vec::new());
        for (j, beta) in beta.chunks_exact(self.classes).enumerate() {
            let begin = entries.len();
            entries.extend(beta.iter().copied().enumerate().filter(|&(_, b)| b != 0.0));
            if entries.len() > begin {
                examples.push((j, begin..entries.len()));
            }
        }
        (examples, entries)
    }

    fn computed(&self, weights: &[f64]) -> Values {
        let (n, classes) = (self.gram.len(), self.classes);
        let (beta, rest) = weights.split_at(self.coefficients());
        let (examples, entries) = self.support(beta);
        let kept: Vec<_> = examples.iter().map(|&(j, _)| self.gram.kept(j)).collect();
        let tile = |buffers: &mut [Vec<f64>; 4], place: usize| {
            let range = place * EXAMPLES..((place + 1) * EXAMPLES).min(n);
            let count = range.len();
            let [plain, high, low, row] = buffers;
            for buffer in [&mut *plain, &mut *high, &mut *low] {
                buffer.clear();
                buffer.resize(count * classes, 0.0);
            }
            row.resize(count, 0.0);
            for (some, kept) in examples.chunks(COEFFICIENTS).zip(kept.chunks(COEFFICIENTS)) {
                for ((j, own), kept) in some.iter().zip(kept) {
                    let row = if let Some(kept) = kept {
                        &kept[range.clone()]
                    } else {
                        self.gram.part(*j, range.clone(), row);
                        &row[..]
                    };
                    for &(y, b) in &entries[own.clone()] {
                        add_scaled(row, b, &mut plain[y * count..(y + 1) * count]);
                    }
                }
                for ((high, low), plain) in high.iter_mut().zip(&mut *low).zip(&mut *plain) {
                    two_sum(high, low, std::mem::take(plain));
                }
            }
            let values = |k: usize| (0..classes).map(move |y| y * count + k);
            Ok((0..count).flat_map(values).map(|k| high[k] + low[k]).collect::<Vec<f64>>())
        };
        // The closure never returns an error.
        let tiles = parallel::map(n.div_ceil(EXAMPLES), Default::default, tile).unwrap_or_default();
        let mut values = tiles.concat();
        values.extend_from_slice(rest);
        let errors = self.errors(&examples, &entries);
        Values { weights: weights.to_vec(), at_inputs: values, errors }
    }

    fn errors(&self, examples: &[Owner], entries: &[(usize, f64)]) -> Vec<f64> {
        let sizes = self.gram.sizes();
        let mut sums = vec![[0.0; 3]; self.classes];
        for (j, own) in examples {
            for &(y, b) in &entries[own.clone()] {
                let size = product_above(sizes[*j].kappa, b.abs());
                let [of_size, of_error, plain] = &mut sums[y];
                *of_size += size;
                *of_error += product_above(size, sizes[*j].rho);
                *plain += b.abs();
            }
        }
        let largest = |part: usize| sums.iter().map(|sums| sums[part]).fold(0.0, f64::max);
        // The factor covers the plain sums of these bounds themselves.
        let slack = 1.0 + 1e-9 + gamma(examples.len());
        let [of_size, of_error, plain] = [0, 1, 2].map(|part| largest(part) * slack);
        // A product and the sums of a tile; two roundings of the compensated sum, and its part of second order.
        let tiles = examples.len().div_ceil(COEFFICIENTS);
        let own = gamma(COEFFICIENTS + 4) + gamma(tiles + 1).powi(2);
        let vanished =
            product_above(self.gram.underflow(), plain) + examples.len() as f64 * UNDERFLOW;
        let bound = |size: &super::function::Size| {
            let error = product_above(size.rho + own, of_size) + of_error;
            (product_above(size.kappa, error) + vanished) * (1.0 + 1e-9)
        };
        if examples.is_empty() { vec![0.0; sizes.len()] } else { sizes.iter().map(bound).collect() }
    }
}

impl Link for KernelLink<'_> {
    const IDENTITY: bool = true;
    const SPREAD: bool = true;

    fn weight(&self, _: usize, v: f64) -> f64 {
        v
    }

    fn weights(&self, v: &[f64]) -> Vec<f64> {
        v.to_vec()
    }

    fn readable<'w>(&self, w: &'w [f64]) -> Readable<'w> {
        let values = self.values(w);
        let error = values.errors.iter().copied().fold(0.0, f64::max);
        Readable { values: Cow::Owned(values.at_inputs.clone()), error }
    }

    fn is_coefficient(&self, index: usize) -> bool {
        index < self.coefficients()
    }

    fn spread(&self, changes: &mut [(usize, f64)], values: &mut [f64]) {
        changes.sort_by_key(|&(index, _)| index);
        let (n, classes) = (self.gram.len(), self.classes);
        let values = &mut values[..n * classes];
        for of_example in changes.chunk_by(|a, b| a.0 / classes == b.0 / classes) {
            let example = of_example[0].0 / classes;
            let row = self.gram.row(example);
            if classes == 1 {
                let change = of_example.iter().map(|&(_, change)| change).sum();
                add_scaled(&row, change, values);
                continue;
            }
            let mut own: Vec<(usize, f64)> = Vec::with_capacity(of_example.len());
            for &(index, change) in of_example {
                match own.last_mut() {
                    Some((y, sum)) if *y == index % classes => *sum += change,
                    _ => own.push((index % classes, change)),
                }
            }
            for (values, k) in values.chunks_exact_mut(classes).zip(&*row) {
                for &(y, change) in &own {
                    values[y] += change * k;
                }
            }
        }
    }

    /// The norm of a sum is at most the sum of the norms, and an example's part has the norm √k(x, x)·‖β‖.
    fn norm_above(&self, v: &[f64]) -> f64 {
        let (beta, rest) = v.split_at(self.coefficients());
        let sizes = self.gram.sizes().iter().zip(beta.chunks_exact(self.classes));
        let norms = sizes.map(|(size, beta)| product_above(size.kappa, norm_above(beta)));
        norms.sum::<f64>() * (1.0 + 1e-9) + norm_above(rest)
    }

    fn value(&self, w: &[f64]) -> Measured {
        self.conjugate(w)
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        let found = self.values(v);
        let (beta, rest) = v.split_at(self.coefficients());
        let mut sum = Sum::default();
        let each = beta.chunks_exact(self.classes).zip(found.at_inputs.chunks_exact(self.classes));
        for ((beta, values), error) in each.zip(&found.errors) {
            for (b, value) in beta.iter().zip(values).filter(|(b, _)| **b != 0.0) {
                let mut term = Measured::rounded(b * value, 1);
                term.error += product_above(b.abs(), *error);
                sum.add_measured(term);
            }
        }
        sum.add_measured(squared_norm(rest));
        sum.total().scaled(0.5)
    }

    fn conjugate_near(&self, v: &[f64], distance: f64) -> Measured {
        let mut value = self.conjugate(v);
        let norm = (2.0 * (value.value.max(0.0) + value.error)).sqrt() * 1.000_001;
        value.error += product_above(distance, norm + distance / 2.0) * 1.000_001;
        value
    }
}
