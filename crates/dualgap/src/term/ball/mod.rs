//! Norm balls: constraints on the weights in the place of a penalty.
//!
//! - `l1`: sparse weights; the projection and its soft threshold, the s largest entries.
//! - `simplex`: nonnegative weights of a given sum; the same of it.
//! - `trace`: weights of low rank; the projection, and a proven bound on the dual.

#[cfg(all(test, feature = "low-rank"))]
mod duals;
pub(crate) mod l1;
pub(crate) mod simplex;
#[cfg(feature = "low-rank")]
pub(crate) mod trace;

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The feasible weights: those with a norm of at most the radius, or in the simplex of that size.
///
/// ```
/// # use dualgap::term::Ball;
/// assert_eq!(Ball::L1 { radius: 2.0 }.radius(), 2.0);
/// assert!(Ball::L1 { radius: 0.0 }.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ball {
    /// `Σ |X_jk| ≤ radius`: sparse weights.
    L1 {
        /// The radius r.
        radius: f64,
    },
    /// `X_jk ≥ 0` and `Σ X_jk = radius`: mixtures, such as the convex combinations of given atoms.
    Simplex {
        /// The radius r.
        radius: f64,
    },
    /// The sum of the singular values is at most the radius: weights of low rank.
    Trace {
        /// The radius r.
        radius: f64,
    },
}

impl Ball {
    /// Returns its name, as a model file has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::L1 { .. } => "l1",
            Self::Simplex { .. } => "simplex",
            Self::Trace { .. } => "trace",
        }
    }

    /// The radius r.
    pub fn radius(self) -> f64 {
        match self {
            Self::L1 { radius } | Self::Simplex { radius } | Self::Trace { radius } => radius,
        }
    }

    /// Returns the same ball with another radius.
    ///
    /// ```
    /// # use dualgap::term::Ball;
    /// assert_eq!(Ball::Trace { radius: 1.0 }.at(3.0), Ball::Trace { radius: 3.0 });
    /// ```
    #[must_use]
    pub fn at(self, radius: f64) -> Self {
        match self {
            Self::L1 { .. } => Self::L1 { radius },
            Self::Simplex { .. } => Self::Simplex { radius },
            Self::Trace { .. } => Self::Trace { radius },
        }
    }

    /// Returns an error unless the radius is positive and finite.
    pub fn check(self) -> Result<()> {
        let radius = self.radius();
        if radius > 0.0 && radius.is_finite() {
            return Ok(());
        }
        Err(Error::setting(format!("the radius of a ball is positive, not {radius}")))
    }
}
