//! Linear models from checkpoints are those of runs that were never interrupted, and another λ is a place to
//! begin at.

use crate::common::fits;
use crate::linear::case::{Case, LOSSES, REGULARISERS, choices};
use dualgap::dual::{Algorithm, Average, Sampling, Settings};
use dualgap::run::{Budget, Report};
use dualgap::structure::{Choice, Linear};
use std::path::Path;

type Model = dualgap::task::Model<Linear>;

pub struct Fit<'a> {
    pub case: &'a Case,
    pub choice: Choice,
    pub settings: &'a Settings,
}

impl Fit<'_> {
    pub fn run(&self, passes: u64, keep: Option<&Path>, resume: Option<&Path>) -> Report<Model> {
        let budget = Budget::passes(passes);
        let fit = fits::linear(self.case.loss, self.choice, self.settings, &budget);
        fit.kept(keep, 0.7).resumed(resume).run(&self.case.examples()).unwrap()
    }
}

/// Everything but the seconds, as bits.
pub fn bits(report: &Report<Model>) -> Vec<u64> {
    let c = report.certificate;
    let history =
        report.history.iter().flat_map(|at| [at.iterate_primal, at.iterate_dual, at.passes]);
    let witness = &report.model.witness.as_ref().unwrap().weights;
    [c.primal, c.dual, c.rounding_error, report.passes]
        .into_iter()
        .chain(report.model.weights.iter().copied())
        .chain(witness.iter().copied())
        .chain(history)
        .map(f64::to_bits)
        .collect()
}

#[test]
fn a_resumed_run_is_bit_for_bit_the_run_that_went_through() {
    let folder = tempfile::tempdir().unwrap();
    let mut stopped_early = 0; // there is no more to do for them
    let averages = [Average::None, Average::Weighted, Average::Suffix];
    let samplings = [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic];
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (j, choice) in choices(loss).into_iter().enumerate() {
            let regulariser = REGULARISERS[(k + j) % 4];
            let weights = (j % 2 == 1).then(|| (1..=9).map(f64::from).collect());
            let case = Case { regulariser, weights, ..Case::random(k as u64, loss, 9, 3) };
            let settings = Settings {
                average: averages[(k + j) % 3],
                sampling: samplings[j % 3],
                batch: 1 + 3 * (k % 2),
                method: if j == 3 { Algorithm::Fw } else { Algorithm::Bcfw },
                seed: 5,
                ..case.settings()
            };
            let fit = Fit { case: &case, choice, settings: &settings };
            let file = folder.path().join(format!("{k}-{j}"));
            let whole = fit.run(12, None, None);
            let first = fit.run(5, Some(&file), None);
            stopped_early += usize::from(first.passes < 5.0);
            let resumed = fit.run(12, Some(&file), Some(&file));
            assert_eq!(bits(&resumed), bits(&whole), "{loss:?} {choice:?}");
        }
    }
    assert!(stopped_early < 10, "{stopped_early}");
}

#[test]
fn a_checkpoint_of_another_problem_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let case = Case::random(3, LOSSES[1], 9, 3);
    let (settings, budget) = (case.settings(), Budget::passes(4));
    Fit { case: &case, choice: Choice::I, settings: &settings }.run(2, Some(&file), None);
    let resume = |case: &Case, settings: &Settings, choice| {
        let fit = fits::linear(case.loss, choice, settings, &budget).resumed(Some(&file));
        fit.run(&case.examples()).is_ok()
    };
    assert!(resume(&case, &settings, Choice::I));
    assert!(!resume(&Case { loss: LOSSES[0], ..case.clone() }, &settings, Choice::I), "loss");
    assert!(!resume(&Case { loss: LOSSES[2], ..case.clone() }, &settings, Choice::I), "width");
    let other = Settings { lambda: 0.2, ..settings.clone() };
    assert!(!resume(&case, &other, Choice::I), "lambda");
    let other = Settings { regulariser: REGULARISERS[1], ..settings.clone() };
    assert!(!resume(&case, &other, Choice::I), "l1");
    let mut other = case.clone();
    other.rows[0][0] += 1.0;
    assert!(!resume(&other, &settings, Choice::I), "data");
}

#[test]
fn a_warm_start_begins_at_the_dual_point_of_another_lambda() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            let case = Case { regulariser, ..Case::random(20 + k as u64, loss, 9, 3) };
            let old = case.fit(&case.settings(), &Budget::passes(200)).model;
            let near = Settings { lambda: 0.11, ..case.settings() };
            let run = |settings: &Settings, warm_start, passes| {
                let budget = Budget::passes(passes);
                let fit = fits::linear(loss, Choice::I, settings, &budget).warm(warm_start);
                fit.run(&case.examples()).unwrap()
            };
            // Where it begins is where the old run ended.
            let same = run(&case.settings(), Some(&old), 0).certificate;
            let error = same.rounding_error + old.certificate.rounding_error;
            assert!((same.dual - old.certificate.dual).abs() <= error, "{loss:?}");
            let (warm, cold) = (run(&near, Some(&old), 0), run(&near, None, 0));
            let gap = |report: &Report<Model>| report.certificate.gap();
            assert!(gap(&warm) < gap(&cold), "{loss:?}: closer from the start");
            let (warm, cold) = (run(&near, Some(&old), 50), run(&near, None, 50));
            let (a, b) = (warm.certificate, cold.certificate);
            let error = a.rounding_error + b.rounding_error;
            assert!(a.dual <= b.primal + error && b.dual <= a.primal + error, "{loss:?}");
            warm.model.certify(&case.examples()).unwrap();
        }
    }
}
