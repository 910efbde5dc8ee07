//! Stochastic Frank-Wolfe (Hazan and Luo 2016): steps of 2/(t + 1) toward the best corner for the gradient of a sample.
//! The sample grows with the square of t until it has all examples.

use super::best_corner::corner;
use crate::Result;
use crate::ball::solver::{Looked, Moves};
use crate::ball::trace::Map;
use crate::ball::{BallProblem, Losses};
use crate::linalg::{Combination, Halted, LowRank, Random};

/// The method; see the module's head.
pub(in crate::ball::trace) struct StochasticFrankWolfe {
    x: LowRank,
    t: u64,
    random: Random,
    warm: Option<LowRank>,
    which: Vec<u32>,
    y: Vec<f64>,
}

impl StochasticFrankWolfe {
    pub fn new<M: Map, L: Losses>(problem: &BallProblem<M, L>, seed: u64) -> Self {
        let (rows, columns) = problem.map().shape();
        Self {
            x: LowRank::zero(rows, columns),
            t: 0,
            random: Random::new(seed),
            warm: None,
            which: Vec::new(),
            y: Vec::new(),
        }
    }
}

/// Appends `share · m_i (corner of the prediction − from)` of some examples to y.
pub(super) fn changes<M: Map, L: Losses>(
    problem: &BallProblem<M, L>,
    x: &LowRank,
    which: &[u32],
    share: f64,
    from: Option<&[f64]>,
    y: &mut Vec<f64>,
) {
    let (c, mut scratch) = (problem.map().outputs(), L::Scratch::default());
    let (mut a, mut to, mut buffer) = (vec![0.0; c], vec![0.0; c], Vec::new());
    for &i in which {
        let i = i as usize;
        problem.map().predict_at(x, i, &mut a, &mut buffer);
        problem.losses().corner(i, &a, &mut to, &mut scratch);
        let factor = share * problem.masses()[i];
        match from {
            None => y.extend(to.iter().map(|to| factor * to)),
            Some(from) => {
                y.extend(to.iter().zip(&from[i * c..]).map(|(to, from)| factor * (to - from)));
            }
        }
    }
}

impl<M: Map, L: Losses> Moves<M, L> for StochasticFrankWolfe {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let n = problem.map().len();
        self.t += 1;
        let batch = usize::try_from(self.t * self.t).unwrap_or(n).min(n);
        self.which.clear();
        if batch == n {
            self.which.extend(0..n as u32);
        } else {
            self.which.extend((0..batch).map(|_| self.random.below(n) as u32));
        }
        self.y.clear();
        let share = n as f64 / batch as f64;
        changes(problem, &self.x, &self.which, share, None, &mut self.y);
        let (s, products) = {
            let image = problem.map().image_at(&self.which, &self.y);
            let descent = Combination::new(vec![(1.0, &*image), (-problem.mu(), &self.x)]);
            corner(&descent, problem.radius(), self.warm.as_ref(), 1e-2, halted)?
        };
        if halted() {
            return Ok(None);
        }
        let gamma = 2.0 / (self.t + 1) as f64;
        self.x = LowRank::combined(1.0 - gamma, &self.x, gamma, &s)?;
        self.warm = Some(s);
        // A product with a sample costs the sample's share of a product with all examples.
        let products = ((products + self.x.rank()) * batch).div_ceil(n);
        Ok(Some(Looked::Products(products as u64)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.x.clone())
    }

    fn may_stall(&self) -> bool {
        false
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("the last of {} samples had {} examples", self.t, self.which.len())]
    }
}
