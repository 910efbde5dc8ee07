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

use super::soft_threshold::SoftThreshold;
use super::table::{BallDual, BallTable, L1Problem};
use crate::Result;
use crate::ball::centre::Centre;
use crate::ball::shrinking::Shrinking;
use crate::ball::solver::{Looked, Moves, Resumes, Told};
use crate::ball::{Losses, Touched};
use crate::linalg::Halted;
use crate::term::ball::l1;
use serde::{Deserialize, Serialize};

/// The ascent takes a centre if the gap is still more than this share of the gap at the last certification.
const SLOW: f64 = 0.1;

/// After this many consecutive certifications at which α is worse than the best, the ascent returns to the best α.
/// Steps raise the dual as long as X keeps its support; while the support changes, they may lower it.
const TOO_MANY: u32 = 4;

/// The ascent; see the module's head.
pub(in crate::ball) struct Ascent<S> {
    pub(super) walk: Walk,
    pub(super) room: Room<S>,
}

/// The state of the ascent: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ball) struct Walk {
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

impl<S: Default> Ascent<S> {
    /// Starts from α = 0.
    pub fn new<L: Losses>(problem: &L1Problem<'_, L>, seed: u64) -> Self {
        let (n, c, dim) = (problem.len(), problem.outputs(), problem.dim());
        let mut ascent = Self {
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
            ascent.recentre(problem, mean);
        }
        ascent
    }

    /// Sets a centre, if by this mean curvature of the examples it helps.
    fn recentre<L: Losses>(&mut self, problem: &L1Problem<'_, L>, curvature: f64) {
        let wanted = curvature / problem.losses().smoothness();
        let Walk { centre, u, level, .. } = &mut self.walk;
        let tau = level.tau;
        centre.begin(wanted, u, |_, u, inverse| l1::soft(u, tau) * inverse);
        self.relevel(problem.radius());
    }

    /// Recomputes the soft threshold from all of u.
    fn relevel(&mut self, radius: f64) {
        let Walk { u, level, centre, touched, .. } = &mut self.walk;
        level.find(u, centre.strength() * radius, &mut self.room.sizes, touched);
    }

    /// Records work on `entries` entries, and recomputes the soft threshold if that is due.
    fn keep_level<L: Losses>(&mut self, problem: &L1Problem<'_, L>, entries: u64) {
        let pass = 2 * (problem.rows().stored() * problem.outputs()) as u64;
        let Walk { u, level, centre, touched, .. } = &mut self.walk;
        let radius = centre.strength() * problem.radius();
        level.keep(entries, pass, u, radius, &mut self.room.sizes, touched);
    }

    /// Returns to the best α, restarts the momentum, and fixes τ between recomputations.
    fn return_to_best<L: Losses>(
        &mut self,
        problem: &L1Problem<'_, L>,
        best: &[f64],
    ) -> Result<()> {
        let walk = &mut self.walk;
        walk.falls = 0;
        walk.alpha.copy_from_slice(best);
        walk.u.copy_from_slice(&problem.mean_dual(&walk.alpha)?.v);
        walk.level.be_still();
        walk.centre.rest();
        walk.centre.add_to(&mut walk.u);
        self.relevel(problem.radius());
        Ok(())
    }

    /// Returns the next example to visit; between two passes, moves the centre.
    fn next(&mut self, radius: f64) -> usize {
        loop {
            if let Some(i) = self.walk.shrinking.next() {
                return i;
            }
            let Walk { shrinking, centre, u, level, .. } = &mut self.walk;
            if shrinking.begin_pass() && centre.is_set() {
                let tau = level.tau;
                centre.advance(u, |_, u, inverse| l1::soft(u, tau) * inverse);
                self.relevel(radius);
            }
        }
    }
}

impl<'a, L: Losses> Moves<BallTable<'a>, L> for Ascent<L::Scratch> {
    /// Ignores the halt flag: a visit is little work.
    fn step(&mut self, problem: &L1Problem<'a, L>, _: Halted<'_>) -> Result<Option<Looked>> {
        let i = self.next(problem.radius());
        let c = problem.outputs();
        let entries = if c == 1 { self.visit_one(problem, i) } else { self.visit_all(problem, i) };
        self.walk.touched.add(entries as usize, 0);
        self.keep_level(problem, entries * c as u64);
        Ok(Some(Looked::Calls(1)))
    }

    fn iterate(&mut self, problem: &L1Problem<'a, L>, dual: Option<&BallDual>) -> Result<Vec<f64>> {
        let Walk { centre, u, .. } = &mut self.walk;
        if let Some(dual) = dual {
            // The exact V removes the rounding error that many steps have accumulated.
            u.copy_from_slice(&dual.v);
            centre.add_to(u);
            self.relevel(problem.radius());
        }
        let Walk { centre, u, level, .. } = &self.walk;
        Ok(match dual {
            Some(dual) if !centre.is_set() => dual.x.clone(),
            _ => u.iter().map(|&u| l1::soft(u, level.tau) / centre.strength()).collect(),
        })
    }

    fn alpha(&self) -> Option<&[f64]> {
        Some(&self.walk.alpha)
    }

    fn certified(
        &mut self,
        problem: &L1Problem<'a, L>,
        told: Told<'_, BallTable<'a>>,
    ) -> Result<()> {
        if !self.walk.centre.is_set() && told.gap > SLOW * self.walk.gap {
            self.recentre(problem, self.walk.shrinking.mean_curvature());
        }
        self.walk.gap = told.gap;
        self.walk.falls = if told.fell { self.walk.falls.saturating_add(1) } else { 0 };
        if self.walk.falls >= TOO_MANY {
            self.return_to_best(problem, told.best.1)?;
        }
        Ok(())
    }

    fn touched(&self) -> Option<Touched> {
        Some(self.walk.touched)
    }

    fn tactics(&self) -> Vec<String> {
        let Walk { centre, level, .. } = &self.walk;
        let mut tactics = vec![format!("the projection has {} entries", level.count)];
        tactics.extend(centre.describe());
        tactics
    }
}

impl<'a, L: Losses> Resumes<BallTable<'a>, L> for Ascent<L::Scratch> {
    type State = Walk;

    fn state(&self) -> Walk {
        self.walk.clone()
    }

    fn resume(&mut self, problem: &L1Problem<'a, L>, walk: Walk) -> Result<bool> {
        let finite = |x: &[f64], len| x.len() == len && x.iter().all(|x| x.is_finite());
        let sound = problem.has_numbers(&walk.alpha)
            && finite(&walk.u, problem.dim())
            && walk.level.is_sound(&self.walk.level)
            && walk.centre.is_sound(problem.mu(), walk.u.len())
            && walk.shrinking.is_sound(problem.len());
        if sound {
            self.walk = walk;
        }
        Ok(sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::PerOutput;
    use crate::ball::solver::BallSolver;
    use crate::linalg::{Random, Rows};
    use crate::run::{Quota, Solver};
    use crate::term::ScalarLoss;

    #[test]
    fn a_walk_that_has_fallen_behind_returns_to_the_best_and_goes_on_from_there() {
        let mut random = Random::new(3);
        let rows: Vec<Vec<f64>> =
            (0..40).map(|_| (0..6).map(|_| random.unit() - 0.5).collect()).collect();
        let targets: Vec<f64> = rows.iter().map(|x| 1_f64.copysign(x[0] - 0.3 * x[1])).collect();
        let matrix = Rows::dense(&rows).unwrap();
        for mu in [0.0, 0.01] {
            let losses = PerOutput::new(ScalarLoss::Logistic, targets.clone(), 1).unwrap();
            let problem = L1Problem::l1(&matrix, losses, mu, 3.0, None).unwrap();
            let mut solver = BallSolver::new(&problem, Ascent::<()>::new(&problem, 0)).unwrap();
            let quota = Quota { oracle_calls: 400, steps: 400, pause: u64::MAX, halted: &|| false };
            solver.advance(&quota).unwrap();
            let before = solver.certify().unwrap().model;
            // α = 0 is far worse than the best, and one certification short of the limit.
            solver.moves.walk.alpha.fill(0.0);
            solver.moves.walk.falls = TOO_MANY - 1;
            let after = solver.certify().unwrap();
            assert!(after.iterate.dual < before.dual, "{after:?} {before:?}");
            assert_eq!(after.model.dual, before.dual);
            assert_eq!(
                (&solver.moves.walk.alpha[..], solver.moves.walk.falls),
                (solver.best_pair.points().unwrap(), 0)
            );
            for (j, u) in solver.moves.walk.u.iter().enumerate() {
                let each = solver.moves.walk.alpha.iter().zip(&rows).map(|(alpha, x)| alpha * x[j]);
                let v = each.sum::<f64>() / 40.0;
                assert!(mu == 0.0 || (u - v).abs() < 1e-12, "{u} and {v} in column {j}");
            }
            for _ in 0..200 {
                solver.advance(&quota).unwrap();
                solver.certify().unwrap();
            }
            assert!(solver.proved().unwrap().unwrap().relative_gap() < 1e-6);
        }
    }
}
