//! Few examples with long rows: a solver of the problem whose rows are short, certified on the problem itself.
//!
//! Under λ/2‖w‖² both problems have the same dual ([`compression`](crate::linalg::compression)), so the dual points α of the short
//! rows are points of the long ones, with `w = (1/λ) Σ mass_i X_i α_i`. A certificate is that of the long rows, computed from the
//! data as any other: how exactly rows were compressed matters to the steps alone. The short rows say what it would be, for the
//! time of a few passes over them, so that it is computed when that is enough.

use super::proximal_point::{InRounds, foreign_state};
use super::train::{Begin, check, check_memory, momentum};
use super::{Best, Blocks, Engine, Problem, Settings, Solution};
use crate::Result;
use crate::linalg::parallel;
use crate::run::{
    Budget, Certificate, Certified, CheckpointSink, Counters, Expected, Observer, Quota, Report,
    Resumable, RunState, Solver, Work, run_from,
};
use crate::term::L2;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The certificate of the short rows is computed after so many passes at first, and each time that their number has grown by a
/// quarter, but at the latest after so many more: it takes about as long as four passes.
const FIRST: u64 = 4;
const LAST: u64 = 32;

/// A solver that knows the dual points of its model.
pub(crate) trait Pointed<P>: Resumable {
    /// Returns the dual points that were certified last, or better ones.
    fn points(&self) -> &[P];

    /// Returns the thread pool that the solver runs on.
    fn pool(&self) -> Arc<parallel::Pool>;
}

impl<B: Blocks<Point: Serialize>> Pointed<B::Point> for Engine<'_, B, L2> {
    fn points(&self) -> &[B::Point] {
        self.best_points()
    }

    fn pool(&self) -> Arc<parallel::Pool> {
        self.pool()
    }
}

impl<B: Blocks<Point: Serialize>> Pointed<B::Point> for InRounds<'_, B, L2> {
    fn points(&self) -> &[B::Point] {
        self.points()
    }

    fn pool(&self) -> Arc<parallel::Pool> {
        self.pool()
    }
}

/// The two problems, of long and of short rows.
pub(crate) struct Pair<'a, B, C> {
    long: Problem<'a, B, L2>,
    short: Problem<'a, C, L2>,
    passes_per_certification: f64,
}

impl<'a, P: Clone + Send + Sync, B: Blocks<Point = P>, C: Blocks<Point = P>> Pair<'a, B, C> {
    /// Returns the two problems of these blocks, which differ in their rows alone: a certificate of the long ones takes as long
    /// as so many passes over the short ones.
    pub fn new(
        long: &'a B,
        short: &'a C,
        settings: &Settings,
        passes_per_certification: f64,
    ) -> Result<Self> {
        check(long, settings)?;
        check_memory::<B, L2>(long, settings, false)?;
        let (lambda, weights) = (settings.lambda, settings.sample_weights.as_deref());
        Ok(Self {
            long: Problem::new(long, L2, lambda, weights)?,
            short: Problem::new(short, L2, lambda, weights)?,
            passes_per_certification,
        })
    }
}

/// The solver; see the module's head.
pub(crate) struct Compressed<'a, P, B, C, S> {
    pair: Pair<'a, B, C>,
    inner: S,
    memory: Memory<P>,
}

/// What a run remembers besides the state of its solver.
#[derive(Clone, Serialize, Deserialize)]
struct Memory<P> {
    /// The best pair of the long rows.
    best: Best<P>,
    /// The oracle calls so far, and when the certificate of the short rows was computed.
    calls: u64,
    looked: u64,
    /// What it said: the primal value, and the gap.
    said: Option<(f64, f64)>,
}

/// The state of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct State<S, P> {
    inner: S,
    memory: Memory<P>,
}

impl<'a, P, B, C, S> Compressed<'a, P, B, C, S>
where
    P: Clone + Send + Sync + Serialize,
    B: Blocks<Point = P>,
    C: Blocks<Point = P>,
    S: Pointed<P>,
{
    /// Starts with this solver of the short rows.
    fn new(pair: Pair<'a, B, C>, inner: S) -> Result<Self> {
        let blocks = pair.long.blocks;
        let start: Vec<P> = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        let dual = parallel::install(&inner.pool(), || pair.long.dual(&start))?.value;
        let best = Best::new(dual, Some(start));
        Ok(Self { pair, inner, memory: Memory { best, calls: 0, looked: 0, said: None } })
    }

    /// Resumes with this solver, which has resumed from its own state. Proves again everything that a certificate rests on.
    fn resumed(pair: Pair<'a, B, C>, inner: S, mut memory: Memory<P>) -> Result<Self> {
        if !memory.best.is_sound(pair.long.dim(), true) || memory.looked > memory.calls {
            return Err(foreign_state());
        }
        parallel::install(&inner.pool(), || memory.best.prove(&pair.long))?;
        Ok(Self { pair, inner, memory })
    }

    /// Computes the certificate of the short rows for the weights that the points would have.
    fn look(&mut self) -> Result<()> {
        self.inner.certify()?;
        let (short, points) = (&self.pair.short, self.inner.points());
        self.memory.said = parallel::install(&self.inner.pool(), || {
            let dual = short.dual(points)?;
            let (primal, dual) = (short.primal(&dual.v)?.value.value, dual.value.value);
            Ok(Some((primal, primal - dual)))
        })?;
        self.memory.looked = self.memory.calls;
        Ok(())
    }
}

impl<P, B, C, S> Solver for Compressed<'_, P, B, C, S>
where
    P: Clone + Send + Sync + Serialize,
    B: Blocks<Point = P>,
    C: Blocks<Point = P>,
    S: Pointed<P>,
{
    type Model = Solution<P>;

    fn calls_per_pass(&self) -> u64 {
        self.inner.calls_per_pass()
    }

    fn passes_per_certification(&self) -> f64 {
        self.pair.passes_per_certification
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let done = self.inner.advance(quota)?;
        let pass = self.calls_per_pass();
        let Memory { calls, looked, .. } = &mut self.memory;
        *calls = calls.saturating_add(done.oracle_calls);
        if *calls - *looked >= (*looked / 4).clamp(FIRST * pass, LAST * pass) {
            self.look()?;
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        self.inner.certify()?;
        let Self { pair, inner, memory } = self;
        let points = inner.points();
        let (primal, dual) = parallel::install(&inner.pool(), || {
            let dual = pair.long.dual(points)?;
            Ok((pair.long.primal(&dual.v)?, dual))
        })?;
        let iterate = primal.certificate(dual.value)?;
        memory.best.offer_primal(primal, || dual.v);
        memory.best.offer_dual(dual.value, points);
        let model = memory.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    fn expected(&self) -> Option<Expected> {
        self.memory.said.map(|(primal, gap)| Expected { primal, gap, off: 1.0 })
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.memory.best.certificate()
    }

    fn may_stall(&self) -> bool {
        self.inner.may_stall()
    }

    fn tactics(&self) -> Vec<String> {
        let (long, short) = (self.pair.long.dim(), self.pair.short.dim());
        let mut tactics =
            vec![format!("rows compressed, with {short} weights in the place of {long}")];
        tactics.extend(self.inner.tactics());
        tactics
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn weights(&self) -> &[f64] {
        self.memory.best.weights().unwrap_or(&[])
    }

    fn into_model(self) -> Solution<P> {
        let dim = self.pair.long.dim();
        self.memory.best.into_solution(|| vec![0.0; dim], Vec::new())
    }
}

impl<P, B, C, S> Resumable for Compressed<'_, P, B, C, S>
where
    P: Clone + Send + Sync + Serialize,
    B: Blocks<Point = P>,
    C: Blocks<Point = P>,
    S: Pointed<P>,
{
    type State = State<S::State, P>;

    fn state(&self) -> Self::State {
        State { inner: self.inner.state(), memory: self.memory.clone() }
    }
}

/// Trains with a solver of the short rows, which starts at given points or its own, or resumes.
pub(crate) fn train_inside<P, B, C, S>(
    pair: Pair<'_, B, C>,
    begin: Begin<P>,
    start: impl FnOnce(Option<Vec<P>>) -> Result<S>,
    resume: impl FnOnce(S::State) -> Result<S>,
    (budget, observer, sink): (&Budget, &mut dyn Observer, Option<&mut dyn CheckpointSink>),
) -> Result<Report<Solution<P>>>
where
    P: Clone + Send + Sync + Serialize + DeserializeOwned,
    B: Blocks<Point = P>,
    C: Blocks<Point = P>,
    S: Pointed<P, State: DeserializeOwned>,
{
    let (solver, mut run) = match begin {
        Begin::Fresh => (Compressed::new(pair, start(None)?)?, RunState::default()),
        Begin::Points(points) => {
            (Compressed::new(pair, start(Some(points))?)?, RunState::default())
        }
        Begin::At(checkpoint) => {
            let State { inner, memory } = checkpoint.state()?;
            (Compressed::resumed(pair, resume(inner)?, memory)?, checkpoint.run)
        }
    };
    run.compressed = true;
    run_from(solver, run, budget, observer, sink)
}

/// Trains by dual ascent on the short rows.
pub(crate) fn train_compressed<P, B, C>(
    pair: Pair<'_, B, C>,
    settings: &Settings,
    begin: Begin<P>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<P>>>
where
    P: Clone + Send + Sync + Serialize + DeserializeOwned,
    B: Blocks<Point = P>,
    C: Blocks<Point = P>,
{
    let (blocks, weights) = (pair.short.blocks, settings.sample_weights.as_deref());
    let how = (budget, observer, sink);
    if let momentum @ Some(_) = momentum(blocks, &L2, settings) {
        let start = |points| InRounds::start(blocks, &L2, momentum, settings, points);
        let resume = |state| InRounds::resume(blocks, &L2, momentum, settings, state);
        return train_inside(pair, begin, start, resume, how);
    }
    let problem = || Problem::new(blocks, L2, settings.lambda, weights);
    let start = |points| match points {
        Some(points) => Engine::at(problem()?, settings, points),
        None => Engine::new(problem()?, settings),
    };
    let resume = |state| Engine::resumed(problem()?, settings, state);
    train_inside(pair, begin, start, resume, how)
}
