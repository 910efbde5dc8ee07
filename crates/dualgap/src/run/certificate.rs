//! The certificate: a primal value, a dual value, and how much rounding may be in them.
//!
//! Weak duality makes the pair valid whatever produced it: for any weights w and any feasible dual
//! point α, `D(α) ≤ optimum ≤ P(w)`. So `gap + rounding_error` bounds how far w is from optimal.

use super::Basis;
use crate::linalg::Measured;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A bound on how far from optimal a model is.
///
/// ```
/// use dualgap::linalg::Measured;
/// use dualgap::run::Certificate;
///
/// let side = |value| Measured { value, error: 1e-15 };
/// let certificate = Certificate::new(side(0.5), side(0.49), true)?;
/// assert!((certificate.gap() - 0.01).abs() < 1e-12);
/// assert_eq!(certificate.gap_bound(), certificate.gap() + 2e-15);
/// assert!(Certificate::new(side(0.49), side(0.5), true).is_err(), "a negative gap is an error");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// P(w) at exactly the weights of the model; where a user's oracle only bounds its losses, the
    /// upper bound on it that follows.
    pub primal: f64,
    /// D(α) at a feasible dual point.
    pub dual: f64,
    /// `primal` and `dual` together are wrong by at most this.
    pub rounding_error: f64,
    /// Whether `primal` is an upper bound. It is not when an oracle could not bound what it may have
    /// missed: then the run is uncertified, and `primal` is only the best value that was found.
    pub certified: bool,
    /// What `primal` rests on if it is an upper bound.
    #[serde(default, skip_serializing_if = "Basis::is_exact")]
    pub basis: Basis,
}

impl Certificate {
    /// Pairs a primal value with a dual one. Returns an error if the pair cannot be true. The primal value is one of
    /// exact searches; [`resting_on`](Self::resting_on) says if it is not.
    pub fn new(primal: Measured, dual: Measured, certified: bool) -> Result<Self> {
        let certificate = Self {
            primal: primal.value,
            dual: dual.value,
            rounding_error: primal.error + dual.error,
            certified,
            basis: Basis::Exact,
        };
        let Self { primal, dual, rounding_error, .. } = certificate;
        if !(primal.is_finite() && dual.is_finite() && rounding_error.is_finite()) {
            return Err(Error::Unsound {
                message: format!(
                    "the primal value is {primal:e} and the dual {dual:e}, with a rounding error of \
                     {rounding_error:e}; are there huge numbers in the data, or is lambda extremely small?"
                ),
            });
        }
        if certified && dual - primal > rounding_error {
            return Err(Error::Unsound {
                message: format!(
                    "the dual value {dual} exceeds the primal {primal} by more than the rounding \
                     error {rounding_error:e}: an oracle's bound or promise is too low, or a dual point \
                     is not feasible"
                ),
            });
        }
        Ok(certificate)
    }

    /// Returns the certificate with what its primal value rests on.
    #[must_use]
    pub fn resting_on(self, basis: Basis) -> Self {
        Self { basis, ..self }
    }

    /// Returns `primal − dual`; infinite if the run could not be certified.
    pub fn gap(&self) -> f64 {
        if self.certified { self.primal - self.dual } else { f64::INFINITY }
    }

    /// Returns the gap relative to the primal value.
    pub fn relative_gap(&self) -> f64 {
        if self.gap() <= 0.0 { 0.0 } else { self.gap() / self.primal.abs() }
    }

    /// Returns `gap + rounding_error`: the objective of the model is at most this far above the optimum, whatever the
    /// rounding was. Infinite if the run could not be certified.
    ///
    /// ```
    /// # use dualgap::{linalg::Measured, run::Certificate};
    /// let (primal, dual) = (Measured { value: 0.5, error: 0.125 }, Measured { value: 0.25, error: 0.0 });
    /// let certificate = Certificate::new(primal, dual, true)?;
    /// assert_eq!((certificate.gap(), certificate.gap_bound()), (0.25, 0.375));
    /// assert_eq!(Certificate { certified: false, ..certificate }.gap_bound(), f64::INFINITY);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn gap_bound(&self) -> f64 {
        (self.gap() + self.rounding_error).max(0.0)
    }

    /// Returns the bound on the gap relative to the primal value. Infinite if that value is zero and the bound is not.
    ///
    /// ```
    /// # use dualgap::{linalg::Measured, run::Certificate};
    /// let (primal, dual) = (Measured { value: 0.5, error: 0.125 }, Measured { value: 0.25, error: 0.0 });
    /// let certificate = Certificate::new(primal, dual, true)?;
    /// assert_eq!((certificate.relative_gap(), certificate.relative_gap_bound()), (0.5, 0.75));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn relative_gap_bound(&self) -> f64 {
        let bound = self.gap_bound();
        if bound == 0.0 { 0.0 } else { bound / self.primal.abs() }
    }

    /// Whether the dual value, its rounding taken off, is not above zero. Where losses are never negative, as those of this
    /// library are, zero is a lower bound of the objective without any run, and the certificate adds nothing to it.
    ///
    /// ```
    /// # use dualgap::{linalg::Measured, run::Certificate};
    /// let side = |value| Measured { value, error: 0.0 };
    /// assert!(Certificate::new(side(0.5), side(-0.1), true)?.is_vacuous());
    /// assert!(!Certificate::new(side(0.5), side(0.1), true)?.is_vacuous());
    /// let lost = |value| Measured { value, error: 1e-9 };
    /// assert!(Certificate::new(lost(1e-12), lost(2e-12), true)?.is_vacuous(), "all of it is rounding");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn is_vacuous(&self) -> bool {
        let above = self.primal > 0.0 && self.gap_bound() > 0.0;
        self.certified && above && self.dual <= self.rounding_error
    }

    /// Whether the bound on the rounding is larger than the gap itself: then the arithmetic limits what is proved, and
    /// no further step of a solver can improve it.
    ///
    /// ```
    /// # use dualgap::{linalg::Measured, run::Certificate};
    /// let (primal, dual) = (Measured { value: 0.5, error: 1e-15 }, Measured { value: 0.5, error: 0.0 });
    /// let certificate = Certificate::new(primal, dual, true)?;
    /// assert!(certificate.rounding_exceeds_gap());
    /// assert!(!Certificate { dual: 0.49, ..certificate }.rounding_exceeds_gap());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn rounding_exceeds_gap(&self) -> bool {
        self.rounding_error > self.gap()
    }

    /// Whether the exact gap, whatever the rounding was, is within the absolute tolerance.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.gap() + self.rounding_error <= tolerance
    }
}
