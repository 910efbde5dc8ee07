//! Digests of what runs of the program end with: whether a change of the code has moved an iterate.
//!
//! Every run trains on small generated files with the program itself, so that what is compared does not depend on how the
//! library is cut. A digest is the SHA-256 of all numbers of the model file (weights, factors, witness) by name, but for the weights of
//! examples, which are given. Exponentials
//! and logarithms are those of the platform's library, so digests are compared on one kind of machine.

use clap::Args;
use dualgap::container::write_atomically;
use dualgap::linalg::Random;
use dualgap::{Error, Result};
use safetensors::SafeTensors;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The program.
    #[arg(long, default_value = "target/release/dualgap")]
    program: PathBuf,
    /// The recorded digests.
    #[arg(long, default_value = "crates/dualgap-bench/digests.txt")]
    record: PathBuf,
    /// Record the digests of this state in the place of comparing them.
    #[arg(long)]
    write: bool,
}

/// One run: its data file and what follows. A `|` parts a run that is kept from the one that takes it up.
const RUNS: &[&str] = &[
    // multiclass: losses, options, costs, weights, penalties
    "multiclass classes.svm",
    "multiclass classes.svm --solver bcfw --lambda 0.1",
    "multiclass classes.svm --solver bcfw --step predefined --passes 9",
    "multiclass classes.svm --solver fw --passes 30",
    "multiclass classes.svm --solver bcfw --average weighted --passes 8",
    "multiclass classes.svm --solver bcfw --average suffix --passes 8",
    "multiclass classes.svm --average random --passes 8",
    "multiclass classes.svm --costs costs.txt --lambda 0.02",
    "multiclass classes.svm --sample-weights weights.txt --class-weights balanced",
    "multiclass classes.svm --loss smooth-hinge --width 0.5 --batch 4",
    "multiclass classes.svm --loss softmax --tolerance 1e-6",
    "multiclass classes.svm --loss softmax --option iii --passes 12",
    "multiclass classes.svm --option ii --passes 12",
    "multiclass classes.svm --l1 0.01 --nonnegative",
    "multiclass classes.svm --scale rms --intercept",
    "multiclass classes.svm --sampling gap --direction pairwise --cache on",
    "multiclass classes.svm --sampling uniform --direction away --batch 8 --seed 7",
    // chains
    "chain tags.txt",
    "chain tags.txt --hamming plain --lambda 0.05 --tolerance 1e-4",
    "chain tags.txt --features pairs.txt --passes 12",
    "chain tags.txt --solver bcfw --average weighted --passes 6",
    "chain tags.txt --direction pairwise --cache on --acceleration on --passes 30",
    "chain tags.txt --direction away --cache off --batch 5 --passes 20",
    "chain tags.txt --l1 0.001 --tolerance 1e-3",
    "chain tags.txt --acceleration on --cache on --passes 9 --checkpoint run.ck | --passes 23",
    // linear
    "binary two.svm --loss hinge --tolerance 1e-5",
    "binary two.svm --loss hinge --acceleration on --lambda 1e-4 --passes 60",
    "binary two.svm --loss smooth-hinge --l1 0.01 --sampling importance",
    "binary two.svm --loss squared-hinge --intercept --class-weights balanced",
    "binary two.svm --loss logistic --tolerance 1e-6 --no-shrinking",
    "binary two.svm --loss logistic --lambda 0 --l1 0.02 --tolerance 1e-6",
    "binary two.svm --loss hinge --lambda 0 --l1 0.05 --passes 80",
    "binary two.svm --loss logistic --q-norm --lambda 0.01",
    "binary two.svm --loss hinge --option ii --sampling cyclic --passes 7",
    "binary two.svm --loss logistic --option iv --passes 7",
    "binary two.svm --loss hinge --tolerance 0 --passes 3 --checkpoint run.ck | --passes 11",
    "binary two.svm --loss logistic --lambda 0 --l1 0.02 --tolerance 0 --passes 2 --checkpoint run.ck | --passes 9",
    "regression numbers.svm --loss squared --tolerance 1e-6",
    "regression numbers.svm --loss huber --width 0.5 --intercept --scale max",
    "regression numbers.svm --loss absolute --lambda 0.01",
    "regression numbers.svm --loss epsilon-insensitive --epsilon 0.1 --nonnegative",
    "regression numbers.svm --loss squared --lambda 0 --l1 0.05 --tolerance 1e-8",
    // the l1 ball
    "binary two.svm --ball l1 --radius 3 --tolerance 1e-6",
    "binary two.svm --ball l1 --radius 3 --loss logistic --mu 0",
    "binary two.svm --ball l1 --radius 3 --solver pdbfw --constants s=5,k=4,eta=0.5,delta=0.1 --passes 40",
    "binary two.svm --ball l1 --radius 3 --solver apg",
    "binary two.svm --ball l1 --radius 3 --solver frank-wolfe --passes 40",
    "binary two.svm --ball l1 --radius 3 --solver away",
    "binary two.svm --ball l1 --radius 3 --solver pairwise",
    "binary two.svm --ball l1 --radius 3 --solver svrg",
    "binary two.svm --ball l1 --radius 3 --solver scgs --passes 40",
    "binary two.svm --ball l1 --radius 3 --solver storc --passes 40",
    "regression numbers.svm --ball l1 --radius 2 --sample-weights weights.txt",
    "multiclass classes.svm --ball l1 --radius 6 --loss softmax",
    "multilabel sets.svm --ball l1 --radius 8 --loss logistic",
    "binary two.svm --ball l1 --radius 3 --tolerance 1e-9 --passes 2 --checkpoint run.ck | --passes 6",
    // the trace ball
    "multiclass classes.svm --ball trace --radius 5 --tolerance 1e-4",
    "multiclass classes.svm --ball trace --radius 5 --solver apg --tolerance 1e-4",
    "multiclass classes.svm --ball trace --radius 5 --solver frank-wolfe --passes 20",
    "multiclass classes.svm --ball trace --radius 5 --solver block-frank-wolfe --passes 20",
    "multiclass classes.svm --ball trace --radius 5 --solver stochastic-frank-wolfe --passes 20",
    "multiclass classes.svm --ball trace --radius 5 --solver svrg --passes 20",
    "multiclass classes.svm --ball trace --radius 5 --solver scgs --passes 6",
    "multiclass classes.svm --ball trace --radius 5 --solver storc --passes 6",
    "multilabel sets.svm --ball trace --radius 6 --loss smooth-hinge",
    "multioutput several.svm --ball trace --radius 4 --intercept",
    "multioutput several.svm --ball l1 --radius 4 --loss huber",
    "multiclass classes.svm --ball trace --radius 5 --tolerance 1e-9 --passes 2 --checkpoint run.ck | --passes 5",
    "completion ratings.csv --radius 6",
    "completion ratings.csv --radius 6 --holdout 0.1 --passes 8",
    // matchings
    "matching edges.txt --tolerance 1e-4",
    "matching edges.txt --direction pairwise --cache on --passes 12",
    "matching edges.txt --lanes --passes 20",
    // kernels
    "binary two.svm --kernel rbf --tolerance 1e-5",
    "multiclass classes.svm --kernel polynomial --degree 2 --coef0 1 --tolerance 1e-3",
    "chain tags.txt --kernel linear --passes 8",
    // random fields
    "chain tags.txt --loss crf --tolerance 1e-5",
    "chain tags.txt --loss crf --l1 0.001 --tolerance 1e-3",
    // other methods than the engine's
    "multiclass classes.svm --solver eg --passes 12",
    "chain tags.txt --solver eg --passes 12",
    "multiclass classes.svm --solver cutting-plane --tolerance 1e-3",
    "chain tags.txt --solver n-slack --tolerance 1e-3",
    "binary two.svm --loss logistic --solver newton --tolerance 1e-8",
    "binary two.svm --loss logistic --l1 0.01 --solver coordinates --tolerance 1e-8",
    "multiclass classes.svm --solver ssg --passes 5",
    // blocks of an oracle, as a user's own has them
    "multiclass classes.svm --rescale slack --tolerance 1e-3",
    "chain tags.txt --rescale slack --passes 12",
    "chain tags.txt --beam 2 --passes 10",
];

/// Runs everything, and compares or records.
pub fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    write_data(folder.path())?;
    let program = std::fs::canonicalize(&options.program).map_err(|error| {
        Error::file(&options.program, error.to_string(), "build it: cargo build --release")
    })?;
    let mut found = String::new();
    for line in RUNS {
        let digest = digest_of(&program, folder.path(), line)?;
        writeln!(found, "{digest}  {line}").map_err(|error| failed(&error))?;
    }
    if options.write {
        return write_atomically(&options.record, found.as_bytes());
    }
    let recorded = std::fs::read_to_string(&options.record)
        .map_err(|error| Error::file(&options.record, error.to_string(), "record it: --write"))?;
    let moved: Vec<&str> =
        found.lines().filter(|line| !recorded.lines().any(|old| old == *line)).collect();
    println!("digests: {} runs, {} as recorded", RUNS.len(), RUNS.len() - moved.len());
    if moved.is_empty() {
        return Ok(());
    }
    Err(Error::setting(format!("these runs end elsewhere than recorded:\n{}", moved.join("\n"))))
}

fn failed(error: &dyn std::fmt::Display) -> Error {
    Error::setting(error.to_string())
}

/// The digest of a run's model, or of the one that takes it up.
fn digest_of(program: &Path, folder: &Path, line: &str) -> Result<String> {
    let mut parts = line.split('|').map(str::trim);
    let first = parts.next().unwrap_or_default();
    // A run does not write over the checkpoint of another.
    let _ = std::fs::remove_file(folder.join("run.ck"));
    train(program, folder, first)?;
    if let Some(more) = parts.next() {
        // The later run is the earlier one with other limits; clap takes the last of two values nowhere.
        let kept: Vec<&str> = first.split(' ').collect();
        let before = kept.iter().position(|&word| word == "--passes").unwrap_or(kept.len());
        let again = format!("{} {more} --resume run.ck", kept[..before].join(" "));
        train(program, folder, &again)?;
    }
    let path = folder.join("model.dualgap");
    let bytes = std::fs::read(&path).map_err(|error| failed(&error))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| failed(&error))?;
    let mut names = tensors.names();
    names.sort_unstable();
    let mut digest = Sha256::new();
    // The weights of examples are given, and not found.
    for name in names.into_iter().filter(|&name| name != "sample_weights") {
        digest.update(name);
        digest.update(tensors.tensor(name).map_err(|error| failed(&error))?.data());
    }
    Ok(digest.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect())
}

/// Trains in the folder. That a limit comes before the tolerance is no failure.
fn train(program: &Path, folder: &Path, line: &str) -> Result<()> {
    let output = Command::new(program)
        .arg("train")
        .args(line.split(' '))
        .args(["--quiet", "--witness", "--threads", "1", "-o", "model.dualgap"])
        .current_dir(folder)
        .output()
        .map_err(|error| failed(&error))?;
    match output.status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(Error::setting(format!(
            "dualgap train {line}\n{}",
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// The generated files of all tasks.
fn write_data(folder: &Path) -> Result<()> {
    let write = |name: &str, text: String| write_atomically(&folder.join(name), text.as_bytes());
    let mut random = Random::new(20);
    let mut classes = String::new();
    let mut two = String::new();
    let mut numbers = String::new();
    let mut sets = String::new();
    let mut several = String::new();
    let mut weights = String::new();
    for i in 0..60 {
        let row = features(&mut random);
        let score = |k: usize| -> f64 {
            row.iter().map(|&(j, x)| x * ((j * (k + 2) + k) % 5) as f64 - x).sum()
        };
        let scores: Vec<f64> = (0..4).map(score).collect();
        let best = (0..4).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
        let cells: String = row.iter().map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
        let _ = writeln!(classes, "{}{cells}", if i % 9 == 0 { i % 4 } else { best });
        let _ = writeln!(two, "{}{cells}", if (scores[0] > 0.3) == (i % 8 != 0) { 1 } else { -1 });
        let _ = writeln!(numbers, "{}{cells}", scores[1] + random.unit());
        let labels: Vec<String> =
            (0..4).filter(|&k| scores[k] > 0.5).map(|k| format!("{}", k + 1)).collect();
        let _ = writeln!(sets, "{}{cells}", labels.join(","));
        let _ = writeln!(several, "{},{}{cells}", scores[2], scores[3] - 0.5 * random.unit());
        let _ = writeln!(weights, "{}", 1 + i % 5);
    }
    write("classes.svm", classes)?;
    write("two.svm", two)?;
    write("numbers.svm", numbers)?;
    write("sets.svm", sets)?;
    write("several.svm", several)?;
    write("weights.txt", weights)?;
    write("costs.txt", costs())?;
    write("tags.txt", sentences(&mut random))?;
    write("pairs.txt", "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\nB0:%x[0,1]\n".into())?;
    write("ratings.csv", ratings(&mut random))?;
    // What is new comes last: the numbers of the others stay as they were.
    write("edges.txt", edges(&mut random))
}

/// A few of twelve features.
fn features(random: &mut Random) -> Vec<(usize, f64)> {
    (0..12)
        .filter_map(|j| {
            let x = random.unit();
            (x < 0.5).then(|| (j, 4.0 * x - 1.0 + j as f64 / 16.0))
        })
        .collect()
}

fn costs() -> String {
    "0 1 2 3\n0 0 1 2 1\n1 1 0 1 3\n2 2 1 0 1\n3 1 2 1 0\n".into()
}

/// Words of a small vocabulary whose tag depends on the word and the tag before.
fn sentences(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..30 {
        let mut tag = 0;
        for _ in 0..2 + random.below(7) {
            let word = random.below(14);
            tag = (word + tag * usize::from(word.is_multiple_of(3))) % 3;
            let _ = writeln!(text, "w{word} c{} T{tag}", word % 4);
        }
        text.push('\n');
    }
    text
}

fn ratings(random: &mut Random) -> String {
    let mut text = String::new();
    for user in 0..15_u8 {
        for item in 0..12_u8 {
            if random.unit() < 0.5 {
                let rating = 3.0 + (f64::from(user % 3) - 1.0) * (f64::from(item % 4) - 1.5) / 2.0;
                let _ = writeln!(text, "u{user},i{item},{:.1}", rating + random.unit() - 0.5);
            }
        }
    }
    text
}

/// Graphs of a few rows and columns: an edge near the diagonal is a link more often than not, and says so now and then.
fn edges(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..20 {
        let (rows, columns) = (1 + random.below(4), 1 + random.below(4));
        for row in 0..rows {
            for column in 0..columns {
                let mark = match (row == column, random.below(4)) {
                    (true, 1..) => "1",
                    (false, 3) => "?",
                    _ => "0",
                };
                let near = row.abs_diff(column) as f64 / 2.0 + random.unit();
                let _ = writeln!(text, "{row} {column} {mark} near:{near} other:{}", random.unit());
            }
        }
        text.push('\n');
    }
    text
}
