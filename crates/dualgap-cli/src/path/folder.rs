//! A folder that is filled in the end, and not at all if there is nothing to keep: until then all of it lies in a hidden
//! folder inside.

use dualgap::data::write_atomically;
use dualgap::model::Model;
use dualgap::{Error, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Folder {
    place: PathBuf,
    /// Whether it was made here, and has to go if nothing is kept.
    made: bool,
    hidden: Option<TempDir>,
    names: Vec<String>,
}

impl Folder {
    /// The place must be an empty folder, or nothing.
    pub fn new(place: &Path) -> Result<Self> {
        let unwritable = |error: std::io::Error| {
            let remedy = "does the folder around it exist, and may you write there?";
            Error::file(place, format!("cannot be written: {error}"), remedy)
        };
        let made = !place.exists();
        if made {
            std::fs::create_dir(place).map_err(unwritable)?;
        } else if !place.is_dir() {
            return Err(Error::file(place, "is no folder", "name a folder for the path"));
        } else if std::fs::read_dir(place).map_err(unwritable)?.next().is_some() {
            return Err(Error::file(
                place,
                "is not empty",
                "name a folder that is empty, or not there yet",
            ));
        }
        let mut folder = Self { place: place.into(), made, hidden: None, names: Vec::new() };
        let hidden = tempfile::Builder::new().prefix(".dualgap-").tempdir_in(place);
        folder.hidden = Some(hidden.map_err(unwritable)?);
        Ok(folder)
    }

    /// Where a file lies until the end.
    fn file(&mut self, name: &str) -> PathBuf {
        self.names.push(name.into());
        self.hidden.as_ref().map_or(&*self.place, TempDir::path).join(name)
    }

    pub fn write(&mut self, name: &str, text: &str) -> Result<()> {
        write_atomically(&self.file(name), text.as_bytes())
    }

    pub fn save(&mut self, name: &str, model: &Model, witness: bool) -> Result<()> {
        let file = self.file(name);
        if witness {
            return model.save(&file);
        }
        Model { witness: None, ..model.clone() }.save(&file)
    }

    /// Brings everything to its place, in the order in which it was written.
    pub fn finish(mut self) -> Result<()> {
        self.made = false;
        let Some(hidden) = self.hidden.take() else { return Ok(()) };
        for name in &self.names {
            let file = self.place.join(name);
            std::fs::rename(hidden.path().join(name), &file).map_err(|error| {
                let message = format!("cannot be written: {error}");
                Error::file(&file, message, "is there space, and may you write there?")
            })?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    /// Whatever was not brought to its place goes.
    fn drop(&mut self) {
        drop(self.hidden.take());
        if self.made {
            let _ = std::fs::remove_dir(&self.place); // which spares what anyone else has put there
        }
    }
}
