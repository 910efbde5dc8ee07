//! Files that are written whole or not at all.

use super::temporary::Temporary;
use crate::{Error, Result};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under a temporary name in the folder of its final name.
pub(crate) struct Begun {
    /// The final name; that of the file itself if the path is a link.
    pub place: PathBuf,
    pub file: NamedTempFile,
    pub temporary: Temporary,
}

impl Begun {
    /// Makes the temporary file. It follows a link and refuses an existing path that is not a regular file, such as a
    /// pipe or a device.
    pub fn new(given: &Path) -> Result<Self> {
        check_link(given)?;
        let followed = std::fs::canonicalize(given);
        let path = followed.as_deref().unwrap_or(given);
        if path.exists() && !path.is_file() {
            return Err(Error::file(given, "is not a plain file", "name a file to write to"));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dualgap-");
        #[cfg(unix)]
        {
            // The user's umask decides, as for any new file; temporary files would be private otherwise.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        if !folder.is_dir() {
            return Err(Error::file(given, "its folder does not exist", "make the folder first"));
        }
        let place = |file: &NamedTempFile| file.path().to_path_buf();
        let made = Temporary::make(|| builder.tempfile_in(folder), place);
        let (file, temporary) = made.map_err(|error| unwritable(given, error))?;
        Ok(Self { place: path.into(), file, temporary })
    }
}

/// Moves a file that is written to its final name.
pub(crate) fn settle(
    file: NamedTempFile,
    temporary: Temporary,
    place: &Path,
) -> std::io::Result<()> {
    file.as_file().sync_all()?;
    temporary.settle(|| file.persist(place))?;
    Ok(())
}

/// Returns an error for a dangling link: a rename would replace the link instead of creating the file it points to.
pub fn check_link(path: &Path) -> Result<()> {
    let Ok(target) = std::fs::read_link(path) else { return Ok(()) };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::file(
            path,
            format!("is a link to {}, which is not there", target.display()),
            "make what it points to, remove the link, or name another place",
        )),
        _ => Ok(()),
    }
}

pub(crate) fn unwritable(path: &Path, error: std::io::Error) -> Error {
    let message = format!("cannot be written: {error}");
    Error::file(path, message, "is there space, and may you write there?").caused_by(error)
}

/// Writes a file atomically.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let Begun { place, mut file, temporary } = Begun::new(path)?;
    let written = file.write_all(bytes).and_then(|()| settle(file, temporary, &place));
    written.map_err(|error| unwritable(&place, error))
}
