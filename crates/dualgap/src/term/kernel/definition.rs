//! What a kernel is.

use super::KernelFunction;
use crate::Result;
use crate::linalg::{Row, Rows};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A kernel: a symmetric function of two inputs whose matrices are positive semidefinite. Certificates rest on this
/// promise; what is checked of it is that no k(x, x) is negative, and that |k(x, z)| ≤ √(k(x, x) k(z, z)).
///
/// A user's own kernel, here the Laplace kernel `exp(−g‖x − z‖₁)` of dense rows:
///
/// ```
/// use dualgap::linalg::Row;
/// use dualgap::term::Kernel;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
/// struct Laplace(f64);
///
/// impl Kernel for Laplace {
///     fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
///         (-self.0 * x.iter().map(|(j, x)| (x - z.get(j)).abs()).sum::<f64>()).exp()
///     }
///     fn describe(&self) -> String {
///         format!("laplace, {}", self.0)
///     }
/// }
/// let row = Row::Dense(&[1.0, 2.0]);
/// assert_eq!(Laplace(0.5).value(row, row), 1.0);
/// ```
pub trait Kernel:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Returns k(x, z).
    fn value(&self, x: Row<'_>, z: Row<'_>) -> f64;

    /// Returns a bound on the error of [`value`](Self::value), as a share of √(k(x, x) k(z, z)). It is charged to the
    /// certificate. The default is enough for some thousand roundings; it may be at most 1e-8.
    fn error(&self) -> f64 {
        1e-12
    }

    /// Returns an error if a number of the kernel is out of its range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the kernel with everything that only the training inputs can tell, such as the default width.
    fn resolve(self, _rows: &Rows) -> Result<Self> {
        Ok(self)
    }

    /// Describes the kernel in a few words.
    fn describe(&self) -> String;

    /// Returns the built-in kernel that this is. Its matrices are computed by the loops of the library.
    fn function(&self) -> Option<KernelFunction> {
        None
    }
}

impl Kernel for KernelFunction {
    fn value(&self, x: Row<'_>, z: Row<'_>) -> f64 {
        self.evaluate(x, z)
    }

    fn check(&self) -> Result<()> {
        self.check_range()
    }

    fn resolve(self, rows: &Rows) -> Result<Self> {
        self.made_definite(rows)
    }

    fn describe(&self) -> String {
        self.words()
    }

    fn function(&self) -> Option<KernelFunction> {
        Some(*self)
    }
}
