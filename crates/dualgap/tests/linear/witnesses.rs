//! Models are verified from their data, and whatever is altered in them is refused.

use crate::common::fits;
use crate::linear::case::{Case, LOSSES, REGULARISERS, is_binary};
use dualgap::Error;
use dualgap::dual::{Average, Problem, Settings, Witness};
use dualgap::run::Budget;
use dualgap::structure::{Choice, Linear, LinearBlocks};
use dualgap::task::DualEvidence;
use dualgap::term::{L2, ScalarLoss};

type Model = dualgap::task::Model<Linear>;

/// Far enough from the optimum for every change to be one of values.
fn trained(case: &Case) -> Model {
    case.fit(&case.settings(), &Budget::passes(3)).model
}

/// The interval of the dual variables.
fn domain(loss: ScalarLoss, y: f64) -> (f64, f64) {
    let (low, high) = match loss {
        ScalarLoss::Hinge | ScalarLoss::SmoothHinge { .. } | ScalarLoss::Logistic => (0.0, 1.0),
        ScalarLoss::SquaredHinge => (0.0, f64::INFINITY),
        ScalarLoss::Squared => (f64::NEG_INFINITY, f64::INFINITY),
        ScalarLoss::Absolute | ScalarLoss::EpsilonInsensitive { .. } => (-1.0, 1.0),
        ScalarLoss::Huber { width } => (-width, width),
    };
    if is_binary(loss) && y < 0.0 { (-high, -low) } else { (low, high) }
}

#[test]
fn a_model_is_verified_with_and_without_an_intercept_and_after_it_was_stored() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            for intercept in [false, true] {
                let mut case = Case { regulariser, ..Case::random(k as u64, loss, 9, 3) };
                if intercept {
                    case.rows.iter_mut().for_each(|row| row.push(1.0));
                }
                for average in [Average::None, Average::Weighted, Average::Suffix] {
                    let settings = Settings { average, ..case.settings() };
                    let model = case.fit(&settings, &Budget::passes(7)).model;
                    let stored = fits::stored(&model);
                    for model in [model, stored] {
                        let verified = model.certify(&case.examples()).unwrap();
                        assert_eq!(verified.evidence, DualEvidence::Witness);
                        let own = case.primal(&model.weights);
                        assert!((own - verified.certificate.primal).abs() < 1e-12);
                        let without = Model { witness: None, ..model };
                        let verified = without.certify(&case.examples()).unwrap();
                        assert_eq!(verified.evidence, DualEvidence::Word);
                    }
                }
            }
        }
    }
}

/// Whether a change makes the model one that is refused.
fn refused(case: &Case, model: &Model, change: impl FnOnce(&mut Model)) -> bool {
    let mut changed = model.clone();
    change(&mut changed);
    matches!(
        changed.certify(&case.examples()),
        Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
    )
}

/// Whether the same model with this dual variable in the first place is refused as infeasible.
fn infeasible(case: &Case, model: &Model, alpha: f64) -> bool {
    let mut forged = model.clone();
    forged.witness.as_mut().unwrap().weights[0] = alpha;
    matches!(forged.certify(&case.examples()), Err(Error::Witness { example: 0, .. }))
}

#[test]
fn whatever_is_altered_in_a_model_is_refused() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            let case = Case { regulariser, ..Case::random(20 + k as u64, loss, 9, 3) };
            let model = trained(&case);
            assert!(!refused(&case, &model, |_| ()));
            if model.weights.iter().all(|&w| w == 0.0) {
                assert!(!regulariser.is_plain());
                continue; // then it is optimal under other regularisers, too
            }
            let spoilt = |change: &dyn Fn(&mut Model)| refused(&case, &model, change);
            assert!(spoilt(&|m| m.weights.iter_mut().for_each(|w| *w += 0.01)), "weights");
            assert!(spoilt(&|m| m.weights[1] = f64::NAN), "a weight that is no number");
            assert!(spoilt(&|m| fits::alter(m, |lambda, _| *lambda *= 1.001)), "lambda");
            assert!(spoilt(&|m| fits::alter(m, |_, r| r.l1 += 1e-3)), "l1");
            assert!(spoilt(&|m| m.certificate.dual += 1e-6), "the dual value");
            assert!(spoilt(&|m| m.certificate.primal -= 1e-6), "the primal value");
            assert!(spoilt(&|m| m.sample_weights = Some((1..=9).map(f64::from).collect())));
            let move_all = |m: &mut Model| {
                for (alpha, &y) in m.witness.as_mut().unwrap().weights.iter_mut().zip(&case.targets)
                {
                    let (low, high) = domain(loss, y);
                    let inside = f64::midpoint(low.max(-1.0), high.min(1.0));
                    *alpha += 0.1 * (inside - *alpha);
                }
            };
            assert!(spoilt(&move_all), "dual variables that are feasible, and others");
            for other in LOSSES {
                let same = |a, b| {
                    let tube = |l| match l {
                        ScalarLoss::Absolute => ScalarLoss::EpsilonInsensitive { epsilon: 0.0 },
                        // No residual is as large as three.
                        ScalarLoss::Huber { width: 3.0 } => ScalarLoss::Squared,
                        l => l,
                    };
                    tube(a) == tube(b)
                };
                if !same(loss, other) && is_binary(loss) == is_binary(other) {
                    let change = |m: &mut Model| m.task.structure.loss = other;
                    assert!(spoilt(&change), "{loss:?} is taken for {other:?}");
                }
            }
        }
    }
}

#[test]
fn a_sign_of_the_weights_that_was_not_asked_for_is_refused() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let case = Case::random(40 + k as u64, loss, 9, 3);
        let free = trained(&case);
        assert!(free.weights.iter().any(|w| *w < 0.0), "{loss:?} has something to lose");
        assert!(refused(&case, &free, |m| fits::alter(m, |_, r| r.nonnegative = true)));
        let bound = Case { regulariser: REGULARISERS[2], ..case };
        let model = trained(&bound);
        assert!(model.weights.contains(&0.0), "{loss:?} meets its bound");
        assert!(refused(&bound, &model, |m| fits::alter(m, |_, r| r.nonnegative = false)));
    }
}

#[test]
fn dual_variables_outside_of_their_interval_are_refused() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let case = Case::random(60 + k as u64, loss, 6, 2);
        let model = trained(&case);
        let (low, high) = domain(loss, case.targets[0]);
        for alpha in [low - 1e-6, high + 1e-6, low - 5.0, high + 5.0] {
            assert!(!alpha.is_finite() || infeasible(&case, &model, alpha), "{loss:?} {alpha}");
        }
        for alpha in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(infeasible(&case, &model, alpha), "{loss:?} {alpha}");
        }
    }
}

#[test]
fn a_witness_has_one_number_for_every_example() {
    let case = Case::random(1, ScalarLoss::Hinge, 6, 2);
    let model = trained(&case);
    let honest = model.witness.clone().unwrap();
    let forged = |change: &dyn Fn(&mut Witness)| {
        let mut witness = honest.clone();
        change(&mut witness);
        refused(&case, &model, |m| m.witness = Some(witness))
    };
    assert!(!forged(&|_| ()));
    assert!(forged(&|w| w.keys[2] = 1), "a key of nothing");
    assert!(forged(&|w| w.starts[3] = w.starts[2]), "none, and two");
    assert!(forged(&|w| {
        w.weights.pop();
    }));
    assert!(forged(&|w| {
        w.starts.pop();
        w.keys.pop();
        w.weights.pop();
    }));
    assert!(forged(&|w| w.weights.reverse()), "those of other examples");
}

// What a mean of many numbers misses is charged to the error bound.
#[test]
fn dual_variables_that_miss_their_interval_by_rounding_are_accepted() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let case = Case::random(70 + k as u64, loss, 6, 2);
        let rows = case.sparse_or_dense(false);
        let blocks = LinearBlocks::new(&rows, case.targets.clone(), loss, Choice::I).unwrap();
        let problem = Problem::new(&blocks, L2, case.lambda, None).unwrap();
        let end = |y: f64, high: bool| {
            let (bottom, top) = domain(loss, y);
            let end = if high { top } else { bottom };
            if end.is_finite() { (end, if high { 1e-12 } else { -1e-12 }) } else { (0.0, 0.0) }
        };
        for high in [false, true] {
            let ends: Vec<(f64, f64)> = case.targets.iter().map(|&y| end(y, high)).collect();
            let at: Vec<f64> = ends.iter().map(|(end, _)| *end).collect();
            let beyond: Vec<f64> = ends.iter().map(|(end, off)| end + off).collect();
            let (at, beyond) = (problem.dual(&at).unwrap(), problem.dual(&beyond).unwrap());
            let allowed = at.value.error + beyond.value.error;
            let off = (at.value.value - beyond.value.value).abs();
            assert!(off <= allowed, "{loss:?} {off:e} {allowed:e}");
        }
    }
}

#[test]
fn other_data_and_other_classes_are_refused() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let case = Case::random(80 + k as u64, loss, 6, 2);
        let model = trained(&case);
        let mut other = case.clone();
        other.rows[3][1] += 1e-9;
        assert!(model.certify(&other.examples()).is_err());
        let mut other = case.clone();
        other.targets[3] = if is_binary(loss) { -other.targets[3] } else { 2.0 };
        assert!(model.certify(&other.examples()).is_err());
        let mut narrow = model;
        narrow.names.features = 1;
        assert!(narrow.certify(&case.examples()).is_err());
    }
}
