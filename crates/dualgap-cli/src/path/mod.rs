//! `dualgap path`: models for every λ of an interval, or for every σ or radius of a grid, as files, a table and a plot.
//!
//! - [`folder`]: the folder for all of it.
//! - [`told`]: the reports of a path: the object of `path.json`, `path.tsv`, and the table on the terminal.
//! - [`grid`]: a path over a grid of σ or radii.
//! - [`plot`]: the drawing of `path.svg`.
//! - [`check`]: the verification of a path by `dualgap certify FOLDER DATA`; [`claim`]: what there is to verify.

pub mod check;
pub mod claim;
mod folder;
mod grid;
mod plot;
mod told;

use crate::args::{Common, PathArgs};
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::options::{TaskOptions, Work};
use crate::progress::Bar;
use crate::words::to_json;
use crate::{Outcome, places, print};
use dualgap::run::{Budget, Observer};
use dualgap::task::{Ending, Model, Over};
use dualgap::{Error, Result};
use folder::Folder;
use std::io::IsTerminal;
use std::time::Instant;
use told::{Entry, Told};

impl Work for PathArgs {
    fn common(&self) -> Common<'_> {
        let Self { data, penalty, method, ball, .. } = self;
        // Every number of the path takes the place of this one.
        let (lambda, l1) = self.ends.strengths(self.over(), penalty.sigma());
        let (ball, radius) = (Some(ball), Some(1.0));
        Common { data, penalty, method, ball, lambda, l1, radius, to_accuracy: false }
    }

    fn run_under_kernel<T: TaskOptions>(&self, _: &T) -> Result<Outcome> {
        Err(Error::setting(
            "--kernel does not go with path: a model under a kernel is for one lambda; train it at each, or let cv choose",
        ))
    }

    fn run<T: TaskOptions>(&self, task: &T) -> Result<Outcome> {
        self.check()?;
        self.common().check(false)?;
        places::check_not_inputs(std::iter::once(&self.output), &self.data)?;
        let mut folder = Folder::new(&self.output)?;
        let job = Job::read(self.common(), task)?;
        if self.ends.over(job.spec.penalty) != Over::Lambda {
            return grid::run(self, &job, folder);
        }
        let wanted = self.wanted(job.total()?, job.method.clone())?;
        stop_on_ctrl_c(&wanted.budget.interrupt);
        let begin = Instant::now();
        let mut entries = Vec::new();
        let shown = !self.quiet && std::io::stderr().is_terminal();
        let observe =
            |budget: &Budget| shown.then(|| Box::new(Bar::new(budget)) as Box<dyn Observer>);
        let covered = job.task()?.path(&job.train.data, &wanted, observe, |piece| {
            let recipe = Some(job.train.recipe.clone());
            let mut model = Model { witness: None, ..piece.report.model.clone() };
            model.provenance.recipe = recipe;
            if self.witness {
                model.witness.clone_from(&piece.report.model.witness);
            }
            let error = job.test(&model)?.map(|(evaluation, _)| evaluation.error());
            let entry = Entry::new(piece, entries.len(), wanted.tolerance, error)?;
            folder.save(&entry.file, &model)?;
            entries.push((entry, piece.reach));
            Ok(())
        })?;
        let told = Told::new(&job, &wanted, covered, &entries);
        if !entries.is_empty() {
            folder.write(told::TABLE, &told.tsv())?;
            folder.write(told::PLOT, &plot::svg(&told, &entries))?;
            // This file is written last: a folder that has it is complete.
            folder.write(told::JSON, &to_json(&told))?;
            folder.finish()?;
        }
        if self.json {
            print(&to_json(&told))?;
        } else if !self.quiet {
            print(&told.text(covered, &self.output, begin.elapsed().as_secs_f64()))?;
        }
        Ok(match covered.ending {
            Ending::Whole => Outcome::Reached,
            Ending::Short { .. } => Outcome::NotReached,
        })
    }
}
