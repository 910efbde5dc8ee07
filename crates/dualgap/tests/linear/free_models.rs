//! Models with a weight without penalty are verified from their data, and no forged one is taken at its word: neither
//! a witness that is out of balance nor another free weight makes a certificate that the stated problem contradicts.

use crate::common::fits;
use crate::linear::case::{Case, LOSSES, REGULARISERS, is_binary};
use crate::linear::rounding::dual;
use crate::linear::solvers::quadratic_program;
use dualgap::run::Budget;
use dualgap::structure::Linear;
use dualgap::task::DualEvidence;
use dualgap::term::{Free, Regulariser};

type Model = dualgap::task::Model<Linear>;

fn cases() -> impl Iterator<Item = Case> {
    LOSSES.into_iter().enumerate().flat_map(|(k, loss)| {
        REGULARISERS.into_iter().map(move |regulariser| {
            let mut case = Case { regulariser, ..Case::random(300 + k as u64, loss, 9, 3) };
            if !is_binary(loss) {
                case.targets.iter_mut().for_each(|y| *y += 1.0);
            }
            case.with_intercept()
        })
    })
}

fn trained(case: &Case) -> Model {
    case.fit(&case.settings(), &Budget::passes(200)).model
}

#[test]
fn a_model_is_verified_with_and_without_its_witness_and_after_it_was_stored() {
    for case in cases() {
        let pure = Regulariser { l1: 0.05, ..case.regulariser };
        let pure = Case { lambda: 0.0, regulariser: pure, ..case.clone() };
        for case in [case, pure] {
            for passes in [0, 1, 30] {
                let model = case.fit(&case.settings(), &Budget::passes(passes)).model;
                let stored = fits::stored(&model);
                assert_eq!(fits::parts(stored.task.penalty).1, case.regulariser);
                for model in [model, stored] {
                    let verified = model.certify(&case.examples()).unwrap();
                    assert_eq!(verified.evidence, DualEvidence::Witness);
                    let (c, own) = (verified.certificate, case.primal(&model.weights));
                    assert!((own - c.primal).abs() <= 1e-12 + c.rounding_error, "{own} {c:?}");
                    let without = Model { witness: None, ..model };
                    let verified = without.certify(&case.examples()).unwrap();
                    assert_eq!(verified.evidence, DualEvidence::Word);
                }
            }
        }
    }
}

/// What clarabel finds for the problem that a model states, the bound of its free weight included.
fn optimum(case: &Case, model: &Model) -> Option<f64> {
    let stated = Case { regulariser: fits::parts(model.task.penalty).1, ..case.clone() };
    let mut within = vec![(f64::NEG_INFINITY, f64::INFINITY); stated.rows[0].len()];
    // Bounds that nothing comes near would only be in clarabel's way.
    if let Some(Free { column, bound }) = stated.regulariser.free.filter(|free| free.bound < 100.0)
    {
        within[column] = (-bound, bound);
    }
    Some(stated.primal(&quadratic_program(&stated, &within)?))
}

/// Whether a model is refused; one that is not has a certificate that contains the optimum of what it states.
fn refused(case: &Case, model: &Model) -> bool {
    let Ok(verified) = model.certify(&case.examples()) else { return true };
    let c = verified.certificate;
    if let Some(optimum) = optimum(case, model) {
        let what = format!("{c:?} {optimum} {:?} {case:?}", model.task.penalty);
        assert!(c.dual - c.rounding_error <= optimum + 1e-8, "{what}");
        assert!(optimum <= c.primal + c.rounding_error + 1e-6, "{what}");
    }
    false
}

// Out of balance the dual of the other weights alone is larger than the optimum: it is what a forger would state.
#[test]
fn a_witness_out_of_balance_proves_nothing() {
    for case in cases() {
        let honest = trained(&case);
        let mut without = case.clone();
        without.regulariser.free = None;
        without.rows.iter_mut().for_each(|row| *row.last_mut().unwrap() = 0.0);
        let other = without.solve().model;
        let points = honest.witness.as_ref().unwrap().weights.clone();
        for share in [1e-9, 1e-6, 1e-3, 0.1, 1.0] {
            let mut model = honest.clone();
            let forged: Vec<f64> =
                points.iter().zip(&other.points).map(|(at, to)| at + share * (to - at)).collect();
            let boast = dual(&without, &forged).float();
            model.witness.as_mut().unwrap().weights.clone_from(&forged);
            assert!(!refused(&case, &honest));
            for claim in [honest.certificate.dual, boast, dual(&case, &forged).float()] {
                model.certificate.dual = claim;
                model.certificate.rounding_error = 1e-6;
                let believed = !refused(&case, &model);
                let possible = claim <= honest.certificate.primal + 1e-6;
                assert!(possible || !believed, "{share} {claim} {:?}", honest.certificate);
            }
        }
    }
}

#[test]
fn another_free_weight_or_another_bound_is_refused_or_true() {
    for case in cases() {
        let honest = trained(&case);
        let intercept = honest.weights[3].abs();
        let bounds = [0.0, 1e-3, 0.5 * intercept, intercept, 2.0 * intercept, 1e3, 1e12, 1e200];
        for column in 0..4 {
            for bound in bounds {
                let mut model = honest.clone();
                fits::alter(&mut model, |_, r| r.free = Some(Free { column, bound }));
                let believed = !refused(&case, &model);
                assert!(!believed || model.weights[column].abs() <= bound, "beyond its bound");
                // What a forger would state of it.
                let stated =
                    Case { regulariser: fits::parts(model.task.penalty).1, ..case.clone() };
                model.certificate.primal = stated.primal(&model.weights);
                for claim in [
                    model.certificate.primal,
                    dual(&stated, &model.witness.as_ref().unwrap().weights).float(),
                ] {
                    model.certificate.dual = claim;
                    refused(&case, &model);
                }
            }
        }
        for free in [
            Free { column: 4, bound: 1.0 },
            Free { column: usize::MAX, bound: 1.0 },
            Free { column: 3, bound: -1.0 },
            Free { column: 3, bound: f64::NAN },
            Free { column: 3, bound: f64::INFINITY },
        ] {
            let mut model = honest.clone();
            fits::alter(&mut model, |_, r| r.free = Some(free));
            assert!(refused(&case, &model), "{free:?}");
        }
        let mut model = honest.clone();
        fits::alter(&mut model, |_, r| r.free = None);
        // A constant that is as good as zero has no penalty either way.
        assert!(refused(&case, &model) || intercept < 1e-3, "{:?}", honest.weights);
    }
}
