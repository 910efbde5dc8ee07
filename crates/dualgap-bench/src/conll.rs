//! Text chunking, CoNLL-2000, with the features of the BCFW paper: n = 8,936, d = 1,643,026.

use crate::folder::Folder;
use clap::Args;
use dualgap::data::{ColumnRecipe, Extractor, Sequences};
use dualgap::dual::Average;
use dualgap::run::Budget;
use dualgap::structure::{Chain, Hamming};
use dualgap::task::{DualMethod, Plan, Task};
use dualgap::term::Penalty;
use dualgap::{Error, Result};
use std::time::Instant;

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    folder: Folder,
    /// How many passes.
    #[arg(long, default_value_t = 10)]
    passes: u64,
    /// λ times n.
    #[arg(long, default_value_t = 1.0)]
    lambda_n: f64,
    /// Count the wrong labels of a sentence, not their fraction.
    #[arg(long)]
    plain: bool,
    /// Keep every feature, however rare.
    #[arg(long)]
    every_feature: bool,
}

/// The sentences to train on and to test with, and the features of the BCFW paper.
pub fn split(folder: &Folder, every_feature: bool) -> Result<(Sequences, Sequences)> {
    let mut recipe = ColumnRecipe::preset("paper-conll2000")
        .ok_or_else(|| Error::setting("there is no preset of this name"))?;
    if every_feature {
        recipe.min_count = 1;
    }
    let (sequences, recipe) = recipe.read_training(folder.open("conll2000/train.txt.gz")?)?;
    let extractor = Extractor::new(&recipe, sequences.vocabulary())?;
    let (test, ..) = extractor.read(folder.open("conll2000/test.txt.gz")?)?;
    Ok((sequences, test))
}

pub fn run(options: &Options) -> Result<()> {
    let Options { folder, passes, lambda_n, plain, every_feature } = options.clone();
    println!(
        "dualgap-bench conll --passes {passes} --lambda-n {lambda_n}{}{}",
        if plain { " --plain" } else { "" },
        if every_feature { " --every-feature" } else { "" },
    );
    let start = Instant::now();
    let (sequences, test) = split(&folder, every_feature)?;
    println!("  reading and features: {:.2} s", start.elapsed().as_secs_f64());
    let lambda = lambda_n / sequences.len() as f64;
    let hamming = if plain { Hamming::Plain } else { Hamming::Normalized };
    let task = Task::new(Chain::new(hamming), Penalty::ridge(lambda));
    let method = DualMethod { average: Average::Weighted, ..DualMethod::default() };
    let budget = Budget::passes(passes);
    let plan = Plan { method: method.into(), threads: 1, ..Plan::new(budget) };
    let report = task.fit(&sequences, plan)?;
    let f1 = report.model.evaluate(&test)?.f1().unwrap_or(f64::NAN);
    println!(
        "  n = {}, d = {}; {:.2} s solving, {:.2} s certifying; primal {:.6}, dual {:.6}; F1 {:.2}\n",
        sequences.len(),
        report.model.weights.len(),
        report.solve_seconds,
        report.certify_seconds,
        report.certificate.primal,
        report.certificate.dual,
        100.0 * f1
    );
    Ok(())
}
