//! A path over a grid of σ or radii: a certified model at each of them.

use super::folder::Folder;
use super::plot;
use super::told::{self, Entry, Told};
use crate::args::{COUNT, PathArgs};
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::progress::Bar;
use crate::words::{aligned, number, thousands, to_json, trimmed};
use crate::{Outcome, print};
use dualgap::Result;
use dualgap::data::DataSet;
use dualgap::run::{Budget, Observer, Stop};
use dualgap::structure::Structure;
use dualgap::task::Model;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

/// Trains the models, and writes the folder.
pub fn run<S: Structure>(args: &PathArgs, job: &Job<'_, S>, mut folder: Folder) -> Result<Outcome> {
    let grid = args.ends.resolve(&job.spec, &job.train.data, args.count, COUNT)?;
    let (over, count) = (grid.over, grid.values.len());
    let ends =
        (grid.values[0].min(grid.values[count - 1]), grid.values[0].max(grid.values[count - 1]));
    let (tolerance, plan) = (args.tolerance(), args.each(job.method.clone()));
    stop_on_ctrl_c(&plan.budget.interrupt);
    let begin = Instant::now();
    let shown = !args.quiet && std::io::stderr().is_terminal();
    let observe = |budget: &Budget| shown.then(|| Box::new(Bar::new(budget)) as Box<dyn Observer>);
    let mut entries: Vec<Entry> = Vec::new();
    let stop = job.spec.grid_path(&job.train.data, grid, &plan, observe, |report| {
        let mut model = Model { witness: None, ..report.model.clone() };
        model.provenance.recipe = Some(job.train.recipe.clone());
        if args.witness {
            model.witness.clone_from(&report.model.witness);
        }
        let error = job.test(&model)?.map(|(evaluation, _)| evaluation.error());
        let entry = Entry::of_grid(report, over, entries.len(), tolerance, error)?;
        folder.save(&entry.file, &model)?;
        entries.push(entry);
        Ok(())
    })?;
    let within = entries.iter().all(|entry| entry.worst_gap <= tolerance.limit());
    let told = Told {
        task: job.name.into(),
        error_kind: job.spec.structure.error_kind(),
        over,
        n: job.train.data.len(),
        from: ends.0,
        to: ends.1,
        tolerance,
        covered_from: entries.iter().map(|entry| entry.interval.from).reduce(f64::min),
        complete: stop.is_none() && within,
        passes: entries.iter().map(|entry| entry.passes).sum(),
        version: env!("CARGO_PKG_VERSION").into(),
        models: entries,
    };
    if !told.models.is_empty() {
        folder.write(told::TABLE, &told.tsv())?;
        folder.write(told::PLOT, &plot::grid_svg(&told))?;
        folder.write(told::JSON, &to_json(&told))?;
        folder.finish()?;
    }
    if args.json {
        print(&to_json(&told))?;
    } else if !args.quiet {
        print(&text(&told, stop, count, &args.output, begin.elapsed().as_secs_f64()))?;
    }
    Ok(if told.complete { Outcome::Reached } else { Outcome::NotReached })
}

/// Returns the report for people.
fn text(told: &Told, stop: Option<Stop>, count: usize, folder: &Path, seconds: f64) -> String {
    let saved = if told.models.is_empty() {
        "nothing".into()
    } else {
        format!("{}: models, {}, {} and {}", folder.display(), told::TABLE, told::JSON, told::PLOT)
    };
    let rows = [
        ("task", told.task.clone()),
        ("examples", thousands(told.n as u64)),
        (told.over.name(), format!("{count} from {} to {}", number(told.to), number(told.from))),
        ("models", thousands(told.models.len() as u64)),
        ("work", format!("{} passes in {seconds:.2} s", trimmed(told.passes))),
        ("saved", saved),
    ];
    let late = told.models.iter().filter(|entry| entry.worst_gap > told.tolerance.limit()).count();
    let verdict = match late {
        0 => told.certified_grid(),
        _ => format!(
            "{late} of {} models are NOT within the tolerance: allow more passes.",
            told.models.len()
        ),
    };
    let end = stop.map_or_else(String::new, |stop| {
        let why = if stop == Stop::Interrupted { "it was interrupted" } else { "the time was up" };
        format!("\nThe path ends after {} of {count} models: {why}.", told.models.len())
    });
    format!("{}\n{}\n{verdict}{end}\n", aligned(&rows), told.lines())
}
