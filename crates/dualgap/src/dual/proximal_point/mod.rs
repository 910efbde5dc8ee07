//! The proximal point method: the engine around a centre z that moves.
//!
//! With λ' = λ + κ the engine steps on
//!
//! ```text
//! P(w) + κ/2‖w − z‖²,        w = ∇g'*(v' + (κ/λ') z),  v' = (1/λ') Σ mass_i X_i α_i
//! ```
//!
//! which is better conditioned than P, or strongly convex where P is not. As the centre converges, what was added
//! vanishes. α is feasible for the dual of P itself whatever the centre is, so a run certifies P. Three problems are
//! solved in this way:
//!
//! - acceleration, where the centre moves with momentum (`rounds`);
//! - a weight without a penalty, for which the centre is the only one that it has (`rounds`);
//! - pure l1, where λ is zero and κ shrinks (`dual/pure_l1`).
//!
//! They share the engine, the best pair, the checkpoint and the test whether a run has stalled. A [`Rule`] has what
//! differs: when the centre moves and where to, how κ changes, and how the weights and points of the engine are
//! certified. The first two count work, because the theory of momentum asks for rounds of about the same accuracy; the
//! third compares gaps, because λ = 0 leaves no rate to expect.

mod adapt;
mod momentum;
mod outer;
#[cfg(test)]
mod pauses;
mod rounds;
#[cfg(test)]
mod tests;
mod trial;

pub(super) use momentum::{Momentum, momentum, possible};
pub(crate) use outer::OuterProblem;
pub(super) use rounds::InRounds;

use super::best::Best;
use super::engine::State;
use super::{Blocks, Engine, Problem, Settings, Solution};
use crate::linalg::parallel;
use crate::run::{Certificate, Certified, Expected, Quota, Resumable, Solver, Work};
use crate::term::Link;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// While the centre moves, a run stalls only after more consecutive certifications without progress than this: the dual
/// value may fall for long before it rises, and it rests while the problem around a new centre is solved.
const QUIET: u32 = 100;

/// The engine around a centre, and the best pair of P.
pub(crate) struct Centred<'a, B: Blocks, L: Link> {
    pub engine: Engine<'a, B, L>,
    /// κ, whenever the rule adds it to λ.
    pub kappa: f64,
    pub best: Best<B::Point>,
    /// Consecutive certifications without progress.
    quiet: u32,
}

/// When the centre moves and where to, how κ changes, and what is certified.
pub(crate) trait Rule<'a, B: Blocks, L: Link>: Sized + Send + Sync {
    /// What the rule adds to a checkpoint.
    type Memory: Clone + Serialize + DeserializeOwned;

    fn memory(&self) -> &Self::Memory;

    /// Recomputes the values of a best pair of P.
    fn prove(&self, best: &mut Best<B::Point>) -> Result<()>;

    /// Takes steps around the centre. A rule that counts work moves the centre on the way.
    fn advance(&mut self, centred: &mut Centred<'a, B, L>, quota: &Quota<'_>) -> Result<Work> {
        centred.engine.advance(quota)
    }

    /// Certifies P at the engine's weights and points: offers them to the best pair, and returns their own certificate.
    fn certify(&mut self, centred: &mut Centred<'a, B, L>) -> Result<Certificate>;

    /// Reacts to the certificate of the best pair. A rule that compares gaps moves the centre here.
    fn certified(&mut self, centred: &mut Centred<'a, B, L>, model: &Certificate) -> Result<()>;

    /// Returns about what a certification would find now, if the rule knows.
    fn expected(&self, _: &Centred<'a, B, L>) -> Option<Expected> {
        None
    }

    /// Whether certifications change nothing of the steps but when acceleration is tried.
    fn may_hasten(&self, _: &Centred<'a, B, L>) -> bool {
        false
    }

    /// Whether the centre may still move.
    fn moves(&self, centred: &Centred<'a, B, L>) -> bool;

    /// Describes what the rule has done, for the report.
    fn tactics(&self, centred: &Centred<'a, B, L>) -> Vec<String> {
        centred.engine.tactics()
    }
}

/// The solver; see the module's head.
pub(crate) struct ProximalPoint<'a, B: Blocks, L: Link, R> {
    centred: Centred<'a, B, L>,
    rule: R,
}

/// What a run resumes from.
#[derive(Serialize, Deserialize)]
pub(crate) struct ProximalState<P, M> {
    engine: State<P>,
    /// The engine's offset; empty if the centre has never moved.
    offset: Vec<f64>,
    pub kappa: f64,
    quiet: u32,
    best: Best<P>,
    pub rule: M,
}

/// Returns the error for a state that no run of this problem can have left.
pub(crate) fn foreign_state() -> Error {
    Error::setting("the state is not one of this problem and these settings")
}

impl<'a, B: Blocks, L: Link, R: Rule<'a, B, L>> ProximalPoint<'a, B, L, R> {
    /// Starts with this engine, κ and best pair of P.
    pub fn new(engine: Engine<'a, B, L>, kappa: f64, best: Best<B::Point>, rule: R) -> Self {
        Self { centred: Centred { engine, kappa, best, quiet: 0 }, rule }
    }

    /// Resumes from the state of an earlier run, given the problem that the engine was stepping on, without its offset.
    /// Proves again everything that a certificate rests on; the caller checks κ and the rule's memory.
    pub fn resumed(
        inner: Problem<'a, B, L>,
        settings: &Settings,
        state: ProximalState<B::Point, R::Memory>,
        rule: impl FnOnce(R::Memory, &Engine<'a, B, L>) -> Result<R>,
    ) -> Result<Self> {
        let ProximalState { engine, offset, kappa, quiet, mut best, rule: memory } = state;
        if !best.is_sound(inner.dim(), true) {
            return Err(foreign_state());
        }
        let engine = Engine::resumed(inner.centred(offset)?, settings, engine)?;
        let rule = rule(memory, &engine)?;
        parallel::install(&engine.pool(), || rule.prove(&mut best))?;
        Ok(Self { centred: Centred { engine, kappa, best, quiet }, rule })
    }

    /// Returns the state from which another run continues exactly as this one would.
    pub fn state(&self) -> ProximalState<B::Point, R::Memory> {
        let Centred { engine, kappa, best, quiet } = &self.centred;
        ProximalState {
            engine: engine.state(),
            offset: engine.offset().to_vec(),
            kappa: *kappa,
            quiet: *quiet,
            best: best.clone(),
            rule: self.rule.memory().clone(),
        }
    }

    /// Returns the best points so far, and those of now where they only get better: near the optimum the dual value no longer tells,
    /// to its rounding, which of them have the better weights.
    pub fn points(&self) -> &[B::Point] {
        let Centred { engine, best, .. } = &self.centred;
        match best.points() {
            Some(best) if self.rule.moves(&self.centred) => best,
            _ => engine.points(),
        }
    }

    /// Returns the thread pool that the engine runs on.
    pub fn pool(&self) -> Arc<parallel::Pool> {
        self.centred.engine.pool()
    }

    fn certify_in_pool(&mut self) -> Result<Certified> {
        let Self { centred, rule } = self;
        let values = |best: Certificate| (best.primal, best.dual);
        let before = centred.best.certificate().transpose()?.map(values);
        let iterate = rule.certify(centred)?;
        let model = centred.best.certificate().transpose()?.unwrap_or(iterate);
        let still = before == Some(values(model));
        centred.engine.learn(&model);
        centred.quiet = if still { centred.quiet.saturating_add(1) } else { 0 };
        rule.certified(centred, &model)?;
        Ok(Certified { model, iterate })
    }
}

impl<'a, B: Blocks, L: Link, R: Rule<'a, B, L>> Solver for ProximalPoint<'a, B, L, R> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.centred.engine.calls_per_pass()
    }

    fn passes_per_certification(&self) -> f64 {
        self.centred.engine.passes_per_certification()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        self.rule.advance(&mut self.centred, quota)
    }

    fn certify(&mut self) -> Result<Certified> {
        let pool = self.centred.engine.pool();
        parallel::install(&pool, || self.certify_in_pool())
    }

    fn expected(&self) -> Option<Expected> {
        self.rule.expected(&self.centred)
    }

    fn may_hasten(&self) -> bool {
        self.rule.may_hasten(&self.centred)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.centred.best.certificate()
    }

    fn may_stall(&self) -> bool {
        !self.rule.moves(&self.centred) || self.centred.quiet > QUIET
    }

    fn weights(&self) -> &[f64] {
        self.centred.best.weights().unwrap_or(&[])
    }

    fn tactics(&self) -> Vec<String> {
        self.rule.tactics(&self.centred)
    }

    fn into_model(self) -> Solution<B::Point> {
        let Centred { engine, best, .. } = self.centred;
        best.into_solution(|| engine.weights(), Vec::new())
    }
}

impl<'a, B: Blocks<Point: Serialize>, L: Link, R: Rule<'a, B, L>> Resumable
    for ProximalPoint<'a, B, L, R>
{
    type State = ProximalState<B::Point, R::Memory>;

    fn state(&self) -> Self::State {
        self.state()
    }
}
