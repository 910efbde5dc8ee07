//! A text file, plain or gzip, read line by line, with errors that name the place.

use crate::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A line longer than this is no line of data: a binary file, or something worse.
const LONGEST_LINE: u64 = 1 << 28;

/// Lines of text with their numbers.
///
/// ```
/// # use dualgap::data::Source;
/// let mut source = Source::from_bytes("demo", b"one\r\ntwo");
/// let mut lines = Vec::new();
/// while let Some(line) = source.next_line()? {
///     lines.push(line.to_string());
/// }
/// assert_eq!(lines, ["one", "two"]);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct Source<'a> {
    name: String,
    reader: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
}

/// What is wrong with a line, and what to do about it; the source adds where.
pub(super) type Complaint = (String, &'static str);

const GZIP: [u8; 2] = [0x1f, 0x8b];

impl<'a> Source<'a> {
    /// A file; whether it is compressed is told by its first bytes, not by its name.
    pub fn open(path: &Path) -> Result<Source<'static>> {
        let unreadable = |error: std::io::Error| {
            Error::file(
                path,
                format!("cannot be read: {error}"),
                "check the path and the permissions",
            )
        };
        if path.is_dir() {
            return Err(Error::file(path, "is a folder", "name a file in it"));
        }
        let file = File::open(path).map_err(unreadable)?;
        Source::new(path.display().to_string(), BufReader::with_capacity(1 << 16, file))
    }

    /// Text or gzip in memory.
    pub fn from_bytes(name: &str, bytes: &'a [u8]) -> Self {
        Self::with_reader(name.into(), bytes, bytes.starts_with(&GZIP))
    }

    fn new(name: String, mut reader: impl BufRead + 'a) -> Result<Self> {
        let head = reader.fill_buf().map_err(|error| Error::File {
            file: name.clone(),
            message: format!("cannot be read: {error}"),
            remedy: "check the path and the permissions".into(),
        })?;
        let compressed = head.starts_with(&GZIP);
        Ok(Self::with_reader(name, reader, compressed))
    }

    fn with_reader(name: String, reader: impl BufRead + 'a, compressed: bool) -> Self {
        let reader: Box<dyn BufRead + 'a> = if compressed {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader)))
        } else {
            Box::new(reader)
        };
        Self { name, reader, line: Vec::new(), number: 0 }
    }

    /// The next line without its end, or `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        self.number += 1;
        let mut limited = (&mut self.reader).take(LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut self.line).map_err(|error| Error::Line {
            file: self.name.clone(),
            line: self.number,
            message: format!("cannot be read: {error}"),
            remedy: "is the file cut off or damaged?".into(),
        })?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 == LONGEST_LINE {
            return Err(self.error("the line does not end", "is this a text file?"));
        }
        while let Some(b'\n' | b'\r') = self.line.last() {
            self.line.pop();
        }
        let bom = if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        match std::str::from_utf8(&self.line[bom..]) {
            Ok(line) => Ok(Some(line)),
            Err(_) => Err(Error::Line {
                file: self.name.clone(),
                line: self.number,
                message: "is not UTF-8 text".into(),
                remedy: "convert the file to UTF-8, and check that it is not a binary one".into(),
            }),
        }
    }

    /// What an error message calls the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the line that was read last.
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// An error at the line that was read last.
    pub fn error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Line {
            file: self.name.clone(),
            line: self.number,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// An error about the file as a whole.
    pub fn file_error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::File { file: self.name.clone(), message: message.into(), remedy: remedy.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn lines(bytes: &[u8]) -> Result<Vec<String>> {
        let mut source = Source::from_bytes("test", bytes);
        let mut lines = Vec::new();
        while let Some(line) = source.next_line()? {
            lines.push(line.to_string());
        }
        Ok(lines)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_gzip_give_the_same_lines() {
        let text = b"\xef\xbb\xbfa 1\r\n\nb 2";
        assert_eq!(lines(text).unwrap(), ["a 1", "", "b 2"]);
        assert_eq!(lines(&gzip(text)).unwrap(), ["a 1", "", "b 2"]);
        let two_members = [gzip(b"x\n"), gzip(b"y\n")].concat();
        assert_eq!(lines(&two_members).unwrap(), ["x", "y"]);
        assert!(lines(b"").unwrap().is_empty());
    }

    #[test]
    fn damaged_files_name_the_line() {
        let whole = gzip("good\n".repeat(10_000).as_bytes());
        let error = lines(&whole[..whole.len() - 20]).unwrap_err();
        assert!(error.to_string().starts_with("test:"), "{error}");
        let error = lines(b"fine\n\xff\xfe\n").unwrap_err();
        assert!(error.to_string().starts_with("test:2: is not UTF-8"), "{error}");
    }

    #[test]
    fn a_folder_or_a_missing_file_is_an_error() {
        assert!(Source::open(Path::new(".")).is_err());
        assert!(Source::open(Path::new("no/such/file")).is_err());
    }
}
