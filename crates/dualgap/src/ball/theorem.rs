//! What Algorithms 1 and 2 of the paper with constant steps have in common: their constants, and the dual half of a step.
//!
//! ```text
//! 6   α̃_i ← argmax m_i(−⟨p_i, β⟩ − f_i*(−β)) − ‖β − α_i‖²/(2δ_i)      printed without the mass at the conjugate
//! 7   the k examples of the largest ‖α̃_i − α_i‖²/δ_i move there
//! ```
//!
//! p are the predictions. The δ_i are equal if the masses are: [`TheoremConstants`]. The α of the library is −y of the paper.

use super::problem::Design;
use super::settings::DualSteps;
use super::{BallProblem, Losses, TheoremConstants};
use crate::{Error, Result};

/// The constants of a run, and the workspace of its dual steps.
pub(super) struct DualHalf<S> {
    pub s: usize,
    k: usize,
    pub eta: f64,
    delta: f64,
    /// 1/(m_i δ_i).
    q: Vec<f64>,
    /// α̃, and how far it is from α for each example; the first k are those that move.
    pub to: Vec<f64>,
    moves: Vec<(f64, u32)>,
    a: Vec<f64>,
    losses: S,
}

impl<S: Default> DualHalf<S> {
    /// Checks the constants. `most` is the largest s, `balanced` the default of k for an s, and `curvature` μ times
    /// 5R(1 + 4L/μ)/(2μ) or its counterpart, from k and the sum and the largest of the ‖𝒜_i‖². μ must be positive.
    pub fn new<M: Design, L: Losses>(
        problem: &BallProblem<M, L>,
        constants: TheoremConstants,
        most: usize,
        balanced: impl FnOnce(f64) -> f64,
        curvature: impl FnOnce(f64, f64, f64) -> f64,
    ) -> Result<Self> {
        constants.check()?;
        if problem.mu() <= 0.0 {
            return Err(Error::setting(
                "the theorem's steps need mu to be positive; the default steps do not",
            ));
        }
        let (n, ratio) = (problem.len(), problem.term_smoothness() / problem.mu());
        let s = constants.s.unwrap_or(most).min(most);
        let k = constants.k.unwrap_or(balanced(s as f64) as usize).clamp(1, n);
        let counts = problem.masses().iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        let squares = counts.map(|(i, _)| problem.map().squared_norm(i));
        let (all, largest) =
            squares.fold((0.0, 0.0_f64), |(all, largest), x| (all + x, largest.max(x)));
        let (q, delta) = constants.dual_steps(&DualSteps {
            masses: problem.masses(),
            k,
            smoothness: ratio * problem.losses().smoothness(),
            conditioning: problem.losses().conditioning(),
            curvature: curvature(k as f64, all, largest) / problem.mu(),
        })?;
        Ok(Self {
            s,
            k,
            eta: constants.eta.unwrap_or(0.5 / ratio),
            delta,
            q,
            to: vec![0.0; problem.numbers()],
            moves: Vec::with_capacity(n),
            a: vec![0.0; problem.outputs()],
            losses: S::default(),
        })
    }

    /// Lines 6 and 7: computes α̃ for the predictions `scale · p`, and chooses the examples that move.
    pub fn choose<M: Design, L: Losses<Scratch = S>>(
        &mut self,
        problem: &BallProblem<M, L>,
        (scale, p): (f64, &[f64]),
        alpha: &[f64],
    ) {
        let (c, Self { k, q, to, moves, a, losses, .. }) = (problem.outputs(), self);
        moves.clear();
        for (i, &mass) in problem.masses().iter().enumerate() {
            let part = i * c..(i + 1) * c;
            a.iter_mut().zip(&p[part.clone()]).for_each(|(a, p)| *a = scale * p);
            let (alpha, to) = (&alpha[part.clone()], &mut to[part]);
            if mass > 0.0 {
                problem.losses().maximizer(i, a, alpha, q[i], to, losses);
            } else {
                to.copy_from_slice(alpha);
            }
            let far: f64 = to.iter().zip(alpha).map(|(to, at)| (to - at) * (to - at)).sum();
            moves.push((mass * q[i] * far, i as u32));
        }
        if *k < moves.len() {
            moves.select_nth_unstable_by(*k, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
    }

    /// The examples that move. If α̃ is not finite, the step has overflowed, and the α of the example does not move.
    pub fn chosen(&self) -> impl Iterator<Item = usize> {
        let moves = self.moves[..self.k].iter().filter(|(far, _)| *far > 0.0 && far.is_finite());
        moves.map(|&(_, i)| i as usize)
    }

    /// A sentence for the report.
    pub fn describe(&self) -> String {
        let Self { s, k, eta, delta, .. } = self;
        format!("s {s}, k {k}, eta {eta}, delta {delta:.3e}")
    }
}
