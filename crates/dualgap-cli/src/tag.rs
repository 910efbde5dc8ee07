//! `dualgap tag`: labels a stream of sentences as they come.

use crate::args::TagArgs;
use crate::places::check_not_read;
use crate::predict::load_to_predict;
use crate::report::unseen_row;
use crate::{Outcome, Tasks};
use dualgap::Result;
use dualgap::data::{Sink, Source};
use dualgap::task::Tagging;
use std::io::Write;
use std::path::Path;

pub fn run(args: &TagArgs, tasks: &Tasks) -> Result<Outcome> {
    let model = load_to_predict(&args.model, tasks)?;
    let place = args.to.as_deref().unwrap_or(Path::new("-"));
    check_not_read(place, &[&args.data, &args.model])?;
    let tagging =
        Tagging { input: args.input.into(), output: args.output.into(), threads: args.threads };
    let source = Source::open(&args.data)?;
    let mut sink = Sink::create(place)?;
    let found = model.tag(source, &tagging, &mut sink)?;
    sink.finish()?;
    // The program ends here, and freeing hundreds of thousands of names would take longer than most predictions.
    std::mem::forget(model);
    if let Some((_, told)) = unseen_row(&found.unseen).filter(|_| !args.quiet) {
        let _ = writeln!(std::io::stderr(), "not seen in training: {told}");
    }
    Ok(Outcome::Reached)
}
