//! Algorithm 2 with constant steps: each step moves X by a matrix of rank s, and the k examples that change most.
//!
//! ```text
//! 4   X̃ ← the s largest singular values of X − G/(μη), projected; G = μX − V      X ← (1 − η)X + ηX̃
//! 5   p ← (1 − η)p + η𝒜(X̃)        p are the predictions                                                        (13)
//! 6   α̃_i ← argmax m_i(−⟨p_i, β⟩ − f_i*(−β)) − ‖β − α_i‖²/(2δ_i)                                               (14)
//! 7   the k examples of the largest ‖α̃_i − α_i‖²/δ_i move there                                                (15)
//! ```
//!
//! The δ_i are equal if the masses are: [`Constants`]. The α of the library is −y of the paper. Line 8 needs no code: V
//! is an operator that is applied to vectors, and is not stored.

use super::checkpoint::Resumes;
use super::common::{Looked, Moves};
use super::{LowRankProblem, Map};
use crate::ball::settings::DualSteps;
use crate::ball::{Constants, Losses, Touched};
use crate::linalg::singular::top_singular_until;
use crate::linalg::{Combination, Halted, LowRank, Search};
use crate::term::ball::trace::threshold;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The tolerance of the singular vectors of a step; the paper asks for far less accuracy.
const TOLERANCE: f64 = 1e-6;

/// The algorithm; see the module's head.
pub(super) struct Theorem<S> {
    s: usize,
    k: usize,
    eta: f64,
    delta: f64,
    /// 1/(m_i δ_i).
    q: Vec<f64>,
    at: Place,
    /// The workspace of steps: m_i α_i; the predictions of X̃; α̃, and how far it is from α for each example.
    y: Vec<f64>,
    a: Vec<f64>,
    to: Vec<f64>,
    moves: Vec<(f64, u32)>,
    scratch: S,
}

/// The state of the algorithm: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    x: LowRank,
    p: Vec<f64>,
    alpha: Vec<f64>,
    warm: Option<LowRank>,
    products: usize,
    touched: Touched,
}

impl<S: Default> Theorem<S> {
    /// Starts from X = 0 and α = 0. μ must be positive.
    pub fn new<M: Map, L: Losses>(
        problem: &LowRankProblem<M, L>,
        constants: Constants,
    ) -> Result<Self> {
        constants.check()?;
        let (mu, map) = (problem.mu(), problem.map());
        if mu <= 0.0 {
            return Err(Error::setting(
                "the theorem's steps need mu to be positive; the default steps do not",
            ));
        }
        let ((rows, columns), n) = (map.shape(), map.len());
        let s = constants.s.unwrap_or(usize::MAX).min(rows.min(columns));
        let balanced = n as f64 * s as f64 * (1.0 / rows as f64 + 1.0 / columns as f64);
        let k = constants.k.unwrap_or(balanced as usize).clamp(1, n);
        let counts = problem.masses().iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        let squares = counts.map(|(i, _)| map.squared_norm(i));
        let (all, largest) =
            squares.fold((0.0, 0.0_f64), |(all, largest), x| (all + x, largest.max(x)));
        let of_block = all.min(k as f64 * largest);
        let (q, delta) = constants.dual_steps(&DualSteps {
            masses: problem.masses(),
            k,
            smoothness: problem.losses().smoothness(),
            conditioning: problem.losses().conditioning(),
            curvature: 22.5 * of_block / mu,
        })?;
        let numbers = vec![0.0; problem.numbers()];
        Ok(Self {
            s,
            k,
            eta: constants.eta.unwrap_or(0.5),
            delta,
            q,
            at: Place {
                x: LowRank::zero(rows, columns),
                p: numbers.clone(),
                alpha: numbers.clone(),
                warm: None,
                products: 6 * s,
                touched: Touched::default(),
            },
            y: numbers.clone(),
            a: numbers.clone(),
            to: numbers,
            moves: Vec::with_capacity(n),
            scratch: S::default(),
        })
    }

    /// Lines 4 and 5; returns how many products with a vector they took, or none if they were halted.
    fn step_primal<M: Map, L: Losses>(
        &mut self,
        problem: &LowRankProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<u64>> {
        let eta = self.eta;
        problem.weigh(&self.at.alpha, &mut self.y);
        let image = problem.map().image(&self.y, self.at.products);
        let terms: Vec<(f64, &dyn crate::linalg::Operator)> =
            vec![(1.0 / (problem.mu() * eta), &*image), (1.0 - 1.0 / eta, &self.at.x)];
        let search = Search { tolerance: TOLERANCE, ..Search::default() };
        let (terms, warm) = (Combination::new(terms), self.at.warm.as_ref());
        let all = |_: &[f64]| f64::NEG_INFINITY;
        let found = top_singular_until(&terms, self.s, warm, &search, &all, halted)?;
        if halted() {
            return Ok(None);
        }
        let theta = threshold(found.found.s(), problem.radius());
        let left = found.found.s().iter().map(|s| s - theta).take_while(|&s| s > 0.0);
        let values: Vec<f64> = left.collect();
        let tilde = found.found.with_values(&values);
        drop(image);
        problem.map().predict(&tilde, &mut self.a);
        self.at.p.iter_mut().zip(&self.a).for_each(|(p, a)| *p = (1.0 - eta) * *p + eta * a);
        self.at.x = LowRank::combined(1.0 - eta, &self.at.x, eta, &tilde)?;
        self.at.products = found.applications;
        self.at.warm = Some(found.found);
        Ok(Some((found.applications + tilde.rank()) as u64))
    }

    /// Lines 6 and 7.
    fn step_dual<M: Map, L: Losses<Scratch = S>>(&mut self, problem: &LowRankProblem<M, L>) {
        let c = problem.map().outputs();
        self.moves.clear();
        for (i, &mass) in problem.masses().iter().enumerate() {
            let part = i * c..(i + 1) * c;
            let (p, alpha) = (&self.at.p[part.clone()], &self.at.alpha[part.clone()]);
            let to = &mut self.to[part];
            if mass > 0.0 {
                problem.losses().maximizer(i, p, alpha, self.q[i], to, &mut self.scratch);
            } else {
                to.copy_from_slice(alpha);
            }
            let far: f64 = to.iter().zip(alpha).map(|(to, at)| (to - at) * (to - at)).sum();
            self.moves.push((mass * self.q[i] * far, i as u32));
        }
        if self.k < self.moves.len() {
            let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            self.moves.select_nth_unstable_by(self.k, order);
        }
        // If α̃ is not finite, the step has overflowed, and the α of the example does not move.
        for &(_, i) in self.moves[..self.k].iter().filter(|(far, _)| *far > 0.0 && far.is_finite())
        {
            let part = i as usize * c..(i as usize + 1) * c;
            self.at.alpha[part.clone()].copy_from_slice(&self.to[part]);
        }
    }
}

impl<M: Map, L: Losses> Moves<M, L> for Theorem<L::Scratch> {
    fn step(
        &mut self,
        problem: &LowRankProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<Looked>> {
        let Some(products) = self.step_primal(problem, halted)? else { return Ok(None) };
        let (rows, columns) = problem.map().shape();
        let rank = self.at.warm.as_ref().map_or(0, LowRank::rank);
        self.at.touched.add(products as usize * problem.map().stored(), rank * (rows + columns));
        self.step_dual(problem);
        Ok(Some(Looked::Products(products)))
    }

    fn iterate(&mut self, _: &LowRankProblem<M, L>) -> Result<LowRank> {
        Ok(self.at.x.clone())
    }

    fn alpha(&self) -> Option<&[f64]> {
        Some(&self.at.alpha)
    }

    fn touched(&self) -> Option<Touched> {
        Some(self.at.touched)
    }

    fn tactics(&self) -> Vec<String> {
        let Self { s, k, eta, delta, at, .. } = self;
        vec![format!("s {s}, k {k}, eta {eta}, delta {delta:.3e}, rank {}", at.x.rank())]
    }
}

impl<M: Map, L: Losses> Resumes<M, L> for Theorem<L::Scratch> {
    type State = Place;

    fn state(&self) -> Place {
        self.at.clone()
    }

    fn resume(&mut self, problem: &LowRankProblem<M, L>, at: Place) -> bool {
        let sound = problem.has_near(&at.x)
            && problem.has_numbers(&at.p)
            && problem.has_numbers(&at.alpha)
            && at.warm.as_ref().is_none_or(|warm| problem.fits(warm));
        if sound {
            self.at = at;
        }
        sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::PerOutput;
    use crate::ball::losses::Audited;
    use crate::ball::trace::{Proving, Sampled};
    use crate::linalg::Measured;
    use crate::linalg::halt::never;
    use crate::term::ScalarLoss;

    /// A squared loss whose dual step overflows for the first example.
    struct Overflowing(PerOutput<ScalarLoss>);

    impl Losses for Overflowing {
        type Scratch = ();

        fn len(&self) -> usize {
            self.0.len()
        }

        fn outputs(&self) -> usize {
            self.0.outputs()
        }

        fn smoothness(&self) -> f64 {
            self.0.smoothness()
        }

        fn conditioning(&self) -> Option<f64> {
            self.0.conditioning()
        }

        fn value(&self, i: usize, a: &[f64], off: &[f64], (): &mut ()) -> Measured {
            self.0.value(i, a, off, &mut ())
        }

        fn conjugate(&self, i: usize, alpha: &[f64]) -> f64 {
            self.0.conjugate(i, alpha)
        }

        fn audit(&self, i: usize, alpha: &[f64]) -> Result<Audited> {
            self.0.audit(i, alpha)
        }

        fn corner(&self, i: usize, a: &[f64], to: &mut [f64], (): &mut ()) {
            self.0.corner(i, a, to, &mut ());
        }

        fn maximizer(
            &self,
            i: usize,
            a: &[f64],
            alpha: &[f64],
            q: f64,
            to: &mut [f64],
            (): &mut (),
        ) {
            self.0.maximizer(i, a, alpha, q, to, &mut ());
            if i == 0 {
                to[0] = f64::INFINITY;
            }
        }
    }

    #[test]
    fn an_example_whose_step_overflows_stays_where_it_is() {
        let map = Sampled::new(2, 2, vec![(0, 0), (0, 1), (1, 1)]).unwrap();
        let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, -1.0, 2.0], 1).unwrap();
        let problem = LowRankProblem::new(map, Overflowing(losses), 0.1, 1.0, None).unwrap();
        let mut moves = Theorem::new(&problem, Constants::default()).unwrap();
        for _ in 0..3 {
            Moves::step(&mut moves, &problem, &never).unwrap();
        }
        assert_eq!(moves.at.alpha[0], 0.0);
        assert!(moves.at.alpha[1] < 0.0 && moves.at.alpha[2] > 0.0, "the others move");
        assert!(
            problem.dual(&moves.at.alpha, &Proving::default()).unwrap().value.value.is_finite()
        );
    }
}
