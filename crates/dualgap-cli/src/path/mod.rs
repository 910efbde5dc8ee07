//! `dualgap path`: models for every λ of an interval, as files, a table and a plot.
//!
//! - [`folder`]: the folder for all of it.
//! - [`told`]: the reports of a path: the object of `path.json`, `path.tsv`, and the table on the terminal.
//! - [`plot`]: the drawing of `path.svg`.
//! - [`check`]: the verification of a path by `dualgap certify FOLDER DATA`.

pub mod check;
mod folder;
mod plot;
mod told;

use crate::args::{Common, Examples, PathArgs, Work};
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::problem::{Dataset, Problem};
use crate::progress::Bar;
use crate::report::{Outcomes, to_json};
use crate::{Outcome, places, print};
use dualgap::Result;
use dualgap::model::path::{Ending, Piece, path};
use dualgap::model::{Model, Plan};
use dualgap::run::{Budget, Report};
use folder::Folder;
use std::io::IsTerminal;
use std::time::Instant;
use told::{Entry, Told};

impl Work for PathArgs {
    const EXAMPLES: Examples = Examples {
        binary: "\
Examples:
  dualgap path binary DATA.svm --from 0.1 --to 1e-4 -o FOLDER
  dualgap path binary DATA.svm --loss logistic --l1 0.001 --test TEST.svm --witness -o FOLDER
  dualgap certify FOLDER DATA.svm",
        regression: "\
Examples:
  dualgap path regression DATA.svm --from 100/n --to 1/n --intercept --test TEST.svm -o FOLDER",
        multiclass: "\
Examples:
  dualgap path multiclass DATA.svm --tolerance 0.05 --test TEST.svm -o FOLDER",
        multilabel: "",
        multioutput: "",
        chain: "\
Examples:
  dualgap path chain TRAIN.txt --from 100/n --to 10/n --tolerance 0.05 --test TEST.txt -o FOLDER",
    };

    fn common(&self) -> Common<'_> {
        Common { data: &self.data, penalty: &self.penalty, method: &self.method, ball: None }
    }

    fn run<P: Problem>(&self, problem: P) -> Result<Outcome> {
        self.check()?;
        self.common().check(false)?;
        places::check_not_inputs(std::iter::once(&self.output), &self.data)?;
        let mut folder = Folder::new(&self.output)?;
        let job = Job::read(self.common(), problem)?;
        let wanted = self.wanted(job.total())?;
        stop_on_ctrl_c(&wanted.budget.interrupt);
        let begin = Instant::now();
        let (mut entries, mut passes) = (Vec::new(), 0.0);
        let covered = path(
            &wanted,
            |lambda, budget, near| {
                let report = self.fit(&job, lambda, budget, near)?;
                passes += report.passes;
                Ok(report)
            },
            |model| job.train.data.reach(model),
            |piece| {
                let entry =
                    Entry::new(piece, entries.len(), wanted.tolerance, error(&job, piece)?)?;
                folder.save(&entry.file, &piece.report.model, self.witness)?;
                entries.push((entry, piece.reach));
                Ok(())
            },
        )?;
        let told = Told::new(&job, &wanted, covered, &entries, passes);
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

impl PathArgs {
    fn fit<P: Problem>(
        &self,
        job: &Job<'_, P>,
        lambda: f64,
        budget: &Budget,
        near: Option<&Model>,
    ) -> Result<Report<Model>> {
        let settings = job.settings(lambda)?;
        let mut bar = (!self.quiet && std::io::stderr().is_terminal()).then(|| Bar::new(budget));
        let report = job.fit(Plan { warm_start: near, ..Plan::new(&settings, budget, &mut bar) });
        if let Some(bar) = &bar {
            bar.clear();
        }
        report
    }
}

/// Returns the fraction of wrong labels on the test data, or the root mean squared error.
fn error<P: Problem>(job: &Job<'_, P>, piece: &Piece) -> Result<Option<f64>> {
    let test = job.test(&piece.report.model)?;
    Ok(test.map(|(outcomes, _)| match outcomes {
        Outcomes::Labels(evaluation) => evaluation.error(),
        Outcomes::Numbers(errors) => errors.rmse,
        Outcomes::Sets(evaluation) => evaluation.figures().hamming_loss,
        Outcomes::Outputs(evaluation) => evaluation.figures().rmse,
    }))
}
