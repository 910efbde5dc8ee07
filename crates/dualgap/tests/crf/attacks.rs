use super::{fit, sequences};
use dualgap::dual::Settings;
use dualgap::methods::newton;
use dualgap::run::Budget;
use dualgap::structure::{Beam, Chain, Kernelised, Rescaling};
use dualgap::task::{DualMethod, Method, Plan, Task};
use dualgap::term::{KernelFunction, Penalty};

#[test]
fn a_file_that_claims_too_much_is_refused() {
    let data = sequences(21, false);
    let model = fit(&data, 0.01, Budget::passes(2));
    let honest = model.certify(&data).unwrap().certificate;
    assert_eq!(honest.primal, model.certificate.primal);
    assert_eq!(honest.dual, model.certificate.dual);

    let mut forged = model.clone();
    forged.certificate.dual = forged.certificate.primal;
    assert!(forged.certify(&data).is_err(), "its witness has another dual value");
    // Without a witness the weights are one: what is proved does not depend on the claim.
    forged.witness = None;
    assert_eq!(forged.certify(&data).unwrap().certificate.dual, honest.dual);

    let mut altered = model.clone();
    altered.weights[0] += 0.1;
    assert!(altered.certify(&data).is_err(), "these weights have another primal value");

    for (key, weight) in [(1_u64 << 40, 1.0), (0, f64::NAN), (0, f64::INFINITY), (0, 7.0)] {
        let mut forged = model.clone();
        let witness = forged.witness.as_mut().unwrap();
        (witness.keys[0], witness.weights[0]) = (key, weight);
        assert!(forged.certify(&data).is_err(), "{key} {weight}");
    }
    let mut forged = model.clone();
    forged.witness.as_mut().unwrap().starts.push(0);
    assert!(forged.certify(&data).is_err());
    assert!(model.certify(&sequences(22, false)).is_err(), "other data");
}

// Altered weights with their own primal value: the gap is what they deserve.
#[test]
fn altered_weights_raise_the_gap() {
    let data = sequences(23, false);
    let model = fit(&data, 0.01, Budget::relative(1e-9));
    let mut altered = model.clone();
    altered.weights[3] += 0.5;
    altered.certificate.primal = super::brute::values(&data, &altered.weights, 0.01).0;
    let proved = altered.certify(&data).unwrap().certificate;
    assert!(proved.gap() > 1e3 * model.certificate.gap_bound(), "{proved:?}");
    assert_eq!(proved.dual, model.certificate.dual);
}

#[test]
fn what_is_for_the_hinge_is_refused() {
    let data = sequences(25, false);
    let refused = |chain: Chain, penalty: Penalty, method: Method| {
        let plan = Plan { method, ..Plan::new(Budget::passes(1)) };
        Task::new(chain, penalty).fit(&data, plan).unwrap_err().to_string()
    };
    let ridge = Penalty::ridge(0.1);
    let beam = Chain::crf().searched(Some(Beam { width: 2, bound: true }));
    assert!(refused(beam, ridge, Method::Auto).contains("log-loss"));
    let slack = Chain::crf().rescaled(Rescaling::Slack);
    assert!(refused(slack, ridge, Method::Auto).contains("log-loss"));
    assert!(refused(Chain::crf(), Penalty::lasso(0.1), Method::Auto).contains("log-loss"));
    for method in [DualMethod::plain().into(), newton::NewtonSettings::default().into()] {
        assert!(refused(Chain::crf(), ridge, method).contains("one solver"));
    }
    assert!(Settings::default().handover, "which tells the default apart");
    let hinge = Task::new(Chain::default(), ridge).fit(&data, Plan::new(Budget::passes(1)));
    assert!(hinge.unwrap().model.probabilities(&data).is_err(), "a hinge has none");
    let kernel = Kernelised::new(Chain::crf(), KernelFunction::Linear);
    assert!(Task::new(kernel, ridge).fit(&data, Plan::new(Budget::passes(1))).is_err());
}
