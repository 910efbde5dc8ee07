//! The models of a path are together as good as promised at every λ, held against runs at single λ that know nothing of
//! it and are far tighter.

use crate::common::fits;
use crate::linear::case::{Case, REGULARISERS};
use crate::linear::q_norms;
use crate::linear::scaling::{SCALINGS, factors, scaled, uneven};
use dualgap::data::Scaling;
use dualgap::linalg::Random;
use dualgap::run::{Budget, Interval, Stop, Tolerance};
use dualgap::structure::{Choice, Linear};
use dualgap::task::{Covered, Ending, PathPlan, check_path};
use dualgap::term::{Regulariser, ScalarLoss};
use dualgap::{Error, Result};

type Model = dualgap::task::Model<Linear>;
type Piece = dualgap::task::Piece<Linear>;

const WITHIN: Interval = Interval { from: 1e-3, to: 1.0 };

fn wanted(tolerance: Tolerance) -> PathPlan {
    let budget = Budget { passes: Some(20_000), ..Budget::default() };
    PathPlan { budget, ..PathPlan::new(WITHIN, tolerance) }
}

fn walked(case: &Case, scale: Scaling, wanted: &PathPlan) -> Result<(Covered, Vec<Piece>)> {
    let fit = fits::linear(case.loss, Choice::I, &case.settings(), &wanted.budget).scaled(scale);
    let mut pieces = Vec::new();
    let wanted = PathPlan { method: fit.plan.method, threads: fit.plan.threads, ..wanted.clone() };
    let keep = |piece: &Piece| {
        pieces.push(piece.clone());
        Ok(())
    };
    let covered = fit.task.path(&case.examples(), &wanted, |_| None, keep)?;
    Ok((covered, pieces))
}

fn assert_no_holes(covered: Covered, pieces: &[Piece]) {
    assert_eq!((covered.from, covered.ending), (Some(WITHIN.from), Ending::Whole));
    assert_eq!(pieces[0].interval.to, WITHIN.to);
    assert_eq!(pieces[pieces.len() - 1].interval.from, WITHIN.from);
    assert!(pieces.iter().all(|piece| piece.interval.contains(piece.lambda())));
    for pair in pieces.windows(2) {
        assert!(pair[1].interval.to >= pair[0].interval.from, "a hole");
        assert!(pair[1].interval.from < pair[0].interval.from, "a piece that adds nothing");
    }
}

/// λ at random, all intervals' ends, and the model that each is covered by.
fn everywhere(pieces: &[Piece], seed: u64) -> Vec<(f64, &Piece)> {
    let mut random = Random::new(seed);
    let any = (0..6).map(|_| WITHIN.from * (WITHIN.to / WITHIN.from).powf(random.unit()));
    let mut found: Vec<(f64, &Piece)> = any
        .map(|lambda| {
            (lambda, pieces.iter().find(|piece| piece.interval.contains(lambda)).unwrap())
        })
        .collect();
    let middle = &pieces[pieces.len() / 2];
    found.extend([(middle.interval.from, middle), (middle.interval.to, middle)]);
    found
}

/// `value` is the objective by its formula, at weights for the data of the case.
fn assert_good(
    case: &Case,
    lambda: f64,
    piece: &Piece,
    value: impl Fn(&Case) -> f64,
    tolerance: Tolerance,
) {
    let case = Case { lambda, ..case.clone() };
    let budget = Budget { passes: Some(50_000), ..Budget::relative(1e-7) };
    let tight = case.train(Choice::I, &case.settings(), &budget).certificate;
    let value = value(&case);
    let allowed = match tolerance {
        Tolerance::Relative(share) => share * value,
        Tolerance::Absolute(gap) => gap,
    };
    // The optimum is at most the tight primal value.
    assert!(value - tight.primal <= allowed + tight.rounding_error, "{lambda} {tight:?} {case:?}");
    let claimed = piece.reach.certificate(lambda).unwrap();
    let error = claimed.rounding_error + tight.rounding_error;
    assert!(claimed.dual <= tight.primal + error, "{claimed:?} {tight:?} {case:?}");
    assert!(claimed.primal >= tight.dual - error, "{claimed:?} {tight:?} {case:?}");
    assert!(tolerance.bound(&claimed) <= tolerance.limit() * (1.0 + 1e-9), "{claimed:?}");
}

const LOSSES: [ScalarLoss; 5] = [
    ScalarLoss::Hinge,
    ScalarLoss::Logistic,
    ScalarLoss::Squared,
    ScalarLoss::Absolute,
    ScalarLoss::SquaredHinge,
];

#[test]
fn every_lambda_has_a_model_that_is_as_good_as_promised() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (r, regulariser) in REGULARISERS.into_iter().enumerate() {
            let tolerance = [Tolerance::Relative(0.02), Tolerance::Absolute(0.01)][r % 2];
            let plain = Case { regulariser, ..Case::random(k as u64, loss, 40, 4) };
            for case in [plain.clone().with_intercept(), plain] {
                let (covered, pieces) = walked(&case, Scaling::None, &wanted(tolerance)).unwrap();
                assert_no_holes(covered, &pieces);
                for (lambda, piece) in everywhere(&pieces, r as u64) {
                    let value = |case: &Case| case.primal(&piece.report.model.weights);
                    assert_good(&case, lambda, piece, value, tolerance);
                }
            }
        }
    }
}

#[test]
fn a_path_in_the_q_norm_is_as_good_as_promised() {
    let tolerance = Tolerance::Relative(0.05);
    for l1 in [0.0, 0.01] {
        let regulariser = Regulariser { l1, q_norm: true, ..Regulariser::PLAIN };
        let case = Case { regulariser, ..Case::random(3, ScalarLoss::Logistic, 40, 9) };
        let (covered, pieces) = walked(&case, Scaling::None, &wanted(tolerance)).unwrap();
        assert_no_holes(covered, &pieces);
        for (lambda, piece) in everywhere(&pieces, 1) {
            let value = |case: &Case| q_norms::primal(case, &piece.report.model.weights);
            assert_good(&case, lambda, piece, value, tolerance);
        }
    }
}

// λ is about the scaled columns, and the model that is judged is the one for the data as they are.
#[test]
fn a_path_on_scaled_columns_is_as_good_as_promised() {
    let tolerance = Tolerance::Relative(0.02);
    for scaling in SCALINGS {
        for loss in [ScalarLoss::Hinge, ScalarLoss::Squared] {
            let case = uneven(5, loss, 30);
            let (covered, pieces) = walked(&case, scaling, &wanted(tolerance)).unwrap();
            assert_no_holes(covered, &pieces);
            let by = factors(scaling, &case.rows);
            for (lambda, piece) in everywhere(&pieces, 2) {
                let raw = &piece.report.model.weights;
                let weights: Vec<f64> = raw.iter().zip(&by).map(|(w, s)| w * s).collect();
                let value = |case: &Case| case.primal(&weights);
                assert_good(&scaled(&case, scaling).0, lambda, piece, value, tolerance);
            }
        }
    }
}

#[test]
fn the_same_path_is_the_same_to_the_last_bit() {
    let case = Case::random(9, ScalarLoss::Hinge, 50, 5);
    let walk = || walked(&case, Scaling::None, &wanted(Tolerance::Relative(0.01))).unwrap();
    let bits = |pieces: &[Piece]| -> Vec<(u64, [u64; 2], Vec<u64>)> {
        let each = |piece: &Piece| {
            let Interval { from, to } = piece.interval;
            let weights = piece.report.model.weights.iter().map(|w| w.to_bits()).collect();
            (piece.lambda().to_bits(), [from, to].map(f64::to_bits), weights)
        };
        pieces.iter().map(each).collect()
    };
    assert_eq!(bits(&walk().1), bits(&walk().1));
}

#[test]
fn a_path_is_proved_again_and_a_forged_one_is_not() {
    let tolerance = Tolerance::Relative(0.01);
    let case = Case::random(11, ScalarLoss::Logistic, 50, 5);
    let data = case.examples();
    let (_, pieces) = walked(&case, Scaling::None, &wanted(tolerance)).unwrap();
    let claims: Vec<(Model, Interval)> =
        pieces.iter().map(|piece| (piece.report.model.clone(), piece.interval)).collect();
    let check = |claims: &[(Model, Interval)]| {
        let claims = claims.iter().cloned().map(Ok);
        check_path(claims, WITHIN, tolerance, |model| model.reach(&data))
    };
    assert!(claims.len() > 3);
    check(&claims).unwrap();
    // Stored and read again the models prove the same.
    let stored: Vec<(Model, Interval)> =
        (claims.iter()).map(|(model, interval)| (fits::stored(model), *interval)).collect();
    check(&stored).unwrap();
    for k in 0..claims.len() {
        let mut missing = claims.clone();
        missing.remove(k);
        assert!(matches!(check(&missing), Err(Error::Refused { .. })), "without model {k}");
        let mut wide = claims.clone();
        wide[k].1.from *= 0.999;
        let inner = k + 1 < claims.len();
        assert!(!inner || check(&wide).is_err(), "model {k} claims more than it proves");
        let mut worse = claims.clone();
        worse[k].0.weights[0] += 3.0;
        assert!(check(&worse).is_err(), "other weights in model {k}");
        let mut other = claims.clone();
        fits::alter(&mut other[k].0, |_, r| r.nonnegative = true);
        assert!(check(&other).is_err(), "model {k} is of another problem");
    }
    assert!(check(&[]).is_err());
    let narrow: Vec<_> = claims[1..].to_vec();
    assert!(check(&narrow).unwrap_err().to_string().contains("between"));
}

#[test]
fn a_path_that_ends_early_says_how_far_it_came_and_why() {
    let case = Case::random(12, ScalarLoss::Hinge, 60, 20);
    let walk = |budget: Budget, share: f64| {
        let wanted = PathPlan { budget, ..wanted(Tolerance::Relative(share)) };
        walked(&case, Scaling::None, &wanted).unwrap()
    };
    let (covered, pieces) = walk(Budget::passes(4), 1e-4);
    let Ending::Short { lambda, stop } = covered.ending else { panic!("{covered:?}") };
    assert_eq!(stop, Stop::PassLimit);
    assert!(covered.from.is_none_or(|from| WITHIN.from < from && lambda <= from), "{covered:?}");
    assert_eq!(covered.from, pieces.last().map(|piece| piece.interval.from));

    let interrupted = Budget::default();
    interrupted.interrupt.raise();
    let (covered, pieces) = walk(interrupted, 0.01);
    let ending = Ending::Short { lambda: WITHIN.to, stop: Stop::Interrupted };
    assert_eq!((covered.from, covered.ending, pieces.len()), (None, ending, 0));

    let late = Budget { seconds: Some(0.0), ..Budget::default() };
    let ending = Ending::Short { lambda: WITHIN.to, stop: Stop::TimeLimit };
    let covered = walk(late, 0.01).0;
    assert_eq!((covered.from, covered.ending), (None, ending));
}

// As tight as rounding allows no path can be walked, and it says so instead of walking for ever.
#[test]
fn a_tolerance_that_rounding_forbids_ends_the_path() {
    let case = Case::random(13, ScalarLoss::Squared, 20, 3);
    for share in [1e-15, 1e-17, 1e-300] {
        let budget = Budget { passes: Some(300), ..Budget::default() };
        let wanted = PathPlan { budget, ..wanted(Tolerance::Relative(share)) };
        let (covered, _) = walked(&case, Scaling::None, &wanted).unwrap();
        assert!(matches!(covered.ending, Ending::Short { .. }), "{covered:?}");
    }
}

#[test]
fn one_lambda_is_a_path_too() {
    let case = Case::random(14, ScalarLoss::Hinge, 20, 3);
    let within = Interval { from: 0.1, to: 0.1 };
    let wanted = PathPlan { within, ..wanted(Tolerance::Relative(0.01)) };
    let (covered, pieces) = walked(&case, Scaling::None, &wanted).unwrap();
    assert_eq!((covered.from, covered.ending), (Some(0.1), Ending::Whole));
    assert_eq!((pieces.len(), pieces[0].interval), (1, within));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let case = Case::random(15, ScalarLoss::Hinge, 20, 3);
    for (from, to) in [(1.0, 0.1), (0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (0.1, f64::INFINITY)] {
        let wanted =
            PathPlan { within: Interval { from, to }, ..wanted(Tolerance::Relative(0.01)) };
        assert!(walked(&case, Scaling::None, &wanted).is_err(), "{from} {to}");
    }
    for tolerance in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(walked(&case, Scaling::None, &wanted(Tolerance::Relative(tolerance))).is_err());
    }
    for tolerance in [0.0, f64::INFINITY, -0.1, f64::NAN] {
        assert!(walked(&case, Scaling::None, &wanted(Tolerance::Absolute(tolerance))).is_err());
    }
}
