//! Losses with corners: Newton's method on smoothed ones, around a dual point that follows.
//!
//! ```text
//! φ(a; c) = max_s ⟨a, s⟩ − φ*(s) − (γ/2)‖s − c‖²      for the hinge: one of width γ whose prediction is moved by γc
//!
//! w ≈ argmin Σ mass_i φ_i(x_i'W; c_i) + λ/2‖w‖²        a round: a few steps, with line search on the smoothed objective
//! c_i ← s_i,  γ ← γ/2                                  the next one
//! ```
//!
//! This is the proximal point method on the dual, or the method of multipliers (Rockafellar, 1976): rounds converge whatever γ is,
//! and the faster the smaller it is. A smoothed hinge is a parabola or linear, so that D is 1/γ for the examples in between, a few
//! hundred of them in late rounds, and zero for all others; steps are those of a semismooth Newton method (Qi and Sun, 1993), and
//! end exactly when they have found out which examples are in between.
//!
//! With α = −s feasible and `g = λ(w − w(α))` the gradient of the smoothed objective, the gap of w and α is
//! `Σ mass_i (φ_i(a_i) + φ_i*(s_i) − ⟨a_i, s_i⟩) + ‖g‖²/(2λ)`: what smoothing leaves, and what steps leave. A round ends when the second
//! is smaller than the first.
//!
//! Why γ is halved: steps until the gap, relative to P, is below 1e-2, 1e-4 and 1e-6, after four passes of dual ascent (hinge,
//! λ = 1/n), in a sketch with whole Hessians that the constants below were chosen by:
//!
//! | data                           | γ halved   | γ/4        | γ/10           |
//! | ------------------------------ | ---------- | ---------- | -------------- |
//! | heart_scale, 270 by 13         | 5, 15, 19  | 6, 16, 23  | 9, 15, 25      |
//! | a9a, 32,561 by 123             | 7, 16, 29  | 9, 24, 39  | 15, 34, 55     |
//! | ijcnn1, 49,990 by 22           | 3, 7, 16   | 3, 7, 16   | 3, 6, 17       |
//! | raw columns, 4,601 by 57       | 10, 22, 43 | 10, 19, 39 | 13, 32, not in 300 |
//! | covtype, rows of length one    | 2, 5, 9    | 2, 5, 9    | 2, 5, 8        |
//! | covtype, raw, 100,000 rows     | 17, 28, 43 | 20, 36, 45 | 28, 55, 69     |

use serde::{Deserialize, Serialize};

/// γ of a round, as a share of that of the round before; see the table above.
const NARROWER: f64 = 0.5;

/// A round ends when what its steps leave of the gap is at most this share of what smoothing leaves: with 1 rounds end too soon and
/// the gap stands still, with 0.1 they take a tenth more steps.
const SOLVED: f64 = 0.4;

/// The first γ, as a multiple of the root of the relative gap, and of the loss at zero weights: about what a round of that γ leaves of the
/// gap. On a9a these are 1 and 0.17, 1/4 and 2e-3, 1/16 and 1.2e-4, 1/64 and 1.5e-5, 1/256 and 1e-6. With a γ that is as small as the gap
/// itself, a run that was handed over at 2e-5 took 200 steps for one round.
const BEGINNING: f64 = 4.0;

/// The smallest γ, as a share of the loss at zero weights: 1/γ multiplies squares of the inputs, beside λ.
const NARROWEST: f64 = 1e-9;

/// A step ends where the slope of the smoothed objective along it has fallen to this share.
const FLAT: f64 = 0.1;

/// As many points are tried along a direction at most; one or two are enough for most steps.
const TRIALS: usize = 30;

/// A trial keeps this share of the interval away from its ends.
const AWAY: f64 = 0.02;

/// Where the slope still falls, the next trial is at most so many times as far.
const FARTHER: f64 = 4.0;

/// The Hessian of the first steps is that of a sample with this many examples for every column, which is then off by an eighth or so: as
/// much as these steps are by other reasons. On covtype half of all examples lie between the corners in the first round, 5,000 for every
/// column.
const PER_COLUMN: usize = 64;

/// A step that ends before this share of its length had a poor Hessian, if it was that of a sample: columns that few examples have may be
/// missing. The next sample is larger by ...
const SHORT: f64 = 0.25;

/// ... this factor. With the first sample for all steps the hinge on raw covtype took 500 steps to a gap of 10 %.
const MORE: usize = 4;

/// The smoothed losses of a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Smoothing {
    /// γ.
    pub width: f64,
    /// c, K slopes for each example.
    pub centres: Vec<f64>,
    /// The rounds so far.
    pub rounds: u32,
    /// The steps of this round.
    pub steps: u32,
    /// The examples of the Hessian for every column, at most.
    pub per_column: usize,
    /// The smallest γ.
    narrowest: f64,
}

impl Smoothing {
    /// Begins around these slopes, at weights with this relative gap; `loss` is that at zero weights.
    pub fn new(centres: Vec<f64>, relative_gap: f64, loss: f64) -> Self {
        // Without any loss at zero weights they are the optimum.
        let loss = if loss > 0.0 { loss } else { 1.0 };
        let width = loss * (BEGINNING * relative_gap.max(0.0).sqrt()).clamp(NARROWEST, 1.0);
        let narrowest = loss * NARROWEST;
        Self { width, centres, rounds: 1, steps: 0, per_column: PER_COLUMN, narrowest }
    }

    /// Counts a step that has gone so far, as a share of its length.
    pub fn count(&mut self, t: f64) {
        self.steps = self.steps.saturating_add(1);
        if t < SHORT {
            self.per_column = self.per_column.saturating_mul(MORE);
        }
    }

    /// Whether a round has been solved, given what smoothing and what its steps leave of the gap.
    pub fn is_solved(&self, left_by_smoothing: f64, left_by_steps: f64) -> bool {
        self.steps > 0 && left_by_steps <= SOLVED * left_by_smoothing
    }

    /// Begins the next round around these slopes.
    pub fn turn(&mut self, centres: Vec<f64>) {
        self.width = (NARROWER * self.width).max(self.narrowest);
        self.centres = centres;
        self.rounds = self.rounds.saturating_add(1);
        self.steps = 0;
    }

    /// Whether a state from a file can be that of a run on so many predictions.
    pub fn is_sound(&self, predictions: usize) -> bool {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        positive(self.width)
            && positive(self.narrowest)
            && self.centres.len() == predictions
            && self.centres.iter().all(|c| c.is_finite())
    }
}

/// A search for the point of a line where a convex function is lowest, by its slopes: regula falsi in the form of Illinois, which halves
/// the slope of an end that stays for a second time. Slopes have kinks, so that secants alone would come nearer by a constant.
pub struct Search {
    /// The slope at the beginning, which is negative.
    first: f64,
    /// The last point where the function still falls, and its slope.
    low: (f64, f64),
    /// The first point where it rises, if one was met.
    high: Option<(f64, f64)>,
    /// Whether the last trial was at such a point.
    rose: Option<bool>,
    trials: usize,
}

impl Search {
    pub fn new(slope: f64) -> Self {
        Self { first: slope, low: (0.0, slope), high: None, rose: None, trials: 0 }
    }

    /// Whether a slope is so small that the search can end.
    pub fn is_flat(&self, slope: f64) -> bool {
        slope.abs() <= FLAT * self.first.abs()
    }

    /// Records the slope at a point, and returns the next one to try, or `None` after many.
    pub fn next(&mut self, t: f64, slope: f64) -> Option<f64> {
        self.trials += 1;
        if self.trials >= TRIALS || slope.is_nan() {
            return None;
        }
        let (here, rises) = ((t, slope), slope >= 0.0);
        if !rises && self.high.is_none() {
            let guess = secant(self.low, here);
            self.low = here;
            return Some(if guess > t { guess.min(FARTHER * t) } else { FARTHER * t });
        }
        let again = self.rose == Some(rises);
        match (rises, &mut self.high) {
            (true, high) => {
                *high = Some(here);
                self.low.1 *= if again { 0.5 } else { 1.0 };
            }
            (false, high) => {
                self.low = here;
                high.iter_mut().for_each(|high| high.1 *= if again { 0.5 } else { 1.0 });
            }
        }
        self.rose = Some(rises);
        let high = self.high?;
        let margin = AWAY * (high.0 - self.low.0);
        Some(secant(self.low, high).clamp(self.low.0 + margin, high.0 - margin))
    }
}

/// Returns where the line through two points is zero.
fn secant((a, at_a): (f64, f64), (b, at_b): (f64, f64)) -> f64 {
    a - at_a * (b - a) / (at_b - at_a)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parabola, one with a kink at a ten-thousandth of the first guess, and one whose end is far away.
    #[test]
    fn a_search_ends_where_the_slope_is_flat() {
        let kinked = |t: f64| if t < 1e-4 { 1e4 * t - 1.0 } else { 0.15 + t - 1e-4 };
        let slopes: [&dyn Fn(f64) -> f64; 3] = [&|t| t - 0.7, &kinked, &|t| 1e-3 * t - 1.0];
        for slope in slopes {
            let mut search = Search::new(slope(0.0));
            let mut t = 1.0;
            while !search.is_flat(slope(t)) {
                t = search.next(t, slope(t)).expect("the search ends");
            }
            assert!(slope(t).abs() <= 0.1 * slope(0.0).abs());
        }
    }

    #[test]
    fn a_search_that_meets_no_number_ends() {
        let mut search = Search::new(-1.0);
        assert_eq!(search.next(1.0, f64::NAN), None);
        let mut search = Search::new(-1.0);
        let mut t = Some(1.0);
        let mut trials = 0;
        while let Some(at) = t {
            t = search.next(at, -1.0);
            trials += 1;
        }
        assert_eq!(trials, TRIALS);
    }
}
