//! A structure of one's own: find the interval of a noisy signal in which something happens.
//!
//! The output is an interval of positions, φ(x, y) sums the features of the positions inside it, and the loss
//! is the fraction of positions on which two intervals disagree. Both add up over positions, so the best
//! interval is a maximum-sum run, and Kadane's algorithm is an exact oracle.

//!
//! [`OwnOracle`] adds a name and what a file needs to know. The structure then has everything that a built-in one has:
//! certified models, files, evaluation, checkpoints, paths and cross-validation.

use dualgap::Result;
use dualgap::data::DataSet;
use dualgap::linalg::{Accumulate, Random};
use dualgap::run::{Budget, InMemory, Interval, Tolerance};
use dualgap::structure::{Bound, Decoded, Oracle, OwnExamples, OwnOracle, OwnStructure};
use dualgap::task::{DualEvidence, Keep, Model, PathPlan, Plan, Resume, Task, TrialPlan};
use dualgap::term::Penalty;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One feature vector per position.
type Signal = Vec<[f64; 2]>;

/// The oracle has no parameters; if it had, a model file would store them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Event;

impl Event {
    fn score(w: &[f64], at: [f64; 2]) -> f64 {
        w[0] * at[0] + w[1] * at[1]
    }
}

impl Oracle for Event {
    type Input = Signal;
    type Output = Range<usize>;
    type Scratch = ();

    fn dim(&self) -> usize {
        2
    }

    fn features(&self, x: &Signal, y: &Range<usize>, out: &mut impl Accumulate) {
        for at in &x[y.clone()] {
            out.add(0, at[0]);
            out.add(1, at[1]);
        }
    }

    fn loss(&self, x: &Signal, truth: &Range<usize>, y: &Range<usize>) -> f64 {
        let wrong = (0..x.len()).filter(|t| truth.contains(t) != y.contains(t)).count();
        wrong as f64 / x.len() as f64
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Signal,
        against: Option<&Range<usize>>,
        (): &mut (),
    ) -> Result<Decoded<Range<usize>>> {
        // What a position adds when it is inside: its score, and one more mistake or one less.
        let gain = |t: usize| {
            let mistake = against.map_or(0.0, |y| if y.contains(&t) { -1.0 } else { 1.0 });
            Self::score(w, x[t]) + mistake / x.len() as f64
        };
        let (mut best, mut best_sum) = (0..0, 0.0);
        let (mut start, mut sum) = (0, 0.0);
        for t in 0..x.len() {
            if sum <= 0.0 {
                (start, sum) = (t, 0.0);
            }
            sum += gain(t);
            if sum > best_sum {
                (best, best_sum) = (start..t + 1, sum);
            }
        }
        Ok(Decoded { output: best, bound: Bound::Exact })
    }
}

impl OwnOracle for Event {
    const NAME: &'static str = "event";

    /// A witness is read from a file, which may say anything.
    fn admits(&self, x: &Signal, y: &Range<usize>) -> bool {
        y.start <= y.end && y.end <= x.len()
    }

    fn spell(&self, y: &Range<usize>) -> String {
        format!("{}–{}", y.start, y.end)
    }
}

/// Noise, with a raised level inside the interval; the second feature is constant.
fn signal(random: &mut Random, length: usize) -> (Signal, Range<usize>) {
    let start = random.below(length / 2);
    let truth = start..start + 5 + random.below(length / 2 - 5);
    let noise = |random: &mut Random| (0..6).map(|_| random.unit() - 0.5).sum::<f64>();
    let signal = (0..length)
        .map(|t| [noise(random) + if truth.contains(&t) { 1.0 } else { 0.0 }, 1.0])
        .collect();
    (signal, truth)
}

fn main() -> Result<()> {
    let mut random = Random::new(1);
    let mut signals = || OwnExamples::new((0..100).map(|_| signal(&mut random, 50)).collect());
    let (train, test) = (signals(), signals());

    // Train, with a checkpoint in memory after every pass: a file does as well.
    let task = Task::new(OwnStructure::new(Event), Penalty::ridge(0.01));
    let mut memory = InMemory::default();
    let plan =
        Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..Plan::new(Budget::relative(0.01)) };
    let report = task.fit(&train, plan)?;
    let (w, certificate) = (&report.model.weights, report.certificate);
    println!("weights {w:?} after {} passes", report.passes);
    println!(
        "certified gap {:.2e} at a primal value of {:.6}",
        certificate.gap(),
        certificate.primal
    );
    // The level inside is 1, outside 0: what was learnt must put the threshold between them.
    assert!(w[0] > 0.0 && -w[1] / w[0] > 0.0 && -w[1] / w[0] < 1.0);
    assert!(certificate.relative_gap() <= 0.01);

    // A tighter tolerance goes on from the checkpoint.
    let resume = memory.last.map(Resume::Checkpoint);
    let tighter = task.fit(&train, Plan { resume, ..Plan::new(Budget::relative(0.001)) })?;
    println!("{:.2e} after {} passes", tighter.certificate.gap(), tighter.passes);

    // Someone else, with the file and the data, proves it again and predicts.
    let folder = tempfile::tempdir().map_err(|error| dualgap::Error::setting(error.to_string()))?;
    let path = folder.path().join("event.dualgap");
    tighter.model.save(&path)?;
    let model = Model::<OwnStructure<Event>>::load(&path)?;
    let verified = model.certify(&train)?;
    assert_eq!(verified.evidence, DualEvidence::Witness);
    assert!(verified.certificate.relative_gap() <= 0.001);
    let found = model.predict(&test.subset(&[0]))?;
    println!(
        "the first new signal: {}, found {}",
        Event.spell(&test.examples()[0].1),
        Event.spell(&found[0])
    );
    let error = model.evaluate(&test)?.error();
    println!("positions on the wrong side, on new signals: {:.1} %", 100.0 * error);
    assert!(error < 0.2);

    // Models that together are within 5 % at every λ of an interval.
    let wanted = PathPlan::new(Interval::new(0.001, 0.1)?, Tolerance::Relative(0.05));
    let mut count = 0;
    let covered = task.path(
        &train,
        &wanted,
        |_| None,
        |_| {
            count += 1;
            Ok(())
        },
    )?;
    println!("{count} models for every λ from {:?} to 0.1", covered.from);
    assert_eq!(covered.from, Some(0.001));

    // And the λ that predicts best.
    let (folds, plan) = (task.folds(&train, 5, 0)?, TrialPlan::new(Budget::relative(0.01)));
    let lambdas = [0.1, 0.01, 0.001];
    if let Some(found) = task.cross_validate(&train, &folds, &lambdas, &plan, || ())? {
        let best = &found.candidates[found.best()];
        println!("λ = {}: {:.1} % on held-out signals", best.value, 100.0 * best.error());
    }
    Ok(())
}
