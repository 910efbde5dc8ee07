//! From options to a problem with its data, read and weighted, ready for a fit at any λ.

use crate::args::Common;
use crate::formats::format;
use crate::problem::{Dataset, Problem};
use crate::report::Outcomes;
use crate::weights;
use dualgap::data::{DataSet, Loaded, Recipe, Source, Unseen};
use dualgap::dual::Settings;
use dualgap::model::{Model, Plan};
use dualgap::run::Report;
use dualgap::term::{Free, Regulariser};
use dualgap::{Error, Result};

/// A problem with the data that it is about: all but λ.
pub struct Job<'a, P: Problem> {
    common: Common<'a>,
    pub problem: P,
    pub train: Loaded<P::Data>,
    pub test: Option<Loaded<P::Data>>,
    /// What each example counts, if not the same: its sample weight times that of its class.
    counts: Option<Vec<f64>>,
    free: Option<Free>,
}

impl<'a, P: Problem> Job<'a, P> {
    /// Reads all files that the options name.
    pub fn read(common: Common<'a>, mut problem: P) -> Result<Self> {
        let file = &common.data.data;
        let mut source = Source::open(file)?;
        let format = format(&common.data.layout, P::Data::guess(&source.head()?))?;
        let folds = common.data.train_folds.as_ref().map(|folds| folds.0.clone());
        let (constant, target) = (problem.constant(), problem.target());
        let recipe = Recipe { format, folds, constant, target };
        let mut train = P::Data::read(&recipe, source, None)?;
        problem.meet(file, &train.data)?;
        let test = read_test(common, &train)?;
        if let Some(weights) = weights::of_file(common.data.sample_weights.as_deref(), &train)? {
            train.data = train.data.with_weights(weights)?;
        }
        Self::new(common, problem, train, test)
    }

    fn new(
        common: Common<'a>,
        problem: P,
        train: Loaded<P::Data>,
        test: Option<Loaded<P::Data>>,
    ) -> Result<Self> {
        let counts = problem.weigh(&train.data)?;
        let free = problem.free(&train.data)?;
        Ok(Self { common, problem, train, test, counts, free })
    }

    /// Returns the same problem on some of the training examples. What depends on the data, such as balanced class
    /// weights, then depends on these examples; labels and features keep their names.
    pub fn part(&self, rows: &[usize]) -> Result<Self> {
        let all = &self.train;
        let train = Loaded {
            data: all.data.subset(rows),
            chosen: rows.iter().map(|&i| all.chosen[i]).collect(),
            recipe: all.recipe.clone(),
            unseen: Unseen::default(),
            folds: None,
            ..*all
        };
        if let (Some(path), Some(weights)) =
            (&self.common.data.sample_weights, train.data.weights())
        {
            weights::check_total(path, weights)?;
        }
        Self::new(self.common, self.problem.clone(), train, None)
    }

    /// Returns the total weight of all examples: n if they all count the same.
    pub fn total(&self) -> f64 {
        self.counts.as_ref().map_or(self.train.data.len() as f64, |counts| counts.iter().sum())
    }

    /// Returns the settings of the engine at λ.
    pub fn settings(&self, lambda: f64) -> Result<Settings> {
        let Common { penalty, method, .. } = self.common;
        let pure_l1 = penalty.l1 > 0.0 && P::PURE_L1;
        if lambda == 0.0 && self.problem.within().is_none() && !pure_l1 {
            return Err(Error::setting(
                "--lambda must be positive; 0 is for binary and regression with --l1",
            ));
        }
        Ok(Settings {
            lambda,
            regulariser: Regulariser {
                l1: penalty.l1,
                nonnegative: penalty.nonnegative,
                free: self.free,
                q_norm: penalty.q_norm,
            },
            sample_weights: self.counts.clone(),
            ..method.settings()
        })
    }

    /// Trains a model and stores in it how its data were read.
    pub fn fit(&self, plan: Plan<'_, P::Data>) -> Result<Report<Model>> {
        let mut report = self.problem.fit(&self.train.data, plan)?;
        report.model.provenance.recipe = Some(self.train.recipe.clone());
        Ok(report)
    }

    /// Returns the results of a model on the test data, if there are any, and what it did not see in training.
    pub fn test(&self, model: &Model) -> Result<Option<(Outcomes, Unseen)>> {
        let Some(test) = &self.test else { return Ok(None) };
        Ok(Some((self.problem.evaluate(model, &test.data)?, test.unseen.clone())))
    }
}

/// Reads another file, or other folds of the same, with the names of the training data.
fn read_test<D: Dataset>(common: Common<'_>, train: &Loaded<D>) -> Result<Option<Loaded<D>>> {
    let (path, folds) = match (&common.data.test, &common.data.test_folds) {
        (Some(path), _) => (path, None),
        (None, Some(folds)) => (&common.data.data, Some(folds.0.clone())),
        (None, None) => return Ok(None),
    };
    let recipe = Recipe { folds, ..train.recipe.clone() };
    let test = D::read(&recipe, Source::open(path)?, Some(train.data.vocabulary()))?;
    if !test.labelled {
        return Err(Error::file(
            path,
            "has no labels to test against",
            "test on labelled data; `dualgap predict` labels others",
        ));
    }
    Ok(Some(test))
}
