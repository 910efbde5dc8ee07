//! Runs of the engine: from the start, from given points or from a checkpoint, by settings or by a link.

use super::engine::State;
use super::proximal_point::{self, InRounds, Momentum};
use super::{
    Acceleration, Algorithm, Average, Blocks, Engine, Joined, Problem, Settings, Solution,
};
use crate::linalg::memory::Need;
use crate::run::{
    Budget, Checkpoint, CheckpointSink, Observer, Report, Resumable, RunState, run, run_from,
};
use crate::term::{ElasticNet, L2, Link, QNorm, Regulariser};
use crate::{Error, Result, Setting};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a run begins.
pub enum Begin<P> {
    /// At the blocks' starting points.
    Fresh,
    /// At these points, one for each block.
    Points(Vec<P>),
    /// At the checkpoint of an earlier run.
    At(Checkpoint),
}

impl<P> Begin<P> {
    /// Returns the same beginning for the joined blocks.
    fn joined(self) -> Begin<Vec<P>> {
        match self {
            Self::Fresh => Begin::Fresh,
            Self::Points(points) => Begin::Points(vec![points]),
            Self::At(checkpoint) => Begin::At(checkpoint),
        }
    }
}

/// Trains under the regulariser that the settings name, from the blocks' starting points.
pub fn train<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    let Settings { regulariser, lambda, .. } = *settings;
    refuse_q_norm(settings)?;
    // As in `train_joined`, so that both certify the same numbers.
    if regulariser.is_plain() && settings.method != Algorithm::Fw {
        return train_fresh(blocks, L2, settings, budget, observer);
    }
    train_fresh(blocks, regulariser.link(lambda)?, settings, budget, observer)
}

/// Trains under the user's own regulariser, given by its link. Returns an error if the settings name another.
pub fn train_with<B: Blocks, L: Link>(
    blocks: &B,
    link: L,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    if settings.regulariser != Regulariser::PLAIN {
        return Err(Error::setting(
            "the regulariser is the link's, and the settings name another: leave one of them out",
        ));
    }
    train_fresh(blocks, link, settings, budget, observer)
}

/// [`train`] from any beginning; checkpoints go to the sink.
pub fn train_from<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    let Settings { regulariser, lambda, .. } = *settings;
    refuse_q_norm(settings)?;
    if settings.method == Algorithm::Fw {
        return train_joined(blocks, settings, begin, budget, observer, sink);
    }
    if regulariser.is_plain() {
        return train_under(blocks, &L2, settings, begin, budget, observer, sink);
    }
    let link = regulariser.link(lambda)?;
    train_under(blocks, &link, settings, begin, budget, observer, sink)
}

/// [`train_from`] under the q-norm, for blocks whose steps use the factor of the weights ([`Blocks::SEES_FACTOR`]);
/// others do not compile. Under the q-norm there is no acceleration and no batch Frank-Wolfe.
pub fn train_q_norm_from<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    const { assert!(B::SEES_FACTOR, "under the q-norm, steps must use the factor of the weights") };
    check(blocks, settings)?;
    if settings.method == Algorithm::Fw {
        return Err(Error::setting("the q-norm goes with steps of one block"));
    }
    check_memory::<B, QNorm>(blocks, settings, sink.is_some())?;
    let weights = settings.sample_weights.as_deref();
    let link = settings.regulariser.q_norm(settings.lambda, blocks.dim())?;
    let problem = Problem::new(blocks, link, settings.lambda, weights)?;
    let (engine, run) = begin_engine(problem, settings, begin)?;
    run_from(engine, run, budget, observer, sink)
}

/// [`train_from`] under a link that spreads ([`Link::SPREAD`]): a kernel. There is no acceleration, whose centre would be one
/// more function, and no batch Frank-Wolfe.
pub fn train_spread_from<B: Blocks, L: Link>(
    blocks: &B,
    link: L,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    if settings.method == Algorithm::Fw {
        return Err(Error::setting("a kernel goes with steps of one block, not of all of them"));
    }
    if settings.acceleration == Acceleration::On {
        return Err(Error::setting("steps under a kernel are not accelerated: leave it out"));
    }
    if settings.regulariser != Regulariser::PLAIN {
        return Err(Error::setting(
            "a kernel has a penalty of its own, λ/2 times its squared norm",
        ));
    }
    check_memory::<B, L>(blocks, settings, sink.is_some())?;
    let weights = settings.sample_weights.as_deref();
    let problem = Problem::new(blocks, link, settings.lambda, weights)?;
    let (engine, run) = begin_engine(problem, settings, begin)?;
    run_from(engine, run, budget, observer, sink)
}

fn refuse_q_norm(settings: &Settings) -> Result<()> {
    if settings.regulariser.q_norm {
        return Err(Error::setting("the q-norm is for linear models of one output"));
    }
    Ok(())
}

/// Returns an error for settings that no run supports.
pub(super) fn check<B: Blocks>(blocks: &B, settings: &Settings) -> Result<()> {
    settings.regulariser.check(blocks.dim())?;
    check_free(settings)
}

/// Returns an error for a free weight with settings that do not move it.
pub(crate) fn check_free(settings: &Settings) -> Result<()> {
    if settings.regulariser.free.is_none() || proximal_point::possible(settings) {
        return Ok(());
    }
    Err(Error::setting(format!(
        "a weight without penalty goes with steps of one block by line search, without averages: take these, or {}=penalised",
        Setting::Intercept
    )))
}

/// Trains from the blocks' starting points without checkpoints, so points need not be serialisable.
fn train_fresh<B: Blocks, L: Link>(
    blocks: &B,
    link: L,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    let weights = settings.sample_weights.as_deref();
    check(blocks, settings)?;
    check_memory::<B, L>(blocks, settings, false)?;
    match settings.method {
        Algorithm::Bcfw => {
            let momentum = momentum(blocks, &link, settings);
            if momentum.is_some() || settings.regulariser.free.is_some() {
                let rounds = InRounds::start(blocks, &link, momentum, settings, None)?;
                return run(rounds, budget, observer);
            }
            let problem = Problem::new(blocks, link, settings.lambda, weights)?;
            run(Engine::new(problem, settings)?, budget, observer)
        }
        Algorithm::Fw => {
            let joined = Joined::new(blocks, weights)?;
            let problem = Problem::new(&joined, link, settings.lambda, None)?;
            let report = run(Engine::new(problem, settings)?, budget, observer)?;
            Ok(report.map(Solution::parted))
        }
    }
}

/// Returns an error if memory has no room for the weights and points of a run. The numbers of copies were measured: v,
/// the best weights and a compensated sum in any run; four more where rounds have a centre; w besides v unless the
/// link is the identity; and for a checkpoint the state, its bytes, and the bytes of the file.
pub(super) fn check_memory<B: Blocks, L: Link>(
    blocks: &B,
    settings: &Settings,
    stored: bool,
) -> Result<()> {
    let rounds = settings.acceleration != Acceleration::Off || settings.regulariser.free.is_some();
    let copies = if rounds && proximal_point::possible(settings) { 11 } else { 7 }
        + if L::IDENTITY && !L::SPREAD { 0 } else { 2 }
        + if stored { 3 } else { 0 };
    // The points, the best of them, and those of an average.
    let points = if settings.average == Average::None { 2 } else { 3 };
    let others = blocks.numbers().saturating_mul(points);
    Need { weights: blocks.dim(), copies, others }.check()
}

/// Returns how to accelerate, or `None` if the settings or the link rule it out.
pub(super) fn momentum<B: Blocks, L: Link>(
    blocks: &B,
    link: &L,
    settings: &Settings,
) -> Option<Momentum> {
    let strengthened = |m: &Momentum| link.strengthened(settings.lambda, m.kappa).is_some();
    // The bound of a promised share of the gap is that of weights and the points that they come from, and those of
    // momentum come from no points.
    let paired = blocks.quality().share().is_some();
    proximal_point::momentum(blocks, settings).filter(|m| !paired && strengthened(m))
}

/// Trains with steps of single blocks under `link`, which belongs to the settings' regulariser.
fn train_under<B: Blocks, L: Link>(
    blocks: &B,
    link: &L,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    let weights = settings.sample_weights.as_deref();
    check(blocks, settings)?;
    check_memory::<B, L>(blocks, settings, sink.is_some())?;
    let momentum = momentum(blocks, link, settings);
    if momentum.is_some() || settings.regulariser.free.is_some() {
        let (rounds, run) = begin_rounds(blocks, link, momentum, settings, begin)?;
        return run_from(rounds, run, budget, observer, sink);
    }
    let problem = Problem::new(blocks, link.clone(), settings.lambda, weights)?;
    let (engine, run) = begin_engine(problem, settings, begin)?;
    run_from(engine, run, budget, observer, sink)
}

/// Trains with steps of all blocks at once. Each of them is a pass over the data, beside which a link that is not the
/// identity costs nothing: one engine serves all regularisers, where there were two.
fn train_joined<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    check(blocks, settings)?;
    check_memory::<B, ElasticNet>(blocks, settings, sink.is_some())?;
    let link = settings.regulariser.link(settings.lambda)?;
    let joined = Joined::new(blocks, settings.sample_weights.as_deref())?;
    let problem = Problem::new(&joined, link, settings.lambda, None)?;
    let (engine, run) = begin_engine(problem, settings, begin.joined())?;
    run_from(engine, run, budget, observer, sink).map(|report| report.map(Solution::parted))
}

fn begin_engine<'a, B: Blocks<Point: DeserializeOwned>, L: Link>(
    problem: Problem<'a, B, L>,
    settings: &Settings,
    begin: Begin<B::Point>,
) -> Result<(Engine<'a, B, L>, RunState)> {
    Ok(match begin {
        Begin::Fresh => (Engine::new(problem, settings)?, RunState::default()),
        Begin::Points(points) => (Engine::at(problem, settings, points)?, RunState::default()),
        Begin::At(checkpoint) => {
            (Engine::resumed(problem, settings, checkpoint.state()?)?, checkpoint.run)
        }
    })
}

fn begin_rounds<'a, B: Blocks<Point: DeserializeOwned>, L: Link>(
    blocks: &'a B,
    link: &L,
    momentum: Option<Momentum>,
    settings: &Settings,
    begin: Begin<B::Point>,
) -> Result<(InRounds<'a, B, L>, RunState)> {
    let new = |points| InRounds::start(blocks, link, momentum, settings, points);
    Ok(match begin {
        Begin::Fresh => (new(None)?, RunState::default()),
        Begin::Points(points) => (new(Some(points))?, RunState::default()),
        Begin::At(checkpoint) => {
            let state = checkpoint.state()?;
            (InRounds::resume(blocks, link, momentum, settings, state)?, checkpoint.run)
        }
    })
}

impl<B: Blocks<Point: Serialize>, L: Link> Resumable for Engine<'_, B, L> {
    type State = State<B::Point>;

    fn state(&self) -> State<B::Point> {
        self.state()
    }
}
