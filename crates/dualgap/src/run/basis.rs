//! What the primal value of a certificate rests on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What bounds the largest losses in the primal value of a certificate: exact searches, or less.
///
/// ```
/// use dualgap::run::Basis;
/// assert_eq!(Basis::Exact.weaker(Basis::Bounds), Basis::Bounds);
/// assert_eq!(Basis::Multiplicative(0.5).weaker(Basis::Multiplicative(0.9)), Basis::Multiplicative(0.5));
/// assert!(Basis::Additive(0.1).is_promise() && !Basis::Bounds.is_promise());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Basis {
    /// Every search was exact.
    #[default]
    Exact,
    /// Searches were not exact, and had bounds on what they may have missed.
    Bounds,
    /// An oracle has promised to miss no more than this. Nobody has proved it.
    Additive(f64),
    /// An oracle has promised to find this share of the largest gap of every example. Nobody has proved it.
    Multiplicative(f64),
}

impl Basis {
    /// Whether every search was exact; model files leave this default out.
    pub fn is_exact(&self) -> bool {
        *self == Self::Exact
    }

    /// Whether the certificate holds only if an oracle keeps its promise.
    pub fn is_promise(&self) -> bool {
        matches!(self, Self::Additive(_) | Self::Multiplicative(_))
    }

    /// Returns what a value rests on of which one part rests on this and one on the other.
    #[must_use]
    pub fn weaker(self, other: Self) -> Self {
        // The larger of two is the weaker; a smaller share is.
        let rank = |basis: Self| match basis {
            Self::Exact => (0, 0.0),
            Self::Bounds => (1, 0.0),
            Self::Additive(delta) => (2, delta),
            Self::Multiplicative(nu) => (3, -nu),
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => write!(f, "exact searches"),
            Self::Bounds => write!(f, "bounds on what the oracle may have missed"),
            Self::Additive(delta) => {
                write!(f, "the oracle's promise to miss no more than {delta}, which is not proved")
            }
            Self::Multiplicative(nu) => write!(
                f,
                "the oracle's promise to find {nu} of the largest gap of every example, which is not proved"
            ),
        }
    }
}
