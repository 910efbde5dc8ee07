//! Problems with an l1 norm whose losses are smooth functions of linear predictions: they have coordinate descent.

use super::penalised::{self, UnderL1, regulariser, scaled, trained};
use super::{Run, Sides, Solvable, SolverSettings, Start, Trained, other_solver};
use crate::Result;
use crate::dual::problem::Masses;
use crate::dual::pure_l1::check_pure_l1;
use crate::dual::{Acceleration, Algorithm, Average, Settings, Witness, Witnessed};
use crate::methods::coordinates;
use crate::methods::newton::CurvedBlocks;
use crate::run::{Reach, Report};
use crate::term::Penalty;

/// Trains by coordinate descent.
pub(super) fn by_coordinates<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    settings: coordinates::CoordinateSettings,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let (_, regulariser) = regulariser(penalty, blocks)?;
    let (lambda, sample_weights) = (penalty.lambda().unwrap_or(0.0), weights.map(<[f64]>::to_vec));
    let problem = Settings { lambda, regulariser, sample_weights, ..Settings::default() };
    let Run { start, factors, budget, observer, sink, .. } = run;
    let report = if let Start::Weights(raw) = start {
        let w = scaled(blocks, raw, factors)?.into_owned();
        coordinates::train_at(blocks, &problem, settings, w, budget, observer, sink)?
    } else {
        let begin = penalised::begin(blocks, start)?;
        coordinates::train_from(blocks, &problem, settings, begin, budget, observer, sink)?
    };
    Ok(trained(blocks, report, factors))
}

/// With more weights than this for every example that are drawn away from zero at first, the ridge and not the l1 norm holds
/// the optimum, and steps along weights are slow, ...
const DRAWN: usize = 4;

/// ... and dual ascent is not, if a digit takes it no more passes than about this many, R²/(γλn).
///
/// Milliseconds to a relative gap of 1e-5 on one thread of a busy machine, squared loss, where 9 to 17 times as many weights are drawn
/// as there are examples:
///
/// | generated rows               | σ        | λ    | R²/(γλn) | along weights | dual ascent |
/// | ---------------------------- | -------- | ---- | -------: | ------------: | ----------: |
/// | 1,000 by 20,000, 40 entries  | 0.01max  | 0.1σ |      660 |            62 |         340 |
/// |                              |          | σ    |       66 |            42 |         189 |
/// |                              |          | 10σ  |      6.6 |            39 |          48 |
/// |                              |          | 100σ |     0.66 |            25 |           7 |
/// |                              | 0.001max | 10σ  |       66 |           181 |         153 |
/// |                              |          | 100σ |      6.6 |            51 |          46 |
/// | the same with frequent words | 0.01max  | σ    |       13 |            41 |          73 |
/// |                              |          | 10σ  |      1.3 |            33 |          18 |
/// |                              | 0.001max | σ    |      131 |           245 |         321 |
/// |                              |          | 10σ  |       13 |           193 |          89 |
const PASSES: f64 = 10.0;

/// Returns the settings of coordinate descent if these settings leave the choice to the run, and it is likely to be faster
/// than dual ascent. On generated and on public data of 13 to 10,000 columns it is, for one output, but where λ is so large
/// for σ that the optimum has several times as many weights as there are examples. With several outputs dual ascent moves all
/// of an example's at once, and is faster.
pub(super) fn preferred<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    settings: &Settings,
    start: &Start<'_>,
) -> Option<coordinates::CoordinateSettings> {
    let Settings { lambda, regulariser, threads, .. } = *settings;
    let open = settings.handover
        && settings.average == Average::None
        && settings.method == Algorithm::Bcfw
        && settings.acceleration != Acceleration::On
        && regulariser.l1 > 0.0
        && !regulariser.q_norm;
    if !(open && blocks.is_curved() && blocks.outputs() == 1) {
        return None;
    }
    // Runs of dual ascent that are stored go on by dual ascent.
    if let Start::At(checkpoint) = start {
        let own =
            checkpoint.state::<coordinates::State<B::Point>>().is_ok_and(|state| state.is_own());
        return own.then_some(coordinates::CoordinateSettings { threads });
    }
    let rows = blocks.inputs();
    // Columns are a copy of the data, and those of a mapped file may be more than the memory holds.
    if rows.are_mapped() && !coordinates::matrix_pays(blocks) {
        return None;
    }
    if rows.width() > DRAWN.saturating_mul(blocks.len()) {
        let masses = Masses::new(blocks.len(), settings.sample_weights.as_deref()).ok()?;
        let (mut slopes, mut squares) = (vec![0.0; rows.width()], 0.0);
        for (i, mass) in masses.iter().enumerate() {
            let (mut slope, mut curve) = ([0.0], [0.0]);
            blocks.second_order(i, &[0.0], &mut slope, &mut curve);
            squares += mass * rows.row(i).squared_norm();
            rows.row(i).for_each(|j, x| slopes[j] += mass * slope[0] * x);
        }
        let drawn = slopes.iter().filter(|z| z.abs() > regulariser.l1).count();
        let passes = squares / (blocks.smoothness() * lambda * blocks.len() as f64);
        if drawn > DRAWN.saturating_mul(blocks.len()) && passes <= PASSES {
            return None;
        }
    }
    Some(coordinates::CoordinateSettings { threads })
}

/// Blocks with a smooth loss of linear predictions under `σ‖w‖₁` alone.
pub(super) struct CurvedL1<B>(pub UnderL1<B>);

impl<B: Witnessed + CurvedBlocks> Solvable for CurvedL1<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let settings = match &run.solver {
            SolverSettings::Coordinates(settings) => *settings,
            SolverSettings::Dual(settings) if settings.handover => {
                check_pure_l1(self.0.blocks.dim(), settings)?;
                coordinates::CoordinateSettings { threads: settings.threads }
            }
            SolverSettings::Dual(_) => return self.0.train(run),
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

    fn begins_at_weights(&self, solver: &SolverSettings) -> bool {
        match solver {
            SolverSettings::Coordinates(_) => true,
            SolverSettings::Dual(settings) => settings.handover,
            _ => false,
        }
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }
}
