//! A text file, plain or compressed, read line by line, with errors that name the line.

use super::mapped::DATA_FILE;
use crate::linalg::memory::has_headroom;
use crate::{Error, Result, Setting};
use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The longest line of data: a longer one belongs to a binary file, or something worse.
pub(super) const LONGEST_LINE: usize = 1 << 28;

/// The number of bytes of text between two checks of the free memory.
const CHECKED_EVERY: usize = 1 << 20;

/// What the beginning of a file says that it has.
#[derive(PartialEq)]
enum Form {
    Lines,
    /// A data file, at this path.
    Mapped(PathBuf),
    /// A data file that is no file by itself, such as standard input, and cannot be mapped.
    Unmapped,
}

/// Lines of text with their numbers.
///
/// ```
/// # use dualgap::data::Source;
/// let mut source = Source::from_bytes("demo", b"one\r\ntwo")?;
/// let mut lines = Vec::new();
/// while let Some(line) = source.next_line()? {
///     lines.push(line.to_string());
/// }
/// assert_eq!(lines, ["one", "two"]);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct Source<'a> {
    pub(super) name: String,
    pub(super) reader: Guarded<Box<dyn BufRead + Send + 'a>>,
    line: Vec<u8>,
    pub(super) number: u64,
    pub(super) encoding: Encoding,
    /// The line, where it had to be converted.
    converted: String,
    /// Whether it comes as it is written: from a pipe or a terminal, not from a file.
    live: bool,
    form: Form,
    /// The beginning of the line after the last piece.
    pub(super) rest: Vec<u8>,
    /// What was wrong after the last piece.
    pub(super) failed: Option<Error>,
    /// Files that belong to this one line by line, by the ending of their names.
    beside: Vec<(&'static str, Source<'a>)>,
}

/// What is wrong with a line and its remedy; the source adds file and line.
pub(super) type Complaint = (String, &'static str);

/// The remedy for bytes that are no text.
pub(super) const NOT_TEXT: &str =
    "convert the file to UTF-8, and check that it is not a binary one";

/// How the bytes of a text become characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// ISO 8859-1, also known as Latin-1: every byte is the character of its number.
    Latin1,
}

impl Encoding {
    /// Whether it is UTF-8.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so
    pub(super) fn is_utf8(&self) -> bool {
        *self == Self::Utf8
    }

    /// Returns the bytes of a text; a character that the encoding lacks becomes `?`.
    ///
    /// ```
    /// # use dualgap::data::Encoding;
    /// assert_eq!(*Encoding::Latin1.bytes("\u{e9}\u{416}"), *b"\xe9?");
    /// ```
    pub fn bytes(self, text: &str) -> Cow<'_, [u8]> {
        match self {
            Self::Latin1 if !text.is_ascii() => {
                text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
            }
            Self::Utf8 | Self::Latin1 => text.as_bytes().into(),
        }
    }
}

/// The first bytes of compressed files.
const MAGIC: [(&[u8], Compression); 3] = [
    (&[0x1f, 0x8b], Compression::Gzip),
    (b"BZh", Compression::Bzip2),
    (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
];

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Bzip2,
    Zstd,
}

/// The byte-order mark that some editors put at the beginning.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The size of the buffer: larger than almost any line, and a few pages; reading is never the slow part.
pub(super) const BUFFER: usize = 1 << 16;

impl<'a> Source<'a> {
    /// Opens a file, or standard input for `-`; its first bytes decide whether it is compressed, not its name. A PREFIX
    /// of files `PREFIX.e`, `PREFIX.f` and `PREFIX.a`, which is itself no file, opens the first with the others
    /// [`beside`](Self::beside) it; their names may end with `.gz`.
    pub fn open(path: &Path) -> Result<Source<'static>> {
        if Self::is_stdin(path) {
            let input = BufReader::with_capacity(BUFFER, std::io::stdin());
            return Ok(Source { live: true, ..Source::new("standard input".into(), input)? });
        }
        if let Some(first) = Self::with_ending(path, "e").filter(|_| !path.exists()) {
            let mut source = Source::open(&first)?;
            for ending in ["f", "a"] {
                if let Some(path) = Self::with_ending(path, ending) {
                    source = source.beside(ending, Source::open(&path)?);
                }
            }
            return Ok(source);
        }
        let unreadable = |error: std::io::Error| {
            let message = format!("cannot be read: {error}");
            Error::file(path, message, "check the path and the permissions").caused_by(error)
        };
        if path.is_dir() {
            return Err(Error::file(path, "is a folder", "name a file in it"));
        }
        let file = File::open(path).map_err(unreadable)?;
        let live = !file.metadata().map_err(unreadable)?.is_file();
        let reader = BufReader::with_capacity(BUFFER, file);
        let mut source = Source { live, ..Source::new(path.display().to_string(), reader)? };
        if source.form == Form::Unmapped && !live {
            source.form = Form::Mapped(path.into());
        }
        Ok(source)
    }

    /// Reads text in memory, plain or compressed.
    pub fn from_bytes(name: &str, bytes: &'a [u8]) -> Result<Self> {
        Self::new(name.into(), bytes)
    }

    fn new(name: String, mut reader: impl BufRead + Send + 'a) -> Result<Self> {
        let unreadable = |error: std::io::Error| {
            let message = format!("cannot be read: {error}");
            Error::in_file(&name, message, "check the path and the permissions").caused_by(error)
        };
        let head = reader.fill_buf().map_err(unreadable)?;
        let ended = head.is_empty();
        let form = if DATA_FILE.begins(head) { Form::Unmapped } else { Form::Lines };
        let compression =
            MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| *kind);
        let boxed: Box<dyn BufRead + Send + 'a> = match compression {
            None => Box::new(reader),
            Some(Compression::Gzip) => buffered(MultiGzDecoder::new(reader)),
            #[cfg(feature = "bzip2")]
            Some(Compression::Bzip2) => buffered(bzip2::bufread::MultiBzDecoder::new(reader)),
            #[cfg(not(feature = "bzip2"))]
            Some(Compression::Bzip2) => return Err(packed(&name, "bzip2")),
            #[cfg(feature = "zstd")]
            Some(Compression::Zstd) => {
                buffered(zstd::stream::read::Decoder::with_buffer(reader).map_err(unreadable)?)
            }
            #[cfg(not(feature = "zstd"))]
            Some(Compression::Zstd) => return Err(packed(&name, "zstd")),
        };
        Ok(Self {
            name,
            reader: Guarded { inner: boxed, unchecked: 0, buffered: 0, ended },
            line: Vec::new(),
            number: 0,
            encoding: Encoding::Utf8,
            converted: String::new(),
            live: false,
            form,
            rest: Vec::new(),
            failed: None,
            beside: Vec::new(),
        })
    }

    /// Sets how bytes become characters.
    ///
    /// ```
    /// # use dualgap::data::{Encoding, Source};
    /// let mut source = Source::from_bytes("demo", b"caf\xe9\n")?.encoded(Encoding::Latin1);
    /// assert_eq!(source.next_line()?, Some("caf\u{e9}"));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[must_use]
    pub fn encoded(self, encoding: Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// Whether the text comes as somebody writes it, from a pipe or a terminal: an answer is then expected as soon as
    /// it is possible, and not at the end.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Returns the path of a data file, which is mapped and has no lines, or `None` for any other file. One that is no file by
    /// itself, such as standard input, cannot be mapped.
    pub fn mapped(&self) -> Result<Option<PathBuf>> {
        match &self.form {
            Form::Lines => Ok(None),
            Form::Mapped(path) => Ok(Some(path.clone())),
            Form::Unmapped => Err(self.file_error(
                "has a data file, and it is not a file that can be mapped",
                "name the data file itself",
            )),
        }
    }

    /// Returns the bytes that can be read without waiting.
    pub(super) fn buffered(&mut self) -> Result<&[u8]> {
        if self.reader.buffered == 0 {
            return Ok(&[]);
        }
        let Self { name, reader, .. } = self;
        reader.fill_buf().map_err(|error| {
            let message = format!("cannot be read: {error}");
            Error::in_file(&*name, message, "is the file cut off or damaged?").caused_by(error)
        })
    }

    /// Whether the next line can be read without waiting for more input.
    pub fn has_line(&mut self) -> Result<bool> {
        Ok(self.buffered()?.contains(&b'\n'))
    }

    /// Puts a source beside this one whose lines belong to the lines of this one: bitext has several files.
    #[must_use]
    pub fn beside(mut self, ending: &'static str, other: Self) -> Self {
        self.beside.push((ending, other));
        self
    }

    /// Whether there are other files beside this one.
    pub fn is_prefix(&self) -> bool {
        !self.beside.is_empty()
    }

    /// Takes away the source with this ending beside this one, if there is one.
    pub(super) fn take_beside(&mut self, ending: &str) -> Option<Self> {
        let place = self.beside.iter().position(|(known, _)| *known == ending)?;
        Some(self.beside.swap_remove(place).1)
    }

    /// Returns the beginning of the text without consuming it, as far as it is buffered: enough to recognise the
    /// format.
    pub fn head(&mut self) -> Result<String> {
        let head = self.reader.fill_buf().map_err(|error| {
            let message = format!("cannot be read: {error}");
            Error::in_file(&self.name, message, "is the file cut off or damaged?").caused_by(error)
        })?;
        Ok(String::from_utf8_lossy(head.strip_prefix(BOM).unwrap_or(head)).into())
    }

    /// Returns the first line of the [`head`](Self::head) that is not blank and satisfies `wanted`, if there is one.
    pub fn peek(&mut self, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let head = self.head()?;
        let line = head.lines().find(|line| !line.trim().is_empty() && wanted(line));
        Ok(line.unwrap_or_default().into())
    }

    /// Returns the remaining bytes, for readers that find the lines themselves.
    #[cfg(feature = "csv")]
    pub(super) fn into_reader(self) -> Box<dyn BufRead + 'a> {
        Box::new(self.reader)
    }

    /// Returns the next line without its end, or `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<&str>> {
        self.check_lines()?;
        self.line.clear();
        self.number += 1;
        let read = self.fill_line().map_err(|error| self.unreadable(self.number, error))?;
        if read == 0 {
            return Ok(None);
        }
        if read >= LONGEST_LINE {
            return Err(self.endless(self.number));
        }
        let Self { line, number, encoding, converted, name, .. } = self;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line_of(line, *number, *encoding, converted, name).map(Some)
    }

    /// Returns an error for a data file, which has no lines.
    pub(super) fn check_lines(&self) -> Result<()> {
        match self.form {
            Form::Lines => Ok(()),
            Form::Mapped(_) | Form::Unmapped => Err(self.file_error(
                "is a data file: it has rows with a class or a number each, and no lines",
                "name a text file here",
            )),
        }
    }

    /// Returns the error of a line that cannot be read.
    pub(super) fn unreadable(&self, number: u64, error: std::io::Error) -> Error {
        let remedy = match error.kind() {
            ErrorKind::OutOfMemory => "take a part of the file; is the memory limited?",
            _ => "is the file cut off or damaged?",
        };
        Error::line(&self.name, number, format!("cannot be read: {error}"), remedy).caused_by(error)
    }

    /// Returns the error of a line that is longer than any.
    pub(super) fn endless(&self, number: u64) -> Error {
        Error::line(&self.name, number, "the line does not end", "is this a text file?")
    }

    /// Reads to the end of the line, up to the longest length of a line.
    fn fill_line(&mut self) -> std::io::Result<usize> {
        loop {
            let buffered = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                buffer => buffer?.len(),
            };
            self.line.try_reserve(buffered)?;
            (&mut self.reader).take(buffered as u64).read_until(b'\n', &mut self.line)?;
            let ended = buffered == 0 || self.line.ends_with(b"\n");
            if ended || self.line.len() >= LONGEST_LINE {
                return Ok(self.line.len());
            }
        }
    }

    /// The name of the file in error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of the line that was read last.
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// Returns an error at the line that was read last.
    pub fn error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::line(&self.name, self.number, message, remedy)
    }

    /// Returns an error about the file as a whole.
    pub fn file_error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::in_file(&self.name, message, remedy)
    }
}

/// Returns the characters of a line, which may end with `\r`; where bytes are no characters they are `converted`.
pub(super) fn line_of<'l>(
    line: &'l [u8],
    number: u64,
    encoding: Encoding,
    converted: &'l mut String,
    name: &str,
) -> Result<&'l str> {
    let mut line = line;
    while let Some(shorter) = line.strip_suffix(b"\r") {
        line = shorter;
    }
    if encoding == Encoding::Latin1 {
        converted.clear();
        converted.extend(line.iter().map(|&byte| char::from(byte)));
        return Ok(converted);
    }
    let line = if number == 1 { line.strip_prefix(BOM).unwrap_or(line) } else { line };
    std::str::from_utf8(line).map_err(|error| {
        let remedy = format!("{NOT_TEXT}; a column file may be in Latin-1: {}", Setting::Encoding);
        Error::line(name, number, "is not UTF-8 text", remedy).caused_by(error)
    })
}

impl Source<'_> {
    /// Returns the path with an ending, plain or compressed, if there is such a file.
    pub fn with_ending(prefix: &Path, ending: &str) -> Option<PathBuf> {
        ["", ".gz", ".bz2", ".zst"].into_iter().find_map(|packed| {
            let mut name = prefix.as_os_str().to_os_string();
            name.push(format!(".{ending}{packed}"));
            Some(PathBuf::from(name)).filter(|path| path.is_file())
        })
    }

    /// Whether a path stands for standard input.
    pub fn is_stdin(path: &Path) -> bool {
        path.as_os_str() == "-"
    }
}

/// A reader that checks the free memory at regular intervals, because the data that are read grow with the text:
/// without the check a failed allocation would end the program without a message. It reads no further than the end: a terminal would
/// wait for text once more.
pub(super) struct Guarded<R> {
    inner: R,
    /// The number of bytes since the last check.
    unchecked: usize,
    /// The number of bytes that were read ahead.
    buffered: usize,
    /// Whether the end has been read.
    ended: bool,
}

impl<R: BufRead> BufRead for Guarded<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.ended {
            return Ok(&[]);
        }
        if self.unchecked >= CHECKED_EVERY {
            self.unchecked = 0;
            if !has_headroom() {
                return Err(ErrorKind::OutOfMemory.into());
            }
        }
        let buffer = self.inner.fill_buf()?;
        self.buffered = buffer.len();
        self.ended = buffer.is_empty();
        Ok(buffer)
    }

    fn consume(&mut self, count: usize) {
        self.buffered = self.buffered.saturating_sub(count);
        self.unchecked += count;
        self.inner.consume(count);
    }
}

impl<R: BufRead> Read for Guarded<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

/// Returns the error for a file whose compression needs a feature that is not there.
#[cfg(not(all(feature = "bzip2", feature = "zstd")))]
fn packed(file: &str, feature: &str) -> Error {
    let what = format!("is compressed with {feature}");
    super::lacking::lacking(file, &what, feature, "decompress the file first")
}

fn buffered<'a>(reader: impl Read + Send + 'a) -> Box<dyn BufRead + Send + 'a> {
    Box::new(BufReader::with_capacity(BUFFER, reader))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn lines(bytes: &[u8]) -> Result<Vec<String>> {
        let mut source = Source::from_bytes("test", bytes)?;
        let mut lines = Vec::new();
        while let Some(line) = source.next_line()? {
            lines.push(line.to_string());
        }
        Ok(lines)
    }

    /// A function that compresses.
    type Compress = fn(&[u8]) -> Vec<u8>;

    const COMPRESSIONS: &[Compress] = &[
        gzip,
        #[cfg(feature = "bzip2")]
        bzip2,
        #[cfg(feature = "zstd")]
        zstd,
    ];

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[cfg(feature = "bzip2")]
    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[cfg(feature = "zstd")]
    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 1).unwrap()
    }

    #[test]
    fn plain_and_compressed_files_give_the_same_lines() {
        let text = b"\xef\xbb\xbfa 1\r\n\nb 2";
        assert_eq!(lines(text).unwrap(), ["a 1", "", "b 2"]);
        for compress in COMPRESSIONS {
            assert_eq!(lines(&compress(text)).unwrap(), ["a 1", "", "b 2"]);
            let two_members = [compress(b"x\n"), compress(b"y\n")].concat();
            assert_eq!(lines(&two_members).unwrap(), ["x", "y"]);
            let mut source = Source::from_bytes("test", text).unwrap();
            assert_eq!(source.peek(|_| true).unwrap(), "a 1");
            assert_eq!(source.next_line().unwrap(), Some("a 1"));
        }
        assert!(lines(b"").unwrap().is_empty());
    }

    /// What somebody types, line by line; an empty one is the end, after which one could type on.
    struct Terminal(Vec<&'static str>);

    impl Read for Terminal {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.0.remove(0).as_bytes().read(to)
        }
    }

    #[test]
    fn the_end_of_a_terminal_is_typed_once() {
        let typed = |parts: &[&'static str]| {
            Source::new("terminal".into(), BufReader::new(Terminal(parts.to_vec()))).unwrap()
        };
        for parts in [&["a\n", "b\n", ""][..], &["a\nb\n", ""], &["a\n", "b", ""]] {
            let (mut lines, mut source) = (Vec::new(), typed(parts));
            while let Some(line) = source.next_line().unwrap() {
                lines.push(line.to_string());
            }
            assert_eq!(lines, ["a", "b"]);
            assert!(source.next_line().unwrap().is_none());
            let mut source = typed(parts);
            assert!(source.next_piece().unwrap().is_some());
            assert!(source.next_piece().unwrap().is_none());
        }
        assert!(typed(&[""]).next_line().unwrap().is_none());
        assert!(typed(&[""]).next_piece().unwrap().is_none());
    }

    #[test]
    fn damaged_files_name_the_line() {
        for compress in COMPRESSIONS {
            let whole = compress("good\n".repeat(10_000).as_bytes());
            let error = lines(&whole[..whole.len() - 20]).unwrap_err();
            assert!(error.to_string().starts_with("test:"), "{error}");
        }
        let error = lines(b"fine\n\xff\xfe\n").unwrap_err();
        assert!(error.to_string().starts_with("test:2: is not UTF-8"), "{error}");
    }

    #[test]
    fn a_folder_or_a_missing_file_is_an_error() {
        assert!(Source::open(Path::new(".")).is_err());
        assert!(Source::open(Path::new("no/such/file")).is_err());
    }
}
