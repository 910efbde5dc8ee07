//! The reports about models of matchings.

use crate::drawing::{Drawing, Link};
use crate::places::check_not_read;
use crate::words::{aligned, percent, thousands, to_json};
use crate::{Outcome, known, print};
use dualgap::data::{Mark, Matchings, Sink, Source};
use dualgap::structure::evaluation::LinkFigures;
use dualgap::structure::{Matching, Purpose, Structure};
use dualgap::task::{AnyModel, Model};
use dualgap::{Error, Result};
use serde::Serialize;
use std::path::Path;

/// Returns the rows of a table about predicted links.
pub fn link_rows(figures: &LinkFigures) -> Vec<(&'static str, String)> {
    let LinkFigures { examples, aer, precision, recall, exact, predicted, sure, .. } = figures;
    let count = |n: &usize| thousands(*n as u64);
    vec![
        ("error rate", format!("{} (AER), of {} examples", percent(*aer), count(examples))),
        ("precision", format!("{} of {} predicted links", percent(*precision), count(predicted))),
        ("recall", format!("{} of {} sure links", percent(*recall), count(sure))),
        ("exact", format!("{} of the examples", percent(*exact))),
    ]
}

/// The object that `--json` prints about one example.
#[derive(Serialize)]
struct Json<'a> {
    example: usize,
    rows: &'a [String],
    columns: &'a [String],
    /// Pairs of a row and a column, from 0 on.
    predicted: &'a [(usize, usize)],
    /// Null where links are not known.
    sure: Option<Vec<(usize, usize)>>,
    /// The sure links among them.
    possible: Option<Vec<(usize, usize)>>,
}

/// Shows what a model predicts for one example of a file: as text, as JSON, and as a drawing in a file.
pub fn inspect_example(
    model: &dyn AnyModel,
    (file, of_model): (&Path, &Path),
    example: usize,
    svg: Option<&Path>,
    json: bool,
) -> Result<Outcome> {
    let Some(model) = known::of::<Matching>(model) else {
        return Err(Error::file(
            of_model,
            "is no model of matchings, and --data shows a matching",
            "leave --data out, or name a model of `dualgap train matching`",
        ));
    };
    if let Some(svg) = svg {
        check_not_read(svg, &[of_model, file])?;
    }
    let Some(recipe) = &model.provenance.recipe else {
        return Err(crate::formats::from_memory(of_model));
    };
    let purpose = Purpose::Predict(&model.names);
    let all = model.task.structure.read(recipe, Source::open(file)?, purpose)?.data;
    if example >= all.len() {
        let message = format!("has {} examples, from 0 on, and no example {example}", all.len());
        return Err(Error::file(file, message, "give another --pair"));
    }
    let data = all.select(&[example]);
    let predicted = model.predict(&data)?.swap_remove(0);
    let [rows, columns] = words(&data);
    if let Some(path) = svg {
        let mut sink = Sink::create(path)?;
        let links = links(&data, &predicted);
        sink.text(&Drawing { rows: &rows, columns: &columns, links: &links }.svg())?;
        sink.finish()?;
        if Source::is_stdin(path) {
            return Ok(Outcome::Reached);
        }
    }
    let text = if json {
        let marked = |wanted: &[Mark]| data.is_labelled().then(|| edges_with(&data, wanted));
        to_json(&Json {
            example,
            rows: &rows,
            columns: &columns,
            predicted: &predicted,
            sure: marked(&[Mark::Sure]),
            possible: marked(&[Mark::Sure, Mark::Possible]),
        })
    } else {
        tell(model, &data, &predicted, (file, example), svg)
    };
    print(&text)?;
    Ok(Outcome::Reached)
}

fn tell(
    model: &Model<Matching>,
    data: &Matchings,
    predicted: &[(usize, usize)],
    (file, example): (&Path, usize),
    svg: Option<&Path>,
) -> String {
    let [rows, columns] = words(data);
    let links = links(data, predicted);
    let mut table = vec![("example", format!("{example} of {}", file.display()))];
    match model.evaluate(data).ok().as_ref().and_then(|evaluation| evaluation.links()) {
        Some(evaluation) if data.is_labelled() => table.extend(link_rows(&evaluation.figures())),
        _ => table.push(("links", thousands(predicted.len() as u64))),
    }
    if let Some(path) = svg {
        table.push(("drawn in", path.display().to_string()));
    }
    let drawing = Drawing { rows: &rows, columns: &columns, links: &links };
    format!("{}\n{}", aligned(&table), drawing.text(data.is_labelled()))
}

/// Returns the words of rows and columns, or their numbers.
fn words(data: &Matchings) -> [Vec<String>; 2] {
    let graph = data.graph(0);
    let numbers = |count: usize| (0..count).map(|k| k.to_string()).collect();
    data.words(0).cloned().unwrap_or_else(|| [numbers(graph.rows()), numbers(graph.columns())])
}

/// Returns the edges with one of these marks.
fn edges_with(data: &Matchings, wanted: &[Mark]) -> Vec<(usize, usize)> {
    let graph = data.graph(0);
    let edges = graph.edges().iter().enumerate();
    let chosen = edges.filter(|(edge, _)| wanted.contains(&graph.mark(*edge)));
    chosen.map(|(_, &(row, column))| (row as usize, column as usize)).collect()
}

/// Returns all edges that are links in any sense.
fn links(data: &Matchings, predicted: &[(usize, usize)]) -> Vec<Link> {
    let graph = data.graph(0);
    let link = |(edge, &(row, column)): (usize, &(u32, u32))| {
        let (row, column) = (row as usize, column as usize);
        let (mark, is) = (graph.mark(edge), predicted.contains(&(row, column)));
        (is || mark != Mark::None).then_some(Link { row, column, mark, predicted: is })
    };
    graph.edges().iter().enumerate().filter_map(link).collect()
}
