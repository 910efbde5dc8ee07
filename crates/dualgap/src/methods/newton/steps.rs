//! The steps: a direction, and how far to go along it.

use super::blocks::CurvedBlocks;
use super::design::Derivatives;
use super::point::{End, Line, Local};
use super::smoothing::{Search, Smoothing};
use super::solver::Newton;
use crate::linalg::kernels::{add_scaled, dot};
use crate::linalg::sum::squared_norm;

/// Armijo's condition: a step lowers P by at least this share of what its slope promises. Any share below ½ keeps Newton's
/// full steps near the optimum.
const SHARE: f64 = 1e-4;

/// Near the optimum P falls by less than its rounding, and the gradient still by orders of magnitude, which is what the
/// certificate depends on. So a step may leave P where it is, up to this share for the rounding of its sum, ...
const LEVEL: f64 = 1e-12;

/// ... if the slope along the step has fallen to this share at its end (the approximate Wolfe condition of Hager and Zhang).
const FLATTER: f64 = 0.5;

/// A step is halved at most this often; then P no longer falls but by rounding.
const HALVINGS: usize = 40;

/// A step that promises to lower P by more than this share of it ends too far from the optimum for its tangent to prove much.
const NEAR: f64 = 0.1;

impl<B: CurvedBlocks> Newton<'_, B> {
    /// Takes a step, and returns the work that it took in passes over the data.
    pub(super) fn step(&mut self, halted: &dyn Fn() -> bool) -> f64 {
        let (local, fresh) = self.take_local();
        let (mut local, turned) = self.turned(local);
        self.steepest = self.steepest.max(squared_norm(&local.gradient).value);
        let down: Vec<f64> = local.gradient.iter().map(|g| -g).collect();
        let (p, products) = self.direction(&local, &down, halted);
        let mut ahead = std::mem::take(&mut self.ahead);
        self.design.predict_into(&p, &mut ahead);
        let line = Line { slope: dot(&local.gradient, &p), p: &p, ahead: &ahead };
        let mut end = std::mem::take(&mut self.spare);
        let smoothed = self.smoothing.is_some();
        if smoothed {
            // The direction has been found, and nothing else needs them.
            end.known.slopes = std::mem::take(&mut local.slopes);
            end.known.curves = std::mem::take(&mut local.curves);
        }
        let lower = if smoothed {
            self.searched(&local, &line, &mut end)
        } else {
            self.backtracked(&local, &line, &mut end)
        };
        if lower {
            self.arrive(&local, &line, &mut end);
            let Local { a, slopes, curves, .. } = local;
            (end.a, end.known) = (a, Derivatives { slopes, curves, ..Derivatives::default() });
        } else if smoothed {
            // The round is solved up to rounding.
            self.turn(&local.a);
        }
        (self.spare, self.ahead) = (end, ahead);
        // The predictions of the direction, and the gradient at its end.
        fresh + turned + products + 2.0
    }

    /// Begins the next round where this one is solved; returns what is known in it, and how many products it took to know it.
    fn turned(&mut self, local: Local) -> (Local, f64) {
        let left_by_steps = self.gap_of_slopes(&local);
        let solved = |smoothing: &Smoothing| smoothing.is_solved(local.left, left_by_steps);
        if !self.smoothing.as_ref().is_some_and(solved) {
            return (local, 0.0);
        }
        self.turn(&local.a);
        let Local { a, slopes, curves, .. } = local;
        let buffers = Derivatives { slopes, curves, ..Derivatives::default() };
        (self.local_at(&self.w, a, buffers), 1.0)
    }

    /// Begins the next round around the slopes of the smoothed losses at these predictions.
    fn turn(&mut self, a: &[f64]) {
        let blocks = self.problem.blocks();
        if let Some(smoothing) = &mut self.smoothing {
            smoothing.turn(self.design.centres(blocks, a, smoothing));
        }
    }

    /// Shortens a step until P falls at its end; returns whether it does.
    fn backtracked(&self, local: &Local, line: &Line<'_>, end: &mut End) -> bool {
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            self.reach(local, line, t, end);
            let lower = end.value <= local.value + SHARE * t * line.slope;
            let level = end.value <= local.value + LEVEL * local.value.abs();
            let flatter = || {
                let along = dot(&end.known.slopes, line.ahead) + self.ridge_along(&end.w, line);
                along.abs() <= FLATTER * line.slope.abs()
            };
            if lower || (level && flatter()) {
                return true;
            }
            t /= 2.0;
        }
        false
    }

    /// Ends a step where P is lowest along its direction, about, or at a lower point than its beginning; returns whether there is one.
    fn searched(&self, local: &Local, line: &Line<'_>, end: &mut End) -> bool {
        let (mut search, mut next) = (Search::new(line.slope), Some(1.0));
        let mut lowest: Option<(f64, f64)> = None;
        while let Some(t) = next {
            self.reach(local, line, t, end);
            let along =
                self.design.inner(&end.known.slopes, line.ahead) + self.ridge_along(&end.w, line);
            if end.value <= local.value + LEVEL * local.value.abs() && search.is_flat(along) {
                return true;
            }
            next = search.next(t, along);
            if end.value < lowest.map_or(local.value, |(_, value)| value) {
                lowest = Some((t, end.value));
            }
        }
        if let Some((t, _)) = lowest {
            self.reach(local, line, t, end);
        }
        lowest.is_some()
    }

    /// Finds out what is at a point of a line.
    fn reach(&self, local: &Local, line: &Line<'_>, t: f64, end: &mut End) {
        end.t = t;
        end.w.clone_from(&self.w);
        add_scaled(line.p, t, &mut end.w);
        self.design.move_along(&local.a, t, line.ahead, &mut end.a);
        self.derive(&end.a, &mut end.known);
        end.value = end.known.loss + self.penalty(&end.w);
    }

    /// Returns the slope of the penalty along a line.
    fn ridge_along(&self, w: &[f64], line: &Line<'_>) -> f64 {
        let ridge = w.iter().zip(line.p).zip(&self.ridge);
        ridge.map(|((w, p), ridge)| ridge * w * p).sum()
    }

    /// Moves to the end of a step, and finds the slopes of its model there if they prove anything.
    fn arrive(&mut self, local: &Local, line: &Line<'_>, end: &mut End) {
        let (a, known) = (std::mem::take(&mut end.a), std::mem::take(&mut end.known));
        let mut arrived = self.local(&end.w, a, known);
        // Half of the slope is what the model promises.
        if self.tangents_pay && -0.5 * line.slope <= NEAR * local.value {
            let moved: Vec<f64> = line.ahead.iter().map(|ahead| end.t * ahead).collect();
            let tangent = self.tangent(local, &moved, &arrived, &end.w);
            let of_slopes = self.gap_of_slopes(&arrived);
            self.tangents_pay = tangent.as_ref().is_none_or(|t| t.gap < of_slopes);
            arrived.tangent = tangent.filter(|_| self.tangents_pay);
        }
        if let Some(smoothing) = &mut self.smoothing {
            smoothing.count(end.t);
        }
        self.local = Some(arrived);
        std::mem::swap(&mut self.w, &mut end.w);
    }
}
