//! Matrix completion: each example observes one entry of X.
//!
//! V has as many nonzero entries as there are examples, so its products with vectors cost only those.

use super::Map;
use crate::linalg::underflow::{product_above, size_of_product};
use crate::linalg::{LowRank, Operator, UNDERFLOW, gamma, kernels};
use crate::{Error, Result};

/// The entries of X at given places; see the module's head.
///
/// ```
/// use dualgap::linalg::LowRank;
/// use dualgap::ball::trace::{Map, Sampled};
/// let map = Sampled::new(2, 3, vec![(0, 2), (1, 0)])?;
/// let x = LowRank::new(2, 3, vec![1.0, 0.0], vec![5.0], vec![0.6, 0.0, 0.8])?;
/// let mut a = [0.0; 2];
/// map.predict(&x, &mut a);
/// assert_eq!(a, [4.0, 0.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sampled {
    rows: usize,
    columns: usize,
    places: Vec<(u32, u32)>,
    /// The largest number of examples that observe the same place.
    most: usize,
}

impl Sampled {
    /// `places` has the row and the column of each observed entry; several examples may observe the same one.
    pub fn new(rows: usize, columns: usize, places: Vec<(u32, u32)>) -> Result<Self> {
        if let Some((i, j)) =
            places.iter().find(|(i, j)| *i as usize >= rows || *j as usize >= columns)
        {
            return Err(Error::setting(format!(
                "there is no entry in row {i} and column {j} of a matrix of {rows} by {columns}"
            )));
        }
        let mut sorted = places.clone();
        sorted.sort_unstable();
        let most = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0);
        Ok(Self { rows, columns, places, most })
    }

    /// The row and the column that each example observes.
    pub fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    /// `U diag(s)`, row after row.
    fn scaled(x: &LowRank) -> Vec<f64> {
        let k = x.rank().max(1);
        let mut u = x.u().to_vec();
        for u in u.chunks_exact_mut(k) {
            u.iter_mut().zip(x.s()).for_each(|(u, s)| *u *= s);
        }
        u
    }
}

impl Map for Sampled {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn outputs(&self) -> usize {
        1
    }

    fn squared_norm(&self, _: usize) -> f64 {
        1.0
    }

    /// The operator is diagonal: its entry at a place is the sum of the masses of the examples that observe it.
    fn steepness(&self, masses: &[f64]) -> Option<f64> {
        if self.most == 1 {
            return Some(masses.iter().copied().fold(0.0, f64::max));
        }
        let mut entries: Vec<((u32, u32), f64)> =
            self.places.iter().copied().zip(masses.iter().copied()).collect();
        entries.sort_unstable_by_key(|&(place, _)| place);
        let same = entries.chunk_by(|a, b| a.0 == b.0);
        Some(same.map(|of| of.iter().map(|&(_, mass)| mass).sum()).fold(0.0, f64::max))
    }

    /// A product reads the observed entries only, a proof needs all of them. By measurement, `E'E` and its
    /// factorisation take about as long as products that read short²(short + long)/28 entries.
    fn products_per_certificate(&self) -> u64 {
        let (short, long) = (self.rows.min(self.columns), self.rows.max(self.columns));
        let proof = (short as f64).powi(2) * (short as f64 + long as f64) / 28.0;
        (proof / self.len().max(1) as f64).max(short as f64).ceil() as u64
    }

    fn predict(&self, x: &LowRank, a: &mut [f64]) {
        let (k, u) = (x.rank(), Self::scaled(x));
        for (a, &(i, j)) in a.iter_mut().zip(&self.places) {
            *a = kernels::dot(&u[i as usize * k..][..k], &x.v()[j as usize * k..][..k]);
        }
    }

    fn rounding(&self, x: &LowRank, off: &mut [f64]) {
        let (k, u) = (x.rank(), Self::scaled(x));
        let share = gamma(2 * k + 8);
        for (off, &(i, j)) in off.iter_mut().zip(&self.places) {
            let (u, v) = (&u[i as usize * k..][..k], &x.v()[j as usize * k..][..k]);
            let size: f64 = u.iter().zip(v).map(|(&u, &v)| size_of_product(u, v)).sum();
            // The product of u and s may have underflowed before v multiplies it.
            let before: f64 = v.iter().map(|v| v.abs()).sum();
            *off = (product_above(share, size) + product_above(UNDERFLOW, before)) * (1.0 + 1e-6);
        }
    }

    fn image<'a>(&'a self, y: &'a [f64], _: usize) -> Box<dyn Operator + 'a> {
        Box::new(Entries { map: self, which: None, y })
    }

    fn sparse_image<'a>(&'a self, y: &'a [f64]) -> Option<Box<dyn Operator + 'a>> {
        Some(self.image(y, 0))
    }

    fn predict_at(&self, x: &LowRank, i: usize, a: &mut [f64], _: &mut Vec<f64>) {
        let (k, (i, j)) = (x.rank(), self.places[i]);
        let (u, v) = (&x.u()[i as usize * k..][..k], &x.v()[j as usize * k..][..k]);
        a[0] = u.iter().zip(x.s()).zip(v).map(|((u, s), v)| u * s * v).sum();
    }

    fn image_at<'a>(&'a self, which: &'a [u32], y: &'a [f64]) -> Box<dyn Operator + 'a> {
        Box::new(Entries { map: self, which: Some(which), y })
    }

    fn written(&self, y: &[f64], _: bool) -> (Vec<f64>, f64) {
        let mut v = vec![0.0; self.rows * self.columns];
        for (&y, &(i, j)) in y.iter().zip(&self.places) {
            v[i as usize * self.columns + j as usize] += y;
        }
        // An entry that is observed once is exact.
        let sum: f64 = y.iter().map(|y| y.abs()).sum();
        let rounding = if self.most > 1 { product_above(gamma(self.most), sum) } else { 0.0 };
        let rounding = rounding * (1.0 + 1e-6);
        (v, rounding)
    }

    /// The smaller of the Frobenius norm, with a factor for entries that are observed more than once, and the bound by
    /// the largest row and column sums.
    fn bound(&self, y: &[f64]) -> f64 {
        let (mut down, mut across) = (vec![0.0_f64; self.columns], vec![0.0_f64; self.rows]);
        let mut square = 0.0;
        for (&y, &(i, j)) in y.iter().zip(&self.places) {
            down[j as usize] += y.abs();
            across[i as usize] += y.abs();
            square += y * y;
        }
        let largest = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max);
        let sums = product_above(largest(&down), largest(&across)).sqrt();
        let square = square + self.len() as f64 * UNDERFLOW;
        let frobenius = (square * self.most as f64).sqrt();
        sums.min(frobenius) * (1.0 + gamma(self.len() + 8))
    }
}

/// V, or a part of it, by its nonzero entries.
struct Entries<'a> {
    map: &'a Sampled,
    which: Option<&'a [u32]>,
    y: &'a [f64],
}

impl Entries<'_> {
    fn for_each(&self, mut visit: impl FnMut(f64, usize, usize)) {
        let mut at = |&y: &f64, (i, j): (u32, u32)| visit(y, i as usize, j as usize);
        let places = &self.map.places;
        match self.which {
            None => self.y.iter().zip(places).for_each(|(y, &place)| at(y, place)),
            Some(which) => {
                self.y.iter().zip(which).for_each(|(y, &i)| at(y, places[i as usize]));
            }
        }
    }
}

impl Operator for Entries<'_> {
    fn rows(&self) -> usize {
        self.map.rows
    }

    fn columns(&self) -> usize {
        self.map.columns
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.for_each(|y, i, j| {
            kernels::add_scaled(
                &x[j * width..][..width],
                factor * y,
                &mut out[i * width..][..width],
            );
        });
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        self.for_each(|y, i, j| {
            kernels::add_scaled(
                &x[i * width..][..width],
                factor * y,
                &mut out[j * width..][..width],
            );
        });
    }
}
