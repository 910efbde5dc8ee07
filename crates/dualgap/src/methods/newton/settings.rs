//! The settings of a run.

use serde::{Deserialize, Serialize};

/// How the Newton equations are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Equations {
    /// By Cholesky where the matrix is small for the data and the number of outputs, else by conjugate gradients.
    #[default]
    Auto,
    /// By Cholesky, which needs memory for the square of the number of weights.
    Cholesky,
    /// By preconditioned conjugate gradients, to the accuracy that the step is worth.
    ConjugateGradient,
}

/// The settings of Newton's method; λ and the sample weights belong to the problem.
///
/// ```
/// # use dualgap::methods::newton::{Equations, NewtonSettings};
/// assert_eq!(NewtonSettings::default().equations, Equations::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewtonSettings {
    /// How the Newton equations are solved.
    pub equations: Equations,
    /// The number of threads; zero stands for all cores. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}
