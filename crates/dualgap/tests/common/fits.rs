//! Fits as tests ask for them: a structure, the settings of the engine field by field, and what a run is given beside.

use dualgap::data::{DataSet, Scaling};
use dualgap::dual::Settings;
use dualgap::run::{Budget, Observer, Report};
use dualgap::structure::{Choice, Linear, Multiclass, Structure};
use dualgap::task::{Checkpoints, DualMethod, Keep, Method, Model, Plan, Resume, Task};
use dualgap::term::{Penalty, Regulariser, ScalarLoss};
use dualgap::{Result, ball};
use std::path::Path;

/// The penalty of a λ and a regulariser as the engine has them.
pub fn penalty(lambda: f64, regulariser: Regulariser) -> Penalty {
    let Regulariser { l1, nonnegative, free, q_norm } = regulariser;
    if q_norm {
        Penalty::QNorm { lambda, l1 }
    } else if lambda == 0.0 && l1 > 0.0 {
        Penalty::Lasso { sigma: l1, nonnegative, free }
    } else {
        Penalty::Ridge { lambda, l1, nonnegative, free }
    }
}

/// The λ and the regulariser of a penalty.
pub fn parts(penalty: Penalty) -> (f64, Regulariser) {
    let plain = Regulariser::PLAIN;
    match penalty {
        Penalty::Ridge { lambda, l1, nonnegative, free } => {
            (lambda, Regulariser { l1, nonnegative, free, ..plain })
        }
        Penalty::Lasso { sigma, nonnegative, free } => {
            (0.0, Regulariser { l1: sigma, nonnegative, free, ..plain })
        }
        Penalty::QNorm { lambda, l1 } => (lambda, Regulariser { l1, q_norm: true, ..plain }),
        other => panic!("no λ and no regulariser: {other:?}"),
    }
}

/// Changes the λ or the regulariser of a model's task.
pub fn alter<S>(model: &mut Model<S>, change: impl FnOnce(&mut f64, &mut Regulariser)) {
    let (mut lambda, mut regulariser) = parts(model.task.penalty);
    change(&mut lambda, &mut regulariser);
    model.task.penalty = penalty(lambda, regulariser);
}

/// A fit of a structure: its task, its plan, and the weights that its data are given.
pub struct Fit<'a, S: Structure> {
    pub task: Task<S>,
    pub plan: Plan<'a, S>,
    weights: Option<Vec<f64>>,
}

impl<'a, S: Structure> Fit<'a, S> {
    /// The run of these settings.
    pub fn new(structure: S, settings: &Settings, budget: &Budget) -> Self {
        let task = Task::new(structure, penalty(settings.lambda, settings.regulariser));
        let plan = Plan {
            method: DualMethod::from(settings.clone()).into(),
            threads: settings.threads,
            ..Plan::new(budget.clone())
        };
        Self { task, plan, weights: settings.sample_weights.clone() }
    }

    /// A run in a ball.
    pub fn in_ball(
        structure: S,
        ball: Penalty,
        settings: ball::BallSettings,
        budget: &Budget,
    ) -> Self {
        let plan = Plan { method: settings.into(), ..Plan::new(budget.clone()) };
        Self { task: Task::new(structure, ball), plan, weights: None }
    }

    pub fn weighed(self, weights: Option<Vec<f64>>) -> Self {
        Self { weights, ..self }
    }

    /// By this option of Prox-SDCA.
    pub fn by(mut self, choice: Choice) -> Self {
        match &mut self.plan.method {
            Method::Dual(method) => method.option = Some(choice),
            other => panic!("{other:?} has no options"),
        }
        self
    }

    pub fn scaled(mut self, scaling: Scaling) -> Self {
        self.task.scaling = scaling;
        self
    }

    pub fn observed(mut self, observer: &'a mut dyn Observer) -> Self {
        self.plan.observer = Some(observer);
        self
    }

    pub fn watching(mut self, test: &'a S::Data) -> Self {
        self.plan.watch = Some(test);
        self
    }

    /// Kept in a file, if there is one, after so many passes each.
    pub fn kept(mut self, file: Option<&Path>, every: f64) -> Self {
        let checkpoints = file.map(|file| Checkpoints { file: file.into(), every });
        self.plan.checkpoints = checkpoints.map(Keep::File);
        self
    }

    pub fn resumed(mut self, file: Option<&'a Path>) -> Self {
        self.plan.resume = file.map(Resume::File);
        self
    }

    pub fn warm(mut self, model: Option<&'a Model<S>>) -> Self {
        self.plan.warm_start = model;
        self
    }

    pub fn run(self, data: &S::Data) -> Result<Report<Model<S>>> {
        match self.weights {
            None => self.task.fit(data, self.plan),
            Some(weights) => self.task.fit(&data.clone().weighted(weights)?, self.plan),
        }
    }
}

/// A linear model by Prox-SDCA.
pub fn linear<'a>(
    loss: ScalarLoss,
    choice: Choice,
    settings: &Settings,
    budget: &Budget,
) -> Fit<'a, Linear> {
    Fit::new(Linear::new(loss), settings, budget).by(choice)
}

/// A multiclass model by Prox-SDCA.
pub fn classes<'a>(
    structure: Multiclass,
    choice: Choice,
    settings: &Settings,
    budget: &Budget,
) -> Fit<'a, Multiclass> {
    Fit::new(structure, settings, budget).by(choice)
}

/// A model that went through the bytes of its file.
pub fn stored<S: Structure>(model: &Model<S>) -> Model<S> {
    Model::from_bytes(&model.to_bytes().unwrap()).unwrap()
}
