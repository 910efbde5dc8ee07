//! What the folder of a path says that is to be proved.

use super::told::{Entry, JSON, Told};
use crate::formats::from_memory;
use dualgap::data::{Recipe, Source};
use dualgap::run::Interval;
use dualgap::structure::{Purpose, Structure};
use dualgap::task::{Description, Model, Over, RawModel, check_path};
use dualgap::{Error, Result};
use std::path::{Path, PathBuf};

/// Returns the path of a model, which must be in the folder itself.
pub fn place(folder: &Path, file: &str) -> Result<PathBuf> {
    if Path::new(file).file_name().is_some_and(|name| name == file) {
        return Ok(folder.join(file));
    }
    Err(Error::file(&folder.join(JSON), format!("names a model `{file}`"), "train the path again"))
}

/// What a folder says that is to be proved.
pub struct Claim<'a> {
    pub folder: &'a Path,
    pub told: &'a Told,
    pub interval: Interval,
    /// Of the first model, and so of all.
    recipe: Recipe,
}

impl<'a> Claim<'a> {
    /// Returns what a folder says, whose first model is this one.
    pub fn new(
        folder: &'a Path,
        told: &'a Told,
        interval: Interval,
        first: &RawModel,
    ) -> Result<Self> {
        match first.provenance().recipe.clone() {
            Some(recipe) => Ok(Self { folder, told, interval, recipe }),
            None => Err(from_memory(folder)),
        }
    }

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
        if self.told.over != Over::Lambda {
            let claims =
                models.iter().map(|entry| Ok((self.load::<S>(entry)?, entry.interval.from)));
            let bare = self.told.over.check_path(data, claims, *tolerance)?;
            first.provenance.recipe = Some(loaded.recipe.clone());
            return Ok((bare, first.describe(Some(data))));
        }
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
