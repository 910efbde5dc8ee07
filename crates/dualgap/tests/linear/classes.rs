//! Losses of several scores: the certified interval contains the optimum that a search over the plane finds, the dual
//! never falls, and two classes under softmax are the logistic loss.

use crate::common::fits;
use dualgap::data::Examples;
use dualgap::dual::{self, Acceleration, Average, Blocks, Sampling, Settings, View};
use dualgap::linalg::Rows;
use dualgap::run::Budget;
use dualgap::structure::{self, Choice, LinearBlocks, Multiclass, MulticlassBlocks, ScoreBlocks};
use dualgap::term::{Costs, MulticlassLoss, Norm, Regulariser, ScalarLoss};
use proptest::prelude::*;

const LOSSES: [MulticlassLoss; 4] = [
    MulticlassLoss::Hinge,
    MulticlassLoss::SmoothHinge { width: 1.0 },
    MulticlassLoss::SmoothHinge { width: 0.3 },
    MulticlassLoss::Softmax,
];

/// φ of two scores, by formula: a maximum over β on [0, 1], the weight of the wrong class.
fn phi(loss: MulticlassLoss, own: f64, other: f64) -> f64 {
    match loss {
        MulticlassLoss::Hinge => (1.0 + other - own).max(0.0),
        MulticlassLoss::SmoothHinge { width } => {
            // β(1 + other) + (1 − β)own − (γ/2)(β² + (1 − β)²) is largest where its slope is zero.
            let beta = ((1.0 + other - own) / (2.0 * width) + 0.5).clamp(0.0, 1.0);
            beta * (1.0 + other - own) - width / 2.0 * (beta * beta + (1.0 - beta) * (1.0 - beta))
        }
        MulticlassLoss::Softmax => (other - own).exp().ln_1p(),
    }
}

/// The least value of a convex function on an interval, by golden section.
fn bottom(f: &dyn Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..90 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if f(a) > f(b) { low = a } else { high = b }
    }
    f(low + (high - low) / 2.0)
}

/// Two classes and one feature: the weights are a point of the plane.
fn optimum(rows: &[f64], labels: &[usize], loss: MulticlassLoss, settings: &Settings) -> f64 {
    let Settings { lambda, regulariser: Regulariser { l1, nonnegative, .. }, .. } = *settings;
    let low = if nonnegative { 0.0 } else { -30.0 };
    let primal = |w: [f64; 2]| {
        let losses: f64 =
            rows.iter().zip(labels).map(|(x, &y)| phi(loss, x * w[y], x * w[1 - y])).sum();
        let norms = 0.5 * lambda * (w[0] * w[0] + w[1] * w[1]) + l1 * (w[0].abs() + w[1].abs());
        losses / rows.len() as f64 + norms
    };
    bottom(&|a| bottom(&|b| primal([a, b]), (low, 30.0)), (low, 30.0))
}

fn examples(rows: &[f64], labels: &[usize]) -> Examples {
    // Both classes are there, whatever the labels are.
    let rows: Vec<Vec<f64>> = rows.iter().map(|&x| vec![x]).collect();
    let names: Vec<&str> = labels.iter().map(|&y| ["a", "b"][y]).collect();
    Examples::from_dense(&rows, &names).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_interval_contains_the_optimum_that_a_search_finds(
        rows in prop::collection::vec(-2.0..2.0_f64, 3..6),
        option in 0_usize..5,
        regulariser in 0_usize..3,
        batch in 1_usize..4,
        sampling in 0_usize..4,
        average in any::<bool>(),
        passes in 1_u64..40,
    ) {
        let labels: Vec<usize> = (0..rows.len()).map(|i| i % 2).collect();
        let data = examples(&rows, &labels);
        for loss in LOSSES {
            let choice = [Choice::I, Choice::II, Choice::III, Choice::IV, Choice::V][option];
            let choice = if loss == MulticlassLoss::Hinge && option == 4 { Choice::I } else { choice };
            let settings = Settings {
                lambda: 0.2,
                regulariser: Regulariser { l1: [0.0, 0.03, 0.0][regulariser], nonnegative: regulariser == 2, ..Regulariser::PLAIN },
                batch,
                sampling: [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic, Sampling::Importance][sampling],
                average: if average { Average::Weighted } else { Average::None },
                // Momentum may carry the dual point down for a while.
                acceleration: Acceleration::Off,
                threads: 1,
                ..Settings::default()
            };
            let optimum = optimum(&rows, &labels, loss, &settings);
            let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, loss, choice).unwrap();
            let budget = Budget { certify_share: 1.0, ..Budget::passes(passes) };
            let report = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
            let c = report.certificate;
            prop_assert!(c.dual - c.rounding_error <= optimum + 1e-8, "{loss:?} {c:?} {optimum}");
            prop_assert!(c.primal + c.rounding_error >= optimum - 1e-8, "{loss:?} {c:?} {optimum}");
            if !average {
                let duals: Vec<f64> = report.history.iter().map(|p| p.iterate_dual).collect();
                let falls = duals.windows(2).any(|pair| pair[1] < pair[0] - 1e-12);
                prop_assert!(!falls, "{loss:?} {choice:?}: {duals:?}");
            }
            let near = Budget { absolute: Some(1e-2), ..Budget::passes(600) };
            let long = dual::train(&blocks, &settings, &near, &mut ()).unwrap();
            prop_assert!(long.certificate.gap() <= 1e-2, "{loss:?} {choice:?} {:?}", long.certificate);
        }
    }
}

/// β over four classes, of which some may have nothing.
fn distribution() -> impl Strategy<Value = Vec<f64>> {
    let share = prop_oneof![Just(0.0), 0.0..1.0_f64];
    (prop::collection::vec(share, 4), 0..4_usize).prop_map(|(mut shares, k)| {
        shares[k] += 0.1;
        let sum: f64 = shares.iter().sum();
        shares.into_iter().map(|share| share / sum).collect()
    })
}

/// What the dual of one example gains, by its formula, if it alone moves from one distribution to another; the example has
/// one feature, class 1 is right and all other classes cost 1 (0 under softmax).
fn gain(loss: MulticlassLoss, scores: &[f64], q: f64, at: &[f64], to: &[f64]) -> f64 {
    let costs = if loss == MulticlassLoss::Softmax { 0.0 } else { 1.0 };
    let penalty = |b: f64| match loss {
        MulticlassLoss::SmoothHinge { width } => width / 2.0 * b * b,
        MulticlassLoss::Softmax if b > 0.0 => b * b.ln(),
        MulticlassLoss::Hinge | MulticlassLoss::Softmax => 0.0,
    };
    let each = at.iter().zip(to).zip(scores).enumerate().map(|(y, ((&at, &to), s))| {
        let cost = if y == 1 { 0.0 } else { costs };
        (to - at) * (s + cost) - penalty(to) + penalty(at) - 0.5 * q * (to - at) * (to - at)
    });
    each.sum()
}

fn between(at: &[f64], to: &[f64], share: f64) -> Vec<f64> {
    at.iter().zip(to).map(|(at, to)| at + share * (to - at)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // Whatever the loss: the corner that the scores ask for is at one end, and nothing between is better than option II.
    #[test]
    fn option_ii_is_the_best_point_on_the_way_to_the_corner(
        at in distribution(),
        x in 0.1..3.0_f64,
        w in prop::collection::vec(-3.0..3.0_f64, 4),
        later in prop::collection::vec(-3.0..3.0_f64, 4),
        exponent in -3.0..3.0_f64,
    ) {
        let rows = [vec![x], vec![1.0], vec![1.0], vec![1.0]];
        let data = Examples::from_dense(&rows, &["b", "a", "c", "d"]).unwrap();
        let truth = data.classes().unwrap().numbers()[0] as usize;
        let scale = 10_f64.powf(exponent);
        let view = |w, fresh| View { w, factor: 1.0, scale, norm: Norm::Euclidean, fresh };
        for loss in LOSSES {
            let aimed = |choice| {
                let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, loss, choice).unwrap();
                let (mut to, mut scratch) = (Vec::new(), blocks.scratch());
                blocks.aim(0, &at, &view(&w, true), &mut to, &mut scratch).unwrap();
                to
            };
            // The formula above has the right class in place 1.
            let placed = |b: &[f64]| { let mut b = b.to_vec(); b.swap(1, truth); b };
            let gain = |w: &[f64], to: &[f64]| {
                let scores: Vec<f64> = w.iter().map(|w| x * w).collect();
                gain(loss, &placed(&scores), scale * x * x, &placed(&at), &placed(to))
            };
            let [best, closed] = [Choice::II, Choice::III].map(aimed);
            let tolerance = 1e-12 * (1.0 + scale);
            prop_assert!(gain(&w, &best) >= gain(&w, &closed) - tolerance, "{loss:?}");
            let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, loss, Choice::II).unwrap();
            let (mut corner, mut scratch) = (Vec::new(), blocks.scratch());
            blocks.best_corner(0, &w, &mut corner, &mut scratch).unwrap();
            let shares = || (0..=1000).map(|k| f64::from(k) / 1000.0);
            for share in shares().chain(shares().map(|share| share.powi(4))) {
                let other = between(&at, &corner, share);
                prop_assert!(gain(&w, &best) >= gain(&w, &other) - tolerance, "{loss:?} {share}");
            }
            // In a batch the weights have moved when the step is taken: then as far as is best for these.
            let taken = blocks.step_length(0, &at, &best, &view(&later, false), &mut scratch);
            prop_assert!((0.0..=1.0).contains(&taken));
            let gained = gain(&later, &between(&at, &best, taken));
            prop_assert!(gained >= -tolerance, "{loss:?} {taken}");
            if loss == MulticlassLoss::Softmax {
                for share in shares() {
                    let other = gain(&later, &between(&at, &best, share));
                    prop_assert!(gained >= other - tolerance, "{taken} {share}");
                }
            }
        }
    }
}

#[test]
fn two_classes_under_softmax_are_the_logistic_loss_at_half_the_lambda() {
    let rows = [0.5, -1.0, 2.0, 0.3, -0.7, 1.1];
    let labels = [0, 1, 0, 1, 1, 0];
    let data = examples(&rows, &labels);
    let budget = Budget::relative(1e-9);
    let settings = Settings { lambda: 0.1, ..Settings::default() };
    let softmax =
        ScoreBlocks::new(&data, &Costs::ZeroOne, MulticlassLoss::Softmax, Choice::I).unwrap();
    let softmax = dual::train(&softmax, &settings, &budget, &mut ()).unwrap().certificate;
    let plain = Rows::dense(&rows.map(|x| vec![x])).unwrap();
    let targets = labels.map(|y| if y == 1 { 1.0 } else { -1.0 }).to_vec();
    let binary = LinearBlocks::new(&plain, targets, ScalarLoss::Logistic, Choice::I).unwrap();
    let settings = Settings { lambda: 0.05, ..settings };
    let binary = structure::train_linear(&binary, &settings, &budget, &mut ()).unwrap().certificate;
    assert!((softmax.primal - binary.primal).abs() < 1e-8, "{softmax:?} {binary:?}");
}

#[test]
fn the_hinge_is_that_of_the_structural_blocks() {
    let rows: Vec<Vec<f64>> = (0..30)
        .map(|i| (0..4).map(|j| f64::from((i * 7 + j * 11) % 13) / 6.0 - 1.0).collect())
        .collect();
    let names: Vec<&str> = (0..30).map(|i| ["a", "b", "c"][i % 3]).collect();
    let data = Examples::from_dense(&rows, &names).unwrap();
    let costs = Costs::Matrix(vec![0.0, 1.0, 2.0, 0.5, 0.0, 1.0, 1.0, 3.0, 0.0]);
    let settings = Settings { lambda: 0.05, ..Settings::default() };
    let budget = Budget::relative(1e-4);
    let vector = ScoreBlocks::new(&data, &costs, MulticlassLoss::Hinge, Choice::I).unwrap();
    let vector = dual::train(&vector, &settings, &budget, &mut ()).unwrap().certificate;
    let blocks = MulticlassBlocks::new(&data, &costs).unwrap();
    let blocks = dual::train(&blocks, &settings, &budget, &mut ()).unwrap().certificate;
    assert!(vector.dual <= blocks.primal && blocks.dual <= vector.primal, "{vector:?} {blocks:?}");
}

#[test]
fn models_are_verified_and_altered_ones_are_not() {
    let rows: Vec<Vec<f64>> =
        (0..20).map(|i| vec![f64::from(i % 5) - 2.0, f64::from(i % 3) - 1.0]).collect();
    let names: Vec<&str> = (0..20).map(|i| ["x", "y", "z"][i % 3]).collect();
    let data = Examples::from_dense(&rows, &names).unwrap();
    let settings = Settings { lambda: 0.1, ..Settings::default() };
    let budget = Budget::relative(1e-4);
    for loss in [MulticlassLoss::SmoothHinge { width: 0.5 }, MulticlassLoss::Softmax] {
        let fit = fits::classes(Multiclass::new(loss), Choice::I, &settings, &budget);
        let model = fit.run(&data).unwrap().model;
        let back = fits::stored(&model);
        assert!(back.certify(&data).unwrap().certificate.relative_gap() <= 1e-4);
        let mut altered = model.clone();
        altered.weights[1] += 0.1;
        assert!(altered.certify(&data).is_err());
        let mut altered = model.clone();
        if let Some(witness) = &mut altered.witness {
            witness.weights[0] += 1e-3;
        }
        assert!(altered.certify(&data).is_err());
    }
    let costs = Costs::Matrix(vec![0.0; 9]);
    assert!(ScoreBlocks::new(&data, &costs, MulticlassLoss::Softmax, Choice::I).is_err());
    assert!(ScoreBlocks::new(&data, &Costs::ZeroOne, MulticlassLoss::Hinge, Choice::V).is_err());
}
