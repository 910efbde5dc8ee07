//! Random binning: features whose inner product is a kernel, so that a linear model becomes a kernel machine.
//!
//! There are R random grids, and each row falls into one bin of every grid. Each bin that contains rows of the
//! training data is one feature, with the value 1/√R:
//!
//! ```text
//! ⟨z(x), z(x')⟩ = (number of grids in which x and x' share their bin)/R
//!               ≈ Π_j exp(−|x_j − x'_j|/σ) = exp(−‖x − x'‖₁/σ)
//! ```
//!
//! The expectation is exact: randomly placed intervals of width w separate two points at the distance δ with
//! probability min(1, δ/w), and with the density w·exp(−w/σ)/σ² of Gamma(2, σ)
//!
//! ```text
//! ∫_δ^∞ (1 − δ/w) · w·exp(−w/σ)/σ² dw = exp(−δ/σ).
//! ```
//!
//! The grids are independent, so the error is more than t with a probability of at most 2·exp(−2Rt²). Every row of
//! the training data has R features and the norm 1. (Rahimi and Recht, *Random features for large-scale kernel
//! machines*, 2007; Wu, Yen, Chen and Yan, *Revisiting random binning features*, 2016.)

mod bandwidth;
mod bytes;
mod grid;

pub(super) use bytes::Sizes;

use super::libsvm::LARGEST_INDEX;
use crate::error::count_of;
use crate::linalg::{Random, Row, Rows};
use crate::{Error, Result};
use grid::{Grid, Misfit};
use indexmap::IndexSet;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The names of a grid's bins, in the order of the first rows that fall into them.
type Bins = IndexSet<u128, FxBuildHasher>;

/// The largest number of sides of all grids together: two gigabytes of them.
const MOST_SIDES: usize = 1 << 27;

/// Bandwidths outside this range would overflow or underflow.
const BANDWIDTHS: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// The number of rows that are converted at a time.
const PORTION: usize = 4096;

/// Random grids, and their bins that a data set falls into; see the module's head.
///
/// Features are numbered grid by grid, and within a grid in the order of their first rows. The grids depend only on
/// the seed, the features only on grids and rows, and neither on the number of threads.
///
/// ```
/// use dualgap::data::RandomBinning;
/// use dualgap::linalg::Rows;
///
/// let rows = Rows::dense(&[vec![0.0, 1.0], vec![0.2, 0.9], vec![5.0, -3.0]])?;
/// let binning = RandomBinning::fit(&rows, 10_000, 2.0, 0)?;
/// let (features, unseen) = binning.apply(&rows)?;
/// assert_eq!((features.row(0).stored(), unseen), (10_000, 0));
/// let kernel = (-0.3_f64 / 2.0).exp();
/// assert!((features.row(0).dot(features.row(1)) - kernel).abs() < 0.03);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomBinning {
    bandwidth: f64,
    dimension: usize,
    grids: Vec<Grid>,
    bins: Vec<Bins>,
    /// The number of each grid's first bin.
    starts: Vec<u32>,
}

impl RandomBinning {
    /// Draws grids, and numbers the bins that the rows fall into.
    pub fn fit(rows: &Rows, grids: usize, bandwidth: f64, seed: u64) -> Result<Self> {
        let dimension = rows.width();
        check(grids, bandwidth, dimension)?;
        let mut random = Random::new(seed);
        let grids: Vec<Grid> =
            (0..grids).map(|_| Grid::draw(&mut random, dimension, bandwidth)).collect();
        let count = AtomicUsize::new(0);
        let bins = grids.par_iter().map(|grid| {
            let mut bins = Bins::default();
            for i in 0..rows.len() {
                let name = grid.name(rows.row(i));
                bins.insert(name.map_err(|misfit| refusal(misfit, dimension, bandwidth))?);
            }
            bins.shrink_to_fit();
            // This ends early; whether it is an error does not depend on the order of the grids.
            if count.fetch_add(bins.len(), Ordering::Relaxed) + bins.len() > LARGEST_INDEX as usize
            {
                return Err(Error::setting(
                    "the rows fall into more than 2²⁸ bins: take fewer grids or a larger bandwidth",
                ));
            }
            Ok(bins)
        });
        let bins = bins.collect::<Result<Vec<Bins>>>()?;
        Ok(Self::new(bandwidth, dimension, grids, bins))
    }

    fn new(bandwidth: f64, dimension: usize, grids: Vec<Grid>, bins: Vec<Bins>) -> Self {
        let mut next = 0;
        let mut starts = Vec::with_capacity(bins.len());
        for bins in &bins {
            starts.push(next);
            next += bins.len() as u32;
        }
        Self { bandwidth, dimension, grids, bins, starts }
    }

    /// R.
    pub fn grids(&self) -> usize {
        self.grids.len()
    }

    /// σ.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The number of features of a row before the conversion.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the number of features after the conversion: one for every bin that a row of the data falls into.
    pub fn features(&self) -> usize {
        self.bins.iter().map(Bins::len).sum()
    }

    /// Returns the value of every feature of a row: 1/√R.
    pub fn value(&self) -> f64 {
        1.0 / (self.grids.len() as f64).sqrt()
    }

    /// Returns the features of a row, ascending; bins without a row in the data of the fit have none.
    pub fn features_of(&self, row: Row<'_>) -> Result<Vec<u32>> {
        let mut features = Vec::with_capacity(self.grids.len());
        for ((grid, bins), start) in self.grids.iter().zip(&self.bins).zip(&self.starts) {
            let place = match grid.name(row) {
                Ok(name) => bins.get_index_of(&name),
                Err(Misfit::Far(_)) => None, // no row of the fit is that far away
                Err(misfit) => return Err(refusal(misfit, self.dimension, self.bandwidth)),
            };
            features.extend(place.map(|place| start + place as u32));
        }
        Ok(features)
    }

    /// Returns the features of all rows, and how many of their bins have none because no row of the fit falls into
    /// them.
    pub fn apply(&self, rows: &Rows) -> Result<(Rows, u64)> {
        let value = self.value();
        let mut binned = Rows::sparse();
        for begin in (0..rows.len()).step_by(PORTION) {
            let portion = begin..rows.len().min(begin + PORTION);
            let features: Vec<Vec<u32>> = portion
                .into_par_iter()
                .map(|i| self.features_of(rows.row(i)))
                .collect::<Result<_>>()?;
            for row in features {
                binned.push_sparse(&row.iter().map(|&j| (j, value)).collect::<Vec<_>>());
            }
        }
        binned.fit_width(self.features());
        let unseen = (rows.len() * self.grids.len() - binned.stored()) as u64;
        Ok((binned, unseen))
    }
}

fn check(grids: usize, bandwidth: f64, dimension: usize) -> Result<()> {
    if grids == 0 {
        return Err(Error::setting("random binning needs at least one grid"));
    }
    if !BANDWIDTHS.contains(&bandwidth) {
        return Err(Error::setting(format!(
            "the bandwidth must be a positive number from 1e-200 to 1e200, not {bandwidth}"
        )));
    }
    if grids.checked_mul(dimension.max(1)).is_none_or(|sides| sides > MOST_SIDES) {
        return Err(Error::setting(format!(
            "{} of {} ask for gigabytes: take fewer grids",
            count_of(grids, "grid"),
            count_of(dimension, "dimension")
        )));
    }
    Ok(())
}

fn refusal(misfit: Misfit, dimension: usize, bandwidth: f64) -> Error {
    Error::setting(match misfit {
        Misfit::Beyond(j) => format!(
            "a row has feature {}, and the grids have {}: they are of other data",
            j + 1,
            count_of(dimension, "dimension")
        ),
        Misfit::Far(x) => format!(
            "the value {x} is too large for the bandwidth {bandwidth}: its bins cannot be counted; \
             scale the data, or take a larger bandwidth"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn sample(n: usize, dimension: usize, seed: u64) -> Rows {
        let mut random = Random::new(seed);
        let mut row = || (0..dimension).map(|_| 2.0 * random.unit() - 1.0).collect();
        Rows::dense(&(0..n).map(|_| row()).collect::<Vec<Vec<f64>>>()).unwrap()
    }

    // The kernel is computed from its formula; Hoeffding's inequality bounds the deviation of the mean of R coins.
    #[test]
    fn inner_products_are_the_kernel_up_to_the_error_of_the_mean() {
        let (n, grids) = (12, 40_000);
        for (dimension, bandwidth) in [(1, 0.5), (3, 2.0), (8, 6.0)] {
            let rows = sample(n, dimension, 7);
            let binning = RandomBinning::fit(&rows, grids, bandwidth, 1).unwrap();
            let (features, unseen) = binning.apply(&rows).unwrap();
            assert_eq!(unseen, 0);
            let pairs = (n * (n - 1) / 2) as f64;
            // All pairs are within the bound with a probability of at least 1 − 10⁻⁹.
            let allowed = ((2.0 * pairs / 1e-9).ln() / (2.0 * grids as f64)).sqrt();
            assert!(allowed < 0.02, "the test would say little");
            for i in 0..n {
                for k in 0..n {
                    let (x, y) = (rows.row(i), rows.row(k));
                    let far: f64 = x.iter().zip(y.iter()).map(|(a, b)| (a.1 - b.1).abs()).sum();
                    let kernel = (-far / bandwidth).exp();
                    let product = features.row(i).dot(features.row(k));
                    assert!((product - kernel).abs() < allowed, "{product}, not {kernel}");
                }
            }
        }
    }

    #[test]
    fn every_row_has_a_feature_of_each_grid_and_each_feature_has_a_row() {
        let rows = sample(300, 4, 2);
        let binning = RandomBinning::fit(&rows, 25, 1.0, 0).unwrap();
        let (features, _) = binning.apply(&rows).unwrap();
        let mut met = vec![false; binning.features()];
        for i in 0..features.len() {
            let row: Vec<(usize, f64)> = features.row(i).iter().collect();
            assert_eq!(row.len(), 25);
            for (g, &(j, x)) in row.iter().enumerate() {
                let end = binning.starts.get(g + 1).map_or(met.len(), |&start| start as usize);
                assert!((binning.starts[g] as usize..end).contains(&j));
                assert_eq!(x, 0.2);
                met[j] = true;
            }
            assert!((features.row(i).dot(features.row(i)) - 1.0).abs() < 1e-12);
        }
        assert!(met.iter().all(|&met| met));
        assert_eq!(features.width(), met.len());
    }

    #[test]
    fn features_do_not_depend_on_the_number_of_threads() {
        let rows = sample(500, 5, 3);
        let binned = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| RandomBinning::fit(&rows, 30, 1.0, seed)?.apply(&rows)).unwrap()
        };
        assert_eq!(binned(1, 0), binned(4, 0));
        assert_ne!(binned(1, 0), binned(1, 1));
    }

    #[test]
    fn a_row_that_was_seen_has_the_same_features_in_other_data_and_strange_bins_are_counted() {
        let rows = sample(100, 3, 4);
        let binning = RandomBinning::fit(&rows, 20, 1.0, 0).unwrap();
        let (features, _) = binning.apply(&rows).unwrap();
        for far in [1e6, -1e300] {
            let far = Rows::dense(&[vec![far; 3]]).unwrap();
            let (none, unseen) = binning.apply(&far).unwrap();
            assert_eq!((none.stored(), none.width(), unseen), (0, binning.features(), 20));
        }
        let (some, unseen) = binning.apply(&rows.select([17, 3].into_iter())).unwrap();
        assert_eq!((some, unseen), (features.select([17, 3].into_iter()), 0));
    }

    #[test]
    fn settings_and_rows_that_make_no_sense_are_refused() {
        let rows = sample(5, 2, 5);
        for (grids, bandwidth) in [
            (0, 1.0),
            (3, 0.0),
            (3, -1.0),
            (3, f64::NAN),
            (3, f64::INFINITY),
            (3, 1e-300),
            (usize::MAX, 1.0),
            (1 << 40, 1.0),
        ] {
            assert!(RandomBinning::fit(&rows, grids, bandwidth, 0).is_err(), "{grids} {bandwidth}");
        }
        assert!(RandomBinning::fit(&rows, 3, 1e-100, 0).is_err(), "bins without a number");
        let binning = RandomBinning::fit(&rows, 3, 1.0, 0).unwrap();
        let message = binning.apply(&sample(1, 3, 0)).unwrap_err().to_string();
        assert!(message.contains("feature 3") && message.contains("2 dimensions"), "{message}");
    }
}
