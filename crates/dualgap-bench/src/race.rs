//! Methods for one problem, each until it is near the optimum.
//!
//! The optimum comes from a run that is certified far more tightly, so "near" is judged by the same number for all.

use clap::Args;
use dualgap::Result;
use dualgap::ball::{BallMethod, BallSettings};
use dualgap::container::write_atomically;
use dualgap::run::{Budget, Progress, Report};
use std::path::PathBuf;

/// What the optimum is known to.
const TIGHT: f64 = 1e-9;

/// A short run is made so often, or until all of them together take so many seconds.
const OFTEN: usize = 7;
const LONG: f64 = 1.0;

/// How near to the optimum, and what of the way there is kept.
#[derive(Args, Clone, Debug)]
pub struct Goal {
    /// At most so many seconds of a run.
    #[arg(long, default_value_t = 30.0)]
    pub seconds: f64,
    /// How near to the optimum, relative to it.
    #[arg(long, default_value_t = 1e-4)]
    pub near: f64,
    /// Write primal against time of all methods to this csv file.
    #[arg(long)]
    curves: Option<PathBuf>,
}

impl Goal {
    /// Writes the curves of all races, if they are wanted.
    pub fn keep(&self, curves: &str) -> Result<()> {
        let Some(path) = &self.curves else { return Ok(()) };
        let text = format!("problem,method,seconds,passes,above_optimum\n{curves}");
        write_atomically(path, text.as_bytes())
    }
}

/// Prints a line a method, the first of which the others are measured by. `told` says what is known of the optimum. Returns
/// a line for every certificate on the way.
pub fn race<M>(
    baselines: &[BallMethod],
    goal: &Goal,
    train: impl Fn(&BallSettings, &Budget) -> Result<Report<M>>,
    told: impl Fn(&Report<M>) -> String,
) -> Result<String> {
    let tight = Budget { seconds: Some(300.0), ..Budget::relative(TIGHT) };
    let best = train(&BallSettings::default(), &tight)?;
    let optimum = best.certificate.dual;
    let problem = told(&best);
    println!(
        "    {problem}: optimum {optimum:.9} certified to {:.0e}",
        best.certificate.relative_gap()
    );
    let mut curves = String::new();
    let above = |primal: f64| (primal - optimum) / optimum.abs();
    let is_near = |p: &&Progress| above(p.certificate.primal) <= goal.near;
    let mut first = None;
    for &method in std::iter::once(&BallMethod::Auto).chain(baselines) {
        let report = fastest(method, goal, &train)?;
        let name = format!("{method:?}");
        curves.extend(report.history.iter().map(|p| {
            let above = above(p.certificate.primal);
            let (seconds, passes) = (p.solve_seconds, p.passes);
            format!("\"{problem}\",{name},{seconds},{passes},{above:e}\n")
        }));
        let told = if let Some(p) = report.history.iter().find(is_near) {
            let of = p.solve_seconds / *first.get_or_insert(p.solve_seconds);
            format!("{:>8.1} passes {:>9.4} s {of:>8.1} times", p.passes, p.solve_seconds)
        } else {
            let left = above(report.certificate.primal);
            format!("{left:.1e} left after {:.1} s", report.solve_seconds)
        };
        println!("      {name:<20} {told}");
    }
    Ok(curves)
}

/// The steps are the same each time, and only the clock varies: the fastest of a few runs counts.
fn fastest<M>(
    method: BallMethod,
    goal: &Goal,
    train: &impl Fn(&BallSettings, &Budget) -> Result<Report<M>>,
) -> Result<Report<M>> {
    let settings = BallSettings { method, ..BallSettings::default() };
    let seconds = Some(goal.seconds);
    let budget = Budget { seconds, certify_share: 1.0, ..Budget::relative(0.5 * goal.near) };
    let mut best = train(&settings, &budget)?;
    let mut spent = best.solve_seconds;
    for _ in 1..OFTEN {
        if spent > LONG {
            break;
        }
        let report = train(&settings, &budget)?;
        spent += report.solve_seconds;
        if report.solve_seconds < best.solve_seconds {
            best = report;
        }
    }
    Ok(best)
}
