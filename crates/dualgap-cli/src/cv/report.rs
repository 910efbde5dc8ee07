//! The reports of a cross-validation: a table for people, the same separated by tabs, one JSON object.

use crate::args::CvArgs;
use crate::claim::gap_share;
use crate::words::{number, percent, thousands, trimmed};
use dualgap::run::Stop;
use dualgap::structure::Remark;
use dualgap::structure::evaluation::ErrorKind;
use dualgap::task::{Candidate, CrossValidation, Edge, Over, SearchEnd};
use serde::Serialize;
use std::fmt::Write;

/// Everything there is to tell.
pub struct Findings<'a> {
    pub args: &'a CvArgs,
    pub task: &'static str,
    pub examples: usize,
    pub folds: usize,
    /// Whether every fold has its part of each class.
    pub stratified: bool,
    /// What is compared.
    pub error_kind: ErrorKind,
    pub tolerance: Option<f64>,
    /// Whether passes are limited.
    pub limited: bool,
    pub found: &'a CrossValidation,
    /// The number of the candidate that was chosen.
    pub chosen: usize,
    /// How the search ended.
    pub end: SearchEnd,
    /// How many numbers the grid has.
    pub tried_of: usize,
    /// Whether a model of all data follows.
    pub refits: bool,
    /// Labels that are in one fold only.
    pub rare: Vec<String>,
}

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a, R> {
    task: &'a str,
    n: usize,
    folds: usize,
    given_folds: bool,
    seed: u64,
    tolerance: Option<f64>,
    /// What the grid is over.
    over: Over,
    /// What `error` is.
    metric: &'a str,
    /// What the choice is made by: `f1`, `error` or `rmse`.
    chosen_by: &'a str,
    /// How the search ended: `complete`, `no_better` or `interrupted`.
    end: SearchEnd,
    candidates: Vec<CandidateJson>,
    best: f64,
    chosen: f64,
    one_standard_error: bool,
    /// Whether the best number is the `largest` or the `smallest` of the grid.
    edge: Option<Edge>,
    labels_in_one_fold: &'a [String],
    version: &'a str,
    /// The model of all data, as `train --json` tells it.
    refit: Option<R>,
}

#[derive(Serialize)]
struct CandidateJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    radius: Option<f64>,
    error: Option<f64>,
    standard_error: Option<f64>,
    fold_errors: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f1_standard_error: Option<f64>,
    passes: f64,
    seconds: f64,
    /// The largest of its models.
    relative_gap: Option<f64>,
    /// The same with the rounding included, and in units of the objective.
    gap_bound: Option<f64>,
    relative_gap_bound: Option<f64>,
    reached: bool,
    remarks: Vec<Remark>,
}

impl CandidateJson {
    fn of(candidate: &Candidate, over: Over) -> Self {
        let value = |of: Over| (of == over).then_some(candidate.value);
        let finite = |x: f64| x.is_finite().then_some(x);
        Self {
            lambda: value(Over::Lambda),
            l1: value(Over::L1),
            radius: value(Over::Radius),
            error: finite(candidate.error()),
            standard_error: finite(candidate.standard_error()),
            fold_errors: candidate.trials.iter().map(|trial| finite(trial.score.error)).collect(),
            f1: candidate.f1(),
            f1_standard_error: candidate.f1().map(|_| candidate.standard_error_of_cost()),
            passes: candidate.mean(|trial| trial.passes),
            seconds: candidate.mean(|trial| trial.seconds),
            relative_gap: finite(candidate.worst_gap()),
            gap_bound: finite(candidate.worst_gap_bound()),
            relative_gap_bound: finite(candidate.worst_relative_gap_bound()),
            reached: candidate.is_reached(),
            remarks: remarks(candidate),
        }
    }
}

/// Formats an error.
fn error(kind: ErrorKind, x: f64) -> String {
    match kind {
        ErrorKind::Share => format!("{:.2} %", 100.0 * x),
        _ => number(x),
    }
}

/// Returns a line about a number that was tried on every fold.
pub fn line(candidate: &Candidate, over: Over, kind: ErrorKind) -> String {
    let f1 = candidate.f1().map_or(String::new(), |f1| format!("F1 {:.2}, ", 100.0 * f1));
    let (mean, passes) = (error(kind, candidate.error()), candidate.mean(|trial| trial.passes));
    format!(
        "{} {}: {f1}{} {mean} ± {}, {} passes, {:.1} s a model",
        over.name(),
        number(candidate.value),
        kind.name(),
        error(kind, candidate.standard_error()),
        trimmed(passes),
        candidate.mean(|trial| trial.seconds),
    )
}

/// Returns the remarks on any of its certificates, each once.
fn remarks(candidate: &Candidate) -> Vec<Remark> {
    let certificates = candidate.trials.iter().map(|trial| &trial.certificate);
    certificates.filter_map(Remark::on_certificate).take(1).collect()
}

impl Findings<'_> {
    /// Returns the name of the error in the table.
    fn metric(&self) -> &'static str {
        self.error_kind.name()
    }

    fn mark(&self, k: usize) -> &'static str {
        match (k == self.found.best(), k == self.chosen) {
            (true, true) => "best, chosen",
            (true, false) => "best",
            (false, true) => "chosen",
            (false, false) => "",
        }
    }

    /// Returns the table for people.
    pub fn table(&self) -> String {
        let mut text = format!("  {}\n\n", self.heading());
        let mut rows = vec![self.header()];
        rows.extend((0..self.found.candidates.len()).map(|k| self.row(k)));
        text += &aligned(&rows);
        let _ = writeln!(text, "\n{}", self.sentences().join("\n"));
        text
    }

    fn heading(&self) -> String {
        let dealt = match (self.args.given_folds, self.stratified) {
            (true, _) => "as the file has them",
            (false, true) => "dealt at random, evenly from every class",
            (false, false) => "dealt at random",
        };
        format!("{} folds of {} examples, {dealt}", self.folds, thousands(self.examples as u64))
    }

    fn has_chunks(&self) -> bool {
        self.found.candidates.iter().all(|candidate| candidate.f1().is_some())
    }

    fn header(&self) -> Vec<String> {
        let f1 = self.has_chunks().then_some("F1");
        let names = [self.found.over.name(), self.metric(), "±"].into_iter().chain(f1);
        names.chain(["passes", "worst gap", ""]).map(String::from).collect()
    }

    fn row(&self, k: usize) -> Vec<String> {
        let candidate = &self.found.candidates[k];
        let error = |x: f64| error(self.error_kind, x);
        let f1 = candidate.f1().filter(|_| self.has_chunks());
        let mut row = vec![
            number(candidate.value),
            error(candidate.error()),
            error(candidate.standard_error()),
        ];
        row.extend(f1.map(|f1| format!("{:.2}", 100.0 * f1)));
        row.push(trimmed(candidate.mean(|trial| trial.passes)));
        row.push(gap_share(candidate.worst_relative_gap_bound()));
        row.push(self.mark(k).into());
        row
    }

    /// Returns sentences about the choice and its caveats.
    fn sentences(&self) -> Vec<String> {
        let (name, value) = (self.found.over.name(), self.found.candidates[self.chosen].value);
        let why = match (self.args.one_standard_error, self.chosen == self.found.best()) {
            (true, false) if self.found.over == Over::Radius => {
                "the smallest within one standard error of the best"
            }
            (true, false) => "the largest within one standard error of the best",
            _ if self.has_chunks() => "the one with the largest mean F1 of chunks",
            _ => "the one with the smallest mean error",
        };
        let (tried, of) = (self.found.candidates.len(), self.tried_of);
        let mut told = match self.end {
            SearchEnd::Interrupted => vec![format!(
                "Interrupted: {tried} of {of} numbers were tried on every fold. The best of them is {name} {}; no model was \
                 made.",
                number(value)
            )],
            _ => vec![format!("Chosen: {name} {}, {why}.", number(value))],
        };
        if self.end == SearchEnd::NoBetter {
            told.push(format!(
                "The last of the {tried} numbers tried was no better than the one before, so the others of the default \
                 grid, {} of them, were left out; --lambdas tries all that it lists.",
                of - tried
            ));
        }
        let first = self.found.over == Over::Radius; // whose grid begins with the smallest
        let edge = self.found.edge().filter(|_| self.end != SearchEnd::Interrupted);
        let beyond = edge.map(|edge| match edge {
            Edge::Largest => ("largest", if first { "--to" } else { "--from" }),
            Edge::Smallest => ("smallest", if first { "--from" } else { "--to" }),
        });
        let list = match self.found.over {
            Over::Lambda => "--lambdas",
            Over::L1 => "--l1s",
            Over::Radius => "--radii",
        };
        told.extend(beyond.map(|(end, option)| {
            format!("The best {name} is the {end} of those tried: go on beyond it, with {option} or {list}.")
        }));
        told.extend(self.late());
        told.extend(self.rounded());
        match &self.rare[..] {
            [] => {}
            [label] => told.push(format!(
                "The label {label} is in one fold only: where it is tested, it was not trained."
            )),
            labels => told.push(format!(
                "{} labels are in one fold only: where they are tested, they were not trained.",
                labels.len()
            )),
        }
        if !self.refits && self.end != SearchEnd::Interrupted {
            told.push("-o MODEL trains on all data with it and saves the model.".into());
        }
        told
    }

    /// Returns a sentence if some models are not within the tolerance. A user who sets a limit and no tolerance has
    /// not asked for the default one.
    fn late(&self) -> Option<String> {
        let trials = self.found.candidates.iter().flat_map(|candidate| &candidate.trials);
        let stops: Vec<Stop> = trials.map(|trial| trial.stop).collect();
        let late = stops.iter().filter(|stop| **stop != Stop::GapReached).count();
        let meant = self.args.tolerance.is_some() || !self.limited;
        if late == 0 || !meant {
            return None;
        }
        let why = if stops.contains(&Stop::PassLimit) {
            "the passes were used up"
        } else {
            "nothing moves any more, this is about as far as rounding allows"
        };
        let (tolerance, of) = (percent(self.tolerance.unwrap_or(0.0)), stops.len());
        Some(format!("{late} of {of} models are NOT within the tolerance of {tolerance}: {why}."))
    }

    /// Returns a sentence if the rounding bound of some models exceeds their gap.
    fn rounded(&self) -> Option<String> {
        let trials = self.found.candidates.iter().flat_map(|candidate| &candidate.trials);
        let rounded = trials.filter(|trial| trial.certificate.rounding_exceeds_gap()).count();
        (rounded > 0).then(|| {
            format!("Of {rounded} models, the rounding bound is larger than the gap itself.")
        })
    }

    /// Returns the table separated by tabs, with all digits and every fold.
    pub fn tsv(&self) -> String {
        let metric = self.metric();
        let folds: String = (1..=self.folds).map(|k| format!("\t{metric}_{k}")).collect();
        let f1 = if self.has_chunks() { "\tf1" } else { "" };
        let over = self.found.over.name();
        let mut text =
            format!("{over}\t{metric}\tstandard_error{f1}\tpasses\tworst_gap\tmark{folds}\n");
        for (k, candidate) in self.found.candidates.iter().enumerate() {
            let f1 = candidate.f1().filter(|_| self.has_chunks());
            let f1 = f1.map_or(String::new(), |f1| format!("\t{f1}"));
            let errors: String =
                candidate.trials.iter().map(|trial| format!("\t{}", trial.score.error)).collect();
            let _ = writeln!(
                text,
                "{}\t{}\t{}{f1}\t{}\t{}\t{}{errors}",
                candidate.value,
                candidate.error(),
                candidate.standard_error(),
                candidate.mean(|trial| trial.passes),
                candidate.worst_gap(),
                self.mark(k),
            );
        }
        text
    }

    /// Returns the object for machines.
    pub fn object<'s, R: Serialize + 's>(&'s self, refit: Option<R>) -> impl Serialize + 's {
        let CrossValidation { over, ref candidates } = *self.found;
        let value = |k: usize| candidates[k].value;
        Json {
            task: self.task,
            n: self.examples,
            folds: self.folds,
            given_folds: self.args.given_folds,
            seed: self.args.method.seed,
            tolerance: self.tolerance,
            over,
            metric: self.metric(),
            chosen_by: if self.has_chunks() { "f1" } else { self.metric() },
            end: self.end,
            candidates: candidates
                .iter()
                .map(|candidate| CandidateJson::of(candidate, over))
                .collect(),
            best: value(self.found.best()),
            chosen: value(self.chosen),
            one_standard_error: self.args.one_standard_error,
            edge: self.found.edge(),
            labels_in_one_fold: &self.rare,
            version: env!("CARGO_PKG_VERSION"),
            refit,
        }
    }
}

/// Aligns columns to the right, except for the last one.
fn aligned(rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len))
        .map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let last = row.len() - 1;
        let cell = |(k, cell): (usize, &String)| {
            if k == last { format!("   {cell}") } else { format!("  {cell:>w$}", w = widths[k]) }
        };
        let line: String = row.iter().enumerate().map(cell).collect();
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}
