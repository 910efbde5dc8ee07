//! The folder of a path. It is filled at the end, or not at all if there is nothing to store: until then all files
//! are in a hidden folder inside.
//!
//! A path that is killed leaves the hidden folder, with a file that marks it. The next path into the same folder
//! takes over: it removes the files of the first one, and nothing else. The marker is locked while a path is
//! running, so no path takes over from one that is alive.

use super::told;
use dualgap::container::{Temporary, check_link, write_atomically};
use dualgap::data::{FileLock, Taken};
use dualgap::structure::Structure;
use dualgap::task::Model;
use dualgap::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The hidden folder, ...
const HIDDEN: &str = ".dualgap-path";

/// ... the file in it that marks an unfinished path, ...
const MARK: &str = "unfinished";

/// ... and the one that lists what is brought to its place, once all of it is written.
const LIST: &str = "files";

pub struct Folder {
    place: PathBuf,
    /// Whether it was made here, and has to go if nothing is kept.
    made: bool,
    /// What lies hidden, for as long as it does.
    hidden: Option<Hidden>,
    names: Vec<String>,
}

/// The hidden folder of a path that is under way.
struct Hidden {
    path: PathBuf,
    lock: FileLock,
    temporary: Temporary,
}

impl Folder {
    /// Opens a folder for a path: a new or an empty one, or that of a path that was killed.
    pub fn new(place: &Path) -> Result<Self> {
        let unwritable = |error: std::io::Error| {
            let remedy = "does the folder around it exist, and may you write there?";
            Error::file(place, format!("cannot be written: {error}"), remedy)
        };
        check_link(place)?;
        let made = !place.exists();
        if made {
            fs::create_dir(place).map_err(unwritable)?;
        } else if !place.is_dir() {
            return Err(Error::file(place, "is no folder", "name a folder for the path"));
        }
        let mut folder = Self { place: place.into(), made, hidden: None, names: Vec::new() };
        let path = place.join(HIDDEN);
        if path.join(MARK).is_file() {
            folder.hidden = Some(take_over(place, &path)?);
        } else {
            if fs::read_dir(place).map_err(unwritable)?.next().is_some() {
                return Err(not_empty(place));
            }
            let made = Temporary::make(|| fs::create_dir(&path), |()| path.clone());
            let ((), temporary) = made.map_err(unwritable)?;
            let lock = lock(place, &path)?;
            folder.hidden = Some(Hidden { path, lock, temporary });
        }
        Ok(folder)
    }

    /// Returns where a file is until the end.
    fn file(&mut self, name: &str) -> PathBuf {
        self.names.push(name.into());
        self.hidden.as_ref().map_or(&*self.place, |hidden| &hidden.path).join(name)
    }

    pub fn write(&mut self, name: &str, text: &str) -> Result<()> {
        write_atomically(&self.file(name), text.as_bytes())
    }

    pub fn save<S: Structure>(&mut self, name: &str, model: &Model<S>) -> Result<()> {
        model.save(&self.file(name))
    }

    /// Moves all files to their final place, in the order in which they were written.
    pub fn finish(mut self) -> Result<()> {
        if let Some(Hidden { path, .. }) = &self.hidden {
            write_atomically(&path.join(LIST), self.names.join("\n").as_bytes())?;
        }
        let Some(Hidden { path, lock, temporary }) = self.hidden.take() else { return Ok(()) };
        self.made = false;
        let brought = temporary.settle(|| {
            for name in &self.names {
                let file = self.place.join(name);
                fs::rename(path.join(name), &file).map_err(|error| {
                    let message = format!("cannot be written: {error}");
                    Error::file(&file, message, "is there space, and may you write there?")
                })?;
            }
            Ok(())
        });
        match brought {
            Ok(()) => remove(&path, lock),
            Err(_) => lock.leave(), // so that the next path can take over
        }
        brought
    }
}

/// Removes the hidden folder, with the marker as the last of its files.
fn remove(hidden: &Path, lock: FileLock) {
    for entry in fs::read_dir(hidden).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name != MARK && is_ours(&name.to_string_lossy()) {
            let _ = fs::remove_file(entry.path());
        }
    }
    drop(lock);
    let _ = fs::remove_dir(hidden); // which spares what anyone else has put there
}

fn not_empty(place: &Path) -> Error {
    Error::file(place, "is not empty", "name a folder that is empty, or not there yet")
}

fn lock(place: &Path, hidden: &Path) -> Result<FileLock> {
    match FileLock::take(&hidden.join(MARK)) {
        Ok(Taken::Here(lock)) => Ok(lock),
        Ok(Taken::Elsewhere(holder)) => {
            let by = holder.map_or(String::new(), |process| format!(" (process {process})"));
            let message = format!("another path{by} is being written there");
            Err(Error::file(place, message, "name another folder, or wait until that one is done"))
        }
        Err(error) => {
            let message = format!("cannot be written: {error}");
            Err(Error::file(place, message, "may you write there?"))
        }
    }
}

/// Whether a path writes files of this name.
fn is_ours(name: &str) -> bool {
    let number = name.strip_prefix("model-").and_then(|name| name.strip_suffix(".dualgap"));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
        || [told::TABLE, told::PLOT, told::JSON, MARK, LIST].contains(&name)
        || name.starts_with(".dualgap-") // half a file
}

/// Empties the folder of a path that was killed, if it contains nothing else.
fn take_over(place: &Path, hidden: &Path) -> Result<Hidden> {
    let lock = lock(place, hidden)?;
    let names = |folder: &Path| -> Result<Vec<String>> {
        let unreadable = |error: std::io::Error| {
            Error::file(folder, format!("cannot be read: {error}"), "name another folder")
        };
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        fs::read_dir(folder).and_then(|entries| entries.map(name).collect()).map_err(unreadable)
    };
    // A path with all its files is finished, even if the hidden folder is still there.
    let list = fs::read_to_string(hidden.join(LIST)).unwrap_or_default();
    let moved: BTreeSet<&str> =
        list.lines().filter(|&name| is_ours(name) && name != told::JSON).collect();
    let others = names(place)?.into_iter().filter(|name| name != HIDDEN).collect::<Vec<_>>();
    let strange = others.iter().any(|name| !moved.contains(&name[..]));
    if strange || !names(hidden)?.iter().all(|name| is_ours(name)) {
        lock.leave(); // the mark stays with what it marks
        return Err(not_empty(place));
    }
    let temporary = Temporary::known(hidden);
    for name in others {
        let _ = fs::remove_file(place.join(name));
    }
    for name in names(hidden)?.iter().filter(|name| *name != MARK) {
        let _ = fs::remove_file(hidden.join(name));
    }
    Ok(Hidden { path: hidden.into(), lock, temporary })
}

impl Drop for Folder {
    /// Removes everything that was not moved to its final place.
    fn drop(&mut self) {
        if let Some(Hidden { path, lock, temporary: _ }) = self.hidden.take() {
            remove(&path, lock);
        }
        if self.made {
            let _ = fs::remove_dir(&self.place); // which spares what anyone else has put there
        }
    }
}
