//! The loop: when it certifies and ends, what it stores, and that a run that resumes is the run that went on.

use super::*;
use crate::linalg::Measured;

/// A solver that halves its gap with every pass of ten calls; the optimum is 1.
struct Halving {
    calls: u64,
    certifications: u64,
    interrupt_at: Option<(u64, crate::run::Interrupt)>,
    hastens: bool,
}

impl Halving {
    fn new() -> Self {
        Self { calls: 0, certifications: 0, interrupt_at: None, hastens: false }
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

    fn may_hasten(&self) -> bool {
        self.hastens
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

#[test]
fn a_certificate_comes_sooner_where_the_gap_promises_much() {
    // After four and eight passes as ever; a tenth of a pass is missing, and the next one is due after twelve.
    let work = |hastens: bool, tolerance: f64| {
        let solver = Halving { hastens, ..Halving::new() };
        run(solver, &Budget::relative(tolerance), &mut ()).unwrap().model
    };
    let tolerance = 0.94 * (-8.0_f64).exp2();
    assert_eq!((work(true, tolerance), work(false, tolerance)), ((90, 3), (120, 3)));
    // Two passes are too few to be worth it.
    assert_eq!(work(true, 0.9 * (-9.0_f64).exp2()), (120, 3));
    // A gap that stands still promises nothing, nor does one without a tolerance.
    let of = |gap: f64, calls: u64| {
        let side = |value| Measured { value, error: 0.0 };
        let certificate = Certificate::new(side(1.0), side(1.0 - gap), true).unwrap();
        let work = Work { steps: calls, oracle_calls: calls };
        let state = RunState { work, ..RunState::default() };
        progress(&state, 10, &Certified { model: certificate, iterate: certificate })
    };
    let (still, falls) = ([of(0.1, 40), of(0.1, 80)], [of(0.1, 40), of(0.01, 80)]);
    let budget = Budget::relative(1e-3);
    assert_eq!(promised(&[], 10, &budget), None);
    assert_eq!(promised(&still, 10, &budget), None);
    assert_eq!(promised(&falls, 10, &Budget::passes(9)), None);
    assert_eq!(promised(&falls, 10, &Budget::relative(0.0)), None);
    assert_eq!(promised(&falls, 10, &budget), Some(140));
    assert_eq!(promised(&falls[..1], 10, &budget), Some(150));
    // Nor does a history that runs backward, as a forged one may.
    assert_eq!(promised(&[of(0.1, 80), of(0.01, 40)], 10, &budget), None);
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
        Some(Expected { primal: 1.0, gap: (-(self.0.calls as f64) / 10.0).exp2(), off: 1.0 })
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
        let report = run(Halving::new(), &Budget::relative(tolerance), &mut Handing(0)).unwrap();
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
    assert!(calls.windows(2).all(|pair| pair[1] <= (pair[0] + 40.0).max(pair[0] * 1.05) + 10.0));
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
fn a_certification_gets_no_more_time_than_the_run_was_given() {
    let of = |seconds| grace(&Budget { seconds, ..Budget::default() });
    assert_eq!((of(None), of(Some(1e9)), of(Some(f64::MAX))), (GRACE, GRACE, GRACE));
    assert_eq!((of(Some(0.0)), of(Some(1e-9))), (GRACE / 10, GRACE / 10));
    let half = GRACE / 2;
    assert_eq!(of(Some(half.as_secs_f64())), half);
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
    let watch = Watch::new(Some(begin));
    assert!(watch.is_past(), "the first look is at the clock");
    assert!((0..200).all(|_| watch.is_past()), "what is past stays so");
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
    let solver = Halving { interrupt_at: Some((15, budget.interrupt.clone())), ..Halving::new() };
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

#[test]
fn a_certificate_waits_only_where_the_tolerance_is_far_away() {
    let expected = |gap, off| Expected { primal: 1.0, gap, off };
    let budget = Budget::relative(0.01);
    assert!(!is_far(expected(0.03, 4.0), &budget) && is_far(expected(0.05, 4.0), &budget));
    assert!(is_far(expected(0.03, 1.0), &budget));
    assert!(!is_far(expected(0.5, f64::INFINITY), &budget), "nothing waits for this one");
    // Without a tolerance whoever watches sees as many certificates as there were.
    assert!(!is_far(expected(0.5, 4.0), &Budget::passes(9)));
    assert!(is_far(expected(0.5, 1.0), &Budget::passes(9)));
}
