//! The dual value of a certificate in the trace ball, computed from scratch.
//!
//! ```text
//! h(V) ≤ ‖R‖²/(2μ) + r‖V − R‖_2 for every R, proven in `term::ball::trace`
//! ```

use super::{Features, Map};
use crate::ball::problem::{self, Design, Proved};
use crate::ball::{BallProblem, Losses, Weights};
use crate::linalg::halt::never;
use crate::linalg::memory::{MOST_ENTRIES, Need};
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{
    Dense, Halted, LowRank, Measured, Operator, Rows, Search, Sum, UNDERFLOW, gamma,
};
use crate::term::ball::trace::{self, Known, Ranks, TraceDual};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The tolerance of a first search, which estimates how many singular values are above the threshold.
const ROUGH: f64 = 1e-3;

/// The rank that the estimate of memory assumes for factors: a run searches for and stores at least about as many
/// singular vectors.
const USUAL_RANK: usize = 16;

/// The error of the search for singular values, relative to the last gap: small, so that it hardly adds to the next
/// gap; a smaller one costs products.
const BEYOND_GAP: f64 = 1e-3;

/// V is summed anew with compensation if the gap is less than this many times the effect of V's rounding.
const BEYOND_ROUNDING: f64 = 30.0;

/// How much effort the proof of a dual value takes. Any choice gives a valid lower bound.
#[derive(Clone, Copy, Debug)]
pub struct Proving<'a> {
    /// The tolerance of the search, relative to the largest singular value of V.
    pub tolerance: f64,
    /// Whether V is summed with compensation.
    pub tight: bool,
    /// The number of singular values that the search asks for at first: about those above the threshold.
    pub rank: usize,
    /// Singular vectors to start the search from.
    pub warm: Option<&'a LowRank>,
}

impl Default for Proving<'_> {
    /// The tightest bound, without a warm start.
    fn default() -> Self {
        Self { tolerance: 1e-12, tight: true, rank: 8, warm: None }
    }
}

impl Proving<'_> {
    /// The range of the tolerances that a run uses.
    const TOLERANCES: RangeInclusive<f64> = 1e-12..=1e-6;

    /// The settings for the first dual value of a run, for which there is no warm start.
    fn first() -> Self {
        Self { tight: false, ..Self::default() }
    }
}

/// A dual value, and the decomposition that its proof found.
#[derive(Clone, Debug)]
pub struct LowRankDual {
    /// D(α), or a lower bound on it.
    pub value: Measured,
    /// The part of its error that comes from the rounding of V.
    pub of_rounding: f64,
    /// The ball's part; none if V is zero, or too large to be formed, so that only its norm was bounded.
    pub ball: Option<TraceDual>,
}

/// The settings with which a dual value was proved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Way {
    tolerance: f64,
    tight: bool,
    rank: usize,
    warm: Option<LowRank>,
}

impl Way {
    fn of(proving: &Proving<'_>) -> Self {
        let &Proving { tolerance, tight, rank, warm } = proving;
        Self { tolerance, tight, rank, warm: warm.cloned() }
    }

    fn proving(&self) -> Proving<'_> {
        let &Self { tolerance, tight, rank, ref warm } = self;
        Proving { tolerance, tight, rank, warm: warm.as_ref() }
    }
}

/// Returns an error if the factors, or V where it is formed, do not fit into memory. The number of copies for a
/// linear model, which also forms its gradients, was measured. Every other map has V, the copy that the proof of
/// its spectral norm works on, and three square matrices of the shorter side.
fn check_memory<M: Map>(map: &M) -> Result<()> {
    let (rows, columns) = map.shape();
    let short = rows.min(columns);
    let factors = rows.saturating_add(columns).saturating_mul(short.min(USUAL_RANK));
    let written = match rows.checked_mul(columns) {
        Some(entries) if entries <= MOST_ENTRIES => {
            entries * if map.features().is_some() { 6 } else { 2 } + 3 * short * short
        }
        _ => 0,
    };
    let numbers = map.len().saturating_mul(map.outputs()).saturating_mul(4);
    let others = written.saturating_add(numbers);
    Need { weights: factors, copies: 8, others }.check()
}

impl<M: Map> Design for M {
    type Weights = LowRank;
    type Dual = ();
    type Way = Way;

    const DUAL_FIRST: bool = false;

    fn shape(&self) -> (usize, usize) {
        Map::shape(self)
    }

    fn examples(&self) -> usize {
        self.len()
    }

    fn outputs(&self) -> usize {
        Map::outputs(self)
    }

    fn squared_norm(&self, i: usize) -> f64 {
        Map::squared_norm(self, i)
    }

    fn check(&self) -> Result<()> {
        let (rows, columns) = Map::shape(self);
        if self.is_empty() || rows == 0 || columns == 0 {
            return Err(Error::setting("there is nothing to learn from"));
        }
        check_memory(self)
    }

    fn predict_measured(&self, x: &LowRank, a: &mut [f64], off: &mut [f64]) {
        self.predict(x, a);
        self.rounding(x, off);
    }

    fn products_per_pass(&self) -> u64 {
        self.products_per_certificate().max(1)
    }

    fn first_way() -> Way {
        Way::of(&Proving::first())
    }

    fn is_sound(&self, way: &Way) -> bool {
        let fits = |x: &LowRank| x.fits(Map::shape(self));
        way.warm.as_ref().is_none_or(fits) && Proving::TOLERANCES.contains(&way.tolerance)
    }

    fn prove<L: Losses>(
        problem: &BallProblem<Self, L>,
        alpha: &[f64],
        known: &problem::Known<'_, LowRank>,
        halted: Halted<'_>,
    ) -> Result<Proved<Self>> {
        let x = known.primal.map(|(x, _)| x);
        // The search errs in ‖V − R‖_2 by about the tolerance times the largest singular value.
        let level = known.warm.and_then(|v| v.s().first()).copied().unwrap_or(1.0);
        let fine = BEYOND_GAP * known.gap / (problem.radius() * level);
        let mut proving = Proving {
            tolerance: fine.clamp(*Proving::TOLERANCES.start(), *Proving::TOLERANCES.end()),
            tight: false,
            rank: x.map_or(0, LowRank::rank) + 2,
            warm: known.warm.or(x),
        };
        let mut dual = problem.dual_until(alpha, &proving, halted)?;
        let primal = known.primal.map_or(f64::INFINITY, |(_, primal)| primal);
        if primal - dual.value.value < BEYOND_ROUNDING * dual.of_rounding && !halted() {
            (proving.tight, proving.tolerance) = (true, *Proving::TOLERANCES.start());
            dual = problem.dual_until(alpha, &proving, halted)?;
        }
        let warm = dual.ball.map(|ball| ball.top.found);
        Ok(Proved { value: dual.value, way: Way::of(&proving), warm, dual: () })
    }

    fn prove_again<L: Losses>(
        problem: &BallProblem<Self, L>,
        alpha: &[f64],
        way: &Way,
    ) -> Result<Measured> {
        Ok(problem.dual(alpha, &way.proving())?.value)
    }
}

impl<'a, L: Losses> BallProblem<Features<'a>, L> {
    /// The problem of a linear model in the trace ball; see [`BallProblem::new`].
    pub fn trace(
        rows: &'a Rows,
        losses: L,
        mu: f64,
        radius: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        Self::new(Features::new(rows, losses.outputs())?, losses, mu, radius, sample_weights)
    }
}

impl<M: Map, L: Losses> BallProblem<M, L> {
    /// Computes `y_i = m_i α_i`, from which the map forms V.
    pub fn weigh(&self, alpha: &[f64], y: &mut [f64]) {
        let c = self.outputs();
        for ((y, alpha), mass) in
            y.chunks_exact_mut(c).zip(alpha.chunks_exact(c)).zip(self.masses())
        {
            y.iter_mut().zip(alpha).for_each(|(y, alpha)| *y = mass * alpha);
        }
    }

    /// Returns D(α) with V summed anew, or an error if an α_i is infeasible.
    pub fn dual(&self, alpha: &[f64], proving: &Proving<'_>) -> Result<LowRankDual> {
        self.dual_until(alpha, proving, &never)
    }

    /// [`dual`](Self::dual) that ends soon after it is halted: the bound is then coarser, but still proven.
    pub fn dual_until(
        &self,
        alpha: &[f64],
        proving: &Proving<'_>,
        halted: Halted<'_>,
    ) -> Result<LowRankDual> {
        let (c, map, mut distance) = (self.outputs(), self.map(), 0.0);
        let mean = self.mean_conjugate(alpha, |i, alpha, off| {
            // Roundings of the mass, and of its product with α, which may underflow.
            let (size, length) = (norm_above(alpha), Map::squared_norm(map, i).sqrt());
            let off = off + product_above(gamma(6), size);
            distance += product_above(self.masses()[i], product_above(length, off));
            if size > 0.0 {
                distance += product_above(UNDERFLOW, length * c as f64);
            }
        })?;
        let mut y = vec![0.0; alpha.len()];
        self.weigh(alpha, &mut y);
        let distance = distance * (1.0 + gamma(map.len() + c + 16));
        let (rows, columns) = Map::shape(map);
        let mut sum = Sum::default();
        sum.add_measured(mean);
        if distance == 0.0 && y.iter().all(|&y| y == 0.0) {
            // V is exactly zero, and so is h.
            return Ok(LowRankDual { value: sum.total(), of_rounding: 0.0, ball: None });
        }
        if rows.checked_mul(columns).is_none_or(|entries| entries > MOST_ENTRIES) {
            let most = self.radius() * (map.bound(&y) + distance);
            sum.add_measured(Measured::rounded(-most, 4));
            return Ok(LowRankDual { value: sum.total(), of_rounding: 0.0, ball: None });
        }
        let (v, rounding) = map.written(&y, proving.tight);
        let v = Dense::new(rows, columns, &v);
        let search = Search { tolerance: proving.tolerance, ..Search::default() };
        let ranks = Ranks { first: proving.rank, ..Ranks::default() };
        let error = (distance + rounding) * (1.0 + gamma(4));
        // The proof needs all entries of V; the search is cheaper with a sparse V if most of them are zero.
        let sparse = (4 * map.len() < rows * columns).then(|| map.sparse_image(&y)).flatten();
        let products: &dyn Operator = sparse.as_deref().unwrap_or(&v);
        // Without a warm start, a rough search finds how many values are above the threshold, and their vectors.
        let (mu, r) = (self.mu(), self.radius());
        let rough = match proving.warm {
            None if mu > 0.0 && proving.tolerance < ROUGH => {
                let search = Search { tolerance: ROUGH, ..search };
                Some(trace::top_until(products, mu * r, ranks, None, &search, halted)?)
            }
            _ => None,
        };
        let known = Known { entries: &v, products, error };
        let ball = match rough {
            // The search became a full decomposition of V, which no other search improves on.
            Some(top) if top.whole => trace::with_top(known, mu, r, top, halted)?,
            rough => {
                let found = rough.map(|top| top.found);
                let first = found.as_ref().map_or(ranks.first, LowRank::rank);
                let ranks = Ranks { first, ..ranks };
                let warm = proving.warm.or(found.as_ref());
                trace::dual_until(known, mu, r, ranks, warm, &search, halted)?
            }
        };
        sum.add_measured(ball.value);
        Ok(LowRankDual { value: sum.total(), of_rounding: self.radius() * error, ball: Some(ball) })
    }

    /// Whether an X from a checkpoint is at least near the ball, as every iterate of a run is.
    pub(super) fn has_near(&self, x: &LowRank) -> bool {
        let near = |norm: Measured| norm.value + norm.error <= 2.0 * self.radius();
        x.fits(Map::shape(self.map())) && near(x.nuclear_norm())
    }
}
