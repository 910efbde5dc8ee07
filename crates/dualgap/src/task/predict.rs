//! Predictions for a file: one line for each, or a column file with one more column, or a CoNLL-U file with its column
//! filled in.

use super::Model;
use crate::data::features::{Extractor, Portions};
use crate::data::{Format, Recipe, Sentence, Sequences, Sink, Source, Unseen};
use crate::structure::evaluation::Strangers;
use crate::structure::{Purpose, Ranked, Structure, Table};
use crate::{Error, Result};
use std::fmt::Write;

/// More labelings than anybody reads; it keeps a slip of the finger from taking all memory.
const MOST_RANKED: usize = 10_000;

/// What to write.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The folds of the file to predict; the whole file if absent.
    pub folds: Option<Vec<u8>>,
    /// Whether to write the scores behind each prediction.
    pub scores: bool,
    /// Whether to write the probabilities of the labels.
    pub probabilities: bool,
    /// How many of the best labelings of a sequence to write, each after a line with its rank, score, margin and
    /// probability; without a number the best alone, without such a line.
    pub n_best: Option<usize>,
}

/// What the file has that the model did not see in training.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    /// Features; labels are ignored.
    pub unseen: Unseen,
    /// Users and items, for models of ratings.
    pub strangers: Strangers,
    /// Whether the last column was taken for labels, of which the model knows none.
    pub strange: bool,
}

/// Returns an error if models of a structure do not have what is requested beside the predictions.
pub(super) fn check_request<S: Structure>(structure: &S, request: &Request) -> Result<()> {
    if request.scores {
        structure.check_scores()?;
    }
    if request.probabilities {
        structure.check_probabilities()?;
    }
    if let Some(count) = request.n_best {
        structure.check_n_best()?;
        if count == 0 || count > MOST_RANKED {
            return Err(Error::setting(format!(
                "the number of labelings of a sequence is from 1 to {MOST_RANKED}, not {count}"
            )));
        }
        if request.scores || request.probabilities {
            return Err(Error::setting(
                "each of the best labelings has its score and its probability: leave out those of single labels",
            ));
        }
    }
    Ok(())
}

/// Writes the predictions of a file. A column file is returned with one more column, a CoNLL-U file with the column of
/// the label replaced; other data give one line per
/// prediction, with an empty line after each sequence.
pub(super) fn write_predictions<S: Structure>(
    model: &Model<S>,
    source: Source<'_>,
    request: &Request,
    sink: &mut Sink,
) -> Result<Predictions> {
    check_request(&model.task.structure, request)?;
    let recipe = Recipe { folds: request.folds.clone(), ..model.recipe()?.clone() };
    if let Format::Columns(columns) = &recipe.format
        && recipe.folds.is_none()
    {
        let extractor = Extractor::new(columns, model.names.vocabulary())?;
        return label_columns(model, &extractor, source, request, sink);
    }
    let loaded = model.task.structure.read(&recipe, source, Purpose::Predict(&model.names))?;
    if let Some(count) = request.n_best {
        for ranked in ranked(model, &loaded.data, count)? {
            for (head, lines) in ranked {
                sink.text(&format!("{head}\n{}\n\n", lines.join("\n")))?;
            }
        }
        return Ok(Predictions {
            unseen: Unseen { labels: Vec::new(), ..loaded.unseen },
            ..Predictions::default()
        });
    }
    for lines in spelled(model, &loaded.data, request)? {
        for line in &lines {
            sink.text(line)?;
            sink.text("\n")?;
        }
        if S::SEQUENCES {
            sink.text("\n")?;
        }
    }
    let unseen = Unseen { labels: Vec::new(), ..loaded.unseen };
    let strangers = model.task.structure.strangers(model.fitted(), &loaded.data);
    Ok(Predictions { unseen, strangers, strange: false })
}

/// Returns the lines of every prediction, with scores and probabilities if they were requested.
fn spelled<S: Structure>(
    model: &Model<S>,
    data: &S::Data,
    request: &Request,
) -> Result<Vec<Vec<String>>> {
    let scores = request.scores.then(|| model.scores(data)).transpose()?;
    let probabilities = request.probabilities.then(|| model.probabilities(data)).transpose()?;
    let more: Vec<Table> = scores.into_iter().chain(probabilities).collect();
    let outputs = model.predict(data)?;
    // A model that was trained in another scheme answers in that of its file.
    let scheme = match model.provenance.recipe.as_ref().map(|recipe| &recipe.format) {
        Some(Format::Columns(columns)) => columns.scheme.and_then(|scheme| scheme.file),
        _ => None,
    };
    // Tables have a row for every line: for every example, or for every position of every sequence.
    let mut row = 0;
    let lines = outputs.iter().map(|output| {
        let mut lines = model.task.structure.spell(&model.names, output);
        if let Some(scheme) = scheme {
            lines = scheme.convert(&lines);
        }
        for line in &mut lines {
            for number in more.iter().flat_map(|table| table.row(row)) {
                let _ = write!(line, "\t{number}");
            }
            row += 1;
        }
        lines
    });
    Ok(lines.collect())
}

/// A line about a labeling, and its labels.
type Told = (String, Vec<String>);

/// Returns the best labelings of every sequence: a line about each, and its labels.
fn ranked<S: Structure>(model: &Model<S>, data: &S::Data, count: usize) -> Result<Vec<Vec<Told>>> {
    // The margin of the best is one to the second.
    let ranked = model.n_best(data, count.max(2))?.into_iter().map(|all| {
        let told = all.iter().take(count).enumerate().map(|(k, one)| {
            let probability =
                one.probability.map_or_else(String::new, |p| format!(" probability {p}"));
            let (rank, margin) = (k + 1, Ranked::margin(&all, k));
            let head = format!("# {rank} score {} margin {margin}{probability}", one.score);
            (head, model.task.structure.spell(&model.names, &one.output))
        });
        told.collect()
    });
    Ok(ranked.collect())
}

/// Labels a column file portion by portion, so that a stream can have any length. Of a stream, what is labelled is
/// passed on before more is read.
fn label_columns<S: Structure>(
    model: &Model<S>,
    extractor: &Extractor<'_>,
    source: Source<'_>,
    request: &Request,
    sink: &mut Sink,
) -> Result<Predictions> {
    let mut portions = extractor.portions(source)?;
    let labelled = extractor.has_labels(&portions)?;
    let page = Page::new(extractor, &portions, request);
    let mut all = Predictions { strange: labelled, ..Predictions::default() };
    let mut text = String::new();
    while let Some(sentences) = portions.next_portion()? {
        let (sequences, unseen) = extractor.sequences(&sentences, labelled)?;
        all.unseen.met += unseen.met;
        all.unseen.features += unseen.features;
        let known = |&label: &u16| usize::from(label) < model.names.alphabet.len();
        all.strange &= !sequences.labels().iter().any(known);
        if let Some(count) = request.n_best {
            let data = S::of_sequences(sequences).ok_or_else(no_columns)?;
            for (sentence, ranked) in sentences.iter().zip(ranked(model, &data, count)?) {
                for (head, lines) in ranked {
                    text.clear();
                    text.push_str(&head);
                    text.push('\n');
                    page.write(sentence, lines.into_iter(), &mut text);
                    sink.bytes(&extractor.encoding().bytes(&text))?;
                }
            }
            if portions.is_live() {
                sink.flush()?;
            }
            continue;
        }
        let mut lines = positions(model, sequences, request)?.into_iter().flatten();
        for sentence in &sentences {
            text.clear();
            page.write(sentence, lines.by_ref(), &mut text);
            sink.bytes(&extractor.encoding().bytes(&text))?;
        }
        if portions.is_live() {
            sink.flush()?;
        }
    }
    Ok(all)
}

/// How labelled sentences are written.
struct Page {
    separator: &'static str,
    /// The column that the predictions replace, of a CoNLL-U file: it has no room for one more.
    replaced: Option<usize>,
}

impl Page {
    fn new(extractor: &Extractor<'_>, portions: &Portions<'_>, request: &Request) -> Self {
        let label = extractor.label_column();
        // Scores and probabilities need columns that CoNLL-U does not have.
        let plain = !request.scores && !request.probabilities;
        let fits = extractor.picks() && portions.is_conllu() && label < portions.columns();
        Self {
            separator: if portions.tabs() { "\t" } else { " " },
            replaced: (plain && fits).then_some(label),
        }
    }

    /// Writes a sentence with its predictions, each the end of a line, and an empty line after it.
    fn write(
        &self,
        sentence: &Sentence,
        mut lines: impl Iterator<Item = String>,
        text: &mut String,
    ) {
        for t in 0..sentence.len() {
            self.write_others(sentence, t, text);
            let line = lines.next().unwrap_or_default();
            for column in 0..sentence.width() {
                let predicted = self.replaced == Some(column);
                text.push_str(if predicted { &line } else { sentence.cell(t, column) });
                let last = self.replaced.is_some() && column + 1 == sentence.width();
                text.push_str(if last { "" } else { self.separator });
            }
            text.push_str(if self.replaced.is_some() { "" } else { &line });
            text.push('\n');
        }
        self.write_others(sentence, sentence.len(), text);
        text.push('\n');
    }

    /// Writes what a CoNLL-U file has between its tokens.
    fn write_others(&self, sentence: &Sentence, token: usize, text: &mut String) {
        for line in sentence.others(token).filter(|_| self.replaced.is_some()) {
            text.push_str(line);
            text.push('\n');
        }
    }
}

/// Returns the lines of all positions of every sequence, in order.
fn positions<S: Structure>(
    model: &Model<S>,
    sequences: Sequences,
    request: &Request,
) -> Result<Vec<Vec<String>>> {
    match S::of_sequences(sequences) {
        Some(data) => spelled(model, &data, request),
        None => Err(no_columns()),
    }
}

pub(super) fn no_columns() -> Error {
    Error::setting("models of this structure do not predict column files")
}
