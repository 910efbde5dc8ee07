//! Runs of exponentiated gradient are runs like any other.

use super::{settings, train};
use crate::common::{Kind, Small, calls, of};
use dualgap::Result;
use dualgap::data::Sequences;
use dualgap::dual::{self, Begin, Sampling};
use dualgap::methods::exponentiated_gradient::{GradientSettings, train_from};
use dualgap::run::{Budget, Checkpoint, CheckpointSink, Stop};
use dualgap::structure::{ChainBlocks, Hamming};
use dualgap::term::Regulariser;

/// One of each kind, with sample weights where the number is odd, and one with features of pairs.
fn problems() -> Vec<Small> {
    let of = |(k, kind): (usize, Kind)| {
        let small = Small::random(k as u64, kind, 10, 3, 4);
        let weights: Vec<f64> = (0..small.len()).map(|i| 0.5 + (i % 3) as f64).collect();
        Small { weights: (k % 2 == 1).then_some(weights), ..small }
    };
    let mut problems: Vec<Small> = Kind::all(3).into_iter().enumerate().map(of).collect();
    problems.push(problems[1].clone().with_pairs(7, 2));
    problems
}

#[test]
fn the_optimum_is_in_the_certified_interval_and_within_a_thousandth() {
    for small in problems() {
        let tight = of(&dual::Settings::default(), &small);
        let best = small.train(&tight, &Budget::relative(1e-8)).certificate;
        let budget = Budget { passes: Some(4000), ..Budget::relative(1e-3) };
        let report = train(&small, &settings(), Begin::Fresh, &budget, None).unwrap();
        let found = report.certificate;
        assert_eq!(report.stop, Stop::GapReached, "{:?}: {found:?}", small.kind);
        assert!(found.dual - found.rounding_error <= best.primal);
        assert!(found.primal + found.rounding_error >= best.dual);
        assert!(found.primal - best.dual <= 1.1e-3 * best.primal);

        // Both values again, from every output written out in 32 digits.
        let explicit = small.explicit();
        let primal = explicit.primal(&report.model.weights).float();
        let dual = explicit.dual(&small.distributions(&report.model.points)).float();
        assert!((found.primal - primal).abs() <= found.rounding_error + 1e-15);
        assert!((found.dual - dual).abs() <= found.rounding_error + 1e-15);

        let duals: Vec<f64> = report.history.iter().map(|p| p.iterate_dual).collect();
        assert!(duals.windows(2).all(|pair| pair[1] >= pair[0] - 1e-13), "{duals:?}");
    }
}

#[test]
fn the_first_iterate_is_the_uniform_distribution() {
    for small in problems() {
        let report = train(&small, &settings(), Begin::Fresh, &calls(0), None).unwrap();
        assert_eq!(report.work.oracle_calls, 0);
        for (i, alpha) in small.distributions(&report.model.points).iter().enumerate() {
            let even = 1.0 / small.outputs(i).count() as f64;
            assert!(alpha.iter().all(|alpha| (alpha.float() - even).abs() < 1e-14));
        }
    }
}

#[test]
fn every_trial_counts_as_a_call_and_limits_are_kept_to_the_call() {
    let small = Small::random(4, Kind::Chain(Hamming::Plain), 6, 3, 4).scaled(6.0);
    for limit in [1, 7, 50, 123] {
        let report = train(&small, &settings(), Begin::Fresh, &calls(limit), None).unwrap();
        let work = report.work;
        assert_eq!((work.oracle_calls, report.stop), (limit, Stop::OracleLimit));
        assert_eq!(work.oracle_calls - work.steps, report.counters["halvings"]);
        assert!(limit < 50 || report.counters["halvings"] > 0);
    }
}

/// Keeps every checkpoint, one for each call.
struct All(Vec<Checkpoint>);

impl CheckpointSink for All {
    fn interval(&self, _: u64) -> u64 {
        1
    }

    fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
        self.0.push(checkpoint);
        Ok(())
    }
}

#[test]
fn a_resumed_run_is_one_that_never_stopped() {
    for mut small in problems() {
        small = small.scaled(4.0); // so that some pauses are in the middle of a line search
        for sampling in [Sampling::Permuted, Sampling::Uniform] {
            let settings = GradientSettings { sampling, seed: 5, ..settings() };
            let budget = Budget::passes(12);
            let mut all = All(Vec::new());
            let whole = train(&small, &settings, Begin::Fresh, &budget, Some(&mut all)).unwrap();
            assert!(all.0.len() >= 100 && whole.counters["halvings"] > 0);
            for from in all.0.into_iter().step_by(17) {
                let more = train(&small, &settings, Begin::At(from), &budget, None).unwrap();
                assert_eq!(more.model.weights, whole.model.weights);
                let entries =
                    |report: &dualgap::run::Report<dualgap::run::Solution<dual::Mixture>>| {
                        let points = report.model.points.iter();
                        points.map(|at| at.iter().collect::<Vec<_>>()).collect::<Vec<_>>()
                    };
                assert_eq!(entries(&more), entries(&whole));
                assert_eq!((more.certificate, more.work), (whole.certificate, whole.work));
                assert_eq!(more.counters, whole.counters);
            }
        }
    }
}

#[test]
fn a_state_of_another_problem_is_refused() {
    let [small, other] = [4, 5].map(|n| Small::random(2, Kind::Chain(Hamming::Plain), n, 3, 3));
    let mut all = All(Vec::new());
    train(&small, &settings(), Begin::Fresh, &Budget::passes(3), Some(&mut all)).unwrap();
    let last = all.0.pop().unwrap();
    let resume = |small: &Small, settings: &GradientSettings, from: Checkpoint| {
        train(small, settings, Begin::At(from), &Budget::passes(5), None).map(drop)
    };
    resume(&small, &settings(), last.clone()).unwrap();
    assert!(resume(&other, &settings(), last.clone()).is_err());
    let cyclic = GradientSettings { sampling: Sampling::Cyclic, ..settings() };
    assert!(resume(&small, &cyclic, last.clone()).is_err());
    for cut in (0..last.solver.len()).step_by(7) {
        let bytes = last.solver[..cut].to_vec();
        assert!(resume(&small, &settings(), Checkpoint { solver: bytes, ..last.clone() }).is_err());
        // Other bytes may be refused or not; what is proved then is true, so that it is enough that nothing breaks.
        let mut bytes = last.solver.clone();
        bytes[cut] ^= 0x55;
        drop(resume(&small, &settings(), Checkpoint { solver: bytes, ..last.clone() }));
    }
}

#[test]
fn what_the_method_does_not_have_is_refused_in_words() {
    let small = Small::random(1, Kind::Chain(Hamming::Plain), 4, 2, 3);
    let refused = |small: &Small, settings: &GradientSettings, begin, named: &str| {
        let error = train(small, settings, begin, &Budget::passes(1), None).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    };
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(&small, &GradientSettings { step, ..settings() }, Begin::Fresh, "first step");
    }
    for sampling in [Sampling::Gap, Sampling::Importance] {
        refused(
            &small,
            &GradientSettings { sampling, ..settings() },
            Begin::Fresh,
            "permuted, uniform or cyclic",
        );
    }
    let points = small.train(&small.settings(), &Budget::passes(1)).model.points;
    refused(&small, &settings(), Begin::Points(points), "warm start");
    refused(&Small { lambda: 0.0, ..small.clone() }, &settings(), Begin::Fresh, "lambda");
    let weights = Some(vec![1.0; 3]);
    refused(&Small { weights, ..small.clone() }, &settings(), Begin::Fresh, "sample weights");

    let data: Sequences = small.sequences();
    let blocks = ChainBlocks::new(&data, Hamming::Plain).unwrap();
    for regulariser in [
        Regulariser { l1: 0.1, ..Regulariser::PLAIN },
        Regulariser { nonnegative: true, ..Regulariser::PLAIN },
        Regulariser { q_norm: true, ..Regulariser::PLAIN },
    ] {
        let (settings, budget) = (settings(), Budget::passes(1));
        let run = train_from(
            &blocks,
            0.1,
            regulariser,
            None,
            &settings,
            Begin::Fresh,
            &budget,
            &mut (),
            None,
        );
        assert!(run.unwrap_err().to_string().contains("squared norm"));
    }
}

#[test]
fn an_example_without_weight_changes_nothing() {
    let small = Small::random(6, Kind::Chain(Hamming::Normalized), 5, 3, 3);
    let weighted = Small { weights: Some(vec![1.0, 0.0, 1.0, 1.0, 0.0]), ..small.clone() };
    let budget = Budget { passes: Some(4000), ..Budget::relative(1e-3) };
    let run = |small: &Small| train(small, &settings(), Begin::Fresh, &budget, None).unwrap();
    let (with, without) = (run(&weighted).certificate, run(&small.select(&[0, 2, 3])).certificate);
    assert!(with.dual <= without.primal + 1e-12 && without.dual <= with.primal + 1e-12);
    assert!(with.relative_gap() <= 1e-3 && without.relative_gap() <= 1e-3);
}
