//! Files and folders that are not yet what they will be.
//!
//! They go when their owner is dropped. A program that is told to end at once drops nobody, so their names are kept
//! here, and [`discard_all`] takes them along.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Names = BTreeSet<PathBuf>;

static NAMES: Mutex<Names> = Mutex::new(Names::new());

/// Names are put in and taken out whole, so a thread that panicked has left nothing half done.
fn names() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of something temporary, for as long as it is that.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes it and keeps its name, with nothing in between.
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

    /// Something that is there already.
    pub fn known(place: &Path) -> Self {
        names().insert(place.into());
        Self(place.into())
    }

    /// Brings it to its place for good, which cannot be interrupted by [`discard_all`].
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

/// While this is held, nothing temporary is made or brought to its place.
#[must_use = "what is made after it is dropped is left behind"]
pub struct Discarded(#[allow(dead_code)] MutexGuard<'static, Names>);

/// Removes everything that is temporary at the moment: for a program that ends now.
pub fn discard_all() -> Discarded {
    let mut names = names();
    for name in std::mem::take(&mut *names) {
        // What cannot be removed is left; there is nobody to tell.
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
        // Other tests may have temporaries of their own, which are none of ours to remove.
        let ours: Vec<PathBuf> =
            names().iter().filter(|name| name.starts_with(folder.path())).cloned().collect();
        assert_eq!(ours, [file("inner"), file("open")]);
        drop((open, inner));
        assert!(names().iter().all(|name| !name.starts_with(folder.path())));
        assert!(file("whole").exists() && file("dropped").exists());
    }
}
