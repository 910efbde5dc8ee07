//! The theorems of the BCFW paper, on problems small enough for all their constants to be computed: Theorems 1 to 3, C.1
//! and C.3 to C.5, Lemmas A.1, A.2 and C.2.
//!
//! The theorems speak of expectations over the random order; a mean over fixed seeds stands for them, and where blocks
//! are two, the mean over all orders. A bound that nothing can break proves nothing: the same checks fail with steps a
//! quarter as long and with orders that prefer half of the blocks a hundredfold, and the tests see to it that they do.
//!
//! - `curvature`: the constants. `improvement`: a single step.
//! - `primal`, `gaps`, `line_search`: the rates, through the general solver, with oracles that are as bad as ν and δ
//!   allow them to be.
//! - `engine`: the same through the block-dual engine.

mod curvature;
mod engine;
mod gaps;
mod improvement;
mod line_search;
mod primal;

use crate::common::explicit::dot;
use crate::common::structural::StructuralDual;
use crate::common::{Kind, Small, quadratic};
use dualgap::Result;
use dualgap::dual::{Algorithm, Sampling, Step};
use dualgap::linalg::Random;
use dualgap::methods::product::{
    FrankWolfe, Minimum, Objective, Point, Product, ProductSettings, Query, Set, Simplex,
};
use dualgap::term::Costs;

/// A simplex whose oracle is exactly as bad as inequality (13) allows, with the tolerance that the solver asks for.
#[derive(Clone, Copy, Debug)]
pub struct Lazy {
    simplex: Simplex,
    nu: f64,
}

impl Set for Lazy {
    fn dim(&self) -> usize {
        self.simplex.dim()
    }

    fn radius(&self) -> f64 {
        self.simplex.radius()
    }

    fn start(&self, x: &mut [f64]) {
        self.simplex.start(x);
    }

    fn minimise(&self, query: &Query<'_>, s: &mut [f64]) -> Result<Minimum> {
        let Query { gradient, at, tolerance } = *query;
        let mut worst = vec![0.0; s.len()];
        let negated: Vec<f64> = gradient.iter().map(|g| -g).collect();
        self.simplex.minimise(&Query { gradient: &negated, ..*query }, &mut worst)?;
        self.simplex.minimise(query, s)?;
        let loss = dot(&worst, gradient) - dot(s, gradient);
        let share = if loss > 0.0 { (tolerance / self.nu / loss).min(1.0) } else { 0.0 };
        for ((s, worst), x) in s.iter_mut().zip(&worst).zip(at) {
            let off = *s + share * (worst - *s); // above the least by tolerance/ν
            *s = x + self.nu * (off - x); // ν of that
        }
        Ok(Minimum::Approximate)
    }

    fn nu(&self) -> f64 {
        self.nu
    }

    fn defect(&self, x: &[f64]) -> f64 {
        self.simplex.defect(x)
    }
}

/// A small structural dual, with its minimum and constants.
pub struct Case {
    pub small: Small,
    pub product: Product<StructuralDual, Lazy>,
    pub start: Vec<f64>,
    /// The minimum of f, known from below: h is never underestimated.
    pub minimum: f64,
    pub h0: f64,
    /// C⊗, the sum of the blocks' constants, and C of the whole product.
    pub c_blocks: f64,
    pub c_whole: f64,
    pub nu: f64,
}

impl Case {
    /// Multiclass with three classes and so many examples.
    pub fn new(n: usize, lambda: f64, nu: f64) -> Self {
        let small = Small::random(2, Kind::Multiclass(Costs::ZeroOne), n, 3, 1);
        let small = Small { lambda, ..small };
        let explicit = small.explicit();
        let bracket = quadratic::optimum(&explicit);
        assert!(bracket.is_within(1e-7), "{bracket:?}");
        let dual = StructuralDual::new(&explicit);
        let start = dual.truths();
        let product = dual.product_of(|simplex| Lazy { simplex, nu });
        let constant = |block| product.objective().curvature_constant(block).unwrap();
        let c_blocks = (0..n).map(|i| constant(Some(i))).sum();
        let c_whole = constant(None);
        // f is 0 at the truths, and its minimum −D*.
        let (minimum, h0) = (-bracket.upper, bracket.upper);
        Self { small, product, start, minimum, h0, c_blocks, c_whole, nu }
    }

    /// The error at the start is much larger than C⊗: f is almost linear.
    pub fn flat() -> Self {
        let case = Self::new(4, 20.0, 1.0);
        assert!(case.h0 > 10.0 * case.c_blocks);
        case
    }

    /// C⊗ is much larger than the error at the start.
    pub fn curved() -> Self {
        let case = Self::new(4, 0.1, 1.0);
        assert!(case.c_blocks > 5.0 * case.h0);
        case
    }

    pub fn both() -> [Self; 2] {
        [Self::flat(), Self::curved()]
    }

    /// The same with oracles that attain the share ν.
    pub fn with_nu(self, nu: f64) -> Self {
        Self::new(self.n(), self.small.lambda, nu)
    }

    pub fn n(&self) -> usize {
        self.small.len()
    }

    pub fn solver(&self, settings: &ProductSettings) -> FrankWolfe<'_, StructuralDual, Lazy> {
        let start = self.product.point(self.start.clone()).unwrap();
        FrankWolfe::at(&self.product, settings, start).unwrap()
    }

    /// h(x) = f(x) − min f.
    pub fn error(&self, at: &Point) -> f64 {
        self.product.objective().value(at).value - self.minimum
    }

    /// The gap of block i by looking at all corners.
    pub fn block_gap(&self, at: &Point, i: usize) -> f64 {
        let mut gradient = vec![0.0; at.block(i).len()];
        self.product.objective().gradient(at, i, &mut gradient);
        dot(at.block(i), &gradient) - gradient.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn gap(&self, at: &Point) -> f64 {
        (0..self.n()).map(|i| self.block_gap(at, i)).sum()
    }
}

/// How blocks and step lengths are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub method: Algorithm,
    pub step: Step,
    pub delta: f64,
    /// What each step length is multiplied by.
    pub length: f64,
    /// How much more often the second half of the blocks is drawn.
    pub skew: usize,
}

impl Way {
    /// As the theorems have it.
    pub fn proper(step: Step) -> Self {
        Self { method: Algorithm::Bcfw, step, delta: 0.0, length: 1.0, skew: 1 }
    }

    /// Steps a quarter as long.
    pub fn short(self) -> Self {
        Self { length: 0.25, ..self }
    }

    pub fn skewed(self) -> Self {
        Self { skew: 100, ..self }
    }
}

pub const STEPS: [Step; 2] = [Step::Predefined, Step::LineSearch];

/// The iterates 0 to K of one run.
pub fn walk(case: &Case, way: Way, steps: usize, seed: u64) -> Vec<Point> {
    let Way { method, step, delta, length, skew } = way;
    let sampling = Sampling::Uniform;
    let settings =
        ProductSettings { method, step, sampling, delta, seed, ..ProductSettings::default() };
    let mut solver = case.solver(&settings);
    let (n, mut random) = (case.n(), Random::new(seed));
    let mut iterates = vec![solver.point().clone()];
    for _ in 0..steps {
        if length == 1.0 && skew == 1 {
            solver.step().unwrap(); // the solver's own order and lengths
        } else {
            let half = n / 2;
            let drawn = random.below(half + skew * (n - half));
            let i = if drawn < half { drawn } else { half + (drawn - half) / skew };
            let blocks = if method == Algorithm::Fw { 0..n } else { i..i + 1 };
            let proper = if step == Step::Predefined {
                solver.predefined_length()
            } else {
                let here = solver.point().clone();
                let mut trial = FrankWolfe::at(&case.product, &settings, here).unwrap();
                trial.step_on(blocks.clone(), None).unwrap().gamma
            };
            solver.step_on(blocks, Some(length * proper)).unwrap();
        }
        iterates.push(solver.point().clone());
    }
    iterates
}

pub const SEEDS: u64 = 30;

/// The mean over the seeds of what `of` says of each run, number by number.
pub fn means(case: &Case, way: Way, steps: usize, of: impl Fn(&[Point]) -> Vec<f64>) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    for seed in 0..SEEDS {
        let numbers = of(&walk(case, way, steps, seed));
        sums.resize(numbers.len(), 0.0);
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number / SEEDS as f64);
    }
    sums
}

/// The largest quotient of a number and its bound: at most one where the bounds hold.
pub fn excess(numbers: &[f64], bound: impl Fn(usize) -> f64) -> f64 {
    numbers.iter().enumerate().map(|(k, number)| number / bound(k)).fold(0.0, f64::max)
}

/// What a violated bound is exceeded by at least, so that it is no matter of a few seeds.
pub const NOTICED: f64 = 1.2;
