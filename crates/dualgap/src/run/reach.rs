//! What one model and one dual point prove at every λ, not only at the one they were found at.
//!
//! ```text
//! P_λ(w) = a + λ G      a = (mean loss) + σ‖w‖₁,    G = ½‖w‖²
//! D_λ(α) = ℓ − C/λ      ℓ = (mean dual),            C = ½‖soft(s, σ)‖²,   s = Σ mass_i X_i α_i
//! ```
//!
//! α is feasible whatever λ is, so both values hold at every one, and the gap `λG + C/λ + a − ℓ` is convex in λ. So is
//! what a relative tolerance ε asks for, `(1 − ε) P_λ(w) − D_λ(α) ≤ 0`: either holds on an interval, whose ends are
//! the roots of a quadratic, and proving both ends proves all that lies between them.

use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum};
use crate::run::{Basis, Certificate};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The gap that counts as small enough.
///
/// ```
/// # use dualgap::run::Tolerance;
/// assert!(Tolerance::Relative(0.01).check().is_ok());
/// assert!(Tolerance::Relative(1.0).check().is_err(), "anything would be within it");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tolerance {
    /// A fraction of the primal value.
    Relative(f64),
    /// In units of the objective.
    Absolute(f64),
}

impl Tolerance {
    /// Returns an error if the tolerance makes no sense for more than one λ.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Relative(share) if share > 0.0 && share < 1.0 => Ok(()),
            Self::Absolute(gap) if gap > 0.0 && gap.is_finite() => Ok(()),
            Self::Relative(share) => Err(Error::setting(format!(
                "the relative tolerance of a path is more than 0 and less than 1, not {share}"
            ))),
            Self::Absolute(gap) => Err(Error::setting(format!(
                "the absolute tolerance of a path is a positive number, not {gap}"
            ))),
        }
    }

    /// Returns the tolerance as a number, in its own units.
    pub fn limit(self) -> f64 {
        match self {
            Self::Relative(limit) | Self::Absolute(limit) => limit,
        }
    }

    /// Returns how far from optimal a certificate allows the model to be, rounding included, in units of this
    /// tolerance.
    pub fn bound(self, certificate: &Certificate) -> f64 {
        let gap = certificate.gap().max(0.0) + certificate.rounding_error;
        match self {
            Self::Relative(_) if gap > 0.0 => gap / certificate.primal.abs(),
            _ => gap,
        }
    }
}

/// A closed interval of λ.
///
/// ```
/// # use dualgap::run::Interval;
/// let interval = Interval::new(0.01, 1.0)?;
/// assert!(interval.contains(0.01) && !interval.contains(1.1));
/// assert!(Interval::new(1.0, 0.01).is_err());
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The smallest λ.
    pub from: f64,
    /// The largest.
    pub to: f64,
}

impl Interval {
    /// Returns the interval, or an error unless both ends are positive and the first is not above the second.
    pub fn new(from: f64, to: f64) -> Result<Self> {
        if 0.0 < from && from <= to && to.is_finite() {
            return Ok(Self { from, to });
        }
        Err(Error::setting(format!(
            "an interval of λ goes from a positive number to one that is not smaller, not from {from} to {to}"
        )))
    }

    /// Whether λ is in the interval.
    pub fn contains(self, lambda: f64) -> bool {
        self.from <= lambda && lambda <= self.to
    }
}

/// The parts of both values that do not depend on λ; see the module's head.
///
/// ```
/// use dualgap::linalg::Measured;
/// use dualgap::run::{Basis, Interval, Reach, Tolerance};
///
/// let exact = |value| Measured { value, error: 0.0 };
/// let reach = Reach {
///     fixed: exact(0.5),
///     square: exact(1.0),
///     dual: exact(0.7),
///     conjugate: exact(0.01),
///     certified: true,
///     basis: Basis::Exact,
/// };
/// assert!(reach.certificate(0.1)?.gap() < 1e-12); // P = 0.5 + 0.1, D = 0.7 − 0.01/0.1
/// let within = Interval::new(0.001, 10.0)?;
/// let proved = reach.interval(within, Tolerance::Relative(0.05)).unwrap();
/// assert!(proved.from < 0.08 && proved.to > 0.13);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// a: the mean loss, and the part of the penalty that does not grow with λ.
    pub fixed: Measured,
    /// G.
    pub square: Measured,
    /// ℓ.
    pub dual: Measured,
    /// C.
    pub conjugate: Measured,
    /// Whether `fixed` is an upper bound; otherwise nothing is proved.
    pub certified: bool,
    /// What `fixed` rests on if it is one.
    pub basis: Basis,
}

/// A claimed interval allows for this many times the rounding error. Once is enough for a proof; twice makes sure that
/// the claim also holds when it is proved again on a machine with different rounding.
const CLAIMED: f64 = 2.0;

impl Reach {
    /// P_λ(w).
    fn primal(&self, lambda: f64) -> Measured {
        let mut sum = Sum::default();
        sum.add_measured(self.fixed);
        sum.add_measured(self.square.scaled(lambda));
        sum.total()
    }

    /// D_λ(α).
    fn dual(&self, lambda: f64) -> Measured {
        let mut sum = Sum::default();
        sum.add_measured(self.dual);
        sum.add_measured(self.conjugate.divided(-lambda));
        sum.total()
    }

    /// Returns the certificate of both values at this λ.
    pub fn certificate(&self, lambda: f64) -> Result<Certificate> {
        let pair = Certificate::new(self.primal(lambda), self.dual(lambda), self.certified)?;
        Ok(pair.resting_on(self.basis))
    }

    /// Whether the model is proved to be within the tolerance at this λ, whatever the rounding was.
    pub fn holds(&self, lambda: f64, tolerance: Tolerance) -> bool {
        self.allowing(1.0, lambda, tolerance)
    }

    /// [`Self::holds`] with `errors` times the rounding error. Every operation is rounded to the side where it makes
    /// the claim stronger.
    fn allowing(&self, errors: f64, lambda: f64, tolerance: Tolerance) -> bool {
        let above = |x: f64| x + f64::EPSILON * x.abs(); // zero stays zero; sums do not underflow
        let times = |a: f64, b: f64| if b > 0.0 { product_above(a, b) } else { above(a * b) };
        let (primal, dual) = (self.primal(lambda), self.dual(lambda));
        let upper = above(primal.value + above(errors * primal.error));
        let lower = -above(above(errors * dual.error) - dual.value);
        self.certified
            && match tolerance {
                Tolerance::Relative(share) => times(above(1.0 - share), upper) <= lower,
                Tolerance::Absolute(gap) => above(upper - lower) <= gap,
            }
    }

    /// Returns the interval of those λ in `within` at which the model is proved to be within the tolerance, if there
    /// are any.
    pub fn interval(&self, within: Interval, tolerance: Tolerance) -> Option<Interval> {
        let upper = |x: Measured| x.value + CLAIMED * x.error;
        let (share, allowed) = match tolerance {
            Tolerance::Relative(share) => (1.0 - share, 0.0),
            Tolerance::Absolute(gap) => (1.0, gap),
        };
        // The roots of Aλ² + bλ + C.
        let a = share * upper(self.square);
        let b = share * upper(self.fixed) - (self.dual.value - CLAIMED * self.dual.error) - allowed;
        let c = upper(self.conjugate);
        let root = (b * b - 4.0 * a * c).sqrt();
        if !(self.certified && b <= 0.0 && root >= 0.0) {
            return None;
        }
        let twice = root - b; // a sum of two that are not negative: no digit is lost
        let low = if c > 0.0 { 2.0 * c / twice } else { 0.0 };
        let high = if a > 0.0 { twice / (2.0 * a) } else { f64::INFINITY };
        let ends = Interval { from: low.max(within.from), to: high.min(within.to) };
        self.proved(ends, tolerance)
    }

    /// Moves the ends, which come from rounded formulas, together until both are proved.
    fn proved(&self, mut ends: Interval, tolerance: Tolerance) -> Option<Interval> {
        let holds = |lambda: f64| self.allowing(CLAIMED, lambda, tolerance);
        let mut step = f64::EPSILON;
        while ends.from <= ends.to && !holds(ends.from) {
            ends.from *= 1.0 + step;
            step *= 2.0;
        }
        let mut step = f64::EPSILON;
        while ends.from <= ends.to && !holds(ends.to) {
            ends.to /= 1.0 + step;
            step *= 2.0;
        }
        (ends.from <= ends.to).then_some(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reach() -> impl Strategy<Value = Reach> {
        let part = |most: f64| {
            (prop_oneof![Just(0.0), 0.0..most], prop_oneof![Just(0.0), 1e-16..1e-4_f64])
                .prop_map(|(value, share)| Measured { value, error: share * value })
        };
        let parts = (part(2.0), part(50.0), part(3.0), part(0.1));
        parts.prop_map(|(fixed, square, dual, conjugate)| Reach {
            fixed,
            square,
            dual,
            conjugate,
            certified: true,
            basis: Basis::Exact,
        })
    }

    fn tolerance() -> impl Strategy<Value = Tolerance> {
        prop_oneof![
            (1e-6..0.5_f64).prop_map(Tolerance::Relative),
            (1e-6..0.5_f64).prop_map(Tolerance::Absolute),
        ]
    }

    const WITHIN: Interval = Interval { from: 1e-4, to: 10.0 };

    proptest! {
        // Every claim holds for the worst values within the errors, and little is left unclaimed.
        #[test]
        fn the_interval_is_where_the_tolerance_holds(reach in reach(), tolerance in tolerance()) {
            let room = |errors: f64, lambda: f64| {
                let high = |x: Measured| x.value + errors * x.error;
                let primal = high(reach.fixed) + lambda * high(reach.square);
                let dual = reach.dual.value - errors * reach.dual.error - high(reach.conjugate) / lambda;
                match tolerance {
                    Tolerance::Relative(share) => share * primal - (primal - dual),
                    Tolerance::Absolute(gap) => gap - (primal - dual),
                }
            };
            let found = reach.interval(WITHIN, tolerance);
            for k in 0..=400 {
                let lambda = WITHIN.from * (WITHIN.to / WITHIN.from).powf(f64::from(k) / 400.0);
                let rounding = 1e-12 * (1.0 + reach.conjugate.value / lambda);
                if found.is_some_and(|found| found.contains(lambda)) {
                    prop_assert!(room(1.0, lambda) >= 0.0, "{lambda} is claimed");
                } else {
                    prop_assert!(room(CLAIMED, lambda) <= rounding, "{lambda} is not in {found:?}");
                }
            }
            if let Some(Interval { from, to }) = found {
                prop_assert!(reach.holds(from, tolerance) && reach.holds(to, tolerance));
                prop_assert!(WITHIN.from <= from && to <= WITHIN.to);
            }
        }
    }

    #[test]
    fn nothing_is_proved_by_what_is_no_bound_or_no_number() {
        let exact = |value| Measured { value, error: 0.0 };
        let good = Reach {
            fixed: exact(0.5),
            square: exact(1.0),
            dual: exact(0.7),
            conjugate: exact(0.01),
            certified: true,
            basis: Basis::Exact,
        };
        let tolerance = Tolerance::Relative(0.05);
        assert!(good.interval(WITHIN, tolerance).is_some());
        for bad in [
            Reach { certified: false, ..good },
            Reach { fixed: exact(f64::NAN), ..good },
            Reach { square: exact(f64::INFINITY), ..good },
            Reach { conjugate: exact(f64::INFINITY), ..good },
            Reach { dual: exact(f64::NEG_INFINITY), ..good },
            Reach { dual: Measured { value: 0.7, error: f64::INFINITY }, ..good },
        ] {
            assert_eq!(bad.interval(WITHIN, tolerance), None, "{bad:?}");
            assert!(!bad.holds(0.1, tolerance));
        }
    }

    #[test]
    fn weights_and_a_dual_point_of_zero_are_proved_everywhere() {
        let nothing = Reach {
            fixed: Measured::default(),
            square: Measured::default(),
            dual: Measured::default(),
            conjugate: Measured::default(),
            certified: true,
            basis: Basis::Exact,
        };
        for tolerance in [Tolerance::Absolute(0.1), Tolerance::Relative(0.1)] {
            assert_eq!(nothing.interval(WITHIN, tolerance), Some(WITHIN));
        }
    }
}
