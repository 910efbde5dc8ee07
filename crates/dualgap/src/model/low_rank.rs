//! Models with weights of low rank: several outputs in the trace ball. The matrix X stays in factors from the run to
//! the file.
//!
//! Such a model has no plain vector of weights. Its scores come from the factors, and its certificate is that of
//! their product, which is proved to be in the ball.

use super::ball::{Stored, points, witness};
use super::fit::{Plan, named};
use super::scaled::recertify;
use super::sides::{Sides, refused};
use super::{InBall, Model, Provenance, Structure, checkpoint};
use crate::ball::trace::{Features, LARGEST, Map, Proving};
use crate::ball::{self, Problem};
use crate::data::Factors;
use crate::dual::Witness;
use crate::dual::problem::PrimalValue;
use crate::linalg::memory::Need;
use crate::linalg::{LowRank, Measured, Rows};
use crate::run::{CheckpointSink, Report};
use crate::term::Regulariser;
use crate::{Error, Result};

/// Trains in the trace ball. The caller has put the ball into `untrained` and refused options that no ball supports.
pub(super) fn fit<M: Map, L: Stored, D>(
    sides: &LowRankSides<M, L>,
    untrained: Model,
    within: InBall,
    factors: &Factors,
    plan: Plan<'_, D>,
) -> Result<Report<Model>> {
    let Plan { settings, budget, observer, watch, checkpoints, resume, .. } = plan;
    if watch.is_some() {
        return Err(Error::setting(
            "runs in the trace ball tell nothing of test data on their way: look at them at the end",
        ));
    }
    let identity = checkpoint::identity(&untrained, settings, budget);
    let (from, mut file) = checkpoint::survival(identity, checkpoints, resume)?;
    let sink = file.as_mut().map(|file| file as &mut dyn CheckpointSink);
    let InBall { method, steps, .. } = within;
    let solver = ball::Settings { method, steps, seed: settings.seed };
    let report = ball::train_from(&sides.problem, &solver, from, budget, observer, sink)?;
    let witness = witness(sides.problem.losses(), &report.model.points);
    let x = sides.raw_inside(&report.model.weights, factors)?;
    let mut report = named(report, untrained, |_| Vec::new());
    report.model.low_rank = Some(x);
    // The run proves its dual values only as tightly as it needs; the stored one must match what `certify` computes.
    recertify(&mut report, &witness, sides, factors, budget)?;
    report.model.witness = Some(witness);
    Ok(report)
}

/// Returns the two sides of the certificate of a model whose file says that it was trained in this ball.
pub(super) fn sides<'a, L: Stored>(
    model: &Model,
    within: InBall,
    rows: &'a Rows,
    losses: L,
) -> Result<LowRankSides<Features<'a>, L>> {
    if losses.outputs() == 1 {
        return Err(Error::setting(
            "one output has weights of rank one whatever they are: take the l1 ball or a penalty",
        ));
    }
    LowRankSides::new(model, within, Features::new(rows, losses.outputs())?, losses)
}

/// The two sides of the certificate of weights in factors, for any map from the matrix to the predictions.
pub(super) struct LowRankSides<M, L> {
    problem: Problem<M, L>,
}

impl<M: Map, L: Stored> LowRankSides<M, L> {
    /// Returns those of a model whose file says that it was trained in this ball.
    pub fn new(model: &Model, within: InBall, map: M, losses: L) -> Result<Self> {
        let Provenance { lambda, regulariser, .. } = model.provenance;
        if regulariser != Regulariser::PLAIN {
            return Err(refused("the file names another regulariser beside a ball"));
        }
        let (radius, weights) = (within.ball.radius(), model.sample_weights.as_deref());
        Ok(Self { problem: Problem::new(map, losses, lambda, radius, weights)? })
    }

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
    use crate::linalg::Operator;
    let u = factors.scaled(x.u()).into_owned();
    LowRank::new(x.rows(), x.columns(), u, x.s().to_vec(), x.v().to_vec())
}

impl<M: Map, L: Stored> Sides for LowRankSides<M, L> {
    fn primal(&self, model: &Model, factors: &Factors) -> Result<PrimalValue> {
        let Some(x) = &model.low_rank else {
            return Err(refused("the file names the trace ball, and has no weights in factors"));
        };
        let x = as_trained(x, factors)?;
        if !self.problem.contains(&x) {
            return Err(refused("the weights are not in the ball that the file names"));
        }
        Ok(PrimalValue { value: self.problem.primal(&x)?, certified: true })
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

impl Model {
    /// Returns the number of weights, of the whole matrix if they are stored as factors.
    pub fn dim(&self) -> usize {
        match self.low_rank {
            Some(_) => self.features.saturating_mul(self.columns()),
            None => self.weights.len(),
        }
    }

    /// Returns the number of columns of weights in factors: one for every label, or for every item.
    fn columns(&self) -> usize {
        match &self.structure {
            Structure::Completion { items, .. } => items.len(),
            _ => self.alphabet.len(),
        }
    }

    /// Expands weights in factors into [`weights`](Self::weights), for callers that need the single entries. Scores
    /// and certificates still use the factors.
    pub fn write_out(&mut self) -> Result<()> {
        let Some(x) = &self.low_rank else { return Ok(()) };
        if self.dim() > LARGEST {
            return Err(Error::setting(
                "the model has more weights than can be written out: use its factors",
            ));
        }
        Need { weights: self.dim(), copies: 1, others: 0 }.check()?;
        self.weights = x.to_dense();
        Ok(())
    }
}
