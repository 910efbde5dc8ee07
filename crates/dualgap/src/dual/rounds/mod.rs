//! The engine in rounds around a moving centre: acceleration, and a weight that is not penalised.
//!
//! With λ' = λ + κ every round takes a few passes on
//!
//! ```text
//! P(w) + κ/2‖w − z‖²,        w = ∇g'*(v' + (κ/λ') z),  v' = (1/λ') Σ mass_i X_i α_i
//! ```
//!
//! which is better conditioned than P, and then moves the centre with momentum (proximal point method, accelerated):
//!
//! ```text
//! z ← w + β (w − w_before),    β = (1 − √q)/(1 + √q),  q = λ/λ'
//! ```
//!
//! A weight without a penalty of its own gets that of the rounds, `λ'/2 (w_j − z_j)²`, which vanishes as its centre
//! converges. α is feasible for the dual of P itself whatever the centre is, so the rounds certify P: at the better of
//! the rounds' weights and ∇g*(v). If a weight is free, the dual requires v to be zero in its column, and the blocks
//! first move their points so that it is.

mod momentum;
#[cfg(test)]
mod pauses;
#[cfg(test)]
mod tests;
mod trial;

pub(super) use momentum::{Momentum, momentum, possible};

use super::best::Best;
use super::engine::State;
use super::{Acceleration, Blocks, Cache, Direction, Engine, Problem, Settings, Solution};
use crate::linalg::parallel;
use crate::run::{Certificate, Certified, Quota, Solver, Work};
use crate::term::{Free, Link, Unpenalised};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use trial::Trial;

/// The least rate at which the gap must shrink under acceleration, as a share of √q, the rate that theory promises. A
/// larger share gives up acceleration sooner.
const LEAST: f64 = 0.05;

/// While the centre moves, a run stalls only after more consecutive certifications without progress than this: the dual
/// value may fall for long before it rises.
const QUIET: u32 = 100;

/// The smallest and the largest λ'/λ, where κ adapts.
const LEAST_RATIO: f64 = 2.0;
const LARGEST_RATIO: f64 = 4096.0;

/// The dual gain of a round's second half, in units of κ/2‖w − z‖², for which κ stays the same. Below this range, the
/// round is solved more accurately than the next centre needs, and a smaller κ would move the centre further; above it,
/// the weights that determine the next centre are still far from the solution of the round.
const ENOUGH: std::ops::Range<f64> = 1.5..6.0;

/// The fewest passes over which the rate of the gap is measured: fewer decide sooner, more decide more reliably.
const WINDOW: f64 = 12.0;

/// The first window of an accelerated run is longer by this factor, because momentum builds up slowly.
const BEGINNING: f64 = 4.0;

/// The engine in rounds; see the module's head.
pub(super) struct Rounds<'a, B: Blocks, L: Link> {
    /// The problem P that is certified.
    problem: Problem<'a, B, Unpenalised<L>>,
    engine: Engine<'a, B, L>,
    /// Whether κ adapts to the gains of the rounds.
    adapts: bool,
    memory: Memory<B::Point>,
}

/// The state of the rounds, apart from the engine's own.
#[derive(Clone, Serialize, Deserialize)]
struct Memory<P> {
    /// Whether the run is accelerated now.
    accelerated: bool,
    /// κ while the run is accelerated.
    kappa: f64,
    /// The dual gain of the current half of the round.
    gained: f64,
    /// The weights at the end of the previous round.
    last: Vec<f64>,
    offset: Vec<f64>,
    /// The passes of a round.
    passes: u64,
    /// Steps left in the round.
    left: u64,
    /// Oracle calls so far.
    calls: u64,
    /// The numbers of oracle calls at which acceleration alternately began and ended.
    changes: Vec<u64>,
    /// The primal value of the rounds' weights at the last certification.
    primal: f64,
    trial: Option<Trial>,
    /// Consecutive certifications without progress.
    quiet: u32,
    best: Best<P>,
}

/// Everything that a run in rounds resumes from.
#[derive(Serialize, Deserialize)]
pub(super) struct RoundsState<P> {
    engine: State<P>,
    memory: Memory<P>,
}

/// The passes of a round, with the oracle or cached: at the start, and at most. Longer rounds would get by with a
/// smaller κ, so κ adapts first, and the number of passes only once κ has reached a bound.
const PASSES: u64 = 4;
const MOST_PASSES: u64 = 64;

impl<'a, B: Blocks, L: Link> Rounds<'a, B, L> {
    /// Starts at these points, or at the blocks' starting points if there are none.
    pub fn new(
        blocks: &'a B,
        link: &L,
        momentum: Option<Momentum>,
        settings: &Settings,
        points: Option<Vec<B::Point>>,
    ) -> Result<Self> {
        let accelerated = momentum.is_some_and(|momentum| momentum.at_once);
        let kappa = momentum.map_or(0.0, |momentum| momentum.kappa);
        let root = root(settings.lambda, kappa);
        // If the settings ask for acceleration, it stays on as long as the gap shrinks at all.
        let floor = match (accelerated, settings.acceleration) {
            (true, Acceleration::On) => f64::MIN_POSITIVE,
            (true, _) => LEAST * root,
            (false, _) => root,
        };
        let trial = momentum.map(|momentum| {
            let window = if accelerated { BEGINNING * long(root) } else { momentum.window };
            Trial::new(window, floor)
        });
        let problem = outer(blocks, link, settings)?;
        let now = if accelerated { kappa } else { 0.0 };
        let inner = inner(blocks, link, now, settings)?;
        let mut engine = match points {
            Some(points) => Engine::at(inner, settings, points)?,
            None => Engine::new(inner, settings)?,
        };
        let points = problem.balanced(engine.points())?.unwrap_or_else(|| engine.points().to_vec());
        let mut offset = vec![0.0; blocks.dim()];
        if let Some(free) = problem.link.free {
            offset[free.column] = problem.best_free(&engine.weights(), free);
            engine.recentre(offset.clone());
        }
        let memory = Memory {
            accelerated,
            kappa,
            gained: 0.0,
            last: engine.weights(),
            offset,
            passes: PASSES,
            left: PASSES * blocks.len() as u64,
            calls: 0,
            changes: if accelerated { vec![0] } else { Vec::new() },
            primal: f64::INFINITY,
            trial,
            quiet: 0,
            best: Best::new(problem.dual(&points)?.value, Some(points)),
        };
        Ok(Self::with(problem, engine, adapts(blocks, settings), memory))
    }

    /// Resumes from the state of an earlier run; proves again everything that a certificate rests on.
    pub fn resumed(
        blocks: &'a B,
        link: &L,
        momentum: Option<Momentum>,
        settings: &Settings,
        state: RoundsState<B::Point>,
    ) -> Result<Self> {
        let RoundsState { engine, mut memory } = state;
        let kappa = momentum.map_or(0.0, |momentum| momentum.kappa);
        let ratio = 1.0 + memory.kappa / settings.lambda;
        let fitted = adapts(blocks, settings)
            && kappa > 0.0
            && (LEAST_RATIO..=LARGEST_RATIO).contains(&ratio);
        let now = if memory.accelerated { memory.kappa } else { 0.0 };
        let problem = outer(blocks, link, settings)?;
        let inner = inner(blocks, link, now, settings)?.centred(memory.offset.clone())?;
        let dim = blocks.dim();
        let finite = |v: &[f64]| v.len() == dim && v.iter().all(|x| x.is_finite());
        let sound = finite(&memory.last)
            && memory.offset.len() == dim
            && (memory.kappa == kappa || fitted)
            && memory.gained.is_finite()
            && (memory.passes == PASSES || fitted)
            && (1..=MOST_PASSES).contains(&memory.passes)
            && memory.left <= memory.passes * blocks.len() as u64
            && (memory.left > 0 || engine.spares_much())
            && memory.calls < 1 << 60
            && memory.trial.as_ref().is_none_or(Trial::is_sound)
            && memory.best.is_sound(dim, true);
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        let engine = Engine::resumed(inner, settings, engine)?;
        parallel::install(&engine.pool(), || memory.best.prove(&problem))?;
        Ok(Self::with(problem, engine, adapts(blocks, settings), memory))
    }

    fn with(
        problem: Problem<'a, B, Unpenalised<L>>,
        mut engine: Engine<'a, B, L>,
        adapts: bool,
        memory: Memory<B::Point>,
    ) -> Self {
        let adapts = adapts && memory.trial.is_some();
        if adapts {
            engine.count_gains();
        }
        Self { problem, engine, adapts, memory }
    }

    /// Returns the state from which another run continues exactly as this one would.
    pub fn state(&self) -> RoundsState<B::Point> {
        RoundsState { engine: self.engine.state(), memory: self.memory.clone() }
    }

    fn root(&self) -> f64 {
        root(self.problem.lambda, self.memory.kappa)
    }

    /// Returns the number of steps of a round.
    fn round(&self) -> u64 {
        self.memory.passes * self.problem.blocks.len() as u64
    }

    /// Returns κ and the passes for the next round, chosen by the gain of this round, which ended at `w`.
    fn fitted(&self, w: &[f64]) -> (f64, u64) {
        let Memory { kappa, gained, offset, passes, .. } = &self.memory;
        let lambda = self.problem.lambda;
        let (pull, ratio) = (kappa / (lambda + kappa), 1.0 + kappa / lambda);
        let from_centre: f64 = w.iter().zip(offset).map(|(w, z)| (w - z / pull).powi(2)).sum();
        let share = gained / (0.5 * kappa * from_centre);
        let (ratio, passes) = if share < ENOUGH.start {
            weaker(ratio, *passes)
        } else if share > ENOUGH.end {
            stronger(ratio, *passes)
        } else {
            return (*kappa, *passes);
        };
        ((ratio - 1.0) * lambda, passes)
    }

    /// Ends a round: adapts κ and moves the centre. A round that `waited` for the oracle was solved more accurately
    /// than usual, so its gain says nothing about κ.
    fn turn(&mut self, waited: bool) -> Result<()> {
        let w = self.engine.weights();
        if self.adapts && self.memory.accelerated && !waited {
            let (kappa, passes) = self.fitted(&w);
            self.memory.passes = passes;
            if kappa != self.memory.kappa {
                self.memory.kappa = kappa;
                self.strengthen(kappa)?;
            }
        }
        let root = self.root();
        let (pull, momentum) = if self.memory.accelerated {
            (1.0 - root * root, (1.0 - root) / (1.0 + root))
        } else {
            (0.0, 0.0)
        };
        self.memory.left = self.round();
        let Memory { last, offset, .. } = &mut self.memory;
        let free = self.problem.link.free;
        if pull == 0.0 && free.is_none() {
            return Ok(());
        }
        for ((offset, w), last) in offset.iter_mut().zip(&w).zip(&*last) {
            *offset = pull * (w + momentum * (w - last));
        }
        if let Some(Free { column, bound }) = free {
            let moved = w[column] + momentum * (w[column] - last[column]);
            offset[column] = moved.clamp(-bound, bound);
        }
        *last = w;
        self.engine.recentre(offset.clone());
        Ok(())
    }

    /// Sets the engine's λ to λ + κ. The caller sets a centre next.
    fn strengthen(&mut self, kappa: f64) -> Result<()> {
        let (lambda, link) = (self.problem.lambda, &self.problem.link.link);
        let link = link.strengthened(lambda, kappa).ok_or_else(no_acceleration)?;
        self.engine.retune(link, lambda + kappa)
    }

    /// Starts or stops acceleration, with the centre at the current weights.
    fn accelerate(&mut self, accelerated: bool) -> Result<()> {
        let lambda = self.problem.lambda;
        let kappa = if accelerated { self.memory.kappa } else { 0.0 };
        self.memory.last = self.engine.weights();
        self.memory.accelerated = accelerated;
        self.memory.primal = f64::INFINITY;
        if let (false, Some(points)) = (accelerated, self.memory.best.points()) {
            // Plain steps continue from the best dual point; they never decrease the dual value.
            self.engine.restore(points);
        }
        self.strengthen(kappa)?;
        let centre = self.memory.last.iter().map(|w| w * kappa / (lambda + kappa));
        self.memory.offset.iter_mut().zip(centre).for_each(|(offset, to)| *offset = to);
        if let Some(free) = self.problem.link.free {
            self.memory.offset[free.column] = self.problem.best_free(&self.memory.last, free);
        }
        self.memory.left = self.round();
        self.memory.changes.push(self.memory.calls);
        self.engine.recentre(self.memory.offset.clone());
        Ok(())
    }

    fn certify_in_pool(&mut self) -> Result<Certified> {
        self.engine.tidy();
        let balanced = self.problem.balanced(self.engine.points())?;
        let points = balanced.as_deref().unwrap_or(self.engine.points());
        let dual = self.problem.dual(points)?;
        let Memory { best, accelerated, last, primal: before, quiet, .. } = &mut self.memory;
        let best_before = best.certificate().transpose()?.map(|best| (best.primal, best.dual));
        best.offer_dual(dual.value, points);
        let mut w = self.engine.weights();
        if let Some(Free { column, bound }) = self.problem.link.free {
            w[column] = w[column].clamp(-bound, bound);
        }
        let mut primal = self.problem.primal(&w)?;
        if primal.value.value > *before {
            // Momentum has overshot and increased the primal value: it restarts from here.
            last.copy_from_slice(&w);
        }
        *before = primal.value.value;
        best.offer_primal(primal, || w);
        if *accelerated && self.problem.link.free.is_none() {
            let w = self.problem.link.weights(&dual.v);
            let other = self.problem.primal(&w)?;
            if other.value.value < primal.value.value {
                primal = other;
            }
            best.offer_primal(other, || w);
        }
        self.engine.rebuild();
        let iterate = Certificate::new(primal.value, dual.value, primal.certified)?;
        let model = best.certificate().transpose()?.unwrap_or(iterate);
        let still = best_before == Some((model.primal, model.dual));
        *quiet = if still { quiet.saturating_add(1) } else { 0 };
        self.judge(model.gap())?;
        Ok(Certified { model, iterate })
    }

    /// Starts or stops acceleration if the rate of the gap says that it pays or does not pay.
    fn judge(&mut self, gap: f64) -> Result<()> {
        let (root, pass) = (self.root(), self.engine.calls_per_pass());
        let Memory { trial: Some(trial), calls, accelerated, .. } = &mut self.memory else {
            return Ok(());
        };
        let Some(rate) = trial.rate(*calls, gap, pass) else { return Ok(()) };
        if *accelerated {
            trial.window = long(root);
        }
        if !trial.changes(rate) {
            return Ok(());
        }
        // The other method must reach the least rate, even if the gap did not shrink at all before.
        trial.rival = trial.rival.map(|rival| rival.max(LEAST * root));
        trial.window = long(root);
        let accelerated = !*accelerated;
        self.accelerate(accelerated)
    }
}

/// Whether κ adapts to the gains of the rounds. For smooth losses the condition number determines κ. Steps toward
/// corners alone converge slowly at the end of every round, whatever κ is, so their gains say little about it.
fn adapts<B: Blocks>(blocks: &B, settings: &Settings) -> bool {
    let toward = settings.direction(B::FACES).is_ok_and(|to| to == Direction::Toward);
    let crawls = B::FACES && toward && settings.cache != Cache::On;
    blocks.smoothness() == 0.0 && !crawls
}

/// Halves the passes if they are above `PASSES` or λ'/λ is at its lower bound, else λ'/λ.
fn weaker(ratio: f64, passes: u64) -> (f64, u64) {
    if passes > PASSES || ratio <= LEAST_RATIO {
        (ratio, (passes / 2).max(1))
    } else {
        ((0.5 * ratio).max(LEAST_RATIO), passes)
    }
}

/// Doubles the passes if they are below `PASSES` or λ'/λ is at its upper bound, else λ'/λ.
fn stronger(ratio: f64, passes: u64) -> (f64, u64) {
    if passes < PASSES || ratio >= LARGEST_RATIO {
        (ratio, (2 * passes).min(MOST_PASSES))
    } else {
        ((2.0 * ratio).min(LARGEST_RATIO), passes)
    }
}

/// Returns √q under acceleration with κ.
fn root(lambda: f64, kappa: f64) -> f64 {
    (lambda / (lambda + kappa)).sqrt()
}

/// Returns the passes over which acceleration is judged: momentum needs about 1/√q passes to take effect.
fn long(root: f64) -> f64 {
    (2.0 / root).max(WINDOW)
}

fn no_acceleration() -> Error {
    Error::setting("with this regulariser there is no acceleration, and no weight without penalty")
}

/// Returns the problem to certify.
fn outer<'a, B: Blocks, L: Link>(
    blocks: &'a B,
    link: &L,
    settings: &Settings,
) -> Result<Problem<'a, B, Unpenalised<L>>> {
    let link = Unpenalised { link: link.clone(), free: settings.regulariser.free };
    Problem::new(blocks, link, settings.lambda, settings.sample_weights.as_deref())
}

/// Returns the problem of a round, on which the engine steps.
fn inner<'a, B: Blocks, L: Link>(
    blocks: &'a B,
    link: &L,
    kappa: f64,
    settings: &Settings,
) -> Result<Problem<'a, B, L>> {
    let lambda = settings.lambda;
    let link = link.strengthened(lambda, kappa).ok_or_else(no_acceleration)?;
    Problem::new(blocks, link, lambda + kappa, settings.sample_weights.as_deref())
}

impl<B: Blocks, L: Link> Solver for Rounds<'_, B, L> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.engine.calls_per_pass()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        while quota.allows(done, 0) {
            // The length of this round; the previous one may have had more passes, or fewer.
            let (round, half) = (self.round(), self.round() / 2);
            let of_this_round = match self.memory.left {
                0 => self.engine.steps_left_in_pass(),
                left if left > half => left - half,
                left => left,
            };
            let waits = self.memory.left == 0;
            if self.memory.left == half || self.memory.left == round {
                self.memory.gained = 0.0;
            }
            self.engine.count_onto(self.memory.gained);
            let part = self.engine.advance(&Quota {
                oracle_calls: quota.oracle_calls - done.oracle_calls,
                steps: of_this_round.min(quota.steps - done.steps),
                pause: quota.pause - done.oracle_calls,
                halted: quota.halted,
            })?;
            if part == Work::default() {
                break;
            }
            self.memory.left = self.memory.left.saturating_sub(part.steps);
            self.memory.calls += part.oracle_calls;
            done += part;
            self.memory.gained = self.engine.gained();
            // Far from the corners that an expensive oracle would find, momentum goes astray: the centre waits until
            // the oracle is next.
            if self.memory.left == 0 && !self.engine.spares_much() {
                self.turn(waits)?;
            }
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let pool = self.engine.pool();
        parallel::install(&pool, || self.certify_in_pool())
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.memory.best.certificate()
    }

    fn may_stall(&self) -> bool {
        let centre_moves = self.memory.accelerated || self.problem.link.free.is_some();
        !centre_moves || self.memory.quiet > QUIET
    }

    fn weights(&self) -> &[f64] {
        self.memory.best.weights().unwrap_or(&[])
    }

    fn tactics(&self) -> Vec<String> {
        let pass = self.engine.calls_per_pass() as f64;
        let mut said = self.engine.tactics();
        let changes: Vec<String> = self
            .memory
            .changes
            .iter()
            .enumerate()
            .map(|(k, &calls)| {
                let what = if k % 2 == 0 { "from" } else { "to" };
                format!("{what} pass {:.0}", calls as f64 / pass)
            })
            .collect();
        if !changes.is_empty() {
            let ratio = 1.0 + self.memory.kappa / self.problem.lambda;
            let round = match self.memory.passes {
                1 => "one pass".to_string(),
                passes => format!("{passes} passes"),
            };
            let changes = changes.join(" ");
            said.push(format!("accelerated {changes} (λ' = {ratio:.1} λ, rounds of {round})"));
        }
        said
    }

    fn into_model(self) -> Solution<B::Point> {
        let Self { engine, memory, .. } = self;
        memory.best.into_solution(|| engine.weights(), Vec::new())
    }
}
