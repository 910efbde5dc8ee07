//! Algorithm 2 with constant steps: each step moves X by a matrix of rank s, and the k examples that change most.
//!
//! ```text
//! 4   X̃ ← the s largest singular values of X − G/(μη), projected; G = μX − V      X ← (1 − η)X + ηX̃
//! 5   p ← (1 − η)p + η𝒜(X̃)        p are the predictions                                                        (13)
//! 6   α̃_i ← argmax m_i(−⟨p_i, β⟩ − f_i*(−β)) − ‖β − α_i‖²/(2δ_i)                                               (14)
//! 7   the k examples of the largest ‖α̃_i − α_i‖²/δ_i move there                                                (15)
//! ```
//!
//! The δ_i are equal if the masses are: [`TheoremConstants`]. The α of the library is −y of the paper. Line 8 needs no code: V
//! is an operator that is applied to vectors, and is not stored.

use super::Map;
use crate::Result;
use crate::ball::solver::{Looked, Moves, Resumes};
use crate::ball::theorem::DualHalf;
use crate::ball::{BallProblem, Losses, TheoremConstants, Touched, Weights};
use crate::linalg::low_rank::singular::top_singular_until;
use crate::linalg::{Combination, Halted, LowRank, Search};
use crate::term::ball::trace::threshold;
use serde::{Deserialize, Serialize};

/// The tolerance of the singular vectors of a step; the paper asks for far less accuracy.
const TOLERANCE: f64 = 1e-6;

/// The algorithm; see the module's head.
pub(super) struct Theorem<S> {
    half: DualHalf<S>,
    at: Place,
    /// The workspace of steps: m_i α_i, and the predictions of X̃.
    y: Vec<f64>,
    a: Vec<f64>,
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
        problem: &BallProblem<M, L>,
        constants: TheoremConstants,
    ) -> Result<Self> {
        let ((rows, columns), n) = (problem.map().shape(), problem.len());
        let balanced = |s: f64| n as f64 * s * (1.0 / rows as f64 + 1.0 / columns as f64);
        let curvature = |k: f64, all: f64, largest: f64| 22.5 * all.min(k * largest);
        let most = rows.min(columns);
        let half = DualHalf::new(problem, constants, most, balanced, curvature)?;
        let numbers = vec![0.0; problem.numbers()];
        Ok(Self {
            at: Place {
                x: LowRank::zero(rows, columns),
                p: numbers.clone(),
                alpha: numbers.clone(),
                warm: None,
                products: 6 * half.s,
                touched: Touched::default(),
            },
            half,
            y: numbers.clone(),
            a: numbers,
        })
    }

    /// Lines 4 and 5; returns how many products with a vector they took, or none if they were halted.
    fn step_primal<M: Map, L: Losses>(
        &mut self,
        problem: &BallProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<u64>> {
        let eta = self.half.eta;
        problem.weigh(&self.at.alpha, &mut self.y);
        let image = problem.map().image(&self.y, self.at.products);
        let terms: Vec<(f64, &dyn crate::linalg::Operator)> =
            vec![(1.0 / (problem.mu() * eta), &*image), (1.0 - 1.0 / eta, &self.at.x)];
        let search = Search { tolerance: TOLERANCE, ..Search::default() };
        let (terms, warm) = (Combination::new(terms), self.at.warm.as_ref());
        let all = |_: &[f64]| f64::NEG_INFINITY;
        let found = top_singular_until(&terms, self.half.s, warm, &search, &all, halted)?;
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
    fn step_dual<M: Map, L: Losses<Scratch = S>>(&mut self, problem: &BallProblem<M, L>) {
        let c = problem.outputs();
        self.half.choose(problem, (1.0, &self.at.p), &self.at.alpha);
        for i in self.half.chosen() {
            let part = i * c..(i + 1) * c;
            self.at.alpha[part.clone()].copy_from_slice(&self.half.to[part]);
        }
    }
}

impl<M: Map, L: Losses> Moves<M, L> for Theorem<L::Scratch> {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let Some(products) = self.step_primal(problem, halted)? else { return Ok(None) };
        let (rows, columns) = problem.map().shape();
        let rank = self.at.warm.as_ref().map_or(0, LowRank::rank);
        self.at.touched.add(products as usize * problem.map().stored(), rank * (rows + columns));
        self.step_dual(problem);
        Ok(Some(Looked::Products(products)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.at.x.clone())
    }

    fn alpha(&self) -> Option<&[f64]> {
        Some(&self.at.alpha)
    }

    fn touched(&self) -> Option<Touched> {
        Some(self.at.touched)
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("{}, rank {}", self.half.describe(), self.at.x.rank())]
    }
}

impl<M: Map, L: Losses> Resumes<M, L> for Theorem<L::Scratch> {
    type State = Place;

    fn state(&self) -> Place {
        self.at.clone()
    }

    fn resume(&mut self, problem: &BallProblem<M, L>, at: Place) -> Result<bool> {
        let sound = problem.has_near(&at.x)
            && problem.has_numbers(&at.p)
            && problem.has_numbers(&at.alpha)
            && at.warm.as_ref().is_none_or(|warm| warm.fits(problem.map().shape()));
        if sound {
            self.at = at;
        }
        Ok(sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ball::PerOutput;
    use crate::ball::losses::Audited;
    use crate::ball::reference::{Dense, Four, Kind, apart, assert_contraction, changed, steps};
    use crate::ball::trace::{Proving, Sampled};
    use crate::linalg::halt::never;
    use crate::linalg::{Measured, Rows};
    use crate::term::ScalarLoss;

    /// The x and y = −α of so many steps of the algorithm.
    fn ours(of: &Dense, constants: TheoremConstants, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
        let rows = Rows::dense(&of.rows).unwrap();
        let losses = PerOutput::new(ScalarLoss::Squared, of.targets.clone(), of.outputs).unwrap();
        let problem = BallProblem::trace(&rows, losses, of.mu, of.radius, None).unwrap();
        let mut moves = Theorem::<()>::new(&problem, constants).unwrap();
        (0..count)
            .map(|_| {
                Moves::step(&mut moves, &problem, &never).unwrap();
                let y = moves.at.alpha.iter().map(|alpha| -alpha).collect();
                (moves.at.x.to_dense(), y)
            })
            .collect()
    }

    fn given(Four { s, k, eta, delta }: Four) -> TheoremConstants {
        TheoremConstants { s: Some(s), k: Some(k), eta: Some(eta), delta: Some(delta) }
    }

    // Singular vectors are known to the tolerance of the search, and errors of steps add up.
    #[test]
    fn algorithm_2_takes_the_steps_of_the_dense_one_and_no_others() {
        let of = Dense::random(5, (12, 7, 4), Kind::Squared);
        let of = Dense { low_rank: true, mu: 0.1, radius: 2.0, ..of };
        let (s, k) = (2, 5);
        let four = of.constants(s, k);
        let theorem = TheoremConstants { s: Some(s), k: Some(k), ..TheoremConstants::default() };
        let dense = steps(&of, four, 60);
        for constants in [theorem, given(four)] {
            let far = apart(&ours(&of, constants, 60), &dense);
            assert!(far < 1e-5, "{far}");
        }
        for (name, other) in changed(four) {
            let far = apart(&ours(&of, given(four), 60), &steps(&of, other, 60));
            assert!(far > 1e-4, "{name} {other:?}: {far}");
        }
    }

    #[test]
    fn the_gap_of_algorithm_2_contracts_at_the_rate_of_its_proof() {
        let of = Dense::random(6, (12, 5, 3), Kind::Squared).of_features(2);
        let of = Dense { low_rank: true, mu: 2.0, radius: 0.1, ..of };
        let four = of.constants(2, 3);
        let iterates = ours(&of, given(four), 200);
        assert!(iterates.iter().all(|(_, y)| of.size(&of.best(y)) <= four.s));
        assert_contraction(&of, four, &iterates);
    }

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
        let problem = BallProblem::new(map, Overflowing(losses), 0.1, 1.0, None).unwrap();
        let mut moves = Theorem::new(&problem, TheoremConstants::default()).unwrap();
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
