//! `dualgap inspect`: shows what a model contains.

use crate::args::InspectArgs;
use crate::ball::penalty_rows;
use crate::claim::{certificate_rows, certified_sentence};
use crate::explain::{explain, transitions};
use crate::matchings::inspect_example;
use crate::outputs::names_row;
use crate::places::check_not_read;
use crate::ratings::{centre_row, completion};
use crate::report::{notes, scale_row, solver_name, task_row};
use crate::words::{aligned, number, thousands, to_json, trimmed};
use crate::{Outcome, Tasks, print};
use dualgap::data::{Dictionary, Sink, Source};
use dualgap::dual::Average;
use dualgap::linalg::{LowRank, reserve_check};
use dualgap::methods::subgradient;
use dualgap::run::{Certificate, Stop};
use dualgap::structure::{Centring, Remark, Support};
use dualgap::task::{AnyModel, Method, Provenance};
use dualgap::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Of so many factors the largest items are shown.
const FACTORS: usize = 5;

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

pub fn run(args: &InspectArgs, tasks: &Tasks) -> Result<Outcome> {
    let mut model = tasks.registry().load(&args.model)?;
    if let (Some(data), Some(pair)) = (&args.data, args.pair) {
        let files = (data.as_path(), args.model.as_path());
        return inspect_example(&*model, files, pair, args.svg.as_deref(), args.json);
    }
    if let Some(text) = &args.explain {
        return explain(&*model, text, args.top, args.json);
    }
    if let Some(picture) = &args.transitions {
        return transitions(&*model, (picture.as_deref(), args.model.as_path()));
    }
    // Models of ratings are shown by their factors.
    if completion(&*model).is_none() {
        model.write_out()?;
        // The nonzero weights are sorted, each with its index.
        reserve_check(2 * model.fitted().weights.len())?;
    }
    let model = &*model;
    if let Some(path) = &args.weights {
        check_not_read(path, &[&args.model])?;
        if Source::is_stdin(path) && args.json {
            return Err(Error::setting(
                "the weights and the JSON object cannot both go to standard output; name a file",
            ));
        }
        export(model, path)?;
        if Source::is_stdin(path) {
            return Ok(Outcome::Reached);
        }
    }
    let text = if args.json { json(model, args.top) } else { tell(model, args) };
    print(&text)?;
    Ok(Outcome::Reached)
}

fn json(model: &dyn AnyModel, top: usize) -> String {
    if let Some(json) = ratings_json(model, top) {
        return json;
    }
    let largest = (0..model.weighted().len())
        .flat_map(|label| largest_features(model, label, top))
        .chain(largest(other_places(model), 2 * top))
        .map(|k| named(model, k));
    let (problem, names, weights) = (model.describe(), model.names(), model.fitted().weights);
    to_json(&Json {
        task: model.words().task,
        labels: names.alphabet.names(),
        features: names.features,
        pair_features: names.pair_features,
        dim: weights.len(),
        zero_weights: weights.iter().filter(|&&w| w == 0.0).count(),
        has_witness: model.has_witness(),
        certificate: model.certificate(),
        provenance: model.provenance(),
        problem: problem.json,
        remarks: problem.remarks,
        largest: largest.collect(),
    })
}

fn tell(model: &dyn AnyModel, args: &InspectArgs) -> String {
    let mut text = aligned(&settings_rows(model));
    text.push('\n');
    text += &aligned(&certificate_rows(&model.certificate()));
    text += &notes(&model.describe().remarks);
    let _ = writeln!(text, "\n{}", certificate_in_words(model));
    if let Some(completion) = completion(model) {
        return text + &factors(&completion.items, model, args);
    }
    if args.top > 0 {
        let labels = model.weighted();
        let [of_names, _] = model.words().names_of.unwrap_or(["label", "labels"]);
        let each = if labels.is_empty() { "kind" } else { of_names };
        let _ = writeln!(text, "\nThe largest weights of each {each}:");
        for (label, name) in labels.iter().enumerate() {
            let _ = writeln!(text, "\n  {name}");
            for k in largest_features(model, label, args.top) {
                let weight = named(model, k);
                let feature = weight.feature.unwrap_or_default();
                let _ = writeln!(text, "    {:>12}  {feature}", number(weight.weight));
            }
        }
        text += &other_weights(model, args.top);
    }
    if let Some(path) = &args.weights {
        let _ = writeln!(text, "\nAll weights that are not zero are in {}.", path.display());
    }
    text
}

/// Returns the largest of the weights that do not belong to a feature and a label.
fn other_weights(model: &dyn AnyModel, top: usize) -> String {
    if other_places(model).next().is_none() {
        return String::new();
    }
    let mut text = String::from("\n");
    if !model.weighted().is_empty() {
        text += "The largest weights of label pairs, first and last labels:\n\n";
    }
    for k in largest(other_places(model), 2 * top) {
        let Named { kind, feature, from, label, weight } = named(model, k);
        let what = match (kind, from) {
            ("start", _) => format!("begins with {label}"),
            ("end", _) => format!("ends with {label}"),
            ("weight" | "feature", _) => String::new(),
            (_, from) => format!("{} → {label}", from.unwrap_or_default()),
        };
        let feature = match (kind, feature) {
            (_, None) => String::new(),
            ("feature", Some(feature)) => feature, // of a structure without labels
            (_, Some(feature)) => format!("  at {feature}"),
        };
        let _ = writeln!(text, "    {:>12}  {what}{feature}", number(weight));
    }
    text
}

fn settings_rows(model: &dyn AnyModel) -> Vec<(&'static str, String)> {
    let (p, words, names) = (model.provenance(), model.words(), model.names());
    let average = match &p.method {
        Method::Dual(method) => match method.average {
            Average::None => String::new(),
            Average::Weighted => ", weighted average".into(),
            Average::Suffix => ", suffix average".into(),
            Average::Random => ", a random iterate".into(),
            Average::After(steps) => format!(", average after {} steps", thousands(steps)),
            Average::RandomAfter(steps) => {
                format!(", a random iterate after {} steps", thousands(steps))
            }
            _ => ", averaged".into(),
        },
        Method::Subgradient(settings) => match settings.average {
            subgradient::SubgradientAverage::Uniform => ", uniform average".into(),
            subgradient::SubgradientAverage::Weighted => ", weighted average".into(),
            subgradient::SubgradientAverage::Suffix { .. }
            | subgradient::SubgradientAverage::Doubling => ", suffix average".into(),
            _ => String::new(),
        },
        _ => String::new(),
    };
    let pairs = match names.pair_features {
        0 => String::new(),
        pairs => format!(" and {} of label pairs", thousands(pairs as u64)),
    };
    let fitted = model.fitted();
    let zeros = fitted.weights.iter().filter(|&&w| w == 0.0).count();
    let rank = fitted.low_rank.map_or(String::new(), |x| format!(", of rank {}", x.rank()));
    let mut weights = format!("{}{rank}", thousands(model.dim() as u64));
    if !fitted.weights.is_empty() {
        let _ = write!(weights, ", {} of them zero", thousands(zeros as u64));
    }
    let mut rows = vec![("task", task_row(words.task, model)), ("loss", words.loss.clone())];
    rows.extend(words.lines);
    rows.extend(names_row(model));
    rows.extend(centre_row(model));
    rows.extend(penalty_rows(model));
    if words.features.is_none() {
        rows.push(("features", format!("{}{pairs}", thousands(names.features as u64))));
    }
    rows.extend([
        ("weights", weights),
        ("trained by", format!("{}, {}{average}", p.program, solver_name(model))),
        (
            "trained on",
            format!(
                "{} examples, fingerprint {:.23}…",
                thousands(p.examples as u64),
                p.fingerprint
            ),
        ),
        ("work", format!("{} passes, seed {}", trimmed(p.passes), p.method.seed())),
    ]);
    rows.extend(scale_row(model));
    if let Some(recipe) = &p.recipe {
        rows.push(("data", format!("a {} file", recipe.format.name())));
    }
    rows.push((
        "witness",
        if model.has_witness() { "stored: the gap can be proved again" } else { "not stored" }
            .into(),
    ));
    rows
}

/// Describes what the certificate says, and the evidence for it.
fn certificate_in_words(model: &dyn AnyModel) -> String {
    let why = match model.provenance().stop {
        Stop::GapReached => "its tolerance was reached",
        Stop::PassLimit => "its passes were used up",
        Stop::OracleLimit => "its oracle calls were used up",
        Stop::TimeLimit => "its time was up",
        Stop::Interrupted => "it was interrupted",
        Stop::Stalled => "nothing moved any more",
        _ => "it could not go on",
    };
    let claim = certified_sentence(&model.certificate());
    format!("{claim}\nThe run ended because {why}. `dualgap certify MODEL DATA` checks it again.")
}

/// Returns the indices of a label's largest weights in magnitude, the largest first.
fn largest_features(model: &dyn AnyModel, label: usize, count: usize) -> Vec<(usize, f64)> {
    let labels = model.weighted().len();
    let inputs = model.fitted().support.map_or(model.names().features, Support::len);
    let places = (0..inputs).map(|f| f * labels + label);
    largest(places.map(|k| (k, model.fitted().weights[k])), count)
}

/// Returns the weights that do not belong to a feature and a label: pairs of labels in a chain, or all weights of a
/// structure without labels.
fn other_places(model: &dyn AnyModel) -> impl Iterator<Item = (usize, f64)> + '_ {
    let inputs = model.fitted().support.map_or(model.names().features, Support::len);
    let first = inputs * model.weighted().len();
    model.fitted().weights.iter().copied().enumerate().skip(first)
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
fn named(model: &dyn AnyModel, (place, weight): (usize, f64)) -> Named {
    let (of, names) = (model.weight(place), model.weighted());
    let label = |k: usize| names.get(k).cloned().unwrap_or_default();
    let feature = |f: usize| match model.names().dictionary.name(f) {
        Some(name) if of.kind != "coefficient" => name.to_string(),
        _ => (f + 1).to_string(), // as a LIBSVM file counts
    };
    Named {
        kind: of.kind,
        feature: of.feature.map(feature),
        from: of.from.map(label),
        label: of.label.map(label).unwrap_or_default(),
        weight,
    }
}

/// Writes `kind`, `feature`, `from`, `label` and `weight` separated by tabs, one weight per line. The factors of a model
/// of ratings have the name of a user or an item as their feature, and the number of the factor, from 1, as their label.
fn export(model: &dyn AnyModel, path: &Path) -> Result<()> {
    let mut sink = Sink::create(path)?;
    sink.text("kind\tfeature\tfrom\tlabel\tweight\n")?;
    // A tab or a line end within a name would break the table.
    let plain = |name: &str| name.replace(['\t', '\n', '\r'], " ");
    for (kind, name, number) in model.constants() {
        sink.text(&format!("{kind}\t{}\t\t\t{number}\n", plain(&name)))?;
    }
    if let (Some(completion), Some(x)) = (completion(model), model.fitted().low_rank) {
        export_factors(&model.names().dictionary, &completion.items, x, &mut sink)?;
    }
    for (kind, name, number) in model.found() {
        sink.text(&format!("{kind}\t{}\t\t\t{number}\n", plain(&name)))?;
    }
    let weights = model.fitted().weights.iter().enumerate();
    for (place, &weight) in weights.filter(|(_, w)| **w != 0.0) {
        let Named { kind, feature, from, label, weight } = named(model, (place, weight));
        let (feature, from) = (feature.unwrap_or_default(), from.unwrap_or_default());
        sink.text(&format!("{kind}\t{}\t{from}\t{label}\t{weight}\n", plain(&feature)))?;
    }
    sink.finish()
}

fn export_factors(
    users: &Dictionary,
    items: &Dictionary,
    x: &LowRank,
    sink: &mut Sink,
) -> Result<()> {
    for (k, s) in x.s().iter().enumerate() {
        sink.text(&format!("singular\t\t\t{}\t{s}\n", k + 1))?;
    }
    for (kind, names, factor) in [("user", users, x.u()), ("item", items, x.v())] {
        for (name, row) in names.names().zip(factor.chunks_exact(x.rank().max(1))) {
            let name = name.replace(['\t', '\n', '\r'], " ");
            for (k, weight) in row.iter().enumerate() {
                sink.text(&format!("{kind}\t{name}\t\t{}\t{weight}\n", k + 1))?;
            }
        }
    }
    Ok(())
}

/// The object that `--json` prints for a model of ratings.
#[derive(Serialize)]
struct RatingsJson<'a> {
    task: &'a str,
    users: usize,
    items: usize,
    dim: usize,
    rank: usize,
    singular_values: &'a [f64],
    centre: CentreJson,
    has_witness: bool,
    certificate: Certificate,
    provenance: &'a Provenance,
    problem: Value,
    largest: Vec<Largest<'a>>,
}

#[derive(Serialize)]
struct CentreJson {
    name: Centring,
    mean: f64,
}

/// The item's entry in a factor.
#[derive(Serialize)]
struct Largest<'a> {
    factor: usize,
    item: &'a str,
    weight: f64,
}

fn ratings_json(model: &dyn AnyModel, top: usize) -> Option<String> {
    let (completion, x) = (completion(model)?, model.fitted().low_rank?);
    let largest = (0..x.rank()).flat_map(|factor| {
        let entries = largest_items(&completion.items, x, factor, top).into_iter();
        entries.map(move |(item, weight)| Largest { factor: factor + 1, item, weight })
    });
    Some(to_json(&RatingsJson {
        task: model.words().task,
        users: model.names().features,
        items: completion.items.len(),
        dim: model.dim(),
        rank: x.rank(),
        singular_values: x.s(),
        centre: CentreJson { name: completion.centre.centring, mean: completion.centre.mean },
        has_witness: model.has_witness(),
        certificate: model.certificate(),
        provenance: model.provenance(),
        problem: model.describe().json,
        largest: largest.collect(),
    }))
}

/// Returns a table of the items with the largest entries in each of the first factors.
fn factors(items: &Dictionary, model: &dyn AnyModel, args: &InspectArgs) -> String {
    let Some(x) = model.fitted().low_rank else { return String::new() };
    let mut text = String::new();
    if args.top > 0 && x.rank() > 0 {
        text += "\nThe singular values, and the items with the largest entries of their vectors:\n";
        for factor in 0..x.rank().min(FACTORS) {
            let _ = writeln!(text, "\n  {}", number(x.s()[factor]));
            for (item, weight) in largest_items(items, x, factor, args.top) {
                let _ = writeln!(text, "    {:>12}  {item}", number(weight));
            }
        }
        if x.rank() > FACTORS {
            let rest: Vec<String> = x.s()[FACTORS..].iter().map(|&s| number(s)).collect();
            let _ = writeln!(text, "\n  and {}", rest.join(", "));
        }
    }
    if let Some(path) = &args.weights {
        let _ = writeln!(text, "\nThe factors and the centre are in {}.", path.display());
    }
    text
}

fn largest_items<'a>(
    items: &'a Dictionary,
    x: &LowRank,
    factor: usize,
    top: usize,
) -> Vec<(&'a str, f64)> {
    let entries = x.v().chunks_exact(x.rank().max(1)).map(|row| row[factor]);
    let mut all: Vec<(&str, f64)> = items.names().zip(entries).collect();
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all.truncate(top);
    all
}
