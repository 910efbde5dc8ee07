//! Coordinate descent for smooth losses of linear predictions under the l1 norm.
//!
//! ```text
//! P(w) = Σ mass_i φ_i(x_i'W) + λ/2‖w‖² + σ‖w‖₁        σ > 0, λ ≥ 0; one weight of an input, or one for each of K outputs
//! ```
//!
//! Weights may have to be nonnegative, and one may be without penalty. A step of the solver is
//!
//! 1. a working set: the weights that are not zero, and those that violate optimality most (`working_set`);
//! 2. P over the working set. The losses are replaced by a quadratic model, which for least squares is exact, and the model is
//!    minimised weight by weight (`model`): with s_i = mass_i ∇φ_i, D_i = mass_i ∇²φ_i and the stored slopes t = s + DXd,
//!
//!    ```text
//!    g = x_·j't,     h = x_·j'D x_·j,     w_j ← soft(h w_j − g, σ)/(h + λ),     t ← t + Δ_j D x_·j
//!    ```
//!
//!    For other losses a line search follows, and the next model (`newton`);
//! 3. the slopes of all weights at the new predictions, and a dual point. α_i = −∇φ_i(a_i) is feasible if λ > 0; else it is
//!    scaled, and the point of an extrapolation may be the better one. Weights that its gap proves to be zero at the optimum
//!    never come back (`screening`).
//!
//! The third part has all that a certificate needs but the care for rounding, so the solver tells the loop when a
//! certification is worth its time ([`Solver::expected`](crate::run::Solver::expected)).
//!
//! Least squares with few weights need neither columns nor working sets: one pass over the rows for the matrix of all weights,
//! and the second part is steps with it (`squares`).
//!
//! - `terms`: the penalty of a weight. `data`: the data, by rows (`squares`) or by columns (`design`, `column`). `local`: the losses at some predictions.
//! - `model`: a quadratic model and its minimisation; `plain` for one output, `classes` for several; `anderson` and `gram` for
//!   correlated columns, `lists` and `cholesky` for `gram`.
//! - `certificate`: what is proved. `solver`: the method as a [`crate::run::Solver`]; `steps`: its steps. `train`: runs. `settings`: the settings.

mod anderson;
mod certificate;
mod cholesky;
mod classes;
mod column;
mod data;
mod design;
mod gram;
mod lists;
mod local;
mod model;
mod newton;
mod plain;
mod screening;
mod settings;
mod solver;
mod squares;
mod steps;
mod terms;
mod train;
mod working_set;

pub use settings::CoordinateSettings;
pub(crate) use solver::{Coordinates, State};
pub(crate) use squares::pays as matrix_pays;
pub(crate) use train::{check_penalty, train_at, train_from};
