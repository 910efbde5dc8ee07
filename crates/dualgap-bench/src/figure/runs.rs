//! Training with an eye on every certificate, and several runs side by side.

use super::curves::Trace;
use dualgap::Result;
use dualgap::run::{
    Budget, Certificate, Certified, Observer, Progress, Quota, Report, Solver, Work,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A certificate on the way of a run.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Oracle calls in passes over the data.
    pub passes: f64,
    pub steps: u64,
    pub seconds: f64,
    /// P and D of the iterate, or of the average that the method returns.
    pub primal: f64,
    pub dual: f64,
    /// The gap of the best pair so far.
    pub gap: f64,
    /// The error on test data.
    pub error: Option<f64>,
}

impl From<&Progress> for Seen {
    fn from(progress: &Progress) -> Self {
        Self {
            passes: progress.passes,
            steps: progress.work.steps,
            seconds: progress.solve_seconds,
            primal: progress.iterate_primal,
            dual: progress.certificate.dual,
            gap: progress.certificate.gap(),
            error: progress.test_error,
        }
    }
}

/// A run, certificate by certificate.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub seen: Vec<Seen>,
}

impl Run {
    pub fn of<M>(report: &Report<M>) -> Self {
        Self { seen: report.history.iter().map(Seen::from).collect() }
    }

    /// The largest dual value that was proved.
    pub fn dual(&self) -> f64 {
        self.seen.iter().map(|seen| seen.dual).fold(f64::NEG_INFINITY, f64::max)
    }

    /// One number against another.
    pub fn trace(&self, x: impl Fn(&Seen) -> f64, y: impl Fn(&Seen) -> f64) -> Trace {
        self.seen.iter().map(|seen| (x(seen), y(seen))).collect()
    }

    /// How far P is above `optimum`, against effective passes.
    pub fn suboptimality(&self, optimum: f64) -> Trace {
        self.trace(|seen| seen.passes, |seen| seen.primal - optimum)
    }

    /// The error on test data against effective passes.
    pub fn errors(&self) -> Trace {
        self.seen.iter().filter_map(|seen| Some((seen.passes, seen.error?))).collect()
    }
}

/// Keeps what every certificate says, and has the error of its weights told by `judge`.
pub struct Eye<J> {
    pub run: Run,
    pub judge: J,
}

impl<J: Send + FnMut(&[f64]) -> Result<Option<f64>>> Observer for Eye<J> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        let error = (self.judge)(weights)?;
        self.run.seen.push(Seen { error, ..Seen::from(progress) });
        Ok(())
    }
}

/// A solver whose weights are those of the present, not the best so far: what a figure of test errors is about.
pub struct Present<S, F> {
    solver: S,
    now: F,
    weights: Vec<f64>,
}

impl<S: Solver, F: Fn(&S) -> Vec<f64>> Present<S, F> {
    /// `now` returns the iterate, or the average that the method is named after.
    pub fn new(solver: S, now: F) -> Self {
        Self { solver, now, weights: Vec::new() }
    }
}

impl<S: Solver, F: Fn(&S) -> Vec<f64>> Solver for Present<S, F> {
    type Model = ();

    fn calls_per_pass(&self) -> u64 {
        self.solver.calls_per_pass()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        self.solver.advance(quota)
    }

    fn certify(&mut self) -> Result<Certified> {
        let certified = self.solver.certify()?;
        self.weights = (self.now)(&self.solver);
        Ok(certified)
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn into_model(self) {}
}

/// A budget of passes that is certified about every `1/share` of them; no gap ends it.
pub fn passes(passes: u64, share: f64) -> Budget {
    Budget { certify_share: share, ..Budget::passes(passes) }
}

/// What is known of an optimum: it lies between the two values of this certificate.
pub fn bracket(certificate: &Certificate, runs: &[&Run]) -> (f64, f64) {
    let dual = runs.iter().map(|run| run.dual()).fold(certificate.dual, f64::max);
    let lowest = |run: &&Run| run.seen.iter().map(|s| s.primal).fold(f64::INFINITY, f64::min);
    (dual, runs.iter().map(lowest).fold(certificate.primal, f64::min))
}

/// Does all of the work, so many at a time, and returns what comes out in the order of what went in.
pub fn side_by_side<T: Sync, R: Send>(
    jobs: usize,
    work: &[T],
    run: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(work.len()) {
            scope.spawn(|| {
                while let Some((place, item)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    work.get(place).map(|item| (place, item))
                } {
                    let result = run(item);
                    if let Ok(mut done) = done.lock() {
                        done.push((place, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_side_by_side_comes_back_in_order() {
        let squares = side_by_side(3, &[1_u64, 2, 3, 4, 5], |x| Ok(x * x)).unwrap();
        assert_eq!(squares, [1, 4, 9, 16, 25]);
        let failing = |x: &u64| {
            if *x == 2 { Err(dualgap::Error::setting("two")) } else { Ok(*x) }
        };
        assert!(side_by_side(2, &[1_u64, 2, 3], failing).is_err());
    }
}
