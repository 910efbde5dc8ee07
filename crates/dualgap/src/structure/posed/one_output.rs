//! Problems of one output under a penalty, which know more penalties than others: pure l1, the q-norm, and a free weight.

use super::at_zero::{AtZero, at_zero};
use super::compressed::{on_short_rows, short_rows};
use super::curved::{begin, begun, by_newton, handover, with_handover};
use super::penalised::{
    OfBlocks, checkpoint, corners, reach, regulariser, scaled_corners, trained, weights_of,
};
use super::shard::shard;
use super::weight_by_weight::{by_coordinates, preferred};
use super::{Posed, Posing, Run, Sides, Solvable, SolverSettings, Trained, other_solver};
use crate::Result;
use crate::dual::problem::Masses;
use crate::dual::pure_l1::check_pure_l1;
use crate::dual::shard::Rounds;
use crate::dual::{self, Blocks, InterceptBlocks, Settings, Witness};
use crate::methods::coordinates;
use crate::methods::newton::CurvedBlocks;
use crate::run::{Reach, Report};
use crate::structure::linear::{LinearBlocks, train_pure_l1_from};
use crate::term::{L2, Penalty, PureL1, Regulariser, ScalarLoss, Unpenalised};

impl<'d> Posed<'d> {
    /// Poses a problem of one output, which knows more penalties: pure l1, the q-norm, and a free weight.
    pub fn linear(blocks: LinearBlocks<'d, ScalarLoss>, posing: &Posing<'_>) -> Posed<'d> {
        Posed::new(OfOneOutput { blocks, penalty: posing.penalty, weights: weights_of(posing) })
    }
}

struct OfOneOutput<'d> {
    blocks: LinearBlocks<'d, ScalarLoss>,
    penalty: Penalty,
    weights: Option<Vec<f64>>,
}

impl Solvable for OfOneOutput<'_> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let Self { blocks, penalty, weights } = self;
        let of_its_own = matches!(penalty, Penalty::QNorm { .. } | Penalty::Lasso { .. });
        let settings = match &run.solver {
            SolverSettings::Dual(settings) => settings.clone(),
            SolverSettings::Newton(settings) => {
                return by_newton(blocks, *penalty, weights.as_deref(), *settings, run);
            }
            SolverSettings::Coordinates(settings) => {
                return by_coordinates(blocks, *penalty, weights.as_deref(), *settings, run);
            }
            _ if of_its_own => return Err(other_solver()),
            _ => return begun(blocks, *penalty, weights.as_deref(), run),
        };
        if matches!(penalty, Penalty::Lasso { .. }) && blocks.is_curved() {
            check_pure_l1(Blocks::dim(blocks), &settings)?;
            let own = coordinates::CoordinateSettings { threads: settings.threads };
            return by_coordinates(blocks, *penalty, weights.as_deref(), own, run);
        }
        if !of_its_own {
            if let Some(rows) = short_rows(blocks, &settings, &run.start)? {
                return on_short_rows(blocks, &rows, &settings, run);
            }
            if let Some(own) = preferred(blocks, &settings, &run.start) {
                return by_coordinates(blocks, *penalty, weights.as_deref(), own, run);
            }
            return match handover(blocks, &settings) {
                Some(pace) => with_handover(blocks, &settings, &pace, run),
                None => begun(blocks, *penalty, weights.as_deref(), run),
            };
        }
        let (settings, begin) = (&settings, begin(blocks, run.start, run.factors)?);
        let (budget, observer, sink) = (run.budget, run.observer, run.sink);
        let report = if let Penalty::QNorm { .. } = self.penalty {
            dual::train_q_norm_from(blocks, settings, begin, budget, observer, sink)
        } else {
            let from = checkpoint(begin)?;
            train_pure_l1_from(blocks, settings, from, budget, observer, sink)
        };
        Ok(trained(blocks, report?, run.factors))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        linear_sides(self.penalty, self.weights.as_deref(), &self.blocks)
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        reach(&self.blocks, self.penalty, self.weights.as_deref(), weights, witness)
    }

    /// Balanced if a weight is free, and scaled if the l1 norm is alone.
    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        let blocks = &self.blocks;
        let (_, regulariser) = regulariser(self.penalty, blocks)?;
        if let Penalty::Lasso { .. } = self.penalty {
            return scaled_corners(blocks, regulariser, self.weights.as_ref(), weights).map(Some);
        }
        let points = corners(blocks, weights)?;
        let Some(free) = regulariser.free else { return Ok(Some(Witness::of(blocks, &points))) };
        let masses = Masses::new(blocks.len(), self.weights.as_deref())?;
        let balanced = blocks.balanced(&points, &masses, free.column);
        Ok(balanced.map(|points| Witness::of(blocks, &points)))
    }

    fn begins_at_weights(&self, solver: &SolverSettings) -> bool {
        self.blocks.is_curved()
            && matches!(solver, SolverSettings::Dual(_) | SolverSettings::Coordinates(_))
    }

    fn at_zero(&self) -> Result<AtZero> {
        let (blocks, weights) = (&self.blocks, self.weights.as_deref());
        let (_, regulariser) = regulariser(self.penalty, blocks)?;
        let points = blocks.points_at_zero(&Masses::new(blocks.len(), weights)?, regulariser.free);
        at_zero(blocks, weights, regulariser, &points)
    }

    fn shard(&self, settings: &Settings, total: f64) -> Result<Box<dyn Rounds + '_>> {
        shard(&self.blocks, self.penalty, settings, total)
    }
}

/// Returns the sides of a problem of one output, which knows more penalties.
fn linear_sides<'a>(
    penalty: Penalty,
    weights: Option<&[f64]>,
    blocks: &'a LinearBlocks<'_, ScalarLoss>,
) -> Result<Box<dyn Sides + 'a>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    let Regulariser { l1, nonnegative, free, .. } = regulariser;
    match penalty {
        Penalty::Lasso { .. } => {
            let link = Unpenalised { link: PureL1 { nonnegative }, free };
            OfBlocks::boxed(blocks, link, l1, weights)
        }
        Penalty::QNorm { .. } => {
            let link = regulariser.q_norm(lambda, Blocks::dim(blocks))?;
            OfBlocks::boxed(blocks, link, lambda, weights)
        }
        _ if regulariser.is_plain() => {
            OfBlocks::boxed(blocks, Unpenalised { link: L2, free }, lambda, weights)
        }
        _ => {
            let link = Unpenalised { link: regulariser.link(lambda)?, free };
            OfBlocks::boxed(blocks, link, lambda, weights)
        }
    }
}
