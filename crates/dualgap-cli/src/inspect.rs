//! `dualgap inspect`: shows what a model contains.

use crate::args::InspectArgs;
use crate::ball::penalty_rows;
use crate::completion::models;
use crate::completion::report::centre_row;
use crate::outputs::outputs_row;
use crate::places::check_not_read;
use crate::report::{
    aligned, certificate_rows, certified_sentence, loss_name, notes, number, scale_row,
    solver_name, task_row, thousands, to_json, trimmed,
};
use crate::{Outcome, print};
use dualgap::data::Sink;
use dualgap::data::source::is_stdin;
use dualgap::dual::Average;
use dualgap::linalg::memory::reserve_check;
use dualgap::model::describe::task_name;
use dualgap::model::{Model, Provenance, Remark, Structure, describe};
use dualgap::run::{Certificate, Stop};
use dualgap::structure::Hamming;
use dualgap::structure::chain::Layout;
use dualgap::term::MulticlassLoss;
use dualgap::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    labels: &'a [String],
    features: usize,
    pair_features: usize,
    dim: usize,
    zero_weights: usize,
    has_witness: bool,
    certificate: Certificate,
    provenance: &'a Provenance,
    problem: Value,
    remarks: Vec<Remark>,
    largest: Vec<Named>,
}

/// A weight and what it is of.
#[derive(Clone, Debug, Serialize)]
struct Named {
    /// `feature`, `start`, `end`, `transition` or `pair`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    feature: Option<String>,
    /// The label before, for pairs of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    label: String,
    weight: f64,
}

pub fn run(args: &InspectArgs) -> Result<Outcome> {
    let mut model = Model::load(&args.model)?;
    // Models of ratings are shown by their factors.
    if !matches!(model.structure, Structure::Completion { .. }) {
        model.write_out()?;
        // The nonzero weights are sorted, each with its index.
        reserve_check(2 * model.weights.len())?;
    }
    if let Some(path) = &args.weights {
        check_not_read(path, &[&args.model])?;
        if is_stdin(path) && args.json {
            return Err(Error::setting(
                "the weights and the JSON object cannot both go to standard output; name a file",
            ));
        }
        export(&model, path)?;
        if is_stdin(path) {
            return Ok(Outcome::Reached);
        }
    }
    let text = if args.json { json(&model, args.top) } else { tell(&model, args) };
    print(&text)?;
    Ok(Outcome::Reached)
}

fn json(model: &Model, top: usize) -> String {
    if let Some(json) = models::inspect_json(model, top) {
        return json;
    }
    let largest = (0..columns(model).len())
        .flat_map(|label| largest_features(model, label, top))
        .chain(largest(transitions(model), 2 * top))
        .map(|k| named(model, k));
    let problem = describe(model);
    to_json(&Json {
        task: task_name(model),
        labels: model.alphabet.names(),
        features: model.features,
        pair_features: model.pair_features,
        dim: model.weights.len(),
        zero_weights: model.weights.iter().filter(|&&w| w == 0.0).count(),
        has_witness: model.witness.is_some(),
        certificate: model.certificate,
        provenance: &model.provenance,
        problem: problem.json,
        remarks: problem.remarks,
        largest: largest.collect(),
    })
}

fn tell(model: &Model, args: &InspectArgs) -> String {
    let mut text = aligned(&settings_rows(model));
    text.push('\n');
    text += &aligned(&certificate_rows(&model.certificate));
    text += &notes(&describe(model).remarks);
    let _ = writeln!(text, "\n{}", certificate_in_words(model));
    if let Some(factors) = models::inspect_factors(model, args) {
        return text + &factors;
    }
    if args.top > 0 {
        let each = if outputs_row(model).is_some() { "output" } else { "label" };
        let _ = writeln!(text, "\nThe largest weights of each {each}:");
        for (label, name) in columns(model).iter().enumerate() {
            let _ = writeln!(text, "\n  {name}");
            for k in largest_features(model, label, args.top) {
                let weight = named(model, k);
                let feature = weight.feature.unwrap_or_default();
                let _ = writeln!(text, "    {:>12}  {feature}", number(weight.weight));
            }
        }
        if matches!(model.structure, Structure::Chain { .. }) {
            text += "\nThe largest weights of label pairs, first and last labels:\n\n";
            for k in largest(transitions(model), 2 * args.top) {
                let Named { kind, feature, from, label, weight } = named(model, k);
                let what = match (kind, from) {
                    ("start", _) => format!("begins with {label}"),
                    ("end", _) => format!("ends with {label}"),
                    (_, from) => format!("{} → {label}", from.unwrap_or_default()),
                };
                let feature = feature.map_or(String::new(), |feature| format!("  at {feature}"));
                let _ = writeln!(text, "    {:>12}  {what}{feature}", number(weight));
            }
        }
    }
    if let Some(path) = &args.weights {
        let _ = writeln!(text, "\nAll weights that are not zero are in {}.", path.display());
    }
    text
}

fn settings_rows(model: &Model) -> Vec<(&'static str, String)> {
    let p = &model.provenance;
    let loss = match &model.structure {
        Structure::Multiclass { costs, loss } => {
            let costs = if costs.is_some() { "a matrix of costs" } else { "every mistake costs 1" };
            match loss {
                MulticlassLoss::Hinge => format!("hinge, {costs}"),
                MulticlassLoss::SmoothHinge { width } => {
                    format!("smooth-hinge (width {width}), {costs}")
                }
                MulticlassLoss::Softmax => "softmax".into(),
            }
        }
        Structure::Chain { hamming: Hamming::Plain } => "the number of wrong labels".into(),
        Structure::Chain { hamming: Hamming::Normalized } => "the fraction of wrong labels".into(),
        Structure::Linear { loss } | Structure::Completion { loss, .. } => loss_name(*loss),
        Structure::MultiLabel { loss } => format!("{} of every label", loss_name(*loss)),
        Structure::MultiOutput { loss } => format!("{} of every output", loss_name(*loss)),
    };
    let average = match p.average {
        Average::None => "",
        Average::Weighted => ", weighted average",
        Average::Suffix => ", suffix average",
        Average::Random => ", a random iterate",
    };
    let pairs = match model.pair_features {
        0 => String::new(),
        pairs => format!(" and {} of label pairs", thousands(pairs as u64)),
    };
    let zeros = model.weights.iter().filter(|&&w| w == 0.0).count();
    let rank = model.low_rank.as_ref().map_or(String::new(), |x| format!(", of rank {}", x.rank()));
    let mut weights = format!("{}{rank}", thousands(model.dim() as u64));
    if !model.weights.is_empty() {
        let _ = write!(weights, ", {} of them zero", thousands(zeros as u64));
    }
    let mut rows = vec![("task", task_row(task_name(model), model)), ("loss", loss)];
    rows.extend(outputs_row(model));
    rows.extend(centre_row(model));
    rows.extend(penalty_rows(model));
    rows.extend([
        ("features", format!("{}{pairs}", thousands(model.features as u64))),
        ("weights", weights),
        ("trained by", format!("{}, {}{average}", p.program, solver_name(p.solver, model))),
        (
            "trained on",
            format!(
                "{} examples, fingerprint {:.16}…",
                thousands(p.examples as u64),
                p.fingerprint
            ),
        ),
        ("work", format!("{} passes, seed {}", trimmed(p.passes), p.seed)),
    ]);
    rows.extend(scale_row(model));
    if let Structure::Completion { .. } = model.structure {
        rows.retain(|(name, _)| *name != "features");
    }
    if let Some(recipe) = &p.recipe {
        rows.push(("data", format!("a {} file", recipe.format.name())));
    }
    rows.push((
        "witness",
        if model.witness.is_some() { "stored: the gap can be proved again" } else { "not stored" }
            .into(),
    ));
    rows
}

/// Describes what the certificate says, and the evidence for it.
fn certificate_in_words(model: &Model) -> String {
    let why = match model.provenance.stop {
        Stop::GapReached => "its tolerance was reached",
        Stop::PassLimit => "its passes were used up",
        Stop::OracleLimit => "its oracle calls were used up",
        Stop::TimeLimit => "its time was up",
        Stop::Interrupted => "it was interrupted",
        Stop::Stalled => "nothing moved any more",
    };
    let claim = if model.certificate.certified {
        certified_sentence(&model.certificate)
    } else {
        "Not certified: the primal value bounds nothing.".into()
    };
    format!("{claim}\nThe run ended because {why}. `dualgap certify MODEL DATA` checks it again.")
}

/// Returns what a feature has weights for: every label or, in a linear model, the second of two classes or the
/// number.
fn columns(model: &Model) -> Vec<String> {
    match model.structure {
        Structure::Linear { loss } if loss.is_binary() => vec![model.alphabet.names()[1].clone()],
        Structure::Linear { .. } => vec!["the number".into()],
        _ => model.alphabet.names().to_vec(),
    }
}

/// Returns the indices of a label's largest weights in magnitude, the largest first.
fn largest_features(model: &Model, label: usize, count: usize) -> Vec<(usize, f64)> {
    let labels = columns(model).len();
    let places = (0..model.features).map(|f| f * labels + label);
    largest(places.map(|k| (k, model.weights[k])), count)
}

/// Returns the weights of a chain that do not belong to a single label.
fn transitions(model: &Model) -> impl Iterator<Item = (usize, f64)> + '_ {
    let first = model.features * columns(model).len();
    model.weights.iter().copied().enumerate().skip(first)
}

fn largest(weights: impl Iterator<Item = (usize, f64)>, count: usize) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = weights.filter(|&(_, w)| w != 0.0).collect();
    let order =
        |a: &(usize, f64), b: &(usize, f64)| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0));
    if count < all.len() && count > 0 {
        all.select_nth_unstable_by(count, order);
    }
    all.truncate(count);
    all.sort_by(order);
    all
}

/// Returns the kind and the names of the weight at an index.
fn named(model: &Model, (place, weight): (usize, f64)) -> Named {
    let names = columns(model);
    let labels = names.len();
    let layout = Layout { labels, ..model.layout() };
    let label = |k: usize| names[k].clone();
    let feature = |f: usize| match model.dictionary.name(f) {
        Some(name) => name.to_string(),
        None => (f + 1).to_string(), // as a LIBSVM file counts
    };
    let pair = |kind, feature, edge: usize| Named {
        kind,
        feature,
        from: Some(label(edge / labels)),
        label: label(edge % labels),
        weight,
    };
    let single = |kind, feature, y| Named { kind, feature, from: None, label: label(y), weight };
    if place < layout.start().start {
        single("feature", Some(feature(place / labels)), place % labels)
    } else if place < layout.start().end {
        single("start", None, place - layout.start().start)
    } else if place < layout.end().end {
        single("end", None, place - layout.end().start)
    } else if place < layout.transitions().end {
        pair("transition", None, place - layout.transitions().start)
    } else {
        let (k, size) = (place - layout.pairs().start, labels * labels);
        pair("pair", Some(feature(model.features + k / size)), k % size)
    }
}

/// Writes `kind`, `feature`, `from`, `label` and `weight` separated by tabs, one weight per line.
fn export(model: &Model, path: &Path) -> Result<()> {
    let mut sink = Sink::create(path)?;
    sink.text("kind\tfeature\tfrom\tlabel\tweight\n")?;
    models::export(model, &mut sink)?;
    for (place, &weight) in model.weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        let Named { kind, feature, from, label, weight } = named(model, (place, weight));
        let (feature, from) = (feature.unwrap_or_default(), from.unwrap_or_default());
        // A tab or a line end within a name would break the table.
        let feature = feature.replace(['\t', '\n', '\r'], " ");
        sink.text(&format!("{kind}\t{feature}\t{from}\t{label}\t{weight}\n"))?;
    }
    sink.finish()
}
