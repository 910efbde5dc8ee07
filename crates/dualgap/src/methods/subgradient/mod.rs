//! Subgradient steps on the primal, with the step sizes of Pegasos: the baselines SSG, SSG-avg, SSG-wavg and SSG-tavg of
//! the BCFW paper, and the batch method.
//!
//! ```text
//! P(w) = Σ mass_i max_y [L_i(y) − ⟨w, ψ_i(y)⟩] + λ/2‖w‖²          and other losses of linear predictions
//!
//! for k = 0, 1, 2, …
//!     pick a block i,  y* = its best corner at w,  ψ = n·mass_i ψ_i(y*)      stochastic
//!     or take all,     ψ = Σ mass_i ψ_i(y_i*)                                batch
//!     w ← (1 − 1/(k+1)) w + ψ/(λ(k+1))
//! ```
//!
//! For a loss of a linear prediction a = ⟨w, x_i⟩ the corner is −φ_i'(a), and ψ_i = −φ_i'(a) x_i.
//!
//! Every step rescales all of w, and no step touches all of it: w = u/k, u is a plain sum of the ψ/λ, and blocks search at
//! the quotient ([`Blocks::corner_at_quotient`](crate::dual::Blocks::corner_at_quotient)). Blocks that cannot, such as those
//! of a user's oracle, get w written out.
//!
//! The method has no dual variables, and two dual points certify it, of which the better one counts: the mean of the
//! corners that all visits of each block have found, which at the end of a pass is the dual point of w itself (w = Aα)
//! unless blocks are drawn independently; and a *shadow*, which steps by line searches toward the mean of the corners
//! since the last certification, and toward the corners that the certification finds. The primal side is the best of all
//! certified iterates and their averages.
//!
//! - `settings`: the settings of a run; which averages there are. `average`: the averages, kept lazily.
//! - `corners`: what is generic in the blocks: corners, dual points, the certificate.
//! - `solver`: the steps, as a [`crate::run::Solver`].
//! - `train`: runs, from the start, from given points or from a checkpoint.

mod average;
mod corners;
mod settings;
mod solver;
mod train;

pub use settings::{SubgradientAverage, SubgradientMethod, SubgradientSettings};
pub use solver::Subgradient;
pub(crate) use train::check_penalty;
pub use train::{train, train_from};
