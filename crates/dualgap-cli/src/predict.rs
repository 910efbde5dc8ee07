//! `dualgap predict`: predicts labels or numbers with a model.

use crate::args::{Folds, PredictArgs};
use crate::places::check_not_read;
use crate::report::unseen_row;
use crate::{Outcome, completion};
use dualgap::data::features::Extractor;
use dualgap::data::{Examples, Format, Loaded, Recipe, Sequences, Sink, Source, Unseen};
use dualgap::linalg::kernels::argmax;
use dualgap::model::{Model, Structure};
use dualgap::term::{MulticlassLoss, ScalarLoss};
use dualgap::{Error, Result};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Predicts for a file. A column file is returned with one more column; other data give one label per line, with an
/// empty line after each sequence.
pub fn run(args: &PredictArgs) -> Result<Outcome> {
    let (model, recipe) = load(&args.model)?;
    if let Structure::Completion { .. } = model.structure {
        return completion::models::predict(&model, &recipe, args);
    }
    let recipe = chosen(recipe, args.folds.as_ref());
    check_asked(&model, args)?;
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    check_not_read(output, &[&args.data, &args.model])?;
    let source = Source::open(&args.data)?;
    let mut sink = Sink::create(output)?;
    let unseen = match &recipe.format {
        Format::Columns(columns) if recipe.folds.is_none() => {
            let extractor = Extractor::new(columns, model.vocabulary())?;
            label_columns(&model, &extractor, source, args, &mut sink)?
        }
        _ => match read(&model, &recipe, source)? {
            Data::Examples(loaded) => {
                label_examples(&model, &loaded.data, args, &mut sink)?;
                loaded.unseen
            }
            Data::Sequences(loaded) => {
                for labels in model.predict_sequences(&loaded.data) {
                    for label in labels {
                        sink.text(&model.alphabet.names()[label])?;
                        sink.text("\n")?;
                    }
                    sink.text("\n")?;
                }
                loaded.unseen
            }
        },
    };
    sink.finish()?;
    // Prediction ignores the labels of the data.
    let unseen = Unseen { labels: Vec::new(), ..unseen };
    if let Some((_, told)) = unseen_row(&unseen).filter(|_| !args.quiet) {
        // A failure to write to standard error cannot be reported anywhere.
        let _ = writeln!(std::io::stderr(), "not seen in training: {told}");
    }
    Ok(Outcome::Reached)
}

/// Returns an error for options that the model does not support: scores need a linear model or label sets, and
/// probabilities a logistic one.
fn check_asked(model: &Model, args: &PredictArgs) -> Result<()> {
    let linear = match model.structure {
        Structure::Linear { loss } | Structure::MultiLabel { loss } => Some(loss),
        _ => None,
    };
    if args.scores && linear.is_none() {
        return Err(Error::setting("--scores is for models of binary, regression and multilabel"));
    }
    let softmax =
        matches!(model.structure, Structure::Multiclass { loss: MulticlassLoss::Softmax, .. });
    if args.probabilities && linear != Some(ScalarLoss::Logistic) && !softmax {
        return Err(Error::setting(
            "--probabilities is for models of the logistic loss and softmax; others have none",
        ));
    }
    Ok(())
}

/// Loads a model, and how its data file was read.
pub fn load(path: &Path) -> Result<(Model, Recipe)> {
    let model = Model::load(path)?;
    match model.provenance.recipe.clone() {
        Some(recipe) => Ok((model, recipe)),
        None => Err(Error::file(
            path,
            "does not say how its data file is read: it was trained from memory",
            "use it from the library, where its data are",
        )),
    }
}

/// Returns the recipe for data other than the training data.
pub fn chosen(recipe: Recipe, folds: Option<&Folds>) -> Recipe {
    Recipe { folds: folds.map(|folds| folds.0.clone()), ..recipe }
}

/// Data as the model takes them.
pub enum Data {
    Examples(Loaded<Examples>),
    Sequences(Loaded<Sequences>),
}

/// Reads data with the features and labels of a model.
pub fn read(model: &Model, recipe: &Recipe, source: Source<'_>) -> Result<Data> {
    let known = Some(model.vocabulary());
    match model.structure {
        Structure::Multiclass { .. }
        | Structure::Linear { .. }
        | Structure::MultiLabel { .. }
        | Structure::MultiOutput { .. }
        | Structure::Completion { .. } => recipe.examples(source, known).map(Data::Examples),
        Structure::Chain { .. } => recipe.sequences(source, known).map(Data::Sequences),
    }
}

/// Writes one label or number per line, or several separated by commas, followed by scores and probabilities if
/// requested.
fn label_examples(
    model: &Model,
    data: &Examples,
    args: &PredictArgs,
    sink: &mut Sink,
) -> Result<()> {
    if let Structure::MultiLabel { .. } = model.structure {
        return label_sets(model, data, args, sink);
    }
    if let Structure::MultiOutput { .. } = model.structure {
        for i in 0..data.len() {
            let numbers = model.predict_outputs(data.rows().row(i));
            let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
            sink.text(&(numbers.join(",") + "\n"))?;
        }
        return Ok(());
    }
    let Structure::Linear { loss } = model.structure else {
        for i in 0..data.len() {
            let scores = model.class_scores(data.rows().row(i));
            let (label, top) = argmax(scores.iter().copied());
            sink.text(&model.alphabet.names()[label])?;
            if args.probabilities {
                let sum: f64 = scores.iter().map(|s| (s - top).exp()).sum();
                for score in &scores {
                    sink.text(&format!("\t{}", (score - top).exp() / sum))?;
                }
            }
            sink.text("\n")?;
        }
        return Ok(());
    };
    for score in model.scores(data) {
        sink.text(&scored(model, loss, score, args))?;
        sink.text("\n")?;
    }
    Ok(())
}

/// Writes the labels of an example separated by commas, or an empty line if there are none; then the scores of all
/// labels in their order, and their probabilities, if requested.
fn label_sets(model: &Model, data: &Examples, args: &PredictArgs, sink: &mut Sink) -> Result<()> {
    for i in 0..data.len() {
        let scores = model.class_scores(data.rows().row(i));
        let there = model.alphabet.names().iter().zip(&scores).filter(|(_, score)| **score > 0.0);
        let names: Vec<&str> = there.map(|(name, _)| name.as_str()).collect();
        let mut line = names.join(",");
        for score in scores.iter().filter(|_| args.scores) {
            let _ = write!(line, "\t{score}");
        }
        for &score in scores.iter().filter(|_| args.probabilities) {
            let _ = write!(line, "\t{}", logistic(score));
        }
        line.push('\n');
        sink.text(&line)?;
    }
    Ok(())
}

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Returns the line for a score of a linear model: a label or the number, and what else was requested.
fn scored(model: &Model, loss: ScalarLoss, score: f64, args: &PredictArgs) -> String {
    let mut line = if loss.is_binary() {
        model.alphabet.names()[usize::from(score > 0.0)].clone()
    } else {
        score.to_string()
    };
    if args.scores {
        let _ = write!(line, "\t{score}");
    }
    if args.probabilities {
        let _ = write!(line, "\t{}", logistic(score));
    }
    line
}

/// Returns the predictions for every position.
fn told(model: &Model, data: &Sequences, args: &PredictArgs) -> Vec<Vec<String>> {
    let Structure::Linear { loss } = model.structure else {
        let names = |labels: Vec<usize>| {
            labels.into_iter().map(|label| model.alphabet.names()[label].clone()).collect()
        };
        return model.predict_sequences(data).into_iter().map(names).collect();
    };
    let line = |t: usize| scored(model, loss, model.score_row(data.rows().row(t)), args);
    data.starts().windows(2).map(|ends| (ends[0]..ends[1]).map(line).collect()).collect()
}

/// Labels a column file portion by portion, so that a stream can have any length.
fn label_columns(
    model: &Model,
    extractor: &Extractor<'_>,
    source: Source<'_>,
    args: &PredictArgs,
    sink: &mut Sink,
) -> Result<Unseen> {
    let mut portions = extractor.portions(source)?;
    let labelled = extractor.has_labels(&portions)?;
    let separator = if portions.tabs() { "\t" } else { " " };
    let mut all = Unseen::default();
    let mut strange = labelled;
    while let Some(sentences) = portions.next_portion()? {
        let (sequences, unseen) = extractor.sequences(&sentences, labelled)?;
        for (sentence, labels) in sentences.iter().zip(told(model, &sequences, args)) {
            for (t, label) in labels.iter().enumerate() {
                for column in 0..sentence.width() {
                    sink.text(sentence.cell(t, column))?;
                    sink.text(separator)?;
                }
                sink.text(label)?;
                sink.text("\n")?;
            }
            sink.text("\n")?;
        }
        all.met += unseen.met;
        all.features += unseen.features;
        let known = |&label: &u16| usize::from(label) < model.alphabet.len();
        strange &= !sequences.labels().iter().any(known);
    }
    if strange {
        let _ = writeln!(
            std::io::stderr(),
            "the last column was taken for labels, and the model knows none of them"
        );
    }
    Ok(all)
}
