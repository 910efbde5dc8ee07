//! A run that was interrupted, killed or ended early and then resumed from its checkpoint is, bit for bit, the run
//! that was never interrupted.

use crate::common::{Kind, Small, cases, fits, of, small, ways};
use crate::models::fitting::{Fit, Fitted, Trace};
use dualgap::dual::{Acceleration, Algorithm, Average, Cache, Direction, Settings};
use dualgap::run::{Budget, Interrupt, Observer, Progress, Stop};
use dualgap::structure::Hamming;
use dualgap::{Error, Result};
use proptest::prelude::*;

/// Raises an interrupt when it has seen so much, or lets the run die.
struct Troublemaker {
    interrupt: Option<Interrupt>,
    advances: u64,
    certifications: u64,
}

impl Troublemaker {
    fn trouble(&self) -> Result<()> {
        match &self.interrupt {
            Some(interrupt) => interrupt.raise(),
            None => return Err(Error::setting("killed")),
        }
        Ok(())
    }
}

impl Observer for Troublemaker {
    fn certified(&mut self, _: &Progress, weights: &[f64]) -> Result<()> {
        // Certifications from before are told without weights, and were no trouble then.
        if weights.is_empty() {
            return Ok(());
        }
        self.certifications = self.certifications.saturating_sub(1);
        if self.certifications == 0 { self.trouble() } else { Ok(()) }
    }

    fn advanced(&mut self, _: f64) {
        self.advances = self.advances.saturating_sub(1);
        if self.advances == 0
            && let Some(interrupt) = &self.interrupt
        {
            interrupt.raise();
        }
    }
}

/// After so many pieces of work, or so many certifications.
fn trouble() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![(1..15_u64).prop_map(|k| (k, u64::MAX)), (1..3_u64).prop_map(|k| (u64::MAX, k))]
}

/// A tolerance that some runs meet and some do not.
fn tolerance() -> impl Strategy<Value = f64> {
    (-3.0..0.0_f64).prop_map(|exponent| 10_f64.powf(exponent))
}

fn limited(tolerance: f64, passes: u64) -> Budget {
    Budget { passes: Some(passes), ..Budget::relative(tolerance) }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_run_interrupted_again_and_again_is_the_run_that_never_was(
        small in small(),
        way in ways(),
        (advances, certifications) in trouble(),
        every in prop_oneof![Just(1e9), 0.05..4.0_f64],
        tolerance in tolerance(),
    ) {
        let settings = of(&way, &small);
        let whole = Trace::of(&Fit::new(&settings, limited(tolerance, 11)).run(&small).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        for attempt in 0..200 {
            let budget = limited(tolerance, 11);
            let mut troublemaker =
                Troublemaker { interrupt: Some(budget.interrupt.clone()), advances, certifications };
            let mut fit = Fit::new(&settings, budget).kept(&file, every);
            if attempt > 0 {
                fit = fit.resumed(&file);
            }
            let report = fit.watched(&small, &mut troublemaker).unwrap();
            // An interrupted run may find that it has reached its tolerance without having looked before.
            let early = report.stop == Stop::GapReached && report.work != whole.work;
            if report.stop != Stop::Interrupted && !early {
                prop_assert_eq!(Trace::of(&report), whole, "after {} interruptions", attempt);
                return Ok(());
            }
        }
        prop_assert!(false, "the run makes no progress");
    }

    // The checkpoint is then older than the end of the run.
    #[test]
    fn a_run_that_was_killed_goes_on_from_its_last_checkpoint(
        small in small(),
        way in ways(),
        certifications in 1..4_u64,
        every in 0.05..4.0_f64,
    ) {
        let settings = of(&way, &small);
        let whole = Fit::new(&settings, Budget::passes(14)).run(&small).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let fit = Fit::new(&settings, Budget::passes(14)).kept(&file, every);
        let mut killer = Troublemaker { interrupt: None, advances: u64::MAX, certifications };
        if fit.watched(&small, &mut killer).is_ok() {
            return Ok(()); // it was over before
        }
        let resumed = Fit::new(&settings, Budget::passes(14)).resumed(&file).run(&small).unwrap();
        prop_assert_eq!(Trace::of(&resumed), Trace::of(&whole));
    }

    #[test]
    fn keeping_a_run_changes_nothing_of_it(small in small(), way in ways(), every in 0.0..3.0_f64) {
        let settings = of(&way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let fit = || Fit::new(&settings, Budget::passes(9));
        let plain = Trace::of(&fit().run(&small).unwrap());
        prop_assert_eq!(Trace::of(&fit().kept(&file, every).run(&small).unwrap()), plain);
    }

    #[test]
    fn more_passes_for_a_run_are_as_if_it_had_had_them_from_the_start(
        small in small(),
        way in ways(),
        few in 0..9_u64,
        more in 0..9_u64,
    ) {
        let settings = of(&way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let fit = |passes| Fit::new(&settings, Budget::passes(passes));
        let first = fit(few).kept(&file, 1e9).run(&small).unwrap();
        prop_assume!(first.stop == Stop::PassLimit);
        let resumed = fit(few + more).resumed(&file).run(&small).unwrap();
        prop_assert_eq!(Trace::of(&resumed), Trace::of(&fit(few + more).run(&small).unwrap()));
    }

    #[test]
    fn a_tighter_tolerance_for_a_run_is_as_if_it_had_had_it_from_the_start(
        small in small(),
        way in ways(),
        loose in tolerance(),
        share in 0.0..1.0_f64,
    ) {
        let settings = of(&way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let fit = |tolerance| Fit::new(&settings, limited(tolerance, 24));
        fit(loose).kept(&file, 2.0).run(&small).unwrap();
        let resumed = fit(loose * share).resumed(&file).run(&small).unwrap();
        prop_assert_eq!(Trace::of(&resumed), Trace::of(&fit(loose * share).run(&small).unwrap()));
    }

    #[test]
    fn a_finished_run_resumed_is_the_same_model_at_once(
        small in small(),
        way in ways(),
        tolerance in tolerance(),
    ) {
        let settings = of(&way, &small);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let fit = || Fit::new(&settings, limited(tolerance, 13)).kept(&file, 1.0);
        let first = fit().run(&small).unwrap();
        for _ in 0..2 {
            prop_assert_eq!(Trace::of(&fit().resumed(&file).run(&small).unwrap()), Trace::of(&first));
        }
    }
}

/// Every direction, with cached outputs and rounds.
fn cached_rounds() -> impl Strategy<Value = Settings> {
    let directions =
        prop_oneof![Just(Direction::Toward), Just(Direction::Away), Just(Direction::Pairwise)];
    (directions, -4.0..-1.0_f64, 1..=5_usize, 0..100_u64, any::<bool>()).prop_map(
        |(direction, exponent, batch, seed, shrinking)| Settings {
            lambda: 10_f64.powf(exponent),
            direction,
            cache: Cache::On,
            acceleration: Acceleration::On,
            shrinking,
            batch,
            seed,
            threads: 1,
            ..Settings::default()
        },
    )
}

proptest! {
    #![proptest_config(cases(24))]

    // Rounds are fitted to what they gain, and between two checkpoints there may be none of them or many.
    #[test]
    fn rounds_over_cached_outputs_do_not_notice_checkpoints(
        kind in 0..4_usize,
        settings in cached_rounds(),
        every in 0.02..1.5_f64,
        few in 1..25_u64,
    ) {
        let [kind, _, _, _] = { let mut kinds = Kind::all(3); kinds.rotate_left(kind); kinds };
        let small = Small::random(settings.seed, kind, 16, 3, 4);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let fit = |passes| Fit::new(&settings, Budget::passes(passes));
        let whole = Trace::of(&fit(25).run(&small).unwrap());
        prop_assert_eq!(&Trace::of(&fit(25).kept(&file, every).run(&small).unwrap()), &whole);
        fit(few).kept(&file, every).run(&small).unwrap();
        let resumed = fit(25).kept(&file, every).resumed(&file).run(&small).unwrap();
        prop_assert_eq!(&Trace::of(&resumed), &whole);
    }
}

// The state of a run over many sequences with features of pairs, interrupted within a pass and on other threads.
#[test]
fn threads_do_not_matter_for_a_resumed_run() {
    let small = Small::random(4, Kind::Chain(Hamming::Normalized), 30, 3, 6).with_pairs(4, 2);
    let settings = |threads| Settings { batch: 7, threads, ..small.settings() };
    let whole = Trace::of(&Fit::new(&settings(1), Budget::passes(9)).run(&small).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let budget = Budget::passes(9);
    let mut troublemaker = Troublemaker {
        interrupt: Some(budget.interrupt.clone()),
        advances: 4,
        certifications: u64::MAX,
    };
    let fit = Fit::new(&settings(3), budget).kept(&file, 0.3);
    let report = fit.watched(&small, &mut troublemaker).unwrap();
    assert_eq!(report.stop, Stop::Interrupted);
    assert!(report.passes.fract() > 0.0, "{}", report.passes);
    let fit = Fit::new(&settings(2), Budget::passes(9)).resumed(&file);
    assert_eq!(Trace::of(&fit.run(&small).unwrap()), whole);
}

// No positions, one labeling, no loss: such a sequence has an empty point, in memory and in every file.
#[test]
fn a_sequence_without_positions_survives_checkpoints_witnesses_and_warm_starts() {
    let small = Small::random(6, Kind::Chain(Hamming::Normalized), 4, 3, 4).with_pairs(6, 2);
    let data = small.sequences();
    let mut starts = data.starts().to_vec();
    starts.insert(2, starts[2]);
    let (labels, alphabet) = (data.labels().to_vec(), data.alphabet().clone());
    let edges = data.edges().unwrap().clone();
    let data =
        dualgap::data::Sequences::new(data.rows().clone(), labels, starts, alphabet).unwrap();
    let data = data.with_edges(edges).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    for method in [Algorithm::Bcfw, Algorithm::Fw] {
        let settings = Settings { method, average: Average::Weighted, ..small.settings() };
        let run = |fit: Fit<'_>| fit.chain(&data, Hamming::Normalized, &mut ()).unwrap();
        let fit = |passes| Fit::new(&settings, Budget::passes(passes));
        run(fit(3).kept(&file, 0.5));
        let (resumed, whole) = (run(fit(9).resumed(&file)), run(fit(9)));
        assert_eq!(Trace::of(&resumed), Trace::of(&whole));
        let Fitted::Chain(model) = &resumed.model else { panic!("not a chain") };
        let stored = fits::stored(model);
        assert!(stored.certify(&data).is_ok());
        let before = stored.certificate;
        let warm = run(fit(2).warm(&Fitted::Chain(stored)));
        let Fitted::Chain(model) = &warm.model else { panic!("not a chain") };
        assert!(model.certify(&data).is_ok());
        let error = warm.certificate.rounding_error + before.rounding_error;
        assert!(warm.certificate.dual >= before.dual - error);
    }
}

// The clock may stop a run anywhere, and has no part in what it comes to.
#[test]
fn a_run_whose_time_was_up_goes_on_when_it_is_given_more() {
    for kind in Kind::all(3) {
        let small = Small::random(7, kind, 8, 3, 3);
        let settings = small.settings();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let late = Budget { seconds: Some(0.0), ..Budget::passes(9) };
        let report = Fit::new(&settings, late).kept(&file, 1.0).run(&small).unwrap();
        assert_eq!(report.stop, Stop::TimeLimit);
        let resumed = Fit::new(&settings, Budget::passes(9)).resumed(&file).run(&small).unwrap();
        let whole = Fit::new(&settings, Budget::passes(9)).run(&small).unwrap();
        assert_eq!(Trace::of(&resumed), Trace::of(&whole));
    }
}
