//! Algorithm 1 with constant steps: the s largest entries of X and the k examples of most change move in each.
//!
//! ```text
//! 4   x̃ ← the s largest entries of x − G/(μη), projected; G = μx − V         x ← (1 − η)x + ηx̃                  (8)
//! 5   p ← (1 − η)p + ηA x̃        p are the predictions; printed with Δx in the place of x̃                       (9)
//! 6   α̃_i ← argmax m_i(−⟨p_i, β⟩ − f_i*(−β)) − ‖β − α_i‖²/(2δ)        printed without the mass at the conjugate (10)
//! 7   the k examples of the largest ‖α̃_i − α_i‖ move there                                                     (11)
//! 8   V follows through their rows                                                                             (12)
//! ```
//!
//! The α of the library is −y of the paper. x and p have one lazy scale in common, so a step touches the columns of x̃ and
//! the rows of the examples that move, and beside them d numbers to select from and n predictions to compare.

use super::{Constants, Losses, Problem, Sides, Solution, Touched};
use crate::run::{Certificate, Certified, Quota, Solver, Work};
use crate::term::ball::l1;
use crate::{Error, Result};

/// A scale that falls below this is worked into the numbers it scales.
const SMALLEST_SCALE: f64 = 1e-100;

/// The algorithm; see the module's head.
pub struct Theorem<'p, 'a, L: Losses> {
    problem: &'p Problem<'a, L>,
    sides: Sides,
    s: usize,
    k: usize,
    eta: f64,
    delta: f64,
    /// x and the predictions p, both to be multiplied by the scale.
    x: Vec<f64>,
    p: Vec<f64>,
    scale: f64,
    alpha: Vec<f64>,
    v: Vec<f64>,
    touched: Touched,
    /// Entries that are not yet counted as work.
    owed: u64,
    room: Room<L::Scratch>,
}

/// Memory that steps work in.
#[derive(Default)]
struct Room<S> {
    /// x − G/(μη).
    shifted: Vec<f64>,
    /// x̃.
    sparse: Vec<(u32, f64)>,
    sizes: Vec<f64>,
    /// α̃, and how far from α each is.
    to: Vec<f64>,
    moves: Vec<(f64, u32)>,
    a: Vec<f64>,
    losses: S,
}

impl<'p, 'a, L: Losses> Theorem<'p, 'a, L> {
    /// From X = 0 and α = 0. μ must be positive.
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
        let largest = problem.squared_norms().iter().copied().fold(0.0, f64::max);
        let own = problem.losses().smoothness() / n as f64;
        let curvature = own + 12.5 * largest / (problem.mu() * (n as f64).powi(2));
        Ok(Self {
            sides: Sides::new(problem)?,
            s,
            k,
            eta: constants.eta.unwrap_or(0.5),
            delta: constants.delta.unwrap_or(1.0 / (k as f64 * curvature)),
            x: vec![0.0; dim],
            p: vec![0.0; n * c],
            scale: 1.0,
            alpha: vec![0.0; n * c],
            v: vec![0.0; dim],
            touched: Touched::default(),
            owed: 0,
            room: Room { to: vec![0.0; n * c], a: vec![0.0; c], ..Room::default() },
            problem,
        })
    }

    /// What the steps have touched.
    pub fn touched(&self) -> Touched {
        self.touched
    }

    /// Lines 4 and 5.
    fn step_primal(&mut self) {
        let (problem, c, eta) = (self.problem, self.problem.outputs(), self.eta);
        let room = &mut self.room;
        let (of_x, of_v) = ((1.0 - 1.0 / eta) * self.scale, 1.0 / (problem.mu() * eta));
        room.shifted.clear();
        room.shifted.extend(self.x.iter().zip(&self.v).map(|(x, v)| of_x * x + of_v * v));
        let radius = problem.ball().radius();
        l1::nearest_sparse(&room.shifted, self.s, radius, &mut room.sparse, &mut room.sizes);
        self.touched.selected += self.x.len() as u64;
        self.scale *= 1.0 - eta;
        if self.scale < SMALLEST_SCALE {
            let scale = std::mem::replace(&mut self.scale, 1.0);
            self.x.iter_mut().chain(&mut self.p).for_each(|x| *x *= scale);
        }
        for &(at, value) in &room.sparse {
            let (at, value) = (at as usize, value * eta / self.scale);
            self.x[at] += value;
            let (column, output) = (problem.columns().column(at / c), at % c);
            for &(i, entry) in column {
                self.p[i as usize * c + output] += entry * value;
            }
            self.owed += column.len() as u64;
        }
    }

    /// Lines 6 to 8.
    fn step_dual(&mut self) {
        let (problem, c) = (self.problem, self.problem.outputs());
        let Room { to, moves, a, losses, .. } = &mut self.room;
        moves.clear();
        for i in 0..problem.len() {
            let part = i * c..(i + 1) * c;
            a.iter_mut().zip(&self.p[part.clone()]).for_each(|(a, p)| *a = self.scale * p);
            let (alpha, to) = (&self.alpha[part.clone()], &mut to[part]);
            let mass = problem.masses()[i];
            if mass > 0.0 {
                problem.losses().maximizer(i, a, alpha, 1.0 / (self.delta * mass), to, losses);
            } else {
                to.copy_from_slice(alpha);
            }
            let far: f64 = to.iter().zip(alpha).map(|(to, at)| (to - at) * (to - at)).sum();
            moves.push((far, i as u32));
        }
        if self.k < moves.len() {
            moves.select_nth_unstable_by(self.k, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        for &(far, i) in moves[..self.k].iter().filter(|(far, _)| *far > 0.0) {
            let i = i as usize;
            debug_assert!(far.is_finite());
            let part = i * c..(i + 1) * c;
            let (alpha, to) = (&mut self.alpha[part.clone()], &to[part]);
            for ((a, alpha), to) in a.iter_mut().zip(alpha).zip(to) {
                *a = to - *alpha;
                *alpha = *to;
            }
            self.owed += problem.add_example(i, a, 1.0, &mut self.v);
        }
    }
}

impl<L: Losses> Solver for Theorem<'_, '_, L> {
    type Model = Solution;

    fn calls_per_pass(&self) -> u64 {
        self.problem.len() as u64
    }

    /// A pass is as many entries of A as there are, and one example more a step for what it looks at beside them.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let (pass, all) = (self.calls_per_pass(), self.problem.rows().stored().max(1) as u64);
        let mut done = Work::default();
        while quota.allows(done, 1) {
            self.step_primal();
            self.step_dual();
            let calls = self.owed / all.div_ceil(pass);
            self.touched.entries += self.owed;
            self.owed = 0;
            done += Work { steps: 1, oracle_calls: calls + 1 };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let dual = self.problem.dual(&self.alpha)?;
        self.v.copy_from_slice(&dual.v); // without the rounding of many steps
        let mut x: Vec<f64> = self.x.iter().map(|x| self.scale * x).collect();
        self.problem.predict(&x, &mut self.p);
        self.p.iter_mut().for_each(|p| *p /= self.scale);
        l1::bring_inside(&mut x, self.problem.ball().radius());
        let primal = self.problem.primal(&x)?;
        self.sides.certify((primal, &x), (dual.value, &self.alpha))
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        Some(self.sides.certificate())
    }

    fn weights(&self) -> &[f64] {
        &self.sides.best().weights
    }

    fn tactics(&self) -> Vec<String> {
        let Self { s, k, eta, delta, touched, .. } = self;
        vec![format!("s {s}, k {k}, eta {eta}, delta {delta:.3e}"), touched.told()]
    }

    fn into_model(self) -> Solution {
        self.sides.into_best()
    }
}
