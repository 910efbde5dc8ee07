//! The destination of output: standard output, or a file that is written atomically.

use super::Source;
use super::packed::Packed;
use crate::Result;
use crate::container::atomic::{Begun, settle, unwritable};
use crate::container::temporary::Temporary;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A writer to standard output (`-`), or to a file that appears under its name only when everything is written.
///
/// ```
/// # use dualgap::data::Sink;
/// # use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("out.txt");
/// let mut sink = Sink::create(&path)?;
/// sink.text("half\n")?;
/// assert!(!path.exists());
/// sink.finish()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"half\n");
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct Sink {
    name: PathBuf,
    to: To,
}

enum To {
    Stdout(BufWriter<std::io::Stdout>),
    /// The reader has closed the pipe, as `head` does: further output is discarded.
    Nobody,
    File(Box<Packed>, Temporary),
}

impl Sink {
    /// Starts writing. It follows a link and refuses an existing path that is not a regular file, such as a pipe or
    /// a device.
    pub fn create(path: &Path) -> Result<Self> {
        if Source::is_stdin(path) {
            let to = To::Stdout(BufWriter::new(std::io::stdout()));
            return Ok(Self { name: "standard output".into(), to });
        }
        Self::file(path, Packed::plain)
    }

    /// [`create`](Self::create) that compresses the file if its name ends with `.gz`, `.bz2` or `.zst`.
    ///
    /// ```
    /// # use dualgap::data::{Sink, Source};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("out.txt.gz");
    /// let mut sink = Sink::create_named(&path)?;
    /// sink.text("a line\n")?;
    /// sink.finish()?;
    /// assert!(std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]));
    /// assert_eq!(Source::open(&path)?.next_line()?, Some("a line"));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn create_named(path: &Path) -> Result<Self> {
        if Source::is_stdin(path) { Self::create(path) } else { Self::file(path, Packed::named) }
    }

    fn file(
        given: &Path,
        pack: fn(&Path, tempfile::NamedTempFile) -> Result<Packed>,
    ) -> Result<Self> {
        let Begun { place, file, temporary } = Begun::new(given)?;
        let file = pack(given, file)?;
        Ok(Self { name: place, to: To::File(Box::new(file), temporary) })
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match &mut self.to {
            To::Stdout(out) => out.write_all(bytes),
            To::Nobody => Ok(()),
            To::File(file, _) => file.write_all(bytes),
        };
        self.check(written)
    }

    /// Passes on to a reader of standard output what was written so far. A file is written whole, by
    /// [`finish`](Self::finish).
    pub fn flush(&mut self) -> Result<()> {
        let flushed = match &mut self.to {
            To::Stdout(out) => out.flush(),
            To::Nobody | To::File(..) => Ok(()),
        };
        self.check(flushed)
    }

    /// Writes everything that is buffered and moves the file to its name.
    pub fn finish(mut self) -> Result<()> {
        let (file, temporary) = match std::mem::replace(&mut self.to, To::Nobody) {
            To::Stdout(mut out) => {
                let flushed = out.flush();
                self.to = To::Stdout(out);
                return self.check(flushed);
            }
            To::Nobody => return Ok(()),
            To::File(file, temporary) => (file, temporary),
        };
        let persist = || -> std::io::Result<()> { settle(file.finish()?, temporary, &self.name) };
        persist().map_err(|error| unwritable(&self.name, error))
    }

    fn check(&mut self, written: std::io::Result<()>) -> Result<()> {
        match written {
            Err(error)
                if error.kind() == ErrorKind::BrokenPipe && matches!(self.to, To::Stdout(_)) =>
            {
                self.to = To::Nobody;
                Ok(())
            }
            other => other.map_err(|error| unwritable(&self.name, error)),
        }
    }
}
