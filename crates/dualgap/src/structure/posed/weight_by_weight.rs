//! Problems with an l1 norm whose losses are smooth functions of linear predictions: they have coordinate descent.

use super::curved::scaled;
use super::penalised::{self, UnderL1, regulariser, trained};
use super::{Posed, Run, Sides, Solver, Start, Trained, other_solver};
use crate::Result;
use crate::dual::{Average, Method, Settings, Witness, Witnessed};
use crate::methods::coordinates;
use crate::methods::newton::CurvedBlocks;
use crate::run::{Reach, Report};
use crate::term::Penalty;

/// Trains by coordinate descent.
pub(super) fn by_coordinates<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    settings: coordinates::Settings,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let (_, regulariser) = regulariser(penalty, blocks)?;
    let (lambda, sample_weights) = (penalty.lambda().unwrap_or(0.0), weights.map(<[f64]>::to_vec));
    let problem = Settings { lambda, regulariser, sample_weights, ..Settings::default() };
    let Run { start, factors, budget, observer, sink, .. } = run;
    let report = if let Start::Weights(raw) = start {
        let w = scaled(blocks, raw, factors)?.into_owned();
        coordinates::train_at(blocks, &problem, &settings, w, budget, observer, sink)?
    } else {
        let begin = penalised::begin(blocks, start)?;
        coordinates::train_from(blocks, &problem, &settings, begin, budget, observer, sink)?
    };
    Ok(trained(blocks, report, factors))
}

/// Whether coordinate descent is likely to be faster than dual ascent: with fewer examples than this many times the weights,
/// a step along a weight touches less than one along an example.
const EXAMPLES_PER_WEIGHT: usize = 1;

/// Returns the settings of coordinate descent if these settings leave the choice to the run and it is likely to be faster.
pub(super) fn preferred<B: CurvedBlocks>(
    blocks: &B,
    settings: &Settings,
) -> Option<coordinates::Settings> {
    let open = settings.handover
        && settings.average == Average::None
        && settings.method == Method::Bcfw
        && settings.regulariser.l1 > 0.0
        && !settings.regulariser.q_norm;
    let wide = blocks.len() <= EXAMPLES_PER_WEIGHT.saturating_mul(blocks.inputs().width());
    (open && wide && blocks.is_curved())
        .then_some(coordinates::Settings { threads: settings.threads })
}

/// Blocks with a smooth loss of linear predictions under `σ‖w‖₁` alone.
pub(super) struct CurvedL1<B>(pub UnderL1<B>);

impl<B: Witnessed + CurvedBlocks> Posed for CurvedL1<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let settings = match &run.solver {
            Solver::Coordinates(settings) => *settings,
            Solver::Dual(settings) if settings.handover => {
                coordinates::Settings { threads: settings.threads }
            }
            Solver::Dual(_) => return self.0.train(run),
            _ => return Err(other_solver()),
        };
        let UnderL1 { blocks, sigma, nonnegative, weights } = &self.0;
        let penalty = Penalty::Lasso { sigma: *sigma, nonnegative: *nonnegative, free: None };
        by_coordinates(blocks, penalty, weights.as_deref(), settings, run)
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        self.0.sides()
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.0.reach(weights, witness)
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        self.0.subgradients(weights)
    }

    fn begins_at_weights(&self, solver: &Solver) -> bool {
        match solver {
            Solver::Coordinates(_) => true,
            Solver::Dual(settings) => settings.handover,
            _ => false,
        }
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }
}
