//! The l1 ball: weights are a plain vector, of which few are not zero.
//!
//! - `table`: the data, by rows and by columns, and the dual value of a certificate.
//! - `ascent`, `visit`, `soft_threshold`: the default method, which has nothing to tune.
//! - `theorem`: Algorithm 1 of the paper, with constant steps.
//! - `baselines`: other methods for the same problems.

mod ascent;
mod baselines;
mod soft_threshold;
mod table;
mod theorem;
mod visit;

pub use table::{DualValue, L1Problem, MeanDual, Table};

use super::handover::Handover;
use super::solver::Session;
use super::{Losses, Method, Settings, Solution, Train};
use crate::Result;
use crate::linalg::memory::Need;
use crate::run::Report;
use ascent::Ascent;
use baselines::Gradients;
use theorem::Theorem;

impl<L: Losses> Train for L1Problem<'_, L> {
    type Weights = Vec<f64>;

    fn train_in(&self, settings: &Settings, session: Session<'_, '_>) -> Result<Report<Solution>> {
        let copies = settings.copies() + if session.sink.is_some() { 3 } else { 0 };
        let others = 4 * self.numbers();
        Need { weights: self.dim(), copies, others }.check()?;
        match settings.method {
            Method::Auto => {
                let ascent = Ascent::<L::Scratch>::new(self, settings.seed);
                let moves = Handover::<_, Gradients<L::Scratch>>::new(ascent);
                session.resume(self, moves)
            }
            Method::Pdbfw => session.resume(self, Theorem::new(self, settings.constants)?),
            _ => baselines::train(self, settings, session),
        }
    }
}
