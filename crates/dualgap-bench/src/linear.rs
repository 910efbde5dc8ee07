//! Linear models: seconds until the primal value is near the optimum, and until that is proved.
//!
//! The optimum is known from a much longer run of our own, whose certificate brackets it. The folder `race` beside this
//! crate's `src` runs other programs, on more problems, and makes one table of all.

use crate::folder::Folder;
use crate::problem::{Loss, Problem, REUTERS_L1};
use clap::Args;
use dualgap::Result;
use dualgap::data::Examples;
use dualgap::run::{Budget, Certificate, Progress};
use dualgap::term::ScalarLoss;
use serde_json::{Value, json};
use std::time::Instant;

const PROBLEMS: [Problem; 3] = [
    Problem {
        name: "a9a hinge",
        file: "a9a",
        loss: Loss::Scalar(ScalarLoss::Hinge),
        lambda: 1e-4,
        l1: 0.0,
    },
    Problem {
        name: "a9a logistic",
        file: "a9a",
        loss: Loss::Scalar(ScalarLoss::Logistic),
        lambda: 1e-4,
        l1: 0.0,
    },
    Problem {
        name: "reuters lasso",
        file: "reuters_corpacq.train",
        loss: Loss::Scalar(ScalarLoss::Squared),
        lambda: 0.0,
        l1: REUTERS_L1,
    },
];

/// How near, relative to the optimum.
const TOLERANCES: [f64; 2] = [1e-4, 1e-6];

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    folder: Folder,
    /// How often each problem is solved; the median run of each figure counts.
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// The certified gap of the run that brackets the optimum, relative.
    #[arg(long, default_value_t = 1e-8)]
    reference: f64,
    /// At most so many passes of any run.
    #[arg(long, default_value_t = 20_000)]
    passes: u64,
    /// One line of JSON for each problem in place of the table.
    #[arg(long)]
    json: bool,
}

/// What one run took until something held.
#[derive(Clone, Copy, Debug)]
struct Took {
    passes: f64,
    solve: f64,
    certify: f64,
}

impl Took {
    fn seconds(self) -> f64 {
        self.solve + self.certify
    }

    fn json(self) -> Value {
        json!({ "passes": self.passes, "solve": self.solve, "certify": self.certify })
    }

    fn text(took: Option<Self>) -> String {
        took.map_or("not reached".into(), |took| {
            let Self { passes, solve, certify } = took;
            format!("{solve:.3} s solving, {certify:.3} s certifying, {passes:.0} passes")
        })
    }
}

/// The median of the runs that there are; nothing when one of them did not get there.
fn median(runs: &[Option<Took>]) -> Option<Took> {
    let mut runs = runs.iter().copied().collect::<Option<Vec<Took>>>()?;
    runs.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    runs.get(runs.len() / 2).copied()
}

/// What the run took until the first certification for which this holds.
fn until(history: &[Progress], holds: impl Fn(&Certificate) -> bool) -> Option<Took> {
    let first = history.iter().find(|progress| holds(&progress.certificate))?;
    let Progress { passes, solve_seconds, certify_seconds, .. } = *first;
    Some(Took { passes, solve: solve_seconds, certify: certify_seconds })
}

pub fn run(options: &Options) -> Result<()> {
    let Options { repetitions, reference, passes, json, .. } = *options;
    if !json {
        println!(
            "dualgap-bench linear --repetitions {repetitions} --reference {reference:e} --passes {passes}"
        );
    }
    for problem in PROBLEMS {
        let data = options.folder.libsvm(problem.file)?;
        let measured = Timed::new(&problem, &data, options)?;
        if json {
            println!("{}", measured.json());
        } else {
            measured.print();
        }
    }
    Ok(())
}

/// One problem, measured.
struct Timed<'a> {
    problem: &'a Problem,
    data: &'a Examples,
    /// Of the run that brackets the optimum.
    reference: Certificate,
    /// Seconds outside of solving and certifying: norms, the first dual value, threads.
    prepare: f64,
    /// For every tolerance: until the primal value is as near, and until the certified gap is as small.
    near: [Option<Took>; TOLERANCES.len()],
    proved: [Option<Took>; TOLERANCES.len()],
}

impl<'a> Timed<'a> {
    fn new(problem: &'a Problem, data: &'a Examples, options: &Options) -> Result<Self> {
        let budget =
            |relative| Budget { passes: Some(options.passes), ..Budget::relative(relative) };
        let reference = problem.train(data, &budget(options.reference))?.certificate;
        let mut runs = Vec::new();
        let mut prepare = Vec::new();
        for _ in 0..options.repetitions.max(1) {
            let start = Instant::now();
            let report = problem.train(data, &budget(TOLERANCES[TOLERANCES.len() - 1]))?;
            let whole = start.elapsed().as_secs_f64();
            prepare.push(whole - report.solve_seconds - report.certify_seconds);
            runs.push(report.history);
        }
        prepare.sort_by(f64::total_cmp);
        let over_runs = |holds: &dyn Fn(&Certificate) -> bool| {
            median(&runs.iter().map(|history| until(history, holds)).collect::<Vec<_>>())
        };
        // Below its dual value no optimum lies: what is near to that is near to the optimum.
        let (floor, size) = (reference.dual, reference.primal.abs());
        Ok(Self {
            near: TOLERANCES.map(|tolerance| over_runs(&|c| c.primal - floor <= tolerance * size)),
            proved: TOLERANCES
                .map(|tolerance| over_runs(&|c| c.is_within(tolerance * c.primal.abs()))),
            prepare: prepare[prepare.len() / 2],
            problem,
            data,
            reference,
        })
    }

    fn json(&self) -> Value {
        let Problem { name, file, lambda, l1, .. } = *self.problem;
        let reached: Vec<Value> = (0..TOLERANCES.len())
            .map(|k| {
                json!({
                    "tolerance": TOLERANCES[k],
                    "near": self.near[k].map(Took::json),
                    "proved": self.proved[k].map(Took::json),
                })
            })
            .collect();
        json!({
            "problem": name, "file": file, "lambda": lambda, "l1": l1, "n": self.data.len(),
            "lower": self.reference.dual, "upper": self.reference.primal, "prepare": self.prepare,
            "reached": reached,
        })
    }

    fn print(&self) {
        let Problem { name, lambda, l1, .. } = self.problem;
        let Certificate { primal, dual, .. } = self.reference;
        println!("  {name}, λ = {lambda}, σ = {l1}, n = {}", self.data.len());
        println!(
            "    the optimum is between {dual:.12} and {primal:.12}; {:.3} s to prepare",
            self.prepare
        );
        for (k, tolerance) in TOLERANCES.into_iter().enumerate() {
            println!("    primal within {tolerance:e}: {}", Took::text(self.near[k]));
            println!("    gap within    {tolerance:e}: {}", Took::text(self.proved[k]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_whole_runs_and_needs_all_of_them() {
        let took = |solve| Some(Took { passes: 1.0, solve, certify: 0.5 });
        let middle = median(&[took(3.0), took(1.0), took(2.0)]).unwrap();
        assert_eq!((middle.solve, middle.certify), (2.0, 0.5));
        assert!(median(&[took(1.0), None]).is_none());
    }
}
