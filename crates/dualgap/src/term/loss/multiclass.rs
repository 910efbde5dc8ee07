//! Losses of K scores: the multiclass hinge, rounded off or not, and softmax.
//!
//! With s_j = c(y, j) + a_j, c(y, y) = 0, all of them are a maximum over the distributions β on the classes,
//!
//! ```text
//! φ(a) = max_β [⟨β, s⟩ − R(β)] − s_y          hinge  R = 0,   smooth hinge  R = (γ/2)‖β‖²,   softmax  R = Σ β log β, c = 0
//! ```
//!
//! so the dual variable of an example is such a β, its term of the dual ⟨β, c⟩ − R(β), and its image x ⊗ (e_y − β).

use super::definition::summed;
use super::softmax;
use crate::linalg::kernels::argmax;
use crate::linalg::{Measured, UNIT_ROUNDOFF};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A loss of K scores; see the module's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum MulticlassLoss {
    /// `max_j [c(y, j) + a_j] − a_y`.
    #[default]
    Hinge,
    /// The same, rounded off over this width.
    SmoothHinge {
        /// γ.
        width: f64,
    },
    /// `log Σ_j e^{a_j} − a_y`.
    Softmax,
}

impl MulticlassLoss {
    /// Returns an error unless the width is positive and finite.
    pub fn check(self) -> Result<()> {
        match self {
            Self::SmoothHinge { width } if !(width > 0.0 && width.is_finite()) => {
                Err(Error::setting(format!("the width of a loss is positive, not {width}")))
            }
            _ => Ok(()),
        }
    }

    /// γ, where φ is (1/γ)-smooth in the Euclidean norm; zero if φ is not smooth.
    pub fn smoothness(self) -> f64 {
        match self {
            Self::Hinge => 0.0,
            Self::SmoothHinge { width } => width,
            Self::Softmax => 2.0,
        }
    }

    /// β/α, where φ is β-smooth and R is (1/α)-smooth on the distributions; none if there is no such α.
    pub fn conditioning(self) -> Option<f64> {
        match self {
            Self::SmoothHinge { .. } => Some(1.0),
            Self::Hinge | Self::Softmax => None,
        }
    }

    /// Returns φ at these scores, which include the costs, with a bound on its rounding.
    pub fn value(self, scores: &[f64], truth: usize, buffer: &mut Vec<f64>) -> Measured {
        let (_, top) = argmax(scores.iter().copied());
        let own = scores[truth];
        let value = match self {
            Self::Hinge => summed([top, -own]),
            Self::SmoothHinge { width } => {
                let mut beta = std::mem::take(buffer);
                self.corner(scores, &mut beta);
                let linear: f64 = beta.iter().zip(scores).map(|(b, s)| b * (s - top)).sum();
                let squares: f64 = beta.iter().map(|b| b * b).sum();
                *buffer = beta;
                summed([top, -own, linear, -width / 2.0 * squares])
            }
            Self::Softmax => summed([top, -own, softmax::sum_below(top, scores).ln()]),
        };
        // The sums over the classes have terms of at most this size, and the exponentials are off by six units at most, of which the
        // logarithm of a sum of at least two classes makes no more than the bound has.
        let largest = scores.iter().fold(1.0_f64, |largest, s| largest.max(s.abs()));
        let sums = 8.0 * UNIT_ROUNDOFF * scores.len() as f64 * largest;
        Measured { error: value.error + sums, ..value }
    }

    /// Returns R(β) for weights that are not negative, with a bound on its rounding.
    pub fn penalty(self, beta: impl Iterator<Item = f64>) -> Measured {
        let (mut value, mut magnitude, mut count) = (0.0, 0.0, 0);
        match self {
            Self::Hinge => return Measured::default(),
            Self::SmoothHinge { width } => beta.for_each(|b| {
                value += 0.5 * width * b * b;
                count += 1;
            }),
            Self::Softmax => {
                let mut beta = beta.fuse();
                loop {
                    let mut few = [[0.0; 4]; 16];
                    let slots = few.as_flattened_mut().iter_mut();
                    let found = slots.zip(&mut beta).map(|(slot, b)| *slot = b).count();
                    if found == 0 {
                        break;
                    }
                    let (sum, size) = softmax::entropy(&few[..found.div_ceil(4)]);
                    value += sum;
                    magnitude += size;
                    count += found;
                }
            }
        }
        // A term is off by a dozen units of rounding, its logarithm included, or by what underflows; every addition by one more.
        let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let magnitude = f64::max(magnitude, value) + count * UNIT_ROUNDOFF;
        Measured { value, error: (count + 16.0) * UNIT_ROUNDOFF * magnitude * (1.0 + 1e-9) }
    }

    /// Computes the β that attains the maximum in φ at these scores.
    pub fn corner(self, scores: &[f64], beta: &mut Vec<f64>) {
        beta.clear();
        match self {
            Self::Hinge => {
                beta.resize(scores.len(), 0.0);
                beta[argmax(scores.iter().copied()).0] = 1.0;
            }
            Self::SmoothHinge { width } => {
                beta.extend(scores.iter().map(|s| s / width));
                onto_simplex(beta);
            }
            Self::Softmax => {
                beta.extend_from_slice(scores);
                softmax::distribution(beta);
            }
        }
    }

    /// Computes the β that maximises ⟨β, s⟩ − R(β) − (q/2)‖β − at‖².
    pub fn maximizer(self, scores: &[f64], at: &[f64], q: f64, beta: &mut Vec<f64>) {
        if q == 0.0 {
            return self.corner(scores, beta);
        }
        beta.clear();
        match self {
            Self::Hinge | Self::SmoothHinge { .. } => {
                let all = q + self.smoothness();
                beta.extend(scores.iter().zip(at).map(|(s, at)| (s + q * at) / all));
                onto_simplex(beta);
            }
            Self::Softmax => softmax::step(scores, at, q, beta),
        }
    }
}

/// Projects onto the simplex: `max(x_j − level, 0)`, with the threshold `level` at which the entries add up to one.
fn onto_simplex(x: &mut [f64]) {
    // The threshold rises until the entries above it no longer change; every round drops at least one of them.
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut level = top - 1.0;
    loop {
        let above = x.iter().filter(|&&x| x > level);
        let (count, sum) = above.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + (x - top)));
        let next = top + (sum - 1.0) / count;
        if next <= level {
            if count == 1.0 {
                // It is all there is, as for most examples of several classes.
                x.iter_mut().for_each(|x| *x = if *x > level { 1.0 } else { 0.0 });
                return;
            }
            break;
        }
        level = next;
    }
    x.iter_mut().for_each(|x| *x = (*x - level).max(0.0));
    let sum: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Sum;
    use proptest::prelude::*;

    const LOSSES: [MulticlassLoss; 4] = [
        MulticlassLoss::Hinge,
        MulticlassLoss::SmoothHinge { width: 1.0 },
        MulticlassLoss::SmoothHinge { width: 0.2 },
        MulticlassLoss::Softmax,
    ];

    /// Distributions over three classes, in steps of 1/60.
    fn grid() -> impl Iterator<Item = [f64; 3]> {
        const STEPS: u32 = 60;
        (0..=STEPS).flat_map(|a| {
            (0..=STEPS - a)
                .map(move |b| [a, b, STEPS - a - b].map(|k| f64::from(k) / f64::from(STEPS)))
        })
    }

    fn objective(loss: MulticlassLoss, scores: &[f64], beta: &[f64], at: &[f64], q: f64) -> f64 {
        let linear: f64 = beta.iter().zip(scores).map(|(b, s)| b * s).sum();
        let away: f64 = beta.iter().zip(at).map(|(b, a)| (b - a).powi(2)).sum();
        linear - loss.penalty(beta.iter().copied()).value - 0.5 * q * away
    }

    fn is_distribution(beta: &[f64]) -> bool {
        beta.iter().all(|&b| b >= 0.0) && (beta.iter().sum::<f64>() - 1.0).abs() < 1e-12
    }

    proptest! {
        #[test]
        fn corners_and_steps_are_the_best_of_all_distributions(
            scores in prop::collection::vec(-3.0..3.0_f64, 3),
            k in 0_usize..1891,
            q in prop_oneof![Just(0.0), 1e-3..1e3_f64],
        ) {
            let at = grid().nth(k).unwrap();
            for loss in LOSSES {
                let mut beta = Vec::new();
                loss.corner(&scores, &mut beta);
                prop_assert!(is_distribution(&beta));
                let best = |beta: &[f64], q: f64| objective(loss, &scores, beta, &at, q);
                prop_assert!(grid().all(|other| best(&beta, 0.0) >= best(&other, 0.0) - 1e-10), "{loss:?}");
                loss.maximizer(&scores, &at, q, &mut beta);
                prop_assert!(is_distribution(&beta), "{loss:?} {beta:?}");
                prop_assert!(grid().all(|other| best(&beta, q) >= best(&other, q) - 1e-9), "{loss:?} {beta:?}");
                // Small moves along the edges of the simplex do not help either.
                for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
                    let mut moved = beta.clone();
                    let step = 1e-5_f64.min(moved[from]);
                    moved[from] -= step;
                    moved[to] += step;
                    prop_assert!(best(&beta, q) >= best(&moved, q) - 1e-12, "{loss:?}");
                }
            }
        }

        #[test]
        fn values_are_the_maximum_over_all_distributions(
            scores in prop::collection::vec(-3.0..3.0_f64, 3),
            truth in 0_usize..3,
        ) {
            for loss in LOSSES {
                let value = loss.value(&scores, truth, &mut Vec::new()).value;
                let zero = [0.0; 3];
                let brute = grid()
                    .map(|beta| objective(loss, &scores, &beta, &zero, 0.0))
                    .fold(f64::NEG_INFINITY, f64::max) - scores[truth];
                prop_assert!(value >= brute - 1e-12 && value <= brute + 2e-2, "{loss:?} {value} {brute}");
            }
        }

        // The judges are the standard library's functions and compensated sums.
        #[test]
        fn the_rounding_of_many_classes_is_within_its_bound(
            scores in prop::collection::vec(-20.0..20.0_f64, 2..400),
            width in 0.1..2.0_f64,
        ) {
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let added = |terms: &mut dyn Iterator<Item = f64>| {
                let mut sum = Sum::default();
                terms.for_each(|term| sum.add(term));
                sum.total().value
            };
            let total = added(&mut scores.iter().map(|s| (s - top).exp()));
            let value = MulticlassLoss::Softmax.value(&scores, 0, &mut Vec::new());
            prop_assert!((value.value - (top + total.ln() - scores[0])).abs() <= value.error);
            let beta: Vec<f64> = scores.iter().map(|s| (s - top).exp() / total).collect();
            let entropy = MulticlassLoss::Softmax.penalty(beta.iter().copied());
            let exact = added(&mut beta.iter().map(|b| b * b.ln()));
            prop_assert!((entropy.value - exact).abs() <= entropy.error);
            let squares = MulticlassLoss::SmoothHinge { width }.penalty(beta.iter().copied());
            let exact = added(&mut beta.iter().map(|b| 0.5 * width * b * b));
            prop_assert!((squares.value - exact).abs() <= squares.error);
        }

        #[test]
        fn extreme_scores_are_no_trouble(
            scores in prop::collection::vec(prop_oneof![Just(700.0), Just(-700.0), Just(0.0), Just(1e-300)], 3),
            q in prop_oneof![Just(0.0), Just(1e-12), Just(1e12)],
        ) {
            for loss in LOSSES {
                let mut beta = Vec::new();
                loss.maximizer(&scores, &[0.0, 1.0, 0.0], q, &mut beta);
                prop_assert!(is_distribution(&beta), "{loss:?} {beta:?}");
                prop_assert!(loss.value(&scores, 0, &mut beta).value.is_finite());
            }
        }
    }
}
