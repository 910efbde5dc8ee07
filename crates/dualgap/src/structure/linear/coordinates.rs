//! Pure l1 problems with a smooth loss, weight by weight: proximal coordinate descent on a working set.
//!
//! With g_j = Σ mass_i φ_i'(a_i) x_ij and L_j = (1/γ) Σ mass_i x_ij², the step of a weight is
//!
//! ```text
//! w_j ← soft(w_j − g_j/L_j, σ/L_j),     a ← a + Δ_j x_·j
//! ```
//!
//! Few weights are non-zero at the optimum, so only those and the ones that violate their optimality condition most
//! take steps, until this working set is solved to some accuracy; then the solver checks all weights again. The dual
//! point of the certificate is α_i = −φ_i'(a_i), scaled until it is feasible.

use super::LinearBlocks;
use crate::Result;
use crate::dual::engine::pool;
use crate::dual::proximal_point::foreign_state;
use crate::dual::pure_l1::L1Certificate;
use crate::dual::{Best, Settings, Solution};
use crate::linalg::kernels::score;
use crate::linalg::{Columns, parallel};
use crate::run::{Certificate, Certified, Quota, Resumable, Solver, Work};
use crate::term::Loss;
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The working set is solved when its largest violation of optimality is at most this share of the largest violation of
/// all weights when the set was chosen.
const SOLVED: f64 = 0.1;

/// The working set has room for at least this many weights besides the non-zero ones, ...
const LEAST: usize = 64;

/// ... and each takes at most this many steps before the solver checks all weights again.
const MOST_CYCLES: usize = 100;

/// The solver; see the module's head.
pub(super) struct Coordinates<'a, 'b, L: Loss> {
    blocks: &'a LinearBlocks<'b, L>,
    certificate: L1Certificate<'a, LinearBlocks<'b, L>>,
    best: Best<f64>,
    pool: Arc<ThreadPool>,
    columns: Columns,
    masses: Vec<f64>,
    /// L_j.
    curvatures: Vec<f64>,
    walk: Walk,
}

/// Returns how many oracle calls the touched entries are worth, where a pass has `pass` calls and `all` entries, and
/// how many of the entries these calls account for. The products have twice the bits of their factors.
fn in_calls(touched: u64, pass: u64, all: u64) -> (u64, u64) {
    let [touched, pass, all] = [touched, pass, all].map(u128::from);
    let calls = touched * pass / all;
    (calls.try_into().unwrap_or(u64::MAX), (calls * all / pass) as u64)
}

/// The state of the solver.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Walk {
    w: Vec<f64>,
    /// a = X w up to rounding.
    a: Vec<f64>,
    /// The working set, and the position of its next weight.
    set: Vec<usize>,
    turn: usize,
    cycles: usize,
    /// The largest violation: of all weights when the set was chosen, and within the current cycle.
    chosen_at: f64,
    in_cycle: f64,
    /// Entries of the matrix that were touched and are not yet counted as work.
    touched: u64,
}

impl<'a, 'b, L: Loss> Coordinates<'a, 'b, L> {
    pub fn new(
        blocks: &'a LinearBlocks<'b, L>,
        certificate: L1Certificate<'a, LinearBlocks<'b, L>>,
        masses: Vec<f64>,
        settings: &Settings,
    ) -> Result<Self> {
        let columns = Columns::of(blocks.rows());
        let width = blocks.rows().width();
        let curvature = |j: usize| {
            let squares = columns.column(j).iter().map(|&(i, x)| masses[i as usize] * x * x);
            squares.sum::<f64>() / blocks.loss().smoothness()
        };
        Ok(Self {
            best: certificate.start()?,
            pool: pool(settings)?,
            curvatures: (0..width).map(curvature).collect(),
            walk: Walk {
                w: vec![0.0; width],
                a: vec![0.0; blocks.targets().len()],
                ..Walk::default()
            },
            blocks,
            certificate,
            columns,
            masses,
        })
    }

    /// Returns the entries of a pass. An empty matrix counts as one entry, so that every check of all weights counts as
    /// work and the run ends.
    fn entries(&self) -> u64 {
        self.columns.stored().max(1) as u64
    }

    /// Returns g_j.
    fn gradient(&self, j: usize) -> f64 {
        let (loss, targets) = (self.blocks.loss(), self.blocks.targets());
        let slope = |&(i, x): &(u32, f64)| {
            let i = i as usize;
            -self.masses[i] * loss.corner(self.walk.a[i], targets[i]) * x
        };
        self.columns.column(j).iter().map(slope).sum()
    }

    /// Returns the value of a weight after its step.
    fn stepped(&self, j: usize, gradient: f64) -> f64 {
        let to = self.walk.w[j] - gradient / self.curvatures[j];
        let (sigma, both_signs) = self.certificate.rule(j);
        let threshold = sigma / self.curvatures[j];
        if to > threshold {
            to - threshold
        } else if to < -threshold && both_signs {
            to + threshold
        } else {
            0.0
        }
    }

    /// Chooses the working set: the weights that are not zero, and those that violate optimality most.
    fn choose(&mut self) {
        let mut violations: Vec<(f64, usize)> = Vec::new();
        let mut active: Vec<usize> = Vec::new();
        self.walk.chosen_at = 0.0;
        for j in 0..self.walk.w.len() {
            if self.curvatures[j] == 0.0 {
                continue;
            }
            let step = self.stepped(j, self.gradient(j)) - self.walk.w[j];
            let violation = step.abs() * self.curvatures[j];
            self.walk.chosen_at = self.walk.chosen_at.max(violation);
            if self.walk.w[j] != 0.0 || self.certificate.free().is_some_and(|free| free.column == j)
            {
                active.push(j);
            } else if violation > 0.0 {
                violations.push((violation, j));
            }
        }
        self.walk.touched += self.entries();
        let count = LEAST.max(active.len()).min(violations.len());
        if count < violations.len() {
            let order =
                |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            violations.select_nth_unstable_by(count, order);
        }
        active.extend(violations[..count].iter().map(|&(_, j)| j));
        active.sort_unstable();
        (self.walk.set, self.walk.turn, self.walk.cycles, self.walk.in_cycle) = (active, 0, 0, 0.0);
    }

    /// Takes one step of the next weight in the working set, or chooses a new set.
    fn step(&mut self) {
        if self.walk.turn == self.walk.set.len() {
            self.walk.cycles += 1;
            let solved = self.walk.in_cycle <= SOLVED * self.walk.chosen_at;
            if solved || self.walk.cycles >= MOST_CYCLES || self.walk.set.is_empty() {
                self.choose();
                return;
            }
            (self.walk.turn, self.walk.in_cycle) = (0, 0.0);
        }
        let j = self.walk.set[self.walk.turn];
        self.walk.turn += 1;
        let to = self.stepped(j, self.gradient(j));
        let change = to - self.walk.w[j];
        self.walk.touched += self.columns.column(j).len() as u64;
        if change != 0.0 {
            self.walk.in_cycle = self.walk.in_cycle.max(change.abs() * self.curvatures[j]);
            self.walk.w[j] = to;
            for &(i, x) in self.columns.column(j) {
                self.walk.a[i as usize] += change * x;
            }
        }
    }
}

impl<L: Loss> Coordinates<'_, '_, L> {
    /// Resumes from the state of an earlier run; proves again everything that a certificate rests on.
    pub fn resume(&mut self, (walk, mut best): (Walk, Best<f64>)) -> Result<()> {
        let finite = |x: &[f64], len| x.len() == len && x.iter().all(|x| x.is_finite());
        // A weight without curvature has no step to take.
        let steps = |&j: &usize| self.curvatures.get(j).is_some_and(|&curvature| curvature > 0.0);
        let sound = finite(&walk.w, self.walk.w.len())
            && finite(&walk.a, self.walk.a.len())
            && walk.turn <= walk.set.len()
            && walk.set.iter().all(steps)
            && walk.cycles < MOST_CYCLES
            && walk.touched <= self.entries()
            && best.is_sound(self.walk.w.len(), true);
        if !sound {
            return Err(foreign_state());
        }
        parallel::install(&self.pool, || self.certificate.prove(&mut best))?;
        (self.walk, self.best) = (walk, best);
        Ok(())
    }
}

impl<L: Loss> Resumable for Coordinates<'_, '_, L> {
    type State = (Walk, Best<f64>);

    fn state(&self) -> (Walk, Best<f64>) {
        (self.walk.clone(), self.best.clone())
    }
}

impl<L: Loss> Solver for Coordinates<'_, '_, L> {
    type Model = Solution<f64>;

    fn calls_per_pass(&self) -> u64 {
        self.blocks.targets().len() as u64
    }

    /// Counts a pass for as many touched entries as the matrix has, whichever weights they belong to.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        while quota.allows(done, 1) {
            self.step();
            // A step is always completed: one check of all weights may take more than is left of the quota.
            let (calls, counted) =
                in_calls(self.walk.touched, self.calls_per_pass(), self.entries());
            self.walk.touched -= counted;
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.best.certificate()
    }

    fn certify(&mut self) -> Result<Certified> {
        for (i, a) in self.walk.a.iter_mut().enumerate() {
            *a = score(self.blocks.rows().row(i), &self.walk.w); // without the rounding of many steps
        }
        let (loss, targets) = (self.blocks.loss(), self.blocks.targets());
        let points: Vec<f64> =
            self.walk.a.iter().zip(targets).map(|(&a, &y)| loss.corner(a, y)).collect();
        let (w, Self { certificate, best, pool, .. }) = (self.walk.w.clone(), self);
        let iterate = parallel::install(pool, || certificate.certify(w, &points, best))?;
        let model = best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    fn weights(&self) -> &[f64] {
        self.best.weights().unwrap_or(&self.walk.w)
    }

    fn into_model(self) -> Solution<f64> {
        self.best.into_solution(|| self.walk.w, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::Settings;
    use crate::linalg::Rows;
    use crate::run::Budget;
    use crate::structure::{Choice, train_pure_l1};
    use crate::term::{Regulariser, ScalarLoss};
    use proptest::prelude::*;

    proptest! {
        // Sizes up to those where a product of two of them has more than 64 bits.
        #[test]
        fn entries_become_calls_without_loss(
            (pass, all) in (1..u64::MAX >> 8, 1..u64::MAX >> 8),
            share in 0.0..1.0_f64,
        ) {
            let touched = all.min((share * all as f64) as u64);
            let (calls, counted) = in_calls(touched, pass, all);
            prop_assert!(calls <= pass && counted <= touched);
            // Not one more call would be covered.
            let wide = u128::from;
            prop_assert!(wide(calls) * wide(all) <= wide(touched) * wide(pass));
            prop_assert!((wide(calls) + 1) * wide(all) > wide(touched) * wide(pass));
            // What is counted is what the calls are worth, to within one entry.
            prop_assert!((wide(counted) + 1) * wide(pass) > wide(calls) * wide(all));
        }
    }

    // Either σ is so large that no weight moves, or the matrix is zero: every step is a check of all weights.
    #[test]
    fn who_has_nothing_to_do_claims_no_work_but_its_looks() {
        for x in [1.0, 0.0] {
            let rows = Rows::dense(&[vec![x, -x], vec![x, x], vec![-x, x]]).unwrap();
            let targets = vec![1.0, -1.0, 1.0];
            let blocks = LinearBlocks::new(&rows, targets, ScalarLoss::Squared, Choice::I).unwrap();
            let regulariser = Regulariser { l1: 100.0, ..Regulariser::PLAIN };
            let settings = Settings { regulariser, ..Settings::default() };
            for budget in [Budget::passes(7), Budget::relative(1e-6)] {
                let report = train_pure_l1(&blocks, &settings, &budget, &mut ()).unwrap();
                assert_eq!(report.work.oracle_calls, 3 * report.work.steps);
                assert!(report.passes <= 7.0 && report.model.weights == [0.0, 0.0]);
                assert_eq!(report.certificate.primal, 0.5);
            }
        }
    }
}
