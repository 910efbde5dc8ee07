//! Scaling: columns of equal size for the solver, and weights for the unscaled data.
//!
//! A run gets every column divided by a factor s, and its weights are divided by the same factor afterwards:
//!
//! ```text
//! x̃_ij = x_ij / s_j,    w_j = w̃_j / s_j,    so that ⟨x̃_i, w̃⟩ = ⟨x_i, w⟩
//!
//! max   s_j = max_i |x_ij|
//! rms   s_j = √((1/n) Σ_i x_ij²)
//! ```
//!
//! Nothing is subtracted, so zeros stay zeros. A column of zeros has s = 1, and so has a column of ones.

use super::Examples;
use crate::linalg::Rows;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The smallest factor: a smaller one could make w̃/s infinite, so columns smaller than this stay small. Large
/// factors need no limit: if w̃/s vanished, the scores hardly depend on it.
const SMALLEST: f64 = 1e-300;

/// What the columns of a data set are divided by; see the module's head for the formulas.
///
/// ```
/// use dualgap::data::Scaling;
/// use dualgap::linalg::Rows;
///
/// let rows = Rows::dense(&[vec![-3.0, 1000.0, 0.0], vec![4.0, 0.0, 0.0]])?;
/// assert_eq!(&*Scaling::Max.factors(&rows).raw(&[4.0, 1.0, 7.0][..]), [1.0, 0.001, 7.0]);
/// let rms = Scaling::Rms.factors(&rows).raw(&[1.0, 1.0, 7.0][..]);
/// assert!((rms[0] - 1.0 / 12.5_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Columns stay as they are.
    #[default]
    None,
    /// Columns are divided by their largest magnitude.
    Max,
    /// Columns are divided by their root mean square, zeros included.
    Rms,
}

impl Scaling {
    /// Whether columns stay as they are.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Returns the factors of a data set and its scaled examples.
    pub fn apply(self, data: &Examples) -> (Factors, Cow<'_, Examples>) {
        let factors = self.factors(&data.rows);
        let scaled = factors.examples(data);
        (factors, scaled)
    }

    /// Returns the factor of every column. The factors depend only on the rows, so everyone with the data can
    /// recompute them.
    pub fn factors(self, rows: &Rows) -> Factors {
        if self.is_none() {
            return Factors::default();
        }
        let mut largest = vec![0.0_f64; rows.width()];
        each(rows, |j, x| largest[j] = largest[j].max(x.abs()));
        let mut factors = match self {
            Self::Rms => root_mean_squares(rows, &largest),
            Self::None | Self::Max => largest.clone(),
        };
        for (factor, largest) in factors.iter_mut().zip(largest) {
            *factor = if largest > 0.0 { factor.max(SMALLEST) } else { 1.0 };
        }
        Factors { of: Some(factors), columns: None }
    }
}

/// Divides by the largest magnitudes first, so that no square overflows or underflows.
fn root_mean_squares(rows: &Rows, largest: &[f64]) -> Vec<f64> {
    let mut squares = vec![0.0; largest.len()];
    each(rows, |j, x| {
        if x != 0.0 {
            let share = x / largest[j];
            squares[j] += share * share;
        }
    });
    let n = rows.len() as f64;
    largest.iter().zip(squares).map(|(largest, sum)| largest * (sum / n).sqrt()).collect()
}

fn each(rows: &Rows, mut visit: impl FnMut(usize, f64)) {
    for i in 0..rows.len() {
        rows.row(i).for_each(&mut visit);
    }
}

/// How a run sees the columns: the factors s, or nothing if they stay as they are; and which columns it has, if it has not all of
/// them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    of: Option<Vec<f64>>,
    columns: Option<Columns>,
}

/// The columns of a run that leaves out those without entries, in ascending order, and how many there are in all.
#[derive(Clone, Debug, PartialEq)]
struct Columns {
    left: Vec<u32>,
    all: usize,
}

impl Factors {
    /// Whether no column is divided.
    pub fn are_none(&self) -> bool {
        self.of.is_none()
    }

    /// Returns the factors of a run on these of so many columns. The weights of the others are zero.
    pub(crate) fn narrowed(self, left: Vec<u32>, all: usize) -> Self {
        let of = self.of.map(|of| left.iter().map(|&j| of[j as usize]).collect());
        Self { of, columns: Some(Columns { left, all }) }
    }

    /// Says how many columns a run has left out, for the report.
    pub(crate) fn describe(&self) -> Option<String> {
        let Columns { left, all } = self.columns.as_ref()?;
        Some(format!("{} of {all} columns: the others have no entries", left.len()))
    }

    /// Returns the place of a column among those of a run, if it has it.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        match &self.columns {
            None => Some(column),
            Some(Columns { left, .. }) => left.binary_search_by_key(&column, |&j| j as usize).ok(),
        }
    }

    /// Returns the number of weights of all columns, given that of the weights of a run.
    pub(crate) fn raw_len(&self, weights: usize) -> usize {
        match &self.columns {
            Some(Columns { left, all }) if !left.is_empty() => weights / left.len() * all,
            _ => weights,
        }
    }

    /// Returns the scaled examples without the names of their features, which a run does not need.
    fn examples<'d>(&self, data: &'d Examples) -> Cow<'d, Examples> {
        let Some(factors) = &self.of else { return Cow::Borrowed(data) };
        Cow::Owned(data.over(data.rows.divided(factors)))
    }

    /// Returns w for w̃: the weights for the unscaled data.
    pub fn raw<'w>(&self, scaled: impl Into<Cow<'w, [f64]>>) -> Cow<'w, [f64]> {
        let raw = self.change(scaled.into(), |w, s| w / s);
        let Some(Columns { left, all }) = self.columns.as_ref().filter(|_| !raw.is_empty()) else {
            return raw;
        };
        let labels = raw.len() / left.len().max(1);
        let mut wide = vec![0.0; all * labels];
        for (run, &j) in raw.chunks_exact(labels.max(1)).zip(left) {
            wide[j as usize * labels..][..labels].copy_from_slice(run);
        }
        Cow::Owned(wide)
    }

    /// Returns w̃ for w: the weights for the scaled data.
    pub fn scaled<'w>(&self, raw: impl Into<Cow<'w, [f64]>>) -> Cow<'w, [f64]> {
        let mut raw = raw.into();
        if let Some(Columns { left, all }) = &self.columns {
            let labels = raw.len().checked_div(*all).unwrap_or(0);
            let of = |&j: &u32| &raw[j as usize * labels..][..labels];
            raw = Cow::Owned(left.iter().flat_map(of).copied().collect());
        }
        self.change(raw, |w, s| w * s)
    }

    /// Applies `change` to every weight and its factor; the weights of a feature are adjacent, one for each label.
    fn change<'w>(
        &self,
        mut weights: Cow<'w, [f64]>,
        change: impl Fn(f64, f64) -> f64,
    ) -> Cow<'w, [f64]> {
        if let Some(factors) = &self.of {
            let labels = weights.len().checked_div(factors.len()).unwrap_or(0).max(1);
            for (run, &s) in weights.to_mut().chunks_exact_mut(labels).zip(factors) {
                run.iter_mut().for_each(|w| *w = change(*w, s));
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Row;
    use proptest::prelude::*;

    fn factors(scaling: Scaling, columns: &[&[f64]]) -> Vec<f64> {
        let rows: Vec<Vec<f64>> =
            (0..columns[0].len()).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
        scaling.factors(&Rows::dense(&rows).unwrap()).of.unwrap()
    }

    proptest! {
        // Scaling must not change predictions.
        #[test]
        fn scaled_weights_score_scaled_rows_as_raw_weights_score_raw_rows(
            x in prop::collection::vec(prop::collection::vec(-1e3..1e3_f64, 4), 1..6),
            w in prop::collection::vec(-2.0..2.0_f64, 4),
        ) {
            let rows = Rows::dense(&x).unwrap();
            let labels = vec!["a"; x.len()];
            let data = Examples::from_dense(&x, &labels).unwrap();
            for scaling in [Scaling::None, Scaling::Max, Scaling::Rms] {
                let (factors, scaled) = scaling.apply(&data);
                let raw = factors.raw(&w[..]);
                for i in 0..x.len() {
                    let one = scaled.rows.row(i).dot(Row::Dense(&w));
                    let other = rows.row(i).dot(Row::Dense(&raw));
                    prop_assert!((one - other).abs() <= 1e-10 * (1.0 + one.abs()));
                }
                let back = factors.scaled(raw);
                prop_assert!(back.iter().zip(&w).all(|(a, b)| (a - b).abs() <= 1e-15 * b.abs()));
            }
        }
    }

    #[test]
    fn scaled_columns_have_the_size_one_or_are_zero() {
        let columns: [&[f64]; 4] = [&[0.0, -8.0, 2.0], &[0.0; 3], &[1.0; 3], &[1e-3, 0.0, 3e-3]];
        assert_eq!(factors(Scaling::Max, &columns), [8.0, 1.0, 1.0, 3e-3]);
        let rms = factors(Scaling::Rms, &columns);
        assert_eq!((rms[1], rms[2]), (1.0, 1.0));
        for j in [0, 3] {
            let mean = columns[j].iter().map(|x| (x / rms[j]).powi(2)).sum::<f64>() / 3.0;
            assert!((mean - 1.0).abs() < 1e-15, "{mean}");
        }
    }

    #[test]
    fn no_size_of_a_column_leads_out_of_the_numbers() {
        let tiny = f64::from_bits(1); // the smallest number there is
        let columns: [&[f64]; 6] = [
            &[1e300, -1e300],
            &[f64::MAX, f64::MAX],
            &[1e-300, 0.0],
            &[tiny, 0.0],
            &[1e300, 1e-300],
            &[f64::MIN_POSITIVE / 2.0, tiny],
        ];
        for scaling in [Scaling::Max, Scaling::Rms] {
            for (s, column) in factors(scaling, &columns).into_iter().zip(columns) {
                assert!(s >= SMALLEST && s.is_finite() && (1e8 / s).is_finite(), "{s}");
                for x in column {
                    let scaled = x / s;
                    assert!(scaled.abs() <= 2.0 && x.signum() == scaled.signum(), "{x} {s}");
                }
            }
        }
        let sizes = factors(Scaling::Max, &columns);
        assert_eq!(sizes, [1e300, f64::MAX, SMALLEST, SMALLEST, 1e300, SMALLEST]);
    }

    #[test]
    fn every_label_of_a_feature_has_the_same_factor() {
        let rows = Rows::dense(&[vec![2.0, 8.0]]).unwrap();
        let factors = Scaling::Max.factors(&rows);
        let weights = [2.0, 4.0, 6.0, 8.0, 16.0, 24.0]; // three labels
        assert_eq!(&*factors.raw(&weights[..]), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        assert!(factors.raw(&[][..]).is_empty(), "a run may tell of no weights");
    }
}
