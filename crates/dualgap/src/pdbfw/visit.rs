//! The step of one example: the exact maximum of the dual along its α, as long as X keeps its entries.
//!
//! Let S be the entries of X that are not zero, s their signs, x_S the row on them. When α moves by δ,
//!
//! ```text
//! V moves by mδx,    τ by mδ⟨s, x_S⟩/|S| (Σ|X| stays r),    the prediction by qδ,    q = (m/μ)(‖x_S‖² − ⟨s, x_S⟩²/|S|)
//! ```
//!
//! and the loss's maximizer for that q is where to go. Entries that come or go on the way change q; where the prediction
//! afterwards asks to turn back, the step is taken again with the q that was met, and at last with (m/μ)‖x‖², which no q
//! exceeds. With several outputs q is the largest of theirs, at the τ from before.

use super::Losses;
use super::ascent::{Ascent, Room};
use crate::term::ball::l1;

/// Turning back by less than this share of a step is not worth another look at the row.
const TURN: f64 = 0.1;

/// x with the sign of u, or against it.
#[inline]
fn along(x: f64, u: f64) -> f64 {
    if u > 0.0 { x } else { -x }
}

impl<L: Losses> Ascent<'_, '_, L> {
    /// The step of an example with one output.
    pub(super) fn visit_one(&mut self, i: usize) {
        let (problem, losses) = (self.problem, self.problem.losses());
        let (row, mass) = (problem.rows().row(i), problem.masses()[i]);
        let walk = &mut self.walk;
        let (level, inverse, from) = (walk.tau, 1.0 / walk.centre.strength(), walk.alpha[i]);
        let (mut a, mut squares, mut signed) = (0.0, 0.0, 0.0);
        row.for_each(|j, x| {
            let u = walk.u[j];
            let left = u.abs() - level;
            if left > 0.0 {
                let x = along(x, u);
                a += x * left;
                squares += x * x;
                signed += x;
            }
        });
        a *= inverse;
        let share = if level > 0.0 && walk.count > 0.0 { signed / walk.count } else { 0.0 };
        let whole = mass * problem.squared_norms()[i] * inverse;
        let own = (mass * inverse * (squares - signed * share)).max(0.0);
        let scratch = &mut self.room.losses;
        let mut best = |a: f64, at: f64, q: f64| {
            let mut to = [at];
            losses.maximizer(i, &[a], &[at], q, &mut to, scratch);
            to[0]
        };
        let (mut at, mut q, mut entries) = (from, own, row.stored());
        loop {
            let to = best(a, from, q);
            if to == at || to.is_nan() {
                break;
            }
            let step = mass * (to - at);
            let tau = (level + mass * (to - from) * share).max(0.0);
            let mut after = 0.0;
            row.for_each(|j, x| {
                let u = walk.u[j] + step * x;
                walk.u[j] = u;
                after += x * l1::soft(u, tau);
            });
            after *= inverse;
            (walk.tau, at, entries) = (tau, to, entries + row.stored());
            if q >= whole {
                break;
            }
            let back = (best(after, at, q) - at) / (at - from);
            if back >= -TURN || back.is_nan() {
                break;
            }
            let met = (after - a) / (at - from);
            // Not again the same, and no third time something in between.
            q = if q == own && met > own && met < whole { met } else { whole };
        }
        walk.alpha[i] = at;
        walk.touched.entries += entries as u64;
        walk.since += entries as u64;
        self.note(i, (at - from).abs(), mass * squares);
    }

    /// The step of an example with several.
    pub(super) fn visit_all(&mut self, i: usize) {
        let (problem, c) = (self.problem, self.problem.outputs());
        let (row, mass) = (problem.rows().row(i), problem.masses()[i]);
        let (walk, room) = (&mut self.walk, &mut self.room);
        let (level, inverse) = (walk.tau, 1.0 / walk.centre.strength());
        let Room { a, to, along: signed, squares, losses, .. } = room;
        for sums in [&mut *a, &mut *signed, &mut *squares] {
            sums.fill(0.0);
        }
        row.for_each(|j, x| {
            for (k, &u) in walk.u[j * c..][..c].iter().enumerate() {
                let left = u.abs() - level;
                if left > 0.0 {
                    let x = along(x, u);
                    a[k] += x * left;
                    signed[k] += x;
                    squares[k] += x * x;
                }
            }
        });
        a.iter_mut().for_each(|a| *a *= inverse);
        let most = squares.iter().copied().fold(0.0, f64::max);
        let alpha = &mut walk.alpha[i * c..][..c];
        problem.losses().maximizer(i, a, alpha, mass * most * inverse, to, losses);
        if to.iter().any(|to| to.is_nan()) {
            return;
        }
        let (mut change, mut turn) = (0.0, 0.0);
        for ((to, alpha), signed) in to.iter_mut().zip(alpha).zip(&*signed) {
            let step = *to - *alpha;
            *alpha = *to;
            *to = mass * step;
            change += step * step;
            turn += *to * signed;
        }
        if level > 0.0 && walk.count > 0.0 {
            walk.tau = (level + turn / walk.count).max(0.0);
        }
        let mut entries = row.stored();
        if change > 0.0 {
            entries *= 2;
            row.for_each(|j, x| {
                for (u, step) in walk.u[j * c..][..c].iter_mut().zip(&*to) {
                    *u += step * x;
                }
            });
        }
        walk.touched.entries += entries as u64;
        walk.since += (entries * c) as u64;
        self.note(i, change.sqrt(), mass * most);
    }
}
