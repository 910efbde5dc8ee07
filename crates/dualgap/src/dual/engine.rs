//! Algorithm 4 of the BCFW paper, and Prox-SDCA's outer loop, over any [`Blocks`].
//!
//! ```text
//! pick blocks of a mini-batch, find their best corners at the same w (in parallel)
//! for each of them in order:
//!     gap_i = rise − slope at the current w
//!     γ     = line search, or 2n/(k + 2n)
//!     α_i  ← α_i + γ (s − α_i),     v ← v + γ (mass_i/λ) X_i (s − α_i)
//!     k    ← k + 1
//! ```
//!
//! With [`Settings::plain`] and a batch of one this is the paper's algorithm, in a new random order for every pass.
//! With other settings, blocks that know their corners also take away and pairwise steps (`visit`) and cached steps
//! without the oracle (`cache_policy`), and shrinking (`shrinking`) visits blocks less often whose visits change
//! nothing. Everything that influences the iterates depends on the seed and the batch size, never on the number of
//! threads, the clock or where a run pauses.

mod steps;

use super::average::Averages;
use super::cache_policy::CachePolicy;
use super::lanes::{LanePolicy, Lanes};
use super::outlook::Outlook;
use super::sampling::{Order, Sampling};
use super::visit::{Slot, Visits};
use super::{
    Algorithm, Average, Best, Blocks, Direction, Primal, Problem, Settings, Solution, Step,
};
use crate::linalg::parallel;
use crate::run::{Certificate, Certified, Expected, Quota, Solver, Work};
use crate::term::Link;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The block-dual engine; see the module's head.
pub struct Engine<'a, B: Blocks, L> {
    problem: Problem<'a, B, L>,
    step: Step,
    visits: B::Visits,
    pool: Arc<parallel::Pool>,
    /// k, the number of steps so far, and its value when the points were last tidied.
    steps: u64,
    tidied: u64,
    order: Order,
    /// Whether blocks are asked for before their visit.
    fetches: bool,
    slots: Vec<Slot<B>>,
    /// Present if visits go in lanes.
    lanes: Option<Lanes<B, L>>,
    primal: Primal<L>,
    points: Vec<B::Point>,
    averages: Option<Averages<B::Point>>,
    best: Best<B::Point>,
    /// A running sum of the dual gains of the steps. Steps toward a point are counted only if `counts` is set.
    gained: f64,
    counts: bool,
    /// How many passes take as long as a certification.
    passes_per_certification: f64,
    /// What the visits tell of the next certificate, if they may decide when it is computed.
    outlook: Option<Outlook>,
}

/// A certificate takes as long as a pass, and as this many multiplications for every weight: it sums, rounds and squares vectors
/// of all weights, in memory that is new each time. With 105 classes, 55,000 columns and half a million entries it takes as long
/// as four passes. ...
const PER_WEIGHT: f64 = 16.0;

/// ... But it counts as two at most, so that a run that is over soon ends soon.
const MOST_PASSES: f64 = 2.0;

/// Where every visit waits for its row, a certificate takes half of a pass or less: it goes through the rows as they lie.
const IN_ORDER: f64 = 0.5;

/// Returns how many passes take as long as a certification. The papers' methods are certified as if it were one.
fn passes_per_certification<B: Blocks>(blocks: &B, settings: &Settings) -> f64 {
    if !settings.handover {
        return 1.0;
    }
    match blocks.workload().pass.filter(|&work| work > 0.0) {
        Some(work) => (1.0 + PER_WEIGHT * blocks.dim() as f64 / work).min(MOST_PASSES),
        None if blocks.locality().is_scattered() => IN_ORDER,
        None => 1.0,
    }
}

/// Starts the threads that the settings ask for.
pub(crate) fn pool(settings: &Settings) -> Result<Arc<parallel::Pool>> {
    parallel::Pool::new(settings.threads).map(Arc::new)
}

/// The same, but none if a pass over the blocks takes less time than it takes to wake them.
pub(crate) fn pool_for<B: Blocks>(blocks: &B, settings: &Settings) -> Result<Arc<parallel::Pool>> {
    if blocks.workload().is_little { Ok(Arc::new(parallel::Pool::CALLER)) } else { pool(settings) }
}

/// An upper bound on the number of steps: no run has time for this many, so a state that claims more is invalid.
const MOST_STEPS: u64 = 1 << 60;

/// Whether shrinking is on. It needs line search: predefined steps move every block that they visit.
fn shrinking(settings: &Settings) -> bool {
    settings.shrinking && settings.step == Step::LineSearch
}

/// Returns an error unless visits can go in lanes as they are asked to: the blocks must allow it, and v be w. An order that
/// shrinks visits no block twice before it asks what became of the visits.
fn check_lanes<B: Blocks, L: Link>(settings: &Settings) -> Result<()> {
    let possible = B::LANES
        && L::IDENTITY
        && !L::SPREAD
        && !L::COUPLED
        && settings.method == Algorithm::Bcfw
        && shrinking(settings)
        && settings.batch == 1
        && settings.average == Average::None
        && matches!(settings.sampling, Sampling::Permuted | Sampling::Chunked);
    if possible || !settings.lanes {
        return Ok(());
    }
    Err(Error::setting(
        "lanes are for chains and matchings under l2 alone: one example a step by line search, permuted and with shrinking, no averages",
    ))
}

/// Returns the order of the visits. A permutation goes in chunks where that is faster, unless the settings are those of the
/// papers, which do not shrink either.
fn sampling<B: Blocks>(blocks: &B, settings: &Settings) -> Sampling {
    match settings.sampling {
        Sampling::Permuted
            if shrinking(settings)
                && settings.batch == 1
                && settings.average == Average::None
                && blocks.locality().chunks =>
        {
            Sampling::Chunked
        }
        sampling => sampling,
    }
}

/// Whether visits may tell of the next certificate. The papers' methods are certified by counted work alone.
fn foresees<B: Blocks, L: Link>(settings: &Settings) -> bool {
    settings.handover && shrinking(settings) && L::IDENTITY && !B::Visits::KNOWS_CORNERS
}

/// Whether the best points are stored: if the dual value can fall from one certification to the next, or if the best
/// weights are a bound only together with the points that they come from.
fn stores_best<B: Blocks>(blocks: &B, settings: &Settings) -> bool {
    settings.step != Step::LineSearch
        || settings.average != Average::None
        || blocks.quality().share().is_some()
}

/// The engine's part of a checkpoint: everything that later steps and certifications depend on.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    steps: u64,
    tidied: u64,
    order: Order,
    /// Present if the blocks know their corners.
    cache_policy: Option<CachePolicy>,
    /// Present if visits go in lanes.
    lanes: Option<LanePolicy>,
    /// Stored, not recomputed from the points: its rounding error is part of the state that must resume bit for bit. Under
    /// a link that spreads, the values that blocks read follow.
    v: Vec<f64>,
    /// The numbers that a coupled link needs besides v, stored for the same reason.
    coupling: [f64; 2],
    points: Vec<P>,
    averages: Option<Averages<P>>,
    best: Best<P>,
    outlook: Option<Outlook>,
}

impl<P> State<P> {
    /// Returns the state without v, for those who give the engine another one before its next step.
    pub(super) fn without_v(self) -> Self {
        Self { v: Vec::new(), ..self }
    }

    /// Returns the state with this v.
    pub(super) fn with_v(self, v: Vec<f64>) -> Self {
        Self { v, ..self }
    }
}

impl<'a, B: Blocks, L: Link> Engine<'a, B, L> {
    /// Returns an engine at the blocks' starting points.
    pub fn new(problem: Problem<'a, B, L>, settings: &Settings) -> Result<Self> {
        let points = (0..problem.blocks.len()).map(|i| problem.blocks.start(i)).collect();
        Self::at(problem, settings, points)
    }

    /// Returns an engine at these points, or an error if one is infeasible.
    pub fn at(
        problem: Problem<'a, B, L>,
        settings: &Settings,
        points: Vec<B::Point>,
    ) -> Result<Self> {
        let pool = pool_for(problem.blocks, settings)?;
        let start = parallel::install(&pool, || problem.dual(&points))?;
        let primal = Primal::new(&problem.link, start.v);
        let state = State {
            steps: 0,
            tidied: 0,
            order: Order::new(
                sampling(problem.blocks, settings),
                points.len(),
                settings.seed,
                shrinking(settings),
            ),
            cache_policy: B::Visits::policy(points.len() as u64),
            lanes: settings.lanes.then(LanePolicy::new),
            coupling: primal.coupling(),
            v: primal.stored(),
            averages: (settings.average != Average::None)
                .then(|| Averages::new(settings.average, &points, settings.seed)),
            best: {
                let stored = stores_best(problem.blocks, settings);
                Best::new(start.value, stored.then(|| points.clone()))
            },
            outlook: foresees::<B, L>(settings).then(|| Outlook::new(points.len())),
            points,
        };
        Self::build(problem, settings, state, pool)
    }

    /// Resumes from the state of an earlier run under the same settings. The state may come from an untrusted file, so
    /// everything that a certificate rests on is proved again.
    pub fn resumed(
        problem: Problem<'a, B, L>,
        settings: &Settings,
        state: State<B::Point>,
    ) -> Result<Self> {
        let (blocks, n) = (problem.blocks, problem.blocks.len());
        let State { steps, order, cache_policy, lanes, v, coupling, averages, best, .. } = &state;
        let outlook = &state.outlook;
        let length = Primal::<L>::stored_len(blocks.dim());
        let finite = |v: &[f64]| v.len() == length && v.iter().all(|x| x.is_finite());
        let averaged = match averages {
            Some(averages) => averages.is_sound(settings.average, n, *steps),
            None => settings.average == Average::None,
        };
        let sound = *steps <= MOST_STEPS
            && order.is_sound(settings.sampling, n, shrinking(settings))
            && cache_policy.is_some() == B::Visits::KNOWS_CORNERS
            && cache_policy.as_ref().is_none_or(|policy| policy.is_sound(n as u64))
            && lanes.is_some() == settings.lanes
            && lanes.as_ref().is_none_or(|lanes| lanes.is_sound(n as u64))
            && finite(v)
            && coupling.iter().all(|x| x.is_finite())
            && averaged
            && outlook.is_some() == foresees::<B, L>(settings)
            && outlook.as_ref().is_none_or(|outlook| outlook.is_sound(n))
            && best.is_sound(blocks.dim(), stores_best(blocks, settings));
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        let pool = pool_for(blocks, settings)?;
        let mut engine = Self::build(problem, settings, state, Arc::clone(&pool))?;
        parallel::install(&pool, || engine.prove())?;
        Ok(engine)
    }

    /// Proves every point feasible and recomputes the values of the best pair. If no best point is stored, the next
    /// certification recomputes the dual value of the current one.
    fn prove(&mut self) -> Result<()> {
        let Self { problem, points, averages, best, .. } = self;
        problem.dual(points)?;
        if let Some(averages) = averages {
            problem.dual(&averages.points)?;
        }
        best.prove(problem)
    }

    fn build(
        problem: Problem<'a, B, L>,
        settings: &Settings,
        state: State<B::Point>,
        pool: Arc<parallel::Pool>,
    ) -> Result<Self> {
        if settings.batch == 0 {
            return Err(Error::setting("a batch has at least one block"));
        }
        check_lanes::<B, L>(settings)?;
        if L::COUPLED && !B::SEES_FACTOR {
            return Err(Error::setting(
                "this regulariser is for linear models of one number, one example a step",
            ));
        }
        let blocks = problem.blocks;
        let State { steps, tidied, mut order, cache_policy, lanes, v, coupling, .. } = state;
        let State { points, averages, best, outlook, .. } = state;
        order.weigh(|i| blocks.importance(i));
        let locality = blocks.locality();
        order.stretch(locality.stretches);
        order.set_pace(blocks.pace());
        Ok(Self {
            step: settings.step,
            visits: B::Visits::planned(settings, cache_policy)?,
            pool,
            steps,
            tidied,
            order,
            fetches: locality.fetches,
            slots: (0..settings.batch.min(blocks.len())).map(|_| Slot::new(blocks)).collect(),
            lanes: lanes.map(|policy| Lanes::new(blocks, policy)),
            primal: Primal::kept(&problem.link, v, coupling),
            best,
            points,
            averages,
            problem,
            gained: 0.0,
            counts: false,
            passes_per_certification: passes_per_certification(blocks, settings),
            outlook,
        })
    }

    /// Returns the state from which another engine continues exactly as this one would.
    pub fn state(&self) -> State<B::Point> {
        State {
            steps: self.steps,
            tidied: self.tidied,
            order: self.order.clone(),
            cache_policy: self.visits.current_policy().cloned(),
            lanes: self.lanes.as_ref().map(|lanes| lanes.policy.clone()),
            v: self.primal.stored(),
            coupling: self.primal.coupling(),
            points: self.points.clone(),
            averages: self.averages.clone(),
            best: self.best.clone(),
            outlook: self.outlook.clone(),
        }
    }

    /// Learns from a certificate what the visits tell of the next one.
    pub(super) fn learn(&mut self, certificate: &Certificate) {
        if let Some(outlook) = &mut self.outlook {
            outlook.learn(certificate);
        }
    }

    /// Returns what the visits tell of the next certificate.
    pub(super) fn foreseen(&self) -> Option<Expected> {
        self.outlook.as_ref().and_then(Outlook::expected)
    }

    /// Whether visits tell anything of the next certificate.
    pub(super) fn looks_ahead(&self) -> bool {
        self.outlook.is_some()
    }

    /// What the visits have told is of another problem, or of other points.
    fn forget_outlook(&mut self) {
        if let Some(outlook) = &mut self.outlook {
            outlook.forget();
        }
    }

    /// Replaces λ and its link; the points stay the same.
    pub(crate) fn retune(&mut self, link: L, lambda: f64) -> Result<()> {
        self.problem = self.problem.retuned(link, lambda)?;
        self.best.forget();
        self.forget_outlook();
        self.rebuild();
        Ok(())
    }

    /// Replaces the regulariser by `λ g(w) − λ⟨offset, w⟩`; the points stay the same.
    pub(crate) fn recentre(&mut self, offset: Vec<f64>) {
        let v = self.primal.v().iter().zip(&offset).enumerate();
        let old = &self.problem.offset;
        let v = v.map(|(j, (v, to))| v - old.get(j).unwrap_or(&0.0) + to).collect();
        self.primal = Primal::new(&self.problem.link, v);
        self.problem.offset = offset;
        self.best.forget();
        self.forget_outlook();
        // Every weight has changed, so blocks that shrinking leaves out may have something to gain.
        self.order.wake_all();
    }

    /// Begins a round of steps under another link, λ and offset, at this v, which the caller has computed from the points.
    pub(super) fn begin_round(&mut self, link: L, lambda: f64, offset: Vec<f64>, v: Vec<f64>) {
        self.problem.link = link;
        if self.problem.lambda.to_bits() != lambda.to_bits() {
            self.problem.lambda = lambda;
            self.problem.weighed.rescale(lambda);
        }
        self.primal = Primal::new(&self.problem.link, v);
        self.problem.offset = offset;
        self.forget_outlook();
    }

    /// Returns v as the steps have left it.
    pub(super) fn v(&self) -> &[f64] {
        self.primal.v()
    }

    /// Replaces the points by these, which must be proved feasible. The caller rebuilds v.
    pub(super) fn restore(&mut self, points: &[B::Point]) {
        self.points.clear();
        self.points.extend_from_slice(points);
        self.forget_outlook();
    }

    /// Whether the next visits are cached and an oracle pass takes much more work than a cached one.
    pub(super) fn spares_much(&self) -> bool {
        self.visits.spares_much()
    }

    /// Starts counting the dual gain of every step; slightly slower for blocks without known corners.
    pub(super) fn count_gains(&mut self) {
        self.counts = true;
    }

    /// Sets the sum to which later steps add their gains, one by one. A separate sum for each part would round
    /// differently, and the total would depend on where a pause ends a part.
    pub(super) fn count_onto(&mut self, gained: f64) {
        self.gained = gained;
    }

    /// Returns the sum set by [`Self::count_onto`] plus the dual gains of the steps since then.
    pub(super) fn gained(&self) -> f64 {
        self.gained
    }

    /// Returns the number of visits left before the cache policy decides again.
    pub(super) fn steps_left_in_pass(&self) -> u64 {
        self.visits.ahead().1
    }

    /// Returns the best points so far.
    pub(super) fn best_points(&self) -> &[B::Point] {
        self.best.points().unwrap_or(&self.points)
    }

    /// Returns the thread pool that the engine runs on.
    pub(crate) fn pool(&self) -> Arc<parallel::Pool> {
        Arc::clone(&self.pool)
    }

    /// Returns the offset that the engine was last centred at; empty if it never was.
    pub(crate) fn offset(&self) -> &[f64] {
        &self.problem.offset
    }

    /// Recomputes v from the points, because its updates accumulate rounding errors.
    pub(super) fn rebuild(&mut self) {
        let v = self.problem.image(&self.points);
        self.primal = Primal::new(&self.problem.link, v);
    }

    /// [`rebuild`](Self::rebuild) from `(1/λ) Σ mass_i X_i α_i` of its points, computed for another λ and without an offset.
    pub(super) fn rebuild_from(&mut self, mut v: Vec<f64>, lambda: f64) {
        let factor = lambda / self.problem.lambda;
        v.iter_mut().for_each(|v| *v *= factor);
        v.iter_mut().zip(&self.problem.offset).for_each(|(v, offset)| *v += offset);
        self.primal = Primal::new(&self.problem.link, v);
    }

    /// Tidies the points, because steps that remove weight leave more rounding error than steps that only add it.
    /// Points are tidied at most once between two steps, however often they are certified.
    pub(super) fn tidy(&mut self) {
        if self.tidied != self.steps {
            self.tidied = self.steps;
            self.visits.tidy(self.problem.blocks, &mut self.points);
        }
    }

    /// Returns the current weights, before any averaging.
    pub fn weights(&self) -> Vec<f64> {
        self.primal.weights()
    }

    /// Returns the current points, before any averaging.
    pub fn points(&self) -> &[B::Point] {
        &self.points
    }

    /// Has the first thread make the next series of lanes alone.
    #[cfg(test)]
    pub(super) fn lanes_alone(&mut self, series: u32) {
        if let Some(lanes) = &mut self.lanes {
            lanes.set_alone(series);
        }
    }

    /// Has no thread start for a lane.
    #[cfg(test)]
    pub(super) fn lanes_without_threads(&mut self) {
        if let Some(lanes) = &mut self.lanes {
            lanes.refuse_threads();
        }
    }

    fn certify_in_pool(&mut self) -> Result<Certified> {
        self.tidy();
        let (blocks, averaged) = (self.problem.blocks, self.averages.is_some());
        let points = match &mut self.averages {
            Some(averages) => {
                for (i, point) in self.points.iter().enumerate() {
                    averages.cover(blocks, i, self.steps, point);
                }
                &averages.points
            }
            None => &self.points,
        };
        let mut dual = self.problem.dual(points)?;
        // Of an average nothing else needs v, and a copy of it would be a tenth of a tagger's memory.
        let w = if L::IDENTITY && averaged {
            std::mem::take(&mut dual.v)
        } else {
            self.problem.link.weights(&dual.v)
        };
        let primal = self.problem.primal_at(&w, points)?;
        let iterate = primal.certificate(dual.value)?;

        if blocks.quality().share().is_some() {
            self.best.offer_pair(primal, w, dual.value, points);
        } else {
            self.best.offer_primal(primal, || w);
            self.best.offer_dual(dual.value, points);
        }
        if !averaged {
            // v has accumulated rounding errors since it was last rebuilt; the dual value comes with a fresh v at no
            // cost.
            self.primal = Primal::new(&self.problem.link, dual.v);
        }
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        self.learn(&model);
        Ok(Certified { model, iterate })
    }
}

impl<B: Blocks, L: Link> Solver for Engine<'_, B, L> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.problem.blocks.len() as u64 * self.problem.blocks.calls_per_step()
    }

    fn passes_per_certification(&self) -> f64 {
        self.passes_per_certification
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let pool = Arc::clone(&self.pool);
        parallel::install(&pool, || self.advance_in_pool(quota))
    }

    fn certify(&mut self) -> Result<Certified> {
        let pool = Arc::clone(&self.pool);
        parallel::install(&pool, || self.certify_in_pool())
    }

    /// Where losses are smooth, others wait for the certificates: Newton's method, which may take over.
    fn expected(&self) -> Option<Expected> {
        let off = if self.problem.blocks.smoothness() > 0.0 { f64::INFINITY } else { 1.0 };
        self.foreseen().map(|expected| Expected { off: expected.off * off, ..expected })
    }

    fn may_hasten(&self) -> bool {
        self.looks_ahead()
    }

    fn weights(&self) -> &[f64] {
        self.best.weights().unwrap_or(&[])
    }

    fn tactics(&self) -> Vec<String> {
        let mut said = match self.visits.direction() {
            Direction::Pairwise => vec!["pairwise steps".to_string()],
            Direction::Away => vec!["toward and away steps".to_string()],
            Direction::Auto | Direction::Toward => Vec::new(),
        };
        let cached = self.visits.current_policy().map_or(0, |policy| policy.visits);
        if cached > 0 {
            let share = 100.0 * cached as f64 / self.steps as f64;
            said.push(format!("{share:.0} % of the visits without the oracle"));
        }
        said.extend(self.lanes.is_some().then(|| "two lanes".to_string()));
        said
    }

    fn into_model(self) -> Solution<B::Point> {
        let Self { best, primal, points, .. } = self;
        best.into_solution(|| primal.weights(), points)
    }
}
