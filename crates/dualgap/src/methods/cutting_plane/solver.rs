//! Cutting planes, as a [`Solver`]: search, offer what was found to the bundle, solve the master problem.

use super::bundle::{Bundle, Offered};
use super::planes::{OfBlocks, Planes};
use super::settings::{CuttingPlaneSettings, Slacks};
use crate::dual::engine::pool;
use crate::dual::{self, Best, Blocks, Order, Sampling, Solution};
use crate::linalg::parallel;
use crate::run::{Certified, Counters, Quota, Resumable, Solver, Work};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// With a slack for each example the master is solved this often in a pass. SVM-struct solves it after every hundred new
/// planes, which is as often for a thousand examples; a number for each pass keeps the master's part of the work the same
/// however many there are, and lets the searches between two masters run in parallel.
const MASTERS: usize = 10;

/// Cutting planes over any blocks.
pub(super) struct CuttingPlane<'a, B: Blocks> {
    of: OfBlocks<'a, B>,
    method: Method,
    pool: Arc<parallel::Pool>,
}

/// What does not depend on the blocks.
struct Method {
    bundle: Bundle,
    progress: Progress,
    /// How many slacks are searched at the same w, and how many blocks each of them has.
    batch: usize,
    calls_per_slack: u64,
}

/// Where the run is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Progress {
    /// The order of the slacks, and how many of this pass have been searched.
    order: Order,
    visited: usize,
    masters: u64,
    dropped: u64,
}

/// The state in a checkpoint. All else, the planes' vectors, their products and w, follows from the points, by the same
/// computation as in the run that stored them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct State<P> {
    planes: Vec<Vec<Vec<P>>>,
    weights: Vec<Vec<f64>>,
    idle: Vec<Vec<u16>>,
    progress: Progress,
    best: Best<P>,
}

impl Method {
    fn advance(&mut self, planes: &mut dyn Planes, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        loop {
            let Self { bundle, progress, batch, calls_per_slack } = self;
            // No batch reaches over the end of a pass: a run may end there.
            let size = (*batch).min(bundle.slacks() - progress.visited);
            let calls = size as u64 * *calls_per_slack;
            if !quota.allows(done, calls) {
                return Ok(done);
            }
            let slacks: Vec<usize> = (0..size).map(|_| progress.order.next_block()).collect();
            let cuts = planes.search(&slacks, &bundle.w)?;
            let each = slacks.iter().zip(cuts).map(|(&slack, cut)| bundle.offer(slack, cut));
            let offered: Vec<Offered> = each.collect::<Result<_>>()?;
            planes.keep(&slacks, &mut offered.iter().map(|offered| offered.accepted));
            bundle.solve(&slacks, &offered);
            for (slack, plane) in bundle.drop_idle(&slacks) {
                planes.forget(slack, plane);
                progress.dropped += 1;
            }
            progress.masters += 1;
            progress.visited = (progress.visited + size) % bundle.slacks();
            done += Work { steps: 1, oracle_calls: calls };
        }
    }
}

impl<'a, B: Blocks> CuttingPlane<'a, B> {
    /// Returns the method at these points, one for each block, or an error if one is infeasible.
    pub fn at(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: CuttingPlaneSettings,
        points: Vec<B::Point>,
    ) -> Result<Self> {
        let CuttingPlaneSettings { slacks, seed, threads } = settings;
        let pool = pool(&dual::Settings { threads, ..dual::Settings::default() })?;
        let of = OfBlocks::new(blocks, lambda, sample_weights, slacks, points)?;
        let groups = of.planes.len();
        let progress = Progress {
            order: Order::new(sampling(slacks), groups, seed, false),
            visited: 0,
            masters: 0,
            dropped: 0,
        };
        let batch = match slacks {
            Slacks::One => 1,
            Slacks::Each => groups.div_ceil(MASTERS),
        };
        let calls_per_slack = (blocks.len() / groups) as u64 * blocks.calls_per_step();
        let bundle = Bundle::new(lambda, blocks.dim(), groups);
        let method = Method { bundle, progress, batch, calls_per_slack };
        let mut solver = Self { of, method, pool };
        solver.fill()?;
        let weights = &mut solver.method.bundle.weights;
        weights.iter_mut().flatten().for_each(|weight| *weight = 1.0);
        solver.method.bundle.rebuild();
        Ok(solver)
    }

    /// Resumes from the state of an earlier run under the same settings. The state may come from an untrusted file:
    /// every point is proved feasible, and the best pair proved again.
    pub fn resumed(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: CuttingPlaneSettings,
        state: State<B::Point>,
    ) -> Result<Self> {
        let start = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        let mut solver = Self::at(blocks, lambda, sample_weights, settings, start)?;
        let State { planes, weights, idle, progress, best } = state;
        let slacks = solver.of.planes.len();
        let sound = progress.order.is_sound(sampling(settings.slacks), slacks, false)
            && progress.visited < slacks;
        let pool = Arc::clone(&solver.pool);
        parallel::install(&pool, || solver.of.restore(planes, best))?;
        solver.method.bundle = Bundle::new(lambda, blocks.dim(), slacks);
        solver.fill()?;
        let Method { bundle, progress: at, .. } = &mut solver.method;
        if !sound || !bundle.fits(&weights, &idle) {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        (bundle.weights, bundle.idle, *at) = (weights, idle, progress);
        bundle.rebuild();
        Ok(solver)
    }

    /// Fills an empty bundle with the planes that are kept.
    fn fill(&mut self) -> Result<()> {
        let Self { of, method, pool } = self;
        let cuts = parallel::install(pool, || of.cuts())?;
        for (slack, cuts) in cuts.into_iter().enumerate() {
            cuts.into_iter().try_for_each(|cut| method.bundle.push(slack, cut))?;
        }
        Ok(())
    }
}

/// The order of the slacks: by chance where there are several.
fn sampling(slacks: Slacks) -> Sampling {
    match slacks {
        Slacks::One => Sampling::Cyclic,
        Slacks::Each => Sampling::Permuted,
    }
}

impl<B: Blocks> Solver for CuttingPlane<'_, B> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.method.calls_per_slack * self.method.bundle.slacks() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let Self { of, method, pool } = self;
        parallel::install(pool, || method.advance(of, quota))
    }

    fn certify(&mut self) -> Result<Certified> {
        let Self { of, method, pool } = self;
        parallel::install(pool, || of.certify(&method.bundle.w, &method.bundle.weights))
    }

    fn tactics(&self) -> Vec<String> {
        let [known, used] = self.method.bundle.planes();
        let dropped = match self.method.progress.dropped {
            0 => String::new(),
            dropped => format!(", {dropped} dropped"),
        };
        vec![format!("{known} planes, {used} of them with weight{dropped}")]
    }

    fn counters(&self) -> Counters {
        let Progress { masters, dropped, .. } = self.method.progress;
        let [known, _] = self.method.bundle.planes();
        Counters::from([
            ("masters", masters),
            ("planes", known as u64),
            ("planes_dropped", dropped),
        ])
    }

    fn weights(&self) -> &[f64] {
        self.of.best.weights().unwrap_or(&[])
    }

    fn into_model(self) -> Solution<B::Point> {
        self.of.into_solution(self.method.bundle.w)
    }
}

impl<B: Blocks<Point: Serialize>> Resumable for CuttingPlane<'_, B> {
    type State = State<B::Point>;

    fn state(&self) -> State<B::Point> {
        let Bundle { weights, idle, .. } = &self.method.bundle;
        State {
            planes: self.of.planes.clone(),
            weights: weights.clone(),
            idle: idle.clone(),
            progress: self.method.progress.clone(),
            best: self.of.best.clone(),
        }
    }
}
