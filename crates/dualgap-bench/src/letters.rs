//! Passes over the OCR letters, folds 1-9: n = 6,251, d = 4,082.

use clap::Args;
use dualgap::Result;
use dualgap::data::{Letters, Sequences, Source};
use dualgap::dual::{Engine, Problem, Settings};
use dualgap::run::{Quota, Solver};
use dualgap::structure::{ChainBlocks, Hamming};
use dualgap::term::L2;
use std::time::Instant;

/// The letters as the program bundles them.
const LETTERS: &[u8] = include_bytes!("../../dualgap-cli/data/letters.data.gz");

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The regularisation.
    #[arg(long, default_value_t = 0.01)]
    lambda: f64,
    /// How many passes.
    #[arg(long, default_value_t = 50)]
    passes: usize,
    /// How many corners are looked for at the same weights.
    #[arg(long, default_value_t = 1)]
    batch: usize,
    /// How many threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { lambda: 0.01, passes: 50, batch: 1, threads: 1 }
    }
}

/// The words of folds 1-9.
pub fn words() -> Result<Sequences> {
    Ok(split()?.0)
}

/// The words of folds 1-9, and those of fold 0, which the paper tests on.
pub fn split() -> Result<(Sequences, Sequences)> {
    let all = Letters::read(Source::from_bytes("letters", LETTERS)?)?;
    let of = |folds: &[u8]| all.words.select(&all.in_folds(folds));
    Ok((of(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), of(&[0])))
}

pub fn run(options: &Options) -> Result<()> {
    let Options { lambda, passes, batch, threads } = *options;
    println!(
        "dualgap-bench letters --lambda {lambda} --passes {passes} --batch {batch} --threads {threads}"
    );
    let data = words()?;
    let blocks = ChainBlocks::new(&data, Hamming::Normalized)?;
    let settings = Settings { lambda, batch, threads, ..Settings::plain() };
    let mut engine = Engine::new(Problem::new(&blocks, L2, lambda, None)?, &settings)?;
    let calls = engine.calls_per_pass();
    let quota = Quota { oracle_calls: calls, steps: u64::MAX, pause: calls, halted: &|| false };
    let mut seconds = Vec::new();
    for _ in 0..passes {
        let start = Instant::now();
        engine.advance(&quota)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    let certificate = engine.certify()?.model;
    let certify = start.elapsed().as_secs_f64();
    seconds.sort_by(f64::total_cmp);
    println!("  n = {}, d = {}", data.len(), engine.weights().len());
    if let (Some(first), Some(last)) = (seconds.first(), seconds.last()) {
        println!(
            "  a pass: median {:.4} s, fastest {first:.4} s, slowest {last:.4} s",
            seconds[seconds.len() / 2]
        );
    }
    println!("  a certification: {certify:.4} s");
    println!(
        "  after {passes} passes: primal {:.6}, dual {:.6}, gap {:.6} (rounding {:.1e})\n",
        certificate.primal,
        certificate.dual,
        certificate.gap(),
        certificate.rounding_error
    );
    Ok(())
}
