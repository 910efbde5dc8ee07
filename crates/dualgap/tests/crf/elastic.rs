//! The log-loss of chains under λ/2‖w‖² + σ‖w‖₁.

use super::{brute, of_one_position, sequences};
use dualgap::data::Sequences;
use dualgap::run::{Budget, InMemory, Tolerance};
use dualgap::structure::{Chain, Multiclass};
use dualgap::task::{Keep, Model, Plan, Resume, Task};
use dualgap::term::{MulticlassLoss, Penalty};

fn task(lambda: f64, sigma: f64) -> Task<Chain> {
    Task::new(Chain::crf(), Penalty::elastic_net(lambda, sigma))
}

fn fit(data: &Sequences, (lambda, sigma): (f64, f64), budget: Budget) -> Model<Chain> {
    let plan = Plan { threads: 1, ..Plan::new(budget) };
    task(lambda, sigma).fit(data, plan).unwrap().model
}

#[test]
fn both_values_are_those_of_all_labelings() {
    for (seed, pairs) in [(31, false), (32, true)] {
        let data = sequences(seed, pairs);
        for (lambda, sigma, passes) in [(0.1, 0.02, 1), (0.01, 0.03, 9), (0.3, 0.001, 12)] {
            let model = fit(&data, (lambda, sigma), Budget::passes(passes));
            let found = model.certificate;
            let (primal, dual) = brute::elastic(&data, &model.weights, lambda, sigma);
            assert!((found.primal - primal).abs() < 1e-13 * primal, "{found:?} {primal}");
            assert!((found.dual - dual).abs() < 1e-11, "{found:?} {dual}");
            assert!(found.rounding_error < 1e-9, "{found:?}");
            assert_eq!(model.certify(&data).unwrap().certificate.dual, found.dual);
        }
    }
}

// Softmax is solved by another method, with a dual of its own.
#[test]
fn chains_of_length_one_are_softmax_with_an_elastic_net() {
    let (chains, classes) = of_one_position();
    for (lambda, sigma) in [(1.0, 0.01), (0.05, 0.05), (0.01, 0.003)] {
        let crf = fit(&chains, (lambda, sigma), Budget::relative(1e-8)).certificate;
        let softmax = Multiclass::new(MulticlassLoss::Softmax);
        let softmax = Task::new(softmax, Penalty::elastic_net(lambda, sigma));
        let softmax = softmax.fit(&classes, Plan::new(Budget::relative(1e-8))).unwrap();
        let difference = (crf.primal - softmax.certificate.primal).abs();
        assert!(difference < 3e-8 * crf.primal, "{crf:?} {:?}", softmax.certificate);
    }
}

#[test]
fn certificates_bracket_the_optimum_and_weights_vanish() {
    let data = sequences(33, true);
    let mut zeros = Vec::new();
    for sigma in [0.001, 0.02, 0.05] {
        let tight = fit(&data, (0.01, sigma), Budget::relative(1e-9));
        assert!(tight.certificate.relative_gap_bound() <= 1e-9);
        for passes in [1, 3, 8, 9, 11, 16] {
            let loose = fit(&data, (0.01, sigma), Budget::passes(passes)).certificate;
            assert!(loose.dual <= tight.certificate.primal + 1e-12);
            assert!(loose.primal >= tight.certificate.dual - 1e-12);
        }
        zeros.push(tight.weights.iter().filter(|w| **w == 0.0).count());
    }
    assert!(zeros[0] < zeros[1] && zeros[1] < zeros[2], "{zeros:?}");
    // At the largest slope of the loss at zero, nothing is left.
    let none = fit(&data, (0.01, 10.0), Budget::relative(1e-9));
    assert!(none.weights.iter().all(|w| *w == 0.0));
}

#[test]
fn runs_resume_to_the_same_bits_and_models_are_proved_at_other_strengths() {
    let data = sequences(34, false);
    let run = |threads, plan: Plan<'_, _>| {
        task(0.003, 0.01).fit(&data, Plan { threads, ..plan }).unwrap()
    };
    let whole = run(1, Plan::new(Budget::passes(14)));
    assert_eq!(run(3, Plan::new(Budget::passes(14))).model.weights, whole.model.weights);
    for cut in [3, 8, 9, 11] {
        let mut memory = InMemory::default();
        let plan = Plan::new(Budget::passes(cut));
        run(1, Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..plan });
        let resume = Some(Resume::Checkpoint(memory.last.unwrap()));
        let resumed = run(2, Plan { resume, ..Plan::new(Budget::passes(14)) });
        assert_eq!(resumed.model.weights, whole.model.weights, "{cut}");
    }
    let model = fit(&data, (0.01, 0.01), Budget::relative(1e-8));
    let reach = model.reach(&data).unwrap();
    assert!(reach.holds(0.01, Tolerance::Relative(1e-7)));
    let other = fit(&data, (0.0101, 0.01), Budget::relative(1e-8)).certificate;
    let at = reach.certificate(0.0101).unwrap();
    assert!(at.dual <= other.primal && at.primal >= other.dual);
}
