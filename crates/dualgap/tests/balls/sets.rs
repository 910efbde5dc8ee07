//! The simplex, the convex hull of atoms, and smooth terms of a user's own in the l1 ball: all held against clarabel.

use crate::balls::case::{Case, Kind, with_problem};
use crate::balls::judge::{judge_diagonal, judge_hull, judge_simplex};
use crate::balls::program::Optimum;
use crate::common::cases;
use dualgap::ball::{
    self, Atoms, BallMethod, BallProblem, BallSettings, Losses, PerOutput, SmoothTerm,
    TheoremConstants,
};
use dualgap::linalg::{Measured, Random};
use dualgap::run::{Budget, Report, Solution, Stop};
use dualgap::term::ScalarLoss;
use proptest::prelude::*;
use std::sync::Arc;

fn within(gap: f64) -> Budget {
    Budget { absolute: Some(gap), ..Budget::passes(200_000) }
}

fn settings(method: BallMethod) -> BallSettings {
    BallSettings { method, ..BallSettings::default() }
}

/// The certificate tells the truth, and the run got as far as it was asked to.
fn assert_agrees(report: &Report<Solution<f64>>, optimum: &Optimum, gap: f64, told: &str) {
    let now = report.certificate;
    assert!(optimum.upper - optimum.lower < 1e-6, "{told}: {optimum:?}");
    assert!(now.primal >= optimum.lower - 1e-7, "{told}: {now:?} {optimum:?}");
    assert!(now.dual <= optimum.upper + 1e-7, "{told}: {now:?} {optimum:?}");
    assert!(report.stop == Stop::GapReached, "{told}: {:?} {now:?} {gap}", report.stop);
}

/// What a method reaches in reasonable time; what Frank-Wolfe and sliding reach falls as 1/k.
fn reached(method: BallMethod, mu: f64) -> f64 {
    match method {
        BallMethod::FrankWolfe => 1e-3,
        BallMethod::Scgs | BallMethod::Storc => 2e-3,
        _ if mu == 0.0 => 1e-5,
        _ => 1e-6,
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn every_method_in_the_simplex_ends_at_clarabels_optimum(
        seed in 0..10_000_u64,
        kind in 0..Kind::all().len(),
        mu in prop_oneof![Just(0.0), 0.05..1.0_f64],
        radius in 0.3..3.0_f64,
        (n, d) in (2..10_usize, 1..7_usize),
    ) {
        let mut case = Case::random(seed, Kind::all()[kind], n, d);
        (case.mu, case.radius) = (mu, radius);
        case.weights = seed.is_multiple_of(2).then(|| (0..n).map(|i| 0.2 + (i % 3) as f64).collect());
        let optimum = judge_simplex(&case);
        with_problem!(&case, simplex, |problem| {
            let theorem = mu > 0.0 && problem.losses().conditioning().is_some();
            let papers = theorem.then_some(BallMethod::Pdbfw);
            for method in [BallMethod::Auto].into_iter().chain(papers).chain(BallMethod::BASELINES) {
                let gap = reached(method, mu);
                let report = ball::train(&problem, &settings(method), &within(gap), &mut ()).unwrap();
                assert_agrees(&report, &optimum, gap, &format!("{method:?} {mu}"));
                let x = &report.model.weights;
                let sum: f64 = x.iter().sum();
                prop_assert!(x.iter().all(|&x| x >= 0.0) && (sum - radius).abs() < 1e-9, "{sum}");
            }
        });
    }

    #[test]
    fn in_the_convex_hull_of_atoms_too(
        seed in 0..10_000_u64,
        loss in 0..7_usize,
        mu in prop_oneof![Just(0.0), 0.05..1.0_f64],
        (n, d, m) in (2..10_usize, 1..5_usize, 1..8_usize),
    ) {
        let loss = crate::balls::case::SCALAR[loss];
        let case = Case { mu, ..Case::random(seed, Kind::Outputs(loss, 1), n, d) };
        let mut random = Random::new(seed + 1);
        let atoms: Vec<Vec<f64>> =
            (0..m).map(|_| (0..d).map(|_| 4.0 * random.unit() - 2.0).collect()).collect();
        let optimum = judge_hull(&case, &atoms);
        let hull = Atoms::new(&case.matrix(), &atoms).unwrap();
        let losses = PerOutput::new(loss, case.targets.clone(), 1).unwrap();
        let problem = hull.problem(losses, mu, None).unwrap();
        let report = ball::train(&problem, &BallSettings::default(), &within(1e-6), &mut ()).unwrap();
        assert_agrees(&report, &optimum, 1e-6, &format!("{mu}"));
        // The objective at x = Σ λ b, which knows nothing of λ.
        let x = hull.weights(&report.model.weights);
        let free = PerOutput::new(loss, case.targets.clone(), 1).unwrap();
        let (rows, radius) = (case.matrix(), 1e6);
        let plain = BallProblem::l1(&rows, free, mu, radius, None).unwrap();
        let value = plain.primal(&x).unwrap();
        prop_assert!((value.value - report.certificate.primal).abs() < 1e-9, "{value:?}");
        prop_assert_eq!(problem.term().is_some(), mu > 0.0);
    }
}

/// ½ Σ q_j x_j².
#[derive(Debug)]
struct Diagonal(Vec<f64>);

impl SmoothTerm for Diagonal {
    fn value(&self, x: &[f64]) -> Measured {
        let value: f64 = x.iter().zip(&self.0).map(|(x, q)| 0.5 * q * x * x).sum();
        Measured::rounded(value, x.len() + 3)
    }

    fn gradient(&self, x: &[f64], to: &mut [f64]) -> f64 {
        to.iter_mut().zip(x).zip(&self.0).for_each(|((to, x), q)| *to = q * x);
        to.iter().map(|to| to.abs()).sum::<f64>() * f64::EPSILON + f64::MIN_POSITIVE
    }

    fn convexity(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn smoothness(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }
}

#[test]
fn a_term_of_ones_own_ends_at_clarabels_optimum() {
    for (seed, kind) in Kind::all().into_iter().enumerate() {
        let case = Case { radius: 1.2, ..Case::random(seed as u64, kind, 9, 4) };
        let dim = 4 * kind.outputs();
        let diagonal: Vec<f64> = (0..dim).map(|j| 0.2 + 0.15 * (j % 3) as f64).collect();
        let optimum = judge_diagonal(&case, &diagonal);
        with_problem!(&case, |problem| {
            let theorem = problem.losses().conditioning().is_some();
            let problem = problem.with_term(Arc::new(Diagonal(diagonal.clone()))).unwrap();
            let papers = theorem.then_some(BallMethod::Pdbfw);
            let others =
                [BallMethod::Auto, BallMethod::ProjectedGradient, BallMethod::BlockFrankWolfe];
            for method in others.into_iter().chain(papers) {
                let report =
                    ball::train(&problem, &settings(method), &within(1e-6), &mut ()).unwrap();
                assert_agrees(&report, &optimum, 1e-6, &format!("{kind:?} {method:?}"));
            }
            let refused =
                ball::train(&problem, &settings(BallMethod::Svrg), &within(1e-6), &mut ());
            assert!(refused.unwrap_err().to_string().contains("one's own"));
        });
    }
}

// The term μ/2‖x‖² as if it were a stranger's: the same certificate, up to its search.
#[test]
fn the_square_as_a_term_of_ones_own_has_the_dual_value_of_the_square() {
    let case = Case::random(3, Kind::Outputs(ScalarLoss::Logistic, 1), 12, 5);
    with_problem!(&case, |problem| {
        let own = problem.clone().with_term(Arc::new(Diagonal(vec![case.mu; 5]))).unwrap();
        for scale in [0.0, 0.3, 1.0] {
            let alpha: Vec<f64> = case.targets.iter().map(|y| scale * y).collect();
            let (one, other) =
                (problem.dual(&alpha).unwrap().value, own.dual(&alpha).unwrap().value);
            assert!((one.value - other.value).abs() < 1e-12, "{one:?} {other:?}");
            assert!(other.value - other.error <= one.value + one.error);
        }
    });
}

#[test]
fn what_is_no_set_and_no_term_is_refused() {
    let case = Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 4, 3);
    let rows = case.matrix();
    let wrong = |atoms: &[Vec<f64>]| Atoms::new(&rows, atoms).unwrap_err().to_string();
    assert!(wrong(&[]).contains("at least one"));
    assert!(wrong(&[vec![1.0; 3], vec![1.0; 2]]).contains("atom 1 has 2"));
    assert!(wrong(&[vec![f64::NAN; 3]]).contains("not finite"));
    with_problem!(&case, simplex, |problem| {
        // Outside of the simplex the objective is infinite: the sum, and the signs.
        for x in [vec![0.5, 0.5, 0.1], vec![1.5, -0.5, 0.0], vec![0.0; 3]] {
            assert_eq!(problem.primal(&x).unwrap().value, f64::INFINITY, "{x:?}");
        }
        for bad in [vec![], vec![-1.0], vec![f64::NAN], vec![f64::INFINITY]] {
            assert!(problem.clone().with_term(Arc::new(Diagonal(bad))).is_err());
        }
        let constants = TheoremConstants { k: Some(2), ..TheoremConstants::default() };
        let run = BallSettings { constants, ..settings(BallMethod::BlockFrankWolfe) };
        assert!(ball::train(&problem, &run, &within(1e-3), &mut ()).is_err());
    });
}
