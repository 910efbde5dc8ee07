//! `dualgap predict`: predicts labels or numbers with a model.

use crate::args::PredictArgs;
use crate::formats::from_memory;
use crate::places::check_not_read;
use crate::ratings::strangers_row;
use crate::report::unseen_row;
use crate::{Outcome, Tasks};
use dualgap::Result;
use dualgap::data::{Sink, Source};
use dualgap::structure::evaluation::Strangers;
use dualgap::task::{AnyModel, Predictor, Request};
use std::io::Write;
use std::path::Path;

/// Predicts for a file. A column file is returned with one more column; other data give one label per line, with an
/// empty line after each sequence.
pub fn run(args: &PredictArgs, tasks: &Tasks) -> Result<Outcome> {
    let model = load_to_predict(&args.model, tasks)?;
    let folds = args.folds.as_ref().map(|folds| folds.0.clone());
    let request = Request {
        folds,
        scores: args.scores,
        probabilities: args.probabilities,
        n_best: args.nbest,
    };
    model.check_request(&request)?;
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    check_not_read(output, &[&args.data, &args.model])?;
    let source = Source::open(&args.data)?;
    let mut sink = Sink::create(output)?;
    let found = model.predict(source, &request, &mut sink)?;
    sink.finish()?;
    // The program ends here, and freeing hundreds of thousands of names would take longer than most predictions.
    std::mem::forget(model);
    let strangers = Some(found.strangers).filter(|found| *found != Strangers::default());
    let rows = [unseen_row(&found.unseen), strangers.and_then(strangers_row)];
    // A failure to write to standard error cannot be reported anywhere.
    for (_, told) in rows.into_iter().flatten().filter(|_| !args.quiet) {
        let _ = writeln!(std::io::stderr(), "not seen in training: {told}");
    }
    if found.strange {
        let _ = writeln!(
            std::io::stderr(),
            "the last column was taken for labels, and the model knows none of them"
        );
    }
    Ok(Outcome::Reached)
}

/// Loads a model that says how its data file is read, to predict with it and for nothing else.
pub fn load_to_predict(path: &Path, tasks: &Tasks) -> Result<Predictor> {
    let model = tasks.registry().predictor(path)?;
    match model.provenance().recipe {
        Some(_) => Ok(model),
        None => Err(from_memory(path)),
    }
}

/// Loads a model that says how its data file is read.
pub fn load(path: &Path, tasks: &Tasks) -> Result<Box<dyn AnyModel>> {
    let model = tasks.registry().load(path)?;
    match model.provenance().recipe {
        Some(_) => Ok(model),
        None => Err(from_memory(path)),
    }
}
