//! `dualgap inspect --explain` and `--transitions`: what drives the decisions of a tagger.
//!
//! At every position the label of the best labeling is compared with the runner-up: the label of the best labeling that has
//! another label there. What a feature, a transition, the first and the last place add to the scores of both is shown.

use crate::drawing::escaped;
use crate::places::check_not_read;
use crate::words::{number, to_json};
use crate::{Outcome, known, print};
use dualgap::data::{Extractor, Format, Sequence, Sink, Source, words};
use dualgap::structure::{Chain, ChainLayout, Label, Viterbi};
use dualgap::task::{AnyModel, Model};
use dualgap::{Error, Result};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Shades of weights, from the smallest to the largest magnitude.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// The side of a cell of the picture.
const CELL: usize = 22;

/// Roughly how wide a letter is.
const LETTER: usize = 8;

/// What is said of a position.
#[derive(Serialize)]
struct Decision {
    token: String,
    label: String,
    /// The label of the best labeling with another label here; absent if there is only one label.
    #[serde(skip_serializing_if = "Option::is_none")]
    runner_up: Option<String>,
    /// By how much the score of the labeling would fall with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<f64>,
    reasons: Vec<Reason>,
}

/// What a part of the input adds to the score of the label, and of the runner-up.
#[derive(Serialize)]
struct Reason {
    /// `feature`, `transition`, `pair`, `start` or `end`.
    kind: &'static str,
    name: String,
    for_label: f64,
    for_runner_up: f64,
}

/// Returns the model as a chain, or an error for others.
fn chain(model: &dyn AnyModel) -> Result<&Model<Chain>> {
    known::of(model).ok_or_else(|| {
        Error::setting("--explain and --transitions are for models of chains, without a kernel")
    })
}

/// Explains the labels of a sentence.
pub fn explain(model: &dyn AnyModel, text: &str, top: usize, json: bool) -> Result<Outcome> {
    let model = chain(model)?;
    let Some(Format::Columns(recipe)) = model.provenance.recipe.as_ref().map(|r| &r.format) else {
        return Err(Error::setting("--explain is for models of column files"));
    };
    let extractor = Extractor::new(recipe, model.names.vocabulary())?;
    let tokens = tokens(text, extractor.inputs().max(1))?;
    if tokens.is_empty() || extractor.width() > 1000 {
        return Err(Error::setting("--explain needs a sentence"));
    }
    let sentence = extractor.sentence(&tokens, 1);
    let (data, _) = extractor.sequences(&[sentence], false)?;
    let decisions = decisions(model, data.sequence(0), &tokens, top);
    print(&if json { to_json(&decisions) } else { tell(&decisions) })?;
    Ok(Outcome::Reached)
}

/// Splits a sentence. If features are made of several columns, these stand behind each word after slashes.
fn tokens(text: &str, inputs: usize) -> Result<Vec<Vec<String>>> {
    if inputs == 1 {
        let word = |&(from, to): &(usize, usize)| vec![text[from..to].to_string()];
        return Ok(words(text).iter().map(word).collect());
    }
    let token = |token: &str| {
        let mut columns: Vec<String> = token.rsplitn(inputs, '/').map(String::from).collect();
        columns.reverse();
        let example = ["He", "PRP", "x", "y"].into_iter().cycle().take(inputs).collect::<Vec<_>>();
        (columns.len() == inputs).then_some(columns).ok_or_else(|| {
            Error::setting(format!(
                "the features of this model are made of {inputs} columns: write `{token}` as {}",
                example.join("/")
            ))
        })
    };
    text.split_whitespace().map(token).collect()
}

fn decisions(
    model: &Model<Chain>,
    x: Sequence<'_>,
    tokens: &[Vec<String>],
    top: usize,
) -> Vec<Decision> {
    let (names, w) = (&model.names, &model.weights[..]);
    let layout = ChainLayout {
        features: names.features,
        labels: names.alphabet.len(),
        pairs: names.pair_features,
    };
    let name = |y: Label| names.alphabet.names()[usize::from(y)].clone();
    let (mut viterbi, mut best) = (Viterbi::default(), Vec::new());
    viterbi.score(layout, w, x, None);
    let score = viterbi.decode(layout, w, &mut best);
    let decide = |t: usize| {
        let other = runner_up(&mut viterbi.clone(), layout, w, t, best[t]);
        let reasons = other
            .map_or_else(Vec::new, |(other, _)| reasons(model, layout, x, &best, t, other, top));
        Decision {
            token: tokens[t].join("/"),
            label: name(best[t]),
            runner_up: other.map(|(other, _)| name(other)),
            margin: other.map(|(_, second)| score - second),
            reasons,
        }
    };
    (0..best.len()).map(decide).collect()
}

/// Returns the label of the best labeling with another label at a position, and the score of that labeling.
fn runner_up(
    viterbi: &mut Viterbi,
    layout: ChainLayout,
    w: &[f64],
    t: usize,
    label: Label,
) -> Option<(Label, f64)> {
    if layout.labels < 2 {
        return None;
    }
    viterbi.nodes[t * layout.labels + usize::from(label)] = f64::NEG_INFINITY;
    let mut path = Vec::new();
    let score = viterbi.decode(layout, w, &mut path);
    Some((path[t], score))
}

/// Returns what adds most to the difference between the label and the other one, with the neighbours as they are.
fn reasons(
    model: &Model<Chain>,
    layout: ChainLayout,
    x: Sequence<'_>,
    best: &[Label],
    t: usize,
    other: Label,
    top: usize,
) -> Vec<Reason> {
    let (k, w) = (layout.labels, &model.weights);
    let (y, z) = (usize::from(best[t]), usize::from(other));
    let name =
        |f: usize| model.names.dictionary.name(f).map_or_else(|| (f + 1).to_string(), String::from);
    let label = |y: Label| &model.names.alphabet.names()[usize::from(y)];
    let mut all: Vec<Reason> = x
        .row(t)
        .iter()
        .map(|(f, value)| Reason {
            kind: "feature",
            name: name(f),
            for_label: value * w[f * k + y],
            for_runner_up: value * w[f * k + z],
        })
        .collect();
    let mut add = |kind, name: String, for_label, for_runner_up| {
        all.push(Reason { kind, name, for_label, for_runner_up });
    };
    if t == 0 {
        let start = &w[layout.start()];
        add("start", "begins".into(), start[y], start[z]);
    }
    if t + 1 == best.len() {
        let end = &w[layout.end()];
        add("end", "ends".into(), end[y], end[z]);
    }
    let transitions = &w[layout.transitions()];
    let pairs = &w[layout.pairs()];
    if t > 0 {
        let from = usize::from(best[t - 1]) * k;
        add(
            "transition",
            format!("after {}", label(best[t - 1])),
            transitions[from + y],
            transitions[from + z],
        );
        for (f, value) in x.edge(t).iter() {
            let at = f * k * k + from;
            add("pair", name(layout.features + f), value * pairs[at + y], value * pairs[at + z]);
        }
    }
    if let Some(&next) = best.get(t + 1) {
        let to = usize::from(next);
        add(
            "transition",
            format!("before {}", label(next)),
            transitions[y * k + to],
            transitions[z * k + to],
        );
        for (f, value) in x.edge(t + 1).iter() {
            let at = f * k * k + to;
            let (for_label, for_other) = (pairs[at + y * k], pairs[at + z * k]);
            add("pair", name(layout.features + f), value * for_label, value * for_other);
        }
    }
    let size = |reason: &Reason| (reason.for_label - reason.for_runner_up).abs();
    all.retain(|reason| size(reason) > 0.0);
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    all.truncate(top);
    all
}

fn tell(decisions: &[Decision]) -> String {
    let mut text = String::new();
    for Decision { token, label, runner_up, margin, reasons } in decisions {
        let shown: String = token.chars().filter(|c| !c.is_control()).collect();
        let _ = write!(text, "  {shown}  {label}");
        if let (Some(other), Some(margin)) = (runner_up, margin) {
            let _ = write!(text, "   rather than {other}, by {}", number(*margin));
        }
        text.push('\n');
        for Reason { name, for_label, for_runner_up, .. } in reasons {
            let _ = writeln!(
                text,
                "    {:>12}  {:>12}  {name}",
                number(*for_label),
                number(*for_runner_up)
            );
        }
        text.push('\n');
    }
    text + "  Numbers are what a part adds to the score of the label, and to that of the runner-up.\n"
}

/// Shows the weights of neighbouring labels in shades, and draws them in a file if one is named.
pub fn transitions(model: &dyn AnyModel, files: (Option<&Path>, &Path)) -> Result<Outcome> {
    let model = chain(model)?;
    let names = model.names.alphabet.names();
    let layout = ChainLayout { features: model.names.features, labels: names.len(), pairs: 0 };
    let weights = &model.weights[layout.transitions()];
    let top = weights.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    if let Some(path) = files.0 {
        check_not_read(path, &[files.1])?;
        let mut sink = Sink::create(path)?;
        sink.text(&picture(names, weights, top))?;
        sink.finish()?;
        if Source::is_stdin(path) {
            return Ok(Outcome::Reached);
        }
    }
    print(&shades(names, weights, top))?;
    Ok(Outcome::Reached)
}

/// Returns the table as text: a row for each label before, a column for each label after.
fn shades(names: &[String], weights: &[f64], top: f64) -> String {
    let shown = |name: &str| name.chars().filter(|c| !c.is_control()).collect::<String>();
    let width = names.iter().map(|name| shown(name).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (k, name) in names.iter().enumerate() {
        let _ = writeln!(text, "  {:width$}  {}{}", "", "│  ".repeat(k), shown(name));
    }
    for (name, row) in names.iter().zip(weights.chunks_exact(names.len().max(1))) {
        let (name, mut cells) = (shown(name), String::new());
        for &x in row {
            let share = if top > 0.0 { x.abs() / top } else { 0.0 };
            let shade = SHADES[((share * 4.0).ceil() as usize).min(4)];
            let _ = write!(cells, "{}{shade} ", if x < 0.0 && shade != ' ' { '-' } else { ' ' });
        }
        let pad = " ".repeat(width - name.chars().count());
        let _ = writeln!(text, "  {name}{pad} {}", cells.trim_end());
    }
    let _ = writeln!(
        text,
        "\n  The label before in rows, the one after in columns; █ is {} in size, and - is below zero.",
        number(top)
    );
    text
}

/// Returns the table as an SVG file: blue is above zero and red below, the darker the larger.
fn picture(names: &[String], weights: &[f64], top: f64) -> String {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let edge = longest * LETTER + CELL;
    let size = edge + CELL * (names.len() + 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{size}\" height=\"{size}\" \
         viewBox=\"0 0 {size} {size}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{size}\" height=\"{size}\" fill=\"white\"/>\n"
    );
    for (k, name) in names.iter().enumerate() {
        let (middle, name) = (edge + k * CELL + CELL / 2 + 4, escaped(name));
        let near = edge - 6;
        let _ =
            writeln!(svg, "<text x=\"{near}\" y=\"{middle}\" text-anchor=\"end\">{name}</text>");
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{near}\" transform=\"rotate(-90 {middle} {near})\">{name}</text>"
        );
    }
    for (k, &x) in weights.iter().enumerate() {
        let (row, column) = (k / names.len(), k % names.len());
        let light = if top > 0.0 { (255.0 * (1.0 - x.abs() / top)) as u8 } else { 255 };
        let colour = if x < 0.0 {
            format!("rgb(255,{light},{light})")
        } else {
            format!("rgb({light},{light},255)")
        };
        let title = format!("{} → {}: {}", names[row], names[column], number(x));
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{colour}\" stroke=\"#ddd\"><title>{}</title></rect>",
            edge + column * CELL,
            edge + row * CELL,
            escaped(&title)
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_and_pictures_have_every_pair_at_its_place() {
        let names = ["<a>", "b"].map(String::from);
        let weights = [1.0, -0.5, 0.0, 0.25];
        let text = shades(&names, &weights, 1.0);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2..4], ["  <a>  █ -▒", "  b       ░"]);
        let svg = picture(&names, &weights, 1.0);
        assert_eq!(svg.matches("<title>").count(), 4);
        assert!(svg.contains("&lt;a&gt; → b: -0.5") && svg.contains("rgb(0,0,255)"));
        assert!(shades(&names, &[0.0; 4], 0.0).contains("  b"));
    }

    #[test]
    fn words_have_as_many_columns_as_features_need() {
        assert_eq!(tokens("He runs.", 1).unwrap(), [["He"], ["runs"], ["."]]);
        assert_eq!(tokens("a/b/NN c/VB", 2).unwrap(), [["a/b", "NN"], ["c", "VB"]]);
        assert!(tokens("He runs/VB", 2).is_err());
    }
}
