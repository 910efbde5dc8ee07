//! Conditional random fields: chains under the log-loss.
//!
//! ```text
//! p_w(y|x) = exp⟨w, φ(x, y)⟩ / Z(x; w)
//! P(w) = Σ mass_i [log Z(x_i; w) − ⟨w, φ(x_i, y_i)⟩] + λ/2‖w‖²
//!
//! D(p) = Σ mass_i H(p_i) − ‖u‖²/(2λ),     u = Σ mass_i (φ(x_i, y_i) − E_{p_i} φ(x_i, ·))
//! ```
//!
//! for any distributions p_i over labelings. With p_i = p_{w₀}(·|x_i), H(p_i) = log Z − ⟨w₀, E φ⟩, so that
//!
//! ```text
//! D = L(w₀) + ⟨w₀, u⟩ − ‖u‖²/(2λ),        L = P − λ/2‖·‖²,   u = −∇L(w₀)
//! ```
//!
//! Under an elastic net σ‖w‖₁ is added to P, and S_σ(u) is in the place of u in the square: its entries are nearer to zero by σ.
//!
//! Any weights w₀ are a witness: they say what the p_i are, and there is nothing to prove feasible. At w₀ = w the gap is
//! ‖∇P(w)‖²/(2λ), if there is no l1 norm.
//!
//! - `scaled`: forward-backward on one sequence, with its rounding. `problem`: the sums over all sequences, for gradients and
//!   certificates. `posed`: the problem as others are posed. `ascent`: the steps that a run under a ridge
//!   begins with; `stochastic`: those under an elastic net; `single`, `quick`: the weights and expectations of both, in 32 bits.
//!   `marginals`: predictions.

mod ascent;
mod marginals;
mod posed;
mod problem;
mod quick;
mod scaled;
mod single;
mod stochastic;

pub(super) use marginals::{Held, log_losses, marginals};
pub(super) use posed::posed;
