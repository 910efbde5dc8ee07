//! Generated sparse rows, more of them than a cache holds: seconds a pass, and until 1 % is certified.
//!
//! ```text
//! y = sign(⟨x, u⟩ + noise),   x with N of d columns at 1/√N, u uniform;   hinge, λ = 1/n, one thread
//! ```
//!
//! With `--power-law A` column j is drawn in proportion to (j + 1)^−A until a row has N of them, and u is sparse: one column in
//! twenty has a weight.
//!
//! `--write FILE` writes the rows, one by one, for other programs (`generated.py` beside this crate's `src` has LIBLINEAR read them),
//! or as a data file if the name ends with `.mapped`; with `--parts K` as K data files, `NAME-0.mapped` and so on, whose joined rows are
//! those of the whole.

use clap::Args;
use dualgap::data::{Alphabet, Classes, DataFile, DataWriter, Dictionary, Format, Recipe};
use dualgap::dual::{self, Engine, Problem, Settings};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, Quota, Solver};
use dualgap::structure::{Choice, LinearBlocks};
use dualgap::term::{L2, ScalarLoss};
use dualgap::{Error, Result};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
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
    /// Draw columns by a power law with this exponent, and labels by a sparse plane.
    #[arg(long)]
    power_law: Option<f64>,
    /// Writes the rows to this file, in the LIBSVM format or as a data file (`.mapped`), and trains nothing.
    #[arg(long)]
    write: Option<PathBuf>,
    /// How many data files the rows are written to, one after the other.
    #[arg(long, default_value_t = 1)]
    parts: usize,
}

pub fn run(options: &Options) -> Result<()> {
    let Options { rows: n, nonzeros, columns, passes, sorted, loss, .. } = options;
    if let Some(path) = &options.write {
        return write(path, options);
    }
    let (mut rows, mut targets) = (Rows::sparse(), Vec::new());
    each(options, |y, row| {
        rows.push_sparse(row);
        targets.push(y);
        Ok(())
    })?;
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

/// Where rows come from.
struct Draws<'a> {
    options: &'a Options,
    random: Random,
    truth: Vec<f64>,
}

/// The share of columns with a weight in a sparse plane, as one in so many.
const SPARSE: usize = 20;

impl<'a> Draws<'a> {
    fn new(options: &'a Options) -> Self {
        let mut random = Random::new(1);
        let mut weight = |_| {
            let weight = random.unit() - 0.5;
            let is_zero = options.power_law.is_some() && random.below(SPARSE) > 0;
            if is_zero { 0.0 } else { weight }
        };
        let truth = (0..options.columns).map(&mut weight).collect();
        Self { options, random, truth }
    }

    /// Returns the columns of the next row, and its label.
    fn next(&mut self) -> (f64, Vec<u32>) {
        let Options { nonzeros, columns, power_law, .. } = *self.options;
        let mut row: Vec<u32> = Vec::new();
        loop {
            for _ in row.len()..nonzeros.min(columns) {
                let column = match power_law {
                    None => self.random.below(columns),
                    Some(exponent) => by_power_law(self.random.unit(), exponent, columns),
                };
                row.push(column as u32);
            }
            row.sort_unstable();
            row.dedup();
            if power_law.is_none() || row.len() == nonzeros.min(columns) {
                break;
            }
        }
        let score: f64 = row.iter().map(|&j| self.truth[j as usize]).sum();
        (if score + self.random.unit() - 0.5 > 0.0 { 1.0 } else { -1.0 }, row)
    }
}

/// Returns the column where the density x^−a on [1, d + 1] has this share to its left.
fn by_power_law(share: f64, a: f64, columns: usize) -> usize {
    let end = columns as f64 + 1.0;
    let x = if (a - 1.0).abs() < 1e-9 {
        end.powf(share)
    } else {
        (1.0 + share * (end.powf(1.0 - a) - 1.0)).powf(1.0 / (1.0 - a))
    };
    (x as usize).saturating_sub(1).min(columns - 1)
}

/// Passes all rows on one by one, with their labels.
fn each(options: &Options, mut push: impl FnMut(f64, &[(u32, f64)]) -> Result<()>) -> Result<()> {
    let mut draws = Draws::new(options);
    let mut entries = Vec::new();
    let mut row = |y: f64, row: &[u32]| {
        let x = 1.0 / (row.len() as f64).sqrt();
        entries.clear();
        entries.extend(row.iter().map(|&j| (j, x)));
        push(y, &entries)
    };
    if !options.sorted {
        return (0..options.rows).try_for_each(|_| {
            let (y, columns) = draws.next();
            row(y, &columns)
        });
    }
    let mut drawn: Vec<(f64, Vec<u32>)> = (0..options.rows).map(|_| draws.next()).collect();
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    drawn.iter().try_for_each(|(y, columns)| row(*y, columns))
}

fn write(path: &Path, options: &Options) -> Result<()> {
    if DataFile::is_named(path) {
        return write_parts(path, options);
    }
    if options.parts > 1 {
        return Err(Error::setting("only data files are written in parts: name the file .mapped"));
    }
    let failed = |error: std::io::Error| Error::file(path, error.to_string(), "write elsewhere");
    let mut file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    each(options, |y, row| {
        let entries: String = row.iter().map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
        writeln!(file, "{y}{entries}").map_err(failed)
    })?;
    file.flush().map_err(failed)
}

/// Writes data files, each with its share of the rows.
fn write_parts(path: &Path, options: &Options) -> Result<()> {
    let Options { rows, parts, .. } = *options;
    let each_has = rows.div_ceil(parts.max(1)).max(1);
    let name = |part: usize| match (parts, path.file_stem()) {
        (0 | 1, _) | (_, None) => path.to_path_buf(),
        (_, Some(stem)) => path.with_file_name(format!("{}-{part}.mapped", stem.display())),
    };
    let mut writer = DataWriter::create(&name(0))?;
    let (mut labels, mut part): (Vec<u32>, usize) = (Vec::new(), 0);
    let finish = |writer: DataWriter, labels: Vec<u32>| {
        let classes = Classes::new(labels, Alphabet::new(["-1", "1"].map(String::from)))?;
        let recipe = Recipe::whole(Format::Libsvm);
        let written = writer.finish(0, &classes.into(), &Dictionary::default(), &recipe)?;
        println!("{written:?}");
        Ok::<(), Error>(())
    };
    each(options, |y, row| {
        if labels.len() == each_has {
            part += 1;
            let full = std::mem::replace(&mut writer, DataWriter::create(&name(part))?);
            finish(full, std::mem::take(&mut labels))?;
        }
        labels.push(u32::from(y > 0.0));
        writer.push(row)
    })?;
    finish(writer, labels)
}
