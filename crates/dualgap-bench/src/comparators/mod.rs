//! The methods that the Prox-SDCA paper compares itself with, on its objectives:
//!
//! ```text
//! P(w) = (1/n) Σ φ(⟨x_i, w⟩, y_i) + λ/2‖w‖² + σ‖w‖₁          φ is (1/γ)-smooth
//! ```
//!
//! They are written as in their papers, with the step sizes of their theory and nothing tuned by hand. None has a dual
//! point of its own: every certificate is that of the free one, `α_i = −φ'(⟨x_i, w⟩)`. A pass is as many products with
//! entries of the data as Prox-SDCA needs to visit every example once: each entry is read once for the predictions and
//! once for the change of the weights. Certificates are not counted.

mod comid;
mod coordinates;
mod fista;
mod rda;
mod sgd;

use dualgap::Result;
use dualgap::dual::{Problem, Sampling, Settings};
use dualgap::linalg::{Row, Rows, score};
use dualgap::run::Budget;
use dualgap::structure::{Choice, LinearBlocks, train_linear};
use dualgap::term::{Loss, Regulariser, ScalarLoss};

/// After so many passes certificates become rarer: each comes at least a twentieth later than the one before.
const EVERY_PASS: f64 = 20.0;

/// P; see the module's head.
pub struct Objective<'a> {
    blocks: LinearBlocks<'a, ScalarLoss>,
    pub lambda: f64,
    pub l1: f64,
}

/// What is known after so many passes.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub passes: f64,
    /// P of the weights at hand.
    pub primal: f64,
    /// A bound on how far these weights are above the optimum, by the best dual point so far.
    pub gap: f64,
}

/// The way of a method.
#[derive(Clone, Debug)]
pub struct Trace {
    pub method: &'static str,
    pub points: Vec<Point>,
}

impl Trace {
    /// Returns the passes after which the primal value was within `near` of the optimum.
    pub fn passes_to(&self, optimum: f64, near: f64) -> Option<f64> {
        self.points.iter().find(|p| p.primal - optimum <= near).map(|p| p.passes)
    }
}

/// A method that moves weights by itself.
trait Comparator {
    const NAME: &'static str;

    /// Takes steps worth about a pass, and returns how many passes they were.
    fn advance(&mut self) -> f64;

    fn weights(&self) -> Vec<f64>;
}

impl<'a> Objective<'a> {
    /// Returns the objective, or an error if the loss is not smooth or refuses a target.
    pub fn new(
        rows: &'a Rows,
        targets: Vec<f64>,
        loss: ScalarLoss,
        (lambda, l1): (f64, f64),
    ) -> Result<Self> {
        if loss.smoothness() <= 0.0 {
            return Err(dualgap::Error::setting("the comparators need a smooth loss"));
        }
        Ok(Self { blocks: LinearBlocks::new(rows, targets, loss, Choice::I)?, lambda, l1 })
    }

    fn n(&self) -> usize {
        self.blocks.targets().len()
    }

    fn row(&self, i: usize) -> Row<'a> {
        self.blocks.rows().row(i)
    }

    /// Returns `−φ'(a)` of example i.
    fn pull(&self, i: usize, a: f64) -> f64 {
        self.blocks.loss().corner(a, self.blocks.targets()[i])
    }

    /// Returns 1/γ times the largest squared length: no step of one example is stable beyond its inverse.
    fn steepest(&self) -> f64 {
        self.blocks.largest_squared_norm() / self.blocks.loss().smoothness()
    }

    fn settings(&self) -> Settings {
        let regulariser = Regulariser { l1: self.l1, ..Regulariser::PLAIN };
        Settings { lambda: self.lambda, regulariser, threads: 1, ..Settings::default() }
    }

    /// Returns P(w), and D at the free dual point of w.
    fn sides(&self, w: &[f64]) -> Result<(f64, f64)> {
        let link = self.settings().regulariser.link(self.lambda)?;
        let problem = Problem::new(&self.blocks, link, self.lambda, None)?;
        let alpha: Vec<f64> = (0..self.n()).map(|i| self.pull(i, score(self.row(i), w))).collect();
        let (primal, dual) = (problem.primal(w)?.value, problem.dual(&alpha)?.value);
        Ok((primal.value + primal.error, dual.value - dual.error))
    }

    /// Returns the optimum, certified to `near`: the dual value of a run far tighter than those that are compared.
    pub fn optimum(&self, near: f64) -> Result<f64> {
        let budget = Budget { absolute: Some(near), relative: None, ..Budget::relative(0.0) };
        let report = train_linear(&self.blocks, &self.settings(), &budget, &mut ())?;
        Ok(report.certificate.dual)
    }

    /// Follows a comparator until its gap is at most `gap`, or for so many passes.
    fn follow<C: Comparator>(&self, mut method: C, passes: f64, gap: f64) -> Result<Trace> {
        let mut points = Vec::new();
        let (mut done, mut next, mut best) = (0.0, 0.0, f64::NEG_INFINITY);
        loop {
            if done >= next || done >= passes {
                let (primal, dual) = self.sides(&method.weights())?;
                best = best.max(dual);
                points.push(Point { passes: done, primal, gap: primal - best });
                if primal - best <= gap || done >= passes || !primal.is_finite() {
                    return Ok(Trace { method: C::NAME, points });
                }
                next = done + (done / EVERY_PASS).max(1.0);
            }
            done += method.advance();
        }
    }

    /// Returns the way of the engine under these settings.
    fn engine(
        &self,
        method: &'static str,
        settings: &Settings,
        passes: f64,
        gap: f64,
    ) -> Result<Trace> {
        let budget = Budget {
            absolute: Some(gap),
            passes: Some(passes as u64),
            // As many certificates as the run cares to make: they are not counted.
            certify_share: 1.0,
            ..Budget::relative(0.0)
        };
        let report = train_linear(&self.blocks, settings, &budget, &mut ())?;
        let point = |p: &dualgap::run::Progress| Point {
            passes: p.passes,
            primal: p.certificate.primal,
            gap: p.certificate.gap(),
        };
        Ok(Trace { method, points: report.history.iter().map(point).collect() })
    }

    /// Returns the way of every method: Prox-SDCA as in the paper, our default, and the comparators. Each ends when its
    /// certified gap is at most `gap`, or after so many passes.
    pub fn traces(&self, passes: f64, gap: f64, seed: u64) -> Result<Vec<Trace>> {
        let auto = Settings { seed, ..self.settings() };
        let Settings { lambda, regulariser, threads, .. } = auto;
        let sampling = Sampling::Uniform;
        let plain = Settings { lambda, regulariser, threads, seed, sampling, ..Settings::plain() };
        Ok(vec![
            self.engine("Prox-SDCA", &plain, passes, gap)?,
            self.engine("auto", &auto, passes, gap)?,
            self.follow(fista::Fista::new(self), passes, gap)?,
            self.follow(coordinates::Coordinates::new(self, seed), passes, gap)?,
            self.follow(sgd::ProximalSgd::new(self, seed), passes, gap)?,
            self.follow(rda::Rda::new(self, seed), passes, gap)?,
            self.follow(comid::Comid::new(self, seed), passes, gap)?,
        ])
    }
}

/// Returns `sign(x) max(|x| − t, 0)`.
fn soft(x: f64, t: f64) -> f64 {
    (x.abs() - t).max(0.0).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dualgap::linalg::Random;

    /// Every method comes to the optimum, as near as its rate allows, and its gap bounds the distance on the way.
    #[test]
    fn all_methods_come_to_the_same_optimum() -> Result<()> {
        let mut random = Random::new(3);
        let mut number = || 2.0 * random.unit() - 1.0;
        let rows: Vec<Vec<f64>> = (0..40).map(|_| (0..9).map(|_| number()).collect()).collect();
        let signs: Vec<f64> = rows.iter().map(|x| (x[0] - x[1] + 0.5 * x[2]).signum()).collect();
        let rows = Rows::dense(&rows)?;
        for loss in
            [ScalarLoss::Logistic, ScalarLoss::SmoothHinge { width: 1.0 }, ScalarLoss::Squared]
        {
            let objective = Objective::new(&rows, signs.clone(), loss, (0.05, 0.01))?;
            let optimum = objective.optimum(1e-11)?;
            for trace in objective.traces(300.0, 1e-8, 0)? {
                for point in &trace.points {
                    assert!(point.primal - optimum <= point.gap + 1e-10, "{trace:?}");
                    assert!(point.primal >= optimum - 1e-10, "{trace:?}");
                }
                let near = match trace.method {
                    "SGD with prox" | "RDA" => 1e-2,
                    "COMID" => 5e-2,
                    _ => 1e-7,
                };
                let last = trace.points[trace.points.len() - 1];
                assert!(last.primal - optimum <= near, "{loss:?} {} {last:?}", trace.method);
            }
        }
        Ok(())
    }
}
