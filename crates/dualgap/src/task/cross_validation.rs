//! Cross-validation: finds the λ, the σ or the radius that predicts held-out examples best.
//!
//! From the simplest, the largest λ or σ or the smallest radius, to the last, a model is trained without each of the folds
//! and tested on that fold. With e_k the error on fold k of K,
//!
//! ```text
//! ē = (1/K) Σ e_k        standard error = √(Σ (e_k − ē)² / (K (K − 1)))
//! ```
//!
//! The choice is by ē, or where the labels are those of chunks by the mean F1.
//!
//! Every one of these models has its own certificate, so no λ looks worse than another because its training ended
//! too early. Where only the gap ends a run, each begins with the dual point of the number before, if its solver can: where
//! it begins then makes no difference to what it reaches. Under a limit, such as one in passes, it would, so that all runs
//! begin anew, as the run on all data with the chosen number does.

use super::{Grid, Method, Model, Over, Plan, Task, TaskSpec};
use crate::data::{DataSet, Folds};
use crate::run::{Budget, Certificate, Stop};
use crate::structure::{Evaluation, Structure};
use crate::{Error, Result};
use serde::Serialize;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The score of a model on held-out examples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The fraction of wrong labels, or the root mean squared error of numbers.
    pub error: f64,
    /// The F1 of chunks, if the labels are chunk labels.
    pub f1: Option<f64>,
}

impl From<&Evaluation> for Score {
    fn from(evaluation: &Evaluation) -> Self {
        Self { error: evaluation.error(), f1: evaluation.f1() }
    }
}

/// A model that was trained without a fold and tested on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The score on the fold.
    pub score: Score,
    /// The certificate of the training run.
    pub certificate: Certificate,
    /// Why the training ended.
    pub stop: Stop,
    /// Passes over the data of the other folds.
    pub passes: f64,
    /// Seconds of solving and certifying.
    pub seconds: f64,
}

/// One λ, σ or radius and its trials, one for each fold.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The λ, σ or radius.
    pub value: f64,
    /// One for each fold.
    pub trials: Vec<Trial>,
}

impl Candidate {
    /// Returns what the choice makes small: 1 − F1 of chunks where every fold has them, or else [`error`](Self::error).
    pub fn cost(&self) -> f64 {
        self.f1().map_or_else(|| self.error(), |f1| 1.0 - f1)
    }

    /// Returns the standard error of [`cost`](Self::cost).
    pub fn standard_error_of_cost(&self) -> f64 {
        match self.f1() {
            Some(mean) => self.deviation(mean, |trial| trial.score.f1.unwrap_or(0.0)),
            None => self.standard_error(),
        }
    }

    /// Returns ē.
    pub fn error(&self) -> f64 {
        self.mean(|trial| trial.score.error)
    }

    /// Returns the standard error of ē.
    pub fn standard_error(&self) -> f64 {
        self.deviation(self.error(), |trial| trial.score.error)
    }

    fn deviation(&self, mean: f64, of: impl Fn(&Trial) -> f64) -> f64 {
        let count = self.trials.len() as f64;
        let squares: f64 = self.trials.iter().map(|trial| (of(trial) - mean).powi(2)).sum();
        (squares / (count * (count - 1.0))).sqrt()
    }

    /// Returns the mean F1 of the folds, if every one has chunks.
    pub fn f1(&self) -> Option<f64> {
        let all = self.trials.iter().all(|trial| trial.score.f1.is_some());
        all.then(|| self.mean(|trial| trial.score.f1.unwrap_or(0.0)))
    }

    /// Returns the mean of a quantity over the folds.
    pub fn mean(&self, of: impl Fn(&Trial) -> f64) -> f64 {
        self.trials.iter().map(of).sum::<f64>() / self.trials.len() as f64
    }

    /// Returns the largest relative gap of a trial.
    pub fn worst_gap(&self) -> f64 {
        self.trials.iter().map(|trial| trial.certificate.relative_gap()).fold(0.0, f64::max)
    }

    /// Returns the largest gap of a trial in units of the objective, rounding included; see
    /// [`Certificate::gap_bound`].
    pub fn worst_gap_bound(&self) -> f64 {
        self.trials.iter().map(|trial| trial.certificate.gap_bound()).fold(0.0, f64::max)
    }

    /// Returns the largest relative gap of a trial, rounding included; see [`Certificate::relative_gap_bound`].
    pub fn worst_relative_gap_bound(&self) -> f64 {
        self.trials.iter().map(|trial| trial.certificate.relative_gap_bound()).fold(0.0, f64::max)
    }

    /// Whether every trial reached the tolerance.
    pub fn is_reached(&self) -> bool {
        self.trials.iter().all(|trial| trial.stop == Stop::GapReached)
    }
}

/// An end of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The largest number.
    Largest,
    /// The smallest number.
    Smallest,
}

/// The result of a cross-validation: candidates from the simplest, that is the largest λ or σ or the smallest radius, on.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// What the grid is over.
    pub over: Over,
    /// The candidates; at least one.
    pub candidates: Vec<Candidate>,
}

impl CrossValidation {
    /// Returns the index of the candidate with the smallest [cost](Candidate::cost); among equal ones the simplest.
    pub fn best(&self) -> usize {
        // A cost that is NaN is never the smallest.
        let least = self.candidates.iter().map(Candidate::cost).fold(f64::INFINITY, f64::min);
        self.first_within(least)
    }

    /// Returns the index of the simplest candidate whose cost is within one standard error of the best.
    pub fn simplest(&self) -> usize {
        let best = &self.candidates[self.best()];
        self.first_within(best.cost() + best.standard_error_of_cost())
    }

    /// Returns the end of the grid at which the best candidate lies, if the one next to it is worse: a better one may lie
    /// beyond that end.
    pub fn edge(&self) -> Option<Edge> {
        let (best, last) = (self.best(), self.candidates.len() - 1);
        let least = self.candidates[best].cost() * (1.0 + SAME);
        let (first, other) = match self.over {
            Over::Lambda | Over::L1 => (Edge::Largest, Edge::Smallest),
            Over::Radius => (Edge::Smallest, Edge::Largest),
        };
        match best {
            _ if last == 0 => None,
            0 => (self.candidates[1].cost() > least).then_some(first),
            _ => (best == last).then_some(other),
        }
    }

    fn first_within(&self, most: f64) -> usize {
        let most = most * (1.0 + SAME);
        self.candidates.iter().position(|candidate| candidate.cost() <= most).unwrap_or(0)
    }
}

/// Relative tolerance for equal means: those that differ by less differ only by rounding.
const SAME: f64 = 1e-12;

/// How a cross-validation trains its models.
#[derive(Clone, Debug)]
pub struct TrialPlan {
    /// When each run stops.
    pub budget: Budget,
    /// The solver and its settings.
    pub method: Method,
    /// The number of threads; zero stands for all cores. Folds come first, which are independent, and the rest go to the
    /// runs. The result does not depend on it.
    pub threads: usize,
}

impl TrialPlan {
    /// Plans trials by the default method on all cores.
    pub fn new(budget: Budget) -> Self {
        Self { budget, method: Method::Auto, threads: 0 }
    }

    /// Whether nothing but the gap ends a run.
    fn ends_by_gap(&self) -> bool {
        let Budget { passes, oracle_calls, seconds, .. } = &self.budget;
        passes.is_none() && oracle_calls.is_none() && seconds.is_none()
    }
}

/// What a search has found, and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The candidates that were tried on every fold; there may be none if the search was interrupted.
    pub found: CrossValidation,
    /// Why it ended.
    pub end: SearchEnd,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// Every number was tried.
    Complete,
    /// The last numbers were no better than those before, and the patience was at its end.
    NoBetter,
    /// It was interrupted.
    Interrupted,
}

/// What a search tells while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// A run has ended, on any thread.
    Run(&'a Trial),
    /// A number was tried on every fold.
    Candidate(&'a Candidate),
}

impl<S: Structure> Task<S> {
    /// Tries every number of a grid on every fold; see [`TaskSpec::cross_validate`].
    pub fn cross_validate(
        &self,
        data: &S::Data,
        folds: &Folds,
        grid: impl Into<Grid>,
        plan: &TrialPlan,
        ended: impl Fn() + Sync,
    ) -> Result<Option<CrossValidation>> {
        TaskSpec::from(self.clone()).cross_validate(data, folds, grid, plan, ended)
    }

    /// Returns folds that suit the structure: those of classes have every class in proportion.
    pub fn folds(&self, data: &S::Data, count: usize, seed: u64) -> Result<Folds> {
        match self.structure.classes(data) {
            Some(classes) => Folds::stratified(classes.numbers(), count, seed),
            None => Folds::plain(data.len(), count, seed),
        }
    }
}

impl<S: Structure> TaskSpec<S> {
    /// Tries every number of a grid, those of a list being λ, on every fold. What depends on the data, such as balanced
    /// class weights, depends on the examples outside the fold; the task's own number does not matter. `ended` is called after each run. Returns `None` if a run was
    /// interrupted.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Multiclass;
    /// use dualgap::task::{Edge, Task, TrialPlan};
    /// use dualgap::term::Penalty;
    ///
    /// let rows: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i), 1.0]).collect();
    /// let labels: Vec<&str> = (0..12).map(|i| if i < 6 { "low" } else { "high" }).collect();
    /// let data = Examples::from_dense(&rows, &labels)?;
    /// let task = Task::new(Multiclass::default(), Penalty::ridge(1.0));
    /// let (folds, plan) = (task.folds(&data, 3, 0)?, TrialPlan::new(Budget::relative(0.01)));
    /// let found = task.cross_validate(&data, &folds, &[0.01, 100.0], &plan, || ())?;
    /// let found = found.expect("nobody interrupts");
    /// let best = &found.candidates[found.best()];
    /// assert_eq!((best.value, found.edge()), (0.01, Some(Edge::Smallest)));
    /// let simplest = &found.candidates[found.simplest()];
    /// assert!(simplest.error() <= best.error() + best.standard_error());
    /// assert!(found.candidates.iter().all(|candidate| candidate.worst_gap() <= 0.01));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn cross_validate(
        &self,
        data: &S::Data,
        folds: &Folds,
        grid: impl Into<Grid>,
        plan: &TrialPlan,
        ended: impl Fn() + Sync,
    ) -> Result<Option<CrossValidation>> {
        let told = |told: Told<'_>| match told {
            Told::Run(_) => ended(),
            Told::Candidate(_) => (),
        };
        let search = self.try_folds(data, folds, folds.count(), grid.into(), plan, None, &told)?;
        Ok((search.end != SearchEnd::Interrupted).then_some(search.found))
    }

    /// [`cross_validate`](Self::cross_validate) that tells of every number as it is done, and leaves what it has found when
    /// it is interrupted. With a patience it ends after so many numbers in a row that are no better than the best before.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// # use dualgap::run::Budget;
    /// # use dualgap::structure::Multiclass;
    /// # use dualgap::task::{SearchEnd, Task, TaskSpec, Told, TrialPlan};
    /// # use dualgap::term::Penalty;
    /// # let rows: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i), 1.0]).collect();
    /// # let labels: Vec<&str> = (0..12).map(|i| if i < 6 { "low" } else { "high" }).collect();
    /// # let data = Examples::from_dense(&rows, &labels)?;
    /// # let task = Task::new(Multiclass::default(), Penalty::ridge(1.0));
    /// # let (folds, plan) = (task.folds(&data, 3, 0)?, TrialPlan::new(Budget::relative(0.01)));
    /// let told = |told: Told<'_>| match told {
    ///     Told::Candidate(candidate) => println!("{}: {}", candidate.value, candidate.cost()),
    ///     Told::Run(_) => (),
    /// };
    /// let search = TaskSpec::from(task).search(&data, &folds, &[100.0, 0.01], &plan, None, told)?;
    /// assert_eq!((search.end, search.found.candidates.len()), (SearchEnd::Complete, 2));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn search(
        &self,
        data: &S::Data,
        folds: &Folds,
        grid: impl Into<Grid>,
        plan: &TrialPlan,
        patience: Option<usize>,
        told: impl Fn(Told<'_>) + Sync,
    ) -> Result<Search> {
        self.try_folds(data, folds, folds.count(), grid.into(), plan, patience, &told)
    }

    /// Tries a grid on so many folds, the first ones.
    #[allow(clippy::too_many_arguments)] // those of a search, and one
    pub(super) fn try_folds(
        &self,
        data: &S::Data,
        folds: &Folds,
        tried: usize,
        grid: Grid,
        plan: &TrialPlan,
        patience: Option<usize>,
        told: &(dyn Fn(Told<'_>) + Sync),
    ) -> Result<Search> {
        let Grid { over, values } = grid;
        if folds.count() < 2 {
            return Err(Error::setting("a cross-validation needs at least two folds"));
        }
        let threads_each = (threads_of(plan.threads) / tried).max(1);
        let warm = plan.ends_by_gap();
        // The model of the number before, of each fold. No two runs are of the same fold at a time.
        let before: Vec<Mutex<Option<Model<S>>>> = (0..tried).map(|_| Mutex::default()).collect();
        let attempt = |value: f64, fold: usize| {
            if plan.budget.interrupt.raised() {
                return Ok(None);
            }
            // Parts are made when they are needed: all of them would be several times the data.
            let train = data.subset(&folds.outside(fold));
            let task = self.at(over, value)?.resolve(&train)?;
            let plan = Plan {
                method: plan.method.clone(),
                threads: threads_each,
                ..Plan::new(plan.budget.clone())
            };
            let mut before = before[fold].lock().unwrap_or_else(PoisonError::into_inner);
            let report = task
                .fit_near(&train, plan, before.as_ref())
                .map_err(|error| of_run(error, fold, over, value))?;
            drop(train);
            let score = Score::from(&report.model.evaluate(&data.subset(&folds.inside(fold)))?);
            let trial = Trial {
                score,
                certificate: report.certificate,
                stop: report.stop,
                passes: report.passes,
                seconds: report.solve_seconds + report.certify_seconds,
            };
            if trial.stop == Stop::Interrupted {
                return Ok(None);
            }
            told(Told::Run(&trial));
            *before = warm.then_some(report.model);
            Ok(Some(trial))
        };
        let values = over.sorted(&values)?;
        try_values(over, &values, tried, plan.threads, patience, &attempt, told)
    }
}

/// Tries one number after the other on all folds at the same time. `attempt` is a run with a number on a fold, or none if it
/// was interrupted.
///
/// This knows of no structure, and is compiled once.
fn try_values(
    over: Over,
    values: &[f64],
    tried: usize,
    threads: usize,
    patience: Option<usize>,
    attempt: &(dyn Fn(f64, usize) -> Result<Option<Trial>> + Sync),
    told: &(dyn Fn(Told<'_>) + Sync),
) -> Result<Search> {
    let mut search = Search {
        found: CrossValidation { over, candidates: Vec::new() },
        end: SearchEnd::Complete,
    };
    let (mut least, mut worse) = (f64::INFINITY, 0);
    for &value in values {
        let runs = in_parallel(tried, threads, &|fold| attempt(value, fold))?;
        let Some(trials) = runs.into_iter().collect::<Option<Vec<Trial>>>() else {
            search.end = SearchEnd::Interrupted;
            break;
        };
        let candidate = Candidate { value, trials };
        told(Told::Candidate(&candidate));
        worse = if candidate.cost() < least { 0 } else { worse + 1 };
        least = least.min(candidate.cost());
        search.found.candidates.push(candidate);
        if patience.is_some_and(|most| worse >= most)
            && search.found.candidates.len() < values.len()
        {
            search.end = SearchEnd::NoBetter;
            break;
        }
    }
    Ok(search)
}

/// Returns a number of threads, that of all cores for 0.
fn threads_of(threads: usize) -> usize {
    match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    }
}

/// Adds to an error which of the many runs it comes from.
fn of_run(error: Error, fold: usize, over: Over, value: f64) -> Error {
    match error {
        Error::Unsound { message } => Error::Unsound {
            message: format!("{} {value:e}, without fold {}: {message}", over.name(), fold + 1),
        },
        other => other,
    }
}

/// Calls `work` for 0, 1, …, each on the next free thread, and returns the results in that order.
///
/// The threads are not rayon's: a rayon worker that waits for a run on other threads would start a second fold in
/// the meantime, which would need memory for its data and add its time to that of the first fold.
fn in_parallel<T: Send>(
    count: usize,
    threads: usize,
    work: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let threads = threads_of(threads);
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return Ok(done);
            }
            match work(k) {
                Ok(result) => done.push((k, result)),
                Err(error) => {
                    // The result is an error, so no thread needs to start another item.
                    next.store(count, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let mut done = thread::scope(|scope| {
        let more = (1..threads.min(count)).map(|_| {
            thread::Builder::new().spawn_scoped(scope, share).map_err(|error| {
                Error::setting(format!("no threads can be started: {error}")).caused_by(error)
            })
        });
        let more = more.collect::<Result<Vec<_>>>();
        let mut done = share()?;
        for thread in more? {
            done.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok::<_, Error>(done)
    })?;
    done.sort_by_key(|&(k, _)| k);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(value: f64, errors: &[f64]) -> Candidate {
        let side = crate::linalg::Measured { value: 1.0, error: 0.0 };
        let certificate = Certificate::new(side, side, true).unwrap();
        let trial = |&error: &f64| Trial {
            score: Score { error, f1: None },
            certificate,
            stop: Stop::GapReached,
            passes: 1.0,
            seconds: 0.0,
        };
        Candidate { value, trials: errors.iter().map(trial).collect() }
    }

    /// Candidates with these mean errors, each with a standard error of 0.1.
    fn found(errors: &[f64]) -> CrossValidation {
        let beside = |&e: &f64| candidate(1.0, &[e - 0.1, e + 0.1]);
        CrossValidation { over: Over::Lambda, candidates: errors.iter().map(beside).collect() }
    }

    proptest! {
        // The expected value uses the variance formula without the mean: Σe² − (Σe)²/K.
        #[test]
        fn the_standard_error_is_that_of_the_mean(errors in prop::collection::vec(0.0..1.0_f64, 2..12)) {
            let k = errors.len() as f64;
            let (sum, squares) = errors.iter().fold((0.0, 0.0), |(s, q), e| (s + e, q + e * e));
            let variance = ((squares - sum * sum / k) / (k - 1.0)).max(0.0);
            let candidate = candidate(1.0, &errors);
            prop_assert!((candidate.error() - sum / k).abs() < 1e-12);
            prop_assert!((candidate.standard_error().powi(2) - variance / k).abs() < 1e-12);
        }

        #[test]
        fn the_simplest_is_the_first_that_is_nearly_as_good(errors in prop::collection::vec(0.0..1.0_f64, 1..9)) {
            let found = found(&errors);
            let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(errors[found.best()] <= least + 1e-12);
            let simplest = found.simplest();
            prop_assert!(simplest <= found.best() && errors[simplest] <= least + 0.1 + 1e-12);
            prop_assert!(errors[..simplest].iter().all(|e| *e > least + 0.1 - 1e-12));
        }
    }

    #[test]
    fn of_equal_errors_the_largest_lambda_is_best_and_no_number_is_worst() {
        assert_eq!(found(&[0.3, 0.2, 0.2, 0.4]).best(), 1);
        assert_eq!(found(&[f64::NAN, f64::INFINITY, 0.9, f64::NAN]).best(), 2);
        assert_eq!(found(&[f64::NAN, f64::INFINITY]).best(), 1);
        assert_eq!(found(&[f64::NAN, -f64::NAN]).simplest(), 0);
    }

    #[test]
    fn chunks_are_judged_by_their_f1() {
        let with = |value: f64, error: f64, f1: &[f64]| {
            let mut candidate = candidate(value, &vec![error; f1.len()]);
            candidate.trials.iter_mut().zip(f1).for_each(|(trial, f1)| trial.score.f1 = Some(*f1));
            candidate
        };
        let candidates = vec![with(2.0, 0.1, &[0.5, 0.7]), with(1.0, 0.2, &[0.8, 0.9])];
        assert!((candidates[1].cost() - 0.15).abs() < 1e-12);
        assert!((candidates[1].standard_error_of_cost() - 0.05).abs() < 1e-12);
        let found = CrossValidation { over: Over::Lambda, candidates };
        assert_eq!((found.best(), found.edge()), (1, Some(Edge::Smallest)));
    }

    #[test]
    fn equal_errors_in_another_order_are_equal() {
        let (errors, other) = ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]);
        assert_ne!(errors.iter().sum::<f64>(), other.iter().sum::<f64>());
        for pair in [[errors, other], [other, errors]] {
            let candidates = pair.iter().map(|errors| candidate(1.0, errors)).collect();
            assert_eq!(CrossValidation { over: Over::L1, candidates }.best(), 0);
        }
    }

    #[test]
    fn an_edge_is_told_where_the_best_is_alone_at_an_end() {
        let edge = |errors: &[f64]| found(errors).edge();
        assert_eq!(edge(&[0.1, 0.2, 0.3]), Some(Edge::Largest));
        assert_eq!(edge(&[0.3, 0.2, 0.1]), Some(Edge::Smallest));
        for inside in [&[0.2, 0.1, 0.3][..], &[0.1, 0.1, 0.3], &[0.2, 0.1, 0.1], &[0.1]] {
            assert_eq!(edge(inside), None, "{inside:?}");
        }
        let radii = CrossValidation { over: Over::Radius, ..found(&[0.1, 0.2]) };
        assert_eq!(radii.edge(), Some(Edge::Smallest), "the smallest radius comes first");
    }

    #[test]
    fn results_come_in_order_and_an_error_ends_it() {
        for threads in [0, 1, 3, 20] {
            assert_eq!(in_parallel(7, threads, &|k| Ok(k * k)).unwrap(), [0, 1, 4, 9, 16, 25, 36]);
            let failing = |k| if k == 4 { Err(Error::setting("four")) } else { Ok(k) };
            assert_eq!(in_parallel(7, threads, &failing).unwrap_err().to_string(), "four");
        }
    }
}
