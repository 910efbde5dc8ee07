//! A shard: some of the examples, their dual points, and the engine that steps on them.

use super::parts::{self, Change, DualPart, LossPart};
use crate::dual::engine::State;
use crate::dual::{
    Algorithm, Average, Blocks, Engine, Problem, Settings, Step, Witness, Witnessed,
};
use crate::linalg::parallel;
use crate::run::{Quota, Solver};
use crate::term::Link;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a shard does, whatever its blocks are.
pub trait Rounds {
    /// Returns the number of examples.
    fn len(&self) -> usize;

    /// Whether there are no examples; a shard has at least one.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of weights.
    fn dim(&self) -> usize;

    /// Takes steps for so many passes where the [position](super::Position) of all shards starts a round with λ/λ' = `share`, and
    /// returns what they have changed. A round that was not [applied](Self::apply) is undone first.
    fn round(&mut self, start: &[f64], share: f64, sigma: f64, passes: u64) -> Result<Change>;

    /// Goes this share of the last round's changes; does nothing if there is no round to apply.
    fn apply(&mut self, gamma: f64) -> Result<()>;

    /// Proves the points feasible, and returns their part of the dual value and of v.
    fn dual(&mut self) -> Result<DualPart>;

    /// Returns the losses at these weights.
    fn losses(&mut self, w: &[f64]) -> Result<LossPart>;

    /// Returns the dual points as a model file stores them.
    fn witness(&mut self) -> Witness;

    /// Returns the state from which another shard of the same examples goes on. Right after [`dual`](Self::dual) it goes on with
    /// the same bits.
    fn state(&mut self) -> Vec<u8>;

    /// Goes on from a state, or returns an error if it is not one of these examples and settings.
    fn restore(&mut self, state: &[u8]) -> Result<()>;
}

/// Some of the examples of a problem; see the module's head.
pub struct Shard<'a, B: Blocks, L> {
    blocks: &'a B,
    /// The part of the problem of all shards: its λ, and no offset.
    problem: Problem<'a, B, L>,
    engine: Engine<'a, B, L>,
    settings: Settings,
    /// v_k.
    own: Vec<f64>,
    /// `Σ mass_i dual_i(α_i)`.
    terms: f64,
    pending: Option<Pending<B::Point>>,
}

/// A round that is not applied yet.
struct Pending<P> {
    /// The points before it.
    before: Vec<P>,
    /// Δv_k.
    change: Vec<f64>,
    /// The dual terms after it.
    terms: f64,
}

/// A state as bytes.
#[derive(Serialize, Deserialize)]
struct Stored<P> {
    examples: u64,
    dim: u64,
    lambda: f64,
    engine: State<P>,
}

impl<'a, B: Witnessed, L: Link> Shard<'a, B, L> {
    /// Returns a shard at the starting points of its blocks. `settings` are those of all shards, but for the sample weights,
    /// which are the shard's own; `total` is the weight of the examples of all shards, n if they count the same.
    pub fn new(blocks: &'a B, link: L, settings: &Settings, total: f64) -> Result<Self> {
        if blocks.is_empty() {
            return Err(Error::setting(
                "a shard has no examples: every shard needs at least one, so make fewer of them",
            ));
        }
        if settings.method != Algorithm::Bcfw
            || settings.step != Step::LineSearch
            || settings.average != Average::None
        {
            return Err(Error::setting(
                "rounds on shards take steps of one block by line search, without averages",
            ));
        }
        if L::COUPLED || L::SPREAD || blocks.quality().share().is_some() {
            return Err(refused());
        }
        let (lambda, weights) = (settings.lambda, settings.sample_weights.as_deref());
        let problem = Problem::part(blocks, link.clone(), lambda, weights, total)?;
        // Shards are visited at the same time already, and a worker has one thread as a rule.
        let settings = Settings { lanes: false, ..settings.clone() };
        let engine = Engine::new(problem.retuned(link, lambda)?, &settings)?;
        let (pool, points) = (engine.pool(), engine.points());
        let own = parallel::install(&pool, || problem.image(points));
        let terms = problem.weighed.terms(points)?;
        Ok(Self { blocks, problem, engine, settings, own, terms, pending: None })
    }

    /// Goes back to the points before a round that was not applied.
    fn undo(&mut self) {
        if let Some(Pending { before, .. }) = self.pending.take() {
            self.engine.restore(&before);
        }
    }

    fn check(&self, vector: &[f64]) -> Result<()> {
        if vector.len() == self.own.len() && vector.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        let (have, need) = (vector.len(), self.own.len());
        Err(Error::setting(format!(
            "a shard has {need} weights, and was given {have} finite numbers"
        )))
    }
}

impl<B: Witnessed, L: Link> Rounds for Shard<'_, B, L> {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn dim(&self) -> usize {
        self.own.len()
    }

    fn round(&mut self, start: &[f64], share: f64, sigma: f64, passes: u64) -> Result<Change> {
        self.check(start)?;
        if !(sigma >= 1.0 && sigma.is_finite() && share > 0.0 && share <= 1.0) {
            return Err(Error::setting(format!(
                "σ' is at least 1, and λ/λ' above 0 and at most 1, not {sigma} and {share}"
            )));
        }
        self.undo();
        let Self { blocks, problem, engine, own, .. } = self;
        let (lambda, kappa) = (problem.lambda, problem.lambda * (1.0 / share - 1.0));
        let link = problem.link.strengthened(lambda, kappa).ok_or_else(refused)?;
        let scale = sigma * share;
        let offset = start.iter().zip(&*own).map(|(start, own)| start - scale * own).collect();
        let before = engine.points().to_vec();
        engine.begin_round(link, lambda / scale, offset, start.to_vec());
        let steps = passes.saturating_mul(blocks.len() as u64);
        let calls = steps.saturating_mul(blocks.calls_per_step());
        engine.advance(&Quota { oracle_calls: calls, steps, pause: calls, halted: &|| false })?;
        let terms = problem.weighed.terms(engine.points())?;
        let changes = engine.v().iter().zip(start);
        let change: Vec<f64> = changes.map(|(after, start)| (after - start) / scale).collect();
        let (rise, square) =
            (terms - self.terms, change.iter().map(|change| change * change).sum());
        self.pending = Some(Pending { before, change: change.clone(), terms });
        Ok(Change { v: change, rise, square })
    }

    fn apply(&mut self, gamma: f64) -> Result<()> {
        if !(0.0..=1.0).contains(&gamma) {
            return Err(Error::setting(format!("a share of a change is from 0 to 1, not {gamma}")));
        }
        let Some(Pending { mut before, mut change, terms }) = self.pending.take() else {
            return Ok(());
        };
        self.terms = terms;
        if gamma < 1.0 {
            for (i, (at, to)) in before.iter_mut().zip(self.engine.points()).enumerate() {
                if gamma > 0.0 {
                    self.blocks.blend(i, gamma, at, to);
                }
            }
            self.engine.restore(&before);
            self.terms = self.problem.weighed.terms(&before)?;
            change.iter_mut().for_each(|change| *change *= gamma);
        }
        self.own.iter_mut().zip(&change).for_each(|(own, change)| *own += change);
        Ok(())
    }

    fn dual(&mut self) -> Result<DualPart> {
        self.undo();
        let Self { engine, problem, .. } = self;
        engine.tidy();
        let (pool, points) = (engine.pool(), engine.points());
        let some = parallel::install(&pool, || problem.some_dual(points))?;
        self.own = some.v.clone().round();
        Ok(DualPart(some))
    }

    fn losses(&mut self, w: &[f64]) -> Result<LossPart> {
        self.check(w)?;
        self.undo();
        let Self { engine, problem, .. } = self;
        let points = engine.points();
        parallel::install(&engine.pool(), || problem.some_losses(w, Some(points), None))
            .map(LossPart)
    }

    fn witness(&mut self) -> Witness {
        self.undo();
        Witness::of(self.blocks, self.engine.points())
    }

    fn state(&mut self) -> Vec<u8> {
        self.undo();
        parts::bytes(&Stored {
            examples: self.blocks.len() as u64,
            dim: self.own.len() as u64,
            lambda: self.problem.lambda,
            engine: self.engine.state().without_v(),
        })
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let stored: Stored<B::Point> = parts::read(state)?;
        let Stored { examples, dim, lambda, engine } = stored;
        let same = examples == self.blocks.len() as u64
            && dim == self.own.len() as u64
            && lambda.to_bits() == self.problem.lambda.to_bits();
        if !same {
            return Err(Error::setting(
                "the state is that of another shard: give the one of the same examples and λ",
            ));
        }
        let problem = self.problem.retuned(self.problem.link.clone(), lambda)?;
        let mut engine =
            Engine::resumed(problem, &self.settings, engine.with_v(vec![0.0; self.own.len()]))?;
        if B::REBUILT {
            // The state may come from a file, which may say anything of what a point is made of.
            let points = Witness::of(self.blocks, engine.points()).points(self.blocks)?;
            engine.restore(&points);
        }
        let (pool, points, problem) = (engine.pool(), engine.points(), &self.problem);
        self.own = parallel::install(&pool, || problem.image(points));
        self.terms = problem.weighed.terms(points)?;
        self.engine = engine;
        self.pending = None;
        Ok(())
    }
}

fn refused() -> Error {
    Error::setting(
        "rounds on shards are for λ/2‖w‖² with or without the l1 norm, and for exact oracles or such with bounds",
    )
}
