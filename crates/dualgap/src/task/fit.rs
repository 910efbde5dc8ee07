//! Training: from a posed problem to a certified model.

use super::checkpoint::{self, CheckpointFile, Identity};
use super::sides::{LowRankSides, Sides, certificate, l1_sides, linear_sides, sides};
use super::{Keep, Method, Model, Plan, Provenance, Resume, Task};
use crate::ball;
use crate::ball::trace::{Features, Map};
use crate::data::{DataSet, Factors};
use crate::dual::{self, Begin, Settings, Solution, Witness, Witnessed};
use crate::linalg::{LowRank, Rows};
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Progress, Report, Stop};
use crate::structure::in_ball::{self, StoredLosses};
use crate::structure::{Choice, LinearBlocks, Structure, Visitor, train_pure_l1_from};
use crate::term::ball::l1;
use crate::term::{Ball, Loss, Penalty};
use crate::{Error, Result, Setting};
use std::time::Instant;

impl<S: Structure> Task<S> {
    /// Trains a model.
    pub fn fit(&self, data: &S::Data, plan: Plan<'_, S>) -> Result<Report<Model<S>>> {
        self.check()?;
        let method = plan.method.clone().for_penalty(&self.penalty)?;
        let structure = self.structure.clone().resolve(data)?;
        let names = structure.names(data)?;
        structure.check(&names)?;
        let task = Self { structure, ..self.clone() };
        let weights = task.weigh(data, data.weights())?;
        let (factors, scaled) = data.scaled(self.scaling)?;
        let own = data.weights().map(<[f64]>::to_vec);
        let untrained = Model::untrained(task, names, data.len(), data.fingerprint(), method, own);
        let (structure, penalty) = (untrained.task.structure.clone(), self.penalty);
        let names = untrained.names.clone();
        let fit = Fit { untrained, weights, factors: &factors, data, plan };
        structure.pose(&names, &scaled, &penalty, fit)
    }
}

/// Trains the model of a posed problem.
struct Fit<'f, 'a, S: Structure> {
    /// The model, with everything that is known before training.
    untrained: Model<S>,
    /// The weight of each example in the objective.
    weights: Option<Vec<f64>>,
    factors: &'f Factors,
    /// The data, unscaled.
    data: &'f S::Data,
    plan: Plan<'a, S>,
}

impl<S: Structure> Visitor for Fit<'_, '_, S> {
    type Output = Report<Model<S>>;

    fn choice(&self) -> Option<Choice> {
        match &self.untrained.provenance.method {
            Method::Dual(method) => method.option,
            Method::Auto | Method::Ball(_) => None,
        }
    }

    fn blocks<B: Witnessed>(self, blocks: &B) -> Result<Report<Model<S>>> {
        let (penalty, weights) = (self.untrained.task.penalty, self.weights.clone());
        let sides = || sides(penalty, weights.as_deref(), blocks);
        self.engine(blocks, &sides, |settings, begin, budget, observer, sink| {
            dual::train_from(blocks, settings, begin, budget, observer, sink)
        })
    }

    fn linear<L: Loss>(self, blocks: &LinearBlocks<'_, L>) -> Result<Report<Model<S>>> {
        let (penalty, weights) = (self.untrained.task.penalty, self.weights.clone());
        let sides = || linear_sides(penalty, weights.as_deref(), blocks);
        self.engine(blocks, &sides, |settings, begin, budget, observer, sink| match penalty {
            Penalty::QNorm { .. } => {
                dual::train_q_norm_from(blocks, settings, begin, budget, observer, sink)
            }
            Penalty::Lasso { .. } => {
                let from = match begin {
                    Begin::Fresh => None,
                    Begin::At(checkpoint) => Some(checkpoint),
                    Begin::Points(_) => {
                        return Err(Error::setting(
                            "without lambda a run cannot begin with the dual point of another model",
                        ));
                    }
                };
                train_pure_l1_from(blocks, settings, from, budget, observer, sink)
            }
            _ => dual::train_from(blocks, settings, begin, budget, observer, sink),
        })
    }

    fn rows<L: StoredLosses>(self, rows: &Rows, losses: L) -> Result<Report<Model<S>>> {
        let Penalty::Ball { ball, mu } = self.untrained.task.penalty else {
            return Err(Error::setting("a structure in a ball was posed under a penalty"));
        };
        match ball {
            Ball::Trace { .. } => {
                let features = Features::new(rows, losses.outputs())?;
                self.map(features, losses)
            }
            Ball::L1 { .. } => {
                let sides = l1_sides(ball, mu, self.weights.as_deref(), rows, losses)?;
                let Self { untrained, factors, plan, .. } = self;
                let settings = ball_settings(&untrained.provenance.method);
                let identity = checkpoint::identity(&untrained, &plan.budget);
                let Plan { budget, observer, watch, checkpoints, resume, warm_start, .. } = plan;
                refuse_warm_start(warm_start)?;
                let (from, mut kept) = survival(identity, checkpoints, resume)?;
                let report = watched(watch, &untrained, factors, observer, |observer| {
                    let sink = kept.as_mut().map(Kept::sink);
                    ball::train_from(&sides.problem, &settings, from, &budget, observer, sink)
                })?;
                let witness = in_ball::witness(sides.problem.losses(), &report.model.points);
                let weights = |solution: ball::Solution<Vec<f64>>| {
                    raw_inside(solution.weights, ball, factors)
                };
                let mut report = named(report, untrained, weights);
                if !factors.are_none() {
                    recertify(&mut report, &witness, &sides, factors, &budget)?;
                }
                report.model.witness = Some(witness);
                Ok(report)
            }
        }
    }

    fn map<M: Map, L: StoredLosses>(self, map: M, losses: L) -> Result<Report<Model<S>>> {
        let Penalty::Ball { ball, mu } = self.untrained.task.penalty else {
            return Err(Error::setting("a structure in a ball was posed under a penalty"));
        };
        let Self { untrained, weights, factors, plan, .. } = self;
        let settings = ball_settings(&untrained.provenance.method);
        let identity = checkpoint::identity(&untrained, &plan.budget);
        let Plan { budget, observer, watch, checkpoints, resume, warm_start, .. } = plan;
        refuse_warm_start(warm_start)?;
        if watch.is_some() {
            return Err(Error::setting(
                "runs in the trace ball tell nothing of test data on their way: look at them at the end",
            ));
        }
        let sides = LowRankSides::new(ball, mu, weights.as_deref(), map, losses)?;
        let (from, mut kept) = survival(identity, checkpoints, resume)?;
        let sink = kept.as_mut().map(Kept::sink);
        let nobody = &mut ();
        let observer = observer.unwrap_or(nobody);
        let report = ball::train_from(&sides.problem, &settings, from, &budget, observer, sink)?;
        let witness = in_ball::witness(sides.problem.losses(), &report.model.points);
        let x: LowRank = sides.raw_inside(&report.model.weights, factors)?;
        let mut report = named(report, untrained, |_| Vec::new());
        report.model.low_rank = Some(x);
        // The run proves its dual values only as tightly as it needs; the stored one must match what verification
        // computes.
        recertify(&mut report, &witness, &sides, factors, &budget)?;
        report.model.witness = Some(witness);
        Ok(report)
    }
}

type Trained<B> = Result<Report<Solution<<B as dual::Blocks>::Point>>>;

impl<S: Structure> Fit<'_, '_, S> {
    /// Runs the engine, and returns the model of its result.
    fn engine<'b, B: Witnessed>(
        self,
        blocks: &B,
        sides: &dyn Fn() -> Result<Box<dyn Sides + 'b>>,
        train: impl FnOnce(
            &Settings,
            Begin<B::Point>,
            &Budget,
            &mut dyn Observer,
            Option<&mut dyn CheckpointSink>,
        ) -> Trained<B>,
    ) -> Result<Report<Model<S>>> {
        let Self { untrained, weights, factors, data, plan } = self;
        let Method::Dual(method) = &untrained.provenance.method else {
            return Err(Error::setting("a structure under a penalty was posed in a ball"));
        };
        let settings = method.settings(untrained.task.penalty, weights, plan.threads)?;
        let identity = checkpoint::identity(&untrained, &plan.budget);
        let Plan { budget, observer, watch, checkpoints, resume, warm_start, .. } = plan;
        let (from, mut kept) = survival(identity, checkpoints, resume)?;
        let begin = match (from, warm_start) {
            (Some(checkpoint), _) => Begin::At(checkpoint),
            (None, Some(old)) => Begin::Points(warm_points(blocks, &untrained, data, old)?),
            (None, None) => Begin::Fresh,
        };
        let report = watched(watch, &untrained, factors, observer, |observer| {
            train(&settings, begin, &budget, observer, kept.as_mut().map(Kept::sink))
        })?;
        let witness = Witness::of(blocks, &report.model.points);
        let mut report =
            named(report, untrained, |solution| factors.raw(solution.weights).into_owned());
        if !factors.are_none() || B::REBUILT {
            recertify(&mut report, &witness, &*sides()?, factors, &budget)?;
        }
        report.model.witness = Some(witness);
        Ok(report)
    }
}

fn ball_settings(method: &Method) -> ball::Settings {
    match method {
        Method::Ball(settings) => *settings,
        Method::Auto | Method::Dual(_) => ball::Settings::default(),
    }
}

fn refuse_warm_start<S>(warm_start: Option<&Model<S>>) -> Result<()> {
    match warm_start {
        Some(_) => Err(Error::setting("a run in a ball has no warm start: begin it anew")),
        None => Ok(()),
    }
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
    identity: Identity,
    checkpoints: Option<Keep<'a>>,
    resume: Option<Resume<'_>>,
) -> Result<(Option<Checkpoint>, Option<Kept<'a>>)> {
    let from = match resume {
        None => None,
        Some(Resume::File(path)) => Some(checkpoint::load(path, &identity)?),
        Some(Resume::Checkpoint(checkpoint)) => Some(checkpoint),
    };
    let kept = match checkpoints {
        None => None,
        Some(Keep::File(checkpoints)) => {
            Some(Kept::File(CheckpointFile::new(checkpoints, identity)?))
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

/// Returns the report with a model that has these weights.
fn named<S: Structure, T>(
    report: Report<T>,
    untrained: Model<S>,
    weights: impl FnOnce(T) -> Vec<f64>,
) -> Report<Model<S>> {
    let Report { certificate, stop, passes, work, .. } = report;
    let oracle_calls = work.oracle_calls;
    report.map(|solution| Model {
        weights: weights(solution),
        certificate,
        provenance: Provenance { stop, passes, oracle_calls, ..untrained.provenance },
        ..untrained
    })
}

/// Returns the points that a warm start begins with: those of the old model's witness where they fit, and the
/// default start of the block elsewhere. The engine proves them feasible, like any other points.
fn warm_points<S: Structure, B: Witnessed>(
    blocks: &B,
    new: &Model<S>,
    data: &S::Data,
    old: &Model<S>,
) -> Result<Vec<B::Point>> {
    let structure = &new.task.structure;
    if !structure.is_akin(&old.task.structure) {
        return Err(Error::setting("a warm start needs a model of the same task"));
    }
    let Some(witness) = &old.witness else {
        return Err(Error::setting(format!(
            "a warm start needs a model with its witness: train that one with {}",
            Setting::Witness
        )));
    };
    (0..blocks.len())
        .map(|i| {
            let entries = witness
                .entries(i)
                .and_then(|entries| structure.relabel(&new.names, data, i, &old.names, &entries));
            match entries.map(|entries| blocks.point(i, entries, &witness.outputs)) {
                Some(Ok(point)) => Ok(point),
                // An output of another example is no reason to stop.
                Some(Err(_)) if B::REBUILT => Ok(blocks.start(i)),
                Some(Err(error)) => Err(error),
                None => Ok(blocks.start(i)),
            }
        })
        .collect()
}

/// Returns the weights for the unscaled data. Scaling and unscaling round, so it shrinks them until they are in the
/// ball.
fn raw_inside(weights: Vec<f64>, ball: Ball, factors: &Factors) -> Vec<f64> {
    let mut raw = factors.raw(weights).into_owned();
    let mut margin = 2.0 * f64::EPSILON;
    while !factors.are_none() && !l1::contains(&factors.scaled(&raw), ball.radius()) {
        if margin > 1.0 {
            raw.fill(0.0); // numbers that are not finite: zero is in every ball
        }
        raw.iter_mut().for_each(|w| *w *= 1.0 - margin);
        margin *= 2.0;
    }
    raw
}

/// Recomputes the certificate for exactly the weights that are returned, because unscaling rounds. If they no longer
/// meet the tolerance, the run counts as stalled: rounding allows no more.
fn recertify<S: Structure>(
    report: &mut Report<Model<S>>,
    witness: &Witness,
    sides: &dyn Sides,
    factors: &Factors,
    budget: &Budget,
) -> Result<()> {
    let begin = Instant::now();
    report.certificate = certificate(report.model.fitted(), witness, sides, factors)?;
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
