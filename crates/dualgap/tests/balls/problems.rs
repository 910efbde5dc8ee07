//! Both sides of the certificate in the l1 ball, at points that nothing was solved for and at clarabel's optimum.

use crate::balls::case::{Case, Kind, with_problem};
use crate::balls::exact;
use crate::balls::judge::judge;
use crate::common::cases;
use crate::common::wide::wide;
use dualgap::ball::{BallProblem, BallTable, Losses, PerOutput};
use dualgap::linalg::{Random, Rows};
use dualgap::term::ScalarLoss;
use proptest::prelude::*;

/// Shrinks x until plain sums have it inside.
fn bring_inside(x: &mut [f64], radius: f64) {
    loop {
        let norm: f64 = x.iter().map(|x| x.abs()).sum();
        if norm <= radius {
            return;
        }
        x.iter_mut().for_each(|x| *x *= radius / norm * (1.0 - 1e-15));
    }
}

/// A point of the ball, and dual points on the way from zero to what some predictions ask for.
fn points<L: Losses>(problem: &BallProblem<BallTable<'_>, L>, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(seed);
    let mut x: Vec<f64> = (0..problem.dim()).map(|_| 2.0 * random.unit() - 1.0).collect();
    x.iter_mut().step_by(2).for_each(|x| *x = 0.0);
    let norm: f64 = x.iter().map(|x| x.abs()).sum();
    let size = problem.radius() * random.unit().max(0.1).powi(3);
    x.iter_mut().for_each(|x| *x *= size / norm.max(1e-300));
    bring_inside(&mut x, problem.radius());
    let mut a = vec![0.0; problem.len() * problem.outputs()];
    problem.predict(&x, &mut a);
    let mut alpha = a.clone();
    a.iter_mut().for_each(|a| *a += 0.3 * (2.0 * random.unit() - 1.0));
    problem.corners(&a, &mut alpha);
    let share = random.unit();
    alpha.iter_mut().for_each(|alpha| *alpha *= share);
    (x, alpha)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn both_sides_are_within_their_stated_error_at_any_scale(
        seed in 0..10_000_u64,
        kind in 0..Kind::all().len(),
        scale in -4.0..4.0_f64,
        (mu, radius) in (prop_oneof![Just(0.0), (-5.0..2.0_f64).prop_map(|e| 10_f64.powf(e))], -3.0..3.0_f64),
        (n, d) in (1..10_usize, 1..6_usize),
        weighted in any::<bool>(),
    ) {
        let mut case = Case::random(seed, Kind::all()[kind], n, d);
        case.rows.iter_mut().flatten().for_each(|x| *x *= 10_f64.powf(scale));
        (case.mu, case.radius) = (mu, 10_f64.powf(radius));
        case.weights = weighted.then(|| (0..n).map(|i| 0.1 + (i * i) as f64 / 7.0).collect());
        let (x, alpha, primal, dual) = with_problem!(&case, |problem| {
            let (x, alpha) = points(&problem, seed);
            let (primal, dual) = (problem.primal(&x).unwrap(), problem.dual(&alpha).unwrap());
            (x, alpha, primal, dual.value)
        });
        let off = (exact::primal(&case, &x) - wide(primal.value)).abs().float();
        prop_assert!(off <= primal.error, "primal {off:e} {primal:?}");
        // No loss is steeper than in proportion to its prediction, which is at most this large.
        let largest = 1.0 + 10_f64.powf(scale) * case.radius;
        prop_assert!(primal.error <= 1e-12 * (largest * largest + primal.value), "{primal:?}");
        let off = (exact::dual(&case, &alpha) - wide(dual.value)).abs().float();
        prop_assert!(off <= dual.error, "dual {off:e} {dual:?}");
        prop_assert!(dual.value - dual.error <= primal.value + primal.error, "{dual:?} {primal:?}");
    }

    #[test]
    fn the_two_sides_meet_at_clarabels_optimum(
        seed in 0..10_000_u64,
        kind in 0..Kind::all().len(),
        (mu, radius) in (-3.0..0.5_f64, -1.0..1.5_f64),
        (n, d) in (2..9_usize, 1..6_usize),
    ) {
        let mut case = Case::random(seed, Kind::all()[kind], n, d);
        (case.mu, case.radius) = (10_f64.powf(mu), 10_f64.powf(radius));
        let optimum = judge(&case);
        with_problem!(&case, |problem| {
            let mut x = optimum.x[..problem.dim()].to_vec();
            bring_inside(&mut x, case.radius);
            let mut a = vec![0.0; problem.len() * problem.outputs()];
            problem.predict(&x, &mut a);
            let mut alpha = a.clone();
            problem.corners(&a, &mut alpha);
            let (primal, dual) = (problem.primal(&x).unwrap(), problem.dual(&alpha).unwrap());
            prop_assert!(optimum.upper - optimum.lower < 1e-6, "{optimum:?}");
            prop_assert!((primal.value - optimum.upper).abs() < 1e-6, "{primal:?} {optimum:?}");
            prop_assert!(dual.value.value <= optimum.upper + 1e-7, "{:?} {optimum:?}", dual.value);
            prop_assert!(primal.value - dual.value.value < 1e-5, "{primal:?} {:?}", dual.value);
            // The X that the dual point asks for is the optimum, too; a wrong one is this far off at most.
            let off: f64 = dual.x.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum();
            prop_assert!(case.mu / 2.0 * off < 1e-4, "{off}");
        });
    }

    #[test]
    fn the_gradient_is_that_of_the_values(seed in 0..10_000_u64, kind in 0..Kind::all().len(), n in 1..8_usize) {
        let mut case = Case::random(seed, Kind::all()[kind], n, 4);
        case.radius = 50.0;
        with_problem!(&case, |problem| {
            let (x, _) = points(&problem, seed);
            let mut a = vec![0.0; problem.len() * problem.outputs()];
            problem.predict(&x, &mut a);
            let (mut alpha, mut v) = (a.clone(), vec![0.0; problem.dim()]);
            problem.corners(&a, &mut alpha);
            problem.image(&alpha, &mut v);
            for j in 0..problem.dim() {
                let at = |h: f64| {
                    let mut x: Vec<f64> = x.iter().map(|x| x * 0.5).collect();
                    x[j] += h;
                    x
                };
                let half = at(0.0);
                problem.predict(&half, &mut a);
                problem.corners(&a, &mut alpha);
                problem.image(&alpha, &mut v);
                let h = 1e-5;
                let rise = problem.primal(&at(h)).unwrap().value - problem.primal(&at(-h)).unwrap().value;
                let slope = case.mu * half[j] - v[j];
                prop_assert!((rise / (2.0 * h) - slope).abs() < 1e-4, "{} {slope}", rise / (2.0 * h));
            }
        });
    }
}

#[test]
fn predictions_by_columns_are_those_by_rows() {
    for kind in Kind::all() {
        let case = Case::random(3, kind, 7, 5);
        with_problem!(&case, |problem| {
            let (x, _) = points(&problem, 1);
            let c = problem.outputs();
            let mut a = vec![0.0; problem.len() * c];
            let entries = problem.predict(&x, &mut a);
            assert!(entries <= problem.columns().stored() as u64);
            for (i, row) in case.rows.iter().enumerate() {
                for k in 0..c {
                    let plain: f64 = row.iter().enumerate().map(|(j, a)| a * x[j * c + k]).sum();
                    assert!((a[i * c + k] - plain).abs() < 1e-12);
                }
            }
        });
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let rows = Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
    let losses = || PerOutput::new(ScalarLoss::Squared, vec![1.0, 2.0], 1).unwrap();
    assert!(BallProblem::l1(&rows, losses(), 0.1, 1.0, None).is_ok());
    for (mu, radius) in [(-0.1, 1.0), (f64::NAN, 1.0), (0.1, 0.0), (0.1, f64::INFINITY)] {
        assert!(BallProblem::l1(&rows, losses(), mu, radius, None).is_err());
    }
    assert!(BallProblem::l1(&rows, losses(), 0.1, 1.0, Some(&[1.0])).is_err());
    let three = PerOutput::new(ScalarLoss::Squared, vec![1.0; 3], 1).unwrap();
    assert!(BallProblem::l1(&rows, three, 0.1, 1.0, None).is_err());
    assert!(PerOutput::new(ScalarLoss::Absolute, vec![1.0], 1).is_err());
    assert!(PerOutput::new(ScalarLoss::Logistic, vec![0.5], 1).is_err());
    let problem = BallProblem::l1(&rows, losses(), 0.1, 1.0, None).unwrap();
    assert_eq!(problem.primal(&vec![1.5]).unwrap().value, f64::INFINITY, "outside the ball");
    assert!(problem.primal(&vec![0.1, 0.1]).is_err() && problem.dual(&[0.1]).is_err());
    assert!(problem.dual(&[f64::NAN, 0.0]).is_err());
}
