//! Frank-Wolfe with exact line search: toward the best corner, or toward several corners at once.
//!
//! ```text
//! FW        S = r·u v', the top singular vectors of V − μX                              X ← X + γ(S − X)
//! BlockFW   S = the nearest matrix of the ball to X − ∇P(X)/(βη), of the rank it has    X ← X + γ(S − X)
//! ```
//!
//! BlockFW (Allen-Zhu et al. 2017) takes γ = η, and the user has to tune η, β and the rank. Here the rank is the number
//! of singular values above the projection's threshold, β is the largest curvature met so far, the line search finds γ,
//! and η follows γ. Along a direction D of predictions δ = 𝒜(D),
//!
//! ```text
//! P'(γ) = μ(⟨X, D⟩ + γ‖D‖²) − Σ m_i ⟨corner(a_i + γδ_i), δ_i⟩
//! ```

use super::best_corner::{corner, smoothness};
use crate::Result;
use crate::ball::solver::{Looked, Moves};
use crate::ball::trace::Map;
use crate::ball::{BallProblem, Losses};
use crate::linalg::{Combination, Halted, LowRank, Search};
use crate::term::ball::trace::{Ranks, top_until};

/// The search ends when the slope is below this share of the slope at the beginning.
const FLAT: f64 = 1e-3;

/// The search ends after this many evaluations of the slope, each of which is a loop over all predictions.
const LOOKS: usize = 16;

/// A direction D whose predictions δ = 𝒜(D) are known.
struct Line<'a> {
    a: &'a [f64],
    delta: &'a [f64],
    /// ⟨X, D⟩ and ‖D‖².
    along: f64,
    square: f64,
}

impl Line<'_> {
    fn slope<M: Map, L: Losses>(&self, problem: &BallProblem<M, L>, gamma: f64) -> f64 {
        let (c, mut scratch) = (problem.map().outputs(), L::Scratch::default());
        let (mut at, mut to, mut sum) = (vec![0.0; c], vec![0.0; c], 0.0);
        for (i, mass) in problem.masses().iter().enumerate() {
            let (a, delta) = (&self.a[i * c..][..c], &self.delta[i * c..][..c]);
            at.iter_mut().zip(a).zip(delta).for_each(|((at, a), delta)| *at = a + gamma * delta);
            problem.losses().corner(i, &at, &mut to, &mut scratch);
            sum += mass * to.iter().zip(delta).map(|(to, delta)| to * delta).sum::<f64>();
        }
        problem.mu() * (self.along + gamma * self.square) - sum
    }

    /// An upper bound on P'': the curvature that the losses' γ allows, plus that of μ.
    fn curvature<M: Map, L: Losses>(&self, problem: &BallProblem<M, L>) -> f64 {
        let c = problem.map().outputs();
        let squares = self.delta.chunks_exact(c).zip(problem.masses());
        let sum: f64 = squares.map(|(d, mass)| mass * d.iter().map(|d| d * d).sum::<f64>()).sum();
        sum / problem.losses().smoothness() + problem.mu() * self.square
    }

    /// Returns the best γ in [0, 1], up to the tolerance of the search.
    fn search<M: Map, L: Losses>(&self, problem: &BallProblem<M, L>) -> f64 {
        let begin = self.slope(problem, 0.0);
        if begin >= 0.0 || begin.is_nan() {
            return 0.0;
        }
        let (mut low, mut high): ((f64, f64), Option<(f64, f64)>) = ((0.0, begin), None);
        // This step does not pass the minimum, and for a squared loss it is the minimum.
        let mut gamma = (-begin / self.curvature(problem)).clamp(0.0, 1.0);
        for _ in 0..LOOKS {
            let slope = self.slope(problem, gamma);
            if slope.abs() <= -FLAT * begin || (slope < 0.0 && gamma >= 1.0) || slope.is_nan() {
                return gamma;
            }
            if slope < 0.0 {
                low = (gamma, slope);
            } else {
                high = Some((gamma, slope));
            }
            gamma = match high {
                None => (4.0 * gamma).min(1.0),
                Some((end, rise)) => {
                    let secant = low.0 - low.1 * (end - low.0) / (rise - low.1);
                    // Stay away from both ends, so that the interval shrinks from both sides.
                    secant.clamp(low.0 + 0.1 * (end - low.0), low.0 + 0.9 * (end - low.0))
                }
            };
        }
        low.0
    }
}

/// X, its predictions, their corners, and the y of V: the state before a step.
struct Standing {
    x: LowRank,
    a: Vec<f64>,
    alpha: Vec<f64>,
    y: Vec<f64>,
    delta: Vec<f64>,
}

impl Standing {
    fn new<M: Map, L: Losses>(problem: &BallProblem<M, L>) -> Self {
        let (rows, columns) = problem.map().shape();
        let numbers = vec![0.0; problem.numbers()];
        Self {
            x: LowRank::zero(rows, columns),
            a: numbers.clone(),
            alpha: numbers.clone(),
            y: numbers.clone(),
            delta: numbers,
        }
    }

    fn weigh<M: Map, L: Losses>(&mut self, problem: &BallProblem<M, L>) {
        problem.corners(&self.a, &mut self.alpha);
        problem.weigh(&self.alpha, &mut self.y);
    }

    /// Moves X toward S by line search; returns γ, the curvature and ‖S − X‖².
    fn toward<M: Map, L: Losses>(
        &mut self,
        problem: &BallProblem<M, L>,
        s: &LowRank,
    ) -> Result<(f64, f64, f64)> {
        problem.map().predict(s, &mut self.delta);
        self.delta.iter_mut().zip(&self.a).for_each(|(delta, a)| *delta -= a);
        let (xx, xs) = (self.x.dot(&self.x), self.x.dot(s));
        let (along, square) = (xs - xx, (s.dot(s) - 2.0 * xs + xx).max(0.0));
        let line = Line { a: &self.a, delta: &self.delta, along, square };
        let (gamma, curvature) = (line.search(problem), line.curvature(problem));
        if gamma > 0.0 {
            self.x = LowRank::combined(1.0 - gamma, &self.x, gamma, s)?;
            self.a.iter_mut().zip(&self.delta).for_each(|(a, delta)| *a += gamma * delta);
        }
        Ok((gamma, curvature, square))
    }
}

/// FW; see the module's head.
pub(in crate::ball::trace) struct FrankWolfe {
    at: Standing,
    warm: Option<LowRank>,
}

impl FrankWolfe {
    pub fn new<M: Map, L: Losses>(problem: &BallProblem<M, L>) -> Self {
        Self { at: Standing::new(problem), warm: None }
    }
}

impl<M: Map, L: Losses> Moves<M, L> for FrankWolfe {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        self.at.weigh(problem);
        let (s, products) = {
            let image = problem.map().image(&self.at.y, 16);
            let descent = Combination::new(vec![(1.0, &*image), (-problem.mu(), &self.at.x)]);
            corner(&descent, problem.radius(), self.warm.as_ref(), 1e-3, halted)?
        };
        if halted() {
            return Ok(None);
        }
        self.at.toward(problem, &s)?;
        self.warm = Some(s);
        Ok(Some(Looked::Products(products as u64 + 1)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.at.x.clone())
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("rank {}", self.at.x.rank())]
    }
}

/// BlockFW; see the module's head.
pub(in crate::ball::trace) struct BlockFrankWolfe {
    at: Standing,
    warm: Option<LowRank>,
    products: usize,
    beta: f64,
    eta: f64,
    /// The rank of the last S, and the tolerance of the search for the next one.
    rank: usize,
    tolerance: f64,
}

impl BlockFrankWolfe {
    pub fn new<M: Map, L: Losses>(problem: &BallProblem<M, L>) -> Self {
        Self {
            at: Standing::new(problem),
            warm: None,
            products: 64,
            beta: 0.0,
            eta: 1.0,
            rank: 8,
            tolerance: 1e-3,
        }
    }
}

impl<M: Map, L: Losses> Moves<M, L> for BlockFrankWolfe {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        self.at.weigh(problem);
        if self.beta == 0.0 {
            let smoothness = smoothness(problem, halted)?;
            if halted() {
                return Ok(None);
            }
            self.beta = smoothness + problem.mu();
        }
        let inverse = 1.0 / (self.beta * self.eta);
        let found = {
            let image = problem.map().image(&self.at.y, self.products);
            let own = 1.0 - problem.mu() * inverse;
            let shifted = Combination::new(vec![(inverse, &*image), (own, &self.at.x)]);
            let search = Search { tolerance: self.tolerance, ..Search::default() };
            let ranks = Ranks { first: self.rank + 2, ..Ranks::default() };
            top_until(&shifted, problem.radius(), ranks, self.warm.as_ref(), &search, halted)?
        };
        if halted() {
            return Ok(None);
        }
        let s = found.beyond();
        let (gamma, curvature, square) = self.at.toward(problem, &s)?;
        if square > 0.0 {
            self.beta = self.beta.max(curvature / square);
            let size = found.found.s().first().copied().unwrap_or(1.0);
            self.tolerance = (0.02 * square.sqrt() / size).clamp(1e-12, 1e-3);
        }
        self.eta = (self.eta * gamma).sqrt().clamp(1e-3, 1.0);
        let products = found.applications + s.rank();
        (self.rank, self.products) = (s.rank(), found.applications);
        self.warm = Some(found.found);
        Ok(Some(Looked::Products(products as u64)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.at.x.clone())
    }

    fn tactics(&self) -> Vec<String> {
        let Self { beta, eta, rank, .. } = self;
        vec![format!("steps of rank {rank}, beta {beta:.3e}, eta {eta:.3e}")]
    }
}
