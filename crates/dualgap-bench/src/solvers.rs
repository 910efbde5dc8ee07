//! Every solver and setting on the same problems: oracle calls, steps and seconds until a gap of 10 %, 1 % and 0.1 % is
//! certified.

use crate::folder::Folder;
use crate::letters;
use crate::problem::Problem;
use clap::Args;
use dualgap::data::{Aligner, Bitext, ColumnRecipe, Matchings, Sequences};
use dualgap::dual::{self, Acceleration, Algorithm, Blocks, Cache, Direction, Sampling, Settings};
use dualgap::run::{Budget, Progress};
use dualgap::structure::{ChainBlocks, Choice, Hamming, LinearBlocks, LinkLoss, MatchingBlocks};
use dualgap::term::ScalarLoss;
use dualgap::{Error, Result};

/// Certified gaps, relative to the primal value.
const TOLERANCES: [f64; 3] = [0.1, 0.01, 0.001];

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    folder: Folder,
    /// letters, conll, hansards, a9a-hinge, a9a-logistic or reuters-hinge; all but letters need the data.
    #[arg(long, default_value = "letters")]
    problem: String,
    /// λ times n, or λ itself with --lambda.
    #[arg(long, default_value_t = 1.0)]
    lambda_n: f64,
    /// λ.
    #[arg(long)]
    lambda: Option<f64>,
    /// Only settings whose name has this in it.
    #[arg(long)]
    only: Option<String>,
    /// At most so many seconds a run.
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// How many threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Chains and matchings: a call of the oracle is said to take so many milliseconds, and counted so.
    #[arg(long)]
    oracle_ms: Option<f64>,
    /// Stop at this certified gap.
    #[arg(long, default_value_t = 0.001)]
    tolerance: f64,
}

/// All settings by name.
fn settings() -> Vec<(&'static str, Settings)> {
    use Direction::{Away, Pairwise};
    // All but the papers' own go with shrinking, as `auto` does.
    let shrinking = || Settings { shrinking: true, ..Settings::plain() };
    let on = Acceleration::On;
    vec![
        ("auto", Settings::default()),
        ("fw", Settings { method: Algorithm::Fw, ..Settings::plain() }),
        ("bcfw", Settings::plain()),
        ("bcfw, shrinking", shrinking()),
        ("bcfw, gaps", Settings { sampling: Sampling::Gap, ..shrinking() }),
        ("bcfw, cache", Settings { cache: Cache::On, ..shrinking() }),
        ("bcfw, accelerated", Settings { acceleration: on, ..shrinking() }),
        ("away", Settings { direction: Away, ..shrinking() }),
        (
            "away, cache, accelerated",
            Settings { direction: Away, cache: Cache::Auto, acceleration: on, ..shrinking() },
        ),
        ("pairwise", Settings { direction: Pairwise, ..shrinking() }),
        (
            "pairwise, gaps",
            Settings { direction: Pairwise, sampling: Sampling::Gap, ..shrinking() },
        ),
        ("pairwise, cache", Settings { direction: Pairwise, cache: Cache::Auto, ..shrinking() }),
        (
            "pairwise, accelerated",
            Settings { direction: Pairwise, acceleration: on, ..shrinking() },
        ),
        (
            "pairwise, cache, accelerated",
            Settings { direction: Pairwise, cache: Cache::Auto, acceleration: on, ..shrinking() },
        ),
    ]
}

pub fn run(options: &Options) -> Result<()> {
    let Options { problem, seconds, threads, tolerance, .. } = options;
    let lambda = match options.lambda {
        Some(lambda) => format!("--lambda {lambda}"),
        None => format!("--lambda-n {}", options.lambda_n),
    };
    let cost = options.oracle_ms.map_or(String::new(), |ms| format!(" --oracle-ms {ms}"));
    println!(
        "dualgap-bench solvers --problem {problem} {lambda} --seconds {seconds} --threads {threads} \
         --tolerance {tolerance}{cost}"
    );
    println!("  oracle calls in passes; steps in passes; seconds of solving and certifying");
    match problem.as_str() {
        "letters" => chain(&letters::words()?, options),
        "conll" => {
            let recipe = ColumnRecipe::preset("paper-conll2000")
                .ok_or_else(|| Error::setting("there is no preset of this name"))?;
            let file = options.folder.open("conll2000/train.txt.gz")?;
            chain(&recipe.read_training(file)?.0, options)
        }
        "hansards" => matching(&hansards(&options.folder)?.0, options),
        "a9a-hinge" => linear("a9a", ScalarLoss::Hinge, options),
        "a9a-logistic" => linear("a9a", ScalarLoss::Logistic, options),
        "reuters-hinge" => linear("reuters_corpacq.train", ScalarLoss::Hinge, options),
        other => Err(Error::setting(format!("there is no problem of the name {other}"))),
    }
}

fn chain(data: &Sequences, options: &Options) -> Result<()> {
    let blocks = ChainBlocks::new(data, Hamming::Normalized)?;
    match options.oracle_ms {
        Some(ms) => compare(&blocks.with_oracle_work(ms * 1e6), true, options),
        None => compare(&blocks, true, options),
    }
}

/// The graphs of the first hundred pairs with links, with features from all text at hand, and those of the other 347.
pub fn hansards(folder: &Folder) -> Result<(Matchings, Matchings)> {
    let text = |name: &str| Bitext::read(folder.open(&format!("hansards/{name}"))?);
    let (linked, trial, unlabelled) = (text("test")?, text("trial")?, text("unlabelled")?);
    let all = Aligner::learn(&[&linked, &trial, &unlabelled])?.graphs(&linked)?;
    let first = 100.min(all.len());
    let part = |range: std::ops::Range<usize>| all.select(&range.collect::<Vec<_>>());
    Ok((part(0..first), part(first..all.len())))
}

fn matching(data: &Matchings, options: &Options) -> Result<()> {
    let blocks = MatchingBlocks::new(data, LinkLoss::default())?;
    match options.oracle_ms {
        Some(ms) => compare(&blocks.with_oracle_work(ms * 1e6), true, options),
        None => compare(&blocks, true, options),
    }
}

fn linear(file: &'static str, loss: ScalarLoss, options: &Options) -> Result<()> {
    let data = options.folder.libsvm(file)?;
    let targets = Problem::targets(&data)?;
    compare(&LinearBlocks::new(data.rows(), targets, loss, Choice::I)?, false, options)
}

/// Compares the settings on these blocks, leaving out steps between known corners unless the blocks have an active set.
fn compare<B: Blocks>(blocks: &B, active_set: bool, options: &Options) -> Result<()> {
    let lambda = options.lambda.unwrap_or(options.lambda_n / blocks.len() as f64);
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only));
    for (name, settings) in settings().into_iter().filter(|(name, _)| wanted(name)) {
        let on_corners = settings.cache == Cache::On
            || matches!(settings.direction, Direction::Away | Direction::Pairwise);
        if on_corners && !active_set {
            continue;
        }
        let settings = Settings { lambda, threads: options.threads, ..settings };
        let budget =
            Budget { seconds: Some(options.seconds), ..Budget::relative(options.tolerance) };
        let report = dual::train(blocks, &settings, &budget, &mut ())?;
        let pass = blocks.len() as f64;
        let reached = TOLERANCES.map(|tolerance| {
            let met = |p: &&Progress| p.certificate.relative_gap() <= tolerance;
            report.history.iter().find(met).map_or_else(
                || format!("{:>24}", "–"),
                |p| {
                    let waited = options.oracle_ms.map_or(0.0, |ms| {
                        1e-3 * ms * p.work.oracle_calls as f64 / options.threads.max(1) as f64
                    });
                    format!(
                        "{:>7.0} {:>7.0} {:>8.2}",
                        p.passes,
                        p.work.steps as f64 / pass,
                        p.solve_seconds + p.certify_seconds + waited
                    )
                },
            )
        });
        println!(
            "  {name:<28} {} | {:.3} % | {}",
            reached.join(" |"),
            100.0 * report.certificate.relative_gap(),
            report.tactics.join("; ")
        );
    }
    println!();
    Ok(())
}
