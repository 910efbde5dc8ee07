//! How a task is solved: what decides the iterates of a run, and not its optimum.

use crate::dual::{self, Acceleration, Average, Cache, Direction, Sampling, Settings, Step};
use crate::methods::{coordinates, cutting_plane, exponentiated_gradient, newton, subgradient};
use crate::structure::posed::SolverSettings;
use crate::structure::{Choice, Structure};
use crate::term::{Penalty, Regulariser};
use crate::{Error, Result, Setting, ball};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The solver of a run, with its settings. Everything has a default that needs no thought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The one that suits the penalty, with its default settings.
    #[default]
    Auto,
    /// The block-dual engine, for penalties.
    Dual(DualMethod),
    /// The solvers for weights in a ball.
    Ball(ball::BallSettings),
    /// Newton's method, for losses of linear models under a ridge.
    Newton(newton::NewtonSettings),
    /// Coordinate descent, for smooth losses of linear models under an l1 norm.
    Coordinates(coordinates::CoordinateSettings),
    /// The stochastic or the batch subgradient method, for penalties.
    Subgradient(subgradient::SubgradientSettings),
    /// Cutting planes, for penalties.
    CuttingPlane(cutting_plane::CuttingPlaneSettings),
    /// Online exponentiated gradient, for penalties.
    ExponentiatedGradient(exponentiated_gradient::GradientSettings),
}

/// How the block-dual engine runs; see [`dual::Settings`] for each of the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DualMethod {
    /// One block a step, or all of them.
    pub solver: dual::Algorithm,
    /// The step length.
    pub step: Step,
    /// The corners between which a step moves weight.
    #[serde(default)]
    pub direction: Direction,
    /// Whether steps use corners that were found before.
    #[serde(default)]
    pub cache: Cache,
    /// The order of the blocks.
    pub sampling: Sampling,
    /// Whether blocks whose last visits changed nothing are visited less often.
    #[serde(default)]
    pub shrinking: bool,
    /// Whether visits go in two lanes, each on a thread of its own: chains and matchings.
    #[serde(default)]
    pub lanes: bool,
    /// Whether a run that takes long goes on by Newton's method, where it can.
    #[serde(default)]
    pub handover: bool,
    /// Whether the engine runs in accelerated rounds.
    #[serde(default)]
    pub acceleration: Acceleration,
    /// Which average of the iterates is returned.
    pub average: Average,
    /// The number of corners that the oracle finds at the same weights.
    pub batch: usize,
    /// The seed of the random order.
    pub seed: u64,
    /// How Prox-SDCA chooses its steps. For the hinges of structures, `None` stands for block-coordinate Frank-Wolfe;
    /// chains and users' own structures have the options II, III and IV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<Choice>,
}

impl From<Settings> for DualMethod {
    fn from(settings: Settings) -> Self {
        let Settings { method, step, direction, cache, sampling, shrinking, .. } = settings;
        let Settings { lanes, handover, acceleration, average, batch, seed, .. } = settings;
        Self {
            solver: method,
            step,
            direction,
            cache,
            sampling,
            shrinking,
            lanes,
            handover,
            acceleration,
            average,
            batch,
            seed,
            option: None,
        }
    }
}

impl Default for DualMethod {
    /// Leaves to the run every choice that it can make while it goes on.
    fn default() -> Self {
        Settings::default().into()
    }
}

impl DualMethod {
    /// Returns the method of the papers and nothing beyond it; see [`Settings::plain`].
    pub fn plain() -> Self {
        Settings::plain().into()
    }

    /// Returns the settings of the engine for a problem.
    fn settings(
        &self,
        penalty: Penalty,
        sample_weights: Option<Vec<f64>>,
        threads: usize,
    ) -> Result<Settings> {
        let Some((lambda, regulariser)) = penalty.regulariser() else {
            return Err(Error::setting(
                "the engine is for penalties, and weights in a ball have none",
            ));
        };
        Ok(Settings {
            lambda,
            regulariser,
            method: self.solver,
            step: self.step,
            direction: self.direction,
            cache: self.cache,
            sampling: self.sampling,
            shrinking: self.shrinking,
            lanes: self.lanes,
            // The options of the Prox-SDCA paper are for its own steps; the first is ours too.
            handover: self.handover && self.option.is_none_or(|option| option == Choice::I),
            acceleration: self.acceleration,
            average: self.average,
            batch: self.batch,
            threads,
            seed: self.seed,
            sample_weights,
        })
    }
}

impl From<DualMethod> for Method {
    fn from(method: DualMethod) -> Self {
        Self::Dual(method)
    }
}

impl From<ball::BallSettings> for Method {
    fn from(settings: ball::BallSettings) -> Self {
        Self::Ball(settings)
    }
}

impl From<newton::NewtonSettings> for Method {
    fn from(settings: newton::NewtonSettings) -> Self {
        Self::Newton(settings)
    }
}

impl From<coordinates::CoordinateSettings> for Method {
    fn from(settings: coordinates::CoordinateSettings) -> Self {
        Self::Coordinates(settings)
    }
}

impl From<subgradient::SubgradientSettings> for Method {
    fn from(settings: subgradient::SubgradientSettings) -> Self {
        Self::Subgradient(settings)
    }
}

impl From<cutting_plane::CuttingPlaneSettings> for Method {
    fn from(settings: cutting_plane::CuttingPlaneSettings) -> Self {
        Self::CuttingPlane(settings)
    }
}

impl From<exponentiated_gradient::GradientSettings> for Method {
    fn from(settings: exponentiated_gradient::GradientSettings) -> Self {
        Self::ExponentiatedGradient(settings)
    }
}

impl Method {
    /// Returns the method of this name with its default settings; some names have one meaning under a penalty and another
    /// one in a ball.
    ///
    /// ```
    /// # use dualgap::task::{DualMethod, Method};
    /// assert_eq!(Method::named("bcfw", false)?, DualMethod::plain().into());
    /// assert!(Method::named("bcfw", true).is_err(), "it is for penalties");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn named(name: &str, in_ball: bool) -> Result<Self> {
        if in_ball {
            return ball::BallMethod::named(name).map(|method| {
                ball::BallSettings { method, ..ball::BallSettings::default() }.into()
            });
        }
        let planes =
            |slacks| cutting_plane::CuttingPlaneSettings { slacks, ..Default::default() }.into();
        let subgradients = |method| {
            subgradient::SubgradientSettings {
                method,
                ..subgradient::SubgradientSettings::default()
            }
            .into()
        };
        let solved_by =
            |equations| newton::NewtonSettings { equations, ..Default::default() }.into();
        Ok(match name {
            "auto" => DualMethod::default().into(),
            "bcfw" => DualMethod::plain().into(),
            "fw" => DualMethod { solver: dual::Algorithm::Fw, ..DualMethod::plain() }.into(),
            "newton" => newton::NewtonSettings::default().into(),
            "newton-cholesky" => solved_by(newton::Equations::Cholesky),
            "newton-cg" => solved_by(newton::Equations::ConjugateGradient),
            "coordinates" => coordinates::CoordinateSettings::default().into(),
            "ssg" => subgradients(subgradient::SubgradientMethod::Stochastic),
            "subgradient" => subgradients(subgradient::SubgradientMethod::Batch),
            "cutting-plane" | "bmrm" => planes(cutting_plane::Slacks::One),
            "n-slack" => planes(cutting_plane::Slacks::Each),
            "eg" => exponentiated_gradient::GradientSettings::default().into(),
            _ => {
                let elsewhere = match ball::BallMethod::named(name) {
                    Ok(_) => format!(", only in a ball: give {}, or", Setting::Ball),
                    Err(_) => ":".into(),
                };
                return Err(Error::setting(format!(
                    "there is no solver `{name}` under a penalty{elsewhere} take {} auto, bcfw, fw, newton, newton-cholesky, \
                     newton-cg, coordinates, ssg, subgradient, cutting-plane, n-slack or eg",
                    Setting::Solver
                )));
            }
        })
    }

    /// Returns the method with other settings: fields of its JSON form, by name. A field that the method does not have is
    /// an error.
    ///
    /// ```
    /// # use dualgap::task::Method;
    /// let seeded = serde_json::json!({ "seed": 7 });
    /// assert_eq!(Method::named("auto", false)?.with(seeded.as_object().unwrap())?.seed(), 7);
    /// let batched = serde_json::json!({ "batch": 8 });
    /// assert!(Method::named("ssg", false)?.with(batched.as_object().unwrap()).is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn with(&self, settings: &Map<String, Value>) -> Result<Self> {
        let mut fields = serde_json::to_value(self)
            .map_err(|error| Error::setting("a method has no JSON form").caused_by(error))?;
        for (name, value) in settings {
            // The one setting that has no default of its own, and is not written without a value.
            let steps = name == "option" && matches!(self, Self::Dual(_));
            if fields.get(name).is_none() && !steps || name == "family" {
                return Err(Error::setting(format!("this solver has no setting `{name}`")));
            }
            fields[name] = value.clone();
        }
        serde_json::from_value(fields).map_err(|error| {
            Error::setting(format!("a setting of the solver: {error}")).caused_by(error)
        })
    }

    /// Returns the method that a run under this penalty has, or an error if they do not go together.
    pub(super) fn for_penalty(self, penalty: &Penalty) -> Result<Self> {
        match (self, penalty.ball()) {
            (Self::Auto, None) => Ok(Self::Dual(DualMethod::default())),
            (Self::Auto, Some(_)) => Ok(Self::Ball(ball::BallSettings::default())),
            (Self::Ball(_), None) => {
                Err(Error::setting("the solvers of a ball are for weights in one"))
            }
            (method @ Self::Ball(_), Some(_)) | (method, None) => Ok(method),
            (_, Some(_)) => Err(Error::setting(
                "this solver is for penalties: weights in a ball have solvers of their own",
            )),
        }
    }

    /// Returns an error if runs of this structure under this penalty cannot have these settings, whatever their data.
    pub(super) fn check(&self, structure: &impl Structure, penalty: &Penalty) -> Result<()> {
        let under = |check: fn(Regulariser) -> Result<()>| match penalty.regulariser() {
            Some((_, regulariser)) => check(regulariser),
            None => Ok(()),
        };
        match (self, penalty) {
            (Self::Dual(method), _) => {
                if let Some(option) = method.option {
                    structure.allows_option(option, penalty)?;
                }
                let settings = method.settings(*penalty, None, 0)?;
                if let Penalty::Lasso { .. } = penalty {
                    dual::pure_l1::check_settings(&settings)?;
                }
                dual::check_free(&settings)
            }
            (Self::Ball(settings), Penalty::Ball { ball, .. }) => {
                settings.check(*ball)?;
                structure.allows_in_ball(settings)
            }
            (Self::Newton(_), _) => under(newton::check_penalty),
            (Self::Coordinates(_), _) => under(coordinates::check_penalty),
            (Self::Subgradient(_), _) => under(subgradient::check_penalty),
            (Self::CuttingPlane(_), _) => under(cutting_plane::check_penalty),
            (Self::ExponentiatedGradient(_), _) => under(exponentiated_gradient::check_penalty),
            (Self::Auto | Self::Ball(_), _) => Ok(()),
        }
    }

    /// Returns the solver of a problem, and how Prox-SDCA chooses its steps if that was asked for.
    pub(super) fn solver(
        &self,
        penalty: Penalty,
        weights: Option<Vec<f64>>,
        threads: usize,
    ) -> Result<(SolverSettings, Option<Choice>)> {
        match self {
            Self::Ball(settings) => Ok((SolverSettings::Ball(*settings), None)),
            Self::Dual(method) => {
                let settings = method.settings(penalty, weights, threads)?;
                Ok((SolverSettings::Dual(settings), method.option))
            }
            Self::Newton(settings) => {
                let settings = newton::NewtonSettings { threads, ..*settings };
                Ok((SolverSettings::Newton(settings), None))
            }
            Self::Coordinates(_) => {
                Ok((SolverSettings::Coordinates(coordinates::CoordinateSettings { threads }), None))
            }
            Self::Subgradient(settings) => {
                let settings = subgradient::SubgradientSettings { threads, ..*settings };
                Ok((SolverSettings::Subgradient(settings), None))
            }
            Self::CuttingPlane(settings) => {
                let settings = cutting_plane::CuttingPlaneSettings { threads, ..*settings };
                Ok((SolverSettings::CuttingPlane(settings), None))
            }
            Self::ExponentiatedGradient(settings) => {
                let settings = exponentiated_gradient::GradientSettings { threads, ..*settings };
                Ok((SolverSettings::ExponentiatedGradient(settings), None))
            }
            Self::Auto => Self::Auto.for_penalty(&penalty)?.solver(penalty, weights, threads),
        }
    }

    /// Whether a run can begin at the dual point of another model.
    pub(super) fn has_warm_starts(&self) -> bool {
        !matches!(self, Self::ExponentiatedGradient(_))
    }

    /// Returns the seed of the random order.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Auto | Self::Newton(_) | Self::Coordinates(_) => 0,
            Self::Dual(method) => method.seed,
            Self::Ball(settings) => settings.seed,
            Self::Subgradient(settings) => settings.seed,
            Self::CuttingPlane(settings) => settings.seed,
            Self::ExponentiatedGradient(settings) => settings.seed,
        }
    }
}
