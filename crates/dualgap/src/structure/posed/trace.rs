//! Problems in the trace ball.

use super::stored::{StoredLosses, points, witness};
use super::{
    AtZero, Posed, Posing, Run, Sides, Solvable, Trained, ball_of, begin, no_reach, refused,
};
use crate::Result;
use crate::ball::trace::{Features, Map, Proving};
use crate::ball::{self, BallProblem};
use crate::data::Factors;
use crate::dual::Witness;
use crate::dual::problem::PrimalValue;
use crate::linalg::{LowRank, Measured, Rows};
use crate::run::{Basis, Reach, Report};
use crate::structure::Fitted;

/// Poses the problem of rows and losses in the trace ball.
pub(super) fn of_features<'d, L: StoredLosses + 'd>(
    rows: &'d Rows,
    losses: L,
    posing: &Posing<'_>,
) -> Result<Posed<'d>> {
    let features = Features::new(rows, losses.outputs())?;
    Posed::mapped(features, losses, posing)
}

impl<'d> Posed<'d> {
    /// Poses the problem of a matrix in the trace ball whose predictions are any linear map of it.
    pub fn mapped<M: Map + 'd, L: StoredLosses + 'd>(
        map: M,
        losses: L,
        posing: &Posing<'_>,
    ) -> Result<Posed<'d>> {
        let (ball, mu) = ball_of(posing.penalty)?;
        let problem = BallProblem::new(map, losses, mu, ball.radius(), posing.weights)?;
        Ok(Posed::new(InTraceBall { problem }))
    }
}

/// A problem in the trace ball.
struct InTraceBall<M, L> {
    problem: BallProblem<M, L>,
}

impl<M: Map, L: StoredLosses> Solvable for InTraceBall<M, L> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let (settings, from) = begin(&run.solver, run.start)?;
        let (budget, observer, sink) = (run.budget, run.observer, run.sink);
        let report = ball::train_from(&self.problem, &settings, from, budget, observer, sink)?;
        let witness = witness(self.problem.losses(), &report.model.points);
        let low_rank = Some(self.raw_inside(&report.model.weights, run.factors)?);
        Ok(report.map(|_| Trained { weights: Vec::new(), low_rank, witness }))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        Ok(Box::new(self))
    }

    fn reach(&self, _: &[f64], _: &Witness) -> Result<Reach> {
        no_reach()
    }

    /// With μ = 0 the gap between zero weights and their subgradients is the radius times the dual norm.
    fn at_zero(&self) -> Result<AtZero> {
        let zeros = vec![0.0; self.problem.numbers()];
        let mut alpha = zeros.clone();
        self.problem.corners(&zeros, &mut alpha);
        let loss = self.problem.mean_loss(&zeros, &zeros).value;
        let dual = self.problem.dual(&alpha, &Proving::default())?.value.value;
        Ok(AtZero { loss, slope: ((loss - dual) / self.problem.radius()).max(0.0) })
    }

    /// The run proves its dual values only as tightly as it needs; the stored one must match what verification computes.
    fn is_recertified(&self) -> bool {
        true
    }
}

impl<M: Map, L: StoredLosses> InTraceBall<M, L> {
    /// Returns the weights for the unscaled data. Scaling and unscaling round, so it shrinks them until they are in
    /// the ball.
    fn raw_inside(&self, x: &LowRank, factors: &Factors) -> Result<LowRank> {
        if factors.are_none() {
            return Ok(x.clone());
        }
        let (rows, columns) = self.problem.map().shape();
        let u = factors.raw(x.u()).into_owned();
        let mut raw = LowRank::new(rows, columns, u, x.s().to_vec(), x.v().to_vec())?;
        let mut margin = 2.0 * f64::EPSILON;
        while !self.problem.contains(&as_trained(&raw, factors)?) {
            if margin > 1.0 {
                return Ok(LowRank::zero(rows, columns)); // which is in every ball
            }
            raw = raw.scaled(1.0 - margin);
            margin *= 2.0;
        }
        Ok(raw)
    }
}

/// Returns the weights for the scaled data, as the run had them.
fn as_trained(x: &LowRank, factors: &Factors) -> Result<LowRank> {
    let u = factors.scaled(x.u()).into_owned();
    LowRank::new(x.rows(), x.columns(), u, x.s().to_vec(), x.v().to_vec())
}

impl<M: Map, L: StoredLosses> Sides for &InTraceBall<M, L> {
    fn primal(
        &self,
        fitted: Fitted<'_>,
        _: Option<&Witness>,
        factors: &Factors,
    ) -> Result<PrimalValue> {
        let Some(x) = fitted.low_rank else {
            return Err(refused("the file names the trace ball, and has no weights in factors"));
        };
        let x = as_trained(x, factors)?;
        if !self.problem.contains(&x) {
            return Err(refused("the weights are not in the ball that the file names"));
        }
        let value = self.problem.primal(&x)?;
        Ok(PrimalValue { value, certified: true, basis: Basis::Exact })
    }

    /// The search for singular values may end elsewhere on another machine, so its tolerance counts as an error.
    fn dual(&self, witness: &Witness) -> Result<Measured> {
        let alpha = points(self.problem.losses(), witness)?;
        let proving = Proving::default();
        let found = self.problem.dual(&alpha, &proving)?;
        let top = found.ball.as_ref().and_then(|ball| ball.top.found.s().first().copied());
        let searched = 4.0 * proving.tolerance * self.problem.radius() * top.unwrap_or(0.0);
        Ok(Measured { error: found.value.error + searched, ..found.value })
    }
}
