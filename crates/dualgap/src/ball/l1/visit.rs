//! The step of one example: the maximum of the dual along its α, as long as X keeps its support.
//!
//! Let S be the entries of X that are not zero, s their signs, x_S the row on them. When α moves by δ,
//!
//! ```text
//! V moves by mδx,    τ by mδ⟨s, x_S⟩/|S| (Σ|X| stays r),    the prediction by qδ,    q = (m/μ)(‖x_S‖² − ⟨s, x_S⟩²/|S|)
//! ```
//!
//! and the step goes to the loss's maximizer for that q. Entries that enter X on the way make q larger. The prediction
//! after the step gives the q that the step met, ⟨change of a, δ⟩/‖δ‖². If by that q the step was too long, it is
//! repeated with the q that it met, and the last time with (m/μ)‖x‖², which no q exceeds.
//!
//! With several outputs, q is m/μ times the largest ‖x_S‖² of any output.

use super::ascent::{Ascent, Room};
use super::table::L1Problem;
use crate::ball::Losses;
use crate::term::ball::l1;

/// Returns x if u is positive, else −x.
#[inline]
fn along(x: f64, u: f64) -> f64 {
    if u > 0.0 { x } else { -x }
}

/// A step that is too long by less than about this share is not worth another loop over the row.
const FAR: f64 = 0.1;

/// Returns the q to repeat the step with, or none if the step with this q was short enough for the q that it met.
fn again(q: f64, own: f64, met: f64, whole: f64, smoothness: f64) -> Option<f64> {
    // With the q that was met, the step would be (γ + q)/(γ + met) times as long.
    let fine = q >= whole || met - q <= FAR * (met + smoothness) || met.is_nan();
    // Only the first repetition uses an estimate; the second uses the upper bound.
    let next = if q == own && met < whole { met } else { whole };
    (!fine).then_some(next)
}

impl<S> Ascent<S> {
    /// Takes the step of an example with one output; returns how many entries of A it read.
    pub(super) fn visit_one<L: Losses<Scratch = S>>(
        &mut self,
        problem: &L1Problem<'_, L>,
        i: usize,
    ) -> u64 {
        let losses = problem.losses();
        let (row, mass) = (problem.rows().row(i), problem.masses()[i]);
        let (walk, scratch) = (&mut self.walk, &mut self.room.losses);
        let (level, inverse, from) = (walk.level.tau, 1.0 / walk.centre.strength(), walk.alpha[i]);
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
        let share = signed * walk.level.share();
        let whole = mass * problem.squared_norms()[i] * inverse;
        let own = (mass * inverse * (squares - signed * share)).max(0.0).min(whole);
        let (mut at, mut q, mut entries) = (from, own, row.stored());
        loop {
            let mut to = [at];
            losses.maximizer(i, &[a], &[from], q, &mut to, scratch);
            let [to] = to;
            if to == at || to.is_nan() {
                break;
            }
            let step = mass * (to - at);
            walk.level.shift(level, mass * (to - from) * share);
            let (tau, mut after) = (walk.level.tau, 0.0);
            row.for_each(|j, x| {
                let u = walk.u[j] + step * x;
                walk.u[j] = u;
                walk.level.note(j, u);
                after += x * l1::soft(u, tau);
            });
            (at, entries) = (to, entries + row.stored());
            let met = (after * inverse - a) / (at - from);
            match again(q, own, met, whole, losses.smoothness()) {
                Some(more) => q = more,
                None => break,
            }
        }
        walk.alpha[i] = at;
        let gain = (at - from) * (at - from) * mass * (losses.smoothness() + own);
        walk.shrinking.note(i, gain.sqrt(), mass * squares);
        entries as u64
    }

    /// Takes the step of an example with several outputs; returns how many entries of A it read.
    pub(super) fn visit_all<L: Losses<Scratch = S>>(
        &mut self,
        problem: &L1Problem<'_, L>,
        i: usize,
    ) -> u64 {
        let (losses, c) = (problem.losses(), problem.outputs());
        let (row, mass) = (problem.rows().row(i), problem.masses()[i]);
        let walk = &mut self.walk;
        let (level, inverse) = (walk.level.tau, 1.0 / walk.centre.strength());
        let Room { a, moves, from, to, signed, squares, losses: scratch, .. } = &mut self.room;
        for sums in [&mut *a, &mut *signed, &mut *squares] {
            sums.fill(0.0);
        }
        row.for_each(|j, x| {
            if !walk.level.may_have(j) {
                return;
            }
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
        let whole = mass * problem.squared_norms()[i] * inverse;
        let most = squares.iter().copied().fold(0.0, f64::max);
        let own = (mass * most * inverse).min(whole);
        let at = &mut walk.alpha[i * c..][..c];
        from.copy_from_slice(at);
        let (mut q, mut entries, mut change) = (own, row.stored(), 0.0);
        loop {
            losses.maximizer(i, a, from, q, to, scratch);
            if to == at || to.iter().any(|to| to.is_nan()) {
                break;
            }
            let (mut turn, mut squared) = (0.0, 0.0);
            moves.clear();
            for (k, &to) in to.iter().enumerate() {
                turn += mass * (to - from[k]) * signed[k];
                squared += (to - from[k]) * (to - from[k]);
                let step = mass * (to - std::mem::replace(&mut at[k], to));
                if step != 0.0 {
                    moves.push((k, step, 0.0));
                }
            }
            walk.level.shift(level, turn * walk.level.share());
            let tau = walk.level.tau;
            row.for_each(|j, x| {
                for (k, step, after) in &mut *moves {
                    let j = j * c + *k;
                    let u = walk.u[j] + *step * x;
                    walk.u[j] = u;
                    walk.level.note(j, u);
                    *after += x * l1::soft(u, tau);
                }
            });
            entries += row.stored();
            change = squared;
            let met =
                moves.iter().map(|&(k, _, after)| (after * inverse - a[k]) * (at[k] - from[k]));
            let met = met.sum::<f64>();
            match again(q, own, met / squared, whole, losses.smoothness()) {
                Some(more) => q = more,
                None => break,
            }
        }
        let gain = change * mass * (losses.smoothness() + own);
        walk.shrinking.note(i, gain.sqrt(), mass * most);
        entries as u64
    }
}
