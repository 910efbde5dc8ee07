//! Runs over products are runs like any other: budgets, observers, checkpoints, and what is refused.

use crate::common::calls;
use crate::domains::quadratics::Quadratic;
use dualgap::dual::{Algorithm, Average, Begin, Sampling, Step};
use dualgap::methods::product::{
    FrankWolfe, Product, ProductSettings, Simplex, Target, minimise, minimise_from,
};
use dualgap::run::{Budget, Checkpoint, InMemory, JsonLines, Stop};

fn problem() -> Product<Quadratic, Simplex> {
    Quadratic::random(5, 12, 6).over(&[3; 4])
}

fn ways() -> Vec<ProductSettings> {
    let mut ways = Vec::new();
    for (method, step) in [
        (Algorithm::Bcfw, Step::LineSearch),
        (Algorithm::Bcfw, Step::Predefined),
        (Algorithm::Fw, Step::LineSearch),
    ] {
        for sampling in [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic, Sampling::Gap] {
            for average in [Average::None, Average::Weighted, Average::Suffix] {
                let settings = ProductSettings {
                    method,
                    step,
                    sampling,
                    average,
                    ..ProductSettings::default()
                };
                ways.push(ProductSettings { seed: 3, ..settings });
            }
        }
    }
    let target = Target::Proximal;
    ways.push(ProductSettings {
        target,
        sampling: Sampling::Uniform,
        seed: 3,
        ..ProductSettings::default()
    });
    ways
}

#[test]
fn a_resumed_run_is_one_that_never_stopped() {
    let problem = problem();
    for settings in ways() {
        let mut memory = InMemory::default();
        let sink = Some(&mut memory as _);
        let first = Budget { oracle_calls: Some(37), ..Budget::passes(1000) };
        minimise_from(&problem, &settings, Begin::Fresh, &first, &mut (), sink).unwrap();
        let begin = Begin::At(memory.last.unwrap());
        let budget = Budget::passes(60);
        let more = minimise_from(&problem, &settings, begin, &budget, &mut (), None).unwrap();
        let whole = minimise(&problem, &settings, &budget, &mut ()).unwrap();
        assert_eq!(more.model, whole.model, "{settings:?}");
        assert_eq!(more.certificate, whole.certificate, "{settings:?}");
        assert_eq!((more.work, more.stop), (whole.work, whole.stop));
    }
}

#[test]
fn a_state_of_another_problem_is_refused() {
    let problem = problem();
    let settings = ProductSettings::default();
    let mut memory = InMemory::default();
    let sink = Some(&mut memory as _);
    minimise_from(&problem, &settings, Begin::Fresh, &Budget::passes(5), &mut (), sink).unwrap();
    let checkpoint = memory.last.unwrap();
    let resume =
        |problem: &Product<Quadratic, Simplex>, settings: &ProductSettings, from: Checkpoint| {
            minimise_from(problem, settings, Begin::At(from), &Budget::passes(9), &mut (), None)
        };
    assert!(resume(&problem, &settings, checkpoint.clone()).is_ok());
    let other = Quadratic::random(5, 12, 6).over(&[3, 3, 6]);
    assert!(resume(&other, &settings, checkpoint.clone()).is_err());
    let scaled = Product::new(Quadratic::random(5, 12, 6), vec![Simplex::new(3, 2.0).unwrap(); 4]);
    assert!(resume(&scaled.unwrap(), &settings, checkpoint.clone()).is_err(), "outside");
    for settings in [
        ProductSettings { sampling: Sampling::Uniform, ..settings.clone() },
        ProductSettings { average: Average::Weighted, ..settings.clone() },
    ] {
        assert!(resume(&problem, &settings, checkpoint.clone()).is_err());
    }
    // Forged bytes: an error or another valid state, never a false certificate.
    let optimum = problem.objective().minimum(&[3; 4]);
    for at in 0..checkpoint.solver.len() {
        let mut forged = checkpoint.clone();
        forged.solver[at] ^= 0x40;
        if let Ok(report) = resume(&problem, &settings, forged) {
            let certificate = report.certificate;
            assert!(certificate.dual <= optimum + 1e-8 && certificate.primal >= optimum - 1e-6);
        }
    }
}

#[test]
fn limits_traces_and_interrupts_are_those_of_every_run() {
    let problem = problem();
    let report =
        minimise(&problem, &ProductSettings::default(), &Budget::passes(7), &mut ()).unwrap();
    assert_eq!(
        (report.stop, report.work.oracle_calls, report.work.steps),
        (Stop::PassLimit, 28, 28)
    );
    let batch = ProductSettings { method: Algorithm::Fw, ..ProductSettings::default() };
    let report = minimise(&problem, &batch, &calls(30), &mut ()).unwrap();
    // Seven steps of four calls, and no eighth fits into thirty.
    assert_eq!(
        (report.stop, report.work.oracle_calls, report.work.steps),
        (Stop::OracleLimit, 28, 7)
    );
    let budget = Budget::passes(7);
    budget.interrupt.raise();
    let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ()).unwrap();
    assert_eq!((report.stop, report.work.steps), (Stop::Interrupted, 0));
    assert!(report.certificate.certified);

    let mut out = Vec::new();
    let mut trace = JsonLines::new(&mut out, "trace");
    let report =
        minimise(&problem, &ProductSettings::default(), &Budget::passes(20), &mut trace).unwrap();
    let lines = String::from_utf8(out).unwrap();
    assert_eq!(lines.lines().count(), report.history.len());
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(last["dual"], report.certificate.dual);
}

// The model is the best point of the run and the lower bound the best one, also where the iterates go up and down.
#[test]
fn the_best_pair_is_returned() {
    let problem = problem();
    for settings in ways() {
        let budget = Budget { certify_share: 1.0, ..Budget::passes(40) };
        let report = minimise(&problem, &settings, &budget, &mut ()).unwrap();
        let primals = report.history.iter().map(|progress| progress.iterate_primal);
        let duals = report.history.iter().map(|progress| progress.iterate_dual);
        assert_eq!(report.certificate.primal, primals.fold(f64::INFINITY, f64::min));
        assert_eq!(report.certificate.dual, duals.fold(f64::NEG_INFINITY, f64::max));
        let again = problem.certificate(report.model.coordinates().to_vec()).unwrap();
        assert_eq!(again.primal, report.certificate.primal);
    }
}

#[test]
fn a_run_begins_where_it_is_told() {
    let problem = problem();
    let blocks = vec![vec![0.2, 0.3, 0.5]; 4];
    let begin = Begin::Points(blocks.clone());
    let settings = ProductSettings::default();
    let report = minimise_from(&problem, &settings, begin, &calls(0), &mut (), None).unwrap();
    assert_eq!(report.model.coordinates(), blocks.concat());
    assert_eq!((report.model.blocks(), report.model.block(2)), (4, &blocks[2][..]));
    for wrong in [vec![vec![1.0, 0.0, 0.0]; 3], vec![vec![1.0, 1.0, 0.0]; 4]] {
        let begin = Begin::Points(wrong);
        assert!(minimise_from(&problem, &settings, begin, &calls(0), &mut (), None).is_err());
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let problem = problem();
    for settings in [
        ProductSettings { sampling: Sampling::Importance, ..ProductSettings::default() },
        ProductSettings { average: Average::Random, ..ProductSettings::default() },
        ProductSettings { delta: -1.0, ..ProductSettings::default() },
        ProductSettings { delta: f64::NAN, ..ProductSettings::default() },
        // These quadratics do not tell their curvature constants.
        ProductSettings { delta: 0.5, ..ProductSettings::default() },
    ] {
        assert!(FrankWolfe::new(&problem, &settings).is_err(), "{settings:?}");
    }
    let mut solver = FrankWolfe::new(&problem, &ProductSettings::default()).unwrap();
    assert!(solver.step_on(3..5, None).is_err() && solver.step_on(2..2, None).is_err());
    assert!(Product::new(Quadratic::random(1, 3, 3), Vec::<Simplex>::new()).is_err());
}
