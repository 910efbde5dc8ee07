//! Methods for one problem, each until it is near the optimum.
//!
//! The optimum comes from a run that is certified far more tightly, so "near" is judged by the same number for all.

use dualgap::Result;
use dualgap::pdbfw::{Method, Settings};
use dualgap::run::{Budget, Progress, Report};

/// What the optimum is known to.
const TIGHT: f64 = 1e-9;

/// A short run is made so often, or until all of them together take so many seconds.
const OFTEN: usize = 7;
const LONG: f64 = 1.0;

/// How near to the optimum, relative to it, and at most how many seconds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    pub near: f64,
    pub seconds: f64,
}

/// Prints a line a method, the first of which the others are measured by. `told` says what is known of the optimum.
pub fn race<M>(
    baselines: &[Method],
    goal: Goal,
    train: impl Fn(&Settings, &Budget) -> Result<Report<M>>,
    told: impl Fn(&Report<M>) -> String,
) -> Result<()> {
    let tight = Budget { seconds: Some(300.0), ..Budget::relative(TIGHT) };
    let best = train(&Settings::default(), &tight)?;
    let optimum = best.certificate.dual;
    println!(
        "    {}: optimum {optimum:.9} certified to {:.0e}",
        told(&best),
        best.certificate.relative_gap()
    );
    let is_near = |p: &&Progress| p.certificate.primal <= optimum * (1.0 + goal.near);
    let mut first = None;
    for &method in std::iter::once(&Method::Pdbfw).chain(baselines) {
        let report = fastest(method, goal, &train)?;
        let name = format!("{method:?}");
        let told = if let Some(p) = report.history.iter().find(is_near) {
            let of = p.solve_seconds / *first.get_or_insert(p.solve_seconds);
            format!("{:>8.1} passes {:>9.4} s {of:>8.1} times", p.passes, p.solve_seconds)
        } else {
            let left = report.certificate.primal / optimum - 1.0;
            format!("{left:.1e} left after {:.1} s", report.solve_seconds)
        };
        println!("      {name:<20} {told}");
    }
    Ok(())
}

/// The steps are the same each time, and only the clock varies: the fastest of a few runs counts.
fn fastest<M>(
    method: Method,
    goal: Goal,
    train: &impl Fn(&Settings, &Budget) -> Result<Report<M>>,
) -> Result<Report<M>> {
    let settings = Settings { method, ..Settings::default() };
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
