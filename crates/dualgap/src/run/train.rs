//! The only training loop of the project.
//!
//! The loop solves for a while, certifies, and checks whether to stop. Counted work decides when to certify: a
//! certification costs one pass, and it is due as soon as all of them together stay within `certify_share` of the
//! solving work, but in a long run no sooner than when the work has grown by some percent: a run of a thousand passes
//! need not be certified every fourth. A solver that knows about what a certificate would say is certified when that is
//! enough, and before only when its work has doubled. The clock can stop a run and does nothing else.

use crate::run::{
    Budget, Certificate, Certified, Checkpoint, CheckpointSink, Expected, Observer, Progress,
    Quota, Report, Resumable, RunState, Solver, Stop, Work,
};
use crate::{Error, Result};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long a certification may continue after the run should stop, before it falls back to coarser bounds. Most
/// certifications need less.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 10 } else { 5000 });

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

/// A deadline that the solver checks after every step. Only some checks read the clock, fewer if the steps are short:
/// reading it would cost as much as a short step itself.
struct Watch {
    deadline: Option<Instant>,
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
        Self { deadline, stride, left, read: Mutex::new(Instant::now()) }
    }

    fn is_past(&self) -> bool {
        let Some(deadline) = self.deadline else { return false };
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
        now >= deadline
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
    let first = OnceLock::new();
    let expired = || {
        (budget.interrupt.raised() || late()) && first.get_or_init(Instant::now).elapsed() >= GRACE
    };

    let pass = solver.calls_per_pass();
    if pass == 0 {
        return Err(Error::setting("there is nothing to train on"));
    }
    let pass_limit = budget.passes.map_or(u64::MAX, |passes| passes.saturating_mul(pass));
    let limit = pass_limit.min(budget.oracle_calls.unwrap_or(u64::MAX));
    let interval = solver.interval(pass).max(1);
    let mut stored_at = state.work.oracle_calls;
    let cost = solver.passes_per_certification();

    for progress in &state.history {
        observer.certified(progress, &[])?;
    }
    if let Some(last) = certify_again(solver, &mut state)?
        && let Some(stop) = end_after(&last.certificate, &mut state, budget, observer)
    {
        return Ok((state, last, stop));
    }
    loop {
        let due = next_certification(&state.history, pass, cost, budget.certify_share).min(limit);
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
                Some(_) => due.max(certified.saturating_mul(2)).min(limit),
                None => due,
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
mod tests {
    use super::*;
    use crate::linalg::Measured;

    /// A solver that halves its gap with every pass of ten calls; the optimum is 1.
    struct Halving {
        calls: u64,
        certifications: u64,
        interrupt_at: Option<(u64, crate::run::Interrupt)>,
    }

    impl Halving {
        fn new() -> Self {
            Self { calls: 0, certifications: 0, interrupt_at: None }
        }
    }

    impl Solver for Halving {
        type Model = (u64, u64);

        fn calls_per_pass(&self) -> u64 {
            10
        }

        fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
            let mut done = Work::default();
            while quota.allows(done, 1) {
                done += Work { steps: 1, oracle_calls: 1 };
                self.calls += 1;
                if let Some((at, interrupt)) = &self.interrupt_at
                    && *at == self.calls
                {
                    interrupt.raise();
                }
            }
            Ok(done)
        }

        fn certify(&mut self) -> Result<Certified> {
            self.certifications += 1;
            let gap = (-(self.calls as f64) / 10.0).exp2();
            let side = |value| Measured { value, error: 1e-16 };
            let certificate = Certificate::new(side(1.0 + gap), side(1.0), true)?;
            Ok(Certified { model: certificate, iterate: certificate })
        }

        fn weights(&self) -> &[f64] {
            &[]
        }

        fn into_model(self) -> (u64, u64) {
            (self.calls, self.certifications)
        }
    }

    #[test]
    fn certification_takes_at_most_a_quarter_of_the_solving_work() {
        let report = run(Halving::new(), &Budget::relative(1e-6), &mut ()).unwrap();
        let (calls, certifications) = report.model;
        assert_eq!(report.stop, Stop::GapReached);
        assert!(certifications * 10 * 4 <= calls, "{certifications} after {calls} calls");
        assert!(report.certificate.gap() <= 1e-6 * report.certificate.primal);
        assert_eq!(report.history.len() as u64, certifications);
    }

    /// A solver that knows its gap.
    struct Knowing(Halving);

    impl Solver for Knowing {
        type Model = (u64, u64);

        fn calls_per_pass(&self) -> u64 {
            self.0.calls_per_pass()
        }

        fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
            self.0.advance(quota)
        }

        fn certify(&mut self) -> Result<Certified> {
            self.0.certify()
        }

        fn expected(&self) -> Option<Expected> {
            Some(Expected { primal: 1.0, gap: (-(self.0.calls as f64) / 10.0).exp2() })
        }

        fn weights(&self) -> &[f64] {
            &[]
        }

        fn into_model(self) -> (u64, u64) {
            self.0.into_model()
        }
    }

    #[test]
    fn a_solver_that_knows_its_gap_is_certified_when_that_is_enough() {
        let report = run(Knowing(Halving::new()), &Budget::relative(1e-9), &mut ()).unwrap();
        assert_eq!((report.stop, report.model.0), (Stop::GapReached, 300));
        let passes: Vec<f64> = report.history.iter().map(|progress| progress.passes).collect();
        assert_eq!(passes, [4.0, 8.0, 16.0, 30.0]);
        let report = run(Knowing(Halving::new()), &Budget::passes(13), &mut ()).unwrap();
        assert_eq!((report.stop, report.model.0), (Stop::PassLimit, 130));
    }

    /// A solver whose certification takes as long as three passes.
    struct Dear(Halving);

    impl Solver for Dear {
        type Model = (u64, u64);

        fn calls_per_pass(&self) -> u64 {
            self.0.calls_per_pass()
        }

        fn passes_per_certification(&self) -> f64 {
            3.0
        }

        fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
            self.0.advance(quota)
        }

        fn certify(&mut self) -> Result<Certified> {
            self.0.certify()
        }

        fn weights(&self) -> &[f64] {
            &[]
        }

        fn into_model(self) -> (u64, u64) {
            self.0.into_model()
        }
    }

    #[test]
    fn a_dear_certification_is_due_later() {
        let report = run(Dear(Halving::new()), &Budget::relative(1e-9), &mut ()).unwrap();
        let passes: Vec<f64> = report.history.iter().map(|progress| progress.passes).collect();
        assert_eq!(passes, [12.0, 24.0, 36.0]);
    }

    /// An observer that hands over at its second certification.
    struct Handing(usize);

    impl Observer for Handing {
        fn certified(&mut self, _: &Progress, _: &[f64]) -> Result<()> {
            self.0 += 1;
            Ok(())
        }

        fn hands_over(&mut self) -> bool {
            self.0 == 2
        }
    }

    #[test]
    fn a_run_ends_where_its_observer_hands_over_unless_the_gap_is_reached() {
        for (tolerance, stop) in [(1e-9, Stop::Interrupted), (1e-2, Stop::GapReached)] {
            let report =
                run(Halving::new(), &Budget::relative(tolerance), &mut Handing(0)).unwrap();
            assert_eq!((report.stop, report.history.len()), (stop, 2));
        }
    }

    #[test]
    fn a_long_run_is_certified_ever_less_often() {
        let budget = Budget { relative: Some(0.0), ..Budget::passes(2000) };
        let report = run(Steady::default(), &budget, &mut ()).unwrap();
        let calls: Vec<f64> =
            report.history.iter().map(|progress| progress.work.oracle_calls as f64).collect();
        assert_eq!(report.stop, Stop::PassLimit);
        assert!(calls.len() < 150, "{} certifications", calls.len());
        // … but the work never grows by more than a twentieth between two certifications.
        assert!(
            calls.windows(2).all(|pair| pair[1] <= (pair[0] + 40.0).max(pair[0] * 1.05) + 10.0)
        );
    }

    /// A solver that always improves and never reaches a tolerance.
    #[derive(Default)]
    struct Steady(u64);

    impl Solver for Steady {
        type Model = ();

        fn calls_per_pass(&self) -> u64 {
            10
        }

        fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
            self.0 += quota.oracle_calls;
            Ok(Work { steps: quota.oracle_calls, oracle_calls: quota.oracle_calls })
        }

        fn certify(&mut self) -> Result<Certified> {
            let primal = Measured { value: 1.0 + 1.0 / self.0 as f64, error: 0.0 };
            let dual = Measured { value: 0.5, error: 0.0 };
            let certificate = Certificate::new(primal, dual, true)?;
            Ok(Certified { model: certificate, iterate: certificate })
        }

        fn weights(&self) -> &[f64] {
            &[]
        }

        fn into_model(self) {}
    }

    /// A solver whose certifications run until they are halted.
    struct Endless(Halving);

    impl Solver for Endless {
        type Model = (u64, u64);

        fn calls_per_pass(&self) -> u64 {
            self.0.calls_per_pass()
        }

        fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
            self.0.advance(quota)
        }

        fn certify(&mut self) -> Result<Certified> {
            self.0.certify()
        }

        fn certify_until(&mut self, halted: &(dyn Fn() -> bool + Sync)) -> Result<Certified> {
            while !halted() {
                std::thread::yield_now();
            }
            self.0.certify()
        }

        fn weights(&self) -> &[f64] {
            &[]
        }

        fn into_model(self) -> (u64, u64) {
            self.0.into_model()
        }
    }

    impl Resumable for Endless {
        type State = ();

        fn state(&self) {}
    }

    /// A sink that records the work of each checkpoint.
    struct Works(Vec<u64>);

    impl CheckpointSink for Works {
        fn interval(&self, _: u64) -> u64 {
            7
        }

        fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
            let RunState { history, work, .. } = checkpoint.run;
            assert!(history.is_empty(), "nothing that was certified in a hurry is stored");
            self.0.push(work.oracle_calls);
            Ok(())
        }
    }

    #[test]
    fn a_certification_without_end_is_cut_short_and_ends_the_run() {
        // In the middle of a run by its time limit, and at the end of one by an interrupt.
        for by_hand in [false, true] {
            let interrupt = crate::run::Interrupt::default();
            let mut solver = Halving::new();
            solver.interrupt_at = by_hand.then(|| (15, interrupt.clone()));
            let seconds = (!by_hand).then_some(0.005);
            let budget = Budget { seconds, interrupt, ..Budget::relative(1e-9) };
            let mut works = Works(Vec::new());
            let begin = RunState::default();
            let sink = Some(&mut works as &mut dyn CheckpointSink);
            let report = run_from(Endless(solver), begin, &budget, &mut (), sink).unwrap();
            let expected = if by_hand { Stop::Interrupted } else { Stop::TimeLimit };
            assert_eq!(report.stop, expected);
            assert_eq!((report.history.len(), report.model.1), (1, 1));
            assert!(report.certificate.certified && !works.0.is_empty());
        }
    }

    #[test]
    fn a_deadline_is_seen_however_short_the_steps_are() {
        let begin = Instant::now();
        let watch = Watch::new(Some(begin + Duration::from_millis(20)));
        let mut looks = 0_u64;
        while !watch.is_past() {
            looks += 1;
        }
        assert!(begin.elapsed() >= Duration::from_millis(20) && looks > 0);
        assert!(!Watch::new(None).is_past());
        assert!(Watch::new(Some(begin)).is_past(), "the first look is at the clock");
    }

    #[test]
    fn limits_are_kept_to_the_call() {
        let report = run(Halving::new(), &Budget::passes(7), &mut ()).unwrap();
        assert_eq!((report.stop, report.model.0), (Stop::PassLimit, 70));
        let budget = Budget { oracle_calls: Some(33), ..Budget::relative(1e-9) };
        let report = run(Halving::new(), &budget, &mut ()).unwrap();
        assert_eq!((report.stop, report.model.0), (Stop::OracleLimit, 33));
        let budget = Budget { seconds: Some(0.0), ..Budget::relative(1e-9) };
        let report = run(Halving::new(), &budget, &mut ()).unwrap();
        assert_eq!((report.stop, report.model.0), (Stop::TimeLimit, 0));
    }

    /// A sink that fails to store anything.
    struct FullDisk;

    impl CheckpointSink for FullDisk {
        fn interval(&self, _: u64) -> u64 {
            7
        }

        fn store(&mut self, _: Checkpoint) -> Result<()> {
            Err(Error::setting("the disk is full"))
        }
    }

    impl Resumable for Halving {
        type State = u64;

        fn state(&self) -> u64 {
            self.calls
        }
    }

    /// An observer that counts failed checkpoints, and decides whether the run continues.
    struct Counting {
        lost: usize,
        goes_on: bool,
    }

    impl Observer for Counting {
        fn certified(&mut self, _: &Progress, _: &[f64]) -> Result<()> {
            Ok(())
        }

        fn checkpoint_failed(&mut self, _: &Error) -> bool {
            self.lost += 1;
            self.goes_on
        }
    }

    #[test]
    fn a_run_that_cannot_be_stored_goes_on_if_its_observer_says_so() {
        let budget = Budget::passes(7);
        for goes_on in [true, false] {
            let mut observer = Counting { lost: 0, goes_on };
            let begin = RunState::default();
            let run = run_from(Halving::new(), begin, &budget, &mut observer, Some(&mut FullDisk));
            assert_eq!(run.is_ok(), goes_on);
            assert_eq!(observer.lost > 1, goes_on);
        }
    }

    #[test]
    fn an_interrupt_ends_the_run_with_a_certificate() {
        let budget = Budget::relative(1e-9);
        let solver =
            Halving { interrupt_at: Some((15, budget.interrupt.clone())), ..Halving::new() };
        let report = run(solver, &budget, &mut ()).unwrap();
        assert_eq!((report.stop, report.model), (Stop::Interrupted, (15, 1)));
    }

    /// An observer that ends the run at its second certification.
    struct Impatient(crate::run::Interrupt, usize);

    impl Observer for Impatient {
        fn certified(&mut self, _: &Progress, _: &[f64]) -> Result<()> {
            self.1 += 1;
            if self.1 == 2 {
                self.0.raise();
            }
            Ok(())
        }
    }

    #[test]
    fn an_observer_that_ends_the_run_does_not_cause_another_certification() {
        let budget = Budget::relative(1e-9);
        let mut observer = Impatient(budget.interrupt.clone(), 0);
        let report = run(Halving::new(), &budget, &mut observer).unwrap();
        assert_eq!((report.stop, report.history.len()), (Stop::Interrupted, 2));
        assert_eq!(report.model.1, 2, "certifications");
    }

    #[test]
    fn a_gap_below_rounding_is_a_standstill_and_not_a_success() {
        let report = run(Halving::new(), &Budget::relative(0.0), &mut ()).unwrap();
        assert_eq!(report.stop, Stop::Stalled);
    }

    #[test]
    fn a_gap_that_only_rounding_brings_under_the_tolerance_does_not_count() {
        let side = |value, error| Measured { value, error };
        let budget = Budget { absolute: Some(0.1), ..Budget::passes(1) };
        let near = Certificate::new(side(1.0, 0.01), side(0.905, 0.0), true).unwrap();
        assert!(near.gap() < 0.1 && !budget.is_met(&near));
    }
}
