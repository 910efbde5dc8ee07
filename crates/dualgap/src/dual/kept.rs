//! Runs of the engine: from the start or elsewhere, by settings or by a link, and kept from being lost.

use super::engine::State;
use super::rounds::{self, Momentum, Rounds, RoundsState};
use super::{Acceleration, Average, Blocks, Engine, Joined, Method, Problem, Settings, Solution};
use crate::linalg::memory::Need;
use crate::run::{Budget, Keeper, Observer, Report, RunState, Solver, run, run_from};
use crate::term::{L2, Link};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a run begins.
pub enum Begin<P> {
    /// Where the blocks begin by themselves.
    Fresh,
    /// At these points, one of every block.
    Points(Vec<P>),
    /// Where an earlier run stood: the loop's memory, and the engine's as it was put into the [`Vault`].
    Kept(RunState, Vec<u8>),
}

impl<P> Begin<P> {
    /// For the blocks as one.
    fn joined(self) -> Begin<Vec<P>> {
        match self {
            Self::Fresh => Begin::Fresh,
            Self::Points(points) => Begin::Points(vec![points]),
            Self::Kept(run, engine) => Begin::Kept(run, engine),
        }
    }
}

/// Where a run's memory is put away.
pub trait Vault {
    /// After how many oracle calls it is due again, if a pass has so many.
    fn interval(&self, calls_per_pass: u64) -> u64;

    /// Puts away the loop's memory and the engine's.
    fn store(&mut self, run: &RunState, engine: Vec<u8>) -> Result<()>;
}

/// Trains: the engine in the one training loop.
pub fn train<B: Blocks, L: Link>(
    blocks: &B,
    link: L,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    let weights = settings.sample_weights.as_deref();
    if settings.regulariser.free.is_some() || settings.regulariser.q_norm {
        return Err(Error::setting(
            "here the regulariser is the link's; dual::train_regularised goes by the settings",
        ));
    }
    check_memory::<B, L>(blocks, settings, false)?;
    match settings.method {
        Method::Bcfw => {
            let momentum = momentum(blocks, &link, settings);
            if momentum.is_some() {
                let rounds = Rounds::new(blocks, &link, momentum, settings, None)?;
                return run(rounds, budget, observer);
            }
            let problem = Problem::new(blocks, link, settings.lambda, weights)?;
            run(Engine::new(problem, settings)?, budget, observer)
        }
        Method::Fw => {
            let joined = Joined::new(blocks, weights)?;
            let problem = Problem::new(&joined, link, settings.lambda, None)?;
            let report = run(Engine::new(problem, settings)?, budget, observer)?;
            Ok(report.map(Solution::parted))
        }
    }
}

/// Refuses a run whose weights and points have no room. The copies were measured: v, the best weights and a
/// compensated sum in any run; twice as many where rounds have a centre; w beside v unless the link is the identity;
/// and for a checkpoint the state, its bytes, and the bytes of the file.
fn check_memory<B: Blocks, L: Link>(blocks: &B, settings: &Settings, kept: bool) -> Result<()> {
    let rounds = settings.acceleration != Acceleration::Off || settings.regulariser.free.is_some();
    let copies = if rounds && rounds::possible(settings) { 11 } else { 7 }
        + if L::IDENTITY { 0 } else { 2 }
        + if kept { 3 } else { 0 };
    // The points, the best of them, and those of an average.
    let points = if settings.average == Average::None { 2 } else { 3 };
    let others = blocks.numbers().saturating_mul(points);
    Need { weights: blocks.dim(), copies, others }.check()
}

/// Acceleration, if the link allows it.
fn momentum<B: Blocks, L: Link>(blocks: &B, link: &L, settings: &Settings) -> Option<Momentum> {
    let strengthened = |m: &Momentum| link.strengthened(settings.lambda, m.kappa).is_some();
    rounds::momentum(blocks, settings).filter(strengthened)
}

/// [`train`] from anywhere, kept from being lost.
pub fn train_kept<B: Blocks, L: Link>(
    blocks: &B,
    link: &L,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    vault: Option<&mut dyn Vault>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    let weights = settings.sample_weights.as_deref();
    let free = settings.regulariser.free;
    settings.regulariser.check(blocks.dim())?;
    check_memory::<B, L>(blocks, settings, vault.is_some())?;
    match settings.method {
        _ if free.is_some() && !rounds::possible(settings) => Err(Error::setting(
            "a weight without penalty goes with steps of one block and no average only",
        )),
        Method::Fw => {
            let joined = Joined::new(blocks, weights)?;
            let problem = Problem::new(&joined, link.clone(), settings.lambda, None)?;
            let (engine, run) = begin_engine(problem, settings, begin.joined())?;
            run_from(engine, run, budget, observer, &mut Bytes(vault))
                .map(|report| report.map(Solution::parted))
        }
        Method::Bcfw => {
            let momentum = momentum(blocks, link, settings);
            if momentum.is_some() || free.is_some() {
                let (rounds, run) = begin_rounds(blocks, link, momentum, settings, begin)?;
                return run_from(rounds, run, budget, observer, &mut Bytes(vault));
            }
            let problem = Problem::new(blocks, link.clone(), settings.lambda, weights)?;
            let (engine, run) = begin_engine(problem, settings, begin)?;
            run_from(engine, run, budget, observer, &mut Bytes(vault))
        }
    }
}

/// [`train_kept`] with the regulariser that the settings name.
pub fn train_regularised<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    vault: Option<&mut dyn Vault>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    if settings.regulariser.is_plain() {
        return train_kept(blocks, &L2, settings, begin, budget, observer, vault);
    }
    if settings.regulariser.q_norm {
        let link = settings.regulariser.q_norm(settings.lambda, blocks.dim())?;
        return train_kept(blocks, &link, settings, begin, budget, observer, vault);
    }
    let link = settings.regulariser.link(settings.lambda)?;
    train_kept(blocks, &link, settings, begin, budget, observer, vault)
}

fn begin_engine<'a, B: Blocks<Point: DeserializeOwned>, L: Link>(
    problem: Problem<'a, B, L>,
    settings: &Settings,
    begin: Begin<B::Point>,
) -> Result<(Engine<'a, B, L>, RunState)> {
    Ok(match begin {
        Begin::Fresh => (Engine::new(problem, settings)?, RunState::default()),
        Begin::Points(points) => (Engine::at(problem, settings, points)?, RunState::default()),
        Begin::Kept(run, bytes) => (Engine::resumed(problem, settings, read(&bytes)?)?, run),
    })
}

fn begin_rounds<'a, B: Blocks<Point: DeserializeOwned>, L: Link>(
    blocks: &'a B,
    link: &L,
    momentum: Option<Momentum>,
    settings: &Settings,
    begin: Begin<B::Point>,
) -> Result<(Rounds<'a, B, L>, RunState)> {
    let new = |points| Rounds::new(blocks, link, momentum, settings, points);
    Ok(match begin {
        Begin::Fresh => (new(None)?, RunState::default()),
        Begin::Points(points) => (new(Some(points))?, RunState::default()),
        Begin::Kept(run, bytes) => {
            (Rounds::resumed(blocks, link, momentum, settings, read(&bytes)?)?, run)
        }
    })
}

/// A state as it was put into the [`Vault`].
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes)
        .map_err(|error| Error::setting(format!("the state makes no sense: {error}")))
}

/// A solver whose memory can be put away.
pub(crate) trait Keepable: Solver {
    /// Its memory.
    type State: Serialize;

    /// What another solver needs to go on as this one would.
    fn state(&self) -> Self::State;
}

/// Turns a solver into bytes for a vault.
pub(crate) struct Bytes<'v>(pub Option<&'v mut dyn Vault>);

impl<S: Keepable> Keeper<S> for Bytes<'_> {
    fn interval(&self, calls_per_pass: u64) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |vault| vault.interval(calls_per_pass))
    }

    fn keep(&mut self, solver: &S, run: &RunState) -> Result<()> {
        let Some(vault) = &mut self.0 else { return Ok(()) };
        let bytes = postcard::to_stdvec(&solver.state())
            .map_err(|error| Error::setting(format!("the state cannot be stored: {error}")))?;
        vault.store(run, bytes)
    }
}

impl<B: Blocks<Point: Serialize>, L: Link> Keepable for Engine<'_, B, L> {
    type State = State<B::Point>;

    fn state(&self) -> State<B::Point> {
        self.state()
    }
}

impl<B: Blocks<Point: Serialize>, L: Link> Keepable for Rounds<'_, B, L> {
    type State = RoundsState<B::Point>;

    fn state(&self) -> RoundsState<B::Point> {
        self.state()
    }
}
