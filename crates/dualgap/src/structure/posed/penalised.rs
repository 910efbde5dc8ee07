//! Problems under a penalty: blocks of the engine.

use super::at_zero::{AtZero, at_zero};
use super::shard::shard;
use super::{
    Posed, Posing, Run, Sides, Solvable, SolverSettings, Start, Trained, other_solver, refused,
};
use crate::data::Factors;
use crate::dual::problem::PrimalValue;
use crate::dual::pure_l1::L1Certificate;
use crate::dual::shard::Rounds;
use crate::dual::{
    self, Begin, Blocks, Problem, Quality, Settings, Solution, Witness, Witnessed,
    train_around_centre,
};
use crate::linalg::{Measured, parallel};
use crate::methods::{cutting_plane, subgradient};
use crate::run::{Checkpoint, Reach, Report};
use crate::structure::Fitted;
use crate::term::{L2, Link, Penalty, PureL1, Regulariser};
use crate::{Error, Result};
use std::borrow::Cow;

impl<'d> Posed<'d> {
    /// Poses a problem under a ridge.
    pub fn penalised<B: Witnessed + 'd>(blocks: B, posing: &Posing<'_>) -> Posed<'d> {
        Posed::new(Penalised { blocks, penalty: posing.penalty, weights: weights_of(posing) })
    }

    /// Poses a problem under a ridge, or under the l1 norm alone.
    pub fn penalised_or_l1<B: Witnessed + 'd>(blocks: B, posing: &Posing<'_>) -> Posed<'d> {
        match posing.penalty {
            Penalty::Lasso { sigma, nonnegative, .. } => {
                Posed::new(UnderL1 { blocks, sigma, nonnegative, weights: weights_of(posing) })
            }
            _ => Self::penalised(blocks, posing),
        }
    }
}

pub(super) fn weights_of(posing: &Posing<'_>) -> Option<Vec<f64>> {
    posing.weights.map(<[f64]>::to_vec)
}

pub(super) struct Penalised<B> {
    pub(super) blocks: B,
    pub(super) penalty: Penalty,
    pub(super) weights: Option<Vec<f64>>,
}

/// Blocks under `σ‖w‖₁` alone.
pub(super) struct UnderL1<B> {
    pub(super) blocks: B,
    pub(super) sigma: f64,
    pub(super) nonnegative: bool,
    pub(super) weights: Option<Vec<f64>>,
}

impl<B: Witnessed> Solvable for Penalised<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        train(&self.blocks, self.penalty, self.weights.as_deref(), run)
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        sides(self.penalty, self.weights.as_deref(), &self.blocks)
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        reach(&self.blocks, self.penalty, self.weights.as_deref(), weights, witness)
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        let points = corners(&self.blocks, weights)?;
        Ok(Some(Witness::of(&self.blocks, &points)))
    }

    fn at_zero(&self) -> Result<AtZero> {
        let (_, regulariser) = regulariser(self.penalty, &self.blocks)?;
        let points = corners(&self.blocks, &vec![0.0; self.blocks.dim()])?;
        at_zero(&self.blocks, self.weights.as_deref(), regulariser, &points)
    }

    fn is_recertified(&self) -> bool {
        B::REBUILT
    }

    fn shard(&self, settings: &Settings, total: f64) -> Result<Box<dyn Rounds + '_>> {
        shard(&self.blocks, self.penalty, settings, total)
    }
}

impl<B: Witnessed> Solvable for UnderL1<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let SolverSettings::Dual(settings) = &run.solver else { return Err(other_solver()) };
        let (blocks, from) = (&self.blocks, checkpoint(begin(&self.blocks, run.start)?)?);
        let squares = (0..blocks.len()).map(|i| blocks.importance(i).powi(2)).fold(0.0, f64::max);
        let (budget, observer, sink) = (run.budget, run.observer, run.sink);
        let report = train_around_centre(blocks, squares, settings, from, budget, observer, sink)?;
        Ok(trained(blocks, report, run.factors))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        let link = PureL1 { nonnegative: self.nonnegative };
        OfBlocks::boxed(&self.blocks, link, self.sigma, self.weights.as_deref())
    }

    fn reach(&self, _: &[f64], _: &Witness) -> Result<Reach> {
        Err(Error::setting("a pure l1 penalty has no lambda"))
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        let (l1, nonnegative) = (self.sigma, self.nonnegative);
        let regulariser = Regulariser { l1, nonnegative, ..Regulariser::PLAIN };
        scaled_corners(&self.blocks, regulariser, self.weights.as_ref(), weights).map(Some)
    }

    fn at_zero(&self) -> Result<AtZero> {
        let regulariser = Regulariser { nonnegative: self.nonnegative, ..Regulariser::PLAIN };
        let points = corners(&self.blocks, &vec![0.0; self.blocks.dim()])?;
        at_zero(&self.blocks, self.weights.as_deref(), regulariser, &points)
    }

    fn is_recertified(&self) -> bool {
        B::REBUILT
    }
}

/// Returns the point of every block that is its corner with the largest loss at w.
pub(super) fn corners<B: Witnessed>(blocks: &B, w: &[f64]) -> Result<Vec<B::Point>> {
    let buffers = || (blocks.scratch(), B::Corner::default());
    parallel::map(blocks.len(), buffers, |(scratch, corner), i| {
        blocks.best_corner(i, w, corner, scratch)?;
        let mut point = blocks.start(i);
        blocks.mix(i, 1.0, &mut point, corner);
        Ok(point)
    })
}

/// Returns the corners at w, scaled until the dual of the l1 norm alone allows them.
pub(super) fn scaled_corners<B: Witnessed>(
    blocks: &B,
    regulariser: Regulariser,
    weights: Option<&Vec<f64>>,
    w: &[f64],
) -> Result<Witness> {
    let settings =
        Settings { regulariser, sample_weights: weights.cloned(), ..Settings::default() };
    let certificate = L1Certificate::new(blocks, &settings)?;
    let mut best = certificate.start()?;
    certificate.certify(w.to_vec(), &corners(blocks, w)?, &mut best)?;
    Ok(Witness::of(blocks, best.points().unwrap_or_default()))
}

/// Trains under a ridge, with any of the solvers for penalties.
pub(super) fn train<B: Witnessed>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    mut run: Run<'_>,
) -> Result<Report<Trained>> {
    let begin = begin(blocks, std::mem::replace(&mut run.start, Start::Fresh))?;
    train_begun(blocks, penalty, weights, begin, run)
}

/// [`train`] from this beginning, whatever the run's start is.
pub(super) fn train_begun<B: Witnessed>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    begin: Begin<B::Point>,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    let (budget, observer, sink) = (run.budget, run.observer, run.sink);
    let report = match &run.solver {
        SolverSettings::Dual(settings) => {
            dual::train_from(blocks, settings, begin, budget, observer, sink)?
        }
        SolverSettings::Subgradient(settings) => subgradient::train_from(
            blocks,
            lambda,
            regulariser,
            weights,
            settings,
            begin,
            budget,
            observer,
            sink,
        )?,
        SolverSettings::CuttingPlane(settings) => cutting_plane::train_from(
            blocks,
            lambda,
            regulariser,
            weights,
            settings,
            begin,
            budget,
            observer,
            sink,
        )?,
        SolverSettings::Newton(_) => {
            return Err(Error::setting(
                "Newton's method is for losses of linear predictions: take dual ascent",
            ));
        }
        SolverSettings::Coordinates(_) => {
            return Err(Error::setting(
                "coordinate descent is for smooth losses of linear predictions under an l1 norm: take dual ascent",
            ));
        }
        SolverSettings::ExponentiatedGradient(_) => {
            return Err(Error::setting(
                "exponentiated gradient is for classes and chains under the structural hinge with margin rescaling: take \
                 block-coordinate Frank-Wolfe",
            ));
        }
        SolverSettings::Ball(_) => return Err(other_solver()),
    };
    Ok(trained(blocks, report, run.factors))
}

/// Returns where a run begins. Its points are those of the entries where they fit; the engine proves them feasible,
/// like any others.
pub(in crate::structure) fn begin<B: Witnessed>(
    blocks: &B,
    start: Start<'_>,
) -> Result<Begin<B::Point>> {
    let (of, outputs) = match start {
        Start::Fresh => return Ok(Begin::Fresh),
        Start::At(checkpoint) => return Ok(Begin::At(checkpoint)),
        Start::Entries { of, outputs } => (of, outputs),
        Start::Weights(_) => {
            return Err(Error::setting(
                "only runs with a smooth loss of linear predictions begin at weights: give a dual point, or begin anew",
            ));
        }
    };
    let mut of = of.into_iter();
    let points = (0..blocks.len()).map(|i| {
        let entries = of.next().flatten();
        match entries.map(|entries| blocks.point(i, entries, outputs)) {
            Some(Ok(point)) => Ok(point),
            Some(Err(error)) if !B::REBUILT => Err(error),
            // An output of another example is no reason to stop.
            _ => Ok(blocks.start(i)),
        }
    });
    Ok(Begin::Points(points.collect::<Result<_>>()?))
}

/// Returns given weights for the scaled data, or an error if they are not as many as the problem has.
pub(super) fn scaled<'w, B: Blocks>(
    blocks: &B,
    raw: &'w [f64],
    factors: &Factors,
) -> Result<Cow<'w, [f64]>> {
    let (have, need) = (raw.len(), factors.raw_len(blocks.dim()));
    if have != need || raw.iter().any(|w| !w.is_finite()) {
        return Err(Error::setting(format!(
            "a run begins at {need} finite weights, and it was given {have}: take those of the same data"
        )));
    }
    Ok(factors.scaled(raw))
}

/// Returns the checkpoint that a pure l1 run begins with, if it does not begin anew.
pub(super) fn checkpoint<P>(begin: Begin<P>) -> Result<Option<Checkpoint>> {
    match begin {
        Begin::Fresh => Ok(None),
        Begin::At(checkpoint) => Ok(Some(checkpoint)),
        Begin::Points(_) => Err(Error::setting(
            "without lambda a run cannot begin with the dual point of another model",
        )),
    }
}

pub(in crate::structure) fn trained<B: Witnessed>(
    blocks: &B,
    report: Report<Solution<B::Point>>,
    factors: &Factors,
) -> Report<Trained> {
    let witness = Witness::of(blocks, &report.model.points);
    report.map(|solution| Trained {
        weights: factors.raw(solution.weights).into_owned(),
        low_rank: None,
        witness,
    })
}

pub(super) fn reach<B: Witnessed>(
    blocks: &B,
    penalty: Penalty,
    masses: Option<&[f64]>,
    weights: &[f64],
    witness: &Witness,
) -> Result<Reach> {
    let (_, regulariser) = regulariser(penalty, blocks)?;
    dual::reach(blocks, regulariser, masses, weights, &witness.points(blocks)?)
}

pub(super) struct OfBlocks<'a, B, L> {
    blocks: &'a B,
    problem: Problem<'a, B, L>,
}

impl<'a, B: Witnessed, L: Link + 'a> OfBlocks<'a, B, L> {
    pub(super) fn boxed(
        blocks: &'a B,
        link: L,
        lambda: f64,
        weights: Option<&[f64]>,
    ) -> Result<Box<dyn Sides + 'a>> {
        Ok(Box::new(Self { blocks, problem: Problem::new(blocks, link, lambda, weights)? }))
    }
}

impl<B: Witnessed, L: Link> Sides for OfBlocks<'_, B, L> {
    fn primal(
        &self,
        fitted: Fitted<'_>,
        witness: Option<&Witness>,
        factors: &Factors,
    ) -> Result<PrimalValue> {
        let w = factors.scaled(fitted.weights);
        // The searches of blocks with coordinates of their own claim nothing that a point could refute.
        let open = B::REBUILT || self.blocks.quality() != Quality::Exact;
        match witness.filter(|_| open) {
            Some(witness) => self.problem.primal_at(&w, &witness.points(self.blocks)?),
            None => self.problem.primal(&w),
        }
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.problem.dual(&witness.points(self.blocks)?)?.value)
    }
}

/// Returns the λ and the other terms of a penalty, or an error if a file names what there is not.
pub(super) fn regulariser<B: Witnessed>(
    penalty: Penalty,
    blocks: &B,
) -> Result<(f64, Regulariser)> {
    let Some((lambda, regulariser)) = penalty.regulariser() else {
        return Err(refused("the file names a ball for a problem under a penalty"));
    };
    regulariser.check(blocks.dim())?;
    Ok((lambda, regulariser))
}

/// Returns the sides of a problem under a ridge.
fn sides<'a, B: Witnessed>(
    penalty: Penalty,
    weights: Option<&[f64]>,
    blocks: &'a B,
) -> Result<Box<dyn Sides + 'a>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    if regulariser.is_plain() {
        OfBlocks::boxed(blocks, L2, lambda, weights)
    } else {
        OfBlocks::boxed(blocks, regulariser.link(lambda)?, lambda, weights)
    }
}
