//! A temporary file that is written plainly, or compressed as its final name demands.

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use std::io::{BufWriter, IntoInnerError, Result, Write};
use std::path::Path;
use tempfile::NamedTempFile;

type File = BufWriter<NamedTempFile>;

pub(super) enum Packed {
    Plain(File),
    Gzip(GzEncoder<File>),
    Bzip2(BzEncoder<File>),
    Zstd(zstd::Encoder<'static, File>),
}

impl Packed {
    // It returns a result so that it has the type of `named`.
    #[allow(clippy::unnecessary_wraps)]
    pub fn plain(_: &Path, file: NamedTempFile) -> Result<Self> {
        Ok(Self::Plain(BufWriter::new(file)))
    }

    pub fn named(name: &Path, file: NamedTempFile) -> Result<Self> {
        let file = BufWriter::new(file);
        let ending = name.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        Ok(match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("gz") => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some("bz2") => Self::Bzip2(BzEncoder::new(file, bzip2::Compression::default())),
            Some("zst") => Self::Zstd(zstd::Encoder::new(file, 0)?),
            _ => Self::Plain(file),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder,
            Self::Bzip2(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
        }
    }

    pub fn finish(self) -> Result<NamedTempFile> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Bzip2(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(IntoInnerError::into_error)
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.writer().flush()
    }
}
