//! The reports of a run: a table for people, one JSON object for machines.

use crate::args::StopArgs;
use crate::ball::{self, BallJson, engine_penalty, nonzero, penalty_rows, weights_row};
use crate::chosen::{AutoJson, chosen_row};
use crate::claim::{certificate_rows, certified_sentence, rounded_up};
use crate::matchings::link_rows;
use crate::outputs::{OutputsJson, output_rows, output_table};
use crate::ratings::{RatingsJson, centre_row, rated_rows};
use crate::words::{
    aligned, number, number_rows, percent, scores, set_rows, thousands, to_json, trimmed,
};
use dualgap::ball::BallMethod;
use dualgap::data::{CsvKind, Format, Scaling, Unseen};
use dualgap::dual;
use dualgap::methods::{cutting_plane, subgradient};
use dualgap::run::{Basis, Counters, Report, Stop};
use dualgap::structure::evaluation::{
    Evaluation, LabelEvaluation, LabelFigures, LinkFigures, NumberErrors, RatingErrors, Scores,
    SetFigures, Strangers,
};
use dualgap::structure::{Remark, RemarkKind};
use dualgap::task::{AnyModel, Chosen, DualMethod, Method};
use dualgap::term::{Loss, Penalty, Regulariser};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Everything there is to tell about a run.
pub struct Summary<'a> {
    pub task: &'static str,
    pub model: &'a dyn AnyModel,
    pub report: &'a Report<()>,
    pub test: Option<&'a (Evaluation, Unseen)>,
    /// What the run suggests about its problem.
    pub advice: Vec<Remark>,
    /// Until the training began.
    pub read_seconds: f64,
    /// From the data in memory to the certified model: solving, certifying, and what is neither, such as the norms of the
    /// examples. `train` tells it.
    pub fit_seconds: Option<f64>,
    /// σ_max, if σ was given as a fraction of it.
    pub l1_max: Option<f64>,
    /// What held-out data have chosen, if they were asked.
    pub chosen: Option<&'a Chosen>,
    /// Of a run to an accuracy of the pure l1 problem.
    pub l1_guarantee: Option<L1Guarantee>,
}

/// How far a model can be above the optimum of the pure l1 problem.
#[derive(Clone, Copy, Serialize)]
pub struct L1Guarantee {
    pub accuracy: f64,
    /// B, the bound on the norm of the best weights.
    pub bound: f64,
    /// Whether the user has given the bound, so that it is not proved.
    pub given: bool,
}

/// What of a run is there to stay.
pub struct Kept<'a> {
    pub model: Option<&'a Path>,
    pub witness: bool,
    pub checkpoint: Option<&'a Path>,
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
    /// The smallest σ with which all weights are zero, if σ was given as a fraction of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    l1_max: Option<f64>,
    /// How held-out data have chosen λ, σ or the radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto: Option<AutoJson>,
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
    /// What the primal value rests on. Null when the run could not be certified.
    basis: Option<Basis>,
    remarks: Vec<Remark>,
    stop: Stop,
    passes: f64,
    oracle_calls: u64,
    read_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit_seconds: Option<f64>,
    solve_seconds: f64,
    certify_seconds: f64,
    seed: u64,
    version: &'a str,
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<RatingsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l1_guarantee: Option<L1Guarantee>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<TestJson>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SolverJson {
    Engine(dual::Algorithm),
    Ball(BallMethod),
    Other(&'static str),
}

#[derive(Serialize)]
#[serde(untagged)]
enum TestJson {
    Labels {
        #[serde(flatten)]
        figures: LabelFigures,
        #[serde(skip_serializing_if = "Option::is_none")]
        chunks: Option<Scores>,
    },
    Numbers(NumberErrors),
    Sets(SetFigures),
    Outputs(OutputsJson),
    Links(LinkFigures),
    Ratings {
        #[serde(flatten)]
        errors: NumberErrors,
        /// Of predicting the mean; null where the model does not know it.
        mean_rmse: Option<f64>,
        mean_mae: Option<f64>,
        unknown: Strangers,
    },
    Own(BTreeMap<String, f64>),
}

impl From<&Evaluation> for TestJson {
    fn from(evaluation: &Evaluation) -> Self {
        match evaluation {
            Evaluation::Labels(evaluation) => Self::Labels {
                figures: evaluation.figures(),
                chunks: evaluation.chunks().map(|chunks| chunks.overall().figures()),
            },
            Evaluation::Numbers(errors) => Self::Numbers(*errors),
            Evaluation::Sets(evaluation) => Self::Sets(evaluation.figures()),
            Evaluation::Outputs(evaluation) => Self::Outputs(evaluation.into()),
            Evaluation::Links(evaluation) => Self::Links(evaluation.figures()),
            Evaluation::Ratings(RatingErrors { errors, of_mean, unknown }) => Self::Ratings {
                errors: *errors,
                mean_rmse: of_mean.map(|errors| errors.rmse),
                mean_mae: of_mean.map(|errors| errors.mae),
                unknown: *unknown,
            },
            Evaluation::Own { figures, .. } => Self::Own(figures.iter().cloned().collect()),
            other => Self::Own(BTreeMap::from([("error".into(), other.error())])),
        }
    }
}

/// Returns the rows of a table about predictions on test data.
fn evaluation_rows(evaluation: &Evaluation) -> Vec<(&'static str, String)> {
    match evaluation {
        Evaluation::Labels(evaluation) => test_rows(evaluation),
        Evaluation::Numbers(errors) => number_rows(errors),
        Evaluation::Sets(evaluation) => set_rows(&evaluation.figures()),
        Evaluation::Outputs(evaluation) => output_rows(&evaluation.figures()),
        Evaluation::Ratings(ratings) => rated_rows(ratings),
        Evaluation::Links(evaluation) => prefixed(link_rows(&evaluation.figures())),
        other => own_rows(other),
    }
}

/// Returns the rows of a table about links, which in the report of a run are those of a test.
fn prefixed(rows: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let rows = rows.into_iter().map(|(name, told)| match name {
        "error rate" => ("test error", told),
        other => (other, told),
    });
    rows.collect()
}

/// Returns the rows of a table about the figures of a user's own structure.
pub fn own_rows(evaluation: &Evaluation) -> Vec<(&'static str, String)> {
    let figures: Vec<String> = match evaluation {
        Evaluation::Own { figures, .. } => {
            figures.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect()
        }
        other => vec![number(other.error())],
    };
    vec![("test", figures.join(", "))]
}

impl<'a> Summary<'a> {
    pub fn json(&self) -> String {
        to_json(&self.object())
    }

    /// Returns the object that `--json` prints, for use as a part of a larger one.
    pub fn object(&self) -> impl Serialize + use<'a> {
        let Self {
            task,
            model,
            report,
            test,
            advice,
            read_seconds,
            fit_seconds,
            l1_max,
            chosen,
            l1_guarantee,
        } = self;
        let (lambda, regulariser) = engine_penalty(model.penalty());
        let provenance = model.provenance();
        let certificate = report.certificate;
        let finite = |x: f64| x.is_finite().then_some(x);
        Json {
            task,
            solver: match &provenance.method {
                _ if let Some([name, _]) = model.words().solver => SolverJson::Other(name),
                Method::Ball(settings) => SolverJson::Ball(settings.method),
                Method::Dual(method) => SolverJson::Engine(method.solver),
                Method::Newton(_) => SolverJson::Other("newton"),
                Method::Coordinates(_) => SolverJson::Other("coordinates"),
                Method::Subgradient(settings) => SolverJson::Other(match settings.method {
                    subgradient::SubgradientMethod::Stochastic => "ssg",
                    subgradient::SubgradientMethod::Batch => "subgradient",
                }),
                Method::CuttingPlane(settings) => SolverJson::Other(match settings.slacks {
                    cutting_plane::Slacks::One => "cutting-plane",
                    cutting_plane::Slacks::Each => "n-slack",
                }),
                Method::ExponentiatedGradient(_) => SolverJson::Other("eg"),
                _ => SolverJson::Engine(dual::Algorithm::default()),
            },
            tactics: &report.tactics,
            counters: &report.counters,
            n: provenance.examples,
            dim: model.dim(),
            nonzero_weights: nonzero(*model),
            ball: BallJson::of(*model),
            lambda,
            regulariser,
            l1_max: *l1_max,
            auto: chosen.map(AutoJson::from),
            scale: model.scaling(),
            primal: certificate.primal,
            dual: certificate.dual,
            gap: finite(certificate.gap()),
            relative_gap: finite(certificate.relative_gap()),
            rounding_error: certificate.rounding_error,
            gap_bound: finite(certificate.gap_bound()),
            relative_gap_bound: finite(certificate.relative_gap_bound()),
            certified: certificate.certified,
            basis: certificate.certified.then_some(certificate.basis),
            remarks: Remark::on_certificate(&certificate)
                .into_iter()
                .chain(Remark::on_basis(&certificate))
                .chain(advice.iter().cloned())
                .collect(),
            stop: report.stop,
            passes: report.passes,
            oracle_calls: report.work.oracle_calls,
            read_seconds: *read_seconds,
            fit_seconds: *fit_seconds,
            solve_seconds: report.solve_seconds,
            certify_seconds: report.certify_seconds,
            seed: provenance.method.seed(),
            version: env!("CARGO_PKG_VERSION"),
            fingerprint: &provenance.fingerprint,
            ratings: RatingsJson::of(*model),
            l1_guarantee: *l1_guarantee,
            test: test.map(|(evaluation, _)| evaluation.into()),
        }
    }

    pub fn table(&self, stop: &StopArgs, kept: &Kept<'_>) -> String {
        let Self {
            task,
            model,
            report,
            test,
            advice,
            read_seconds,
            l1_max,
            chosen,
            l1_guarantee,
            ..
        } = self;
        let model = *model;
        let examples = thousands(model.provenance().examples as u64);
        let mut rows = vec![
            ("task", task_row(task, model)),
            ("examples", format!("{examples}{}", read_as(model))),
            ("weights", weights_row(model)),
        ];
        rows.extend(hashing_row(model));
        rows.extend(centre_row(model));
        rows.extend(penalty_rows(model));
        rows.extend(
            l1_max.map(|most| ("l1 max", format!("{}: all weights are zero there", number(most)))),
        );
        rows.extend(chosen.map(chosen_row));
        rows.push(("solver", solver_name(model).into()));
        if !report.tactics.is_empty() {
            rows.push(("tactics", report.tactics.join("; ")));
        }
        rows.extend(scale_row(model));
        rows.extend(certificate_rows(&report.certificate));
        if let Some(L1Guarantee { accuracy, bound, given }) = l1_guarantee {
            let known = if *given { "if its" } else { "whose" };
            let told = format!(
                "at most {} above the optimum, {known} weights have a norm of at most {}",
                rounded_up(*accuracy),
                number(*bound)
            );
            rows.push(("pure l1", told));
        }
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
            rows.extend(evaluation_rows(test));
            rows.extend(unseen_row(unseen));
        }
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
        if let Some((Evaluation::Outputs(evaluation), _)) = test {
            text += &output_table(evaluation, false);
        }
        text += &notes(advice);
        let _ = writeln!(text, "\n{}", closing_line(report, stop));
        text
    }
}

/// Returns the row about the task: what it predicts, and the loss of one number.
pub fn task_row(task: &str, model: &dyn AnyModel) -> String {
    let words = model.words();
    let predicts = match &words.predicts[..] {
        "" => String::new(),
        predicts => format!(", {predicts}"),
    };
    let loss = words.scalar_loss.map_or_else(String::new, |_| format!(", {} loss", words.loss));
    format!("{task}{predicts}{loss}")
}

/// Describes how the data were read, so that the user sees what was guessed.
fn read_as(model: &dyn AnyModel) -> String {
    let Some(recipe) = &model.provenance().recipe else { return String::new() };
    let mut text = format!(" of a {} file", recipe.format.name());
    if let Format::Csv(csv) = &recipe.format {
        let numbers = csv.columns.iter().filter(|column| column.kind == CsvKind::Number).count();
        let (names, label) = (csv.columns.len() - numbers, csv.label.as_deref().unwrap_or("?"));
        let _ = write!(text, ": label {label}, {numbers} columns of numbers, {names} of names");
    }
    text
}

/// Returns the rows of a table that compares predictions with the truth.
fn test_rows(test: &LabelEvaluation) -> Vec<(&'static str, String)> {
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

/// Returns the remarks, one per line after a blank one, except those that the rows of a certificate already have.
pub fn notes(remarks: &[Remark]) -> String {
    let notes: Vec<String> = remarks
        .iter()
        .filter(|remark| {
            !matches!(
                remark.kind,
                RemarkKind::Rounding
                    | RemarkKind::NoWitness
                    | RemarkKind::Promise
                    | RemarkKind::Uncertified
            )
        })
        .map(|remark| format!("Note: {}.\n", remark.text))
        .collect();
    if notes.is_empty() { String::new() } else { format!("\n{}", notes.concat()) }
}

/// Returns one sentence about what is certified, and whether that is what the user asked for.
fn closing_line(report: &Report<()>, stop: &StopArgs) -> String {
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
        _ => "it could not go on",
    };
    let verdict = match report.stop {
        Stop::GapReached => format!("The tolerance of {asked} is reached."),
        _ if asked.is_empty() => format!("The run ended because {why}."),
        _ => format!("The tolerance of {asked} is NOT reached: {why}."),
    };
    format!("{} {verdict}", certified_sentence(&certificate))
}

/// Returns the row about the scaling of columns. The weights are for the unscaled data.
pub fn scale_row(model: &dyn AnyModel) -> Option<(&'static str, String)> {
    let by = match model.scaling() {
        Scaling::None => return None,
        Scaling::Max => "largest magnitude",
        Scaling::Rms => "root mean square",
    };
    let told =
        format!("divided by their {by} in training; lambda and certificate are of that problem");
    Some(("columns", told))
}

/// Returns the name of the method of a model's run.
pub fn solver_name(model: &dyn AnyModel) -> &'static str {
    let (solver, option) = match &model.provenance().method {
        Method::Ball(settings) => return ball::method_name(settings.method),
        Method::Dual(DualMethod { solver, option, .. }) => (*solver, *option),
        Method::Newton(_) => return "Newton's method",
        Method::Coordinates(_) => return "coordinate descent",
        Method::Subgradient(settings) => {
            return match settings.method {
                subgradient::SubgradientMethod::Stochastic => "stochastic subgradient (ssg)",
                subgradient::SubgradientMethod::Batch => "batch subgradient",
            };
        }
        Method::CuttingPlane(settings) => {
            return match settings.slacks {
                cutting_plane::Slacks::One => "cutting planes with one slack variable (bmrm)",
                cutting_plane::Slacks::Each => "cutting planes with n slack variables (n-slack)",
            };
        }
        Method::ExponentiatedGradient(_) => return "online exponentiated gradient (eg)",
        _ => (dual::Algorithm::default(), None),
    };
    if let Some([_, told]) = model.words().solver {
        return told;
    }
    if let Penalty::Lasso { .. } = model.penalty() {
        let smooth = model.words().scalar_loss.is_some_and(|loss| loss.smoothness() > 0.0);
        return if smooth {
            "coordinate descent on a working set"
        } else {
            "proximal points, each by dual ascent on the examples"
        };
    }
    match solver {
        dual::Algorithm::Bcfw if option.is_some() => {
            "proximal stochastic dual coordinate ascent (sdca)"
        }
        _ => method_name(solver),
    }
}

fn method_name(method: dual::Algorithm) -> &'static str {
    match method {
        dual::Algorithm::Bcfw => "block-coordinate Frank-Wolfe (bcfw)",
        dual::Algorithm::Fw => "batch Frank-Wolfe (fw)",
        _ => "steps on the dual, block by block",
    }
}

/// Returns the row about features that are numbered by a hash of their names.
fn hashing_row(model: &dyn AnyModel) -> Option<(&'static str, String)> {
    let Format::Columns(recipe) = &model.provenance().recipe.as_ref()?.format else { return None };
    let hashing = recipe.hash?;
    let told = format!(
        "{} features to {} bits; {:.1} % of them share their number with another",
        thousands(hashing.features as u64),
        hashing.bits,
        100.0 * hashing.collision_rate()
    );
    Some(("hashing", told))
}
