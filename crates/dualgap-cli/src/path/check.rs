//! `dualgap certify FOLDER DATA`: a whole path, proved again without trusting a number in its files.

use super::told::{JSON, Told};
use crate::args::CertifyArgs;
use crate::predict::load;
use crate::problem::Dataset;
use crate::report::{aligned, thousands, to_json};
use crate::{Outcome, print};
use dualgap::data::{Examples, Recipe, Sequences, Source};
use dualgap::model::{
    Model, Structure, check_path, verify_examples, verify_linear, verify_sequences,
};
use dualgap::run::{Interval, Reach, Tolerance};
use dualgap::{Error, Result};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Json {
    verified: bool,
    models: usize,
    #[serde(flatten)]
    interval: Interval,
    tolerance: Tolerance,
}

/// Refuses what does not hold with an error.
pub fn run(args: &CertifyArgs) -> Result<Outcome> {
    let folder = &args.model;
    let told = read(folder)?;
    let (Some(first), Some(from)) = (told.models.first(), told.covered_from) else {
        return Err(Error::file(folder, "is a path without models", "there is nothing to check"));
    };
    let interval = Interval::new(from, told.to)?;
    let (model, recipe) = load(&place(folder, &first.file)?)?;
    let source = Source::open(&args.data)?;
    if let Structure::Chain { .. } = model.structure {
        let data: Sequences = recipe.sequences(source, None)?.data;
        check(folder, &told, interval, &recipe, &data, |m| verify_sequences(m, &data).map(drop))?;
    } else {
        let data: Examples = recipe.examples(source, None)?.data;
        check(folder, &told, interval, &recipe, &data, |model| match model.structure {
            Structure::Linear { .. } => verify_linear(model, &data).map(drop),
            _ => verify_examples(model, &data).map(drop),
        })?;
    }
    tell(args, &told, interval)
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

/// A model lies in the folder itself.
fn place(folder: &Path, file: &str) -> Result<std::path::PathBuf> {
    if Path::new(file).file_name().is_some_and(|name| name == file) {
        return Ok(folder.join(file));
    }
    Err(Error::file(&folder.join(JSON), format!("names a model `{file}`"), "train the path again"))
}

/// Every model is verified as one of its own, and then as a part of the path.
fn check<D: Dataset>(
    folder: &Path,
    told: &Told,
    interval: Interval,
    recipe: &Recipe,
    data: &D,
    verify: impl Fn(&Model) -> Result<()>,
) -> Result<()> {
    let claims = told.models.iter().map(|entry| {
        let file = place(folder, &entry.file)?;
        let (model, own) = load(&file)?;
        if own != *recipe {
            return Err(Error::file(
                &file,
                "was trained on other data than the first model",
                "the path is worth nothing",
            ));
        }
        if model.witness.is_none() {
            return Err(Error::file(
                &file,
                "has no witness, and proves nothing at another lambda without",
                "train the path with --witness",
            ));
        }
        Ok((model, entry.interval))
    });
    check_path(claims, interval, told.tolerance, |model| -> Result<Reach> {
        verify(model)?;
        data.reach(model)
    })
}

fn tell(args: &CertifyArgs, told: &Told, interval: Interval) -> Result<Outcome> {
    let (tolerance, models) = (told.tolerance, told.models.len());
    if args.json {
        print(&to_json(&Json { verified: true, models, interval, tolerance }))?;
        return Ok(Outcome::Reached);
    }
    let rows = [
        ("path", args.model.display().to_string()),
        ("models", thousands(models as u64)),
        ("data", args.data.display().to_string()),
        ("fingerprint", "the data are those of the training runs".into()),
        ("intervals", "proved from the stored weights and witnesses, which are feasible".into()),
    ];
    print(&format!("{}\n{}\n", aligned(&rows), told.certified(interval.from)))?;
    Ok(Outcome::Reached)
}
