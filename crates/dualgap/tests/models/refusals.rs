//! What does not go together is refused before any data are read, and by a run with the same words.

use dualgap::ball::{BallMethod, BallSettings, TheoremConstants};
use dualgap::data::{Examples, Ratings, Sequences};
use dualgap::dual::Average;
use dualgap::run::Budget;
use dualgap::structure::{
    Beam, Centring, Chain, Choice, Completion, Hamming, Kernelised, Linear, LinkLoss, Matching,
    MultiLabel, Multiclass, Rescaling, Structure,
};
use dualgap::task::{DualMethod, Method, PenaltySpec, Plan, Strength, Task, TaskSpec};
use dualgap::term::{Ball, Free, KernelFunction, MulticlassLoss, Penalty, ScalarLoss};

/// Asks for the combination without data and with them. Both answers must be one, and have these words.
fn refused<S: Structure>(
    structure: S,
    penalty: Penalty,
    method: impl Into<Method>,
    data: &S::Data,
    words: &str,
) {
    let (task, method) = (Task::new(structure, penalty), method.into());
    let before = TaskSpec::from(task.clone()).allows(&method).unwrap_err().to_string();
    assert!(before.contains(words), "{before}");
    let plan = Plan { method, ..Plan::new(Budget::passes(1)) };
    assert_eq!(task.fit(data, plan).unwrap_err().to_string(), before);
}

fn option(choice: Choice) -> DualMethod {
    DualMethod { option: Some(choice), ..DualMethod::default() }
}

fn in_ball(method: BallMethod, constants: TheoremConstants) -> BallSettings {
    BallSettings { method, constants, ..BallSettings::default() }
}

#[test]
fn losses_and_balls_that_do_not_go_together_are_refused_at_once() {
    let rows = [vec![1.0, 0.5], vec![-1.0, 0.5], vec![0.5, -1.0], vec![0.3, 1.0]];
    let two = Examples::from_dense(&rows, &["a", "b", "a", "b"]).unwrap();
    let ball = Penalty::l1_ball(1.0, 0.1);
    let hinge = Linear::new(ScalarLoss::Hinge);
    refused(hinge, ball, Method::Auto, &two, "a ball needs a smooth loss");
    refused(hinge, Penalty::trace_ball(1.0, 0.1), Method::Auto, &two, "rank one");
    let hinge = Multiclass::default();
    refused(hinge, ball, Method::Auto, &two, "smooth-hinge or softmax");
    let labels = MultiLabel::new(ScalarLoss::Logistic);
    refused(labels, Penalty::ridge(0.1), Method::Auto, &two, "every label is a problem of its own");
    let ratings = Ratings::from_triples(&[("a", "x", 1.0), ("b", "x", 2.0)]).unwrap();
    let absolute = Completion::new(ScalarLoss::Absolute, Centring::Mean);
    let trace = Penalty::trace_ball(1.0, 0.1);
    refused(absolute.clone(), trace, Method::Auto, &ratings, "smooth loss");
    refused(absolute, ball, Method::Auto, &ratings, "in the trace ball");
}

#[test]
fn settings_that_a_solver_or_a_ball_has_not_are_refused_at_once() {
    let rows = [vec![1.0, 0.5], vec![-1.0, 0.5], vec![0.5, -1.0], vec![0.3, 1.0]];
    let two = Examples::from_dense(&rows, &["a", "b", "a", "b"]).unwrap();
    let logistic = Linear::new(ScalarLoss::Logistic);
    let ball = Penalty::l1_ball(1.0, 0.1);
    let none = TheoremConstants::default();
    let some = TheoremConstants { k: Some(2), ..none };
    refused(logistic, ball, DualMethod::default(), &two, "for penalties");
    refused(logistic, ball, in_ball(BallMethod::Pdbfw, none), &two, "has no delta");
    refused(logistic, ball, in_ball(BallMethod::ProjectedGradient, some), &two, "leave it out");
    refused(logistic, ball, in_ball(BallMethod::BlockFrankWolfe, some), &two, "s and eta");
    refused(
        logistic,
        ball,
        in_ball(BallMethod::StochasticFrankWolfe, none),
        &two,
        "the trace ball",
    );
    let softmax = Multiclass::new(MulticlassLoss::Softmax);
    let trace = Penalty::trace_ball(1.0, 0.1);
    refused(softmax, trace, in_ball(BallMethod::AwaySteps, none), &two, "the l1 ball");
    let free = Penalty::ridge(0.1).with_free(Free { column: 1, bound: 10.0 }).unwrap();
    let averaged = DualMethod { average: Average::Weighted, ..DualMethod::default() };
    refused(logistic, free, averaged, &two, "without averages");
}

#[test]
fn penalties_that_a_method_has_not_are_refused_at_once() {
    let rows = [vec![1.0, 0.5], vec![-1.0, 0.5], vec![0.5, -1.0], vec![0.3, 1.0]];
    let two = Examples::from_dense(&rows, &["a", "b", "a", "b"]).unwrap();
    let logistic = Linear::new(ScalarLoss::Logistic);
    let named = |name: &str| Method::named(name, false).unwrap();
    let lasso = Penalty::lasso(0.1);
    let net = Penalty::elastic_net(0.1, 0.1);
    for penalty in [lasso, net] {
        refused(logistic, penalty, named("newton"), &two, "for the penalty λ/2‖w‖²");
        refused(logistic, penalty, named("ssg"), &two, "without an l1 norm");
        refused(logistic, penalty, named("subgradient"), &two, "without an l1 norm");
        refused(logistic, penalty, named("cutting-plane"), &two, "without an l1 norm");
        refused(logistic, penalty, named("n-slack"), &two, "without an l1 norm");
        refused(logistic, penalty, named("eg"), &two, "leave out the l1 norm");
    }
    refused(logistic, Penalty::ridge(0.1), named("coordinates"), &two, "give a positive σ");
    refused(logistic, lasso, named("fw"), &two, "no batch steps");
}

#[test]
fn options_of_prox_sdca_are_refused_at_once_where_there_are_none() {
    let names = ["a", "b"].map(String::from);
    let words = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    let data = Sequences::from_dense(&[words], &[vec![0, 1]], &names).unwrap();
    let ridge = Penalty::ridge(0.1);
    let chain = Chain::new(Hamming::Plain);
    refused(Chain::crf(), ridge, option(Choice::II), &data, "for the hinge");
    refused(chain, ridge, option(Choice::I), &data, "options II, III and IV");
    refused(chain, Penalty::lasso(0.1), option(Choice::II), &data, "need a lambda");
    let slack = chain.rescaled(Rescaling::Slack);
    refused(slack, ridge, option(Choice::II), &data, "margin rescaling");
    let beam = Some(Beam { width: 2, bound: true });
    refused(slack.searched(beam), ridge, Method::Auto, &data, "not searched by a beam");
    refused(Chain::crf().searched(beam), ridge, Method::Auto, &data, "over all labelings");
    let under_kernel = Kernelised::new(chain, KernelFunction::Linear);
    refused(under_kernel, ridge, option(Choice::II), &data, "for linear models under a kernel");
    let matching = TaskSpec::from(Task::new(Matching::new(LinkLoss::default()), ridge));
    let error = matching.allows(&option(Choice::II).into()).unwrap_err();
    assert!(error.to_string().contains("no options of Prox-SDCA"), "{error}");
    let two = Examples::from_dense(&[vec![1.0], vec![-1.0]], &["a", "b"]).unwrap();
    let slack = Multiclass::default().rescaled(Rescaling::Slack);
    refused(slack, ridge, option(Choice::I), &two, "margin rescaling");
}

#[test]
fn strengths_that_no_data_give_a_number_are_refused_at_once() {
    let of = |lambda, l1| {
        let penalty = PenaltySpec::Ridge { lambda, l1, nonnegative: false };
        TaskSpec::new(Linear::new(ScalarLoss::Hinge), penalty)
    };
    let one = Strength::PerExample(1.0);
    for (lambda, l1) in [
        (one, Strength::NONE),
        (Strength::NONE, Strength::FractionOfMax(0.1)),
        (Strength::TimesL1(0.1), Strength::FractionOfMax(0.1)),
    ] {
        of(lambda, l1).allows(&Method::Auto).unwrap();
    }
    for lambda in [Strength::NONE, Strength::TimesL1(0.1)] {
        of(lambda, Strength::NONE).allows(&Method::Auto).unwrap_err();
    }
    let free = |penalty| {
        let loss = Linear::new(ScalarLoss::Logistic);
        TaskSpec { free_intercept: true, ..TaskSpec::new(loss, penalty) }
    };
    free(of(one, Strength::NONE).penalty).allows(&Method::Auto).unwrap();
    // A radius may be chosen later.
    let ball = PenaltySpec::Ball { ball: Ball::L1 { radius: 0.0 }, mu: one };
    let counted = TaskSpec { free_intercept: false, ..free(ball) };
    counted.allows(&Method::Auto).unwrap();
    let error = free(ball).allows(&Method::Auto).unwrap_err();
    assert!(error.to_string().contains("does not go with a ball"), "{error}");
}
