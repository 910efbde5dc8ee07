//! Problems in a ball, and all of the l1 ball and the simplex.

use super::stored::{StoredLosses, points, witness};
use super::{
    AtZero, Posed, Posing, Run, Sides, Solvable, Trained, ball_of, begin, no_reach, refused, trace,
};
use crate::Result;
use crate::ball::{self, BallProblem, BallTable};
use crate::data::Factors;
use crate::dual::Witness;
use crate::dual::problem::PrimalValue;
use crate::linalg::{Measured, Rows};
use crate::run::{Basis, Reach, Report};
use crate::structure::Fitted;
use crate::term::Ball;

impl<'d> Posed<'d> {
    /// Poses the problem of rows and losses in a ball.
    pub fn in_ball<L: StoredLosses + 'd>(
        rows: &'d Rows,
        losses: L,
        posing: &Posing<'_>,
    ) -> Result<Posed<'d>> {
        let (ball, mu) = ball_of(posing.penalty)?;
        match ball {
            Ball::L1 { radius } => {
                let problem = BallProblem::l1(rows, losses, mu, radius, posing.weights)?;
                Ok(Posed::new(OfPlainWeights { problem }))
            }
            Ball::Simplex { radius } => {
                let problem = BallProblem::simplex(rows, losses, mu, radius, posing.weights)?;
                Ok(Posed::new(OfPlainWeights { problem }))
            }
            Ball::Trace { .. } => trace::of_features(rows, losses, posing),
        }
    }
}

impl<L: StoredLosses> Solvable for OfPlainWeights<'_, L> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let (settings, from) = begin(&run.solver, run.start)?;
        let (budget, observer, sink) = (run.budget, run.observer, run.sink);
        let report = ball::train_from(&self.problem, &settings, from, budget, observer, sink)?;
        let witness = witness(self.problem.losses(), &report.model.points);
        Ok(report.map(|solution| Trained {
            weights: self.raw_inside(solution.weights, run.factors),
            low_rank: None,
            witness,
        }))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        Ok(Box::new(self))
    }

    fn reach(&self, _: &[f64], _: &Witness) -> Result<Reach> {
        no_reach()
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        let alpha = self.problem.corners_at(&weights.to_vec())?;
        Ok(Some(witness(self.problem.losses(), &alpha)))
    }

    /// With μ = 0 the gap between zero weights and their subgradients is the radius times the dual norm.
    fn at_zero(&self) -> Result<AtZero> {
        let zeros = vec![0.0; self.problem.numbers()];
        let mut alpha = zeros.clone();
        self.problem.corners(&zeros, &mut alpha);
        let loss = self.problem.mean_loss(&zeros, &zeros).value;
        let dual = self.problem.dual(&alpha)?.value.value;
        Ok(AtZero { loss, slope: ((loss - dual) / self.problem.radius()).max(0.0) })
    }
}

/// A problem in the l1 ball or the simplex.
struct OfPlainWeights<'d, L> {
    problem: BallProblem<BallTable<'d>, L>,
}

impl<L: StoredLosses> OfPlainWeights<'_, L> {
    /// Returns the weights for the unscaled data. Scaling and unscaling round, so it shrinks them until they are in
    /// the ball.
    fn raw_inside(&self, weights: Vec<f64>, factors: &Factors) -> Vec<f64> {
        let mut raw = factors.raw(weights).into_owned();
        let mut margin = 2.0 * f64::EPSILON;
        while !factors.are_none() && !self.problem.contains(&factors.scaled(&raw).into_owned()) {
            if margin > 1.0 {
                raw.fill(0.0); // numbers that are not finite: zero is in every norm ball
                break;
            }
            raw.iter_mut().for_each(|w| *w *= 1.0 - margin);
            margin *= 2.0;
        }
        raw
    }
}

impl<L: StoredLosses> Sides for &OfPlainWeights<'_, L> {
    fn primal(
        &self,
        fitted: Fitted<'_>,
        _: Option<&Witness>,
        factors: &Factors,
    ) -> Result<PrimalValue> {
        let weights = factors.scaled(fitted.weights).into_owned();
        let value = self.problem.primal(&weights)?;
        if value.value == f64::INFINITY && !self.problem.contains(&weights) {
            return Err(refused("the weights are not in the ball that the file names"));
        }
        Ok(PrimalValue { value, certified: true, basis: Basis::Exact })
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.problem.dual(&points(self.problem.losses(), witness)?)?.value)
    }
}
