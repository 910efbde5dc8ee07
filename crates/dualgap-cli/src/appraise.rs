//! `dualgap appraise`: proves how far from the optimum the weights of another program are.

use crate::args::values::Wanted;
use crate::args::{AppraiseArgs, Common};
use crate::claim::rounded_up;
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::options::{TaskOptions, Work};
use crate::report::notes;
use crate::weight_file::WeightFile;
use crate::words::{aligned, number, to_json, trimmed};
use crate::{Outcome, print};
use dualgap::data::{DataSet, Source};
use dualgap::run::{Budget, Stop};
use dualgap::structure::{Remark, Structure};
use dualgap::task::{Appraisal, Plan};
use dualgap::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::ffi::{OsStr, OsString};

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a> {
    /// Whether the bounds are close to each other, or the weights within the tolerance.
    close: bool,
    primal: f64,
    dual: f64,
    rounding_error: f64,
    at_most: f64,
    at_least: f64,
    relative_at_most: f64,
    relative_at_least: f64,
    passes: f64,
    stop: Stop,
    n: usize,
    problem: &'a Value,
    remarks: &'a [Remark],
}

impl Work for AppraiseArgs {
    fn common(&self) -> Common<'_> {
        let Self { data, strength, method, ball, .. } = self;
        Common {
            data,
            penalty: &strength.penalty,
            method,
            ball: Some(ball),
            lambda: strength.lambda(),
            l1: strength.penalty.sigma(),
            radius: ball.radius.map(|radius| radius.or(1.0)),
            to_accuracy: false,
        }
    }

    fn run<T: TaskOptions>(&self, task: &T) -> Result<Outcome> {
        if self.data.test.is_some() || self.data.test_folds.is_some() {
            return Err(Error::setting(
                "weights are appraised on the data that they were trained on: leave --test and --test-folds out",
            ));
        }
        let auto = self.strength.lambda == Some(Wanted::Auto)
            || self.strength.penalty.l1 == Wanted::Auto
            || self.ball.radius == Some(Wanted::Auto);
        if auto {
            return Err(Error::setting(
                "weights are appraised for the problem that they were trained on: give its numbers, and not auto",
            ));
        }
        self.common().check(self.strength.is_zero())?;
        let file = WeightFile::read(Source::open(&self.weights)?)?;
        let job = Job::read(self.common(), task)?;
        let (data, definite) = (&job.train.data, job.task()?);
        let names = job.spec.structure.clone().resolve(data)?.names(data)?;
        let layout = job.spec.structure.layout(&names);
        let count = layout.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>();
        let weights = file.arranged(&self.weights, &names, count, task.constant())?;
        let budget = Budget {
            passes: Some(self.passes),
            seconds: self.time,
            ..Budget::relative(self.tolerance)
        };
        stop_on_ctrl_c(&budget.interrupt);
        let found = definite.appraise(data, &weights, job.plan(Plan::new(budget)))?;
        let text =
            if self.json { json(&found, data.len()) } else { self.tell(&found, task.constant()) };
        print(&text)?;
        Ok(if found.stop == Stop::GapReached { Outcome::Reached } else { Outcome::NotReached })
    }

    fn run_under_kernel<T: TaskOptions>(&self, _: &T) -> Result<Outcome> {
        Err(Error::setting("coefficients under a kernel are certified with their model only"))
    }
}

fn json(found: &Appraisal, n: usize) -> String {
    to_json(&Json {
        close: found.stop == Stop::GapReached,
        primal: found.certificate.primal,
        dual: found.certificate.dual,
        rounding_error: found.certificate.rounding_error,
        at_most: found.at_most(),
        at_least: found.at_least(),
        relative_at_most: found.relative_at_most(),
        relative_at_least: found.relative_at_least(),
        passes: found.passes,
        stop: found.stop,
        n,
        problem: &found.problem.json,
        remarks: &found.problem.remarks,
    })
}

impl AppraiseArgs {
    fn tell(&self, found: &Appraisal, constant: bool) -> String {
        let mut rows = vec![
            ("weights", self.weights.display().to_string()),
            ("data", self.data.data.display().to_string()),
        ];
        rows.extend(found.problem.lines.iter().cloned());
        if constant && found.problem.json["intercept"].is_null() {
            rows.push(("intercept", "a feature that is always 1, penalised like any other".into()));
        }
        rows.push(("objective", format!("{} at the weights", number(found.certificate.primal))));
        rows.push(("lower bound", format!("{} on the optimum", number(found.certificate.dual))));
        if let Some(reached) = found.reached {
            rows.push(("reached", format!("{} by other weights", number(reached.value))));
        }
        rows.push(("passes", trimmed(found.passes)));
        let more = match found.stop {
            Stop::GapReached => "",
            Stop::Stalled => " Rounding allows no closer bounds.",
            _ => " More --passes bring the bounds closer to each other.",
        };
        format!("{}{}\n{}{more}\n", aligned(&rows), notes(&found.problem.remarks), sentence(found))
    }
}

/// Describes the bounds in words. The numbers are rounded outward, so that the sentence stays true.
fn sentence(found: &Appraisal) -> String {
    let (most, share) = (rounded_up(found.at_most()), rounded_up(100.0 * found.relative_at_most()));
    let least = match rounded_down(found.at_least()) {
        least if least == "0" => "and no better weights were found".into(),
        least => format!("and at least {least}"),
    };
    format!(
        "Proved: the objective at these weights is at most {most} above the optimum ({share} % of the objective), {least}."
    )
}

/// Formats a number with three digits, rounded down.
fn rounded_down(x: f64) -> String {
    // Smaller numbers do not have three digits.
    if x < 1e-300 {
        return "0".into();
    }
    let digits = x.log10().floor() as i32;
    let unit = 10_f64.powi(digits - 2);
    let low = (x / unit).floor();
    // Products by powers of ten are rounded, and can be above x: then one unit less is not.
    let told = [low, low - 1.0].map(|low| {
        let low = low * unit;
        if (-4..6).contains(&digits) {
            format!("{low:.*}", (2 - digits).max(0) as usize)
        } else {
            format!("{low:.2e}")
        }
    });
    told.into_iter()
        .find(|told| told.parse().is_ok_and(|told: f64| told <= x))
        .unwrap_or("0".into())
}

/// Returns the arguments with `certify --weights FILE --task TASK …` in the form `appraise TASK --weights FILE …`. The
/// task may have its options with it, as one word.
pub fn spelled(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.collect();
    let is = |word: &OsStr, name: &str| {
        word.to_str()
            .and_then(|word| word.strip_prefix(name))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let certifies = arguments.get(1).is_some_and(|verb| verb == "certify");
    let weighs = arguments.iter().any(|word| is(word, "--weights"));
    let place = arguments.iter().position(|word| is(word, "--task"));
    let (true, true, Some(place)) = (certifies, weighs, place) else { return arguments };
    let (task, next) = match arguments[place].to_str().and_then(|word| word.strip_prefix("--task="))
    {
        Some(task) => (OsString::from(task), place + 1),
        None => match arguments.get(place + 1) {
            Some(task) => (task.clone(), place + 2),
            None => return arguments, // the parser says what is missing
        },
    };
    let words: Vec<OsString> = match task.to_str() {
        Some(task) => task.split_whitespace().map(OsString::from).collect(),
        None => vec![task],
    };
    let mut spelled = vec![arguments[0].clone(), "appraise".into()];
    spelled.extend(words);
    spelled.extend_from_slice(&arguments[2..place]);
    spelled.extend_from_slice(&arguments[next..]);
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let words = line.split('|').map(OsString::from);
        let words: Vec<String> =
            spelled(words).into_iter().map(|word| word.into_string().unwrap()).collect();
        words.join("|")
    }

    #[test]
    fn weights_are_certified_by_an_appraisal_of_their_task() {
        let expected = "p|appraise|binary|--weights|w|--c|1|d";
        assert_eq!(of("p|certify|--weights|w|--task|binary|--c|1|d"), expected);
        assert_eq!(of("p|certify|--weights|w|--task=binary|--c|1|d"), expected);
        assert_eq!(
            of("p|certify|--task|binary --c 1|--weights|w|d"),
            "p|appraise|binary|--c|1|--weights|w|d"
        );
        for same in [
            "p|certify|m|d",
            "p|train|--task|x",
            "p|certify|--weights|w",
            "p|certify|--weights|w|--task",
            "p",
        ] {
            assert_eq!(of(same), same);
        }
    }

    #[test]
    fn a_lower_bound_stays_one_when_it_is_told() {
        for x in [1.0, 0.1, 0.123_456, 9.999_9e-7, 3.0e-5, 1e300, 1e-300, 123_456.0] {
            let told: f64 = rounded_down(x).parse().unwrap();
            assert!(told <= x && told >= 0.98 * x, "{x} {told}");
        }
        assert_eq!((rounded_down(0.0), rounded_down(-1.0)), ("0".into(), "0".into()));
    }
}
