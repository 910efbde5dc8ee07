//! Labels for a stream of sentences: text, columns or JSON lines in, columns, JSON lines or spans out.
//!
//! ```text
//! text      a sentence a line                     columns   a token a line, then its label; an empty line after each sentence
//! columns   a token a line                        json      {"tokens": ["He", "runs"], "labels": ["B-NP", "B-VP"]}
//! json      {"tokens": ["He", "runs"]}, a list    spans     {"spans": [{"type": "NP", "start": 0, "end": 1, "text": "He"}, …]}
//!           of lists, or {"text": "He runs."};
//!           an "id" comes back with the answer
//! ```
//!
//! What is there is read, labelled on all threads, and written in order before more is read: so answers do not wait for
//! input that nobody has written yet, memory stays flat, and whoever writes too fast waits.

use super::Model;
use super::predict::{Predictions, Request, no_columns, write_predictions};
use crate::data::features::Extractor;
use crate::data::{Format, Sentence, Sink, Source, chunks, words};
use crate::linalg::parallel::{Pool, install};
use crate::structure::Structure;
use crate::structure::evaluation::ChunkEvaluation;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The number of sentences that are in memory at the same time.
const PORTION: usize = 4000;

/// More columns than any file has whose words are given alone.
const WIDEST: usize = 1000;

/// How sentences are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputForm {
    /// A sentence a line, which is split into words.
    #[default]
    Text,
    /// A token a line, with its columns.
    Columns,
    /// A JSON object a line.
    Json,
}

/// How labelled sentences are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputForm {
    /// A token a line, its label last.
    #[default]
    Columns,
    /// A JSON object a line, with tokens and labels.
    Json,
    /// A JSON object a line, with the chunks that the labels make.
    Spans,
}

/// How a stream is labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tagging {
    /// What comes in.
    pub input: InputForm,
    /// What goes out.
    pub output: OutputForm,
    /// The number of threads; 0 for all.
    pub threads: usize,
}

/// A sentence that was read.
#[derive(Default)]
struct Read {
    tokens: Vec<Vec<String>>,
    line: u64,
    /// The text, and where the tokens begin and end in it, in bytes.
    text: Option<(String, Vec<(usize, usize)>)>,
    id: Option<Value>,
}

/// A line of JSON.
#[derive(Deserialize)]
struct Given {
    id: Option<Value>,
    text: Option<String>,
    tokens: Option<Vec<Token>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Token {
    Word(String),
    Columns(Vec<String>),
}

#[derive(Serialize)]
struct Labelled<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    tokens: Vec<&'a str>,
    labels: &'a [String],
}

#[derive(Serialize)]
struct Spanned<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    spans: Vec<Span<'a>>,
}

/// A chunk: its tokens from `start` to before `end`, and the characters of the text from `from` to before `to`.
#[derive(Serialize)]
struct Span<'a> {
    r#type: &'a str,
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<usize>,
    text: String,
}

/// Labels a stream, and returns what the model did not know.
pub(super) fn tag<S: Structure>(
    model: &Model<S>,
    mut source: Source<'_>,
    tagging: &Tagging,
    sink: &mut Sink,
) -> Result<Predictions> {
    let pool = Pool::new(tagging.threads)?;
    let Format::Columns(recipe) = &model.recipe()?.format else {
        return Err(Error::setting(
            "a stream of sentences is labelled by a model of a column file: this one was trained on another format",
        ));
    };
    let names = model.names.alphabet.names();
    if tagging.output == OutputForm::Spans && !ChunkEvaluation::applies(names) {
        return Err(Error::setting(
            "the labels of this model make no spans, as B-NP and I-NP do: take columns or JSON lines in their place",
        ));
    }
    if (tagging.input, tagging.output) == (InputForm::Columns, OutputForm::Columns) {
        let predict = || write_predictions(model, source, &Request::default(), sink);
        return install(&pool, predict);
    }
    let extractor = Extractor::new(recipe, model.names.vocabulary())?;
    let inputs = extractor.inputs();
    if extractor.width() > WIDEST && tagging.input != InputForm::Columns {
        return Err(Error::setting("the model picks columns of a very wide file: give columns"));
    }
    if tagging.input == InputForm::Text && inputs > 1 {
        return Err(Error::setting(format!(
            "the features of this model are made of {inputs} columns, and text has words alone: give columns or JSON lines, \
             or train a model on words and labels"
        )));
    }
    let mut all = Predictions::default();
    let mut answer = |sentences: &[Sentence], read: &[Read], sink: &mut Sink| -> Result<()> {
        let (sequences, unseen) = install(&pool, || extractor.sequences(sentences, false))?;
        all.unseen.met += unseen.met;
        all.unseen.features += unseen.features;
        let data = S::of_sequences(sequences).ok_or_else(no_columns)?;
        let outputs = install(&pool, || model.predict(&data))?;
        let mut outputs = outputs.iter();
        for read in read {
            let output = if read.tokens.is_empty() { None } else { outputs.next() };
            let spell = |output| model.task.structure.spell(&model.names, output);
            let labels = output.map_or_else(Vec::new, spell);
            let text = written(read, &labels, tagging.output);
            if tagging.output == OutputForm::Columns && tagging.input == InputForm::Text {
                sink.bytes(&extractor.encoding().bytes(&text))?;
            } else {
                sink.text(&text)?;
            }
        }
        Ok(())
    };
    if tagging.input == InputForm::Columns {
        let mut portions = extractor.portions(source)?;
        extractor.has_labels(&portions)?;
        while let Some(sentences) = install(&pool, || portions.next_portion())? {
            let read: Vec<Read> =
                sentences.iter().map(|sentence| of_columns(sentence, &extractor)).collect();
            answer(&sentences, &read, sink)?;
            if portions.is_live() {
                sink.flush()?;
            }
        }
        return Ok(all);
    }
    if tagging.input == InputForm::Text {
        source = source.encoded(extractor.encoding());
    }
    while let Some(read) = next_portion(&mut source, tagging.input, inputs)? {
        let full = read.iter().filter(|read| !read.tokens.is_empty());
        let sentences: Vec<Sentence> =
            full.map(|read| extractor.sentence(&read.tokens, read.line)).collect();
        answer(&sentences, &read, sink)?;
        if source.is_live() {
            sink.flush()?;
        }
    }
    Ok(all)
}

/// Reads the next lines: of a stream those that are there.
fn next_portion(
    source: &mut Source<'_>,
    input: InputForm,
    inputs: usize,
) -> Result<Option<Vec<Read>>> {
    let mut portion = Vec::new();
    while portion.len() < PORTION
        && (!source.is_live() || portion.is_empty() || source.has_line()?)
        && let Some(line) = source.next_line()?
    {
        let read = match input {
            InputForm::Json => of_json(line, inputs),
            _ => Ok(of_text(line.to_string())),
        };
        let mut read = read.map_err(|(message, cause)| {
            let error = source.error(
                message,
                "a line is an object such as {\"tokens\": [\"He\", \"runs\"]} or {\"text\": \"He runs.\"}",
            );
            cause.into_iter().fold(error, Error::caused_by)
        })?;
        read.line = source.line_number();
        portion.push(read);
    }
    Ok((!portion.is_empty()).then_some(portion))
}

fn of_text(text: String) -> Read {
    let places = words(&text);
    let tokens = places.iter().map(|&(from, to)| vec![text[from..to].to_string()]).collect();
    Read { tokens, text: Some((text, places)), ..Read::default() }
}

/// Returns what a line has, or what is wrong with it and the error behind that.
fn of_json(line: &str, inputs: usize) -> Result<Read, (String, Option<serde_json::Error>)> {
    let few = || {
        format!(
            "the features of the model are made of {inputs} columns, and there are not as many for every token"
        )
    };
    let given: Given = serde_json::from_str(line)
        .map_err(|error| (format!("no such object: {error}"), Some(error)))?;
    let read = match (given.tokens, given.text) {
        (Some(tokens), None) => {
            let columns = tokens.into_iter().map(|token| match token {
                Token::Word(word) => vec![word],
                Token::Columns(columns) => columns,
            });
            Read { tokens: columns.collect(), ..Read::default() }
        }
        (None, Some(text)) => of_text(text),
        _ => return Err(("either `tokens` or `text` is needed".into(), None)),
    };
    if read.tokens.iter().any(|columns| columns.len() < inputs.max(1)) {
        return Err((few(), None));
    }
    Ok(Read { id: given.id, ..read })
}

fn of_columns(sentence: &Sentence, extractor: &Extractor<'_>) -> Read {
    let tokens = (0..sentence.len()).map(|t| vec![extractor.word(sentence, t).to_string()]);
    Read { tokens: tokens.collect(), ..Read::default() }
}

/// Returns a sentence with its labels as text.
fn written(read: &Read, labels: &[String], output: OutputForm) -> String {
    let id = read.id.as_ref();
    let word = |t: usize| read.tokens[t].first().map_or("", |word| &word[..]);
    let object = match output {
        OutputForm::Columns => {
            let mut text = String::new();
            for (columns, label) in read.tokens.iter().zip(labels) {
                // A tab or a line end within a cell would break the columns.
                let cell = |cell: &String| cell.replace(['\t', '\n', '\r'], " ");
                let cells: Vec<String> = columns.iter().map(cell).collect();
                text.push_str(&cells.join("\t"));
                text.push('\t');
                text.push_str(label);
                text.push('\n');
            }
            return text + "\n";
        }
        OutputForm::Json => {
            let tokens = (0..labels.len()).map(word).collect();
            serde_json::to_string(&Labelled { id, tokens, labels })
        }
        OutputForm::Spans => {
            let spans = chunks(labels).into_iter().map(|(start, end, kind)| {
                let of_text = read.text.as_ref().map(|(text, places)| {
                    let (from, to) = (places[start].0, places[end - 1].1);
                    let before = text[..from].chars().count();
                    (before, before + text[from..to].chars().count(), text[from..to].to_string())
                });
                let joined = || (start..end).map(word).collect::<Vec<_>>().join(" ");
                let (from, to, text) = match of_text {
                    Some((from, to, text)) => (Some(from), Some(to), text),
                    None => (None, None, joined()),
                };
                Span { r#type: kind, start, end, from, to, text }
            });
            let text = read.text.as_ref().map(|(text, _)| &text[..]);
            serde_json::to_string(&Spanned { id, text, spans: spans.collect() })
        }
    };
    // Names and text are strings, which JSON always holds.
    object.unwrap_or_default() + "\n"
}
