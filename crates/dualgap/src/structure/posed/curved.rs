//! Problems under a penalty whose losses are smooth functions of linear predictions: besides the solvers of all blocks they
//! have Newton's method, which is compiled for no others.

use super::pace::Pace;
use super::penalised::{Penalised, begin, penalised_or_l1, regulariser, trained, weights_of};
use super::{Posed, Posing, Run, Sides, Solver, Start, Trained};
use crate::dual::{self, Average, Method, Settings, Witness, Witnessed};
use crate::methods::newton::{self, CurvedBlocks};
use crate::run::{CheckpointSink, Observer, Progress, Reach, Report, Stop};
use crate::term::Penalty;
use crate::{Error, Result};

/// Poses a problem as [`penalised_or_l1`] does, for its solvers and, under a ridge, Newton's method.
pub fn curved<'d, B: Witnessed + CurvedBlocks + 'd>(
    blocks: B,
    posing: &Posing<'_>,
) -> Box<dyn Posed + 'd> {
    if let Penalty::Lasso { .. } = posing.penalty {
        return penalised_or_l1(blocks, posing);
    }
    let weights = weights_of(posing);
    Box::new(Curved(Penalised { blocks, penalty: posing.penalty, weights }))
}

struct Curved<B>(Penalised<B>);

impl<B: Witnessed + CurvedBlocks> Posed for Curved<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let Penalised { blocks, penalty, weights } = &self.0;
        match &run.solver {
            Solver::Newton(settings) => {
                let settings = *settings;
                by_newton(blocks, *penalty, weights.as_deref(), settings, run)
            }
            Solver::Dual(settings) => match handover(blocks, settings) {
                Some(pace) => with_handover(blocks, &settings.clone(), &pace, run),
                None => self.0.train(run),
            },
            _ => self.0.train(run),
        }
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        self.0.sides()
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.0.reach(weights, witness)
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }
}

/// Trains by Newton's method.
pub(super) fn by_newton<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    settings: newton::Settings,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    let (threads, sample_weights) = (settings.threads, weights.map(<[f64]>::to_vec));
    let problem = Settings { lambda, regulariser, threads, sample_weights, ..Settings::default() };
    let begin = begin(blocks, run.start)?;
    let (budget, observer, sink) = (run.budget, run.observer, run.sink);
    let report = newton::train_from(blocks, &problem, &settings, begin, budget, observer, sink)?;
    Ok(trained(blocks, report, run.factors))
}

/// Returns what decides between dual ascent and Newton's method, or `None` if dual ascent goes on to the end.
pub(super) fn handover<B: CurvedBlocks>(blocks: &B, settings: &Settings) -> Option<Pace> {
    let plain = settings.regulariser.is_plain()
        && settings.average == Average::None
        && settings.method == Method::Bcfw;
    let possible = settings.handover && plain && blocks.is_curved();
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
    let newton = newton::Settings { threads: settings.threads, ..newton::Settings::default() };
    let (resumed, at_once) = match &start {
        Start::At(checkpoint) => (true, checkpoint.run.handed_over),
        _ => (false, pace.begins_with_newton()),
    };
    let begin = begin(blocks, start)?;
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
        self.slow = before.is_some_and(|before| self.pace.is_slow(&before, progress));
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
