//! The default method, with nothing to tune: block coordinate ascent on the dual, with X = Proj(V/μ) at every step.
//!
//! A block is one example. Along its α the dual
//!
//! ```text
//! D(α) = max_{τ ≥ 0} −Σ m_i f_i*(−α_i) − ‖soft(V, τ)‖²/(2μ) − rτ
//! ```
//!
//! is the loss's own part and a square whose curvature follows from the entries of X in the example's features
//! (`visit.rs`), so the exact line search costs one loop over the row, independent of d and n. Every step moves the
//! soft threshold τ of the projection; after every few steps the ascent recomputes τ (`soft_threshold.rs`), because the
//! support of X changes meanwhile.
//!
//! Shrinking skips examples that hardly change for a few passes (`shrinking.rs`). Where the gap falls slowly, or μ = 0,
//! the ascent is regularised toward a centre (`centre.rs`).

use super::centre::Centre;
use super::shrinking::Shrinking;
use super::soft_threshold::SoftThreshold;
use super::{BestPair, Losses, Problem, Solution, Touched};
use crate::run::{Certificate, Certified, Counters, Quota, Resumable, Solver, Work};
use crate::term::ball::l1;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The ascent takes a centre if the gap is still more than this share of the gap at the last certification.
const SLOW: f64 = 0.1;

/// After this many consecutive certifications at which α is worse than the best, the ascent returns to the best α.
/// Steps raise the dual as long as X keeps its support; while the support changes, they may lower it.
const TOO_MANY: u32 = 4;

/// The ascent; see the module's head.
pub struct Ascent<'p, 'a, L: Losses> {
    pub(super) problem: &'p Problem<'a, L>,
    pub(super) best_pair: BestPair,
    pub(super) walk: Walk,
    pub(super) room: Room<L::Scratch>,
}

/// The state of the ascent: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Walk {
    /// α.
    pub(super) alpha: Vec<f64>,
    /// V + κz, with the centre z.
    pub(super) u: Vec<f64>,
    /// τ.
    pub(super) level: SoftThreshold,
    pub(super) centre: Centre,
    pub(super) shrinking: Shrinking,
    pub(super) touched: Touched,
    /// The gap at the last certification, and the number of consecutive certifications at which α was worse than the
    /// best one.
    gap: f64,
    falls: u32,
}

/// The workspace of steps.
#[derive(Default)]
pub(super) struct Room<S> {
    pub a: Vec<f64>,
    /// The outputs that move, by how much, and their predictions after the step.
    pub moves: Vec<(usize, f64, f64)>,
    pub from: Vec<f64>,
    pub to: Vec<f64>,
    pub signed: Vec<f64>,
    pub squares: Vec<f64>,
    pub losses: S,
    sizes: Vec<f64>,
}

impl<'p, 'a, L: Losses> Ascent<'p, 'a, L> {
    /// Starts from α = 0.
    pub fn new(problem: &'p Problem<'a, L>, seed: u64) -> Result<Self> {
        let (n, c, dim) = (problem.len(), problem.outputs(), problem.dim());
        let mut ascent = Self {
            problem,
            best_pair: BestPair::new(problem)?,
            walk: Walk {
                alpha: vec![0.0; n * c],
                u: vec![0.0; dim],
                level: SoftThreshold::new(problem.features(), c),
                centre: Centre::none(problem.mu()),
                shrinking: Shrinking::new(n, seed),
                touched: Touched::default(),
                gap: f64::INFINITY,
                falls: 0,
            },
            room: Room {
                a: vec![0.0; c],
                from: vec![0.0; c],
                to: vec![0.0; c],
                signed: vec![0.0; c],
                squares: vec![0.0; c],
                ..Room::default()
            },
        };
        if problem.mu() == 0.0 {
            let squares = problem.masses().iter().zip(problem.squared_norms());
            let mean = squares.map(|(mass, square)| mass * square).sum::<f64>() / n as f64;
            ascent.recentre(mean);
        }
        Ok(ascent)
    }

    /// Returns what the steps have touched.
    pub fn touched(&self) -> Touched {
        self.walk.touched
    }

    /// Sets a centre, if by this mean curvature of the examples it helps.
    fn recentre(&mut self, curvature: f64) {
        let wanted = curvature / self.problem.losses().smoothness();
        let Walk { centre, u, level, .. } = &mut self.walk;
        let tau = level.tau;
        centre.begin(wanted, u, |_, u, inverse| l1::soft(u, tau) * inverse);
        self.relevel();
    }

    /// Recomputes the soft threshold from all of u.
    fn relevel(&mut self) {
        let Walk { u, level, centre, touched, .. } = &mut self.walk;
        let radius = centre.strength() * self.problem.ball().radius();
        level.find(u, radius, &mut self.room.sizes, touched);
    }

    /// Records work on `entries` entries, and recomputes the soft threshold if that is due.
    fn keep_level(&mut self, entries: u64) {
        let pass = 2 * (self.problem.rows().stored() * self.problem.outputs()) as u64;
        let Walk { u, level, centre, touched, .. } = &mut self.walk;
        let radius = centre.strength() * self.problem.ball().radius();
        level.keep(entries, pass, u, radius, &mut self.room.sizes, touched);
    }

    /// Returns to the best α, restarts the momentum, and fixes τ between recomputations.
    fn return_to_best(&mut self) -> Result<()> {
        let walk = &mut self.walk;
        walk.falls = 0;
        walk.alpha.copy_from_slice(&self.best_pair.best().points);
        walk.u.copy_from_slice(&self.problem.mean_dual(&walk.alpha)?.v);
        walk.level.be_still();
        walk.centre.rest();
        walk.centre.add_to(&mut walk.u);
        self.relevel();
        Ok(())
    }

    /// Returns the next example to visit; between two passes, moves the centre.
    fn next(&mut self) -> usize {
        loop {
            if let Some(i) = self.walk.shrinking.next() {
                return i;
            }
            let Walk { shrinking, centre, u, level, .. } = &mut self.walk;
            if shrinking.begin_pass() && centre.is_set() {
                let tau = level.tau;
                centre.advance(u, |_, u, inverse| l1::soft(u, tau) * inverse);
                self.relevel();
            }
        }
    }
}

impl<L: Losses> Ascent<'_, '_, L> {
    /// Resumes from a checkpoint; recomputes the values that a certificate will rest on.
    pub(super) fn resume(&mut self, (walk, best_pair): (Walk, BestPair)) -> Result<()> {
        let finite = |x: &[f64], len| x.len() == len && x.iter().all(|x| x.is_finite());
        let sound = finite(&walk.alpha, self.walk.alpha.len())
            && finite(&walk.u, self.walk.u.len())
            && walk.level.is_sound(&self.walk.level)
            && walk.centre.is_sound(self.problem.mu(), walk.u.len())
            && walk.shrinking.is_sound(self.problem.len());
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        self.best_pair = best_pair.proved(self.problem)?;
        self.walk = walk;
        Ok(())
    }
}

impl<L: Losses> Resumable for Ascent<'_, '_, L> {
    type State = (Walk, BestPair);

    fn state(&self) -> (Walk, BestPair) {
        (self.walk.clone(), self.best_pair.clone())
    }
}

impl<L: Losses> Solver for Ascent<'_, '_, L> {
    type Model = Solution;

    fn calls_per_pass(&self) -> u64 {
        self.problem.len() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        while quota.allows(done, 1) {
            let i = self.next();
            let entries =
                if self.problem.outputs() == 1 { self.visit_one(i) } else { self.visit_all(i) };
            self.walk.touched.add(entries as usize, 0);
            self.keep_level(entries * self.problem.outputs() as u64);
            done += Work { steps: 1, oracle_calls: 1 };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let dual = self.problem.dual(&self.walk.alpha)?;
        let Walk { centre, u, .. } = &mut self.walk;
        // The exact V removes the rounding error that many steps have accumulated.
        u.copy_from_slice(&dual.v);
        centre.add_to(u);
        self.relevel();
        let Walk { centre, u, level, .. } = &self.walk;
        let mut x = dual.x;
        if centre.is_set() {
            x.iter_mut().zip(u).for_each(|(x, &u)| *x = l1::soft(u, level.tau) / centre.strength());
        }
        l1::bring_inside(&mut x, self.problem.ball().radius());
        let primal = self.problem.primal(&x)?;
        let certified = self.best_pair.certify((primal, &x), (dual.value, &self.walk.alpha))?;
        let gap = certified.model.gap();
        if !self.walk.centre.is_set() && gap > SLOW * self.walk.gap {
            self.recentre(self.walk.shrinking.mean_curvature());
        }
        self.walk.gap = gap;
        let fell = certified.iterate.dual < certified.model.dual;
        self.walk.falls = if fell { self.walk.falls.saturating_add(1) } else { 0 };
        if self.walk.falls >= TOO_MANY {
            self.return_to_best()?;
        }
        Ok(certified)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        Some(self.best_pair.certificate())
    }

    fn weights(&self) -> &[f64] {
        &self.best_pair.best().weights
    }

    fn tactics(&self) -> Vec<String> {
        let Walk { touched, centre, level, .. } = &self.walk;
        let mut tactics =
            vec![format!("the projection has {} entries", level.count), touched.describe()];
        tactics.extend(centre.describe());
        tactics
    }

    fn counters(&self) -> Counters {
        self.walk.touched.counters()
    }

    fn into_model(self) -> Solution {
        self.best_pair.into_best()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::PerOutput;
    use crate::linalg::{Random, Rows};
    use crate::term::{Ball, ScalarLoss};

    #[test]
    fn a_walk_that_has_fallen_behind_returns_to_the_best_and_goes_on_from_there() {
        let mut random = Random::new(3);
        let rows: Vec<Vec<f64>> =
            (0..40).map(|_| (0..6).map(|_| random.unit() - 0.5).collect()).collect();
        let targets: Vec<f64> = rows.iter().map(|x| 1_f64.copysign(x[0] - 0.3 * x[1])).collect();
        let matrix = Rows::dense(&rows).unwrap();
        for mu in [0.0, 0.01] {
            let losses = PerOutput::new(ScalarLoss::Logistic, targets.clone(), 1).unwrap();
            let ball = Ball::L1 { radius: 3.0 };
            let problem = Problem::new(&matrix, losses, mu, ball, None).unwrap();
            let mut ascent = Ascent::new(&problem, 0).unwrap();
            let quota = Quota { oracle_calls: 400, steps: 400, pause: u64::MAX, halted: &|| false };
            ascent.advance(&quota).unwrap();
            let before = ascent.certify().unwrap().model;
            // α = 0 is far worse than the best, and one certification short of the limit.
            ascent.walk.alpha.fill(0.0);
            ascent.walk.falls = TOO_MANY - 1;
            let after = ascent.certify().unwrap();
            assert!(after.iterate.dual < before.dual, "{after:?} {before:?}");
            assert_eq!(after.model.dual, before.dual);
            assert_eq!(
                (&ascent.walk.alpha, ascent.walk.falls),
                (&ascent.best_pair.best().points, 0)
            );
            for (j, u) in ascent.walk.u.iter().enumerate() {
                let each = ascent.walk.alpha.iter().zip(&rows).map(|(alpha, x)| alpha * x[j]);
                let v = each.sum::<f64>() / 40.0;
                assert!(mu == 0.0 || (u - v).abs() < 1e-12, "{u} and {v} in column {j}");
            }
            for _ in 0..200 {
                ascent.advance(&quota).unwrap();
                ascent.certify().unwrap();
            }
            assert!(ascent.best_pair.certificate().unwrap().relative_gap() < 1e-6);
        }
    }
}
