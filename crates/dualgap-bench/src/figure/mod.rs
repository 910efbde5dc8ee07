//! The figures and tables of the three papers, each by one command: an SVG, and its numbers as csv beside it.
//!
//! - `curves`: the runs of a method together: interpolation, bands, lower envelopes.
//! - `axis`, `draw`: the picture. `files`: what is written and printed.
//! - `runs`: training with an eye on every certificate, several runs side by side.
//! - `structured`: methods for structural SVMs by the names of the BCFW paper, one line each.
//! - `bcfw`, `bcfw_table`, `sdca`, `pdbfw`, `pdbfw_table`: the figures of each paper.

mod axis;
mod bcfw;
mod bcfw_table;
mod curves;
mod draw;
mod files;
mod pdbfw;
mod pdbfw_table;
mod runs;
mod sdca;
mod structured;

use crate::folder::Folder;
use clap::{Args, ValueEnum};
use dualgap::{Error, Result};
use files::Outcome;
use std::path::PathBuf;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Which figure.
    #[arg(value_enum)]
    which: Which,
    #[command(flatten)]
    folder: Folder,
    /// Few seeds and passes: a few minutes (the default).
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// All ten seeds, and as many passes as the paper has.
    #[arg(long)]
    full: bool,
    /// Where the svg and the csv go.
    #[arg(long, default_value = "figures")]
    out: PathBuf,
    /// How many runs go side by side; the numbers do not depend on it, but for seconds.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// How many runs a stochastic method has [default: 3, and 10 with --full; on CoNLL-2000 1 and 10].
    #[arg(long)]
    seeds: Option<u64>,
    /// Only methods whose name has this in it.
    #[arg(long)]
    only: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Suboptimality of all solvers on the letters, CoNLL-2000 and the alignments.
    #[value(name = "bcfw-1")]
    Bcfw1,
    /// Steps with and without line search.
    #[value(name = "bcfw-2")]
    Bcfw2,
    /// Stochastic solvers on the letters: suboptimality and test error.
    #[value(name = "bcfw-3")]
    Bcfw3,
    /// The same on CoNLL-2000.
    #[value(name = "bcfw-4")]
    Bcfw4,
    /// The same on the alignments.
    #[value(name = "bcfw-5")]
    Bcfw5,
    /// Oracle calls until a gap, beside the rates that the table promises.
    #[value(name = "bcfw-table-1")]
    BcfwTable1,
    /// Prox-SDCA: the gap of every option beside the theorems' rates.
    Sdca,
    /// The l1 ball: all methods on all data sets.
    #[value(name = "pdbfw-1")]
    Pdbfw1,
    /// The trace ball, on the generated data of the paper.
    #[value(name = "pdbfw-2")]
    Pdbfw2,
    /// The l1 ball with other μ.
    #[value(name = "pdbfw-3")]
    Pdbfw3,
    /// The cost of an iteration and the number of iterations, beside what the table promises; statistics of the data.
    #[value(name = "pdbfw-table-1")]
    PdbfwTable1,
}

impl Which {
    fn name(self) -> &'static str {
        match self {
            Self::Bcfw1 => "bcfw-1",
            Self::Bcfw2 => "bcfw-2",
            Self::Bcfw3 => "bcfw-3",
            Self::Bcfw4 => "bcfw-4",
            Self::Bcfw5 => "bcfw-5",
            Self::BcfwTable1 => "bcfw-table-1",
            Self::Sdca => "sdca",
            Self::Pdbfw1 => "pdbfw-1",
            Self::Pdbfw2 => "pdbfw-2",
            Self::Pdbfw3 => "pdbfw-3",
            Self::PdbfwTable1 => "pdbfw-table-1",
        }
    }
}

/// What a figure may spend, and where its data are.
struct Effort {
    folder: Folder,
    full: bool,
    jobs: usize,
    only: Option<String>,
    seeds: Option<u64>,
    /// The command that makes the figure again.
    command: String,
}

impl Effort {
    /// One number for a quick figure, another for a full one.
    fn of<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }

    /// How many runs a stochastic method has. The paper has ten.
    fn seeds(&self) -> u64 {
        self.seeds_or(3)
    }

    /// The same with another number for a quick figure.
    fn seeds_or(&self, quick: u64) -> u64 {
        self.seeds.unwrap_or(self.of(quick, 10)).max(1)
    }

    fn wants(&self, method: &str) -> bool {
        self.only.as_ref().is_none_or(|only| method.contains(only.as_str()))
    }
}

pub fn run(options: &Options) -> Result<()> {
    let Options { which, folder, full, out, jobs, only, seeds, .. } = options.clone();
    let name = which.name();
    let chosen = only.as_ref().map_or(String::new(), |only| format!(" --only '{only}'"));
    let effort = if full { "--full" } else { "--quick" };
    let some = seeds.map_or(String::new(), |seeds| format!(" --seeds {seeds}"));
    let command = format!("dualgap-bench figure {name} {effort}{some}{chosen}");
    println!("{command}");
    let effort = Effort { folder, full, jobs: jobs.max(1), only, seeds, command };
    let outcome = match which {
        Which::Bcfw1 => bcfw::figure_1(&effort),
        Which::Bcfw2 => bcfw::figure_2(&effort),
        Which::Bcfw3 => bcfw::figure_3(&effort),
        Which::Bcfw4 => bcfw::figure_4(&effort),
        Which::Bcfw5 => bcfw::figure_5(&effort),
        Which::BcfwTable1 => bcfw_table::table_1(&effort),
        Which::Sdca => sdca::figure(&effort),
        Which::Pdbfw1 => pdbfw::figure_1(&effort),
        Which::Pdbfw2 => pdbfw::figure_2(&effort),
        Which::Pdbfw3 => pdbfw::figure_3(&effort),
        Which::PdbfwTable1 => pdbfw_table::table_1(&effort),
    }?;
    finish(&outcome, &out)
}

/// Writes and prints everything, and fails if a number is not what it has to be.
fn finish(outcome: &Outcome, out: &std::path::Path) -> Result<()> {
    outcome.write(out)?;
    let broken = outcome.report();
    match broken {
        0 => Ok(()),
        count => Err(Error::setting(format!("{count} of the figure's assertions do not hold"))),
    }
}
