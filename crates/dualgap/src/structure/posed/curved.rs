//! Problems under a penalty whose losses are smooth functions of linear predictions: besides the solvers of all blocks they
//! have Newton's method and coordinate descent, which are compiled for no others.

use super::at_zero::AtZero;
use super::compressed::{Compressible, on_short_rows, short_rows};
use super::pace::Pace;
use super::penalised::{self, Penalised, UnderL1, regulariser, scaled, trained, weights_of};
use super::weight_by_weight::{CurvedL1, by_coordinates, preferred};
use super::{Posed, Posing, Run, Sides, Solvable, SolverSettings, Start, Trained};
use crate::data::Factors;
use crate::dual::shard::Rounds;
use crate::dual::{
    self, Acceleration, Algorithm, Average, Begin, Cache, Direction, Settings, Witness, Witnessed,
};
use crate::linalg::kernels::add_scores;
use crate::linalg::parallel;
use crate::methods::newton::{self, CurvedBlocks};
use crate::run::{CheckpointSink, Observer, Progress, Reach, Report, Stop};
use crate::term::Penalty;
use crate::{Error, Result};

impl<'d> Posed<'d> {
    /// Poses a problem as [`Posed::penalised_or_l1`] does, for its solvers and, under a ridge, Newton's method.
    pub fn curved<B: Compressible + 'd>(blocks: B, posing: &Posing<'_>) -> Posed<'d> {
        let weights = weights_of(posing);
        if let Penalty::Lasso { sigma, nonnegative, .. } = posing.penalty {
            if !blocks.is_curved() {
                return Self::penalised_or_l1(blocks, posing);
            }
            return Posed::new(CurvedL1(UnderL1 { blocks, sigma, nonnegative, weights }));
        }
        Posed::new(Curved(Penalised { blocks, penalty: posing.penalty, weights }))
    }
}

struct Curved<B>(Penalised<B>);

impl<B: Compressible> Solvable for Curved<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let Penalised { blocks, penalty, weights } = &self.0;
        if let SolverSettings::Dual(settings) = &run.solver
            && let Some(rows) = short_rows(blocks, settings, &run.start)?
        {
            return on_short_rows(blocks, &rows, &settings.clone(), run);
        }
        match &run.solver {
            SolverSettings::Newton(settings) => {
                let settings = *settings;
                by_newton(blocks, *penalty, weights.as_deref(), settings, run)
            }
            SolverSettings::Coordinates(settings) => {
                let settings = *settings;
                by_coordinates(blocks, *penalty, weights.as_deref(), settings, run)
            }
            SolverSettings::Dual(settings)
                if let Some(settings) = preferred(blocks, settings, &run.start) =>
            {
                by_coordinates(blocks, *penalty, weights.as_deref(), settings, run)
            }
            SolverSettings::Dual(settings) => match handover(blocks, settings) {
                Some(pace) => with_handover(blocks, &settings.clone(), &pace, run),
                None => begun(blocks, *penalty, weights.as_deref(), run),
            },
            _ => begun(blocks, *penalty, weights.as_deref(), run),
        }
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        self.0.sides()
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.0.reach(weights, witness)
    }

    fn at_zero(&self) -> Result<AtZero> {
        self.0.at_zero()
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }

    fn shard(&self, settings: &Settings, total: f64) -> Result<Box<dyn Rounds + '_>> {
        self.0.shard(settings, total)
    }
}

/// Trains by Newton's method.
pub(super) fn by_newton<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    settings: newton::NewtonSettings,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    let (threads, sample_weights) = (settings.threads, weights.map(<[f64]>::to_vec));
    let problem = Settings { lambda, regulariser, threads, sample_weights, ..Settings::default() };
    let Run { start, factors, budget, observer, sink, .. } = run;
    let report = if let Start::Weights(raw) = start {
        let w = scaled(blocks, raw, factors)?.into_owned();
        newton::train_at(blocks, &problem, &settings, w, budget, observer, sink)?
    } else {
        let begin = penalised::begin(blocks, start)?;
        newton::train_from(blocks, &problem, &settings, begin, budget, observer, sink)?
    };
    Ok(trained(blocks, report, factors))
}

/// Trains with any of the solvers of all blocks.
pub(super) fn begun<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    mut run: Run<'_>,
) -> Result<Report<Trained>> {
    let begin = begin(blocks, std::mem::replace(&mut run.start, Start::Fresh), run.factors)?;
    penalised::train_begun(blocks, penalty, weights, begin, run)
}

/// Returns where a run of dual ascent begins: at the dual point −∇φ_i(a_i) of given weights, or as that of any blocks.
pub(super) fn begin<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    start: Start<'_>,
    factors: &Factors,
) -> Result<Begin<B::Point>> {
    match start {
        Start::Weights(raw) if blocks.is_curved() => {
            let w = scaled(blocks, raw, factors)?;
            let buffer = || vec![0.0; blocks.outputs()];
            let points = parallel::map(blocks.len(), buffer, |a, i| {
                a.fill(0.0);
                add_scores(blocks.inputs().row(i), &w, a);
                Ok(blocks.touching(i, a))
            })?;
            Ok(Begin::Points(points))
        }
        start => penalised::begin(blocks, start),
    }
}

/// Returns what decides between dual ascent and Newton's method, or `None` if dual ascent goes on to the end.
pub(super) fn handover<B: CurvedBlocks>(blocks: &B, settings: &Settings) -> Option<Pace> {
    let plain = settings.regulariser.is_plain()
        && settings.average == Average::None
        && settings.method == Algorithm::Bcfw
        // Who asks for a cache, a direction or acceleration asks for dual ascent.
        && settings.cache != Cache::On
        && settings.acceleration == Acceleration::Auto
        && matches!(settings.direction, Direction::Auto | Direction::Toward);
    let solves = if blocks.is_curved() { true } else { newton::suits_corners(blocks) };
    let possible = settings.handover && plain && solves;
    possible.then(|| Pace::new(blocks, settings.lambda))
}

/// Trains by dual ascent as long as that seems faster than Newton's method.
pub(super) fn with_handover<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    settings: &Settings,
    pace: &Pace,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let Run { start, factors, budget, observer, mut sink, .. } = run;
    let newton =
        newton::NewtonSettings { threads: settings.threads, ..newton::NewtonSettings::default() };
    let (resumed, at_once) = match &start {
        Start::At(checkpoint) => (true, checkpoint.run.handed_over),
        _ => (false, pace.begins_with_newton()),
    };
    let begin = begin(blocks, start, factors)?;
    if at_once {
        let mut report =
            newton::train_instead(blocks, settings, &newton, begin, budget, observer, sink)?;
        if !resumed {
            report.tactics.insert(0, pace.describe());
        }
        return Ok(trained(blocks, report, factors));
    }
    let kept = sink.as_mut().map(|sink| &mut **sink as &mut dyn CheckpointSink);
    let mut watched = Watched { observer, pace, before: None, slow: false };
    let ascent = dual::train_from(blocks, settings, begin, budget, &mut watched, kept)?;
    if ascent.stop != Stop::Interrupted || !watched.slow || budget.interrupt.raised() {
        return Ok(trained(blocks, ascent, factors));
    }
    let observer = watched.observer;
    let report = newton::train_after(blocks, settings, &newton, ascent, budget, observer, sink)?;
    Ok(trained(blocks, report, factors))
}

/// An observer that ends a run of dual ascent when Newton's method seems faster.
struct Watched<'a> {
    observer: &'a mut dyn Observer,
    pace: &'a Pace,
    /// The certification before the last one.
    before: Option<Progress>,
    slow: bool,
}

impl Observer for Watched<'_> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        let before = self.before.replace(*progress);
        self.slow = self.pace.is_slow(before.as_ref(), progress);
        self.observer.certified(progress, weights)
    }

    fn advanced(&mut self, passes: f64) {
        self.observer.advanced(passes);
    }

    fn hands_over(&mut self) -> bool {
        self.slow
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.observer.checkpoint_failed(error)
    }
}
