//! Runs of the engine: from the start or elsewhere, by settings or by a link, and kept from being lost.

use super::engine::State;
use super::rounds::{self, Momentum, Rounds, RoundsState};
use super::{Blocks, Engine, Joined, Method, Problem, Settings, Solution};
use crate::run::{Budget, Keeper, Observer, Report, RunState, Solver, run, run_from};
use crate::term::{L2, Link, Regulariser};
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
///
/// Where the link is that of `½‖w‖²` ([`L2`]), the regulariser is the one that the settings name. Any other link is the
/// regulariser itself, and settings that name one beside it are refused.
pub fn train<B: Blocks, L: Link>(
    blocks: &B,
    link: L,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    let (regulariser, lambda) = (settings.regulariser, settings.lambda);
    refuse_a_second_regulariser::<L>(settings)?;
    if regulariser.is_plain() {
        return train_fresh(blocks, link, settings, budget, observer);
    }
    if regulariser.q_norm {
        let link = regulariser.q_norm(lambda, blocks.dim())?;
        return train_fresh(blocks, link, settings, budget, observer);
    }
    train_fresh(blocks, regulariser.link(lambda)?, settings, budget, observer)
}

/// Under a link of its own a problem has its regulariser already.
fn refuse_a_second_regulariser<L: Link>(settings: &Settings) -> Result<()> {
    if L::IDENTITY || settings.regulariser == Regulariser::PLAIN {
        return Ok(());
    }
    Err(Error::setting(
        "the regulariser is the link's, and the settings name another: leave one of them out",
    ))
}

/// What no run can do with these settings.
fn check<B: Blocks>(blocks: &B, settings: &Settings) -> Result<()> {
    settings.regulariser.check(blocks.dim())?;
    if settings.regulariser.free.is_some() && !rounds::possible(settings) {
        return Err(Error::setting(
            "a weight without penalty goes with steps of one block and no average only",
        ));
    }
    Ok(())
}

/// From where the blocks begin by themselves; their points need not be storable.
fn train_fresh<B: Blocks, L: Link>(
    blocks: &B,
    link: L,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    let weights = settings.sample_weights.as_deref();
    check(blocks, settings)?;
    match settings.method {
        Method::Bcfw => {
            let momentum = momentum(blocks, &link, settings);
            if momentum.is_some() || settings.regulariser.free.is_some() {
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
    refuse_a_second_regulariser::<L>(settings)?;
    if settings.regulariser.is_plain() {
        return train_under(blocks, link, settings, begin, budget, observer, vault);
    }
    train_regularised(blocks, settings, begin, budget, observer, vault)
}

/// Under this link, which is that of the settings' regulariser or the user's own.
fn train_under<B: Blocks, L: Link>(
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
    check(blocks, settings)?;
    match settings.method {
        Method::Fw => {
            let joined = Joined::new(blocks, weights)?;
            let problem = Problem::new(&joined, link.clone(), settings.lambda, None)?;
            let (engine, run) = begin_engine(problem, settings, begin.joined())?;
            run_from(engine, run, budget, observer, &mut Bytes(vault))
                .map(|report| report.map(Solution::parted))
        }
        Method::Bcfw => {
            let momentum = momentum(blocks, link, settings);
            if momentum.is_some() || settings.regulariser.free.is_some() {
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
        return train_under(blocks, &L2, settings, begin, budget, observer, vault);
    }
    if settings.regulariser.q_norm {
        let link = settings.regulariser.q_norm(settings.lambda, blocks.dim())?;
        return train_under(blocks, &link, settings, begin, budget, observer, vault);
    }
    let link = settings.regulariser.link(settings.lambda)?;
    train_under(blocks, &link, settings, begin, budget, observer, vault)
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
