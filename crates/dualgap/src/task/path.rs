//! A path: models that together are within a tolerance at every λ of an interval, each proved on a part of it.
//!
//! A model and its witness prove a bound not only at the λ they were trained at but on an interval around it
//! ([`Reach`]). The path begins at the largest λ, where solving is cheapest, and goes down. The interval of a model
//! is known once it is trained, so the next model is aimed as far below its end as it is likely to reach back. If it
//! does not reach back, a model in the middle of the hole fills it; every model covers something, so this
//! terminates. Each run starts from the dual point of the neighbouring model.

use super::{Method, Model, Plan, Task};
use crate::run::{Budget, Interval, Observer, Reach, Report, Stop, Tolerance};
use crate::structure::Structure;
use crate::{Error, Result};
use std::time::Instant;

/// The request for a path.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::{Budget, Interval, Tolerance};
/// use dualgap::structure::Multiclass;
/// use dualgap::task::{Ending, PathPlan, Task};
/// use dualgap::term::Penalty;
///
/// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![0.9, 0.0], vec![0.0, 0.7]];
/// let data = Examples::from_dense(&rows, &["left", "right", "left", "right"])?;
/// let wanted = PathPlan::new(Interval::new(0.01, 1.0)?, Tolerance::Relative(0.05));
/// let task = Task::new(Multiclass::default(), Penalty::ridge(1.0));
/// let mut models = Vec::new();
/// let covered = task.path(&data, &wanted, |_| None, |piece| {
///     models.push((piece.lambda(), piece.interval));
///     Ok(())
/// })?;
/// assert_eq!((covered.from, covered.ending), (Some(0.01), Ending::Whole));
/// assert!(models.windows(2).all(|pair| pair[0].1.from <= pair[1].1.to), "no holes");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathPlan {
    /// The interval of λ to cover.
    pub within: Interval,
    /// The gap that a model must not exceed at a λ to cover it.
    pub tolerance: Tolerance,
    /// The limits on passes and oracle calls apply to each model, the limit on seconds and the interrupt to the
    /// whole path. The tolerances of the budget are ignored.
    pub budget: Budget,
    /// The solver and its settings.
    pub method: Method,
    /// The number of threads; zero stands for all cores.
    pub threads: usize,
}

impl PathPlan {
    /// Plans a path by the default method, without limits.
    pub fn new(within: Interval, tolerance: Tolerance) -> Self {
        Self { within, tolerance, budget: Budget::default(), method: Method::Auto, threads: 0 }
    }
}

/// A model, and the interval on which it is proved to be within the tolerance.
#[derive(Clone, Debug)]
pub struct Piece<S> {
    /// The report of the run that trained the model.
    pub report: Report<Model<S>>,
    /// The bound that it proves at any λ.
    pub reach: Reach,
    /// Its part of the path; the intervals of neighbours overlap or touch.
    pub interval: Interval,
}

impl<S> Piece<S> {
    /// Returns the λ that the model was trained at.
    pub fn lambda(&self) -> f64 {
        self.report.model.lambda()
    }
}

/// How much of the interval a path covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covered {
    /// The smallest λ such that all from there up to the largest are covered, or `None` if no λ is.
    pub from: Option<f64>,
    /// Why the path ended.
    pub ending: Ending,
    /// Passes over the data, of all runs.
    pub passes: f64,
}

/// Why a path ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// Every λ is covered.
    Whole,
    /// The model of this λ is not within the tolerance or proves nothing new, or no further run could begin.
    Short {
        /// The λ at which the path ended.
        lambda: f64,
        /// Why the run at that λ ended, or why it did not begin.
        stop: Stop,
    },
}

/// A run ends at this fraction of the tolerance; the rest lets the model cover other λ. A smaller fraction makes
/// runs longer, a larger one makes more of them. On the OCR letters, from 0.3 to 0.8, paths took 152, 96, 72 and 92
/// passes.
const SHARE: f64 = 0.6;

/// How far below the covered part the next model is aimed, as a power of the ratio that the last one reached down: a
/// model reaches up about as far as down, and usually a little further. More than 1 leaves holes that take further
/// models to fill.
const AIM: f64 = 0.95;

impl<S> Model<S> {
    /// Returns the λ of the penalty, or zero for a penalty that has none.
    fn lambda(&self) -> f64 {
        self.task.penalty.lambda().unwrap_or(0.0)
    }
}

impl<S: Structure> Task<S> {
    /// Computes a path: models that together are within the tolerance at every λ of the interval. The task's own λ does
    /// not matter.
    ///
    /// `observe` may return an observer for the run that is about to begin within this budget. `each` receives the
    /// pieces in order, the largest λ first, and each piece reaches back to the one before.
    pub fn path(
        &self,
        data: &S::Data,
        wanted: &PathPlan,
        mut observe: impl FnMut(&Budget) -> Option<Box<dyn Observer>>,
        each: impl FnMut(&Piece<S>) -> Result<()>,
    ) -> Result<Covered> {
        path(
            wanted,
            |lambda, budget, near| {
                let mut observer = observe(budget);
                let plan = Plan {
                    method: wanted.method.clone(),
                    threads: wanted.threads,
                    observer: observer
                        .as_mut()
                        .map(|observer| &mut **observer as &mut dyn Observer),
                    warm_start: near.filter(|_| wanted.method.has_warm_starts()),
                    ..Plan::new(budget.clone())
                };
                self.at_lambda(lambda)?.fit(data, plan)
            },
            |model| model.reach(data),
            each,
        )
    }
}

/// Computes a path. `fit` trains a model (at a λ, within a budget, from the witness of a model at a nearby λ) and
/// `reach` proves it.
fn path<S: Structure>(
    wanted: &PathPlan,
    mut fit: impl FnMut(f64, &Budget, Option<&Model<S>>) -> Result<Report<Model<S>>>,
    reach: impl Fn(&Model<S>) -> Result<Reach>,
    mut each: impl FnMut(&Piece<S>) -> Result<()>,
) -> Result<Covered> {
    let PathPlan { within, tolerance, budget, .. } = wanted;
    Interval::new(within.from, within.to)?;
    tolerance.check()?;
    budget.check()?;
    let begin = Instant::now();
    let mut passes = 0.0;
    // The last piece of the covered part, and the pieces below a hole, with the largest λ at the end.
    let (mut last, mut ahead): (Option<Piece<S>>, Vec<Piece<S>>) = (None, Vec::new());
    loop {
        let left = last.as_ref().map_or(within.to, |piece| piece.interval.from);
        let covered = last.as_ref().map(|_| left);
        if covered.is_some() && left <= within.from {
            return Ok(Covered { from: covered, ending: Ending::Whole, passes });
        }
        if let Some(piece) = ahead.pop_if(|piece| piece.interval.to >= left) {
            if last.is_some() && piece.interval.from >= left {
                let ending = Ending::Short { lambda: piece.lambda(), stop: piece.report.stop };
                return Ok(Covered { from: covered, ending, passes });
            }
            ahead.retain(|below| below.interval.from < piece.interval.from); // the others add nothing
            each(&piece)?;
            last = Some(piece);
            continue;
        }
        let lambda = match (&last, ahead.last()) {
            (_, Some(below)) => middle(below.interval.to, left),
            (Some(last), None) => (left * (left / last.lambda()).powf(AIM)).max(within.from),
            (None, None) => within.to,
        };
        if let Some(stop) = over(budget, begin) {
            return Ok(Covered { from: covered, ending: Ending::Short { lambda, stop }, passes });
        }
        let near = last.as_ref().or(ahead.last()).map(|piece| &piece.report.model);
        let report = fit(lambda, &of_one_model(wanted, begin), near)?;
        passes += report.passes;
        let reach = reach(&report.model)?;
        let proved = reach.interval(*within, *tolerance);
        let Some(interval) = proved.filter(|proved| proved.contains(lambda)) else {
            let ending = Ending::Short { lambda, stop: report.stop };
            return Ok(Covered { from: covered, ending, passes });
        };
        ahead.push(Piece { report, reach, interval });
    }
}

/// Returns the middle of a hole, or its upper end if no number lies in between: a model that covers it reaches back.
fn middle(low: f64, high: f64) -> f64 {
    let middle = low.sqrt() * high.sqrt();
    if low < middle && middle < high { middle } else { high }
}

/// Returns the reason why no further run may begin, if there is one.
fn over(budget: &Budget, begin: Instant) -> Option<Stop> {
    let late = budget.seconds.is_some_and(|seconds| begin.elapsed().as_secs_f64() >= seconds);
    let interrupted = budget.interrupt.raised().then_some(Stop::Interrupted);
    interrupted.or(late.then_some(Stop::TimeLimit))
}

/// Returns the budget of the next run: its tolerance, and the seconds that are left.
fn of_one_model(wanted: &PathPlan, begin: Instant) -> Budget {
    let PathPlan { tolerance, budget, .. } = wanted;
    let (relative, absolute) = match *tolerance {
        Tolerance::Relative(share) => (Some(SHARE * share), None),
        Tolerance::Absolute(gap) => (None, Some(SHARE * gap)),
    };
    let spent = begin.elapsed().as_secs_f64();
    let seconds = budget.seconds.map(|seconds| (seconds - spent).max(0.0));
    Budget { relative, absolute, seconds, ..budget.clone() }
}

/// Verifies a path: all models solve the same problem except for λ, each is within the tolerance on the whole
/// interval that is claimed for it, and together they cover every λ of `within`. Claims are in order, the largest λ
/// first.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::{Budget, Interval, Tolerance};
/// use dualgap::structure::Linear;
/// use dualgap::task::{Plan, Task, check_path};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 5.0])?;
/// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
/// let model = task.fit(&data, Plan::new(Budget::relative(0.001)))?.model;
/// let claimed = Interval::new(0.095, 0.105)?;
/// let check = |within| {
///     let claims = [Ok((model.clone(), claimed))];
///     check_path(claims, within, Tolerance::Relative(0.05), |model| model.reach(&data))
/// };
/// check(claimed)?;
/// assert!(check(Interval::new(0.01, 0.105)?).is_err(), "no model is for the λ below");
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn check_path<S: Structure>(
    claims: impl IntoIterator<Item = Result<(Model<S>, Interval)>>,
    within: Interval,
    tolerance: Tolerance,
    reach: impl Fn(&Model<S>) -> Result<Reach>,
) -> Result<()> {
    let refused = |message: String| Error::Refused {
        message,
        remedy: "the path is worth nothing for these data".into(),
        source: None,
    };
    Interval::new(within.from, within.to)?;
    tolerance.check()?;
    let (mut left, mut first) = (None, None);
    for claim in claims {
        let (model, Interval { from, to }) = claim?;
        Interval::new(from, to)?;
        let problem = problem_of(&model);
        if *first.get_or_insert_with(|| problem.clone()) != problem {
            let own = model.lambda();
            return Err(refused(format!(
                "the model of λ = {own} is of another problem than the first"
            )));
        }
        if to < left.unwrap_or(within.to) {
            let hole = left.unwrap_or(within.to);
            return Err(refused(format!("no model is for the λ between {to} and {hole}")));
        }
        let reach = reach(&model)?;
        for lambda in [from, to] {
            if !reach.holds(lambda, tolerance) {
                let own = model.lambda();
                return Err(refused(format!(
                    "the model of λ = {own} is not proved to be within the tolerance at λ = {lambda}"
                )));
            }
        }
        left = Some(from);
    }
    match left {
        Some(left) if left <= within.from => Ok(()),
        Some(left) => {
            Err(refused(format!("no model is for the λ between {} and {left}", within.from)))
        }
        None => Err(refused("there is no model".into())),
    }
}

/// Returns what P and D depend on, except λ and the data.
fn problem_of<S: Structure>(model: &Model<S>) -> (Task<S>, Option<Vec<f64>>) {
    let task = model.task.at_lambda(1.0).unwrap_or_else(|_| model.task.clone());
    (task, model.sample_weights.clone())
}
