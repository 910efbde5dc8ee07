//! A file that one program at a time can hold.
//!
//! The lock is the operating system's and goes with the program that holds it, however that ends: a file that was left
//! behind by a program that was killed is free.

use super::temporary::Temporary;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};

/// A file that is held; it is removed when this is dropped.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: File,
    stays: bool,
    _temporary: Temporary,
}

/// Whether a file could be had.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Here(FileLock),
    /// Somebody else holds it: the number of the process, as far as the file tells.
    Elsewhere(Option<u32>),
}

impl FileLock {
    /// Takes a file, which is made if it is not there.
    ///
    /// ```
    /// # use dualgap::data::lock::{FileLock, Taken};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("run.lock");
    /// let Taken::Here(lock) = FileLock::take(&path)? else { panic!("nobody else knows it") };
    /// assert!(matches!(FileLock::take(&path)?, Taken::Elsewhere(_)));
    /// drop(lock);
    /// assert!(matches!(FileLock::take(&path)?, Taken::Here(_)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn take(path: &Path) -> Result<Taken> {
        loop {
            let mut file =
                File::options().read(true).write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    // Where a lock keeps readers out, nothing is known of who holds it.
                    let _ = file.take(32).read_to_string(&mut text);
                    return Ok(Taken::Elsewhere(text.trim().parse().ok()));
                }
                // A file system that knows no locks: there is no better way than to go on without.
                Err(TryLockError::Error(_)) | Ok(()) => {}
            }
            // Whoever held it may have removed it meanwhile, and the name may be another file by now.
            if !is_at(&file, path) {
                continue;
            }
            let temporary = Temporary::known(path);
            file.set_len(0)?;
            file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
            return Ok(Taken::Here(Self {
                path: path.into(),
                file,
                stays: false,
                _temporary: temporary,
            }));
        }
    }

    /// Gives the file back, and leaves it where it is.
    pub fn leave(mut self) {
        self.stays = true;
    }
}

/// Whether a file is the one of that name.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        match (file.metadata(), std::fs::metadata(path)) {
            (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
            (_, Err(error)) => error.kind() != ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, ErrorKind::NotFound);
        path.exists()
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if !self.stays && is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_held_once_and_says_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, "left behind by somebody who was killed").unwrap();
        let Taken::Here(lock) = FileLock::take(&path).unwrap() else { panic!("it is free") };
        let Taken::Elsewhere(holder) = FileLock::take(&path).unwrap() else { panic!("it is held") };
        if cfg!(unix) {
            assert_eq!(holder, Some(std::process::id()));
        }
        drop(lock);
        assert!(!path.exists());
        assert!(matches!(FileLock::take(&path).unwrap(), Taken::Here(_)));
        assert!(FileLock::take(&folder.path().join("no/such/folder")).is_err());
    }
}
