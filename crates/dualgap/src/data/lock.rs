//! A file that only one program at a time can lock.
//!
//! The operating system releases the lock when the program that holds it ends, in whatever way: a file that a killed
//! program left behind is not locked.

use crate::container::temporary::Temporary;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};

/// A locked file; dropping this removes it.
#[derive(Debug)]
pub struct FileLock {
    path: PathBuf,
    file: File,
    stays: bool,
    _temporary: Temporary,
}

/// The result of an attempt to lock a file.
#[derive(Debug)]
pub enum Taken {
    /// This program holds the lock.
    Here(FileLock),
    /// Another process holds the lock: its number, if the file has one.
    Elsewhere(Option<u32>),
}

impl FileLock {
    /// Locks a file, which is created if it does not exist.
    ///
    /// ```
    /// # use dualgap::data::{FileLock, Taken};
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
                    // Some locks prevent reading; then the holder is unknown.
                    let _ = file.take(32).read_to_string(&mut text);
                    return Ok(Taken::Elsewhere(text.trim().parse().ok()));
                }
                // Some file systems have no locks: then the program can only continue without one.
                Err(TryLockError::Error(_)) | Ok(()) => {}
            }
            // The previous holder may have removed the file meanwhile, and the name may refer to another file by
            // now.
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

    /// Releases the lock without removing the file.
    pub fn leave(mut self) {
        self.stays = true;
    }
}

/// Whether an open file is the one at this path.
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
