//! Block Frank-Wolfe (Allen-Zhu et al. 2017), which is equation (3) of the paper on primal-dual block Frank-Wolfe: a
//! step toward several corners at once, by the gradient of all examples.
//!
//! ```text
//! x̃ ← argmin ⟨∇P(x), x̃⟩ + (L/2)η‖x̃ − x‖²    over the points of the ball with at most s nonzero entries
//! x ← x + γ(x̃ − x)
//! ```
//!
//! x̃ is the projection of the s largest entries of x − ∇P(x)/(Lη). With constants of a user's own it is as printed:
//! γ = η, by default μ/(2L), L a bound on the smoothness of P. Otherwise nothing is to be tuned: s is what the
//! projection leaves, L the largest curvature met so far, the line search finds γ, and η follows γ.
//!
//! Predictions are maintained, so a step costs the columns of x̃, and the rows of the examples whose dual variables
//! change.

use super::common::{Common, Descent, Standing};
use super::l1_ball::Corner;
use super::line::Direction;
use crate::ball::l1::table::BallTable;
use crate::ball::solver::Told;
use crate::ball::{Losses, TheoremConstants};
use crate::linalg::Halted;
use crate::{Error, Result};

/// Without constants η is at least this: below it a step moves X by no more than rounding would in a long run, and
/// L·η has left the range in which the line search has corrected it.
const LEAST: f64 = 1e-3;

/// The method; see the module's head.
pub(super) struct BlockFrankWolfe {
    at: Standing,
    direction: Direction,
    /// x − ∇P(x)/(Lη), and x̃.
    shifted: Vec<f64>,
    sparse: Vec<(u32, f64)>,
    sizes: Vec<f64>,
    s: usize,
    smoothness: f64,
    eta: f64,
    /// Whether the steps are those of the equation, without a line search.
    printed: bool,
}

impl BlockFrankWolfe {
    pub fn new<L: Losses>(
        common: &mut Common<'_, '_, L>,
        constants: TheoremConstants,
    ) -> Result<Self> {
        constants.check_printed()?;
        let problem = common.problem;
        // The line search knows the slope of μ/2‖x‖² alone.
        let printed = constants.s.is_some() || constants.eta.is_some() || problem.term().is_some();
        let squares = problem.masses().iter().zip(problem.squared_norms());
        let all: f64 = squares.map(|(mass, square)| mass * square).sum();
        // The sum is an upper bound on the curvature of the data, which is mostly far lower: without constants a tenth is
        // the first guess, and the curvature that steps meet corrects it.
        let share = if printed { 1.0 } else { 0.1 };
        let of_losses = share * all / problem.losses().smoothness();
        let smoothness = of_losses + problem.term_smoothness();
        if printed && constants.eta.is_none() && problem.mu() <= 0.0 {
            return Err(Error::setting(
                "block Frank-Wolfe takes eta = mu/(2L), so that mu must be positive: give one, or an eta",
            ));
        }
        let eta =
            if printed { constants.eta.unwrap_or(problem.mu() / (2.0 * smoothness)) } else { 1.0 };
        let mut at = Standing::start(problem);
        common.image(&at.alpha, &mut at.v);
        let mut direction = Direction::new(problem.len(), problem.outputs());
        direction.rows.extend(0..problem.len() as u32);
        Ok(Self {
            shifted: at.x.clone(),
            at,
            direction,
            sparse: Vec::new(),
            sizes: Vec::new(),
            s: constants.s.unwrap_or(problem.dim()),
            smoothness: if smoothness > 0.0 { smoothness } else { 1.0 },
            eta,
            printed,
        })
    }

    /// Computes x̃, and the direction x̃ − x with its predictions.
    fn aim<L: Losses>(&mut self, common: &mut Common<'_, '_, L>) {
        let Self { at, direction, shifted, sparse, sizes, .. } = self;
        let problem = common.problem;
        shifted.copy_from_slice(&at.v);
        problem.subtract_gradient(&at.x, shifted);
        let inverse = 1.0 / (self.smoothness * self.eta);
        shifted.iter_mut().zip(&at.x).for_each(|(to, x)| *to = x + inverse * *to);
        let corners = problem.map().corners();
        corners.nearest_sparse(shifted, self.s, problem.radius(), sparse, sizes);
        direction.delta.iter_mut().zip(&at.a).for_each(|(delta, a)| *delta = -a);
        let own: f64 = at.x.iter().map(|x| x * x).sum();
        let (mut cross, mut square) = (0.0, 0.0);
        for &(j, value) in &*sparse {
            common.add_corner(Corner { at: j as usize, value }, &mut direction.delta);
            cross += value * at.x[j as usize];
            square += value * value;
        }
        (direction.along, direction.square) = (cross - own, square - 2.0 * cross + own);
    }

    /// The largest curvature that the losses and g allow along the direction, for each unit of its square.
    fn curvature<L: Losses>(&self, common: &Common<'_, '_, L>) -> f64 {
        let (problem, Direction { delta, square, .. }) = (common.problem, &self.direction);
        let examples = delta.chunks_exact(problem.outputs()).zip(problem.masses());
        let sum: f64 = examples.map(|(d, mass)| mass * d.iter().map(|d| d * d).sum::<f64>()).sum();
        sum / problem.losses().smoothness() / square + problem.mu()
    }
}

impl<L: Losses> Descent<L> for BlockFrankWolfe {
    fn step(&mut self, common: &mut Common<'_, '_, L>, _: Halted<'_>) -> bool {
        self.aim(common);
        let gamma =
            if self.printed { self.eta } else { self.direction.search(common, &self.at, 1.0) };
        if !self.printed {
            let curvature = self.curvature(common);
            if curvature.is_finite() {
                self.smoothness = self.smoothness.max(curvature);
            }
            self.eta = (self.eta * gamma).sqrt().clamp(LEAST, 1.0);
        }
        let Self { at, direction, sparse, .. } = self;
        at.x.iter_mut().for_each(|x| *x *= 1.0 - gamma);
        sparse.iter().for_each(|&(j, value)| at.x[j as usize] += gamma * value);
        direction.follow(common, at, gamma);
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.at.x
    }

    fn refresh(&mut self, certified: &Told<'_, BallTable<'_>>) {
        self.at.copy(certified);
    }

    fn tactics(&self) -> Vec<String> {
        let Self { smoothness, eta, sparse, .. } = self;
        vec![format!("steps of {} entries, L {smoothness:.3e}, eta {eta:.3e}", sparse.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::PerOutput;
    use crate::ball::l1::L1Problem;
    use crate::ball::l1::baselines::common::Baseline;
    use crate::ball::reference::{Dense, Kind};
    use crate::ball::solver::Moves;
    use crate::linalg::{Rows, halt::never};
    use crate::term::ScalarLoss;

    /// Equation (3) by the dense projection, with the gradient written out.
    #[test]
    fn the_printed_steps_are_those_of_equation_3_and_contract_as_it_says() {
        let of = Dense::random(8, (10, 7, 1), Kind::Squared).of_features(4);
        let of = Dense { mu: 0.8, radius: 0.4, ..of };
        let (n, rows) = (10.0, Rows::dense(&of.rows).unwrap());
        let losses = PerOutput::new(ScalarLoss::Squared, of.targets.clone(), 1).unwrap();
        let problem = L1Problem::l1(&rows, losses, of.mu, of.radius, None).unwrap();
        let s = 4;
        let constants = TheoremConstants { s: Some(s), ..TheoremConstants::default() };
        let new = |common: &mut Common<'_, '_, _>| BlockFrankWolfe::new(common, constants);
        let mut moves = Baseline::new(&problem, 0, new).unwrap();
        // The smoothness of the mean loss is at most the mean of ‖a‖².
        let smoothness = of.coupling_of_all() / n + of.mu;
        let eta = of.mu / (2.0 * smoothness);
        let value = |x: &[f64]| {
            let losses = of.predict(x).into_iter().zip(&of.targets);
            let losses: f64 = losses.map(|(a, t)| 0.5 * (a - t) * (a - t)).sum();
            losses / n + 0.5 * of.mu * x.iter().map(|x| x * x).sum::<f64>()
        };
        let optimum = of.optimum();
        let mut x = vec![0.0; 7];
        for step in 0..80 {
            let residuals: Vec<f64> =
                of.predict(&x).iter().zip(&of.targets).map(|(a, t)| a - t).collect();
            let gradient = (0..7).map(|j| {
                let sum: f64 = of.rows.iter().zip(&residuals).map(|(row, r)| row[j] * r).sum();
                sum / n + of.mu * x[j]
            });
            let shifted: Vec<f64> =
                gradient.zip(&x).map(|(g, x)| x - g / (smoothness * eta)).collect();
            let tilde = of.nearest(&shifted, s);
            let before = value(&x) - optimum;
            x.iter_mut().zip(tilde).for_each(|(x, tilde)| *x = (1.0 - eta) * *x + eta * tilde);
            Moves::step(&mut moves, &problem, &never).unwrap();
            for (ours, x) in moves.descent.at.x.iter().zip(&x) {
                assert!((ours - x).abs() < 1e-11, "step {step}: {ours} {x}");
            }
            // Equation (4).
            let rate = 1.0 - of.mu / (4.0 * smoothness);
            assert!(value(&x) - optimum <= rate * before + 1e-12, "step {step}");
        }
    }
}
