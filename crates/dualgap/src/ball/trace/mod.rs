//! The trace ball: weights of low rank, in factors.
//!
//! - `map`: the linear map from X to the predictions; the linear model is one.
//! - `sampled`: some entries of X, for matrix completion. `matrices`: inner products with given matrices.
//! - `dual`: the dual value of a certificate.
//! - `ascent`, `blocks`: the default method, which has nothing to tune, on all examples at once or in blocks.
//! - `theorem`: Algorithm 2 with constant steps.
//! - `weights`: the factors as weights in the ball.
//! - `baselines`: other methods for the same problems.

mod ascent;
mod baselines;
mod blocks;
mod dual;
mod map;
mod matrices;
mod sampled;
mod theorem;
mod weights;

pub use dual::{LowRankDual, Proving};
pub use map::{Features, Map};
pub use matrices::Matrices;
pub use sampled::Sampled;

use super::handover::Handover;
use super::solver::Session;
use super::{BallMethod, BallProblem, BallSettings, Losses, Solution, Train};
use crate::Result;
use crate::linalg::LowRank;
use crate::run::Report;
use ascent::Ascent;
use blocks::Blocks;
use theorem::Theorem;

impl<M: Map, L: Losses> Train for BallProblem<M, L> {
    type Weights = LowRank;

    fn train_in(
        &self,
        settings: &BallSettings,
        session: Session<'_, '_>,
    ) -> Result<Report<Solution<LowRank>>> {
        match settings.method {
            BallMethod::Auto => match blocks::block_size(self) {
                Some(size) => {
                    let blocks = Blocks::<L::Scratch>::new(self, size, settings.seed)?;
                    session.resume(self, Handover::<_, Ascent>::new(blocks))
                }
                None => session.resume(self, Ascent::new(self)),
            },
            BallMethod::Pdbfw => {
                session.resume(self, Theorem::<L::Scratch>::new(self, settings.constants)?)
            }
            _ => baselines::train(self, settings, session),
        }
    }
}
