//! The reports of a path: one object for machines, a table for spreadsheets, another for people.

use crate::ball::{engine_penalty, nonzero};
use crate::job::Job;
use crate::words::{aligned, number, percent, thousands, trimmed};
use dualgap::Result;
use dualgap::data::DataSet;
use dualgap::run::{Interval, Reach, Report, Stop, Tolerance};
use dualgap::structure::evaluation::ErrorKind;
use dualgap::structure::{Remark, Structure};
use dualgap::task::{Covered, Ending, Model, Over, PathPlan, Piece};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The files of a path, beside its models.
pub const JSON: &str = "path.json";
pub const TABLE: &str = "path.tsv";
pub const PLOT: &str = "path.svg";

/// The object that `--json` prints and `path.json` is. Fields may be added; none changes its meaning.
#[derive(Serialize, Deserialize)]
pub struct Told {
    pub task: String,
    /// What is varied; absent from the files of older programs, which know paths in λ alone.
    #[serde(default)]
    pub over: Over,
    /// What the errors on test data are; absent from the files of older programs, whose errors are told as plain numbers.
    #[serde(default)]
    pub error_kind: ErrorKind,
    pub n: usize,
    /// What was asked for.
    pub from: f64,
    pub to: f64,
    pub tolerance: Tolerance,
    /// Every λ from here to `to` is covered; null where none is. Of a grid the smallest number that has a model.
    pub covered_from: Option<f64>,
    /// Whether that is all of them.
    pub complete: bool,
    /// Passes over the data, of all runs.
    pub passes: f64,
    pub version: String,
    /// The largest λ or σ first, the smallest radius first.
    pub models: Vec<Entry>,
}

/// A model of a path.
#[derive(Clone, Serialize, Deserialize)]
pub struct Entry {
    pub file: String,
    /// It was trained at this λ, or in a ball μ.
    pub lambda: f64,
    /// σ, of a path over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1: Option<f64>,
    /// The radius, of a path over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// It is certified on this interval; of a grid, at this number alone.
    #[serde(flatten)]
    pub interval: Interval,
    /// Of its own λ.
    pub primal: f64,
    pub dual: f64,
    pub relative_gap: f64,
    /// Absent from the files of older programs, as the next three numbers are.
    #[serde(default)]
    pub gap: Option<f64>,
    #[serde(default)]
    pub rounding_error: Option<f64>,
    /// Rounding included.
    #[serde(default)]
    pub gap_bound: Option<f64>,
    #[serde(default)]
    pub relative_gap_bound: Option<f64>,
    #[serde(default, skip_deserializing)]
    pub remarks: Vec<Remark>,
    /// The largest gap on its interval, rounding included, in units of the tolerance.
    pub worst_gap: f64,
    /// Weights that are not zero.
    pub weights: usize,
    pub passes: f64,
    /// The error on the test data: [`Told::error_kind`] says what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_error: Option<f64>,
}

impl Entry {
    pub fn new<S: Structure>(
        piece: &Piece<S>,
        before: usize,
        tolerance: Tolerance,
        test_error: Option<f64>,
    ) -> Result<Self> {
        let Piece { report, reach, interval } = piece;
        // For every tolerance the λ at which the gap is within it form an interval, so the gap is largest at an end.
        let [low, high] = [reach.certificate(interval.from)?, reach.certificate(interval.to)?];
        let worst = tolerance.bound(&low).max(tolerance.bound(&high));
        let entry = Self::of(report, before, *interval, worst, test_error);
        Ok(Self { lambda: piece.lambda(), ..entry })
    }

    /// Returns the entry of a model of a grid.
    pub fn of_grid<S: Structure>(
        report: &Report<Model<S>>,
        over: Over,
        before: usize,
        tolerance: Tolerance,
        test_error: Option<f64>,
    ) -> Result<Self> {
        let penalty = report.model.task.penalty;
        let value = over.of(penalty).unwrap_or(0.0);
        let worst = tolerance.bound(&report.certificate);
        let entry = Self::of(report, before, Interval::new(value, value)?, worst, test_error);
        let named = |of: Over| (of == over).then_some(value);
        Ok(Self { l1: named(Over::L1), radius: named(Over::Radius), ..entry })
    }

    fn of<S: Structure>(
        report: &Report<Model<S>>,
        before: usize,
        interval: Interval,
        worst_gap: f64,
        test_error: Option<f64>,
    ) -> Self {
        let own = report.certificate;
        Self {
            file: format!("model-{:03}.dualgap", before + 1),
            lambda: engine_penalty(report.model.task.penalty).0,
            l1: None,
            radius: None,
            interval,
            primal: own.primal,
            dual: own.dual,
            relative_gap: own.relative_gap(),
            gap: Some(own.gap()),
            rounding_error: Some(own.rounding_error),
            gap_bound: Some(own.gap_bound()),
            relative_gap_bound: Some(own.relative_gap_bound()),
            remarks: Remark::on_certificate(&own).into_iter().collect(),
            worst_gap,
            weights: nonzero(&report.model),
            passes: report.passes,
            test_error,
        }
    }

    /// Returns the number that a path is over.
    pub fn value(&self) -> f64 {
        self.l1.or(self.radius).unwrap_or(self.lambda)
    }
}

impl Told {
    pub fn new<S: Structure>(
        job: &Job<'_, S>,
        wanted: &PathPlan,
        covered: Covered,
        entries: &[(Entry, Reach)],
    ) -> Self {
        Self {
            task: job.name.into(),
            error_kind: job.spec.structure.error_kind(),
            over: Over::Lambda,
            n: job.train.data.len(),
            from: wanted.within.from,
            to: wanted.within.to,
            tolerance: wanted.tolerance,
            covered_from: covered.from,
            complete: covered.ending == Ending::Whole,
            passes: covered.passes,
            version: env!("CARGO_PKG_VERSION").into(),
            models: entries.iter().map(|(entry, _)| entry.clone()).collect(),
        }
    }

    /// Formats a gap in the units of the tolerance.
    fn gap(&self, gap: f64) -> String {
        match self.tolerance {
            Tolerance::Relative(_) => percent(gap),
            Tolerance::Absolute(_) => number(gap),
        }
    }

    /// Returns a header, and a line for every model, with all digits.
    pub fn tsv(&self) -> String {
        let varied = self.over != Over::Lambda;
        let first = if varied { format!("{}\t", self.over.name()) } else { String::new() };
        let mut text = format!(
            "{first}lambda\tfrom\tto\tprimal\tdual\trelative_gap\tworst_gap\tweights\tpasses\ttest_error\tfile\n"
        );
        for entry in &self.models {
            let Interval { from, to } = entry.interval;
            let Entry { file, lambda, primal, dual, relative_gap, worst_gap, .. } = entry;
            let Entry { weights, passes, test_error, .. } = entry;
            let test = test_error.map_or(String::new(), |error| error.to_string());
            let first = if varied { format!("{}\t", entry.value()) } else { String::new() };
            let _ = writeln!(
                text,
                "{first}{lambda}\t{from}\t{to}\t{primal}\t{dual}\t{relative_gap}\t{worst_gap}\t{weights}\t{passes}\t{test}\t{file}"
            );
        }
        text
    }

    /// Returns the report for people.
    pub fn text(&self, covered: Covered, folder: &std::path::Path, seconds: f64) -> String {
        let saved = if self.models.is_empty() {
            "nothing: no model is within the tolerance".into()
        } else {
            format!("{}: models, {TABLE}, {JSON} and {PLOT}", folder.display())
        };
        let rows = [
            ("task", self.task.clone()),
            ("examples", thousands(self.n as u64)),
            ("lambda", format!("from {} down to {}", number(self.to), number(self.from))),
            ("models", thousands(self.models.len() as u64)),
            ("work", format!("{} passes in {seconds:.2} s", trimmed(self.passes))),
            ("saved", saved),
        ];
        format!("{}\n{}\n{}\n", aligned(&rows), self.lines(), self.verdict(covered))
    }

    /// Returns the name of the number that is varied.
    fn named(&self) -> &'static str {
        self.over.name()
    }

    /// Returns a line for every model.
    pub fn lines(&self) -> String {
        if self.models.is_empty() {
            return String::new();
        }
        let tested = self.models.iter().any(|entry| entry.test_error.is_some());
        let varied = self.over != Over::Lambda;
        let mut text = format!(
            "  {:>11}   {}   {:>9} {}{:>9} {:>7}",
            self.named(),
            if varied {
                format!("{:>11}", "lambda")
            } else {
                format!("{:>11} {:>11}", "from", "to")
            },
            "gap",
            if varied { String::new() } else { format!("{:>9} ", "worst") },
            if varied { "nonzero" } else { "weights" },
            "passes"
        );
        text.push_str(if tested { "   test error\n" } else { "\n" });
        for entry in &self.models {
            let Interval { from, to } = entry.interval;
            let own = match self.tolerance {
                Tolerance::Relative(_) => entry.relative_gap_bound,
                Tolerance::Absolute(_) => entry.gap_bound,
            };
            let own = own.unwrap_or(f64::INFINITY); // only those that were read have none
            let _ = write!(
                text,
                "  {:>11}   {}   {:>9} {}{:>9} {:>7}",
                number(entry.value()),
                if varied {
                    format!("{:>11}", number(entry.lambda))
                } else {
                    format!("{:>11} {:>11}", number(from), number(to))
                },
                self.gap(own),
                if varied { String::new() } else { format!("{:>9} ", self.gap(entry.worst_gap)) },
                thousands(entry.weights as u64),
                trimmed(entry.passes)
            );
            let test = entry.test_error.map(|error| match self.error_kind {
                ErrorKind::Share => percent(error),
                _ => number(error),
            });
            let _ =
                writeln!(text, "{}", test.map_or(String::new(), |test| format!("   {test:>10}")));
        }
        text
    }

    /// Returns the sentence about what is proved of the models of a grid.
    pub fn certified_grid(&self) -> String {
        format!(
            "Certified: at every {} of the table, the model has a gap of at most {}.",
            self.named(),
            self.bound()
        )
    }

    fn bound(&self) -> String {
        match self.tolerance {
            Tolerance::Relative(share) => format!("{share} of its objective"),
            Tolerance::Absolute(gap) => gap.to_string(),
        }
    }

    /// Returns the sentence about what is proved down to this λ, with all digits so that it stays true.
    pub fn certified(&self, from: f64) -> String {
        let bound = self.bound();
        format!(
            "Certified: at every lambda from {} down to {from}, one of these models has a gap of at most {bound}.",
            self.to
        )
    }

    fn verdict(&self, covered: Covered) -> String {
        let nothing = || "Certified: nothing.".into();
        let proved = covered.from.map_or_else(nothing, |from| self.certified(from));
        let rounded = self.models.iter().filter(|entry| !entry.remarks.is_empty()).count();
        let proved = match rounded {
            0 => proved,
            _ => format!(
                "{proved}\nOf {rounded} models, the rounding bound is larger than the gap itself."
            ),
        };
        let Ending::Short { lambda, stop } = covered.ending else { return proved };
        let why = match stop {
            Stop::GapReached | Stop::Stalled => "as far as rounding allows",
            Stop::PassLimit => "the passes of a model were used up",
            Stop::OracleLimit => "the oracle calls of a model were used up",
            Stop::TimeLimit => "the time was up",
            Stop::Interrupted => "it was interrupted",
            _ => "it could not go on",
        };
        format!(
            "{proved}\nThe path ends at lambda {} and NOT at {}: {why}.",
            number(lambda),
            number(self.from)
        )
    }
}
