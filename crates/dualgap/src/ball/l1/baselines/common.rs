//! The common part of the baselines in the l1 ball: what their steps share, and how they are certified.

use super::l1_ball::{Corner, L1Ball};
use crate::ball::l1::table::{BallDual, BallTable, L1Problem};
use crate::ball::schedule::{BEYOND, POWERS};
use crate::ball::solver::{Looked, Moves, Told};
use crate::ball::{Design, Losses, Touched};
use crate::linalg::{Halted, Random};
use crate::{Error, Result};

/// What steps hold between them beside the state of their method.
pub(in crate::ball) struct Room<S> {
    ball: L1Ball,
    random: Random,
    scratch: S,
    /// Entries of A that steps touched and that are not yet counted as work.
    pub touched: u64,
}

/// The problem, and what steps need in addition.
pub(in crate::ball) struct Common<'s, 'a, L: Losses> {
    pub problem: &'s L1Problem<'a, L>,
    pub(super) ball: &'s mut L1Ball,
    pub random: &'s mut Random,
    pub scratch: &'s mut L::Scratch,
    pub touched: &'s mut u64,
}

/// An X, its predictions, their corners, and the V of those.
#[derive(Clone, Debug)]
pub(in crate::ball) struct Standing {
    pub x: Vec<f64>,
    pub a: Vec<f64>,
    pub alpha: Vec<f64>,
    pub v: Vec<f64>,
}

/// A method that moves X.
pub(in crate::ball) trait Descent<L: Losses> {
    /// Takes one step; returns false if it was halted before the end. A method that has checkpoints then leaves its
    /// state unchanged.
    fn step(&mut self, common: &mut Common<'_, '_, L>, halted: Halted<'_>) -> bool;

    /// Returns the X to certify, which is in the ball up to rounding.
    fn iterate(&self) -> &[f64];

    /// Takes over what a certification recomputed for that X, without the accumulated rounding of many steps.
    fn refresh(&mut self, _: &Told<'_, BallTable<'_>>) {}

    /// Whether the run may stop because its certificates no longer improve.
    fn may_stall(&self) -> bool {
        true
    }

    /// Describes the choices of the method, for the report.
    fn tactics(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A method with its common part.
pub(in crate::ball) struct Baseline<D, S> {
    pub descent: D,
    pub room: Room<S>,
    /// What steps touched, where the run reports that.
    pub touched: Option<Touched>,
}

impl<S: Default> Room<S> {
    /// Returns an error if there is no feature: such a problem has no corner.
    fn new<L: Losses>(problem: &L1Problem<'_, L>, seed: u64) -> Result<Self> {
        if problem.dim() == 0 {
            return Err(Error::setting("there is no feature to learn from"));
        }
        let (random, scratch) = (Random::new(seed), S::default());
        let ball = L1Ball::new(problem.map().corners(), problem.radius());
        Ok(Self { ball, random, scratch, touched: 0 })
    }

    fn with<'s, 'a, L: Losses<Scratch = S>>(
        &'s mut self,
        problem: &'s L1Problem<'a, L>,
    ) -> Common<'s, 'a, L> {
        let Self { ball, random, scratch, touched } = self;
        Common { problem, ball, random, scratch, touched }
    }
}

impl<D, S: Default> Baseline<D, S> {
    /// Begins the method.
    pub fn new<'a, L: Losses<Scratch = S>>(
        problem: &L1Problem<'a, L>,
        seed: u64,
        begin: impl FnOnce(&mut Common<'_, 'a, L>) -> Result<D>,
    ) -> Result<Self> {
        let mut room = Room::new(problem, seed)?;
        Ok(Self { descent: begin(&mut room.with(problem))?, room, touched: None })
    }
}

impl<L: Losses> Common<'_, '_, L> {
    /// Converts the touched entries into oracle calls, and keeps the remainder: a pass is as many entries as A has.
    fn calls(&mut self) -> u64 {
        let (pass, all) = (self.problem.len() as u64, self.problem.rows().stored().max(1) as u64);
        let calls = u128::from(*self.touched) * u128::from(pass) / u128::from(all);
        *self.touched -= (calls * u128::from(all) / u128::from(pass)) as u64;
        calls as u64
    }

    /// Computes V of all corners.
    pub fn image(&mut self, alpha: &[f64], v: &mut [f64]) {
        self.problem.image(alpha, v);
        *self.touched += self.problem.rows().stored() as u64;
    }

    /// Computes all predictions.
    pub fn predict(&mut self, x: &[f64], a: &mut [f64]) {
        *self.touched += self.problem.predict(x, a);
    }

    /// Adds to the predictions those of a corner.
    pub(super) fn add_corner(&mut self, Corner { at, value }: Corner, a: &mut [f64]) {
        let c = self.problem.outputs();
        let column = self.problem.columns().column(at / c);
        *self.touched += column.stored() as u64;
        column.for_each(|i, x| a[i * c + at % c] += x * value);
    }

    /// Estimates the smoothness of the mean loss: the largest eigenvalue of Σ m_i a_i a_i', or a little more, divided
    /// by the losses' γ.
    pub fn smoothness(&mut self) -> f64 {
        let (problem, rows) = (self.problem, self.problem.rows());
        let weighed = problem.masses().iter().zip(problem.squared_norms()).map(|(m, s)| m * s);
        let (all, largest) =
            weighed.fold((0.0, 0.0_f64), |(all, largest), s| (all + s, largest.max(s)));
        let mut x: Vec<f64> = (0..rows.width()).map(|_| self.random.unit() - 0.5).collect();
        let mut found = 0.0;
        for _ in 0..POWERS {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm <= 0.0 {
                break;
            }
            x.iter_mut().for_each(|x| *x /= norm);
            let mut next = vec![0.0; x.len()];
            found = 0.0;
            for (i, mass) in problem.masses().iter().enumerate() {
                let row = rows.row(i);
                let a = crate::linalg::kernels::score(row, &x);
                row.for_each(|j, value| next[j] += mass * a * value);
                found += mass * a * a;
            }
            x = next;
            *self.touched += rows.stored() as u64;
        }
        (BEYOND * found).clamp(largest, all.max(largest)) / problem.losses().smoothness()
    }
}

impl Standing {
    /// X = 0, or the centre of the simplex.
    pub fn start<L: Losses>(problem: &L1Problem<'_, L>) -> Self {
        let outputs = problem.len() * problem.outputs();
        let mut start = Self {
            x: problem.map().start(problem.radius()),
            a: vec![0.0; outputs],
            alpha: vec![0.0; outputs],
            v: vec![0.0; problem.dim()],
        };
        problem.predict(&start.x, &mut start.a);
        problem.corners(&start.a, &mut start.alpha);
        start
    }

    /// Takes over what a certification has computed.
    pub fn copy(&mut self, certified: &Told<'_, BallTable<'_>>) {
        self.x.copy_from_slice(certified.x);
        self.a.copy_from_slice(certified.a);
        self.alpha.copy_from_slice(certified.alpha);
        self.v.copy_from_slice(&certified.dual.v);
    }
}

impl<'a, L: Losses, D: Descent<L>> Moves<BallTable<'a>, L> for Baseline<D, L::Scratch> {
    fn step(&mut self, problem: &L1Problem<'a, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let before = self.room.touched;
        let mut common = self.room.with(problem);
        if !self.descent.step(&mut common, halted) {
            self.room.touched = before;
            return Ok(None);
        }
        if *common.touched == before {
            // Columns without entries cost nothing; the run still has to end, so the step counts as a pass.
            *common.touched += problem.rows().stored().max(1) as u64;
        }
        Ok(Some(Looked::Calls(common.calls())))
    }

    fn record_calls(&mut self, problem: &L1Problem<'a, L>, calls: u64) {
        let passes = calls as f64 / problem.len() as f64;
        let entries = passes * problem.rows().stored() as f64;
        self.touched.iter_mut().for_each(|touched| touched.add(entries as usize, 0));
    }

    fn iterate(&mut self, _: &L1Problem<'a, L>, _: Option<&BallDual>) -> Result<Vec<f64>> {
        Ok(self.descent.iterate().to_vec())
    }

    fn certified(&mut self, _: &L1Problem<'a, L>, told: Told<'_, BallTable<'a>>) -> Result<()> {
        self.descent.refresh(&told);
        Ok(())
    }

    fn may_stall(&self) -> bool {
        self.descent.may_stall()
    }

    fn touched(&self) -> Option<Touched> {
        self.touched
    }

    fn tactics(&self) -> Vec<String> {
        self.descent.tactics()
    }
}
