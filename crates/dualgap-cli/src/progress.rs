//! A progress bar on the terminal: pass, gap, test error, and an estimate of the time left.

use crate::claim::gap_share;
use crate::words::percent;
use dualgap::Result;
use dualgap::run::{Budget, Observer, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// The parts of the whole that the bar can show.
const PARTS: u64 = 1000;

/// Draws to standard error, and only if that is a terminal.
pub struct Bar {
    line: ProgressBar,
    budget: Budget,
    seen: Vec<Seen>,
    /// What the last certification found, in words.
    told: String,
}

/// What the guess is made from.
#[derive(Clone, Copy, Debug)]
struct Seen {
    passes: f64,
    seconds: f64,
    relative_gap: f64,
    gap: f64,
}

/// Returns a bar of this many parts, on standard error.
fn line(parts: u64) -> ProgressBar {
    let line = ProgressBar::with_draw_target(Some(parts), ProgressDrawTarget::stderr());
    // The template is known to be valid; without it the bar would only look plainer.
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:24}] {msg}") {
        line.set_style(style.progress_chars("=> "));
    }
    line.enable_steady_tick(Duration::from_millis(250));
    line
}

/// Counts runs that have ended, on whatever thread.
pub struct RunCounter {
    line: ProgressBar,
    of: usize,
}

impl RunCounter {
    pub fn new(of: usize) -> Self {
        let counter = Self { line: line(of as u64), of };
        counter.tell();
        counter
    }

    pub fn ended(&self) {
        self.line.inc(1);
        self.tell();
    }

    /// Prints a line above the counter.
    pub fn print(&self, line: &str) {
        self.line.println(line);
    }

    fn tell(&self) {
        self.line.set_message(format!("{} of {} models", self.line.position(), self.of));
    }

    /// Clears the line.
    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}

impl Bar {
    pub fn new(budget: &Budget) -> Self {
        let line = line(PARTS);
        Self { line, budget: budget.clone(), seen: Vec::new(), told: String::new() }
    }

    /// Clears the line.
    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}

/// A bar that is dropped leaves nothing on the terminal.
impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Observer for Bar {
    fn certified(&mut self, progress: &Progress, _: &[f64]) -> Result<()> {
        self.seen.push(Seen {
            passes: progress.passes,
            seconds: progress.solve_seconds + progress.certify_seconds,
            relative_gap: progress.certificate.relative_gap(),
            gap: progress.certificate.gap(),
        });
        let test = progress
            .test_error
            .map_or(String::new(), |error| format!("   test error {}", percent(error)));
        self.told = format!("   gap {}{test}", gap_share(progress.certificate.relative_gap()));
        self.advanced(progress.passes);
        Ok(())
    }

    fn reads_weights(&self) -> bool {
        false
    }

    fn advanced(&mut self, passes: f64) {
        let left = seconds_left(&self.seen, &self.budget, passes)
            .map_or(String::new(), |seconds| format!("   about {} left", span(seconds)));
        self.line.set_position((PARTS as f64 * self.share(passes)) as u64);
        self.line.set_message(format!("pass {passes:.0}{}{left}", self.told));
    }
}

impl Bar {
    /// Returns the completed fraction of the run, by the limit that is closest to its end.
    fn share(&self, passes: f64) -> f64 {
        let by_passes = self.budget.passes.map(|limit| passes / limit.max(1) as f64);
        let by_gap = self.seen.first().zip(self.seen.last()).and_then(|(first, last)| {
            let wanted = self.budget.relative.filter(|&r| r > 0.0)?;
            let way = (first.relative_gap / wanted).ln();
            (way > 0.0).then(|| (first.relative_gap / last.relative_gap).ln() / way)
        });
        [by_passes, by_gap].into_iter().flatten().fold(0.0, f64::max).clamp(0.0, 1.0)
    }
}

/// Estimates the seconds until the run ends by the first of its limits.
///
/// For limits on work the estimate uses the mean speed so far. For a tolerance it assumes that the gap continues to
/// fall as a power of the passes, as it did over their last half; with too few certifications, or a gap that does
/// not fall, there is no estimate.
fn seconds_left(seen: &[Seen], budget: &Budget, passes: f64) -> Option<f64> {
    let last = seen.last()?;
    let per_pass = last.seconds / last.passes.max(f64::MIN_POSITIVE);
    let by_passes = budget.passes.map(|limit| (limit as f64 - last.passes) * per_pass);
    let by_time = budget.seconds.map(|limit| limit - last.seconds);
    let share = |gap: f64, wanted: Option<f64>| wanted.filter(|&w| w > 0.0).map(|w| w / gap);
    let shares = [share(last.relative_gap, budget.relative), share(last.gap, budget.absolute)];
    let by_gap = power(seen).and_then(|power| {
        let share = shares.into_iter().flatten().fold(0.0_f64, f64::max);
        let passes = last.passes * share.powf(1.0 / power);
        (share > 0.0).then_some((passes - last.passes) * per_pass)
    });
    let guesses = [by_passes, by_time, by_gap].into_iter().flatten();
    let since = (passes - last.passes) * per_pass;
    let left = guesses.filter(|guess| guess.is_finite()).reduce(f64::min)?;
    Some((left - since).max(0.0))
}

/// Returns the exponent of the gap as a power of the passes, over the last half of the passes.
fn power(seen: &[Seen]) -> Option<f64> {
    let recent: Vec<(f64, f64)> = seen
        .iter()
        .filter(|s| s.passes * 2.0 >= seen[seen.len() - 1].passes && s.passes > 0.0 && s.gap > 0.0)
        .map(|s| (s.passes.ln(), s.gap.ln()))
        .collect();
    if recent.len() < 3 {
        return None;
    }
    let n = recent.len() as f64;
    let (x, y) = recent.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let slope = recent.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / recent.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    (slope < -0.05).then_some(slope)
}

/// Formats a duration, as roughly as it is known.
fn span(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that takes one second per pass and has the gap 1/passes.
    fn seen(passes: &[f64]) -> Vec<Seen> {
        let gap = |p: &f64| 1.0 / p;
        passes
            .iter()
            .map(|p| Seen { passes: *p, seconds: *p, relative_gap: gap(p), gap: gap(p) })
            .collect()
    }

    #[test]
    fn the_guess_is_right_where_the_gap_falls_as_a_power() {
        let budget = Budget::relative(0.01);
        let seen = seen(&[4.0, 8.0, 12.0, 16.0, 20.0]);
        let left = seconds_left(&seen, &budget, 20.0).unwrap();
        assert!((left - 80.0).abs() < 1e-6, "{left}"); // a gap of 0.01 comes at pass 100
        let both = Budget { passes: Some(30), ..budget };
        assert_eq!(seconds_left(&seen, &both, 20.0), Some(10.0));
        assert_eq!(seconds_left(&seen, &both, 23.0), Some(7.0));
    }

    #[test]
    fn without_anything_to_go_by_there_is_no_guess() {
        let budget = Budget::relative(0.01);
        assert_eq!(seconds_left(&[], &budget, 1.0), None);
        assert_eq!(seconds_left(&seen(&[4.0, 8.0]), &budget, 8.0), None);
        let stuck: Vec<Seen> = seen(&[8.0, 10.0, 12.0])
            .into_iter()
            .map(|s| Seen { relative_gap: 0.5, gap: 0.5, ..s })
            .collect();
        assert_eq!(seconds_left(&stuck, &budget, 12.0), None);
    }

    #[test]
    fn the_bar_has_the_pass_the_gap_the_test_error_and_the_time_left() {
        let side = |value| dualgap::linalg::Measured { value, error: 0.0 };
        let certificate = dualgap::run::Certificate::new(side(0.5), side(0.25), true).unwrap();
        let progress = Progress {
            passes: 10.0,
            work: dualgap::run::Work { steps: 10, oracle_calls: 10 },
            solve_seconds: 15.0,
            certify_seconds: 5.0,
            certificate,
            gap: Some(0.25),
            iterate_primal: 0.5,
            iterate_dual: 0.25,
            test_error: Some(0.125),
        };
        let mut bar = Bar::new(&Budget::passes(30));
        bar.certified(&progress, &[]).unwrap();
        let told = bar.line.message();
        assert_eq!(told, "pass 10   gap 50 %   test error 12.5 %   about 40 s left");
        bar.advanced(20.0);
        assert!(bar.line.message().ends_with("about 20 s left"), "{}", bar.line.message());
        assert_eq!(bar.line.position() * 3, 2 * PARTS - 2, "two thirds, rounded down");
    }

    #[test]
    fn spans_are_told_as_a_person_would() {
        for (seconds, told) in [(0.2, "1 s"), (61.0, "61 s"), (600.0, "10 min"), (7200.0, "2 h")] {
            assert_eq!(span(seconds), told);
        }
    }
}
