//! A folder that is there whole or not at all: it is filled beside its place, and moved there in the end.

use dualgap::data::write_atomically;
use dualgap::model::Model;
use dualgap::{Error, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Folder {
    place: PathBuf,
    beside: TempDir,
}

impl Folder {
    /// The place must be an empty folder, or nothing.
    pub fn new(place: &Path) -> Result<Self> {
        if place.exists() && !place.is_dir() {
            return Err(Error::file(place, "is no folder", "name a folder for the path"));
        }
        let empty =
            |place: &Path| std::fs::read_dir(place).is_ok_and(|mut all| all.next().is_none());
        if place.exists() && !empty(place) {
            return Err(Error::file(
                place,
                "is not empty",
                "name a folder that is empty, or not there yet",
            ));
        }
        // `x/.` and `x/..` name no folder that could be made.
        let Some(name) = place.file_name() else {
            return Err(Error::file(place, "is no name of a folder", "name a folder for the path"));
        };
        let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dualgap-");
        #[cfg(unix)]
        {
            // As any other new folder: the user's umask decides, not the caution of temporary ones.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o777));
        }
        let beside = builder.tempdir_in(parent).map_err(|error| {
            let remedy = "does the folder around it exist, and may you write there?";
            Error::file(place, format!("cannot be made: {error}"), remedy)
        })?;
        Ok(Self { place: parent.join(name), beside })
    }

    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        write_atomically(&self.beside.path().join(name), text.as_bytes())
    }

    pub fn save(&self, name: &str, model: &Model, witness: bool) -> Result<()> {
        let file = self.beside.path().join(name);
        if witness {
            return model.save(&file);
        }
        Model { witness: None, ..model.clone() }.save(&file)
    }

    /// Brings everything to its place.
    pub fn finish(self) -> Result<()> {
        let moved = || {
            if self.place.exists() {
                std::fs::remove_dir(&self.place)?; // which fails if anyone has put something there
            }
            std::fs::rename(self.beside.path(), &self.place)
        };
        moved().map_err(|error: std::io::Error| {
            let message = format!("cannot be written: {error}");
            Error::file(&self.place, message, "is it empty, and may you write there?")
        })?;
        let _ = self.beside.keep(); // it has moved: there is nothing to clean up
        Ok(())
    }
}
