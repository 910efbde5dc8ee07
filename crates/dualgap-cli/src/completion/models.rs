//! The commands on a model of ratings: predict, evaluate, inspect.

use super::report::strangers_row;
use crate::args::{EvalArgs, InspectArgs, PredictArgs};
use crate::places::check_not_read;
use crate::report::{aligned, number, number_rows, to_json};
use crate::{Outcome, print};
use dualgap::data::{Dictionary, Format, Pairs, Ratings, RatingsRecipe, Recipe, Sink, Source};
use dualgap::linalg::LowRank;
use dualgap::model::evaluation::NumberErrors;
use dualgap::model::{Centre, Model, Provenance, Strangers, Structure, describe};
use dualgap::run::Certificate;
use dualgap::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Of so many factors the largest items are shown.
const FACTORS: usize = 5;

/// Returns how the ratings of a model are read.
pub fn recipe<'a>(file: &Path, recipe: &'a Recipe) -> Result<&'a RatingsRecipe> {
    match &recipe.format {
        Format::Ratings(recipe) => Ok(recipe),
        _ => Err(Error::file(
            file,
            "is a model of ratings that says its data are something else",
            "the file was altered: train the model again",
        )),
    }
}

/// Writes one prediction per line, for every pair.
pub fn predict(model: &Model, of: &Recipe, args: &PredictArgs) -> Result<Outcome> {
    no_folds(args.folds.is_some())?;
    if args.scores || args.probabilities {
        return Err(Error::setting(
            "--scores and --probabilities are for other models: predictions of ratings are numbers",
        ));
    }
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    check_not_read(output, &[&args.data, &args.model])?;
    let pairs: Pairs = recipe(&args.model, of)?.read_pairs(Source::open(&args.data)?)?;
    let mut sink = Sink::create(output)?;
    let (predictions, strangers) = model.predict_pairs(&pairs)?;
    for prediction in predictions {
        sink.text(&format!("{prediction}\n"))?;
    }
    sink.finish()?;
    if let Some((_, told)) = strangers_row(strangers).filter(|_| !args.quiet) {
        // A failure to write to standard error cannot be reported anywhere.
        let _ = writeln!(std::io::stderr(), "not seen in training: {told}");
    }
    Ok(Outcome::Reached)
}

#[derive(Serialize)]
struct EvalJson {
    #[serde(flatten)]
    errors: NumberErrors,
    unknown: Strangers,
}

pub fn eval(model: &Model, of: &Recipe, args: &EvalArgs) -> Result<Outcome> {
    no_folds(args.folds.is_some())?;
    recipe(&args.model, of)?;
    let data = Ratings::read(Source::open(&args.data)?)?;
    let (errors, unknown) = model.evaluate_ratings(&data)?;
    if args.json {
        print(&to_json(&EvalJson { errors, unknown }))?;
        return Ok(Outcome::Reached);
    }
    let mut rows = number_rows(&errors);
    rows.extend(strangers_row(unknown));
    print(&aligned(&rows))?;
    Ok(Outcome::Reached)
}

fn no_folds(given: bool) -> Result<()> {
    if given {
        Err(Error::setting("--folds: a ratings file has no folds; leave it out"))
    } else {
        Ok(())
    }
}

/// The object that `inspect --json` prints.
#[derive(Serialize)]
struct Json<'a> {
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
    name: dualgap::model::Centring,
    mean: f64,
}

/// The item's entry in a factor.
#[derive(Serialize)]
struct Largest<'a> {
    factor: usize,
    item: &'a str,
    weight: f64,
}

/// Returns the items, the centre and the factors of a model of ratings; `None` for other models.
fn parts(model: &Model) -> Option<(&Dictionary, &Centre, &LowRank)> {
    match (&model.structure, &model.low_rank) {
        (Structure::Completion { items, centre, .. }, Some(x)) => Some((items, centre, x)),
        _ => None,
    }
}

pub fn inspect_json(model: &Model, top: usize) -> Option<String> {
    let (items, centre, x) = parts(model)?;
    let largest = (0..x.rank()).flat_map(|factor| {
        let entries = largest(items, x, factor, top).into_iter();
        entries.map(move |(item, weight)| Largest { factor: factor + 1, item, weight })
    });
    Some(to_json(&Json {
        task: "completion",
        users: model.features,
        items: items.len(),
        dim: model.dim(),
        rank: x.rank(),
        singular_values: x.s(),
        centre: CentreJson { name: centre.centring, mean: centre.mean },
        has_witness: model.witness.is_some(),
        certificate: model.certificate,
        provenance: &model.provenance,
        problem: describe(model).json,
        largest: largest.collect(),
    }))
}

/// Returns a table of the items with the largest entries in each of the first factors.
pub fn inspect_factors(model: &Model, args: &InspectArgs) -> Option<String> {
    let (items, _, x) = parts(model)?;
    let mut text = String::new();
    if args.top > 0 && x.rank() > 0 {
        text += "\nThe singular values, and the items with the largest entries of their vectors:\n";
        for factor in 0..x.rank().min(FACTORS) {
            let _ = writeln!(text, "\n  {}", number(x.s()[factor]));
            for (item, weight) in largest(items, x, factor, args.top) {
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
    Some(text)
}

fn largest<'a>(
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

/// Writes the factors and the centre in the columns of other models: the name of a user or an item is the feature,
/// and the number of the factor, from 1, is the label.
pub fn export(model: &Model, sink: &mut Sink) -> Result<()> {
    let Some((items, centre, x)) = parts(model) else { return Ok(()) };
    let mut line = |kind: &str, name: &str, factor: usize, weight: f64| {
        let factor = if factor > 0 { factor.to_string() } else { String::new() };
        let name = name.replace(['\t', '\n', '\r'], " ");
        sink.text(&format!("{kind}\t{name}\t\t{factor}\t{weight}\n"))
    };
    line("mean", "", 0, centre.mean)?;
    let sides =
        [("user", &model.dictionary, x.u(), &centre.users), ("item", items, x.v(), &centre.items)];
    for (k, &s) in x.s().iter().enumerate() {
        line("singular", "", k + 1, s)?;
    }
    for (kind, names, factor, effects) in sides {
        for (name, &effect) in names.names().zip(effects) {
            line(&format!("{kind}_effect"), name, 0, effect)?;
        }
        for (name, row) in names.names().zip(factor.chunks_exact(x.rank().max(1))) {
            for (k, &weight) in row.iter().enumerate() {
                line(kind, name, k + 1, weight)?;
            }
        }
    }
    Ok(())
}
