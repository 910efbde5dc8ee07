//! The built-in kernels, as functions of inner products.
//!
//! ```text
//! linear       ⟨x, z⟩
//! rbf          exp(−gamma‖x − z‖²),     ‖x − z‖² = ‖x‖² + ‖z‖² − 2⟨x, z⟩
//! polynomial   (gamma⟨x, z⟩ + coef0)^degree
//! ```
//!
//! gamma and coef0 have scikit-learn's meaning, and so has the default of gamma, `scale`: 1/(F·variance of all entries).
//!
//! **Rounding.** A computed inner product of s terms is off by at most γ_s‖x‖‖z‖. With sizes κ(x) ≥ √k(x, x), a value is
//! off by at most κ(x)κ(z)(ρ(x) + ρ(z)) plus what underflow loses:
//!
//! ```text
//! linear       κ = ‖x‖                           ρ = γ_{s+2}
//! polynomial   κ = (gamma‖x‖² + coef0)^{p/2}     ρ = γ_{p(s+6)}     |gamma⟨x, z⟩ + coef0| ≤ κ(x)^{2/p} κ(z)^{2/p}
//! rbf          κ = 1                             ρ = 2.02·gamma·γ_{s+6}‖x‖² + error of the exponential + u
//! ```
//!
//! The last one: ‖x − z‖² is off by δ ≤ γ_{s+4}(‖x‖ + ‖z‖)² ≤ 2γ_{s+4}(‖x‖² + ‖z‖²), e^{gamma·δ} − 1 ≤ 1.01·gamma·δ for a small
//! product, and the rounding of t = gamma‖x − z‖² changes e^{−t} by at most u·t·e^{−t} < u.

use super::exponential::{self, exp_below};
use crate::linalg::{Row, Rows, Sum, UNDERFLOW, UNIT_ROUNDOFF, gamma};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A built-in kernel; see the module's head for the formulas.
///
/// ```
/// # use dualgap::{linalg::{Row, Rows}, term::{Kernel, KernelFunction}};
/// let rows = Rows::dense(&[vec![0.0, 2.0], vec![2.0, 0.0]])?;
/// let kernel = KernelFunction::rbf().resolve(&rows)?;
/// assert_eq!(kernel, KernelFunction::Rbf { gamma: Some(0.5) }); // 1/(2 features · variance 1)
/// assert_eq!(kernel.value(rows.row(0), rows.row(0)), 1.0);
/// assert!((kernel.value(rows.row(0), rows.row(1)) - (-4.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum KernelFunction {
    /// ⟨x, z⟩.
    Linear,
    /// exp(−gamma‖x − z‖²).
    Rbf {
        /// gamma; `None` stands for `scale`, which the training inputs make definite.
        gamma: Option<f64>,
    },
    /// (gamma⟨x, z⟩ + coef0)^degree.
    Polynomial {
        /// The degree, from 1 to [`MOST_DEGREE`](KernelFunction::MOST_DEGREE).
        degree: u32,
        /// gamma; `None` stands for `scale`.
        gamma: Option<f64>,
        /// coef0, which is not negative: the kernel would not be positive semidefinite.
        coef0: f64,
    },
}

/// Bounds on the values of a kernel at one input; see the module's head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// κ.
    pub kappa: f64,
    /// ρ.
    pub rho: f64,
}

impl KernelFunction {
    /// The largest degree of a polynomial: higher powers overflow for inputs that are not tiny.
    pub const MOST_DEGREE: u32 = 64;

    /// Returns the Gaussian kernel with gamma = `scale`.
    pub fn rbf() -> Self {
        Self::Rbf { gamma: None }
    }

    /// Whether gamma is a number, if there is one.
    pub(crate) fn is_definite(self) -> bool {
        !matches!(self, Self::Rbf { gamma: None } | Self::Polynomial { gamma: None, .. })
    }

    fn gamma(self) -> f64 {
        match self {
            Self::Linear => 1.0,
            Self::Rbf { gamma } | Self::Polynomial { gamma, .. } => gamma.unwrap_or(1.0),
        }
    }

    /// Replaces inner products of x with other inputs by the kernel's values. `square` is ‖x‖², `squares` are those of the
    /// others.
    pub(super) fn apply(self, square: f64, squares: &[f64], products: &mut [f64]) {
        let gamma = self.gamma();
        match self {
            Self::Linear => {}
            Self::Rbf { .. } => {
                for (product, other) in products.iter_mut().zip(squares) {
                    let distance = (square + other) - 2.0 * *product;
                    // A comparison that keeps NaN.
                    *product = -gamma * if distance < 0.0 { 0.0 } else { distance };
                }
                exp_below(products);
            }
            Self::Polynomial { degree, coef0, .. } => {
                for product in products {
                    let base = gamma * *product + coef0;
                    *product = (1..degree).fold(base, |power, _| power * base);
                }
            }
        }
    }

    /// Returns κ and ρ of an input of at most this norm and this many terms.
    pub(super) fn size(self, norm: f64, terms: usize) -> Size {
        let square = norm * norm * (1.0 + 1e-9);
        match self {
            Self::Linear => Size { kappa: norm, rho: gamma(terms + 2) },
            Self::Rbf { .. } => {
                let off = self.gamma() * 2.02 * gamma(terms + 6) * square;
                // The linear bound of e^x − 1 is for small numbers; nothing is known of larger ones.
                let off = if off < 0.005 { off } else { f64::INFINITY };
                Size { kappa: 1.0, rho: off + exponential::ERROR + 2.0 * UNIT_ROUNDOFF }
            }
            Self::Polynomial { degree, coef0, .. } => {
                let base = self.gamma() * square + coef0;
                let power = (1..degree).fold(base, |power, _| power * base);
                let rho = gamma(degree as usize * (terms + 6));
                Size { kappa: power.sqrt() * (1.0 + 1e-9), rho }
            }
        }
    }

    /// Returns what underflow can cost a value, for inputs of at most this norm and this many terms.
    pub(super) fn underflow(self, norm: f64, terms: usize) -> f64 {
        let lost = (terms + 4) as f64 * UNDERFLOW;
        match self {
            Self::Linear => lost,
            Self::Rbf { .. } => 2.0 * f64::MIN_POSITIVE + 4.0 * (1.0 + self.gamma()) * lost,
            Self::Polynomial { degree, coef0, .. } => {
                let base = (self.gamma() * norm * norm + coef0).max(1.0);
                let power = (1..degree).fold(base, |power, _| power * base);
                power * f64::from(2 * degree) * (1.0 + self.gamma()) * lost
            }
        }
    }
}

/// Returns 1/(F·variance of all entries), as scikit-learn's `scale`; 1 if all entries are equal.
fn scale(rows: &Rows) -> f64 {
    let entries = (rows.len() * rows.width()) as f64;
    let all = || (0..rows.len()).flat_map(|i| rows.row(i).iter().map(|(_, x)| x));
    let mean = all().collect::<Sum>().total().value / entries;
    let zeros = entries - rows.stored() as f64;
    let squares = all().map(|x| (x - mean) * (x - mean)).collect::<Sum>().total().value;
    let variance = (squares + zeros * mean * mean) / entries;
    let gamma = 1.0 / (rows.width() as f64 * variance);
    if variance > 0.0 && gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
}

/// What [`Kernel`](super::Kernel) asks for.
impl KernelFunction {
    pub(super) fn evaluate(self, x: Row<'_>, z: Row<'_>) -> f64 {
        let mut value = [x.dot(z)];
        self.apply(x.squared_norm(), &[z.squared_norm()], &mut value);
        value[0]
    }

    pub(super) fn check_range(self) -> Result<()> {
        if let Self::Rbf { gamma: Some(gamma) } | Self::Polynomial { gamma: Some(gamma), .. } = self
            && !(gamma > 0.0 && gamma.is_finite())
        {
            return Err(Error::setting(format!(
                "gamma of a kernel must be a positive number, not {gamma}"
            )));
        }
        let Self::Polynomial { degree, coef0, .. } = self else { return Ok(()) };
        if !(1..=Self::MOST_DEGREE).contains(&degree) {
            return Err(Error::setting(format!(
                "the degree of a polynomial kernel is a number from 1 to {}, not {degree}",
                Self::MOST_DEGREE
            )));
        }
        if !(coef0 >= 0.0 && coef0.is_finite()) {
            return Err(Error::setting(format!(
                "coef0 of a polynomial kernel must not be negative, and it is {coef0}: the kernel would not be positive \
                 semidefinite"
            )));
        }
        Ok(())
    }

    pub(super) fn made_definite(self, rows: &Rows) -> Result<Self> {
        self.check_range()?;
        let definite = |gamma: Option<f64>| Some(gamma.unwrap_or_else(|| scale(rows)));
        Ok(match self {
            Self::Linear => self,
            Self::Rbf { gamma } => Self::Rbf { gamma: definite(gamma) },
            Self::Polynomial { degree, gamma, coef0 } => {
                Self::Polynomial { degree, gamma: definite(gamma), coef0 }
            }
        })
    }

    pub(super) fn words(self) -> String {
        let gamma = |gamma: Option<f64>| gamma.map_or("scale".into(), |gamma| format!("{gamma:?}"));
        match self {
            Self::Linear => "linear".into(),
            Self::Rbf { gamma: g } => format!("rbf, gamma {}", gamma(g)),
            Self::Polynomial { degree, gamma: g, coef0 } => {
                format!("polynomial, degree {degree}, gamma {}, coef0 {coef0:?}", gamma(g))
            }
        }
    }
}
