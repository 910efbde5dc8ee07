//! The optimum is found, whatever the loss and the method, and at the rate that theory promises.

use crate::low_rank::Case;
use crate::low_rank::judge::Judge;
use dualgap::ball::trace::Features;
use dualgap::ball::{self, BallMethod, BallProblem, BallSettings, Losses, TheoremConstants};
use dualgap::linalg::LowRank;
use dualgap::run::{Budget, Certificate, Report, Solution, Stop};
use dualgap::term::ScalarLoss;
use faer::Mat;

pub const LOSSES: [ScalarLoss; 5] = [
    ScalarLoss::Squared,
    ScalarLoss::SmoothHinge { width: 0.5 },
    ScalarLoss::SquaredHinge,
    ScalarLoss::Logistic,
    ScalarLoss::Huber { width: 0.4 },
];

/// The loss of one number and its slope, by the formulas of the documentation.
pub fn phi(loss: ScalarLoss, a: f64, y: f64) -> (f64, f64) {
    let (short, r) = (1.0 - y * a, a - y);
    match loss {
        ScalarLoss::SmoothHinge { .. } if short <= 0.0 => (0.0, 0.0),
        ScalarLoss::SmoothHinge { width } if short >= width => (short - width / 2.0, -y),
        ScalarLoss::SmoothHinge { width } => (short * short / (2.0 * width), -y * short / width),
        ScalarLoss::SquaredHinge => (short.max(0.0).powi(2), -2.0 * y * short.max(0.0)),
        ScalarLoss::Logistic => ((-y * a).exp().ln_1p(), -y / (1.0 + (y * a).exp())),
        ScalarLoss::Huber { width } if r.abs() > width => {
            (width * (r.abs() - width / 2.0), width * r.signum())
        }
        ScalarLoss::Squared | ScalarLoss::Huber { .. } => (r * r / 2.0, r),
        _ => panic!("not smooth"),
    }
}

/// 1/γ.
fn smoothness(loss: ScalarLoss) -> f64 {
    match loss {
        ScalarLoss::SmoothHinge { width } => 1.0 / width,
        ScalarLoss::SquaredHinge => 2.0,
        ScalarLoss::Logistic => 0.25,
        _ => 1.0,
    }
}

/// The optimum of a case with a loss in every output.
pub fn optimum(case: &Case, loss: ScalarLoss) -> f64 {
    let (n, targets) = (case.rows.len(), case.targets(loss));
    let (d, c) = (case.rows[0].len(), case.outputs);
    let of = |x: &Mat<f64>| {
        let (mut value, mut gradient) = (0.0, Mat::zeros(d, c));
        for (i, row) in case.rows.iter().enumerate() {
            for k in 0..c {
                let a: f64 = row.iter().enumerate().map(|(j, r)| r * x[(j, k)]).sum();
                let (loss, slope) = phi(loss, a, targets[i * c + k]);
                value += loss / n as f64;
                row.iter().enumerate().for_each(|(j, r)| gradient[(j, k)] += slope * r / n as f64);
            }
        }
        (value, gradient)
    };
    let squares: f64 = case.rows.iter().flatten().map(|x| x * x).sum();
    let smoothness = squares / n as f64 * smoothness(loss);
    Judge { loss: &of, smoothness, mu: case.mu, radius: case.radius, shape: (d, c) }.optimum(1500).0
}

pub fn run<L: Losses>(
    problem: &BallProblem<Features<'_>, L>,
    settings: BallSettings,
    relative: f64,
    passes: u64,
) -> Report<Solution<f64, LowRank>> {
    let budget = Budget { passes: Some(passes), ..Budget::relative(relative) };
    ball::train(problem, &settings, &budget, &mut ()).unwrap()
}

/// By all singular values of the matrix that the factors make.
pub fn norm(x: &LowRank) -> f64 {
    let (values, columns) = (x.to_dense(), x.columns());
    let x = Mat::from_fn(x.rows(), columns, |i, j| values[i * columns + j]);
    x.thin_svd().unwrap().S().column_vector().iter().sum()
}

/// Whether a run to 1e-9 ended where the judge does.
pub fn assert_optimal(report: &Report<Solution<f64, LowRank>>, case: &Case, loss: ScalarLoss) {
    let Case { rows, outputs, mu, radius, .. } = case;
    let (n, d) = (rows.len(), rows[0].len());
    let told = format!("{loss:?} {n} {d} {outputs} {mu} {radius}: {:?}", report.certificate);
    assert!(report.certificate.relative_gap() <= 1e-9, "{told}");
    let best = optimum(case, loss);
    assert!((report.certificate.primal - best).abs() <= 1e-6 * best, "{told} {best}");
    assert!(report.certificate.dual <= best + 1e-9, "{told} {best}");
    assert!(norm(&report.model.weights) <= radius * (1.0 + 1e-13), "{told}");
}

#[test]
fn every_loss_reaches_the_optimum() {
    for (seed, loss) in LOSSES.into_iter().enumerate() {
        for (n, d, c) in [(11, 5, 3), (12, 3, 6), (9, 7, 1)] {
            for (mu, radius) in [(0.1, 1.0), (0.02, 0.6), (0.3, 50.0)] {
                let case = Case { mu, radius, ..Case::random(seed as u64, n, d, c) };
                let rows = case.matrix();
                let report = run(&case.problem(&rows, loss), BallSettings::default(), 1e-9, 10_000);
                assert_optimal(&report, &case, loss);
            }
        }
    }
}

#[test]
fn without_mu_the_optimum_is_reached_too() {
    for loss in [ScalarLoss::Squared, ScalarLoss::Logistic] {
        let case = Case { mu: 0.0, ..Case::random(3, 20, 5, 4) };
        let rows = case.matrix();
        let report = run(&case.problem(&rows, loss), BallSettings::default(), 1e-7, 10_000);
        let best = optimum(&case, loss);
        assert!(report.certificate.relative_gap() <= 1e-7, "{:?}", report.certificate);
        assert!((report.certificate.primal - best).abs() <= 1e-6 * best);
    }
}

#[test]
fn classes_in_the_ball_are_learnt_to_a_certified_optimum() {
    let case = Case { mu: 0.05, ..Case::random(5, 30, 6, 4) };
    let rows = case.matrix();
    let report = run(&case.classes(&rows), BallSettings::default(), 1e-9, 10_000);
    assert!(report.certificate.relative_gap() <= 1e-9, "{:?}", report.certificate);
    // At X = 0 the loss is log 4, and some of it has been learnt.
    assert!(report.certificate.primal < 4_f64.ln());
}

#[test]
fn the_theorem_s_steps_reach_the_same_optimum() {
    let case = Case { mu: 0.3, ..Case::random(7, 12, 4, 3) };
    let rows = case.matrix();
    let best = optimum(&case, ScalarLoss::Squared);
    let problem = case.problem(&rows, ScalarLoss::Squared);
    // As printed, and with a tenth of the care.
    for (delta, relative) in [(None, 1e-4), (Some(2.0), 1e-7)] {
        let constants = TheoremConstants { delta, ..TheoremConstants::default() };
        let report = run(
            &problem,
            BallSettings { method: BallMethod::Pdbfw, constants, ..BallSettings::default() },
            relative,
            60_000,
        );
        assert!(report.certificate.relative_gap() <= relative, "{:?}", report.certificate);
        assert!((report.certificate.primal - best).abs() <= relative * best);
    }
    // A rank below that of the optimum is a rank all the same.
    let constants = TheoremConstants { s: Some(1), k: Some(4), ..TheoremConstants::default() };
    let settings = BallSettings { method: BallMethod::Pdbfw, constants, ..BallSettings::default() };
    assert!(run(&problem, settings, 1e-9, 500).certificate.primal >= best - 1e-9);
}

// Projected methods and BlockFW converge at a linear rate; the others to what theirs reaches in so many passes.
#[test]
fn every_baseline_reaches_the_same_optimum() {
    for (loss, seed) in [(ScalarLoss::Squared, 17), (ScalarLoss::Logistic, 18)] {
        let case = Case { mu: 0.2, radius: 0.8, ..Case::random(seed, 30, 5, 4) };
        let rows = case.matrix();
        let (problem, best) = (case.problem(&rows, loss), optimum(&case, loss));
        for method in BallMethod::LOW_RANK_BASELINES {
            let reached = match method {
                BallMethod::FrankWolfe => 2e-3,
                BallMethod::StochasticFrankWolfe => 1e-2,
                BallMethod::Scgs | BallMethod::Storc => 1e-4,
                _ => 1e-7,
            };
            let report =
                run(&problem, BallSettings { method, ..BallSettings::default() }, reached, 4000);
            let told = format!("{method:?} {loss:?} {:?} {best}", report.certificate);
            assert!(report.certificate.relative_gap() <= reached, "{told}");
            assert!((report.certificate.primal - best).abs() <= reached * best, "{told}");
            assert!(report.certificate.dual <= best + 1e-9, "{told}");
            assert!(norm(&report.model.weights) <= 0.8 * (1.0 + 1e-13), "{told}");
        }
        let settings = BallSettings { method: BallMethod::Pairwise, ..BallSettings::default() };
        assert!(ball::train(&problem, &settings, &Budget::passes(1), &mut ()).is_err());
    }
}

/// Of a line through log gap against steps the residuals are small beside what it falls.
pub fn assert_straight(report: &Report<Solution<f64, LowRank>>) {
    let points: Vec<(f64, f64)> = report
        .history
        .iter()
        .map(|p| (p.work.steps as f64, p.certificate.gap().max(1e-300).ln()))
        .filter(|point| point.1 > (1e-12_f64).ln())
        .collect();
    let points = &points[points.len() / 4..];
    let count = points.len() as f64;
    assert!(count >= 5.0, "{points:?}");
    let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    let missed: f64 = points.iter().map(|p| (p.1 - my - slope * (p.0 - mx)).powi(2)).sum();
    let all: f64 = points.iter().map(|p| (p.1 - my).powi(2)).sum();
    assert!(slope < 0.0 && missed <= 0.1 * all, "{slope} {missed} {all} {points:?}");
}

#[test]
fn the_gap_falls_at_a_linear_rate() {
    // With room for many ranks: else a few steps are all it takes.
    let case = Case { mu: 1e-3, radius: 12.0, ..Case::random(11, 120, 30, 20) }.fading();
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Squared);
    let budget = Budget { certify_share: 1.0, ..Budget::relative(1e-11) };
    let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ()).unwrap();
    assert_straight(&report);
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let case = Case::random(13, 20, 6, 5);
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Logistic);
    for method in BallMethod::LOW_RANK_BASELINES.into_iter().chain([BallMethod::Auto]) {
        let settings = BallSettings { method, seed: 3, ..BallSettings::default() };
        let [one, two] = [0, 1].map(|_| run(&problem, settings, 1e-6, 60));
        assert_eq!(one.model, two.model);
        assert_eq!(one.certificate, two.certificate);
    }
}

// An optimum of zero is proved to be zero: a share of it could not be reached.
#[test]
fn an_optimum_of_zero_is_proved_exactly() {
    for n in [12, 350] {
        let mut case = Case::random(4, n, 3, 2);
        case.targets.fill(0.0);
        let rows = case.matrix();
        for mu in [0.0, 0.1] {
            let case = Case { mu, targets: case.targets.clone(), ..Case::random(4, n, 3, 2) };
            let report =
                run(&case.problem(&rows, ScalarLoss::Squared), BallSettings::default(), 1e-3, 10);
            let Certificate { primal, dual, .. } = report.certificate;
            assert_eq!((primal, dual, report.stop), (0.0, 0.0, Stop::GapReached), "{n} {mu}");
        }
    }
}
