use super::{fit, of_one_position, sequences, task};
use dualgap::run::{Budget, InMemory, Tolerance};
use dualgap::structure::Multiclass;
use dualgap::task::{Keep, Plan, Resume, Task};
use dualgap::term::{MulticlassLoss, Penalty};

#[test]
fn chains_of_length_one_are_softmax() {
    let (chains, classes) = of_one_position();
    for lambda in [1.0, 0.05, 0.001] {
        let crf = fit(&chains, lambda, Budget::relative(1e-10)).certificate;
        let softmax = Task::new(Multiclass::new(MulticlassLoss::Softmax), Penalty::ridge(lambda));
        let softmax = softmax.fit(&classes, Plan::new(Budget::relative(1e-10))).unwrap();
        let difference = (crf.primal - softmax.certificate.primal).abs();
        assert!(difference < 3e-10 * crf.primal, "{crf:?} {:?}", softmax.certificate);
    }
}

#[test]
fn every_certificate_brackets_the_optimum_of_a_tighter_run() {
    let data = sequences(11, true);
    let tight = fit(&data, 0.01, Budget::relative(1e-11)).certificate;
    assert!(tight.relative_gap_bound() <= 1e-11);
    for passes in 1..12 {
        let model = fit(&data, 0.01, Budget::passes(passes));
        let loose = model.certificate;
        assert!(loose.dual <= tight.primal + 1e-12 && loose.primal >= tight.dual - 1e-12);
        assert!(model.certify(&data).unwrap().certificate.gap() <= loose.gap_bound());
    }
}

// The ascent does not stop short of the optimum, as stochastic steps would; where λ is small it leaves the end to others.
#[test]
fn ascent_reaches_the_optimum_alone_unless_lambda_is_small() {
    let data = sequences(14, false);
    for (lambda, alone) in [(1.0, true), (0.3, true), (1e-4, false)] {
        let report = task(lambda).fit(&data, Plan::new(Budget::relative(1e-5))).unwrap();
        assert!(report.certificate.relative_gap_bound() <= 1e-5);
        let tight = fit(&data, lambda, Budget::relative(1e-10)).certificate;
        assert!(report.certificate.primal <= tight.primal * (1.0 + 1e-5) + 1e-12);
        assert_eq!(report.counters["gradients"] == 0, alone, "{lambda}: {}", report.passes);
    }
}

// Residuals shrink at the same rate until the weights are as exact as numbers of 32 bits let them be, and then the
// quasi-Newton steps take over.
#[test]
fn a_gap_that_ascent_cannot_close_is_closed() {
    let data = sequences(15, false);
    let report = task(0.3).fit(&data, Plan::new(Budget::relative(1e-13))).unwrap();
    assert!(report.certificate.relative_gap_bound() <= 1e-12, "{:?}", report.certificate);
}

#[test]
fn threads_change_nothing_and_runs_resume_to_the_same_bits() {
    let data = sequences(12, false);
    let run =
        |threads, plan: Plan<'_, _>| task(0.003).fit(&data, Plan { threads, ..plan }).unwrap();
    let whole = run(1, Plan::new(Budget::passes(9)));
    assert_eq!(run(3, Plan::new(Budget::passes(9))).model.weights, whole.model.weights);
    for cut in 1..9 {
        let mut memory = InMemory::default();
        let plan = Plan::new(Budget::passes(cut));
        run(1, Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..plan });
        let resume = Some(Resume::Checkpoint(memory.last.unwrap()));
        let resumed = run(2, Plan { resume, ..Plan::new(Budget::passes(9)) });
        assert_eq!(resumed.model.weights, whole.model.weights, "{cut}");
        assert_eq!(resumed.work, whole.work);
    }
}

#[test]
fn a_warm_start_saves_work_and_a_model_is_proved_at_other_strengths() {
    let data = sequences(13, false);
    let cold = task(0.01).fit(&data, Plan::new(Budget::relative(1e-8))).unwrap();
    let warm = Plan { warm_start: Some(&cold.model), ..Plan::new(Budget::relative(1e-8)) };
    let warm = task(0.0101).fit(&data, warm).unwrap();
    assert!(warm.passes < cold.passes, "{} {}", warm.passes, cold.passes);
    let reach = cold.model.reach(&data).unwrap();
    assert!(reach.holds(0.01, Tolerance::Relative(1e-7)));
    let at = reach.certificate(0.0101).unwrap();
    assert!(at.dual <= warm.certificate.primal && at.primal >= warm.certificate.dual);
}
