//! The reports of a run: a table for people, one JSON object for machines.

use crate::args::StopArgs;
use crate::ball::{self, BallJson, nonzero, penalty_rows, weights_row};
use crate::completion::report::{Rated, RatingsJson, centre_row, rated_rows};
use crate::outputs::{OutputsJson, output_rows, output_table};
use dualgap::ball::Method as BallMethod;
use dualgap::data::csv::Kind;
use dualgap::data::{Format, Scaling, Unseen};
use dualgap::dual::{Method, Settings};
use dualgap::model::evaluation::{Figures, NumberErrors};
use dualgap::model::{
    Evaluation, Model, OutputEvaluation, Remark, RemarkKind, Scores, SetEvaluation, SetFigures,
    Strangers, Structure,
};
use dualgap::run::{Certificate, Counters, Report, Stop};
use dualgap::term::{Free, Loss, Regulariser, ScalarLoss};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Everything there is to tell about a run.
pub struct Summary<'a> {
    pub task: &'static str,
    pub report: &'a Report<Model>,
    pub settings: &'a Settings,
    pub test: Option<&'a (Outcomes, Unseen)>,
    /// Of models of ratings, in the place of the test.
    pub rated: Option<&'a Rated>,
    /// Until the training began.
    pub read_seconds: f64,
}

/// What of a run is there to stay.
pub struct Kept<'a> {
    pub model: Option<&'a Path>,
    pub witness: bool,
    pub checkpoint: Option<&'a Path>,
}

/// How a model did on test data: labels, numbers, sets of labels, or several numbers each.
pub enum Outcomes {
    Labels(Box<Evaluation>),
    Numbers(NumberErrors),
    Sets(SetEvaluation),
    Outputs(OutputEvaluation),
}

impl From<Evaluation> for Outcomes {
    fn from(evaluation: Evaluation) -> Self {
        Self::Labels(Box::new(evaluation))
    }
}

impl From<NumberErrors> for Outcomes {
    fn from(errors: NumberErrors) -> Self {
        Self::Numbers(errors)
    }
}

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    solver: SolverJson,
    tactics: &'a [String],
    #[serde(skip_serializing_if = "Counters::is_empty")]
    counters: &'a Counters,
    n: usize,
    dim: usize,
    nonzero_weights: usize,
    /// Null where there is a penalty; in a ball, lambda is mu.
    ball: Option<BallJson>,
    lambda: f64,
    #[serde(flatten)]
    regulariser: Regulariser,
    scale: Scaling,
    primal: f64,
    dual: f64,
    /// Null when the run could not be certified.
    gap: Option<f64>,
    relative_gap: Option<f64>,
    rounding_error: f64,
    /// Null as the gap is.
    gap_bound: Option<f64>,
    relative_gap_bound: Option<f64>,
    certified: bool,
    remarks: Vec<Remark>,
    stop: Stop,
    passes: f64,
    oracle_calls: u64,
    read_seconds: f64,
    solve_seconds: f64,
    certify_seconds: f64,
    seed: u64,
    version: &'a str,
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<RatingsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<TestJson>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SolverJson {
    Engine(Method),
    Ball(BallMethod),
}

#[derive(Serialize)]
#[serde(untagged)]
enum TestJson {
    Labels {
        #[serde(flatten)]
        figures: Figures,
        #[serde(skip_serializing_if = "Option::is_none")]
        chunks: Option<Scores>,
    },
    Numbers(NumberErrors),
    Sets(SetFigures),
    Outputs(OutputsJson),
    Ratings {
        #[serde(flatten)]
        errors: NumberErrors,
        /// Of predicting the mean.
        mean_rmse: f64,
        mean_mae: f64,
        unknown: Strangers,
    },
}

impl From<&Rated> for TestJson {
    fn from(rated: &Rated) -> Self {
        Self::Ratings {
            errors: rated.errors,
            mean_rmse: rated.of_mean.rmse,
            mean_mae: rated.of_mean.mae,
            unknown: rated.strangers,
        }
    }
}

impl From<&Outcomes> for TestJson {
    fn from(outcomes: &Outcomes) -> Self {
        match outcomes {
            Outcomes::Labels(evaluation) => Self::Labels {
                figures: evaluation.figures(),
                chunks: evaluation.chunks().map(|chunks| chunks.overall().figures()),
            },
            Outcomes::Numbers(errors) => Self::Numbers(*errors),
            Outcomes::Sets(evaluation) => Self::Sets(evaluation.figures()),
            Outcomes::Outputs(evaluation) => Self::Outputs(evaluation.into()),
        }
    }
}

impl<'a> Summary<'a> {
    pub fn json(&self) -> String {
        to_json(&self.object())
    }

    /// Returns the object that `--json` prints, for use as a part of a larger one.
    pub fn object(&self) -> impl Serialize + use<'a> {
        let Self { task, report, settings, test, rated, read_seconds } = self;
        let certificate = report.certificate;
        let finite = |x: f64| x.is_finite().then_some(x);
        Json {
            task,
            solver: match report.model.provenance.ball {
                Some(within) => SolverJson::Ball(within.method),
                None => SolverJson::Engine(settings.method),
            },
            tactics: &report.tactics,
            counters: &report.counters,
            n: report.model.provenance.examples,
            dim: report.model.dim(),
            nonzero_weights: nonzero(&report.model),
            ball: BallJson::of(&report.model),
            lambda: settings.lambda,
            regulariser: settings.regulariser,
            scale: report.model.provenance.scale,
            primal: certificate.primal,
            dual: certificate.dual,
            gap: finite(certificate.gap()),
            relative_gap: finite(certificate.relative_gap()),
            rounding_error: certificate.rounding_error,
            gap_bound: finite(certificate.gap_bound()),
            relative_gap_bound: finite(certificate.relative_gap_bound()),
            certified: certificate.certified,
            remarks: Remark::on_certificate(&certificate).into_iter().collect(),
            stop: report.stop,
            passes: report.passes,
            oracle_calls: report.work.oracle_calls,
            read_seconds: *read_seconds,
            solve_seconds: report.solve_seconds,
            certify_seconds: report.certify_seconds,
            seed: settings.seed,
            version: env!("CARGO_PKG_VERSION"),
            fingerprint: &report.model.provenance.fingerprint,
            ratings: RatingsJson::of(&report.model),
            test: test.map(|(outcomes, _)| outcomes.into()).or(rated.map(Into::into)),
        }
    }

    pub fn table(&self, stop: &StopArgs, kept: &Kept<'_>) -> String {
        let Self { task, report, settings, test, rated, read_seconds } = self;
        let model = &report.model;
        let mut rows = vec![
            ("task", task_row(task, model)),
            (
                "examples",
                format!("{}{}", thousands(model.provenance.examples as u64), read_as(model)),
            ),
            ("weights", weights_row(model)),
        ];
        rows.extend(centre_row(model));
        rows.extend(penalty_rows(model));
        rows.push(("solver", solver_name(settings.method, model).into()));
        if !report.tactics.is_empty() {
            rows.push(("tactics", report.tactics.join("; ")));
        }
        rows.extend(scale_row(model));
        rows.extend(certificate_rows(&report.certificate));
        rows.push((
            "work",
            format!(
                "{} {}, {} oracle calls",
                trimmed(report.passes),
                if report.passes == 1.0 { "pass" } else { "passes" },
                thousands(report.work.oracle_calls)
            ),
        ));
        rows.push((
            "time",
            format!(
                "{read_seconds:.2} s reading, {:.2} s solving, {:.2} s certifying",
                report.solve_seconds, report.certify_seconds
            ),
        ));
        if let Some((test, unseen)) = test {
            rows.extend(match test {
                Outcomes::Labels(evaluation) => test_rows(evaluation),
                Outcomes::Numbers(errors) => number_rows(errors),
                Outcomes::Sets(evaluation) => set_rows(&evaluation.figures()),
                Outcomes::Outputs(evaluation) => output_rows(&evaluation.figures()),
            });
            rows.extend(unseen_row(unseen));
        }
        rows.extend(rated.iter().flat_map(|rated| rated_rows(rated)));
        rows.push((
            "saved",
            match kept.model {
                Some(path) if kept.witness => format!("{} with its witness", path.display()),
                Some(path) => path.display().to_string(),
                None => "no: give -o MODEL to keep the model".into(),
            },
        ));
        if let Some(path) = kept.checkpoint {
            let path = path.display();
            rows.push((
                "kept",
                format!("{path}: the same with --resume {path} goes on from there"),
            ));
        }
        let mut text = aligned(&rows);
        if let Some((Outcomes::Outputs(evaluation), _)) = test {
            text += &output_table(evaluation, false);
        }
        let _ = writeln!(text, "\n{}", closing_line(report, stop));
        text
    }
}

/// Returns the row about the task and its labels.
pub fn task_row(task: &str, model: &Model) -> String {
    match &model.structure {
        Structure::Linear { loss } if loss.is_binary() => {
            let [first, second] = [0, 1].map(|k| model.alphabet.names()[k].as_str());
            format!("{task}, {first} or {second}, {} loss", loss_name(*loss))
        }
        Structure::Linear { loss } => format!("{task}, {} loss", loss_name(*loss)),
        Structure::Completion { loss, items, .. } => format!(
            "{task}, {} users and {} items, {} loss",
            thousands(model.features as u64),
            thousands(items.len() as u64),
            loss_name(*loss)
        ),
        Structure::MultiOutput { loss } => {
            format!("{task}, {} outputs, {} loss", model.alphabet.len(), loss_name(*loss))
        }
        _ => format!("{task}, {} labels", model.alphabet.len()),
    }
}

/// Returns the command line's name of a loss, with its width.
pub fn loss_name(loss: ScalarLoss) -> String {
    match loss {
        ScalarLoss::Hinge => "hinge".into(),
        ScalarLoss::SmoothHinge { width } => format!("smooth-hinge (width {width})"),
        ScalarLoss::SquaredHinge => "squared-hinge".into(),
        ScalarLoss::Logistic => "logistic".into(),
        ScalarLoss::Squared => "squared".into(),
        ScalarLoss::Absolute => "absolute".into(),
        ScalarLoss::EpsilonInsensitive { epsilon } => {
            format!("epsilon-insensitive (epsilon {epsilon})")
        }
        ScalarLoss::Huber { width } => format!("huber (width {width})"),
    }
}

/// Describes how the data were read, so that the user sees what was guessed.
fn read_as(model: &Model) -> String {
    let Some(recipe) = &model.provenance.recipe else { return String::new() };
    let mut text = format!(" of a {} file", recipe.format.name());
    if let Format::Csv(csv) = &recipe.format {
        let numbers = csv.columns.iter().filter(|column| column.kind == Kind::Number).count();
        let (names, label) = (csv.columns.len() - numbers, csv.label.as_deref().unwrap_or("?"));
        let _ = write!(text, ": label {label}, {numbers} columns of numbers, {names} of names");
    }
    text
}

/// Returns the rows of a table that compares predictions with the truth.
fn test_rows(test: &Evaluation) -> Vec<(&'static str, String)> {
    let figures = test.figures();
    let labels = thousands(figures.labels as u64);
    let mut line = format!("{} of {labels} labels", percent(figures.error));
    if figures.labels > figures.examples {
        let sequences = thousands(figures.examples as u64);
        let _ = write!(line, ", {} of {sequences} sequences", percent(figures.sequence_error));
    }
    let mut rows = vec![("test error", line)];
    if let Some(chunks) = test.chunks() {
        rows.push(("test F1", scores(chunks.overall().figures())));
    }
    rows
}

/// Returns the rows of a table that compares predicted numbers with the true ones.
pub fn number_rows(errors: &NumberErrors) -> Vec<(&'static str, String)> {
    let NumberErrors { examples, rmse, mae, r2 } = *errors;
    let examples = thousands(examples as u64);
    let mut rows =
        vec![("error", format!("{} root mean square over {examples} numbers", number(rmse)))];
    rows.push(("absolute", format!("{} in the mean", number(mae))));
    rows.extend(r2.map(|r2| ("explained", format!("{} of the variance", percent(r2)))));
    rows
}

/// Returns the rows of a table that compares predicted label sets with the true ones.
pub fn set_rows(figures: &SetFigures) -> Vec<(&'static str, String)> {
    let SetFigures { examples, labels, subset_accuracy, hamming_loss, micro_f1, macro_f1 } =
        *figures;
    let (examples, labels) = (thousands(examples as u64), thousands(labels as u64));
    let in_percent = |share: f64| format!("{:.2}", 100.0 * share);
    let wrong = percent(hamming_loss);
    vec![
        ("sets", format!("{} of {examples} are right as a whole", percent(subset_accuracy))),
        ("hamming loss", format!("{wrong} of the answers about {labels} labels are wrong")),
        ("micro F1", format!("{} of all labels together", in_percent(micro_f1))),
        ("macro F1", format!("{} in the mean over labels", in_percent(macro_f1))),
    ]
}

/// Returns precision, recall and F1 in words.
pub fn scores(scores: Scores) -> String {
    let Scores { precision, recall, f1, .. } = scores;
    let told = |share: f64| format!("{:.2}", 100.0 * share);
    format!("{} (precision {}, recall {})", told(f1), told(precision), told(recall))
}

/// Returns the row about what a model did not see in training, if there is anything.
pub fn unseen_row(unseen: &Unseen) -> Option<(&'static str, String)> {
    let share = unseen.features as f64 / unseen.met.max(1) as f64;
    let features = (unseen.features > 0)
        .then(|| format!("{} of the features met, which are left out", percent(share)));
    let labels = match &unseen.labels[..] {
        [] => None,
        [label] => Some(format!("the label {label}, which is never predicted")),
        labels => Some(format!("the labels {}, which are never predicted", labels.join(", "))),
    };
    let told: Vec<String> = features.into_iter().chain(labels).collect();
    (!told.is_empty()).then(|| ("unseen", told.join("; ")))
}

/// Returns the rows of a table about a certificate.
pub fn certificate_rows(certificate: &Certificate) -> Vec<(&'static str, String)> {
    let gap = if certificate.certified {
        format!(
            "{}   {} of the primal value",
            number(certificate.gap()),
            percent(certificate.relative_gap())
        )
    } else {
        "unknown: the oracle could not bound what it may have missed".into()
    };
    let remark = Remark::on_certificate(certificate);
    let remark = remark.map_or(String::new(), |remark| format!(": {}", remark.text));
    vec![
        ("primal", number(certificate.primal)),
        ("dual", number(certificate.dual)),
        ("gap", gap),
        ("rounding", format!("at most {:.1e}{remark}", certificate.rounding_error)),
    ]
}

/// Returns the remarks, one per line after a blank one, except those that the rows of a certificate already have.
pub fn notes(remarks: &[Remark]) -> String {
    let notes: Vec<String> = remarks
        .iter()
        .filter(|remark| !matches!(remark.kind, RemarkKind::Rounding | RemarkKind::NoWitness))
        .map(|remark| format!("Note: {}.\n", remark.text))
        .collect();
    if notes.is_empty() { String::new() } else { format!("\n{}", notes.concat()) }
}

/// Returns one sentence about what is certified, and whether that is what the user asked for.
fn closing_line(report: &Report<Model>, stop: &StopArgs) -> String {
    let (certificate, budget) = (report.certificate, stop.budget());
    // A tolerance of zero asks for none, and a user who sets a limit has not asked for the default one.
    let meant = stop.tolerance.is_some() || !stop.limited() || report.stop == Stop::GapReached;
    let relative = budget.relative.filter(|&share| share > 0.0 && meant).map(percent);
    let absolute = budget.absolute.filter(|&gap| gap > 0.0).map(|gap| gap.to_string());
    let asked: Vec<String> = relative.into_iter().chain(absolute).collect();
    let asked = asked.join(" or ");
    let why = match report.stop {
        Stop::GapReached => "",
        Stop::Stalled => "nothing moves any more, this is about as far as rounding allows",
        Stop::PassLimit => "the passes were used up",
        Stop::OracleLimit => "the oracle calls were used up",
        Stop::TimeLimit => "the time was up",
        Stop::Interrupted => "it was interrupted",
    };
    let verdict = match report.stop {
        Stop::GapReached => format!("The tolerance of {asked} is reached."),
        _ if asked.is_empty() => format!("The run ended because {why}."),
        _ => format!("The tolerance of {asked} is NOT reached: {why}."),
    };
    if !certificate.certified {
        return format!("Not certified. {verdict}");
    }
    format!("{} {verdict}", certified_sentence(&certificate))
}

/// Describes a certificate in words.
pub fn certified_sentence(certificate: &Certificate) -> String {
    // The numbers are rounded up so that the sentence stays true.
    let (bound, share) = (certificate.gap_bound(), certificate.relative_gap_bound());
    let part = if share.is_finite() {
        format!(" ({} % of the objective)", rounded_up(100.0 * share))
    } else {
        String::new()
    };
    let bound = rounded_up(bound);
    format!("Certified: the objective of this model is at most {bound} above the optimum{part}.")
}

/// Formats a number with three digits, rounded up.
fn rounded_up(x: f64) -> String {
    if x <= 0.0 {
        return "0".into();
    }
    // Smaller numbers do not have three digits.
    let x = x.max(1e-300);
    let digits = x.log10().floor() as i32;
    let unit = 10_f64.powi(digits - 2);
    let x = (x / unit).ceil() * unit;
    if (-4..6).contains(&digits) {
        format!("{x:.*}", (2 - digits).max(0) as usize)
    } else {
        format!("{x:.2e}")
    }
}

pub fn to_json(value: &impl Serialize) -> String {
    // Only maps with non-string keys and failing writers can fail here; there are neither.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Describes the parts of the regulariser other than λ.
pub fn and_else(regulariser: Regulariser) -> String {
    let Regulariser { l1, nonnegative, free, q_norm } = regulariser;
    let l1 = if l1 > 0.0 { format!(", l1 {}", number(l1)) } else { String::new() };
    let sign = if nonnegative { ", no negative weights" } else { "" };
    let norm = if q_norm { ", in the q-norm" } else { "" };
    let free = free.map_or_else(String::new, |Free { column, bound }| {
        format!(", no penalty on weight {} (within ±{})", column + 1, number(bound))
    });
    format!("{norm}{l1}{sign}{free}")
}

/// Returns the row about the scaling of columns. The weights are for the unscaled data.
pub fn scale_row(model: &Model) -> Option<(&'static str, String)> {
    let by = match model.provenance.scale {
        Scaling::None => return None,
        Scaling::Max => "largest magnitude",
        Scaling::Rms => "root mean square",
    };
    let told =
        format!("divided by their {by} in training; lambda and certificate are of that problem");
    Some(("columns", told))
}

/// Returns the name of the method for this kind of model.
pub fn solver_name(method: Method, model: &Model) -> &'static str {
    if let Some(within) = model.provenance.ball {
        return ball::method_name(within);
    }
    match (method, &model.structure) {
        (_, Structure::Linear { loss }) if model.provenance.lambda == 0.0 => {
            if loss.smoothness() > 0.0 {
                "coordinate descent on a working set"
            } else {
                "proximal points, each by sdca"
            }
        }
        (Method::Bcfw, _) if model.provenance.option.is_some() => {
            "proximal stochastic dual coordinate ascent (sdca)"
        }
        _ => method_name(method),
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Bcfw => "block-coordinate Frank-Wolfe (bcfw)",
        Method::Fw => "batch Frank-Wolfe (fw)",
    }
}

/// Aligns names to the left, and values in a column after them.
pub fn aligned(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:<width$}   {value}\n")).collect()
}

/// Formats a number with six significant digits.
pub fn number(x: f64) -> String {
    let digits = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    if (-4..6).contains(&digits) {
        format!("{x:.*}", (5 - digits).max(0) as usize)
    } else {
        format!("{x:.5e}")
    }
}

pub fn percent(share: f64) -> String {
    let x = 100.0 * share;
    if !x.is_finite() {
        "unknown".into()
    } else if x < 0.0 {
        format!("-{}", percent(-share)) // what is explained, where the mean would be nearer
    } else if x == 0.0 || x >= 0.095 {
        trimmed((x * 100.0).round() / 100.0) + " %"
    } else {
        format!("{x:.1e} %")
    }
}

/// Formats a number without zeros at the end of its fraction.
pub fn trimmed(x: f64) -> String {
    let text = format!("{:.2}", x.fract());
    let fraction = text.trim_start_matches('0').trim_end_matches('0').trim_end_matches('.');
    if text.starts_with('1') {
        return thousands(x as u64 + 1); // 0.999 is told as 1
    }
    format!("{}{fraction}", thousands(x as u64))
}

pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_a_person_would() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(percent(0.05), "5 %");
        assert_eq!(percent(0.0123), "1.23 %");
        assert_eq!(percent(1e-6), "1.0e-4 %");
        assert_eq!(percent(-0.5), "-50 %");
        assert_eq!(number(0.385_079_1), "0.385079");
        assert_eq!(number(12.5), "12.5000");
    }

    #[test]
    fn a_bound_is_never_rounded_down() {
        for x in [0.001_234_1, 9.99e-7, 5.0, 123_456.0, 1e-15] {
            let told: f64 = rounded_up(x).parse().unwrap();
            assert!(told >= x * (1.0 - 1e-12) && told <= x * 1.011, "{x} {told}");
        }
        assert!(rounded_up(f64::MIN_POSITIVE).parse::<f64>().unwrap() < 1e-299);
    }
}
