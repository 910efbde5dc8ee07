//! A temporary file that is written plainly, or compressed as its final name demands.

#[cfg(feature = "zstd")]
use crate::container::atomic::unwritable;
#[cfg(feature = "bzip2")]
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use std::io::{BufWriter, IntoInnerError, Result, Write};
use std::path::Path;
use tempfile::NamedTempFile;

type File = BufWriter<NamedTempFile>;

// The sink has it in a box.
#[allow(clippy::large_enum_variant)]
pub(super) enum Packed {
    Plain(File),
    Gzip(GzEncoder<File>),
    #[cfg(feature = "bzip2")]
    Bzip2(BzEncoder<File>),
    #[cfg(feature = "zstd")]
    Zstd(zstd::Encoder<'static, File>),
}

impl Packed {
    // It returns a result so that it has the type of `named`.
    #[allow(clippy::unnecessary_wraps)]
    pub fn plain(_: &Path, file: NamedTempFile) -> crate::Result<Self> {
        Ok(Self::Plain(BufWriter::new(file)))
    }

    pub fn named(name: &Path, file: NamedTempFile) -> crate::Result<Self> {
        let file = BufWriter::new(file);
        let ending = name.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        Ok(match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("gz") => Self::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            #[cfg(feature = "bzip2")]
            Some("bz2") => Self::Bzip2(BzEncoder::new(file, bzip2::Compression::default())),
            #[cfg(not(feature = "bzip2"))]
            Some("bz2") => return Err(lacking(name, "bzip2")),
            #[cfg(feature = "zstd")]
            Some("zst") => {
                Self::Zstd(zstd::Encoder::new(file, 0).map_err(|error| unwritable(name, error))?)
            }
            #[cfg(not(feature = "zstd"))]
            Some("zst") => return Err(lacking(name, "zstd")),
            _ => Self::Plain(file),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder,
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder,
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder,
        }
    }

    pub fn finish(self) -> Result<NamedTempFile> {
        let file = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.finish()?,
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(IntoInnerError::into_error)
    }
}

/// Returns the error for a name that asks for a compression whose feature is not there.
#[cfg(not(all(feature = "bzip2", feature = "zstd")))]
fn lacking(name: &Path, feature: &str) -> crate::Error {
    let what = format!("is to be compressed with {feature}");
    super::lacking::lacking(&name.display().to_string(), &what, feature, "end its name with .gz")
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.writer().flush()
    }
}
