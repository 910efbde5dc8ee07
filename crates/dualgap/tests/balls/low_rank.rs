//! Methods in the trace ball, held against clarabel where the ball is made of cones that it knows.
//!
//! To 1e-6 where the method gets there; Frank-Wolfe and its stochastic kin to what their rate reaches.

use crate::balls::case::{Case, Kind, with_problem};
use crate::balls::judge::judge_low_rank;
use crate::common::cases;
use dualgap::ball::{self, BallMethod, BallSettings};
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::term::{MulticlassLoss, ScalarLoss};
use proptest::prelude::*;

/// Any loss, with matrices of one row, of one column and of two of both; perhaps with weights.
fn problems() -> impl Strategy<Value = Case> {
    let kinds = |c: usize| -> Vec<Kind> {
        let of = |kind| match kind {
            Kind::Outputs(loss, _) => Kind::Outputs(loss, c),
            Kind::Classes(loss, _) => Kind::Classes(loss, c.max(2)),
        };
        Kind::all().into_iter().map(of).collect()
    };
    let terms = (-1.5..0.5_f64, -1.0..1.0_f64, any::<bool>());
    (0..10_000_u64, 0..Kind::all().len(), 2..12_usize, 0..3_usize, terms).prop_map(
        move |(seed, kind, n, shape, (mu, radius, weighted))| {
            let (d, c) = [(2, 2), (1, 3), (5, 1)][shape];
            let kind = kinds(c)[kind];
            let d = if kind.outputs() > c { 1 } else { d };
            let mut case = Case::random(seed, kind, n, d);
            (case.mu, case.radius) = (10_f64.powf(mu), 10_f64.powf(radius));
            case.weights = weighted.then(|| (0..n).map(|i| 0.2 + (i % 3) as f64).collect());
            case
        },
    )
}

fn agrees(case: &Case, method: BallMethod, gap: f64, passes: u64) -> Result<(), TestCaseError> {
    let optimum = judge_low_rank(case);
    let settings = BallSettings { method, ..BallSettings::default() };
    let budget = Budget { absolute: Some(gap), ..Budget::passes(passes) };
    let (certificate, stop) = with_problem!(case, trace, |problem| {
        let report = ball::train(&problem, &settings, &budget, &mut ()).unwrap();
        (report.certificate, report.stop)
    });
    let Certificate { primal, dual, rounding_error, .. } = certificate;
    prop_assert!(optimum.upper - optimum.lower < 1e-6, "{optimum:?}");
    prop_assert!(stop == Stop::GapReached, "{method:?} {stop:?} {certificate:?} {optimum:?}");
    prop_assert!(primal >= optimum.lower - 1e-7 && primal <= optimum.upper + gap + 1e-7);
    prop_assert!(dual <= optimum.upper + 1e-7 && dual <= primal + rounding_error);
    Ok(())
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn nothing_to_tune_and_the_optimum_is_clarabels(case in problems()) {
        agrees(&case, BallMethod::Auto, 1e-8, 100_000)?;
    }

    #[test]
    fn so_it_is_without_mu(case in problems()) {
        agrees(&Case { mu: 0.0, ..case }, BallMethod::Auto, 1e-6, 1_000_000)?;
    }

    #[test]
    fn linear_baselines_end_at_clarabels_optimum(case in problems(), which in 0..3_usize) {
        let methods = [BallMethod::ProjectedGradient, BallMethod::BlockFrankWolfe, BallMethod::Svrg];
        agrees(&case, methods[which], 1e-6, 1_000_000)?;
    }

    #[test]
    fn sliding_ends_near_clarabels_optimum(case in problems(), reduced in any::<bool>()) {
        let method = if reduced { BallMethod::Storc } else { BallMethod::Scgs };
        agrees(&case, method, 1e-5, 1_000_000)?;
    }

    #[test]
    fn slower_baselines_come_near(case in problems(), stochastic in any::<bool>()) {
        let method = if stochastic { BallMethod::StochasticFrankWolfe } else { BallMethod::FrankWolfe };
        agrees(&case, method, 1e-2, 1_000_000)?;
    }
}

/// The cones against the singular values themselves, along every edge of a grid.
#[test]
fn two_cones_are_the_ball_of_two_by_two() {
    let grid = [-1.5_f64, -0.4, 0.0, 0.3, 2.0];
    for p in grid {
        for q in grid {
            for r in grid {
                for s in grid {
                    // Of X'X: the trace and the determinant give both squares.
                    let (squares, det) = (p * p + q * q + r * r + s * s, p * s - q * r);
                    let root = f64::max(squares * squares - 4.0 * det * det, 0.0).sqrt();
                    let sum = [squares + root, squares - root].map(|x| (x.max(0.0) / 2.0).sqrt());
                    let cones = f64::hypot(p + s, q - r).max(f64::hypot(p - s, q + r));
                    assert!((sum[0] + sum[1] - cones).abs() < 1e-7, "{p} {q} {r} {s}");
                }
            }
        }
    }
}

/// A loss of each kind once more, with a ball that cuts off most of what would be best.
#[test]
fn small_balls_are_exact() {
    for kind in [Kind::Outputs(ScalarLoss::Squared, 2), Kind::Classes(MulticlassLoss::Softmax, 2)] {
        let case = Case { radius: 0.05, mu: 1e-3, ..Case::random(3, kind, 9, 2) };
        agrees(&case, BallMethod::Auto, 1e-10, 10_000).unwrap();
    }
}
