//! Optima, ours beside those of others: does the certified interval contain what an interior point method finds, and are
//! the same weights zero?

mod judge;
mod list;
mod program;

use crate::folder::Folder;
use crate::problem::Problem;
use clap::Args;
use dualgap::data::Examples;
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::{Error, Result};
use judge::judge;
use list::{Found, PROBLEMS};
use program::Optimum;
use std::time::Instant;

/// How far the judge's value may be outside of the certified interval, relative; and how narrow that must be for the
/// comparison to mean anything.
const AGREEMENT: f64 = 1e-7;

/// A weight of the judge's is zero below this share of the largest, and not zero above ten times that.
const ZERO: f64 = 1e-5;

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    folder: Folder,
    /// Only problems whose name has this in it.
    #[arg(long, default_value = "")]
    only: String,
    /// The certified gap that is aimed at, relative.
    #[arg(long, default_value_t = 1e-9)]
    tolerance: f64,
    /// At most so many steps of a run, in millions.
    #[arg(long, default_value_t = 100)]
    millions: u64,
}

pub fn run(options: &Options) -> Result<()> {
    let Options { only, tolerance, millions, .. } = options;
    println!(
        "dualgap-bench optima --tolerance {tolerance:e} --millions {millions} --only '{only}'"
    );
    println!(
        "{:<24} {:>8} {:>7} {:>15} {:>15} {:>8} {:>15} {:>8} {:>11}  verdict",
        "problem", "passes", "seconds", "dual", "primal", "gap", "judge", "seconds", "nonzeros"
    );
    let budget = Budget {
        oracle_calls: Some(millions.saturating_mul(1_000_000)),
        ..Budget::relative(*tolerance)
    };
    let (mut open, mut wrong) = (0, 0);
    for (problem, found) in PROBLEMS.iter().filter(|(problem, _)| problem.name.contains(only)) {
        let data = options.folder.libsvm(problem.file)?;
        let complaints = compare(problem, *found, &data, &budget)?;
        open += usize::from(complaints.iter().any(|complaint| !complaint.is_disagreement()));
        wrong += usize::from(complaints.iter().any(Complaint::is_disagreement));
    }
    println!("{wrong} disagree; {open} are not solved well enough to tell");
    if wrong > 0 {
        return Err(Error::setting("an optimum is not where others find it"));
    }
    Ok(())
}

/// What is not as it should be.
#[derive(Debug)]
enum Complaint {
    /// The certified interval is too wide to judge, and this is why the run ended.
    Open(Stop),
    /// The judge could not solve it, or its own two sides are too far apart.
    NoJudge(String),
    /// The judge's value is outside of the interval, by so much.
    Outside(f64),
    /// Not the value that others found.
    Found(f64),
    /// So many weights are zero for one and not for the other.
    Support(usize),
    /// Not as many nonzeros as others found.
    Nonzeros(usize),
}

impl Complaint {
    fn is_disagreement(&self) -> bool {
        !matches!(self, Self::Open(_) | Self::NoJudge(_))
    }

    fn text(&self) -> String {
        match self {
            Self::Open(stop) => format!("the gap is open: {stop:?}"),
            Self::NoJudge(why) => format!("no judge: {why}"),
            Self::Outside(distance) => format!("THE JUDGE IS OUTSIDE BY {distance:.1e}"),
            Self::Found(value) => format!("OTHERS FOUND {value}"),
            Self::Support(count) => format!("{count} WEIGHTS ARE ZERO FOR ONE ONLY"),
            Self::Nonzeros(count) => format!("OTHERS HAVE {count} NONZEROS"),
        }
    }
}

/// Solves a problem twice, prints its line of the table, and returns what is wrong.
fn compare(
    problem: &Problem,
    found: Option<Found>,
    data: &Examples,
    budget: &Budget,
) -> Result<Vec<Complaint>> {
    let start = Instant::now();
    let report = problem.train(data, budget)?;
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let judged = judge(problem, data);
    let judge_seconds = start.elapsed().as_secs_f64();

    let (c, weights) = (report.certificate, &report.model);
    let nonzeros = weights.iter().filter(|w| **w != 0.0).count();
    let mut complaints = Vec::new();
    let mut support = None;
    match &judged {
        Ok(optimum) => {
            complaints.extend(outside(&c, optimum));
            if problem.l1 > 0.0 && c.relative_gap() <= AGREEMENT {
                support = count_support(weights, optimum, &mut complaints);
            }
        }
        Err(error) => complaints.push(Complaint::NoJudge(error.to_string())),
    }
    if c.relative_gap() > AGREEMENT {
        complaints.push(Complaint::Open(report.stop));
    }
    if let Some(found) = found {
        if c.dual > found.value + found.precision || c.primal < found.value - found.precision {
            complaints.push(Complaint::Found(found.value));
        }
        if let Some(count) = found.nonzeros.filter(|&count| count != nonzeros) {
            complaints.push(Complaint::Nonzeros(count));
        }
    }
    let verdict: Vec<String> = complaints.iter().map(Complaint::text).collect();
    println!(
        "{:<24} {:>8.0} {seconds:>7.2} {:>15.10} {:>15.10} {:>8.1e} {:>15} {judge_seconds:>8.2} {:>11}  {}",
        problem.name,
        report.passes,
        c.dual,
        c.primal,
        c.relative_gap(),
        judged.map_or("-".into(), |optimum| format!("{:.10}", optimum.upper)),
        match support {
            Some(support) => format!("{nonzeros} ({support})"),
            None => nonzeros.to_string(),
        },
        if verdict.is_empty() { "agree".into() } else { verdict.join("; ") }
    );
    Ok(complaints)
}

/// Whether the judge contradicts the certificate, or itself.
fn outside(c: &Certificate, judged: &Optimum) -> Option<Complaint> {
    let allowed = AGREEMENT * c.primal.abs();
    if judged.upper - judged.lower > allowed {
        let apart = judged.upper - judged.lower;
        return Some(Complaint::NoJudge(format!("its two sides are {apart:.1e} apart")));
    }
    let distance = (c.dual - judged.upper).max(judged.lower - c.primal);
    (distance > allowed).then_some(Complaint::Outside(distance))
}

/// How many weights of the judge's are not zero, if that is clear; and whether they are ours.
fn count_support(
    weights: &[f64],
    judged: &Optimum,
    complaints: &mut Vec<Complaint>,
) -> Option<usize> {
    let theirs = &judged.x[..weights.len()];
    // Where all are zero, the largest is nothing to go by.
    let largest = theirs.iter().fold(0.01_f64, |largest, w| largest.max(w.abs()));
    let between = |w: &f64| w.abs() > ZERO * largest && w.abs() < 10.0 * ZERO * largest;
    if theirs.iter().any(between) {
        return None;
    }
    let nonzero = |w: &f64| w.abs() > ZERO * largest;
    let differ = weights.iter().zip(theirs).filter(|(w, other)| (**w != 0.0) != nonzero(other));
    let differ = differ.count();
    if differ > 0 {
        complaints.push(Complaint::Support(differ));
    }
    Some(theirs.iter().filter(|w| nonzero(w)).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Loss;
    use dualgap::linalg::Random;
    use dualgap::term::ScalarLoss;

    /// Four features and a label that they explain in part: two classes, or three.
    fn examples(classes: usize) -> Examples {
        let mut random = Random::new(1);
        let mut names = Vec::new();
        let mut row = || {
            let row: Vec<f64> = (0..4).map(|_| 2.0 * random.unit() - 1.0).collect();
            let place = (row[0] - row[3] + random.unit()).clamp(0.0, 0.99);
            names.push(["1", "2", "3"][(place * classes as f64) as usize]);
            row
        };
        let rows: Vec<Vec<f64>> = (0..40).map(|_| row()).collect();
        Examples::from_dense(&rows, &names).unwrap()
    }

    fn data_for(problem: &Problem) -> Examples {
        let binary = matches!(problem.loss, Loss::Scalar(loss) if loss.is_binary());
        examples(if binary { 2 } else { 3 })
    }

    #[test]
    fn the_judge_has_the_same_optimum_for_every_loss_of_the_list() {
        let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-9) };
        for (problem, _) in &PROBLEMS {
            // Small ones take longer than a test may, and so does pure l1 under a loss with a corner.
            let lambda = if problem.lambda > 0.0 { 0.1 } else { 0.0 };
            let problem = Problem { lambda, ..*problem };
            let complaints = compare(&problem, None, &data_for(&problem), &budget).unwrap();
            assert!(!complaints.iter().any(Complaint::is_disagreement), "{complaints:?}");
            assert!(complaints.is_empty() || lambda == 0.0, "{complaints:?}");
        }
    }

    #[test]
    fn an_optimum_that_is_not_one_is_noticed() {
        let loss = Loss::Scalar(ScalarLoss::Logistic);
        let problem = Problem { name: "logistic", file: "", loss, lambda: 0.1, l1: 0.01 };
        let data = data_for(&problem);
        let budget = Budget::relative(1e-9);
        let other = Problem { lambda: 0.100_001, ..problem };
        let (c, judged) =
            (problem.train(&data, &budget).unwrap().certificate, judge(&other, &data));
        assert!(matches!(outside(&c, &judged.unwrap()), Some(Complaint::Outside(_))));
        let found =
            Found { value: c.primal * 1.001, precision: 1e-4 * c.primal, nonzeros: Some(9) };
        let complaints = compare(&problem, Some(found), &data, &budget).unwrap();
        assert!(matches!(complaints[..], [Complaint::Found(_), Complaint::Nonzeros(9)]));
        assert!(complaints.iter().all(Complaint::is_disagreement));
    }
}
