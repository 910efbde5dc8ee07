//! `dualgap compress`: a small model, with a proof of what that costs.

use crate::args::CompressArgs;
use crate::claim::{certified_sentence, gap_share};
use crate::places::{check_not_read, check_writable};
use crate::predict::load;
use crate::words::{aligned, number, percent, thousands, to_json};
use crate::{Outcome, Tasks, print};
use dualgap::container::write_atomically;
use dualgap::data::Source;
use dualgap::run::Certificate;
use dualgap::structure::evaluation::Evaluation;
use dualgap::task::{AnyModel, Compressed, Compression};
use dualgap::{Error, Result};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json {
    bits: u32,
    keep: f64,
    before: Side,
    after: Side,
    /// By how much the objective rose.
    primal_rise: f64,
    /// Whether the new file proves its certificate by itself.
    proves_itself: bool,
    /// The certificate of the new file, which may be wider where it has no witness.
    stored: CertificateJson,
}

/// The model before or after.
#[derive(Serialize)]
struct Side {
    /// Of the file without its witness.
    bytes: usize,
    nonzero_weights: usize,
    load_seconds: f64,
    /// Reading and predicting the test file, or the training file if there is none.
    predict_seconds: f64,
    figures: Vec<(&'static str, f64)>,
    #[serde(flatten)]
    certificate: CertificateJson,
}

#[derive(Clone, Copy, Serialize)]
struct CertificateJson {
    primal: f64,
    dual: f64,
    gap: f64,
    relative_gap: f64,
    gap_bound: f64,
    relative_gap_bound: f64,
    rounding_error: f64,
}

impl From<Certificate> for CertificateJson {
    fn from(c: Certificate) -> Self {
        Self {
            primal: c.primal,
            dual: c.dual,
            gap: c.gap(),
            relative_gap: c.relative_gap(),
            gap_bound: c.gap_bound(),
            relative_gap_bound: c.relative_gap_bound(),
            rounding_error: c.rounding_error,
        }
    }
}

/// What is measured of a model.
struct Measured {
    bytes: usize,
    load_seconds: f64,
    predict_seconds: f64,
    figures: Vec<(&'static str, f64)>,
}

pub fn run(args: &CompressArgs, tasks: &Tasks) -> Result<Outcome> {
    let how = Compression::new(args.bits, args.keep)?.with_witness(args.witness);
    check_not_read(&args.output, &[&args.model, &args.data])?;
    check_writable(&args.output, "the compressed model")?;
    let begin = Instant::now();
    let mut model = load(&args.model, tasks)?;
    let loaded = begin.elapsed().as_secs_f64();
    let before = measure(&mut *model, args, loaded)?;
    let done = model.compress(Source::open(&args.data)?, &how)?;
    let bytes = model.to_bytes()?;
    write_atomically(&args.output, &bytes)?;
    let begin = Instant::now();
    let mut small = load(&args.output, tasks)?;
    let loaded = begin.elapsed().as_secs_f64();
    let after = measure(&mut *small, args, loaded)?;
    let proves_itself = args.witness || done.proves_itself;
    let text = if args.json {
        json(&how, (before, after), &done, model.certificate(), proves_itself)
    } else {
        let table = tell(&how, &before, &after, &done);
        format!("{table}\n{}", closing(args, &done, &*model, proves_itself))
    };
    print(&text)?;
    Ok(Outcome::Reached)
}

/// Measures a model: its file without a witness, and its predictions.
fn measure(model: &mut dyn AnyModel, args: &CompressArgs, load_seconds: f64) -> Result<Measured> {
    let witness = model.exchange_witness(None);
    let bytes = model.to_bytes()?.len();
    model.exchange_witness(witness);
    let recipe = model.provenance().recipe.as_ref();
    let (data, folds) = match &args.test {
        Some(test) => (test, None),
        None => (&args.data, recipe.and_then(|recipe| recipe.folds.clone())),
    };
    let begin = Instant::now();
    let (evaluation, _) = model.evaluate(Source::open(data)?, folds)?;
    let predict_seconds = begin.elapsed().as_secs_f64();
    Ok(Measured { bytes, load_seconds, predict_seconds, figures: figures(&evaluation) })
}

/// Returns how good predictions are, in few numbers.
fn figures(evaluation: &Evaluation) -> Vec<(&'static str, f64)> {
    match evaluation.labels() {
        Some(labels) => {
            let accuracy = ("accuracy", 100.0 * labels.figures().accuracy);
            let f1 = evaluation.f1().map(|f1| ("chunk F1", 100.0 * f1));
            [accuracy].into_iter().chain(f1).collect()
        }
        None => vec![("error", evaluation.error())],
    }
}

fn json(
    how: &Compression,
    (before, after): (Measured, Measured),
    done: &Compressed,
    stored: Certificate,
    proves_itself: bool,
) -> String {
    let side = |measured: Measured, nonzero_weights, certificate: Certificate| Side {
        bytes: measured.bytes,
        nonzero_weights,
        load_seconds: measured.load_seconds,
        predict_seconds: measured.predict_seconds,
        figures: measured.figures,
        certificate: certificate.into(),
    };
    to_json(&Json {
        bits: how.bits(),
        keep: how.keep(),
        before: side(before, done.weights_before, done.before),
        after: side(after, done.weights_after, done.after),
        primal_rise: done.after.primal - done.before.primal,
        proves_itself,
        stored: stored.into(),
    })
}

/// Returns a table of both models side by side.
fn tell(how: &Compression, before: &Measured, after: &Measured, done: &Compressed) -> String {
    let ratio = before.bytes as f64 / after.bytes.max(1) as f64;
    let bytes = |n: usize| thousands(n as u64);
    let gap = |c: &Certificate| format!("{} of the objective", gap_share(c.relative_gap()));
    let ms = |seconds: f64| format!("{:.1} ms", 1e3 * seconds);
    let mut rows = vec![
        (
            "kept",
            format!("{} of the squared norm, {} bits a weight", percent(how.keep()), how.bits()),
        ),
        (
            "file",
            format!(
                "{} → {} bytes, {ratio:.1} times smaller",
                bytes(before.bytes),
                bytes(after.bytes)
            ),
        ),
        (
            "weights",
            format!(
                "{} → {} that are not zero",
                bytes(done.weights_before),
                bytes(done.weights_after)
            ),
        ),
        ("loading", format!("{} → {}", ms(before.load_seconds), ms(after.load_seconds))),
        ("predicting", format!("{} → {}", ms(before.predict_seconds), ms(after.predict_seconds))),
    ];
    for ((name, old), (_, new)) in before.figures.iter().zip(&after.figures) {
        rows.push((name, format!("{} → {}", number(*old), number(*new))));
    }
    rows.extend([
        ("primal", format!("{} → {}", number(done.before.primal), number(done.after.primal))),
        ("gap", format!("{} → {}", gap(&done.before), gap(&done.after))),
    ]);
    aligned(&rows)
}

fn closing(
    args: &CompressArgs,
    done: &Compressed,
    model: &dyn AnyModel,
    proves_itself: bool,
) -> String {
    let claim = certified_sentence(&done.after);
    let (small, data) = (args.output.display(), args.data.display());
    let stored = model.certificate();
    let proof = if !proves_itself {
        let model = args.model.display();
        format!(
            "The dual point stays in {model}: `dualgap certify {small} {data} --witness {model}` proves it again. \
             With --witness the new file has it too."
        )
    } else if stored.gap() > done.after.gap() * 1.01 && !done.after.is_vacuous() {
        format!(
            "By itself {small} proves {}; with --witness it proves the smaller gap.",
            gap_share(stored.relative_gap())
        )
    } else {
        format!("`dualgap certify {small} {data}` proves it again.")
    };
    format!("{claim}\n{proof}\n")
}

/// Takes the dual point of another model file of the same problem.
pub fn borrow_witness(model: &mut dyn AnyModel, from: &Path, tasks: &Tasks) -> Result<()> {
    let mut other = load(from, tasks)?;
    let same = other.structure() == model.structure()
        && other.task() == model.task()
        && other.provenance().fingerprint == model.provenance().fingerprint;
    if !same {
        return Err(Error::file(
            from,
            "is a model of another problem, whose dual point proves nothing here",
            "name the model that was compressed",
        ));
    }
    if model.words().proves_itself {
        // What such a file claims is what its own weights prove, and not what those of another do.
        return Err(Error::setting(
            "a conditional random field proves itself: leave out --witness here; `dualgap compress --witness` stores a better dual point",
        ));
    }
    let Some(witness) = other.exchange_witness(None) else {
        return Err(Error::file(
            from,
            "has no witness",
            "name a model that was trained with --witness",
        ));
    };
    model.exchange_witness(Some(witness));
    Ok(())
}
