//! Whether probabilities are what they say: of the predictions that were given 90 %, are nine in ten right?
//!
//! Predictions are put into ten bins by their probability p. In each, the mean of p is compared with the share that is right,
//! and the expected calibration error is the mean of the differences, each bin with its share of the predictions:
//!
//! ```text
//! ECE = Σ_b n_b/n · |right_b/n_b − Σ_{i in b} p_i / n_b|
//! ```

use serde::Serialize;

/// The number of bins.
const BINS: usize = 10;

/// One bin: predictions with probabilities from `from` to `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// The smallest probability of the bin.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// The number of predictions in it.
    pub count: usize,
    /// The mean of their probabilities; zero without any.
    pub confidence: f64,
    /// The share of them that is right; zero without any.
    pub accuracy: f64,
}

/// Probabilities of predictions compared with how many of them are right.
///
/// ```
/// use dualgap::structure::evaluation::Calibration;
/// let sure = Calibration::of([(0.9, true), (0.9, true), (0.9, false), (0.2, false)]);
/// assert_eq!(sure.bins.iter().map(|bin| bin.count).sum::<usize>(), 4);
/// assert!((sure.error - (0.75 * (0.9 - 2.0 / 3.0) + 0.25 * 0.2)).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// The bins, from probabilities of zero to one.
    pub bins: Vec<Bin>,
    /// The expected calibration error.
    pub error: f64,
}

impl Calibration {
    /// Compares probabilities of predictions with whether each is right.
    pub fn of(predictions: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let (mut sums, mut right, mut counts) = ([0.0; BINS], [0_usize; BINS], [0_usize; BINS]);
        for (p, is_right) in predictions {
            let bin = ((p * BINS as f64) as usize).min(BINS - 1);
            sums[bin] += p;
            right[bin] += usize::from(is_right);
            counts[bin] += 1;
        }
        let all = counts.iter().sum::<usize>().max(1) as f64;
        let bin = |b: usize| {
            let count = counts[b].max(1) as f64;
            Bin {
                from: b as f64 / BINS as f64,
                to: (b + 1) as f64 / BINS as f64,
                count: counts[b],
                confidence: sums[b] / count,
                accuracy: right[b] as f64 / count,
            }
        };
        let bins: Vec<Bin> = (0..BINS).map(bin).collect();
        let off = |bin: &Bin| bin.count as f64 / all * (bin.accuracy - bin.confidence).abs();
        Self { error: bins.iter().map(off).sum(), bins }
    }
}

/// The calibration of a model of sequences.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SequenceCalibration {
    /// Of the predicted labels, by their marginals.
    pub labels: Calibration,
    /// Of whole labelings, by p(y|x).
    pub sequences: Calibration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_right_as_often_as_it_says_has_no_error() {
        // 10 predictions of 0.35: seven in twenty are right.
        let honest = Calibration::of((0..20).map(|k| (0.35, k < 7)));
        assert!(honest.error < 1e-12 && honest.bins[3].count == 20);
        let boasting = Calibration::of((0..10).map(|k| (1.0, k < 5)));
        assert!((boasting.error - 0.5).abs() < 1e-12 && boasting.bins[9].count == 10);
        assert_eq!(Calibration::of([]).error, 0.0);
    }
}
