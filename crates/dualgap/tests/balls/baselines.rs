//! The methods that primal-dual block Frank-Wolfe is measured by, held against clarabel.
//!
//! To 1e-6 where the method gets there: projected gradient, away and pairwise steps and SVRG converge linearly, and so do
//! SCGS and STORC with their phases where μ > 0. What Frank-Wolfe reaches falls as 1/k, and with μ = 0 the sliding methods'
//! η does so: they are held to 1e-3, and to a certificate that tells the truth about it.

use crate::balls::case::{Case, Kind, with_problem};
use crate::balls::judge::judge;
use crate::common::cases;
use dualgap::ball::{self, BallMethod, BallProblem, BallSettings, PerOutput};
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Certificate, Observer, Progress, Report, Solution, Stop};
use dualgap::term::ScalarLoss;
use proptest::prelude::*;

/// Looks at every certificate of a run: it is never negative, never worse than the one before, and of a feasible X.
struct Strict {
    radius: f64,
    before: Option<Certificate>,
}

impl Observer for Strict {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> dualgap::Result<()> {
        let now = progress.certificate;
        assert!(now.gap() >= -now.rounding_error, "{now:?}");
        assert!(now.dual >= progress.iterate_dual - now.rounding_error, "{now:?}");
        assert!(now.primal <= progress.iterate_primal + now.rounding_error, "{now:?}");
        let norm: f64 = weights.iter().map(|w| w.abs()).sum();
        assert!(norm <= self.radius, "{norm} is outside of {}", self.radius);
        if let Some(before) = self.before.replace(now) {
            // Up to rounding: what is kept is the best that is proved, and the bound on rounding is part of that.
            let slack = now.rounding_error + before.rounding_error;
            assert!(now.primal <= before.primal + slack, "{before:?} {now:?}");
            assert!(now.dual >= before.dual - slack, "{before:?} {now:?}");
        }
        Ok(())
    }
}

fn train(case: &Case, method: BallMethod, seed: u64, budget: &Budget) -> Report<Solution<f64>> {
    let settings = BallSettings { method, seed, ..BallSettings::default() };
    let mut observer = Strict { radius: case.radius, before: None };
    with_problem!(case, |problem| {
        ball::train(&problem, &settings, budget, &mut observer).unwrap()
    })
}

fn within(gap: f64, passes: u64) -> Budget {
    Budget { absolute: Some(gap), ..Budget::passes(passes) }
}

/// Held against clarabel, to this gap.
fn agrees(case: &Case, method: BallMethod, gap: f64, passes: u64) -> Result<(), TestCaseError> {
    let optimum = judge(case);
    let report = train(case, method, 0, &within(gap, passes));
    let Certificate { primal, dual, rounding_error, .. } = report.certificate;
    prop_assert!(optimum.upper - optimum.lower < 1e-6, "{optimum:?}");
    prop_assert!(
        report.stop == Stop::GapReached,
        "{method:?} {:?} {:?} {optimum:?} {:?}",
        report.stop,
        report.certificate,
        report.tactics
    );
    prop_assert!(primal >= optimum.lower - 1e-7 && primal <= optimum.upper + gap + 1e-7);
    prop_assert!(dual <= optimum.upper + 1e-7 && dual <= primal + rounding_error);
    Ok(())
}

/// A random problem: any loss, any ball, perhaps with weights.
fn problems(least_mu: f64) -> impl Strategy<Value = Case> {
    let sizes = (2..12_usize, 1..8_usize);
    let terms = (least_mu..0.5_f64, -1.0..1.5_f64, any::<bool>());
    (0..10_000_u64, 0..Kind::all().len(), sizes, terms).prop_map(
        |(seed, kind, (n, d), (mu, radius, weighted))| {
            let mut case = Case::random(seed, Kind::all()[kind], n, d);
            (case.mu, case.radius) = (10_f64.powf(mu), 10_f64.powf(radius));
            case.weights = weighted.then(|| (0..n).map(|i| 0.2 + (i % 3) as f64).collect());
            case
        },
    )
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn projected_gradient_ends_at_clarabels_optimum(case in problems(-3.0)) {
        agrees(&case, BallMethod::ProjectedGradient, 1e-6, 100_000)?;
    }

    #[test]
    fn projected_gradient_does_so_without_mu(case in problems(-3.0)) {
        agrees(&Case { mu: 0.0, ..case }, BallMethod::ProjectedGradient, 1e-6, 1_000_000)?;
    }

    #[test]
    fn away_steps_end_at_clarabels_optimum(case in problems(-3.0)) {
        agrees(&case, BallMethod::AwaySteps, 1e-6, 1_000_000)?;
    }

    #[test]
    fn pairwise_steps_end_at_clarabels_optimum(case in problems(-3.0)) {
        agrees(&case, BallMethod::Pairwise, 1e-6, 1_000_000)?;
    }

    #[test]
    fn block_frank_wolfe_ends_at_clarabels_optimum(case in problems(-2.0)) {
        agrees(&case, BallMethod::BlockFrankWolfe, 1e-6, 1_000_000)?;
    }

    #[test]
    fn svrg_ends_at_clarabels_optimum(case in problems(-2.0)) {
        agrees(&case, BallMethod::Svrg, 1e-6, 1_000_000)?;
    }

    #[test]
    fn frank_wolfe_comes_near(case in problems(-3.0)) {
        agrees(&case, BallMethod::FrankWolfe, 1e-3, 1_000_000)?;
    }

    #[test]
    fn scgs_ends_at_clarabels_optimum(case in problems(-1.0)) {
        agrees(&case, BallMethod::Scgs, 1e-5, 1_000_000)?;
    }

    #[test]
    fn storc_ends_at_clarabels_optimum(case in problems(-1.0)) {
        agrees(&case, BallMethod::Storc, 1e-5, 1_000_000)?;
    }

    #[test]
    fn sliding_comes_near_without_mu(case in problems(-1.0), reduced in any::<bool>()) {
        let method = if reduced { BallMethod::Storc } else { BallMethod::Scgs };
        agrees(&Case { mu: 0.0, radius: case.radius.min(2.0), ..case }, method, 1e-3, 1_000_000)?;
    }
}

/// More examples than a batch has, so that batches are batches.
fn larger(loss: ScalarLoss) -> Case {
    let mut case = Case::random(5, Kind::Outputs(loss, 1), 1001, 6);
    (case.mu, case.radius) = (0.05, 2.0);
    case
}

#[test]
fn batches_of_few_examples_lead_to_the_optimum() {
    for loss in [ScalarLoss::SmoothHinge { width: 1.0 }, ScalarLoss::Logistic, ScalarLoss::Squared]
    {
        let case = larger(loss);
        let optimum = judge(&case);
        for method in [BallMethod::Svrg, BallMethod::Scgs, BallMethod::Storc] {
            let report = train(&case, method, 3, &within(1e-6, 3000));
            let primal = report.certificate.primal;
            assert_eq!(report.stop, Stop::GapReached, "{method:?} {:?}", report.certificate);
            assert!((primal - optimum.upper).abs() < 1e-6, "{method:?} {primal} {optimum:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let case = larger(ScalarLoss::SmoothHinge { width: 1.0 });
    for method in BallMethod::BASELINES {
        let run = |seed| train(&case, method, seed, &Budget::passes(12)).model;
        assert_eq!(run(1), run(1), "{method:?}");
        let random = matches!(method, BallMethod::Svrg | BallMethod::Scgs | BallMethod::Storc);
        assert_eq!(run(1) != run(2), random, "{method:?}");
    }
}

// Frank-Wolfe on sparse data: columns and rows that change, and not all of the data.
#[test]
fn a_pairwise_step_costs_its_columns_and_their_rows() {
    let mut rows = Rows::sparse();
    let n = 2000;
    for i in 0..n as u32 {
        rows.push_sparse(&[(i % 500, 1.0), (500 + i % 499, 0.5)]);
    }
    let targets: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
    let losses = PerOutput::new(ScalarLoss::SmoothHinge { width: 1.0 }, targets, 1).unwrap();
    let problem = BallProblem::l1(&rows, losses, 1e-3, 50.0, None).unwrap();
    let settings = BallSettings { method: BallMethod::Pairwise, ..BallSettings::default() };
    let report = ball::train(&problem, &settings, &Budget::passes(20), &mut ()).unwrap();
    // Columns have four entries or so: two of them, and as many rows of two, are eight rows' worth at most.
    assert!(report.work.steps * 16 > report.work.oracle_calls, "{:?}", report.work);
}

#[test]
fn what_cannot_be_learned_from_is_refused_or_solved() {
    let zeros = Rows::dense(&[vec![0.0, 0.0], vec![0.0, 0.0]]).unwrap();
    let mut empty = Rows::sparse();
    empty.push_sparse(&[]);
    empty.push_sparse(&[]);
    empty.fit_width(2);
    let targets = vec![1.0, -1.0];
    for method in BallMethod::BASELINES {
        let settings = BallSettings { method, ..BallSettings::default() };
        for (mu, rows) in [(0.0, &zeros), (0.1, &zeros), (0.0, &empty), (0.1, &empty)] {
            let losses = PerOutput::new(ScalarLoss::Squared, targets.clone(), 1).unwrap();
            let problem = BallProblem::l1(rows, losses, mu, 1.0, None).unwrap();
            let report = ball::train(&problem, &settings, &within(1e-6, 1000), &mut ()).unwrap();
            assert!((report.certificate.primal - 0.5).abs() < 1e-6, "{method:?} {mu}");
        }
    }
}
