//! Observers, checkpoints, warm starts and tolerances of runs on scaled columns.

use crate::common::fits;
use crate::linear::case::{Case, LOSSES};
use crate::linear::scaling::{SCALINGS, fit, scaled, uneven};
use dualgap::Result;
use dualgap::data::Scaling;
use dualgap::run::{Budget, Observer, Progress, Report, Stop};
use dualgap::structure::{Choice, Linear};
use dualgap::term::{Regulariser, ScalarLoss};
use std::path::Path;

type Model = dualgap::task::Model<Linear>;

/// Where a run is kept, and what it begins with.
#[derive(Default)]
struct Kept<'a> {
    keep: Option<&'a Path>,
    resume: Option<&'a Path>,
    warm_start: Option<&'a Model>,
}

fn try_fit(case: &Case, scale: Scaling, budget: &Budget, kept: &Kept<'_>) -> Result<Report<Model>> {
    let fit = fits::linear(case.loss, Choice::I, &case.settings(), budget).scaled(scale);
    let fit = fit.kept(kept.keep, 1.0).resumed(kept.resume).warm(kept.warm_start);
    fit.run(&case.examples())
}

/// Everything that an observer was told.
#[derive(Default)]
struct Notes(Vec<(Option<f64>, Vec<f64>)>);

impl Observer for Notes {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        self.0.push((progress.test_error, weights.to_vec()));
        Ok(())
    }
}

#[test]
fn observers_are_told_of_weights_for_the_data_as_they_are() {
    let regulariser = Regulariser { l1: 0.01, ..Regulariser::default() };
    for (loss, lambda) in
        [(ScalarLoss::Hinge, 0.1), (ScalarLoss::Squared, 0.1), (ScalarLoss::Logistic, 0.0)]
    {
        let case = Case { lambda, regulariser, ..uneven(8, loss, 30) };
        let test = uneven(9, loss, 30).examples();
        for scaling in SCALINGS {
            let (settings, budget, mut notes) =
                (case.settings(), Budget::passes(5), Notes::default());
            let fit = fits::linear(loss, Choice::I, &settings, &budget).scaled(scaling);
            let fit = fit.watching(&test).observed(&mut notes);
            let model = fit.run(&case.examples()).unwrap().model;
            let (error, weights) = notes.0.last().unwrap();
            assert_eq!(*weights, model.weights);
            let evaluation = model.evaluate(&test).unwrap();
            let own = match loss {
                ScalarLoss::Squared => evaluation.numbers().unwrap().rmse,
                _ => evaluation.labels().unwrap().error(),
            };
            assert_eq!(*error, Some(own));
        }
    }
}

#[test]
fn a_run_goes_on_at_its_own_scale_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let case = uneven(3, ScalarLoss::Hinge, 9);
    for scaling in SCALINGS {
        let whole = fit(&case, scaling, &Budget::passes(12));
        let keep = Kept { keep: Some(&file), ..Kept::default() };
        try_fit(&case, scaling, &Budget::passes(4), &keep).unwrap();
        let from = Kept { resume: Some(&file), ..Kept::default() };
        let resume = |scale| try_fit(&case, scale, &Budget::passes(12), &from);
        let resumed = resume(scaling).unwrap();
        assert_eq!(resumed.model.weights, whole.model.weights);
        assert_eq!(resumed.certificate, whole.certificate);
        for other in [Scaling::None, Scaling::Max, Scaling::Rms] {
            if other != scaling {
                let message = resume(other).unwrap_err().to_string();
                assert!(message.contains("its scale is"), "{message}");
            }
        }
    }
}

/// Which dual points are feasible does not depend on the data, so a witness of one scale serves at any other.
#[test]
fn a_warm_start_may_come_from_another_scale() {
    for loss in LOSSES {
        let case = uneven(6, loss, 9);
        for (from, to) in [
            (Scaling::None, Scaling::Max),
            (Scaling::Max, Scaling::Rms),
            (Scaling::Rms, Scaling::None),
        ] {
            let old = fit(&case, from, &Budget::passes(5)).model;
            let from = Kept { warm_start: Some(&old), ..Kept::default() };
            let warm = |passes| try_fit(&case, to, &Budget::passes(passes), &from).unwrap().model;
            assert_eq!(warm(0).witness, old.witness, "{loss:?}");
            let model = warm(50);
            model.certify(&case.examples()).unwrap();
            let (a, b) = (model.certificate, fit(&case, to, &Budget::passes(50)).certificate);
            let error = a.rounding_error + b.rounding_error;
            assert!(a.dual <= b.primal + error && b.dual <= a.primal + error, "{loss:?}");
        }
    }
}

/// A tolerance that the run meets to the last bit, before its weights are rounded on their way back.
#[test]
fn a_tolerance_is_reached_by_the_weights_that_are_returned_or_not_at_all() {
    let mut reached = 0;
    for seed in 0..100 {
        let mut case = uneven(seed, LOSSES[seed as usize % LOSSES.len()], 9);
        // Weights so small that they have few digits left.
        case.rows.iter_mut().for_each(|row| row[0] *= 1e305);
        let (beforehand, _) = scaled(&case, Scaling::Max);
        let c = fit(&beforehand, Scaling::None, &Budget::passes(8)).certificate;
        let tolerance = c.gap() + c.rounding_error;
        let budget = Budget { absolute: Some(tolerance), ..Budget::passes(8) };
        let report = fit(&case, Scaling::Max, &budget);
        let c = report.certificate;
        let within = c.gap() + c.rounding_error <= tolerance;
        assert_eq!(report.stop == Stop::GapReached, within, "{c:?} {tolerance}");
        assert_eq!(report.model.provenance.stop, report.stop);
        reached += usize::from(within);
    }
    assert!(0 < reached && reached < 100, "both happen: {reached}");
}
