//! `dualgap demo`: handwritten words, a structural SVM, a certificate, in a few seconds.

use crate::args::DemoArgs;
use crate::claim::{certificate_rows, certified_sentence};
use crate::interrupt::stop_on_ctrl_c;
use crate::progress::Bar;
use crate::words::{aligned, percent, thousands};
use crate::{Outcome, curve, print};
use dualgap::container::write_atomically;
use dualgap::data::{Format, Letters, Recipe, Source};
use dualgap::run::{Budget, Observer, Stop};
use dualgap::structure::Chain;
use dualgap::structure::evaluation::{Evaluation, LabelEvaluation};
use dualgap::task::{Plan, Task};
use dualgap::term::Penalty;
use dualgap::{Error, Result};
use std::fmt::Write as _;
use std::io::IsTerminal;

/// The OCR letters; NOTICE.md beside the file says where they are from.
const LETTERS: &[u8] = include_bytes!("../data/letters.data.gz");

/// Trains on folds 1 to 9, tests on fold 0, and leaves data and model in files for the user to verify.
pub fn run(args: &DemoArgs) -> Result<Outcome> {
    std::fs::create_dir_all(&args.output).map_err(|error| {
        Error::file(
            &args.output,
            format!("cannot be made: {error}"),
            "name another folder with --output",
        )
    })?;
    let (data_file, model_file) =
        (args.output.join("letters.data.gz"), args.output.join("letters.dualgap"));
    write_atomically(&data_file, LETTERS)?;

    let all = Letters::read(Source::from_bytes("the bundled letters", LETTERS)?)?;
    let folds: Vec<u8> = (1..=9).collect();
    let train = all.words.select(&all.in_folds(&folds));
    let test = all.words.select(&all.in_folds(&[0]));
    print(&format!(
        "Handwritten words, a label for each letter: {} words to train on, {} to test on.\n\
         A structural SVM, lambda = 0.01, trained until its gap is certified below 5 % …\n\n",
        thousands(train.len() as u64),
        thousands(test.len() as u64)
    ))?;

    let task = Task::new(Chain::default(), Penalty::ridge(0.01));
    // The run certifies after every pass, more often than it needs, so that the curve has enough points.
    let budget = Budget { certify_share: 1.0, ..Budget::relative(0.05) };
    stop_on_ctrl_c(&budget.interrupt);
    let mut bar = std::io::stderr().is_terminal().then(|| Bar::new(&budget));
    let observer: &mut dyn Observer = &mut bar;
    let report = task.fit(&train, Plan { observer: Some(observer), ..Plan::new(budget) });
    if let Some(bar) = bar {
        bar.clear();
    }
    let mut report = report?;
    report.model.provenance.recipe =
        Some(Recipe { folds: Some(folds), ..Recipe::whole(Format::Letters) });
    report.model.save(&model_file)?;

    let Evaluation::Labels(evaluation) = report.model.evaluate(&test)? else {
        return Err(Error::setting("the letters have no labels"));
    };
    let mut rows = certificate_rows(&report.certificate);
    rows.push((
        "time",
        format!(
            "{:.1} s solving ({} passes), {:.1} s certifying",
            report.solve_seconds, report.passes, report.certify_seconds
        ),
    ));
    let figures = evaluation.figures();
    rows.push((
        "test error",
        format!("{} of {} letters", percent(figures.error), thousands(figures.labels as u64)),
    ));
    rows.push(("confused", confusions(&evaluation)));

    let gaps: Vec<(f64, f64)> = report
        .history
        .iter()
        .map(|progress| (progress.passes, progress.certificate.relative_gap()))
        .filter(|&(_, gap)| gap > 0.0)
        .collect();
    let mut text = String::from("  The certified gap, as a fraction of the primal value:\n\n");
    text += &curve::draw(&gaps, percent, "passes");
    let _ = write!(
        text,
        "\n{}\n{}\n\nSaved {} with its witness. Check it again, from the data alone:\n\n  \
         dualgap certify {} {}\n\nThen try (with cargo: `cargo run --release --` in the place of dualgap):\n\n  \
         dualgap train chain {} --train-folds 1-9 --test-folds 0 --average weighted --passes 20\n  \
         dualgap train chain {} --train-folds 1-9 --test-folds 0 --lambda 0.001 --tolerance 0.02\n  \
         dualgap train --help\n",
        aligned(&rows),
        certified_sentence(&report.certificate),
        model_file.display(),
        model_file.display(),
        data_file.display(),
        data_file.display(),
        data_file.display(),
    );
    print(&text)?;
    Ok(if report.stop == Stop::GapReached { Outcome::Reached } else { Outcome::NotReached })
}

/// Returns the most frequent mistakes, in words.
fn confusions(evaluation: &LabelEvaluation) -> String {
    let most: Vec<String> = evaluation
        .most_confused()
        .iter()
        .take(6)
        .map(|(truth, predicted, count)| format!("{truth}→{predicted} {count}×"))
        .collect();
    format!("{}  (written → read)", most.join("  "))
}
