//! `dualgap eval`: compares predictions with the labels of a file.

use crate::args::EvalArgs;
use crate::matchings::link_rows;
use crate::outputs::{OutputsJson, output_rows, output_table};
use crate::predict::load;
use crate::ratings::strangers_row;
use crate::report::{own_rows, unseen_row};
use crate::words::{aligned, number, number_rows, percent, scores, set_rows, thousands, to_json};
use crate::{Outcome, Tasks, print};
use dualgap::Result;
use dualgap::data::{Source, Unseen};
use dualgap::structure::evaluation::{
    Calibration, Count, Evaluation, LabelEvaluation, LabelFigures, OutputEvaluation, RatingErrors,
    Scores, SequenceCalibration, SetEvaluation, SetFigures,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is said in the place of a reliability table.
const NO_PROBABILITIES: &str = "\n  The hinge has scores and no probabilities, so that there is no calibration to show; a chain trained with --loss log has.\n";

/// Up to so many labels the confusion matrix is shown whole.
const WIDEST_MATRIX: usize = 12;

/// Of a larger one, so many of its most frequent mistakes.
const MISTAKES: usize = 15;

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    figures: LabelFigures,
    labels_by_name: BTreeMap<&'a str, Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<ChunksJson<'a>>,
    /// Truth, prediction, and how often; pairs that do not occur are left out.
    confusion: Vec<(&'a str, &'a str, usize)>,
    /// Of conditional random fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'a SequenceCalibration>,
    unseen_features: u64,
    features_met: u64,
    unseen_labels: &'a [String],
}

#[derive(Serialize)]
struct ChunksJson<'a> {
    #[serde(flatten)]
    overall: Scores,
    by_type: BTreeMap<&'a str, Scores>,
}

/// The same for sets of labels.
#[derive(Serialize)]
struct SetsJson<'a> {
    #[serde(flatten)]
    figures: SetFigures,
    labels_by_name: BTreeMap<&'a str, Scores>,
    unseen_features: u64,
    features_met: u64,
    unseen_labels: &'a [String],
}

/// The same for several numbers.
#[derive(Serialize)]
struct NumbersJson {
    #[serde(flatten)]
    outputs: OutputsJson,
    unseen_features: u64,
    features_met: u64,
}

pub fn run(args: &EvalArgs, tasks: &Tasks) -> Result<Outcome> {
    let model = load(&args.model, tasks)?;
    let folds = args.folds.as_ref().map(|folds| folds.0.clone());
    let (evaluation, unseen) = model.evaluate(Source::open(&args.data)?, folds)?;
    let text = match &evaluation {
        Evaluation::Labels(evaluation) => {
            // A structural SVM has scores, and nobody should wait for probabilities.
            let no_probabilities = model.is_of_sequences() && evaluation.calibration().is_none();
            let told = labels(evaluation, &unseen, args.json);
            if no_probabilities && !args.json { told + NO_PROBABILITIES } else { told }
        }
        Evaluation::Numbers(errors) if args.json => to_json(errors),
        Evaluation::Numbers(errors) => {
            let mut rows = number_rows(errors);
            rows.extend(unseen_row(&unseen));
            aligned(&rows)
        }
        Evaluation::Sets(evaluation) => sets(evaluation, &unseen, args.json),
        Evaluation::Outputs(evaluation) => outputs(evaluation, &unseen, args.json),
        Evaluation::Ratings(ratings) if args.json => to_json(ratings),
        Evaluation::Ratings(RatingErrors { errors, unknown, .. }) => {
            let mut rows = number_rows(errors);
            rows.extend(strangers_row(*unknown));
            aligned(&rows)
        }
        Evaluation::Links(evaluation) if args.json => to_json(&evaluation.figures()),
        Evaluation::Links(evaluation) => {
            let mut rows = link_rows(&evaluation.figures());
            rows.extend(unseen_row(&unseen));
            aligned(&rows)
        }
        Evaluation::Own { figures, .. } if args.json => {
            let figures: BTreeMap<&str, f64> =
                figures.iter().map(|(name, value)| (&name[..], *value)).collect();
            to_json(&figures)
        }
        other => aligned(&own_rows(other)),
    };
    print(&text)?;
    Ok(Outcome::Reached)
}

/// Returns the report on predicted labels.
fn labels(evaluation: &LabelEvaluation, unseen: &Unseen, json: bool) -> String {
    let by_label = evaluation.by_label();
    if json {
        return to_json(&Json {
            figures: evaluation.figures(),
            labels_by_name: by_label.iter().map(|(name, c)| (*name, c.figures())).collect(),
            chunks: evaluation.chunks().map(|chunks| ChunksJson {
                overall: chunks.overall().figures(),
                by_type: chunks.by_type().map(|(kind, count)| (kind, count.figures())).collect(),
            }),
            confusion: evaluation.confusions().collect(),
            calibration: evaluation.calibration(),
            unseen_features: unseen.features,
            features_met: unseen.met,
            unseen_labels: &unseen.labels,
        });
    }
    let mut rows = summary(evaluation);
    rows.extend(unseen_row(unseen));
    let mut text = aligned(&rows);
    if let Some(chunks) = evaluation.chunks() {
        let rows = chunks.by_type().map(|(kind, count)| (kind, count.figures()));
        text += &table("chunk", rows);
    }
    text += &table("label", by_label.iter().map(|(name, count)| (*name, count.figures())));
    text += &confusion(evaluation, &by_label);
    if let Some(calibration) = evaluation.calibration() {
        text += &reliability("labels", &calibration.labels);
        text += &reliability("sequences", &calibration.sequences);
    }
    text
}

/// Returns how often predictions are right, by the probabilities that they were given.
fn reliability(what: &str, calibration: &Calibration) -> String {
    let mut text = format!(
        "\n  {what} by their probability; expected calibration error {}\n  {:<11}  {:>9}  {:>9}  {:>9}\n",
        percent(calibration.error),
        "probability",
        "mean",
        "right",
        "count"
    );
    for bin in calibration.bins.iter().filter(|bin| bin.count > 0) {
        let _ = writeln!(
            text,
            "  {:<11}  {:>9.2}  {:>9.2}  {:>9}",
            format!("{:.0} to {:.0} %", 100.0 * bin.from, 100.0 * bin.to),
            100.0 * bin.confidence,
            100.0 * bin.accuracy,
            thousands(bin.count as u64)
        );
    }
    text
}

/// Returns the report on predicted label sets.
fn sets(evaluation: &SetEvaluation, unseen: &Unseen, json: bool) -> String {
    if json {
        return to_json(&SetsJson {
            figures: evaluation.figures(),
            labels_by_name: evaluation.by_label().collect(),
            unseen_features: unseen.features,
            features_met: unseen.met,
            unseen_labels: &unseen.labels,
        });
    }
    let mut rows = set_rows(&evaluation.figures());
    rows.extend(unseen_row(unseen));
    aligned(&rows) + &table("label", evaluation.by_label())
}

/// Returns the report on several predicted numbers.
fn outputs(evaluation: &OutputEvaluation, unseen: &Unseen, json: bool) -> String {
    if json {
        return to_json(&NumbersJson {
            outputs: evaluation.into(),
            unseen_features: unseen.features,
            features_met: unseen.met,
        });
    }
    let mut rows = output_rows(&evaluation.figures());
    rows.extend(unseen_row(unseen));
    aligned(&rows) + &output_table(evaluation, true)
}

fn summary(evaluation: &LabelEvaluation) -> Vec<(&'static str, String)> {
    let figures = evaluation.figures();
    let (labels, examples) = (thousands(figures.labels as u64), thousands(figures.examples as u64));
    let mut rows = vec![("accuracy", format!("{} of {labels} labels", percent(figures.accuracy)))];
    if figures.labels == figures.examples {
        return rows;
    }
    let right = percent(1.0 - figures.sequence_error);
    rows.push(("sequences", format!("{right} of {examples} without a mistake")));
    rows.push((
        "hamming",
        format!(
            "{} mistakes an example; normalised {}",
            number(figures.hamming),
            number(figures.normalized_hamming)
        ),
    ));
    if let Some(chunks) = evaluation.chunks() {
        rows.push(("chunk F1", scores(chunks.overall().figures())));
    }
    rows
}

/// Returns precision, recall and F1 in percent, one name per line.
fn table<'a>(what: &str, rows: impl Iterator<Item = (&'a str, Scores)>) -> String {
    let rows: Vec<(&str, Scores)> = rows.collect();
    let width =
        rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(what.len());
    let mut text = format!(
        "\n  {what:<width$}  {:>9}  {:>9}  {:>9}  {:>9}\n",
        "precision", "recall", "F1", "count"
    );
    for (name, Scores { precision, recall, f1, support }) in rows {
        let _ = writeln!(
            text,
            "  {name:<width$}  {:>9.2}  {:>9.2}  {:>9.2}  {:>9}",
            100.0 * precision,
            100.0 * recall,
            100.0 * f1,
            thousands(support as u64)
        );
    }
    text
}

/// Returns the whole matrix if it fits, else the most frequent mistakes.
fn confusion(evaluation: &LabelEvaluation, by_label: &BTreeMap<&str, Count>) -> String {
    let most = evaluation.most_confused();
    if most.is_empty() {
        return String::new();
    }
    if by_label.len() > WIDEST_MATRIX {
        let rows: Vec<(String, String)> = most
            .iter()
            .take(MISTAKES)
            .map(|(truth, predicted, n)| (format!("{truth} → {predicted}"), thousands(*n as u64)))
            .collect();
        let rows: Vec<(&str, String)> = rows.iter().map(|(a, b)| (&a[..], b.clone())).collect();
        let rest = match most.len().saturating_sub(MISTAKES) {
            0 => String::new(),
            rest => format!("  … and {rest} rarer ones; --json has them all\n"),
        };
        return format!("\n  mistakes, truth → prediction\n{}{rest}", aligned(&rows));
    }
    let names: Vec<&str> = by_label.keys().copied().collect();
    let counts: BTreeMap<(&str, &str), usize> =
        evaluation.confusions().map(|(truth, predicted, n)| ((truth, predicted), n)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let width = longest.max(7);
    let mut text = String::from("\n  truth in rows, prediction in columns\n");
    let header: String = names.iter().map(|name| format!("  {name:>width$}")).collect();
    let _ = writeln!(text, "  {:<longest$}{header}", "");
    for truth in &names {
        let row: String = names
            .iter()
            .map(|predicted| counts.get(&(*truth, *predicted)).copied().unwrap_or(0))
            .map(|n| format!("  {:>width$}", thousands(n as u64)))
            .collect();
        let _ = writeln!(text, "  {truth:<longest$}{row}");
    }
    text
}
