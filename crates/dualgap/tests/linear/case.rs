//! A linear model written out: rows, targets, and the objective by its formulas, without a line of the
//! library's.
//!
//! ```text
//! P(w) = Σ mass_i φ(⟨x_i, w⟩, y_i) + λ/2‖w‖² + σ‖w‖₁,    perhaps for w ≥ 0 only
//! ```
//!
//! A weight that is free is in no norm, and may be negative.

use crate::common::fits;
use dualgap::Result;
use dualgap::data::{Classes, Examples, Numbers};
use dualgap::dual::Settings;
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, Report, Solution};
use dualgap::structure::{self, Choice, Linear, LinearBlocks};
use dualgap::task::Model;
use dualgap::term::{Free, Regulariser, ScalarLoss};

/// Every loss, and those with a width with two of them.
pub const LOSSES: [ScalarLoss; 11] = [
    ScalarLoss::Hinge,
    ScalarLoss::SmoothHinge { width: 1.0 },
    ScalarLoss::SmoothHinge { width: 0.2 },
    ScalarLoss::SquaredHinge,
    ScalarLoss::Logistic,
    ScalarLoss::Squared,
    ScalarLoss::Absolute,
    ScalarLoss::EpsilonInsensitive { epsilon: 0.3 },
    ScalarLoss::EpsilonInsensitive { epsilon: 0.0 },
    ScalarLoss::Huber { width: 0.4 },
    ScalarLoss::Huber { width: 3.0 },
];

/// Plain, the elastic net, no negative weights, and both.
pub const REGULARISERS: [Regulariser; 4] = [
    Regulariser::PLAIN,
    Regulariser { l1: 0.05, ..Regulariser::PLAIN },
    Regulariser { nonnegative: true, ..Regulariser::PLAIN },
    Regulariser { l1: 0.03, nonnegative: true, ..Regulariser::PLAIN },
];

/// The options that fit a loss: the last is for smooth ones only, or for the others.
pub fn choices(loss: ScalarLoss) -> Vec<Choice> {
    let mut choices = vec![Choice::I, Choice::II, Choice::III, Choice::IV];
    choices.push(if gamma(loss).is_some() { Choice::V } else { Choice::IVLipschitz });
    choices
}

/// γ of a (1/γ)-smooth loss.
pub fn gamma(loss: ScalarLoss) -> Option<f64> {
    match loss {
        ScalarLoss::Hinge | ScalarLoss::Absolute | ScalarLoss::EpsilonInsensitive { .. } => None,
        ScalarLoss::SmoothHinge { width } => Some(width),
        ScalarLoss::SquaredHinge => Some(0.5),
        ScalarLoss::Logistic => Some(4.0),
        ScalarLoss::Squared | ScalarLoss::Huber { .. } => Some(1.0),
    }
}

/// φ(a).
pub fn phi(loss: ScalarLoss, a: f64, y: f64) -> f64 {
    let (m, r) = (y * a, (a - y).abs());
    match loss {
        ScalarLoss::Hinge => (1.0 - m).max(0.0),
        ScalarLoss::SmoothHinge { width } if m <= 1.0 - width => 1.0 - m - width / 2.0,
        ScalarLoss::SmoothHinge { width } => (1.0 - m).max(0.0).powi(2) / (2.0 * width),
        ScalarLoss::SquaredHinge => (1.0 - m).max(0.0).powi(2),
        ScalarLoss::Logistic if m < 0.0 => m.exp().ln_1p() - m,
        ScalarLoss::Logistic => (-m).exp().ln_1p(),
        ScalarLoss::Squared => r * r / 2.0,
        ScalarLoss::Absolute => r,
        ScalarLoss::EpsilonInsensitive { epsilon } => (r - epsilon).max(0.0),
        ScalarLoss::Huber { width } if r <= width => r * r / 2.0,
        ScalarLoss::Huber { width } => width * (r - width / 2.0),
    }
}

/// The loss belongs to two classes.
pub fn is_binary(loss: ScalarLoss) -> bool {
    use ScalarLoss::{Hinge, Logistic, SmoothHinge, SquaredHinge};
    matches!(loss, Hinge | SmoothHinge { .. } | SquaredHinge | Logistic)
}

#[derive(Clone, Debug)]
pub struct Case {
    pub loss: ScalarLoss,
    pub rows: Vec<Vec<f64>>,
    pub targets: Vec<f64>,
    pub lambda: f64,
    pub regulariser: Regulariser,
    pub weights: Option<Vec<f64>>,
}

impl Case {
    /// Rows in a square, and targets that they explain in part.
    pub fn random(seed: u64, loss: ScalarLoss, n: usize, d: usize) -> Self {
        let mut random = Random::new(seed);
        let mut signed = || 2.0 * random.unit() - 1.0;
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| signed()).collect()).collect();
        let mut targets: Vec<f64> = rows
            .iter()
            .map(|x| {
                let y = x[0] - 0.5 * x[d - 1] + 0.8 * signed();
                if is_binary(loss) { 1_f64.copysign(y) } else { y }
            })
            .collect();
        if is_binary(loss) && n > 1 {
            targets[1] = -targets[0]; // both classes are there
        }
        let regulariser = Regulariser::default();
        Self { loss, rows, targets, lambda: 0.1, regulariser, weights: None }
    }

    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether a weight has no penalty.
    pub fn is_free(&self, j: usize) -> bool {
        self.regulariser.free.is_some_and(|free| free.column == j)
    }

    /// With a constant column as the last one, whose weight is free.
    pub fn with_intercept(mut self) -> Self {
        self.rows.iter_mut().for_each(|row| row.push(1.0));
        let free = Free::intercept(self.rows[0].len() - 1, &self.targets);
        self.regulariser.free = Some(free);
        self
    }

    /// What each example counts in the mean.
    pub fn masses(&self) -> Vec<f64> {
        let counts = self.weights.clone().unwrap_or(vec![1.0; self.len()]);
        let total: f64 = counts.iter().sum();
        counts.into_iter().map(|c| c / total).collect()
    }

    /// P(w).
    pub fn primal(&self, w: &[f64]) -> f64 {
        let losses: f64 = (self.masses().iter().zip(&self.rows).zip(&self.targets))
            .map(|((mass, x), &y)| {
                let a = x.iter().zip(w).map(|(x, w)| x * w).sum();
                mass * phi(self.loss, a, y)
            })
            .sum();
        let penalised = || w.iter().enumerate().filter(|&(j, _)| !self.is_free(j)).map(|(_, w)| w);
        let squares: f64 = penalised().map(|w| w * w).sum();
        let absolutes: f64 = penalised().map(|w| w.abs()).sum();
        losses + self.lambda / 2.0 * squares + self.regulariser.l1 * absolutes
    }

    /// The optimum of a problem with two weights, by golden sections within golden sections. No better
    /// point is further from the origin than λ/2‖w‖² ≤ P(0) allows.
    pub fn optimum(&self) -> f64 {
        let reach = (2.0 * self.primal(&[0.0, 0.0]) / self.lambda).sqrt() + 1e-3;
        let low = if self.regulariser.nonnegative { 0.0 } else { -reach };
        bottom(low, reach, |a| bottom(low, reach, |b| self.primal(&[a, b])))
    }

    pub fn sparse_or_dense(&self, sparse: bool) -> Rows {
        if !sparse {
            return Rows::dense(&self.rows).unwrap();
        }
        let mut rows = Rows::sparse();
        for row in &self.rows {
            let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
            rows.push_sparse(&entries.map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
        }
        rows.fit_width(self.rows[0].len());
        rows
    }

    /// One thread, and whatever the problem asks for.
    pub fn settings(&self) -> Settings {
        Settings {
            lambda: self.lambda,
            regulariser: self.regulariser,
            sample_weights: self.weights.clone(),
            threads: 1,
            handover: false, // dual ascent itself is what these tests are about
            ..Settings::default()
        }
    }

    pub fn train(
        &self,
        choice: Choice,
        settings: &Settings,
        budget: &Budget,
    ) -> Report<Solution<f64>> {
        self.try_train(choice, settings, budget).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn try_train(
        &self,
        choice: Choice,
        settings: &Settings,
        budget: &Budget,
    ) -> Result<Report<Solution<f64>>> {
        let rows = self.sparse_or_dense(self.len() % 2 == 1);
        let blocks = LinearBlocks::new(&rows, self.targets.clone(), self.loss, choice)?;
        structure::train_linear(&blocks, settings, budget, &mut ())
    }

    /// As close to the optimum as rounding allows, or so many passes.
    pub fn solve(&self) -> Report<Solution<f64>> {
        let budget = Budget { passes: Some(100_000), ..Budget::relative(1e-11) };
        self.train(Choice::I, &self.settings(), &budget)
    }

    /// The same data as a user has them: classes as words.
    pub fn examples(&self) -> Examples {
        self.examples_of(Rows::dense(&self.rows).unwrap())
    }

    /// The same with rows that are stored in another way.
    pub fn examples_of(&self, rows: Rows) -> Examples {
        if !is_binary(self.loss) {
            return Examples::new(rows, Numbers::new(self.targets.clone()).unwrap()).unwrap();
        }
        let name = |&y: &f64| if y > 0.0 { "yes" } else { "no" };
        let names: Vec<&str> = self.targets.iter().map(name).collect();
        Examples::new(rows, Classes::named(&names)).unwrap()
    }

    pub fn fit(&self, settings: &Settings, budget: &Budget) -> Report<Model<Linear>> {
        fits::linear(self.loss, Choice::I, settings, budget).run(&self.examples()).unwrap()
    }
}

/// The smallest value of a convex function on an interval.
fn bottom(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    let mut best = f(low).min(at_a).min(at_b);
    for _ in 0..75 {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = f(b);
        }
        best = best.min(at_a).min(at_b);
    }
    best
}
