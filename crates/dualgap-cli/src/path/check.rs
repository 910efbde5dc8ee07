//! `dualgap certify FOLDER DATA`: verifies a whole path without trusting a number in its files.

use super::claim::{Claim, place};
use super::told::{JSON, Told};
use crate::args::CertifyArgs;
use crate::report::notes;
use crate::words::{aligned, thousands, to_json};
use crate::{Outcome, Tasks, print};
use dualgap::data::Source;
use dualgap::run::{Interval, Tolerance};
use dualgap::structure::Remark;
use dualgap::task::{Description, Over, RawModel};
use dualgap::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// The object that `--json` prints. Fields may be added; none changes its meaning.
#[derive(Serialize)]
struct Json<'a> {
    /// Whether every interval is proved.
    verified: bool,
    dual_proved: bool,
    certified: bool,
    models: usize,
    without_witness: usize,
    #[serde(flatten)]
    interval: Interval,
    tolerance: Tolerance,
    /// What the path is over.
    over: Over,
    /// That of all models, with null for λ, and for what else is varied.
    problem: &'a Value,
    remarks: &'a [Remark],
}

/// Verifies a path, or returns an error if it does not hold. If a model has no witness, only the primal values are
/// verified and the path is not proved: the exit code is then 1.
pub fn run(args: &CertifyArgs, tasks: &Tasks) -> Result<Outcome> {
    let folder = &args.model;
    let told = read(folder)?;
    let (Some(first), Some(from)) = (told.models.first(), told.covered_from) else {
        return Err(Error::file(folder, "is a path without models", "there is nothing to check"));
    };
    let interval = Interval::new(from, told.to)?;
    let raw = RawModel::open(&place(folder, &first.file)?)?;
    let claim = Claim::new(folder, &told, interval, &raw)?;
    let (bare, problem) = tasks.check_path(raw.structure(), &claim, Source::open(&args.data)?)?;
    tell(args, &claim, bare, problem.at_every(told.over))
}

fn read(folder: &Path) -> Result<Told> {
    let file = folder.join(JSON);
    if !file.is_file() {
        let message = format!("is not a file, and no folder of a path: it has no {JSON}");
        let remedy = "name a model file, or the folder that dualgap path has written";
        return Err(Error::file(folder, message, remedy));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Error::file(&file, format!("cannot be read: {error}"), "may you read it?")
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Error::file(&file, format!("is not the file of a path: {error}"), "train the path again")
    })
}

fn tell(
    args: &CertifyArgs,
    claim: &Claim<'_>,
    bare: usize,
    problem: Description,
) -> Result<Outcome> {
    let &Claim { told, interval, .. } = claim;
    let (tolerance, models, proved) = (told.tolerance, told.models.len(), bare == 0);
    let Description { lines, json, mut remarks } = problem;
    let outcome = if proved { Outcome::Reached } else { Outcome::NotReached };
    if args.json {
        remarks.extend(Remark::on_path(bare));
        print(&to_json(&Json {
            verified: proved,
            dual_proved: proved,
            certified: proved,
            models,
            without_witness: bare,
            interval,
            tolerance,
            over: told.over,
            problem: &json,
            remarks: &remarks,
        }))?;
        return Ok(outcome);
    }
    let mut rows = vec![
        ("path", args.model.display().to_string()),
        ("models", thousands(models as u64)),
        ("data", args.data.display().to_string()),
        ("fingerprint", "the data are those of the training runs".into()),
    ];
    rows.extend(lines);
    let (evidence, sentence) = if proved {
        let sentence = match told.over {
            Over::Lambda => told.certified(interval.from),
            _ => told.certified_grid(),
        };
        ("proved from the stored weights and witnesses, which are feasible", sentence)
    } else {
        (
            "the word of the training runs: there are models without a witness",
            format!(
                "Verified: the primal values. {bare} of {models} models have no witness, so that nothing is proved of \
                 the path: train it with --witness."
            ),
        )
    };
    rows.push((if told.over == Over::Lambda { "intervals" } else { "gaps" }, evidence.into()));
    print(&format!("{}{}\n{sentence}\n", aligned(&rows), notes(&remarks)))?;
    Ok(outcome)
}
