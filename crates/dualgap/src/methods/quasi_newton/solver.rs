//! The steps, as a [`Solver`].

use super::memory::{Memory, Products};
use super::{Past, SmoothProblem, orthant};
use crate::linalg::kernels::dot;
use crate::linalg::parallel;
use crate::run::{
    Certificate, Certified, Checkpoint, Counters, Expected, Quota, Resumable, Solver, Work,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The share of the promised decrease that a step has to reach: the usual one of Armijo's rule.
const SHARE: f64 = 1e-4;

/// A step is shortened so often at most. After the first of these the pairs are forgotten.
const TRIALS: usize = 20;

/// P may rise by this much of itself in a step: near the optimum the decrease is below its rounding.
const LEVEL: f64 = 1e-14;

/// The power of the Hessian's diagonal that is inverted. It has to be the first only for features that do not depend on each
/// other; on 2,000 sentences of CoNLL-2000 (λ = 2/n, after six stochastic passes) gradients until 1e-3, 1e-4 and 1e-5 above the
/// optimum were with 0: 23, 38, more than 50; with 0.3: 14, 24, 36; with 0.5: 11, 21, 38; with 1: 12, 40, more than 60.
const POWER: f64 = 0.4;

/// Everything that later steps depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    w: Vec<f64>,
    /// The number of stochastic passes that are done; `None` when steps have the gradients of all examples.
    stochastic: Option<u64>,
    memory: Memory,
    /// The certified weights with the smallest gap. Their certificate is computed again when a run resumes.
    best: Option<Vec<f64>>,
    /// Whether P and its gradient at w are known already; they are computed again, to the same bits.
    known: bool,
    /// What the stochastic passes have left for the next.
    past: Past,
}

/// The state of a program whose stochastic passes remembered nothing.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Serialize))]
struct Forgetful {
    w: Vec<f64>,
    stochastic: Option<u64>,
    memory: Memory,
    best: Option<Vec<f64>>,
    known: bool,
}

impl State {
    /// Returns the state of a checkpoint, also of an older program.
    pub(super) fn of(checkpoint: &Checkpoint) -> Result<Self> {
        checkpoint.state().or_else(|error| {
            let older = checkpoint.state::<Forgetful>().map_err(|_| error)?;
            let Forgetful { w, stochastic, memory, best, known } = older;
            Ok(Self { w, stochastic, memory, best, known, past: Past::default() })
        })
    }
}

/// P, and the gradient of its smooth part, at the current weights.
struct Local {
    value: f64,
    gradient: Vec<f64>,
    /// The products of the pairs in memory with the gradient, if they are known.
    products: Option<Products>,
}

/// Vectors that are written anew in every step: with millions of weights, memory that the system has to clear first would take as
/// long as the arithmetic.
#[derive(Default)]
struct Spare {
    w: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
}

/// The parts in which vectors are written.
const PARTS: usize = 32;

/// The quasi-Newton method; see the room's head.
pub struct QuasiNewton<'a, P> {
    problem: &'a P,
    state: State,
    local: Option<Local>,
    /// The certificate of the best weights.
    proved: Option<Certificate>,
    pool: Arc<parallel::Pool>,
    /// Gradients of all examples, for the counters.
    gradients: u64,
    spare: Spare,
}

impl<'a, P: SmoothProblem> QuasiNewton<'a, P> {
    /// Begins at w = 0.
    pub fn new(problem: &'a P, threads: usize) -> Result<Self> {
        let pool = parallel::Pool::new(threads)?;
        let w = vec![0.0; problem.dim()];
        let state = State {
            w,
            stochastic: Some(0),
            memory: Memory::default(),
            best: None,
            known: false,
            past: Past::default(),
        };
        let (pool, spare) = (Arc::new(pool), Spare::default());
        Ok(Self { problem, state, local: None, proved: None, pool, gradients: 0, spare })
    }

    /// Begins at these weights, with the gradients of all examples at once.
    pub(super) fn begin_at(&mut self, w: Vec<f64>) {
        (self.state.w, self.state.stochastic) = (w, None);
    }

    /// Resumes from the state of an earlier run; proves again what a certificate rests on.
    pub(super) fn resume(&mut self, state: State) -> Result<()> {
        let dim = self.problem.dim();
        let finite = |w: &[f64]| w.len() == dim && w.iter().all(|w| w.is_finite());
        let sound = finite(&state.w)
            && state.memory.is_sound(dim)
            && state.past.is_sound()
            && state.best.as_ref().is_none_or(|w| finite(w));
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        if let Some(w) = &state.best {
            let problem = self.problem;
            self.proved = Some(parallel::install(&self.pool, || certificate_of(problem, w))?);
        }
        if state.known {
            let mut gradient = vec![0.0; dim];
            let (problem, w, out) = (self.problem, &state.w, &mut gradient);
            let value = parallel::install(&self.pool, || problem.gradient(w, out))?;
            let value = value + penalty(problem, w);
            self.local = Some(Local { value, gradient, products: None });
        }
        self.state = state;
        self.state.memory.complete();
        Ok(())
    }

    fn local_at(&mut self, w: &[f64]) -> Result<Local> {
        let mut gradient = std::mem::take(&mut self.spare.gradient);
        gradient.resize(w.len(), 0.0);
        let value = self.problem.gradient(w, &mut gradient)?;
        self.gradients += 1;
        Ok(Local { value: value + penalty(self.problem, w), gradient, products: None })
    }

    /// Takes a step, and returns the work that it took in passes over the data.
    fn step(&mut self) -> Result<u64> {
        if let Some(pass) = self.state.stochastic {
            let State { w, past, .. } = &mut self.state;
            let more = self.problem.stochastic_pass(w, past, pass)?;
            self.state.stochastic = more.then_some(pass + 1);
            // The first pass has to find out how long steps are.
            return Ok(if pass == 0 { 2 } else { 1 });
        }
        let before = self.gradients;
        let mut passes = 0;
        let local = if let Some(local) = self.local.take() {
            local
        } else {
            let w = std::mem::take(&mut self.state.w);
            let local = self.local_at(&w);
            self.state.w = w;
            local?
        };
        if self.state.memory.diagonal.is_empty() {
            let mut diagonal = vec![0.0; local.gradient.len()];
            self.problem.diagonal(&self.state.w, &mut diagonal)?;
            diagonal.iter_mut().for_each(|d| *d = d.powf(POWER));
            self.state.memory.restart(diagonal);
            passes += 1;
        }
        self.search(local)?;
        Ok(passes + self.gradients - before)
    }

    /// Writes the direction for the steepest way up, under an l1 norm without what is no way down; returns the slope along it.
    fn direction(&self, up: &[f64], products: Option<&Products>, p: &mut Vec<f64>) -> Result<f64> {
        let smooth = self.problem.l1() <= 0.0;
        let slope = self.state.memory.direction(up, products.filter(|_| smooth), p)?;
        if smooth {
            return Ok(slope);
        }
        orthant::align(p, up);
        Ok(dot(up, p))
    }

    /// Writes the weights at the end of a step of length t.
    fn ahead(&self, p: &[f64], t: f64, steepest: Option<&[f64]>, ahead: &mut Vec<f64>) {
        let w = &self.state.w;
        if let Some(steepest) = steepest {
            *ahead = orthant::walk(w, p, t, steepest);
            return;
        }
        ahead.resize(w.len(), 0.0);
        parallel::fill_ranges(w.len(), PARTS, [(ahead, 1)], |range, [ahead]| {
            for ((ahead, w), p) in ahead.iter_mut().zip(&w[range.clone()]).zip(&p[range]) {
                *ahead = w + t * p;
            }
        });
    }

    /// Goes along the direction as far as P falls enough.
    fn search(&mut self, local: Local) -> Result<()> {
        let mut p = std::mem::take(&mut self.spare.direction);
        let done = self.search_along(local, &mut p);
        self.spare.direction = p;
        done
    }

    fn search_along(&mut self, mut local: Local, p: &mut Vec<f64>) -> Result<()> {
        let sigma = self.problem.l1();
        let steepest =
            (sigma > 0.0).then(|| orthant::steepest(&self.state.w, &local.gradient, sigma));
        let down = steepest.as_deref().unwrap_or(&local.gradient);
        let mut slope = self.direction(down, local.products.as_ref(), p)?;
        let mut t = 1.0;
        for trial in 0..TRIALS {
            if slope >= 0.0 || slope.is_nan() {
                break;
            }
            let mut w = std::mem::take(&mut self.spare.w);
            self.ahead(p, t, steepest.as_deref(), &mut w);
            let mut ahead = self.local_at(&w)?;
            let level = LEVEL * local.value.abs();
            // Under an l1 norm the step is not t p where it ends at zero.
            let promised = match &steepest {
                Some(down) => {
                    let each = down.iter().zip(&w).zip(&self.state.w);
                    each.map(|((d, w), old)| d * (w - old)).sum()
                }
                None => t * slope,
            };
            if ahead.value <= local.value + SHARE * promised + level {
                if steepest.is_some() {
                    p.iter_mut().zip(&w).zip(&self.state.w).for_each(|((p, w), old)| *p = w - old);
                    t = 1.0;
                }
                let memory = &mut self.state.memory;
                ahead.products = memory.push((p, t), &local.gradient, &ahead.gradient)?;
                self.spare.w = std::mem::replace(&mut self.state.w, w);
                self.spare.gradient = local.gradient;
                self.local = Some(ahead);
                return Ok(());
            }
            (self.spare.w, self.spare.gradient) = (w, ahead.gradient);
            // The minimiser of the parabola through both values and the slope.
            let rise = ahead.value - local.value - t * slope;
            let best = -slope * t * t / (2.0 * rise);
            t = if best.is_finite() { best.clamp(0.1 * t, 0.5 * t) } else { 0.1 * t };
            if trial == TRIALS / 2 {
                let diagonal = std::mem::take(&mut self.state.memory.diagonal);
                self.state.memory.restart(diagonal);
                local.products = None;
                (slope, t) = (self.direction(down, None, p)?, 1.0);
            }
        }
        self.local = Some(local);
        Ok(())
    }
}

/// Returns σ‖w‖₁.
fn penalty<P: SmoothProblem>(problem: &P, w: &[f64]) -> f64 {
    let sigma = problem.l1();
    if sigma > 0.0 { sigma * orthant::norm(w) } else { 0.0 }
}

fn certificate_of<P: SmoothProblem>(problem: &P, w: &[f64]) -> Result<Certificate> {
    let (primal, dual) = problem.certificate(w)?;
    Certificate::new(primal, dual, true)
}

impl<P: SmoothProblem> Resumable for QuasiNewton<'_, P> {
    type State = State;

    fn state(&self) -> State {
        let mut state = State { known: self.local.is_some(), ..self.state.clone() };
        self.problem.settle(&mut state.w, &state.past);
        state
    }
}

impl<P: SmoothProblem> Solver for QuasiNewton<'_, P> {
    type Model = Vec<f64>;

    fn calls_per_pass(&self) -> u64 {
        self.problem.examples() as u64
    }

    /// A certificate has the sums of a pass, in 64 bits and with their rounding, and looks at all weights besides. On one core it
    /// takes as long as 2.9 stochastic passes over the treebank EWT, and as 4.3 over CoNLL-2000, with 7.4 million weights.
    fn passes_per_certification(&self) -> f64 {
        3.5
    }

    /// A step is always completed: what it takes is known only afterwards.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        let pool = Arc::clone(&self.pool);
        while quota.allows(done, 1) {
            let passes = parallel::install(&pool, || self.step())?;
            // A step that finds no way down counts too, so that a run that has stalled ends.
            let calls = passes.max(1).saturating_mul(self.calls_per_pass());
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.proved.map(Ok)
    }

    fn certify(&mut self) -> Result<Certified> {
        self.problem.settle(&mut self.state.w, &self.state.past);
        let (problem, w) = (self.problem, &self.state.w);
        let iterate = parallel::install(&self.pool, || certificate_of(problem, w))?;
        if self.state.stochastic.is_some() {
            self.state.past.learn(&iterate);
        }
        let w = &self.state.w;
        if self.proved.is_none_or(|best| iterate.gap_bound() < best.gap_bound()) {
            self.proved = Some(iterate);
            self.state.best.get_or_insert_default().clone_from(w);
        }
        let model = self.proved.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    /// The gap of w and its own dual point: without an l1 norm, ‖∇P‖²/(2λ).
    fn expected(&self) -> Option<Expected> {
        if self.state.stochastic.is_some() {
            return self.state.past.expected();
        }
        let Local { value, gradient, .. } = self.local.as_ref()?;
        let (lambda, sigma) = (self.problem.lambda(), self.problem.l1());
        let gap = if sigma > 0.0 {
            orthant::gap(&self.state.w, gradient, lambda, sigma)
        } else {
            dot(gradient, gradient) / (2.0 * lambda)
        };
        Some(Expected { primal: *value, gap, off: 1.0 })
    }

    fn tactics(&self) -> Vec<String> {
        let single = "steps on single examples";
        let then = match self.state.stochastic {
            Some(_) => "",
            None => ", then quasi-Newton ones (L-BFGS) with a diagonal preconditioner",
        };
        vec![format!("{single}{then}")]
    }

    fn counters(&self) -> Counters {
        Counters::from([("gradients", self.gradients)])
    }

    fn weights(&self) -> &[f64] {
        self.state.best.as_ref().unwrap_or(&self.state.w)
    }

    fn into_model(self) -> Vec<f64> {
        self.state.best.unwrap_or(self.state.w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunState;

    #[test]
    fn the_state_of_an_older_program_is_read() {
        let (w, best) = (vec![1.0, -2.0], Some(vec![0.5, 3.0]));
        let older = Forgetful {
            w: w.clone(),
            stochastic: Some(3),
            memory: Memory::default(),
            best: best.clone(),
            known: true,
        };
        let solver = postcard::to_stdvec(&older).unwrap();
        let state = State::of(&Checkpoint { run: RunState::default(), solver }).unwrap();
        assert_eq!((&state.w, &state.best, state.stochastic), (&w, &best, Some(3)));
        assert!(state.known && state.past.numbers.is_empty());
        let solver = postcard::to_stdvec(&state).unwrap();
        let again = State::of(&Checkpoint { run: RunState::default(), solver }).unwrap();
        assert_eq!((&again.w, &again.best, again.stochastic), (&w, &best, Some(3)));
        let nonsense = Checkpoint { run: RunState::default(), solver: vec![7] };
        assert!(State::of(&nonsense).is_err());
    }
}
