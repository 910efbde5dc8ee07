//! The l1 ball and the simplex: weights are a plain vector, of which few are not zero.
//!
//! - `sets`: the l1 ball and the simplex, by their corners. `atoms`: the convex hull of given atoms.
//! - `table`: the data, by rows and by columns, and the dual value of a certificate.
//! - `ascent`, `visit`, `soft_threshold`: the default method, which has nothing to tune.
//! - `theorem`: Algorithm 1 of the paper, with constant steps.
//! - `baselines`: other methods for the same problems.

mod ascent;
mod atoms;
mod baselines;
mod sets;
mod soft_threshold;
mod table;
mod theorem;
mod visit;

pub use atoms::Atoms;
pub use table::{BallDual, BallTable, L1Problem, MeanDual};

use super::handover::{Handover, TakesOver};
use super::solver::Session;
use super::{BallMethod, BallSettings, Losses, Solution, Train};
use crate::Result;
use crate::linalg::memory::Need;
use crate::run::Report;
use ascent::Ascent;
use baselines::Gradients;
use sets::Corners;
use theorem::Theorem;

impl<L: Losses> Train for L1Problem<'_, L> {
    type Weights = Vec<f64>;

    fn train_in(
        &self,
        settings: &BallSettings,
        session: Session<'_, '_>,
    ) -> Result<Report<Solution>> {
        let copies = settings.copies() + if session.sink.is_some() { 3 } else { 0 };
        let others = 4 * self.numbers();
        Need { weights: self.dim(), copies, others }.check()?;
        match settings.method {
            // The ascent knows the l1 ball and μ/2‖X‖² alone; accelerated gradients know all sets and terms.
            BallMethod::Auto
                if self.map().corners() != Corners::Signed || self.term().is_some() =>
            {
                session.resume(self, Gradients::<L::Scratch>::begin(self, None)?)
            }
            BallMethod::Auto => {
                let ascent = Ascent::<L::Scratch>::new(self, settings.seed);
                let moves = Handover::<_, Gradients<L::Scratch>>::new(ascent);
                session.resume(self, moves)
            }
            BallMethod::Pdbfw => session.resume(self, Theorem::new(self, settings.constants)?),
            _ => baselines::train(self, settings, session),
        }
    }
}
