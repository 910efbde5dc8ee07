//! The q-norm of section 3.2, by its formulas:
//!
//! ```text
//! P(w) = Σ mass_i φ(⟨x_i, w⟩) + λ c/2 ‖w‖_q² + σ‖w‖₁,    D(α) = −Σ mass_i φ*(−α_i) − λ/(2c) ‖r‖_p²
//! r = max(|v| − σ/λ, 0),  v = (1/λ) Σ mass_i α_i x_i,  p = log d,  q = p/(p − 1),  c = e²(p − 1)
//! ```

use crate::common::losses::{self, dual_term};
use crate::common::wide::{Wide, exp, ln, wide};
use crate::common::{cases, fits};
use crate::linear::ascent::{assert_never_falls, watched};
use crate::linear::case::{Case, LOSSES, choices, phi};
use crate::linear::rounding::masses;
use crate::linear::survival::{Fit, bits};
use dualgap::dual::{Acceleration, Algorithm, Average, Begin, Sampling, Settings, train_from};
use dualgap::run::{Budget, Report, Solution};
use dualgap::structure::{Choice, Multiclass, MulticlassBlocks, ScoreBlocks};
use dualgap::task::DualEvidence;
use dualgap::term::{Costs, Free, MulticlassLoss, Regulariser, ScalarLoss};
use proptest::prelude::*;

const Q_NORM: Regulariser = Regulariser { q_norm: true, ..Regulariser::PLAIN };

/// p and c.
fn constants(case: &Case) -> (f64, f64) {
    let p = (case.rows[0].len() as f64).ln();
    (p, 2_f64.exp() * (p - 1.0))
}

fn norm(x: impl Iterator<Item = f64>, k: f64) -> f64 {
    x.map(|x| x.abs().powf(k)).sum::<f64>().powf(1.0 / k)
}

pub fn primal(case: &Case, w: &[f64]) -> f64 {
    let (p, c) = constants(case);
    let square = norm(w.iter().copied(), p / (p - 1.0)).powi(2);
    let losses: f64 = (case.masses().iter().zip(&case.rows).zip(&case.targets))
        .map(|((mass, x), &y)| mass * phi(case.loss, x.iter().zip(w).map(|(x, w)| x * w).sum(), y))
        .sum();
    let absolutes: f64 = w.iter().map(|w| w.abs()).sum();
    losses + case.lambda * c / 2.0 * square + case.regulariser.l1 * absolutes
}

pub fn dual(case: &Case, alpha: &[f64]) -> f64 {
    let (p, c) = constants(case);
    let masses = case.masses();
    let beyond = (0..case.rows[0].len()).map(|j| {
        let v: f64 = (0..case.len()).map(|i| masses[i] * alpha[i] * case.rows[i][j]).sum();
        (v.abs() - case.regulariser.l1).max(0.0) / case.lambda
    });
    let square = norm(beyond, p).powi(2);
    let terms = masses.iter().zip(alpha).zip(&case.targets);
    let losses: f64 =
        terms.map(|((mass, &a), &y)| mass * dual_term(case.loss, wide(a), y).float()).sum();
    losses - case.lambda / (2.0 * c) * square
}

fn assert_formulas(case: &Case, report: &Report<Solution<f64>>) {
    let (c, model) = (report.certificate, &report.model);
    let allowed = c.rounding_error + 1e-12 * (1.0 + c.primal.abs());
    let off = (primal(case, &model.weights) - c.primal).abs();
    assert!(off <= allowed, "primal {off:e} {c:?} {case:?}");
    let off = (dual(case, &model.points) - c.dual).abs();
    assert!(off <= allowed, "dual {off:e} {c:?} {case:?}");
}

#[test]
fn the_dual_value_never_falls_and_both_sides_are_their_formulas() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (lambda, l1) in [(1e-3, 0.0), (0.01, 0.01), (0.3, 0.0)] {
            let weights = (lambda < 0.1).then(|| (1..=7).map(f64::from).collect());
            let regulariser = Regulariser { l1, ..Q_NORM };
            let case = Case { lambda, regulariser, weights, ..Case::random(k as u64, loss, 7, 9) };
            for choice in choices(loss) {
                for (batch, sampling) in [
                    (1, Sampling::Permuted),
                    (7, Sampling::Permuted),
                    (5, Sampling::Uniform),
                    (2, Sampling::Cyclic),
                    (3, Sampling::Importance),
                ] {
                    // Where there is no acceleration to be had, it is off however it is asked for.
                    let acceleration = Acceleration::On;
                    let settings = Settings { batch, sampling, acceleration, ..case.settings() };
                    let report = case.train(choice, &settings, &watched(40));
                    assert_never_falls(&report, &(case.loss, choice, &settings));
                    assert_formulas(&case, &report);
                }
            }
        }
    }
}

// Columns of all sizes: all weights have one factor, which must neither overflow nor be lost.
#[test]
fn columns_of_all_sizes_keep_the_dual_from_falling() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for scale in [1e-3, 1.0, 1e3] {
            let mut case =
                Case { regulariser: Q_NORM, ..Case::random(50 + k as u64, loss, 12, 20) };
            for row in &mut case.rows {
                for (x, size) in row.iter_mut().zip([0.01, 0.1, 1.0, 10.0, 100.0].iter().cycle()) {
                    *x *= scale * size;
                }
            }
            for batch in [1, 4] {
                let settings = Settings { batch, ..case.settings() };
                let report = case.train(Choice::I, &settings, &watched(60));
                assert_never_falls(&report, &(loss, scale, batch));
                assert_formulas(&case, &report);
            }
        }
    }
}

/// Gradient descent with backtracking, for smooth losses and no l1 norm.
fn descended(case: &Case) -> f64 {
    let (p, c) = constants(case);
    let q = p / (p - 1.0);
    let d = case.rows[0].len();
    let mut w = vec![1e-3; d];
    let (mut value, mut step) = (primal(case, &w), 1.0);
    for _ in 0..20_000 {
        let size = norm(w.iter().copied(), q);
        let mut gradient: Vec<f64> = (w.iter())
            .map(|w| case.lambda * c * w.signum() * w.abs().powf(q - 1.0) * size.powf(2.0 - q))
            .collect();
        for ((mass, x), &y) in case.masses().iter().zip(&case.rows).zip(&case.targets) {
            let a: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
            let h = 1e-6;
            let slope = (phi(case.loss, a + h, y) - phi(case.loss, a - h, y)) / (2.0 * h);
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g += mass * slope * x);
        }
        let squares: f64 = gradient.iter().map(|g| g * g).sum();
        step *= 2.0;
        loop {
            let next: Vec<f64> = w.iter().zip(&gradient).map(|(w, g)| w - step * g).collect();
            let there = primal(case, &next);
            if there <= value - 0.3 * step * squares {
                (w, value) = (next, there);
                break;
            }
            step /= 2.0;
            if step < 1e-15 {
                return value;
            }
        }
    }
    value
}

#[test]
fn gradient_descent_ends_at_the_same_optimum() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        if crate::linear::case::gamma(loss).is_none() {
            continue;
        }
        for d in [8, 12] {
            let weights = (d == 12).then(|| (0..20).map(|i| f64::from(i % 4)).collect());
            let random = Case::random(70 + k as u64, loss, 20, d);
            let case = Case { lambda: 0.01, regulariser: Q_NORM, weights, ..random };
            let (c, other) = (case.solve().certificate, descended(&case));
            assert!(c.gap() <= 1e-8, "{loss:?} {c:?}");
            assert!(c.dual - c.rounding_error <= other + 1e-12, "{loss:?} {c:?} {other}");
            assert!(other <= c.primal + 1e-6, "{loss:?} {c:?} {other}");
        }
    }
}

#[test]
fn a_resumed_run_is_bit_for_bit_the_run_that_went_through_and_its_model_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (j, choice) in choices(loss).into_iter().enumerate() {
            let regulariser = Regulariser { l1: 0.005 * (j % 2) as f64, ..Q_NORM };
            let case = Case { regulariser, lambda: 0.02, ..Case::random(k as u64, loss, 9, 8) };
            let settings = Settings {
                average: [Average::None, Average::Suffix, Average::Random][(k + j) % 3],
                sampling: [Sampling::Permuted, Sampling::Uniform, Sampling::Importance][j % 3],
                batch: 1 + 3 * (k % 2),
                ..case.settings()
            };
            let fit = Fit { case: &case, choice, settings: &settings };
            let file = folder.path().join(format!("{k}-{j}"));
            let whole = fit.run(17, None, None);
            fit.run(3, Some(&file), None);
            fit.run(8, Some(&file), Some(&file));
            let resumed = fit.run(17, Some(&file), Some(&file));
            assert_eq!(bits(&resumed), bits(&whole), "{loss:?} {choice:?}");
            let stored = fits::stored(&whole.model);
            let verified = stored.certify(&case.examples()).unwrap();
            assert_eq!(verified.evidence, DualEvidence::Witness);
            let mut other = stored.clone();
            fits::alter(&mut other, |_, r| r.q_norm = false);
            let zero = stored.weights.iter().all(|&w| w == 0.0);
            assert!(zero || other.certify(&case.examples()).is_err(), "{loss:?}");
        }
    }
}

#[test]
fn what_the_q_norm_does_not_go_with_is_refused() {
    let refused = |case: &Case, settings: &Settings| {
        case.try_train(Choice::I, settings, &Budget::passes(1)).is_err()
    };
    for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic] {
        let case = Case { regulariser: Q_NORM, ..Case::random(1, loss, 9, 8) };
        assert!(!refused(&case, &case.settings()));
        let narrow = Case { regulariser: Q_NORM, ..Case::random(1, loss, 9, 7) };
        assert!(refused(&narrow, &narrow.settings()), "seven weights");
        let batch = Settings { method: Algorithm::Fw, ..case.settings() };
        assert!(refused(&case, &batch), "all blocks at once");
        for regulariser in [
            Regulariser { nonnegative: true, ..Q_NORM },
            Regulariser { free: Some(Free { column: 0, bound: 1.0 }), ..Q_NORM },
            Regulariser { l1: -1.0, ..Q_NORM },
            Regulariser { l1: f64::NAN, ..Q_NORM },
        ] {
            assert!(
                refused(&case, &Settings { regulariser, ..case.settings() }),
                "{regulariser:?}"
            );
        }
        let (data, settings, budget) = (case.examples(), case.settings(), Budget::passes(1));
        let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
        assert!(train_from(&blocks, &settings, Begin::Fresh, &budget, &mut (), None).is_err());
        assert!(fits::Fit::new(Multiclass::default(), &settings, &budget).run(&data).is_err());
        let blocks =
            ScoreBlocks::new(&data, &Costs::ZeroOne, MulticlassLoss::Softmax, Choice::I).unwrap();
        assert!(train_from(&blocks, &settings, Begin::Fresh, &budget, &mut (), None).is_err());
    }
}

/// ‖x‖_k² to 32 digits.
fn exact_square(x: impl Iterator<Item = Wide>, k: Wide) -> Wide {
    let powers: Wide = x.filter(|x| *x > Wide::ZERO).map(|x| exp(k * ln(x))).sum();
    if powers > Wide::ZERO { exp(wide(2.0) / k * ln(powers)) } else { Wide::ZERO }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn both_sides_are_within_their_stated_error_at_any_scale(
        seed in 0..10_000_u64,
        loss in 0..LOSSES.len(),
        d in 8..30_usize,
        (of_rows, exponent) in (-3.0..3.0_f64, -4.0..2.0_f64),
        sparse in any::<bool>(),
        (batch, average) in (1..4_usize, any::<bool>()),
        passes in 0..30_u64,
    ) {
        let mut case = Case::random(seed, LOSSES[loss], 9, d);
        case.rows.iter_mut().flatten().for_each(|x| *x *= 10_f64.powf(of_rows));
        case.lambda = 10_f64.powf(exponent);
        case.regulariser = Regulariser { l1: if sparse { 0.02 } else { 0.0 }, ..Q_NORM };
        let average = if average { Average::Random } else { Average::None };
        let settings = Settings { batch, average, ..case.settings() };
        let report = case.train(Choice::I, &settings, &Budget::passes(passes));
        let (certificate, (p, c)) = (report.certificate, constants(&case));
        let (p, c, lambda, l1) = (wide(p), wide(c), wide(case.lambda), wide(case.regulariser.l1));
        let (masses, w, alpha) = (masses(&case), &report.model.weights, &report.model.points);
        let (mut losses, mut gains) = (Wide::ZERO, Wide::ZERO);
        let mut sums = vec![Wide::ZERO; d]; // λv
        for (i, x) in case.rows.iter().enumerate() {
            let a: Wide = x.iter().zip(w).map(|(&x, &w)| wide(x) * wide(w)).sum();
            losses = losses + masses[i] * losses::phi(case.loss, a, case.targets[i]);
            gains = gains + masses[i] * dual_term(case.loss, wide(alpha[i]), case.targets[i]);
            for (sum, &x) in sums.iter_mut().zip(x) {
                *sum = *sum + masses[i] * wide(alpha[i]) * wide(x);
            }
        }
        let square = exact_square(w.iter().map(|&w| wide(w).abs()), p / (p - Wide::ONE));
        let absolutes: Wide = w.iter().map(|&w| wide(w).abs()).sum();
        let above = losses + lambda * c * square / wide(2.0) + l1 * absolutes;
        let square = exact_square(sums.into_iter().map(|v| (v.abs() - l1) / lambda), p);
        let below = gains - lambda * square / (wide(2.0) * c);
        let above = (above - certificate.primal.into()).abs().float();
        let below = (below - certificate.dual.into()).abs().float();
        prop_assert!(above + below <= certificate.rounding_error, "{above:e} {below:e} {certificate:?}");
    }
}
