//! Rounds of a few passes around one centre: acceleration, and a weight that is not penalised.
//!
//! After every round the centre moves with momentum,
//!
//! ```text
//! z ← w + β (w − w_before),    β = (1 − √q)/(1 + √q),  q = λ/λ'
//! ```
//!
//! A weight without a penalty of its own gets that of the rounds, `λ'/2 (w_j − z_j)²`, which vanishes as its centre
//! converges. The rounds certify P at the better of their own weights and ∇g*(v). If a weight is free, the dual requires
//! v to be zero in its column, and the blocks first move their points so that it is.

use super::adapt::{LARGEST_RATIO, LEAST_RATIO, MOST_PASSES, PASSES, adapts, fitted};
use super::trial::Trial;
use super::{Centred, Momentum, OuterProblem, ProximalPoint, ProximalState, Rule, foreign_state};
use crate::dual::{Acceleration, Best, Blocks, Engine, Problem, Settings};
use crate::run::{Certificate, Expected, Quota, Solver, Work};
use crate::term::{Free, Link};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The least rate at which the gap must shrink under acceleration, as a share of √q, the rate that theory promises. A
/// larger share gives up acceleration sooner.
const LEAST: f64 = 0.05;

/// The fewest passes over which the rate of the gap is measured: fewer decide sooner, more decide more reliably.
const WINDOW: f64 = 12.0;

/// The first window of an accelerated run is longer by this factor, because momentum builds up slowly.
const BEGINNING: f64 = 4.0;

/// The rule of the rounds; see the module's head.
pub struct Rounds<'a, B: Blocks, L: Link> {
    /// The problem P that is certified.
    outer: OuterProblem<'a, B, L>,
    /// Whether κ adapts to the gains of the rounds.
    adapts: bool,
    pub(super) memory: Memory,
}

/// The state of the rounds.
#[derive(Clone, Serialize, Deserialize)]
pub struct Memory {
    /// Whether the run is accelerated now.
    accelerated: bool,
    /// The dual gain of the current half of the round.
    pub(super) gained: f64,
    /// The weights at the end of the previous round.
    last: Vec<f64>,
    /// The passes of a round.
    pub(super) passes: u64,
    /// Steps left in the round.
    pub(super) left: u64,
    /// Oracle calls so far.
    pub(super) calls: u64,
    /// The numbers of oracle calls at which acceleration alternately began and ended.
    changes: Vec<u64>,
    /// The primal value of the rounds' weights at the last certification.
    primal: f64,
    trial: Option<Trial>,
}

/// The engine in rounds.
pub(in crate::dual) type InRounds<'a, B, L> = ProximalPoint<'a, B, L, Rounds<'a, B, L>>;

impl<'a, B: Blocks, L: Link> InRounds<'a, B, L> {
    /// Starts at these points, or at the blocks' starting points if there are none.
    pub(in crate::dual) fn start(
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
        let outer = OuterProblem::new(blocks, link.clone(), settings.lambda, settings)?;
        let inner = inner(blocks, link, if accelerated { kappa } else { 0.0 }, settings)?;
        let mut engine = match points {
            Some(points) => Engine::at(inner, settings, points)?,
            None => Engine::new(inner, settings)?,
        };
        let points = outer.balanced(engine.points())?.unwrap_or_else(|| engine.points().to_vec());
        if let Some((column, best)) = outer.best_free(&engine.weights()) {
            let mut offset = vec![0.0; blocks.dim()];
            offset[column] = best;
            engine.recentre(offset);
        }
        let memory = Memory {
            accelerated,
            gained: 0.0,
            last: engine.weights(),
            passes: PASSES,
            left: PASSES * blocks.len() as u64,
            calls: 0,
            changes: if accelerated { vec![0] } else { Vec::new() },
            primal: f64::INFINITY,
            trial,
        };
        let best = Best::new(outer.dual(&points)?.value, Some(points));
        let rule = Rounds { outer, adapts: adapts(blocks, settings), memory };
        Ok(Self::new(engine, kappa, best, rule).counting())
    }

    /// Resumes from the state of an earlier run; proves again everything that a certificate rests on.
    pub(in crate::dual) fn resume(
        blocks: &'a B,
        link: &L,
        momentum: Option<Momentum>,
        settings: &Settings,
        state: ProximalState<B::Point, Memory>,
    ) -> Result<Self> {
        let kappa = momentum.map_or(0.0, |momentum| momentum.kappa);
        let ratio = 1.0 + state.kappa / settings.lambda;
        let fitted = adapts(blocks, settings)
            && kappa > 0.0
            && (LEAST_RATIO..=LARGEST_RATIO).contains(&ratio);
        let memory = &state.rule;
        let sound = memory.last.len() == blocks.dim()
            && memory.last.iter().all(|x| x.is_finite())
            && (state.kappa == kappa || fitted)
            && memory.gained.is_finite()
            && (memory.passes == PASSES || fitted)
            && (1..=MOST_PASSES).contains(&memory.passes)
            && memory.left <= memory.passes * blocks.len() as u64
            && memory.calls < 1 << 60
            && memory.trial.as_ref().is_none_or(Trial::is_sound);
        if !sound {
            return Err(foreign_state());
        }
        let outer = OuterProblem::new(blocks, link.clone(), settings.lambda, settings)?;
        let now = if memory.accelerated { state.kappa } else { 0.0 };
        let inner = inner(blocks, link, now, settings)?;
        let resumed = Self::resumed(inner, settings, state, |memory, engine| {
            if memory.left == 0 && !engine.spares_much() {
                return Err(foreign_state());
            }
            Ok(Rounds { outer, adapts: adapts(blocks, settings), memory })
        })?;
        Ok(resumed.counting())
    }

    /// Has the engine count gains if κ adapts to them.
    fn counting(mut self) -> Self {
        self.rule.adapts &= self.rule.memory.trial.is_some();
        if self.rule.adapts {
            self.centred.engine.count_gains();
        }
        self
    }
}

impl<'a, B: Blocks, L: Link> Rounds<'a, B, L> {
    /// Returns the number of steps of a round.
    fn round(&self) -> u64 {
        self.memory.passes * self.outer.blocks().len() as u64
    }

    /// Ends a round: adapts κ and moves the centre. A round that `waited` for the oracle was solved more accurately
    /// than usual, so its gain says nothing about κ.
    fn turn(&mut self, centred: &mut Centred<'a, B, L>, waited: bool) -> Result<()> {
        let (w, lambda) = (centred.engine.weights(), self.outer.lambda());
        if self.adapts && self.memory.accelerated && !waited {
            let Memory { gained, passes, .. } = self.memory;
            let (kappa, passes) = fitted(centred, lambda, gained, passes, &w);
            self.memory.passes = passes;
            if kappa != centred.kappa {
                centred.kappa = kappa;
                self.strengthen(centred, kappa)?;
            }
        }
        let root = root(lambda, centred.kappa);
        let (pull, momentum) = if self.memory.accelerated {
            (1.0 - root * root, (1.0 - root) / (1.0 + root))
        } else {
            (0.0, 0.0)
        };
        self.memory.left = self.round();
        let free = self.outer.free();
        if pull == 0.0 && free.is_none() {
            return Ok(());
        }
        let last = &self.memory.last;
        let moved = |(w, last): (&f64, &f64)| pull * (w + momentum * (w - last));
        let mut offset: Vec<f64> = w.iter().zip(last).map(moved).collect();
        if let Some(Free { column, bound }) = free {
            let moved = w[column] + momentum * (w[column] - last[column]);
            offset[column] = moved.clamp(-bound, bound);
        }
        self.memory.last = w;
        centred.engine.recentre(offset);
        Ok(())
    }

    /// Sets the engine's λ to λ + κ. The caller sets a centre next.
    fn strengthen(&self, centred: &mut Centred<'a, B, L>, kappa: f64) -> Result<()> {
        let lambda = self.outer.lambda();
        let link = self.outer.link().strengthened(lambda, kappa).ok_or_else(no_acceleration)?;
        centred.engine.retune(link, lambda + kappa)
    }

    /// Starts or stops acceleration, with the centre at the current weights.
    fn accelerate(&mut self, centred: &mut Centred<'a, B, L>, accelerated: bool) -> Result<()> {
        let lambda = self.outer.lambda();
        let kappa = if accelerated { centred.kappa } else { 0.0 };
        self.memory.last = centred.engine.weights();
        self.memory.accelerated = accelerated;
        self.memory.primal = f64::INFINITY;
        if let (false, Some(points)) = (accelerated, centred.best.points()) {
            // Plain steps continue from the best dual point; they never decrease the dual value.
            centred.engine.restore(points);
        }
        self.strengthen(centred, kappa)?;
        let centre = self.memory.last.iter().map(|w| w * kappa / (lambda + kappa));
        let mut offset: Vec<f64> = centre.collect();
        if let Some((column, best)) = self.outer.best_free(&self.memory.last) {
            offset[column] = best;
        }
        self.memory.left = self.round();
        self.memory.changes.push(self.memory.calls);
        centred.engine.recentre(offset);
        Ok(())
    }
}

impl<'a, B: Blocks, L: Link> Rule<'a, B, L> for Rounds<'a, B, L> {
    type Memory = Memory;

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn prove(&self, best: &mut Best<B::Point>) -> Result<()> {
        self.outer.prove(best)
    }

    fn advance(&mut self, centred: &mut Centred<'a, B, L>, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        while quota.allows(done, 0) {
            // The length of this round; the previous one may have had more passes, or fewer.
            let (round, half) = (self.round(), self.round() / 2);
            let of_this_round = match self.memory.left {
                0 => centred.engine.steps_left_in_pass(),
                left if left > half => left - half,
                left => left,
            };
            let waits = self.memory.left == 0;
            if self.memory.left == half || self.memory.left == round {
                self.memory.gained = 0.0;
            }
            centred.engine.count_onto(self.memory.gained);
            let part = centred.engine.advance(&Quota {
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
            self.memory.gained = centred.engine.gained();
            // Far from the corners that an expensive oracle would find, momentum goes astray: the centre waits until
            // the oracle is next.
            if self.memory.left == 0 && !centred.engine.spares_much() {
                self.turn(centred, waits)?;
            }
        }
        Ok(done)
    }

    fn certify(&mut self, centred: &mut Centred<'a, B, L>) -> Result<Certificate> {
        let Centred { engine, best, .. } = centred;
        engine.tidy();
        let balanced = self.outer.balanced(engine.points())?;
        let points = balanced.as_deref().unwrap_or(engine.points());
        let dual = self.outer.dual(points)?;
        best.offer_dual(dual.value, points);
        let w = self.outer.bounded(engine.weights());
        let mut primal = self.outer.primal_at(&w, points)?;
        let Memory { accelerated, last, primal: before, .. } = &mut self.memory;
        if primal.value.value > *before {
            // Momentum has overshot and increased the primal value: it restarts from here.
            last.copy_from_slice(&w);
        }
        *before = primal.value.value;
        best.offer_primal(primal, || w);
        if *accelerated && self.outer.free().is_none() {
            let w = self.outer.weights(&dual.v);
            let other = self.outer.primal_at(&w, points)?;
            if other.value.value < primal.value.value {
                primal = other;
            }
            best.offer_primal(other, || w);
        }
        let value = dual.value;
        match balanced {
            Some(_) => engine.rebuild(),
            // The dual value comes with v, up to the factor of its λ.
            None => engine.rebuild_from(dual.v, self.outer.lambda()),
        }
        primal.certificate(value)
    }

    /// Starts or stops acceleration if the rate of the gap says that it pays or does not pay.
    fn certified(&mut self, centred: &mut Centred<'a, B, L>, model: &Certificate) -> Result<()> {
        let root = root(self.outer.lambda(), centred.kappa);
        let Memory { trial: Some(trial), calls, accelerated, changes, .. } = &mut self.memory
        else {
            return Ok(());
        };
        let pass = centred.engine.calls_per_pass();
        let rate = trial.rate(*calls, model.gap(), pass, changes.is_empty());
        let Some(rate) = rate else { return Ok(()) };
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
        self.accelerate(centred, accelerated)
    }

    /// What plain steps foresee. No certificate that is due waits for it, because certificates decide on acceleration.
    fn expected(&self, centred: &Centred<'a, B, L>) -> Option<Expected> {
        let foreseen = centred.engine.foreseen().filter(|_| !self.moves(centred));
        foreseen.map(|expected| Expected { off: f64::INFINITY, ..expected })
    }

    fn may_hasten(&self, centred: &Centred<'a, B, L>) -> bool {
        centred.engine.looks_ahead() && !self.moves(centred)
    }

    fn moves(&self, _: &Centred<'a, B, L>) -> bool {
        self.memory.accelerated || self.outer.free().is_some()
    }

    fn tactics(&self, centred: &Centred<'a, B, L>) -> Vec<String> {
        let pass = centred.engine.calls_per_pass() as f64;
        let mut said = centred.engine.tactics();
        let change = |(k, &calls): (usize, &u64)| {
            let what = if k % 2 == 0 { "from" } else { "to" };
            format!("{what} pass {:.0}", calls as f64 / pass)
        };
        let changes: Vec<String> = self.memory.changes.iter().enumerate().map(change).collect();
        if !changes.is_empty() {
            let ratio = 1.0 + centred.kappa / self.outer.lambda();
            let round = match self.memory.passes {
                1 => "one pass".to_string(),
                passes => format!("{passes} passes"),
            };
            let changes = changes.join(" ");
            said.push(format!("accelerated {changes} (λ' = {ratio:.1} λ, rounds of {round})"));
        }
        said
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
