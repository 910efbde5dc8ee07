//! `dualgap certify FOLDER DATA`: verifies a whole path without trusting a number in its files.

use super::told::{Entry, JSON, Told};
use crate::args::CertifyArgs;
use crate::predict::load;
use crate::problem::Dataset;
use crate::report::{aligned, notes, thousands, to_json};
use crate::{Outcome, print};
use dualgap::data::{Examples, Loaded, Recipe, Sequences, Source};
use dualgap::model::{
    Description, Model, Remark, Structure, check_path, describe, describe_with, verify_examples,
    verify_linear, verify_sequences,
};
use dualgap::run::{Interval, Reach, Tolerance};
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
    /// That of all models, with null for λ.
    problem: &'a Value,
    remarks: &'a [Remark],
}

/// Verifies a path, or returns an error if it does not hold. If a model has no witness, only the primal values are
/// verified and the path is not proved: the exit code is then 1.
pub fn run(args: &CertifyArgs) -> Result<Outcome> {
    let folder = &args.model;
    let told = read(folder)?;
    let (Some(first), Some(from)) = (told.models.first(), told.covered_from) else {
        return Err(Error::file(folder, "is a path without models", "there is nothing to check"));
    };
    let interval = Interval::new(from, told.to)?;
    let (mut model, recipe) = load(&place(folder, &first.file)?)?;
    let source = Source::open(&args.data)?;
    let claim = Claim { folder, told: &told, interval, recipe: &recipe };
    let (bare, problem) = if let Structure::Chain { .. } = model.structure {
        let loaded: Loaded<Sequences> = recipe.sequences(source, None)?;
        let data = &loaded.data;
        let bare = claim.check(data, |model| verify_sequences(model, data).map(drop))?;
        model.provenance.recipe = Some(loaded.recipe);
        (bare, describe(&model))
    } else {
        let loaded: Loaded<Examples> = recipe.examples(source, None)?;
        let data = &loaded.data;
        let bare = claim.check(data, |model| match model.structure {
            Structure::Linear { .. } => verify_linear(model, data).map(drop),
            _ => verify_examples(model, data).map(drop),
        })?;
        model.provenance.recipe = Some(loaded.recipe);
        (bare, describe_with(&model, data))
    };
    tell(args, &claim, bare, problem.at_every_lambda())
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

/// Returns the path of a model, which must be in the folder itself.
fn place(folder: &Path, file: &str) -> Result<std::path::PathBuf> {
    if Path::new(file).file_name().is_some_and(|name| name == file) {
        return Ok(folder.join(file));
    }
    Err(Error::file(&folder.join(JSON), format!("names a model `{file}`"), "train the path again"))
}

/// What a folder says that is to be proved.
struct Claim<'a> {
    folder: &'a Path,
    told: &'a Told,
    interval: Interval,
    /// Of the first model, and so of all.
    recipe: &'a Recipe,
}

impl Claim<'_> {
    fn load(&self, entry: &Entry) -> Result<Model> {
        let file = place(self.folder, &entry.file)?;
        let (model, recipe) = load(&file)?;
        if recipe == *self.recipe {
            return Ok(model);
        }
        Err(Error::file(
            &file,
            "was trained on other data than the first model",
            "the path is worth nothing",
        ))
    }

    /// Verifies every model by itself and, if all have a witness, as a part of the path. Returns the number of
    /// models without one: their intervals cannot be proved.
    fn check<D: Dataset>(&self, data: &D, verify: impl Fn(&Model) -> Result<()>) -> Result<usize> {
        let Told { models, tolerance, .. } = self.told;
        let mut bare = 0;
        for entry in models {
            bare += usize::from(self.load(entry)?.witness.is_none());
        }
        if bare > 0 {
            self.verify_each(verify)?;
            return Ok(bare);
        }
        let claims = models.iter().map(|entry| Ok((self.load(entry)?, entry.interval)));
        check_path(claims, self.interval, *tolerance, |model| -> Result<Reach> {
            verify(model)?;
            data.reach(model)
        })?;
        Ok(0)
    }

    /// Checks what can be checked without witnesses: every model by itself, and that all solve the same problem.
    fn verify_each(&self, verify: impl Fn(&Model) -> Result<()>) -> Result<()> {
        let mut first = None;
        for entry in &self.told.models {
            let model = self.load(entry)?;
            let problem = describe(&model).at_every_lambda().json;
            if *first.get_or_insert_with(|| problem.clone()) != problem {
                return Err(Error::file(
                    &place(self.folder, &entry.file)?,
                    "is of another problem than the first model",
                    "the path is worth nothing",
                ));
            }
            verify(&model)?;
        }
        Ok(())
    }
}

fn tell(
    args: &CertifyArgs,
    claim: &Claim<'_>,
    bare: usize,
    problem: Description,
) -> Result<Outcome> {
    let Claim { told, interval, .. } = *claim;
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
        (
            "proved from the stored weights and witnesses, which are feasible",
            told.certified(interval.from),
        )
    } else {
        (
            "the word of the training runs: there are models without a witness",
            format!(
                "Verified: the primal values. {bare} of {models} models have no witness, so that nothing is proved of \
                 the path: train it with --witness."
            ),
        )
    };
    rows.push(("intervals", evidence.into()));
    print(&format!("{}{}\n{sentence}\n", aligned(&rows), notes(&remarks)))?;
    Ok(outcome)
}
