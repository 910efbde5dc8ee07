//! From options to a task with its data, read and weighted, ready for a fit at any λ.

use crate::args::{Common, StopArgs};
use crate::formats::{check_mapped, format};
use crate::options::TaskOptions;
use crate::weights;
use dualgap::data::{DataSet, Loaded, Recipe, Source, Unseen};
use dualgap::linalg::on_threads;
use dualgap::run::{Budget, Report};
use dualgap::structure::evaluation::Evaluation;
use dualgap::structure::{Purpose, Structure};
use dualgap::task::{Method, Model, PenaltySpec, Plan, Task, TaskSpec};
use dualgap::{Error, Result, dual};
use std::path::Path;

/// A task with the data that it is about.
pub struct Job<'a, S: Structure> {
    pub common: Common<'a>,
    /// The user's name for the task.
    pub name: &'static str,
    pub spec: TaskSpec<S>,
    pub method: Method,
    pub train: Loaded<S::Data>,
    pub test: Option<Loaded<S::Data>>,
    /// After how many passes a run ends if nothing is said about when to stop.
    bare: Option<u64>,
}

impl<'a, S: Structure> Job<'a, S> {
    /// Reads all files that the options name.
    pub fn read<T: TaskOptions<Structure = S>>(common: Common<'a>, task: &T) -> Result<Self> {
        let mut spec = task.spec(&common)?;
        let method = common.solver(task.option(), spec.penalty)?;
        let file = &common.data.data;
        let mut source = Source::open(file)?;
        check_mapped(&common.data.layout, &source)?;
        let mut format = format(&common.data.layout, S::guess(&source.head()?))?;
        task.read_as(&mut format)?;
        let folds = common.data.train_folds.as_ref().map(|folds| folds.0.clone());
        let (constant, target) = (task.constant(), spec.structure.target());
        task.suit(&mut spec.structure, &format);
        let bare = task.bare(&format);
        let recipe = Recipe { format, folds, constant, target, range: None };
        task.prepare(&mut spec, &common)?;
        let read = || spec.structure.read(&recipe, source, Purpose::Train);
        let train = on_threads(common.method.threads, read)??;
        if let Some((message, remedy)) = spec.structure.complaint(&train.data) {
            return Err(Error::file(file, message, remedy));
        }
        let (mut train, held_out) = task.split(train, &common)?;
        task.meet(&mut spec, file, &train.data)?;
        let test = match held_out {
            Some(held_out) => Some(held_out),
            None => read_test(common, &spec.structure, &train)?,
        };
        if let Some(weights) = weights::of_file(common.data.sample_weights.as_deref(), &train)? {
            train.data = train.data.weighted(weights)?;
        }
        train.data.identify();
        train.chosen = Vec::new(); // of use for the weights only, and as long as the data
        Ok(Self { common, name: T::COMMAND, spec, method, train, test, bare })
    }

    /// Completes when to stop, and how, where nothing was said: a task may have a number of passes for it, which goes with
    /// the weighted average. Whoever names a tolerance or a limit gets exactly that.
    pub fn complete(&mut self, stop: &mut StopArgs) {
        let given = stop.limited() || stop.tolerance.is_some() || stop.absolute_tolerance.is_some();
        let Some(passes) = self.bare.filter(|_| !given) else { return };
        stop.passes = Some(passes);
        if let Method::Dual(method) = &mut self.method
            && method.option.is_none()
            && self.common.method.is_plain()
            && matches!(self.spec.penalty, PenaltySpec::Ridge { l1, .. } if l1.is_zero())
        {
            method.average = dual::Average::Weighted;
        }
    }

    /// Returns the total weight of all examples: n if they all count the same.
    pub fn total(&self) -> Result<f64> {
        self.spec.total(&self.train.data)
    }

    /// Returns the task of all training data.
    pub fn task(&self) -> Result<Task<S>> {
        self.spec.resolve(&self.train.data)
    }

    /// Returns a plan with the method and the threads that were asked for.
    pub fn plan<'p>(&self, plan: Plan<'p, S>) -> Plan<'p, S> {
        Plan { method: self.method.clone(), threads: self.common.method.threads, ..plan }
    }

    /// Trains a model and stores in it how its data were read.
    pub fn fit(&self, task: &Task<S>, plan: Plan<'_, S>) -> Result<Report<Model<S>>> {
        let mut report = task.fit(&self.train.data, self.plan(plan))?;
        report.model.provenance.recipe = Some(self.train.recipe.clone());
        Ok(report)
    }

    /// Prepares a model to be saved; see [`Model::compact`].
    pub fn compact(&self, report: &mut Report<Model<S>>, budget: &Budget) -> Result<()> {
        let Report { model, certificate, stop, .. } = report;
        if model.compact(&self.train.data, budget, *stop)? {
            *certificate = model.certificate;
        }
        Ok(())
    }

    /// Returns the results of a model on the test data, if there are any, and what it did not see in training.
    pub fn test(&self, model: &Model<S>) -> Result<Option<(Evaluation, Unseen)>> {
        let Some(test) = &self.test else { return Ok(None) };
        Ok(Some((model.evaluate(&test.data)?, test.unseen.clone())))
    }
}

/// Reads another file, or other folds of the same, with the names of the training data.
fn read_test<S: Structure>(
    common: Common<'_>,
    structure: &S,
    train: &Loaded<S::Data>,
) -> Result<Option<Loaded<S::Data>>> {
    let (path, folds) = match (&common.data.test, &common.data.test_folds) {
        (Some(path), _) => (path, None),
        (None, Some(folds)) => (&common.data.data, Some(folds.0.clone())),
        (None, None) => return Ok(None),
    };
    let recipe = Recipe { folds, ..train.recipe.clone() };
    let names = structure.clone().resolve(&train.data)?.names(&train.data)?;
    let source = Source::open(path)?;
    let read = || structure.read(&recipe, source, Purpose::Test(&names));
    let test = on_threads(common.method.threads, read)??;
    if !test.labelled {
        return Err(no_labels(path));
    }
    Ok(Some(test))
}

fn no_labels(path: &Path) -> Error {
    Error::file(
        path,
        "has no labels to test against",
        "test on labelled data; `dualgap predict` labels others",
    )
}
