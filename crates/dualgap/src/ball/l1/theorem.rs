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

use super::table::{DualValue, L1Problem, Table};
use crate::Result;
use crate::ball::solver::{Looked, Moves, Resumes};
use crate::ball::theorem::DualHalf;
use crate::ball::{Constants, Losses, Touched};
use crate::linalg::Halted;
use crate::term::ball::l1;
use serde::{Deserialize, Serialize};

/// A scale below this is multiplied into x and p and reset to 1, long before the scale could underflow.
const SMALLEST_SCALE: f64 = 1e-100;

/// The algorithm; see the module's head.
pub(in crate::ball) struct Theorem<S> {
    half: DualHalf<S>,
    at: Place,
    /// Entries of A that the current step has touched.
    entries: u64,
    room: Room,
}

/// The state of the algorithm: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ball) struct Place {
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
struct Room {
    /// x − G/(μη).
    shifted: Vec<f64>,
    /// x̃.
    sparse: Vec<(u32, f64)>,
    sizes: Vec<f64>,
    /// How an α moves.
    change: Vec<f64>,
}

impl<S: Default> Theorem<S> {
    /// Starts from X = 0 and α = 0. μ must be positive.
    pub fn new<L: Losses>(problem: &L1Problem<'_, L>, constants: Constants) -> Result<Self> {
        let (n, c, dim) = (problem.len(), problem.outputs(), problem.dim());
        let balanced = |s: f64| n as f64 * s / dim.max(1) as f64;
        let curvature = |_, _, largest: f64| 12.5 * largest;
        Ok(Self {
            half: DualHalf::new(problem, constants, dim, balanced, curvature)?,
            at: Place {
                x: vec![0.0; dim],
                p: vec![0.0; n * c],
                scale: 1.0,
                alpha: vec![0.0; n * c],
                v: vec![0.0; dim],
                touched: Touched::default(),
            },
            entries: 0,
            room: Room { change: vec![0.0; c], ..Room::default() },
        })
    }

    /// Lines 4 and 5.
    fn step_primal<L: Losses>(&mut self, problem: &L1Problem<'_, L>) {
        let (c, eta) = (problem.outputs(), self.half.eta);
        let room = &mut self.room;
        let (of_x, of_v) = ((1.0 - 1.0 / eta) * self.at.scale, 1.0 / (problem.mu() * eta));
        room.shifted.clear();
        room.shifted.extend(self.at.x.iter().zip(&self.at.v).map(|(x, v)| of_x * x + of_v * v));
        let radius = problem.radius();
        l1::nearest_sparse(&room.shifted, self.half.s, radius, &mut room.sparse, &mut room.sizes);
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
    fn step_dual<L: Losses<Scratch = S>>(&mut self, problem: &L1Problem<'_, L>) {
        let (c, change) = (problem.outputs(), &mut self.room.change);
        self.half.choose(problem, (self.at.scale, &self.at.p), &self.at.alpha);
        for i in self.half.chosen() {
            let part = i * c..(i + 1) * c;
            let (alpha, to) = (&mut self.at.alpha[part.clone()], &self.half.to[part]);
            for ((change, alpha), to) in change.iter_mut().zip(alpha).zip(to) {
                *change = to - *alpha;
                *alpha = *to;
            }
            self.entries += problem.add_example(i, change, 1.0, &mut self.at.v);
        }
    }
}

impl<'a, L: Losses> Moves<Table<'a>, L> for Theorem<L::Scratch> {
    /// A pass is as many touched entries as A has; each step counts one example more, for its other work.
    fn step(&mut self, problem: &L1Problem<'a, L>, _: Halted<'_>) -> Result<Option<Looked>> {
        let (pass, all) = (problem.len() as u64, problem.rows().stored().max(1) as u64);
        self.step_primal(problem);
        self.step_dual(problem);
        let entries = std::mem::take(&mut self.entries);
        self.at.touched.add(entries as usize, 0);
        Ok(Some(Looked::Calls(entries / all.div_ceil(pass) + 1)))
    }

    fn iterate(
        &mut self,
        problem: &L1Problem<'a, L>,
        dual: Option<&DualValue>,
    ) -> Result<Vec<f64>> {
        if let Some(dual) = dual {
            self.at.v.copy_from_slice(&dual.v); // without the rounding of many steps
        }
        let x: Vec<f64> = self.at.x.iter().map(|x| self.at.scale * x).collect();
        problem.predict(&x, &mut self.at.p);
        self.at.p.iter_mut().for_each(|p| *p /= self.at.scale);
        Ok(x)
    }

    fn alpha(&self) -> Option<&[f64]> {
        Some(&self.at.alpha)
    }

    fn touched(&self) -> Option<Touched> {
        Some(self.at.touched)
    }

    fn tactics(&self) -> Vec<String> {
        vec![self.half.describe()]
    }
}

impl<'a, L: Losses> Resumes<Table<'a>, L> for Theorem<L::Scratch> {
    type State = Place;

    fn state(&self) -> Place {
        self.at.clone()
    }

    fn resume(&mut self, problem: &L1Problem<'a, L>, at: Place) -> Result<bool> {
        let finite = |x: &[f64]| x.len() == problem.dim() && x.iter().all(|x| x.is_finite());
        let sound = finite(&at.x)
            && problem.has_numbers(&at.p)
            && problem.has_numbers(&at.alpha)
            && finite(&at.v)
            && (at.scale >= SMALLEST_SCALE && at.scale <= 1.0);
        if sound {
            self.at = at;
        }
        Ok(sound)
    }
}
