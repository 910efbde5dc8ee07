//! Generated sparse rows, more of them than a cache holds: seconds a pass, and until 1 % is certified.
//!
//! ```text
//! y = sign(⟨x, u⟩ + noise),   x with N of d columns at 1/√N, u uniform;   hinge, λ = 1/n, one thread
//! ```
//!
//! `--write FILE` writes the rows for other programs; `generated.py` beside this crate's `src` has LIBLINEAR read them.

use clap::Args;
use dualgap::dual::{self, Engine, Problem, Settings};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, Quota, Solver};
use dualgap::structure::{Choice, LinearBlocks};
use dualgap::term::{L2, ScalarLoss};
use dualgap::{Error, Result};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// n.
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Draws of a column for each row.
    #[arg(long, default_value_t = 20)]
    nonzeros: usize,
    /// d.
    #[arg(long, default_value_t = 100_000)]
    columns: usize,
    /// How many passes are timed.
    #[arg(long, default_value_t = 8)]
    passes: usize,
    /// The rows of one class before those of the other.
    #[arg(long)]
    sorted: bool,
    /// The loss: hinge, squared-hinge or logistic.
    #[arg(long, default_value = "hinge")]
    loss: String,
    /// Writes the rows to this file in the LIBSVM format, and trains nothing.
    #[arg(long)]
    write: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<()> {
    let Options { rows: n, nonzeros, columns, passes, sorted, loss, .. } = options;
    let (rows, targets) = generate(options);
    if let Some(path) = &options.write {
        let failed =
            |error: std::io::Error| Error::file(path, error.to_string(), "write elsewhere");
        return write(path, &rows, &targets).map_err(failed);
    }
    let loss = match loss.as_str() {
        "hinge" => ScalarLoss::Hinge,
        "squared-hinge" => ScalarLoss::SquaredHinge,
        "logistic" => ScalarLoss::Logistic,
        other => return Err(Error::setting(format!("there is no generated problem of {other}"))),
    };
    let sorted = if *sorted { " --sorted" } else { "" };
    println!(
        "dualgap-bench generated --rows {n} --nonzeros {nonzeros} --columns {columns} --passes {passes} --loss {}{sorted}",
        options.loss
    );
    let blocks = LinearBlocks::new(&rows, targets, loss, Choice::I)?;
    let lambda = 1.0 / *n as f64;
    for (name, settings) in [("bcfw", Settings::plain()), ("auto", Settings::default())] {
        let settings = Settings { lambda, threads: 1, ..settings };
        let mut engine = Engine::new(Problem::new(&blocks, L2, lambda, None)?, &settings)?;
        let calls = engine.calls_per_pass();
        let quota = Quota { oracle_calls: calls, steps: u64::MAX, pause: calls, halted: &|| false };
        let mut seconds = Vec::new();
        for _ in 0..*passes {
            let start = Instant::now();
            engine.advance(&quota)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let start = Instant::now();
        let certificate = engine.certify()?.model;
        let certify = start.elapsed().as_secs_f64();
        let total: f64 = seconds.iter().sum();
        seconds.sort_by(f64::total_cmp);
        println!(
            "  {name}: {passes} passes {total:.3} s, the median pass {:.4} s, the fastest {:.4} s; a certification {certify:.4} s; \
             gap {:.4} %",
            seconds.get(passes / 2).unwrap_or(&0.0),
            seconds.first().unwrap_or(&0.0),
            100.0 * certificate.gap() / certificate.primal
        );
        let start = Instant::now();
        let report = dual::train(&blocks, &settings, &Budget::relative(0.01), &mut ())?;
        println!(
            "  {name}: a certified 1 % after {} passes, {:.3} s ({:.3} s solving, {:.3} s certifying)",
            report.history.last().map_or(0.0, |last| last.passes),
            start.elapsed().as_secs_f64(),
            report.solve_seconds,
            report.certify_seconds
        );
    }
    Ok(())
}

fn generate(options: &Options) -> (Rows, Vec<f64>) {
    let mut random = Random::new(1);
    let truth: Vec<f64> = (0..options.columns).map(|_| random.unit() - 0.5).collect();
    let mut drawn: Vec<(f64, Vec<u32>)> = (0..options.rows)
        .map(|_| {
            let mut row: Vec<u32> =
                (0..options.nonzeros).map(|_| random.below(options.columns) as u32).collect();
            row.sort_unstable();
            row.dedup();
            let score: f64 = row.iter().map(|&j| truth[j as usize]).sum();
            (if score + random.unit() - 0.5 > 0.0 { 1.0 } else { -1.0 }, row)
        })
        .collect();
    if options.sorted {
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let mut rows = Rows::sparse();
    let mut entries = Vec::new();
    for (_, row) in &drawn {
        let x = 1.0 / (row.len() as f64).sqrt();
        entries.clear();
        entries.extend(row.iter().map(|&j| (j, x)));
        rows.push_sparse(&entries);
    }
    (rows, drawn.into_iter().map(|(y, _)| y).collect())
}

fn write(path: &std::path::Path, rows: &Rows, targets: &[f64]) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for (i, y) in targets.iter().enumerate() {
        write!(file, "{y}")?;
        for (j, x) in rows.row(i).iter() {
            write!(file, " {}:{x}", j + 1)?;
        }
        writeln!(file)?;
    }
    file.flush()
}
