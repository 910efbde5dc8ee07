//! The loss of an output at some weights, scored from its features, and what rounding may be in it.

use super::oracle::Oracle;
use super::rescaling::Rescaling;
use crate::linalg::underflow::{product_above, size_of_product};
use crate::linalg::{Accumulate, gamma};

/// ⟨w, φ⟩ and Σ|w φ|, for scores and their rounding.
pub(super) struct Score<'a> {
    pub w: &'a [f64],
    pub value: f64,
    pub magnitude: f64,
    pub terms: usize,
}

impl Accumulate for Score<'_> {
    fn add(&mut self, index: usize, value: f64) {
        // An index out of range gives NaN, and the check of the bound then reports it.
        let w = self.w.get(index).copied().unwrap_or(f64::NAN);
        self.value += w * value;
        self.magnitude += size_of_product(w, value);
        self.terms += 1;
    }
}

/// The loss of an output at some weights, computed from its features.
pub(super) struct Scored {
    /// L − ⟨w, ψ⟩, or L (1 − ⟨w, ψ⟩).
    pub value: f64,
    /// What rounding here and in the oracle may make of it.
    pub slack: f64,
    /// The score of the truth.
    pub right: f64,
}

impl Scored {
    /// Scores an output with this loss.
    pub fn new<O: Oracle>(
        oracle: &O,
        rescaling: Rescaling,
        (x, truth): &(O::Input, O::Output),
        w: &[f64],
        (output, loss): (&O::Output, f64),
    ) -> Self {
        let score_of = |y| {
            let mut score = Score { w, value: 0.0, magnitude: 0.0, terms: 0 };
            oracle.features(x, y, &mut score);
            score
        };
        let (found, right) = (score_of(output), score_of(truth));
        let (value, magnitude) = match rescaling {
            Rescaling::Margin => {
                (loss + found.value - right.value, loss + found.magnitude + right.magnitude)
            }
            Rescaling::Slack => (
                loss * (1.0 + found.value - right.value),
                size_of_product(loss, 1.0 + found.magnitude + right.magnitude),
            ),
        };
        // Both the oracle and these lines may round every term of either score, and the product with the loss.
        let terms = found.terms + right.terms + 4;
        let slack = product_above(4.0 * gamma(terms), magnitude);
        Self { value, slack, right: right.value }
    }
}
