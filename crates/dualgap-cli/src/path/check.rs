//! `dualgap certify FOLDER DATA`: verifies a whole path without trusting a number in its files.

use super::told::{Entry, JSON, Told};
use crate::args::CertifyArgs;
use crate::report::notes;
use crate::words::{aligned, thousands, to_json};
use crate::{Outcome, Tasks, print};
use dualgap::data::{Recipe, Source};
use dualgap::run::{Interval, Tolerance};
use dualgap::structure::{Purpose, Remark, Structure};
use dualgap::task::{Description, Model, RawModel, check_path};
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
pub fn run(args: &CertifyArgs, tasks: &Tasks) -> Result<Outcome> {
    let folder = &args.model;
    let told = read(folder)?;
    let (Some(first), Some(from)) = (told.models.first(), told.covered_from) else {
        return Err(Error::file(folder, "is a path without models", "there is nothing to check"));
    };
    let interval = Interval::new(from, told.to)?;
    let raw = RawModel::open(&place(folder, &first.file)?)?;
    let recipe = recipe_of(&raw, &place(folder, &first.file)?)?;
    let claim = Claim { folder, told: &told, interval, recipe };
    let (bare, problem) = tasks.check_path(raw.structure(), &claim, Source::open(&args.data)?)?;
    tell(args, &claim, bare, problem.at_every_lambda())
}

fn recipe_of(raw: &RawModel, file: &Path) -> Result<Recipe> {
    raw.provenance().recipe.clone().ok_or_else(|| crate::predict::from_memory(file))
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
pub struct Claim<'a> {
    pub folder: &'a Path,
    told: &'a Told,
    interval: Interval,
    /// Of the first model, and so of all.
    recipe: Recipe,
}

impl Claim<'_> {
    fn load<S: Structure>(&self, entry: &Entry) -> Result<Model<S>> {
        let file = place(self.folder, &entry.file)?;
        let model: Model<S> = Model::load(&file)?;
        if model.provenance.recipe.as_ref() == Some(&self.recipe) {
            return Ok(model);
        }
        Err(Error::file(
            &file,
            "was trained on other data than the first model",
            "the path is worth nothing",
        ))
    }

    /// Verifies every model by itself and, if all have a witness, as a part of the path. Returns the number of models
    /// without one, whose intervals cannot be proved, and the problem of the first model, with the recipe that the data
    /// were read with.
    pub fn check<S: Structure>(&self, source: Source<'_>) -> Result<(usize, Description)> {
        let Told { models, tolerance, .. } = self.told;
        let mut first: Model<S> = self.load(&models[0])?;
        let loaded = first.task.structure.read(&self.recipe, source, Purpose::Train)?;
        let data = &loaded.data;
        let mut bare = 0;
        for entry in models {
            bare += usize::from(self.load::<S>(entry)?.witness.is_none());
        }
        if bare > 0 {
            self.verify_each::<S>(data)?;
        } else {
            let claims = models.iter().map(|entry| Ok((self.load::<S>(entry)?, entry.interval)));
            check_path(claims, self.interval, *tolerance, |model| {
                model.certify(data)?;
                model.reach(data)
            })?;
        }
        first.provenance.recipe = Some(loaded.recipe.clone());
        Ok((bare, first.describe(Some(data))))
    }

    /// Checks what can be checked without witnesses: every model by itself, and that all solve the same problem.
    fn verify_each<S: Structure>(&self, data: &S::Data) -> Result<()> {
        let mut first = None;
        for entry in &self.told.models {
            let model: Model<S> = self.load(entry)?;
            let problem = model.describe(None).at_every_lambda().json;
            if *first.get_or_insert_with(|| problem.clone()) != problem {
                return Err(Error::file(
                    &place(self.folder, &entry.file)?,
                    "is of another problem than the first model",
                    "the path is worth nothing",
                ));
            }
            model.certify(data)?;
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
