//! Temporary files and folders, which become final later.
//!
//! Their owner removes them when it is dropped. A program that ends at once drops nothing, so this module has a list
//! of their names, and [`discard_all`] removes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Names = BTreeSet<PathBuf>;

static NAMES: Mutex<Names> = Mutex::new(Names::new());

/// Locks the list. Names are inserted and removed atomically, so it is valid even after a thread has panicked.
fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a temporary file or folder, registered while it is temporary.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Creates it and registers its name under the same lock.
    pub fn make<T, E>(
        make: impl FnOnce() -> Result<T, E>,
        place: impl FnOnce(&T) -> PathBuf,
    ) -> Result<(T, Self), E> {
        let mut names = names();
        let made = make()?;
        let place = place(&made);
        names.insert(place.clone());
        Ok((made, Self(place)))
    }

    /// Registers an existing file or folder.
    pub fn known(place: &Path) -> Self {
        names().insert(place.into());
        Self(place.into())
    }

    /// Moves it to its final place, which [`discard_all`] cannot interrupt.
    pub fn settle<T>(self, bring: impl FnOnce() -> T) -> T {
        let mut names = names();
        let brought = bring();
        names.remove(&self.0);
        drop(names);
        brought
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        names().remove(&self.0);
    }
}

/// While this is held, nothing temporary can be created or moved to its final place.
#[must_use = "what is made after it is dropped is left behind"]
pub struct Discarded(#[allow(dead_code)] MutexGuard<'static, Names>);

/// Removes everything that is temporary at the moment, for a program that ends now.
pub fn discard_all() -> Discarded {
    let mut names = names();
    for name in std::mem::take(&mut *names) {
        // What cannot be removed is left; nobody could receive an error any more.
        let _ = if name.is_dir() {
            std::fs::remove_dir_all(&name)
        } else {
            std::fs::remove_file(&name)
        };
    }
    Discarded(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_settled_stays_and_what_is_not_goes() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let make = |name: &str| {
            let made =
                Temporary::make(|| fs::write(file(name), "x").map(|()| file(name)), PathBuf::clone);
            made.unwrap().1
        };
        let (open, moved, dropped) = (make("open"), make("moved"), make("dropped"));
        fs::create_dir_all(file("inner/deep")).unwrap();
        let inner = Temporary::known(&file("inner"));
        moved.settle(|| fs::rename(file("moved"), file("whole"))).unwrap();
        drop(dropped);
        // Other tests may have temporary files of their own, which must stay.
        let ours: Vec<PathBuf> =
            names().iter().filter(|name| name.starts_with(folder.path())).cloned().collect();
        assert_eq!(ours, [file("inner"), file("open")]);
        drop((open, inner));
        assert!(names().iter().all(|name| !name.starts_with(folder.path())));
        assert!(file("whole").exists() && file("dropped").exists());
    }
}
