//! Runs that go on in one thread, are stored in another, and are ended by a third party.

use crate::common::{Kind, Small, fits};
use dualgap::run::{Budget, Checkpoint, CheckpointSink, Report, Stop};
use dualgap::structure::{Chain, Hamming};
use dualgap::task::{Keep, Model, Resume};
use dualgap::{Error, Result};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Hands every checkpoint to another thread, and waits until it has been taken care of.
struct Elsewhere {
    out: SyncSender<Option<Checkpoint>>,
    done: Receiver<()>,
}

impl CheckpointSink for Elsewhere {
    fn interval(&self, calls_per_pass: u64) -> u64 {
        calls_per_pass
    }

    fn store(&mut self, checkpoint: Checkpoint) -> Result<()> {
        let gone = |_| Error::setting("nobody stores it");
        self.out.send(Some(checkpoint)).map_err(|_| Error::setting("nobody takes it"))?;
        self.done.recv().map_err(gone)
    }
}

fn bits(report: &Report<Model<Chain>>) -> Vec<u64> {
    let c = report.certificate;
    let witness = report.model.witness.as_ref().unwrap();
    let numbers = report.model.weights.iter().chain(&witness.weights).copied();
    numbers.chain([c.primal, c.dual, c.rounding_error]).map(f64::to_bits).collect()
}

#[test]
fn a_run_is_stored_and_ended_from_other_threads_and_goes_on_as_if_it_never_had_been() {
    let small = Small::random(8, Kind::Chain(Hamming::Normalized), 10, 3, 4);
    let (data, chain) = (small.sequences(), Chain::new(Hamming::Normalized));
    let asked = |budget: &Budget| fits::Fit::new(chain, &small.settings(), budget);
    let budget = Budget::passes(9);
    let interrupt = budget.interrupt.clone();
    let (out, checkpoints) = sync_channel(0);
    let (go_on, done) = sync_channel(0);
    let ended = out.clone();
    // The plan is made here, and the run takes it along.
    let mut sink = Elsewhere { out, done };
    let mut fit = asked(&budget);
    fit.plan.checkpoints = Some(Keep::Sink(&mut sink));
    let (report, last) = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let report = fit.run(&data);
            ended.send(None).unwrap();
            report
        });
        let mut last = None;
        let mut count = 0;
        while let Some(checkpoint) = checkpoints.recv().unwrap() {
            (last, count) = (Some(checkpoint), count + 1);
            if count == 3 {
                interrupt.raise();
            }
            go_on.send(()).unwrap();
        }
        (run.join().unwrap().unwrap(), last.unwrap())
    });
    assert_eq!(report.stop, Stop::Interrupted);
    assert!(report.passes < 9.0 && report.passes >= 3.0, "{}", report.passes);
    report.model.certify(&data).unwrap();

    let whole = asked(&Budget::passes(9)).run(&data).unwrap();
    let mut rest = asked(&Budget::passes(9));
    rest.plan.resume = Some(Resume::Checkpoint(last));
    assert_eq!(bits(&rest.run(&data).unwrap()), bits(&whole));
}

#[test]
fn a_run_that_is_ended_before_it_begins_has_a_certificate_all_the_same() {
    let small = Small::random(9, Kind::Chain(Hamming::Plain), 5, 2, 3);
    let budget = Budget::relative(1e-9);
    let interrupt = budget.interrupt.clone();
    thread::spawn(move || interrupt.raise()).join().unwrap();
    let fit = fits::Fit::new(Chain::new(Hamming::Plain), &small.settings(), &budget);
    let report = fit.run(&small.sequences()).unwrap();
    assert_eq!(report.stop, Stop::Interrupted);
    report.model.certify(&small.sequences()).unwrap();
}
