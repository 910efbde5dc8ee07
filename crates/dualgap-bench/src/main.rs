//! Benchmarks of dualgap. Each prints the command that makes its figures again.
//!
//! Machines are noisy: compare figures of one run with each other, or count instructions (`make
//! instructions`).

mod again;
mod balls;
mod comparators;
mod conll;
mod digests;
mod engine;
mod figure;
mod folder;
mod generated;
mod letters;
mod linear;
mod low_rank;
mod matchings;
mod optima;
mod problem;
mod race;
mod sdca;
mod solvers;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Benchmarks of dualgap.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// BCFW passes over the OCR letters: seconds a pass, and the gap after the last one.
    Letters(letters::Options),
    /// The engine on a multiclass hinge beside a loop written by hand for nothing else.
    Engine(engine::Options),
    /// Text chunking, CoNLL-2000; needs the data.
    Conll(conll::Options),
    /// Every solver and setting: oracle calls, steps and seconds to 10 %, 1 % and 0.1 %.
    Solvers(solvers::Options),
    /// Generated sparse rows beyond the cache: seconds a pass, and to a certified 1 %.
    Generated(generated::Options),
    /// Linear models: seconds to near the optimum, and until that is proved; needs the data.
    Linear(linear::Options),
    /// Prox-SDCA beside FISTA, primal coordinates, SGD with prox, RDA and COMID: passes until near the optimum.
    Sdca(sdca::Options),
    /// Every method in the l1 ball: passes and seconds until near the optimum; needs the data.
    Balls(balls::Options),
    /// Every method in the trace ball, on the generated data of the paper.
    LowRank(low_rank::Options),
    /// Matchings: the time of an oracle call, and the calls until 1 % is certified.
    Matchings(matchings::Options),
    /// Optima of linear models beside those of an interior point method; needs the data.
    Optima(optima::Options),
    /// Whether small runs of every kind end with the very weights that are recorded.
    Digests(digests::Options),
    /// A command of `dualgap`, several times in one process, whose memory and code are warm after the first.
    Again(again::Options),
    /// A figure or a table of one of the papers, as svg and csv.
    Figure(figure::Options),
    /// All that need no data from elsewhere, with their defaults.
    All,
}

fn main() -> ExitCode {
    match run(&Cli::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: &Bench) -> dualgap::Result<()> {
    match bench {
        Bench::Again(options) => again::run(options),
        Bench::Letters(options) => letters::run(options),
        Bench::Engine(options) => engine::run(options),
        Bench::Conll(options) => conll::run(options),
        Bench::Solvers(options) => solvers::run(options),
        Bench::Generated(options) => generated::run(options),
        Bench::Linear(options) => linear::run(options),
        Bench::Sdca(options) => sdca::run(options),
        Bench::Balls(options) => balls::run(options),
        Bench::LowRank(options) => low_rank::run(options),
        Bench::Matchings(options) => matchings::run(options),
        Bench::Optima(options) => optima::run(options),
        Bench::Digests(options) => digests::run(options),
        Bench::Figure(options) => figure::run(options),
        Bench::All => {
            letters::run(&letters::Options::default())?;
            engine::run(&engine::Options::default())
        }
    }
}
