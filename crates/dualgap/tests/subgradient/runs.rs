//! Runs like any other: checkpoints, threads, warm starts, and what is refused.

use crate::common::{Kind, Small, distance, with_blocks};
use crate::subgradient::{AVERAGES, METHODS, settings};
use dualgap::dual::{self, Begin, Problem, Sampling, Witnessed};
use dualgap::methods::subgradient::{
    Subgradient, SubgradientAverage, SubgradientMethod, SubgradientSettings, train, train_from,
};
use dualgap::run::{Budget, Checkpoint, InMemory};
use dualgap::structure::{Hamming, MulticlassBlocks};
use dualgap::term::{Costs, Free, L2, Regulariser};

const PLAIN: Regulariser = Regulariser::PLAIN;

fn chains() -> Small {
    Small { lambda: 0.2, ..Small::random(4, Kind::Chain(Hamming::Normalized), 7, 3, 3) }
}

fn ways() -> Vec<SubgradientSettings> {
    let mut ways = Vec::new();
    for method in METHODS {
        for average in AVERAGES {
            ways.push(settings(method, average));
        }
    }
    ways.push(SubgradientSettings {
        sampling: Sampling::Uniform,
        ..settings(SubgradientMethod::Stochastic, SubgradientAverage::None)
    });
    ways
}

/// Runs for a number of oracle calls, stores the state, and goes on to `budget`; certificates are frequent.
fn in_two_parts<B: Witnessed>(
    blocks: &B,
    lambda: f64,
    settings: &SubgradientSettings,
    calls: u64,
    budget: &Budget,
) -> (Vec<f64>, dualgap::run::Certificate, dualgap::run::Work) {
    let mut memory = InMemory::default();
    let first = Budget { oracle_calls: Some(calls), ..budget.clone() };
    let sink = Some(&mut memory as _);
    train_from(blocks, lambda, PLAIN, None, settings, Begin::Fresh, &first, &mut (), sink).unwrap();
    let begin = Begin::At(memory.last.unwrap());
    let report =
        train_from(blocks, lambda, PLAIN, None, settings, begin, budget, &mut (), None).unwrap();
    (report.model.weights, report.certificate, report.work)
}

#[test]
fn a_resumed_run_is_one_that_never_stopped() {
    let small = chains();
    with_blocks!(small, |blocks| for settings in ways() {
        let budget = Budget { certify_share: 1.0, relative: Some(0.0), ..Budget::passes(30) };
        // In the middle of a pass, and at its end.
        for calls in [60, 70] {
            let more = in_two_parts(&blocks, small.lambda, &settings, calls, &budget);
            let whole = train(&blocks, small.lambda, PLAIN, None, &settings, &budget, &mut ());
            let whole = whole.unwrap();
            let whole = (whole.model.weights, whole.certificate, whole.work);
            assert_eq!(more, whole, "{settings:?}");
        }
    });
}

#[test]
fn a_run_that_reached_its_tolerance_resumes_where_it_ended() {
    let small = chains();
    with_blocks!(small, |blocks| {
        let (settings, begin) =
            (settings(SubgradientMethod::Stochastic, SubgradientAverage::Weighted), Begin::Fresh);
        let (budget, mut memory) = (Budget::relative(0.05), InMemory::default());
        let sink = Some(&mut memory as _);
        let lambda = small.lambda;
        let first =
            train_from(&blocks, lambda, PLAIN, None, &settings, begin, &budget, &mut (), sink);
        let begin = Begin::At(memory.last.unwrap());
        let again =
            train_from(&blocks, lambda, PLAIN, None, &settings, begin, &budget, &mut (), None);
        let (first, again) = (first.unwrap(), again.unwrap());
        assert_eq!((first.certificate, first.work), (again.certificate, again.work));
        assert_eq!(first.model.weights, again.model.weights);
    });
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let small = chains();
    with_blocks!(small, |blocks| for method in METHODS {
        let run = |threads| {
            let settings =
                SubgradientSettings { threads, ..settings(method, SubgradientAverage::Weighted) };
            let budget = Budget::passes(20);
            train(&blocks, small.lambda, PLAIN, None, &settings, &budget, &mut ()).unwrap()
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.model.weights, three.model.weights);
        assert_eq!(one.certificate, three.certificate);
    });
}

#[test]
fn a_forged_state_is_refused_or_proves_what_is_true() {
    let small = chains();
    with_blocks!(small, |blocks| {
        let tight = dual::Settings { lambda: small.lambda, ..dual::Settings::default() };
        let optimum =
            dual::train(&blocks, &tight, &Budget::relative(1e-9), &mut ()).unwrap().certificate;
        let (settings, begin) =
            (settings(SubgradientMethod::Stochastic, SubgradientAverage::Doubling), Begin::Fresh);
        let (mut memory, budget) = (InMemory::default(), Budget::passes(3));
        let sink = Some(&mut memory as _);
        let lambda = small.lambda;
        train_from(&blocks, lambda, PLAIN, None, &settings, begin, &budget, &mut (), sink).unwrap();
        let checkpoint = memory.last.unwrap();
        let resume = |settings: &SubgradientSettings, from: Checkpoint| {
            let (begin, budget) = (Begin::At(from), Budget::passes(4));
            train_from(&blocks, lambda, PLAIN, None, settings, begin, &budget, &mut (), None)
        };
        assert!(resume(&settings, checkpoint.clone()).is_ok());
        for other in [
            SubgradientSettings { average: SubgradientAverage::Uniform, ..settings },
            SubgradientSettings { method: SubgradientMethod::Batch, ..settings },
            SubgradientSettings { sampling: Sampling::Cyclic, ..settings },
        ] {
            assert!(resume(&other, checkpoint.clone()).is_err(), "{other:?}");
        }
        let mut refused = 0;
        for at in (0..checkpoint.solver.len()).step_by(7) {
            let mut forged = checkpoint.clone();
            forged.solver[at] ^= 0x40;
            match resume(&settings, forged) {
                Ok(report) => {
                    let c = report.certificate;
                    assert!(c.dual - c.rounding_error <= optimum.primal, "{at}: {c:?}");
                    assert!(c.primal + c.rounding_error >= optimum.dual, "{at}: {c:?}");
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0);
    });
}

// The weights begin at those of the points, and the dual value never falls below theirs.
#[test]
fn a_warm_start_begins_at_the_weights_of_its_points() {
    let small = chains();
    with_blocks!(small, |blocks| {
        let tight = dual::Settings { lambda: small.lambda, ..dual::Settings::default() };
        let tight = dual::train(&blocks, &tight, &Budget::relative(1e-6), &mut ()).unwrap();
        let problem = Problem::new(&blocks, L2, small.lambda, None).unwrap();
        let image = problem.dual(&tight.model.points).unwrap().v;
        for method in METHODS {
            let settings = settings(method, SubgradientAverage::Weighted);
            let points = tight.model.points.clone();
            let warm = Subgradient::at(&blocks, small.lambda, None, &settings, points.clone());
            assert!(distance(&image, &warm.unwrap().iterate()) < 1e-12);
            let (begin, budget) = (Begin::Points(points), Budget::passes(2));
            let lambda = small.lambda;
            let report =
                train_from(&blocks, lambda, PLAIN, None, &settings, begin, &budget, &mut (), None);
            let (warm, tight) = (report.unwrap().certificate, tight.certificate);
            assert!(warm.dual >= tight.dual - warm.rounding_error - tight.rounding_error);
        }
    });
}

#[test]
fn what_the_method_cannot_do_is_refused() {
    let small = Small::random(3, Kind::Multiclass(Costs::ZeroOne), 5, 3, 1);
    let data = small.examples();
    let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    let usual = settings(SubgradientMethod::Stochastic, SubgradientAverage::Weighted);
    let refusal = |lambda, regulariser, settings: &SubgradientSettings| {
        let budget = Budget::passes(1);
        let run = train(&blocks, lambda, regulariser, None, settings, &budget, &mut ());
        run.map(|report| report.stop).unwrap_err().to_string()
    };
    for fraction in [0.0, 1.5, -0.5, f64::NAN] {
        let settings =
            SubgradientSettings { average: SubgradientAverage::Suffix { fraction }, ..usual };
        assert!(refusal(0.1, PLAIN, &settings).contains("suffix"));
    }
    for sampling in [Sampling::Importance, Sampling::Gap] {
        let settings = SubgradientSettings { sampling, ..usual };
        assert!(refusal(0.1, PLAIN, &settings).contains("equally often"));
    }
    for regulariser in [
        Regulariser { l1: 0.1, ..PLAIN },
        Regulariser { nonnegative: true, ..PLAIN },
        Regulariser { q_norm: true, ..PLAIN },
        Regulariser { free: Some(Free { column: 0, bound: 1.0 }), ..PLAIN },
    ] {
        assert!(refusal(0.1, regulariser, &usual).contains("λ/2‖w‖²"), "{regulariser:?}");
    }
    for lambda in [0.0, -1.0, f64::NAN] {
        assert!(refusal(lambda, PLAIN, &usual).contains("lambda"));
    }
}
