//! Algorithm 1 with constant steps: each step moves the s largest entries of X and the k examples that change most.
//!
//! ```text
//! 4   x̃ ← the s largest entries of x − G/(μη), projected; G = μx − V         x ← (1 − η)x + ηx̃                  (8)
//! 5   p ← (1 − η)p + ηA x̃        p are the predictions; printed with Δx in the place of x̃                       (9)
//! 6   α̃_i ← argmax m_i(−⟨p_i, β⟩ − f_i*(−β)) − ‖β − α_i‖²/(2δ_i)      printed without the mass at the conjugate (10)
//! 7   the k examples of the largest ‖α̃_i − α_i‖²/δ_i move there                                                (11)
//! 8   V follows through their rows                                                                             (12)
//! ```
//!
//! The δ_i are equal if the masses are: [`Constants`]. The α of the library is −y of the paper. x and p share one lazy
//! scale, so a step touches the columns of x̃ and the rows of the examples that move, and in addition d numbers to
//! select from and n predictions to compare.

use super::settings::DualSteps;
use super::{BestPair, Constants, Losses, Problem, Solution, Touched};
use crate::run::{Certificate, Certified, Counters, Quota, Resumable, Solver, Work};
use crate::term::ball::l1;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A scale below this is multiplied into x and p and reset to 1, long before the scale could underflow.
const SMALLEST_SCALE: f64 = 1e-100;

/// The algorithm; see the module's head.
pub struct Theorem<'p, 'a, L: Losses> {
    problem: &'p Problem<'a, L>,
    best_pair: BestPair,
    s: usize,
    k: usize,
    eta: f64,
    delta: f64,
    /// 1/(m_i δ_i).
    q: Vec<f64>,
    at: Place,
    /// Entries of A that the current step has touched.
    entries: u64,
    room: Room<L::Scratch>,
}

/// The state of the algorithm: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    /// x and the predictions p; the true ones are these times the scale.
    x: Vec<f64>,
    p: Vec<f64>,
    scale: f64,
    alpha: Vec<f64>,
    v: Vec<f64>,
    touched: Touched,
}

/// The workspace of steps.
#[derive(Default)]
struct Room<S> {
    /// x − G/(μη).
    shifted: Vec<f64>,
    /// x̃.
    sparse: Vec<(u32, f64)>,
    sizes: Vec<f64>,
    /// α̃, and how far it is from α for each example.
    to: Vec<f64>,
    moves: Vec<(f64, u32)>,
    a: Vec<f64>,
    losses: S,
}

impl<'p, 'a, L: Losses> Theorem<'p, 'a, L> {
    /// Starts from X = 0 and α = 0. μ must be positive.
    pub fn new(problem: &'p Problem<'a, L>, constants: Constants) -> Result<Self> {
        constants.check()?;
        if problem.mu() <= 0.0 {
            return Err(Error::setting(
                "the theorem's steps need mu to be positive; the default steps do not",
            ));
        }
        let (n, c, dim) = (problem.len(), problem.outputs(), problem.dim());
        let s = constants.s.unwrap_or(dim).min(dim);
        let balanced = (n as f64 * s as f64 / dim.max(1) as f64) as usize;
        let k = constants.k.unwrap_or(balanced).clamp(1, n);
        let counts = problem.masses().iter().zip(problem.squared_norms());
        let largest = counts.filter(|(mass, _)| **mass > 0.0).map(|(_, square)| *square);
        let (q, delta) = constants.dual_steps(&DualSteps {
            masses: problem.masses(),
            k,
            smoothness: problem.losses().smoothness(),
            conditioning: problem.losses().conditioning(),
            curvature: 12.5 * largest.fold(0.0, f64::max) / problem.mu(),
        })?;
        Ok(Self {
            best_pair: BestPair::new(problem)?,
            s,
            k,
            eta: constants.eta.unwrap_or(0.5),
            delta,
            q,
            at: Place {
                x: vec![0.0; dim],
                p: vec![0.0; n * c],
                scale: 1.0,
                alpha: vec![0.0; n * c],
                v: vec![0.0; dim],
                touched: Touched::default(),
            },
            entries: 0,
            room: Room { to: vec![0.0; n * c], a: vec![0.0; c], ..Room::default() },
            problem,
        })
    }

    /// Returns what the steps have touched.
    pub fn touched(&self) -> Touched {
        self.at.touched
    }

    /// Lines 4 and 5.
    fn step_primal(&mut self) {
        let (problem, c, eta) = (self.problem, self.problem.outputs(), self.eta);
        let room = &mut self.room;
        let (of_x, of_v) = ((1.0 - 1.0 / eta) * self.at.scale, 1.0 / (problem.mu() * eta));
        room.shifted.clear();
        room.shifted.extend(self.at.x.iter().zip(&self.at.v).map(|(x, v)| of_x * x + of_v * v));
        let radius = problem.ball().radius();
        l1::nearest_sparse(&room.shifted, self.s, radius, &mut room.sparse, &mut room.sizes);
        self.at.touched.add(0, self.at.x.len());
        self.at.scale *= 1.0 - eta;
        if self.at.scale < SMALLEST_SCALE {
            let scale = std::mem::replace(&mut self.at.scale, 1.0);
            self.at.x.iter_mut().chain(&mut self.at.p).for_each(|x| *x *= scale);
        }
        for &(at, value) in &room.sparse {
            let (at, value) = (at as usize, value * eta / self.at.scale);
            self.at.x[at] += value;
            let (column, output) = (problem.columns().column(at / c), at % c);
            for &(i, entry) in column {
                self.at.p[i as usize * c + output] += entry * value;
            }
            self.entries += column.len() as u64;
        }
    }

    /// Lines 6 to 8.
    fn step_dual(&mut self) {
        let (problem, c) = (self.problem, self.problem.outputs());
        let Room { to, moves, a, losses, .. } = &mut self.room;
        moves.clear();
        for i in 0..problem.len() {
            let part = i * c..(i + 1) * c;
            a.iter_mut().zip(&self.at.p[part.clone()]).for_each(|(a, p)| *a = self.at.scale * p);
            let (alpha, to) = (&self.at.alpha[part.clone()], &mut to[part]);
            let mass = problem.masses()[i];
            if mass > 0.0 {
                problem.losses().maximizer(i, a, alpha, self.q[i], to, losses);
            } else {
                to.copy_from_slice(alpha);
            }
            let far: f64 = to.iter().zip(alpha).map(|(to, at)| (to - at) * (to - at)).sum();
            moves.push((mass * self.q[i] * far, i as u32));
        }
        if self.k < moves.len() {
            moves.select_nth_unstable_by(self.k, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        for &(_, i) in moves[..self.k].iter().filter(|(far, _)| *far > 0.0 && far.is_finite()) {
            let i = i as usize;
            let part = i * c..(i + 1) * c;
            let (alpha, to) = (&mut self.at.alpha[part.clone()], &to[part]);
            for ((a, alpha), to) in a.iter_mut().zip(alpha).zip(to) {
                *a = to - *alpha;
                *alpha = *to;
            }
            self.entries += problem.add_example(i, a, 1.0, &mut self.at.v);
        }
    }
}

impl<L: Losses> Theorem<'_, '_, L> {
    /// Resumes from a checkpoint; recomputes the values that a certificate will rest on.
    pub(super) fn resume(&mut self, (at, best_pair): (Place, BestPair)) -> Result<()> {
        let finite =
            |x: &[f64], own: &[f64]| x.len() == own.len() && x.iter().all(|x| x.is_finite());
        let sound = finite(&at.x, &self.at.x)
            && finite(&at.p, &self.at.p)
            && finite(&at.alpha, &self.at.alpha)
            && finite(&at.v, &self.at.v)
            && (at.scale >= SMALLEST_SCALE && at.scale <= 1.0);
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        self.best_pair = best_pair.proved(self.problem)?;
        self.at = at;
        Ok(())
    }
}

impl<L: Losses> Resumable for Theorem<'_, '_, L> {
    type State = (Place, BestPair);

    fn state(&self) -> (Place, BestPair) {
        (self.at.clone(), self.best_pair.clone())
    }
}

impl<L: Losses> Solver for Theorem<'_, '_, L> {
    type Model = Solution;

    fn calls_per_pass(&self) -> u64 {
        self.problem.len() as u64
    }

    /// A pass is as many touched entries as A has; each step counts one example more, for its other work.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let (pass, all) = (self.calls_per_pass(), self.problem.rows().stored().max(1) as u64);
        let mut done = Work::default();
        while quota.allows(done, 1) {
            self.step_primal();
            self.step_dual();
            let entries = std::mem::take(&mut self.entries);
            let calls = entries / all.div_ceil(pass);
            self.at.touched.add(entries as usize, 0);
            done += Work { steps: 1, oracle_calls: calls + 1 };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let dual = self.problem.dual(&self.at.alpha)?;
        self.at.v.copy_from_slice(&dual.v); // without the rounding of many steps
        let mut x: Vec<f64> = self.at.x.iter().map(|x| self.at.scale * x).collect();
        self.problem.predict(&x, &mut self.at.p);
        self.at.p.iter_mut().for_each(|p| *p /= self.at.scale);
        l1::bring_inside(&mut x, self.problem.ball().radius());
        let primal = self.problem.primal(&x)?;
        self.best_pair.certify((primal, &x), (dual.value, &self.at.alpha))
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        Some(self.best_pair.certificate())
    }

    fn weights(&self) -> &[f64] {
        &self.best_pair.best().weights
    }

    fn tactics(&self) -> Vec<String> {
        let Self { s, k, eta, delta, at, .. } = self;
        vec![format!("s {s}, k {k}, eta {eta}, delta {delta:.3e}"), at.touched.describe()]
    }

    fn counters(&self) -> Counters {
        self.at.touched.counters()
    }

    fn into_model(self) -> Solution {
        self.best_pair.into_best()
    }
}
