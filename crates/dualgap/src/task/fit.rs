//! Training: from a posed problem to a certified model.

use super::checkpoint::{self, CheckpointFile, Identity};
use super::{Keep, Model, Plan, Provenance, Resume, Task};
use crate::data::{DataSet, Factors};
use crate::linalg::Rows;
use crate::linalg::memory::{Need, check_weights};
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Progress, Report, Stop};
use crate::structure::posed::{Posing, Run, Sides, Start, Trained};
use crate::structure::{Names, Structure};
use crate::term::{Free, Penalty};
use crate::{Error, Result, Setting};
use std::borrow::Cow;
use std::time::Instant;

impl<S: Structure> Task<S> {
    /// Trains a model.
    pub fn fit(&self, data: &S::Data, plan: Plan<'_, S>) -> Result<Report<Model<S>>> {
        self.fit_near(data, plan, None)
    }

    /// Trains a model. Without a warm start the run begins at a model of a similar problem, if its solver can.
    pub(super) fn fit_near(
        &self,
        data: &S::Data,
        plan: Plan<'_, S>,
        near: Option<&Model<S>>,
    ) -> Result<Report<Model<S>>> {
        self.allows(&plan.method)?;
        let method = plan.method.clone().for_penalty(&self.penalty)?;
        let structure = self.structure.clone().resolve(data)?;
        let names = structure.names(data)?;
        structure.check(&names)?;
        let task = Self { structure, ..self.clone() };
        let weights = task.weigh(data, data.weights())?;
        let (factors, scaled) = data.scaled(self.scaling)?;
        let (factors, scaled, penalty) = task.narrowed(&names, factors, scaled);
        let own = data.weights().map(<[f64]>::to_vec);
        let mut untrained =
            Model::untrained(task, names, data.len(), data.fingerprint(), method, own);
        untrained.support = untrained.task.structure.support(data);
        refuse_in_balls(&self.penalty, &plan)?;
        let (solver, choice) =
            untrained.provenance.method.solver(penalty, weights.clone(), plan.threads)?;
        let posing = Posing { penalty, weights: weights.as_deref(), choice };
        let structure = untrained.task.structure.clone();
        let posed = structure.pose(&scaled, &posing)?;
        let posed = posed.solvable();

        let Plan { budget, observer, watch, checkpoints, resume, warm_start, .. } = plan;
        let identity = || checkpoint::identity(&untrained, &budget);
        let (from, mut kept) = survival(&identity, checkpoints, resume)?;
        let at_weights = posed.begins_at_weights(&solver);
        let start = match (from, warm_start) {
            (Some(checkpoint), _) => Start::At(checkpoint),
            (None, Some(old)) => warm_start_of(&untrained, at_weights, data, old)?,
            (None, None) => match near.filter(|_| begins_at_models(&untrained, at_weights)) {
                Some(near) => warm_start_of(&untrained, at_weights, data, near)?,
                None => Start::Fresh,
            },
        };
        let report = watched(watch, &untrained, &factors, observer, |observer| {
            let sink = kept.as_mut().map(Kept::sink);
            let (factors, budget) = (&factors, &budget);
            posed.train(Run { solver, start, factors, budget, observer, sink })
        })?;
        let mut report = named(report, untrained);
        report.tactics.splice(0..0, factors.describe());
        if !factors.are_none() || posed.is_recertified() {
            recertify(&mut report, &*posed.sides()?, &factors, &budget)?;
        }
        Ok(report)
    }

    /// Leaves out columns without entries, if there are many: their weights are zero, and every vector of the run is as long as there
    /// are weights. Models are still proved on all columns.
    fn narrowed<'d>(
        &self,
        names: &Names,
        factors: Factors,
        data: Cow<'d, S::Data>,
    ) -> (Factors, Cow<'d, S::Data>, Penalty) {
        let penalty = self.penalty;
        // If a model of all columns has no room, the run itself says so.
        let fits = || {
            let layout = self.structure.layout(names);
            let of_tensor =
                |shape: &[usize]| shape.iter().fold(1_usize, |all, n| all.saturating_mul(*n));
            let weights = layout.iter().map(|(_, shape)| of_tensor(shape)).sum();
            // The weights of the model, those before them, and what is written of them.
            check_weights(Some(weights)).is_ok()
                && Need { weights, copies: 3, others: 0 }.check().is_ok()
        };
        // The q-norm depends on the number of columns.
        let plain = matches!(penalty, Penalty::Ridge { .. } | Penalty::Lasso { .. });
        let open = self.structure.weighs_columns() && plain;
        let Some((columns, narrow)) = (open && fits()).then(|| data.narrowed()).flatten() else {
            return (factors, data, penalty);
        };
        let all = data.rows().map_or(0, Rows::width);
        let narrowed = factors.clone().narrowed(columns, all);
        let free = penalty.free().map(|free| (free, narrowed.place(free.column)));
        let penalty = match free {
            None => Some(penalty),
            Some((free, Some(column))) => penalty.with_free(Free { column, ..free }).ok(),
            Some((_, None)) => None,
        };
        match penalty {
            Some(penalty) => (narrowed, Cow::Owned(narrow), penalty),
            None => (factors, data, self.penalty),
        }
    }
}

/// Whether a run can begin at a model of another λ, σ or radius; under the l1 norm alone some begin at weights.
fn begins_at_models<S: Structure>(untrained: &Model<S>, at_weights: bool) -> bool {
    match untrained.task.penalty {
        Penalty::Ball { .. } => false,
        Penalty::Lasso { .. } => at_weights,
        _ => untrained.provenance.method.has_warm_starts(),
    }
}

/// Returns an error for what runs in a ball do not have.
fn refuse_in_balls<S: Structure>(penalty: &Penalty, plan: &Plan<'_, S>) -> Result<()> {
    if penalty.ball().is_some() && plan.warm_start.is_some() {
        return Err(Error::setting("a run in a ball has no warm start: begin it anew"));
    }
    if penalty.is_low_rank() && plan.watch.is_some() {
        return Err(Error::setting(
            "runs in the trace ball tell nothing of test data on their way: look at them at the end",
        ));
    }
    Ok(())
}

/// Where the checkpoints of a run go, the file locked.
enum Kept<'a> {
    File(CheckpointFile),
    Sink(&'a mut dyn CheckpointSink),
}

impl Kept<'_> {
    fn sink(&mut self) -> &mut dyn CheckpointSink {
        match self {
            Self::File(file) => file,
            Self::Sink(sink) => *sink,
        }
    }
}

/// Loads the checkpoint to resume from and opens the file for new ones, as far as the plan names them.
fn survival<'a>(
    identity: &dyn Fn() -> Identity,
    checkpoints: Option<Keep<'a>>,
    resume: Option<Resume<'_>>,
) -> Result<(Option<Checkpoint>, Option<Kept<'a>>)> {
    let from = match resume {
        None => None,
        Some(Resume::File(path)) => Some(checkpoint::load(path, &identity())?),
        Some(Resume::Checkpoint(checkpoint)) => Some(checkpoint),
    };
    let kept = match checkpoints {
        None => None,
        Some(Keep::File(checkpoints)) => {
            Some(Kept::File(CheckpointFile::new(checkpoints, identity())?))
        }
        Some(Keep::Sink(sink)) => Some(Kept::Sink(sink)),
    };
    Ok((from, kept))
}

/// Runs a training whose observer receives weights for the unscaled data and, if there are test data, the error on
/// them.
fn watched<S: Structure, R>(
    test: Option<&S::Data>,
    untrained: &Model<S>,
    factors: &Factors,
    observer: Option<&mut dyn Observer>,
    train: impl FnOnce(&mut dyn Observer) -> R,
) -> R {
    let nobody = &mut ();
    let observer = observer.unwrap_or(nobody);
    match test {
        Some(data) => {
            let observer = &mut Watched { model: untrained.clone(), data, observer };
            train(&mut Unscaled { factors, observer })
        }
        None => train(&mut Unscaled { factors, observer }),
    }
}

/// Returns the report with the model of what was trained.
fn named<S: Structure>(report: Report<Trained>, untrained: Model<S>) -> Report<Model<S>> {
    let Report { certificate, stop, passes, work, .. } = report;
    let oracle_calls = work.oracle_calls;
    report.map(|Trained { weights, low_rank, witness }| {
        let columns = untrained.task.structure.columns(&untrained.names);
        let (support, weights) = match untrained.support {
            Some(all) => {
                let (support, weights) = all.condensed(&weights, columns);
                (Some(support), weights)
            }
            None => (None, weights),
        };
        Model {
            weights,
            low_rank,
            support,
            witness: Some(witness),
            certificate,
            provenance: Provenance { stop, passes, oracle_calls, ..untrained.provenance },
            ..untrained
        }
    })
}

/// Returns the start from an older model: the entries of its witness where they fit, or under the l1 norm alone, whose dual
/// point is far from that of another σ, its weights.
fn warm_start_of<'o, S: Structure>(
    new: &Model<S>,
    at_weights: bool,
    data: &S::Data,
    old: &'o Model<S>,
) -> Result<Start<'o>> {
    let structure = &new.task.structure;
    if !structure.is_akin(&old.task.structure) {
        return Err(Error::setting("a warm start needs a model of the same task"));
    }
    let pure_l1 = matches!(new.task.penalty, Penalty::Lasso { .. });
    if pure_l1 && at_weights && old.names == new.names {
        return Ok(Start::Weights(&old.weights));
    }
    let Some(witness) = &old.witness else {
        return Err(Error::setting(format!(
            "a warm start needs a model with its witness: train that one with {}",
            Setting::Witness
        )));
    };
    let entries =
        |i: usize| structure.relabel(&new.names, data, i, &old.names, &witness.entries(i)?);
    let of = (0..data.len()).map(entries).collect();
    Ok(Start::Entries { of, outputs: &witness.outputs })
}

/// Recomputes the certificate for exactly the weights that are returned, because unscaling rounds. If they no longer
/// meet the tolerance, the run counts as stalled: rounding allows no more.
fn recertify<S: Structure>(
    report: &mut Report<Model<S>>,
    sides: &dyn Sides,
    factors: &Factors,
    budget: &Budget,
) -> Result<()> {
    let begin = Instant::now();
    if let Some(witness) = &report.model.witness {
        report.certificate = sides.certificate(report.model.fitted(), witness, factors)?;
    }
    if report.stop == Stop::GapReached && !budget.is_met(&report.certificate) {
        report.stop = Stop::Stalled;
    }
    if let Some(last) = report.history.last_mut() {
        last.certificate = report.certificate;
        last.gap = report.certificate.certified.then(|| report.certificate.gap());
    }
    report.model.certificate = report.certificate;
    report.model.provenance.stop = report.stop;
    report.certify_seconds += begin.elapsed().as_secs_f64();
    Ok(())
}

/// An observer that unscales the weights of the run before it passes them on.
struct Unscaled<'a> {
    factors: &'a Factors,
    observer: &'a mut dyn Observer,
}

impl Observer for Unscaled<'_> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        let weights = if self.observer.reads_weights() { weights } else { &[] };
        self.observer.certified(progress, &self.factors.raw(weights))
    }

    fn advanced(&mut self, passes: f64) {
        self.observer.advanced(passes);
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.observer.checkpoint_failed(error)
    }
}

/// An observer that adds the error on test data to the progress that it passes on.
struct Watched<'a, S: Structure> {
    model: Model<S>,
    data: &'a S::Data,
    observer: &'a mut dyn Observer,
}

impl<S: Structure> Observer for Watched<'_, S> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        let mut progress = *progress;
        if !weights.is_empty() {
            self.model.weights.clear();
            self.model.weights.extend_from_slice(weights);
            let error = self.model.evaluate(self.data).map_or(f64::NAN, |found| found.error());
            progress.test_error = Some(error);
        }
        self.observer.certified(&progress, weights)
    }

    fn advanced(&mut self, passes: f64) {
        self.observer.advanced(passes);
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.observer.checkpoint_failed(error)
    }
}
