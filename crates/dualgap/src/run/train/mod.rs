//! The only training loop of the project.
//!
//! The loop solves for a while, certifies, and checks whether to stop. Counted work decides when to certify: a
//! certification costs one pass, and it is due as soon as all of them together stay within `certify_share` of the
//! solving work, but in a long run no sooner than when the work has grown by some percent: a run of a thousand passes
//! need not be certified every fourth. Where certifications do not move a solver, one comes sooner if the gap falls so fast that the
//! tolerance will be met long before. A solver that knows about what a certificate would say is certified when that is enough, and
//! where it is far from enough, only when its work has doubled. The clock can stop a run and does nothing else.

use crate::run::{
    Budget, Certificate, Certified, Checkpoint, CheckpointSink, Expected, Observer, Progress,
    Quota, Report, Resumable, RunState, Solver, Stop, Work,
};
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The longest that a certification may continue after the run should stop, before it falls back to coarser bounds. Most
/// certifications need less.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 10 } else { 5000 });

/// Returns how long a certification may continue: no longer than the run was given, so that one second ends after about two. A tenth of
/// the longest is left to shorter limits, or a limit of zero would have no bounds but the coarsest.
fn grace(budget: &Budget) -> Duration {
    let given = budget.seconds.map(Duration::try_from_secs_f64);
    given.and_then(Result::ok).unwrap_or(GRACE).clamp(GRACE / 10, GRACE)
}

/// The least relative growth of the work between certifications, times the share: at the default share of a quarter the
/// work grows by 5 %.
const LEAST_GROWTH: f64 = 0.05 * 0.25;

/// Returns the number of oracle calls after which the next certification is due, if each takes as long as `cost` passes.
fn next_certification(before: &[Progress], pass: u64, cost: f64, share: f64) -> u64 {
    let within_share = (before.len() as f64 + 1.0) * cost * pass as f64 / share;
    let last = before.last().map_or(0, |progress| progress.work.oracle_calls);
    let grown = last as f64 * (1.0 + LEAST_GROWTH / share);
    // In whole passes: a certificate is most useful when every block has been visited.
    ((within_share.max(grown) / pass as f64).ceil() as u64).saturating_mul(pass)
}

/// The gap may fall more slowly than it did, by this factor, ...
const SLOWER: f64 = 1.3;

/// ... and a certificate comes sooner only if that saves the work of more than so many: it may be in vain. By the gaps after every pass of
/// dual ascent on five data sets (hinges and logistic losses, λ from 1e-4 to 10/n, 152 tolerances from 0.1 to 1e-6 in all) passes and
/// certificates together are 4 % fewer so, for some tolerances 30 %, and more for none.
const SAVES: f64 = 2.0;

/// Returns the number of oracle calls after which the gap will meet the tolerance if it goes on falling as it did since the
/// certificate before the last, or, after the first one, since it was the whole objective.
fn promised(before: &[Progress], pass: u64, budget: &Budget) -> Option<u64> {
    let (last, earlier) = before.split_last()?;
    let Progress { certificate, work, .. } = last;
    let (gap, allowed) = (certificate.gap_bound(), budget.allowed(certificate.primal)?);
    let since = earlier.last().map_or((certificate.primal.abs(), 0), |progress| {
        (progress.certificate.gap_bound(), progress.work.oracle_calls)
    });
    let rate = (since.0 / gap).ln() / (work.oracle_calls as f64 - since.1 as f64);
    let calls = SLOWER * (gap / allowed).ln() / rate;
    let passes = ((work.oracle_calls as f64 + calls) / pass as f64).ceil();
    (calls > 0.0 && passes.is_finite()).then(|| (passes as u64).saturating_mul(pass))
}

/// Returns the number of oracle calls after which the next certification is due.
fn due(solver: &dyn Drive, before: &[Progress], pass: u64, budget: &Budget) -> u64 {
    let cost = solver.passes_per_certification();
    let due = next_certification(before, pass, cost, budget.certify_share);
    let saves = |sooner: &u64| due as f64 > *sooner as f64 + SAVES * cost * pass as f64;
    let sooner = promised(before, pass, budget).filter(|_| solver.may_hasten()).filter(saves);
    sooner.unwrap_or(due)
}

/// A deadline that the solver checks after every step. Only some checks read the clock, fewer if the steps are short:
/// reading it would cost as much as a short step itself.
struct Watch {
    deadline: Option<Instant>,
    /// Whether a check has found the deadline past: then all later ones do, also those that do not read the clock. Whoever was halted
    /// asks again whether that was so.
    past: AtomicBool,
    /// The number of checks for each reading of the clock, and how many are left before the next reading.
    stride: AtomicU32,
    left: AtomicU32,
    read: Mutex<Instant>,
}

impl Watch {
    /// The clock is read less often while readings are closer together than this.
    const OFTEN: Duration = Duration::from_micros(100);
    /// The most checks for each reading of the clock: more would save time, and notice the deadline later.
    const LONGEST: u32 = 64;

    fn new(deadline: Option<Instant>) -> Self {
        let (stride, left) = (AtomicU32::new(1), AtomicU32::new(0));
        let past = AtomicBool::new(false);
        Self { deadline, past, stride, left, read: Mutex::new(Instant::now()) }
    }

    fn is_past(&self) -> bool {
        let Some(deadline) = self.deadline else { return false };
        if self.past.load(Ordering::Relaxed) {
            return true;
        }
        // Checks that race with each other are counted wrongly, which does no harm.
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            return false;
        }
        let now = Instant::now();
        if let Ok(mut read) = self.read.lock() {
            let since = now - std::mem::replace(&mut *read, now);
            let stride = self.stride.load(Ordering::Relaxed);
            let stride = if since < Self::OFTEN { (stride * 2).min(Self::LONGEST) } else { 1 };
            self.stride.store(stride, Ordering::Relaxed);
            self.left.store(stride - 1, Ordering::Relaxed);
        }
        let past = now >= deadline;
        self.past.fetch_or(past, Ordering::Relaxed);
        past
    }
}

/// Stores a checkpoint. If that fails, the observer decides whether the run continues.
fn store(solver: &mut dyn Drive, state: &RunState, observer: &mut dyn Observer) -> Result<()> {
    match solver.store(state) {
        Err(error) if !observer.checkpoint_failed(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Trains until the budget ends the run, and always certifies the model that it returns.
pub fn run<S: Solver>(
    mut solver: S,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<S::Model>> {
    // Without a sink nothing is stored.
    let checkpoint = |_: &S, _: &RunState| Ok(Checkpoint::default());
    let mut driven = Driven { solver: &mut solver, sink: None, checkpoint };
    let (state, last, stop) = drive(&mut driven, RunState::default(), budget, observer)?;
    Ok(state.report(solver, last, stop))
}

/// [`run`] for a resumable solver, from the state of an earlier run; checkpoints go to the sink.
pub fn run_from<S: Resumable>(
    mut solver: S,
    state: RunState,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<S::Model>> {
    let mut driven = Driven { solver: &mut solver, sink, checkpoint: Checkpoint::of::<S> };
    let (state, last, stop) = drive(&mut driven, state, budget, observer)?;
    Ok(state.report(solver, last, stop))
}

/// A solver and its sink as the loop sees them: behind a trait object, so that the loop is compiled once.
trait Drive {
    fn calls_per_pass(&self) -> u64;
    fn passes_per_certification(&self) -> f64;
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work>;
    fn certify(&mut self) -> Result<Certified>;
    fn certify_until(&mut self, halted: &(dyn Fn() -> bool + Sync)) -> Result<Certified>;
    fn expected(&self) -> Option<Expected>;
    fn may_hasten(&self) -> bool;
    fn proved(&self) -> Option<Result<Certificate>>;
    fn may_stall(&self) -> bool;
    fn weights(&self) -> &[f64];
    fn interval(&self, calls_per_pass: u64) -> u64;
    fn store(&mut self, state: &RunState) -> Result<()>;
}

struct Driven<'a, 's, S, C> {
    solver: &'a mut S,
    sink: Option<&'s mut dyn CheckpointSink>,
    checkpoint: C,
}

impl<S: Solver, C: Fn(&S, &RunState) -> Result<Checkpoint>> Drive for Driven<'_, '_, S, C> {
    fn calls_per_pass(&self) -> u64 {
        self.solver.calls_per_pass()
    }

    fn passes_per_certification(&self) -> f64 {
        self.solver.passes_per_certification()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        self.solver.advance(quota)
    }

    fn certify(&mut self) -> Result<Certified> {
        self.solver.certify()
    }

    fn certify_until(&mut self, halted: &(dyn Fn() -> bool + Sync)) -> Result<Certified> {
        self.solver.certify_until(halted)
    }

    fn expected(&self) -> Option<Expected> {
        self.solver.expected()
    }

    fn may_hasten(&self) -> bool {
        self.solver.may_hasten()
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.solver.proved()
    }

    fn may_stall(&self) -> bool {
        self.solver.may_stall()
    }

    fn weights(&self) -> &[f64] {
        self.solver.weights()
    }

    fn interval(&self, calls_per_pass: u64) -> u64 {
        self.sink.as_ref().map_or(u64::MAX, |sink| sink.interval(calls_per_pass))
    }

    fn store(&mut self, state: &RunState) -> Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        sink.store((self.checkpoint)(self.solver, state)?)
    }
}

/// What the observer is told of a certification in this state of the run.
fn progress(state: &RunState, pass: u64, certified: &Certified) -> Progress {
    let certificate = certified.model;
    Progress {
        passes: state.work.oracle_calls as f64 / pass as f64,
        work: state.work,
        solve_seconds: state.solve_seconds,
        certify_seconds: state.certify_seconds,
        certificate,
        gap: certificate.certified.then(|| certificate.gap()),
        iterate_primal: certified.iterate.primal,
        iterate_dual: certified.iterate.dual,
        test_error: None,
    }
}

/// Returns when the time is up; the time limit includes earlier parts of the run.
fn deadline(state: &RunState, budget: &Budget) -> Option<Instant> {
    let spent = state.solve_seconds.max(0.0) + state.certify_seconds.max(0.0);
    let seconds = budget.seconds.map(|seconds| (seconds - spent).max(0.0))?;
    // Longer than a clock can count is no limit.
    Instant::now().checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// Returns why a run ends after this certification, or `None` if it continues.
fn end_after(
    certificate: &Certificate,
    state: &mut RunState,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Option<Stop> {
    let end = state.end(budget, certificate);
    if end == Some(Stop::GapReached) {
        state.refuted = None;
    }
    end.or_else(|| observer.hands_over().then_some(Stop::Interrupted))
}

/// Whether the solver expects a certificate that ends the run. `refuted` is the gap that was expected when a certificate did not
/// end it, because of rounding: an expectation counts again when its gap is less than half.
fn ends(expected: Expected, budget: &Budget, refuted: Option<f64>) -> bool {
    refuted.is_none_or(|refuted| expected.gap < 0.5 * refuted) && budget.would_be_met(expected)
}

/// Whether a certificate would be in vain, even if the solver expects too much. A run without a tolerance is one that somebody
/// watches: only where a solver knows its gap is there nothing to be learned.
fn is_far(expected: Expected, budget: &Budget) -> bool {
    let asked = budget.allowed(expected.primal).is_some() || expected.off <= 1.0;
    asked && !budget.would_be_met(Expected { gap: expected.gap / expected.off, ..expected })
}

/// Certifies again where an earlier run ended, if one did here: what it stored is not trusted, unless the solver has proved it
/// already.
fn certify_again(solver: &mut dyn Drive, state: &mut RunState) -> Result<Option<Progress>> {
    let Some(&last) = state.history.last().filter(|last| last.work == state.work) else {
        return Ok(None);
    };
    let certificate = match solver.proved() {
        Some(certificate) => certificate?,
        None => solver.certify()?.model,
    };
    let last = Progress { certificate, ..last };
    state.history.pop();
    state.history.push(last);
    Ok(Some(last))
}

/// Runs the loop; returns the state at the end of the run, the last certification, and why the run ended.
fn drive(
    solver: &mut dyn Drive,
    mut state: RunState,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<(RunState, Progress, Stop)> {
    budget.check()?;
    let deadline = deadline(&state, budget);
    let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let watch = Watch::new(deadline);
    let halted = || budget.interrupt.raised() || watch.is_past();
    // A certification that is under way, or closes the run, may continue for a while before it falls back to coarser
    // bounds.
    let (first, grace) = (OnceLock::new(), grace(budget));
    let expired = || {
        (budget.interrupt.raised() || late()) && first.get_or_init(Instant::now).elapsed() >= grace
    };

    let pass = solver.calls_per_pass();
    if pass == 0 {
        return Err(Error::setting("there is nothing to train on"));
    }
    let pass_limit = budget.passes.map_or(u64::MAX, |passes| passes.saturating_mul(pass));
    let limit = pass_limit.min(budget.oracle_calls.unwrap_or(u64::MAX));
    let interval = solver.interval(pass).max(1);
    let mut stored_at = state.work.oracle_calls;

    for progress in &state.history {
        observer.certified(progress, &[])?;
    }
    if let Some(last) = certify_again(solver, &mut state)?
        && let Some(stop) = end_after(&last.certificate, &mut state, budget, observer)
    {
        return Ok((state, last, stop));
    }
    loop {
        let due = due(solver, &state.history, pass, budget).min(limit);
        let certified = state.history.last().map_or(0, |last| last.work.oracle_calls);
        let mut fits = true; // whether one more step fits into what is left
        let mut claimed = None; // the gap that the next certificate may refute
        let target = loop {
            let done = state.work.oracle_calls;
            // Before a step and not after it, so that a run that resumes here does the same.
            let target = match solver.expected().filter(|_| done > certified) {
                Some(expected) if ends(expected, budget, state.refuted) => {
                    claimed = Some(expected.gap);
                    done
                }
                Some(expected) if is_far(expected, budget) => {
                    due.max(certified.saturating_mul(2)).min(limit)
                }
                _ => due,
            };
            if !fits || done >= target || halted() {
                break target;
            }
            let quota = Quota {
                oracle_calls: target - done,
                steps: u64::MAX,
                pause: pass.min(stored_at.saturating_add(interval) - done),
                halted: &halted,
            };
            let start = Instant::now();
            let done = solver.advance(&quota)?;
            state.solve_seconds += start.elapsed().as_secs_f64();
            fits = done != Work::default();
            state.work += done;
            observer.advanced(state.work.oracle_calls as f64 / pass as f64);
            if state.work.oracle_calls - stored_at >= interval {
                store(solver, &state, observer)?;
                stored_at = state.work.oracle_calls;
            }
        };
        // Decided before the certification, so that its time cannot turn a finished run into a late one.
        let stop = if budget.interrupt.raised() {
            Some(Stop::Interrupted)
        } else if late() {
            Some(Stop::TimeLimit)
        } else if target >= limit && (state.work.oracle_calls >= limit || !fits) {
            Some(if limit == pass_limit { Stop::PassLimit } else { Stop::OracleLimit })
        } else {
            None
        };
        if stop.is_some() {
            store(solver, &state, observer)?;
        }

        let start = Instant::now();
        let certified = solver.certify_until(&expired)?;
        let cut = expired();
        state.certify_seconds += start.elapsed().as_secs_f64();
        let certificate = certified.model;
        let progress = progress(&state, pass, &certified);
        state.compare(&certificate, solver.may_stall());
        observer.certified(&progress, solver.weights())?;
        state.history.push(progress);
        // Not before: a run that pauses and resumes here certifies here.
        state.refuted = claimed.or(state.refuted);

        let end = end_after(&certificate, &mut state, budget, observer);
        if cut {
            // The run can resume from the checkpoint that was stored last, but not from this state.
            let why = if budget.interrupt.raised() { Stop::Interrupted } else { Stop::TimeLimit };
            let end = end.filter(|&end| end == Stop::GapReached).or(stop).unwrap_or(why);
            return Ok((state, progress, end));
        }
        if let Some(end) = end.filter(|&end| end == Stop::GapReached).or(stop).or(end) {
            if stop.is_none() {
                store(solver, &state, observer)?;
            }
            return Ok((state, progress, end));
        }
    }
}

#[cfg(test)]
mod tests;
