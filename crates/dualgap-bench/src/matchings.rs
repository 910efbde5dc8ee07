//! Matchings of generated graphs: the time of an oracle call, and the calls until a gap of 1 % is certified.

use clap::Args;
use dualgap::Result;
use dualgap::data::{Graph, GraphRef, Mark, Matchings};
use dualgap::dual::{self, Blocks, Settings};
use dualgap::linalg::{Random, Rows};
use dualgap::run::Budget;
use dualgap::structure::{LinkLoss, MatchingBlocks, MatchingOracle, OracleBlocks};
use std::hint::black_box;
use std::time::Instant;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Graphs.
    #[arg(long, default_value_t = 100)]
    graphs: usize,
    /// Rows and columns of each.
    #[arg(long, default_value_t = 30)]
    side: usize,
    /// Features of an edge.
    #[arg(long, default_value_t = 20)]
    features: usize,
    /// λ.
    #[arg(long, default_value_t = 0.01)]
    lambda: f64,
    /// A call of the oracle is said to take so many milliseconds, and counted so.
    #[arg(long)]
    oracle_ms: Option<f64>,
    /// Passes of the oracle alone.
    #[arg(long, default_value_t = 20)]
    passes: usize,
    /// Nothing but the oracle, for counting its instructions.
    #[arg(long)]
    oracle: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let Options { graphs, side, features, lambda, passes, .. } = *options;
    println!(
        "dualgap-bench matchings --graphs {graphs} --side {side} --features {features} --lambda {lambda} --passes {passes}"
    );
    let data = generate(options)?;
    let blocks = MatchingBlocks::new(&data, LinkLoss::default())?;
    let blocks = match options.oracle_ms {
        Some(ms) => blocks.with_oracle_work(1e6 * ms),
        None => blocks,
    };
    let settings = |settings: Settings| Settings { lambda, threads: 1, ..settings };
    // The oracle is slower or faster with the scores: weights of zero, and those of a run.
    let trained =
        dual::train(&blocks, &settings(Settings::default()), &Budget::passes(20), &mut ())?;
    for (name, w) in [("zero", vec![0.0; features]), ("trained", trained.model.weights)] {
        let seconds = oracle_passes(&blocks, &w, passes)?;
        println!("  oracle at {name} weights: {:.1} µs a call", 1e6 * seconds / graphs as f64);
    }
    if options.oracle {
        return Ok(());
    }
    let oracle = MatchingOracle::new(features, LinkLoss::default());
    let truth = |i: usize| (data.graph(i), data.graph(i).truth().collect());
    let examples: Vec<(GraphRef<'_>, Vec<(usize, usize)>)> = (0..graphs).map(truth).collect();
    let corners = OracleBlocks::new(&oracle, &examples)?;
    to_one_percent("auto, marginals", &blocks, &settings(Settings::default()))?;
    to_one_percent("auto, corners", &corners, &settings(Settings::default()))?;
    to_one_percent("bcfw", &blocks, &settings(Settings::plain()))
}

/// Returns the seconds of the fastest pass.
fn oracle_passes(blocks: &MatchingBlocks<'_>, w: &[f64], passes: usize) -> Result<f64> {
    let (mut corner, mut scratch) = (Vec::new(), blocks.scratch());
    let mut fastest = f64::INFINITY;
    for _ in 0..passes {
        let start = Instant::now();
        for i in 0..blocks.len() {
            black_box(blocks.best_corner(i, w, &mut corner, &mut scratch)?);
        }
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

fn to_one_percent<B: Blocks>(name: &str, blocks: &B, settings: &Settings) -> Result<()> {
    let budget = Budget { seconds: Some(60.0), ..Budget::relative(0.01) };
    let report = dual::train(blocks, settings, &budget, &mut ())?;
    println!(
        "  {name}: {} calls, {} steps, {:.2} s, gap {:.2e}",
        report.work.oracle_calls,
        report.work.steps,
        report.solve_seconds,
        report.certificate.relative_gap()
    );
    Ok(())
}

/// Full grids near whose diagonal there are links, which the features tell from others only in part.
fn generate(options: &Options) -> Result<Matchings> {
    let Options { graphs, side, features, .. } = *options;
    let mut random = Random::new(1);
    let (mut values, mut marks) = (Vec::new(), Vec::new());
    let graph = Graph::full(side, side);
    for _ in 0..graphs {
        for &(row, column) in &graph.edges {
            let mark = match (row.abs_diff(column), random.below(10)) {
                (0, 0..8) | (1, 0) => Mark::Sure,
                (0 | 1, 8) => Mark::Possible,
                _ => Mark::None,
            };
            let hint = if mark == Mark::None { 0.0 } else { 0.6 };
            values.extend(
                (0..features).map(|f| random.unit() - 0.5 + if f < 3 { hint } else { 0.0 }),
            );
            marks.push(mark);
        }
    }
    Matchings::new(Rows::from_dense(values, features)?, &vec![graph; graphs], marks)
}
