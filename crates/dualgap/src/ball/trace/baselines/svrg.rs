//! Projected SVRG (Johnson and Zhang 2013) in mini-batches; the projection computes as many singular values as it
//! needs.
//!
//! ```text
//! X ← Proj(X − η(μX − V(Z) − (1/b) Σ_{i in the batch} n m_i 𝒜_i*(corner_i(X) − corner_i(Z))))      Z the snapshot
//! ```
//!
//! A batch is a tenth of the examples, because a projection costs more than a few examples do. η is a quarter of what
//! the smoothness of such a batch allows.

use super::best_corner::smoothness;
use super::stochastic::changes;
use crate::Result;
use crate::ball::schedule::smoothness_of_batch;
use crate::ball::solver::{Looked, Moves};
use crate::ball::trace::Map;
use crate::ball::{BallProblem, Losses};
use crate::linalg::halt::never;
use crate::linalg::{Combination, Halted, LowRank, Random, Search};
use crate::term::ball::trace::{Ranks, top_until};

/// A batch is one in this many of the examples. Smaller batches spend the time on projections.
const SHARE: usize = 10;

/// The number of passes between two snapshots: more leave a staler snapshot, fewer spend more time on full gradients.
const PASSES: usize = 2;

/// ηL: a quarter of the step that the smoothness L of a batch allows.
const STEP: f64 = 0.25;

/// The method; see the module's head.
pub(in crate::ball::trace) struct Svrg {
    x: LowRank,
    /// The corners of the snapshot, and the m_i α_i of its V.
    alpha: Vec<f64>,
    whole: Vec<f64>,
    a: Vec<f64>,
    batch: usize,
    eta: f64,
    left: usize,
    random: Random,
    warm: Option<LowRank>,
    tolerance: f64,
    which: Vec<u32>,
    y: Vec<f64>,
}

impl Svrg {
    pub fn new<M: Map, L: Losses>(problem: &BallProblem<M, L>, seed: u64) -> Result<Self> {
        let ((rows, columns), n) = (problem.map().shape(), problem.map().len());
        let batch = n.div_ceil(SHARE);
        let smoothness =
            smoothness_of_batch(problem, batch, smoothness(problem, &never)?) + problem.mu();
        let numbers = vec![0.0; problem.numbers()];
        Ok(Self {
            x: LowRank::zero(rows, columns),
            alpha: numbers.clone(),
            whole: numbers.clone(),
            a: numbers,
            batch,
            eta: if smoothness > 0.0 { STEP / smoothness } else { 1.0 },
            left: 0,
            random: Random::new(seed),
            warm: None,
            tolerance: 1e-3,
            which: Vec::new(),
            y: Vec::new(),
        })
    }
}

impl<M: Map, L: Losses> Moves<M, L> for Svrg {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let n = problem.map().len();
        let mut products = 0;
        if self.left == 0 {
            problem.map().predict(&self.x, &mut self.a);
            problem.corners(&self.a, &mut self.alpha);
            problem.weigh(&self.alpha, &mut self.whole);
            self.left = (PASSES * n).div_ceil(self.batch);
            products += self.x.rank();
        }
        self.left -= 1;
        self.which.clear();
        self.which.extend((0..self.batch).map(|_| self.random.below(n) as u32));
        self.y.clear();
        let share = n as f64 / self.batch as f64;
        changes(problem, &self.x, &self.which, share, Some(&self.alpha), &mut self.y);
        let found = {
            let whole = problem.map().image(&self.whole, 64);
            let part = problem.map().image_at(&self.which, &self.y);
            let own = 1.0 - self.eta * problem.mu();
            let shifted =
                Combination::new(vec![(self.eta, &*whole), (self.eta, &*part), (own, &self.x)]);
            let search = Search { tolerance: self.tolerance, ..Search::default() };
            let first = if self.warm.is_none() { 8 } else { self.x.rank() + 2 };
            let ranks = Ranks { first, ..Ranks::default() };
            top_until(&shifted, problem.radius(), ranks, self.warm.as_ref(), &search, halted)?
        };
        if halted() {
            return Ok(None);
        }
        let next = found.beyond();
        let square = next.dot(&next) - 2.0 * next.dot(&self.x) + self.x.dot(&self.x);
        let size = found.found.s().first().copied().unwrap_or(0.0);
        if size > 0.0 {
            self.tolerance = (0.02 * square.max(0.0).sqrt() / size).clamp(1e-12, 1e-3);
        }
        self.x = next;
        products += found.applications;
        self.warm = Some(found.found);
        Ok(Some(Looked::Products(products as u64)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.x.clone())
    }

    fn may_stall(&self) -> bool {
        false
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("batches of {}, steps of {:e}", self.batch, self.eta)]
    }
}
