//! A mapped file, written front to back.

use super::{ALIGNED, END, Element, Layout, MARK, PORTION, Place};
use crate::container::atomic::{Begun, settle, unwritable};
use crate::container::temporary::Temporary;
use crate::container::{Digest, Kind};
use crate::{Error, Result};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A mapped file to be, which appears under its name when it is finished.
pub struct MappedWriter {
    place: PathBuf,
    file: BufWriter<NamedTempFile>,
    temporary: Temporary,
    at: u64,
    /// Of the portion that is being written.
    digest: Digest,
    digests: Vec<String>,
    arrays: BTreeMap<String, Place>,
    /// The array that is being written.
    open: Option<String>,
}

#[derive(Serialize)]
struct Header<'a, H> {
    #[serde(flatten)]
    fields: &'a H,
    #[serde(flatten)]
    layout: Layout,
}

#[derive(Serialize)]
struct Sealed {
    seal: String,
    header: Box<RawValue>,
}

impl MappedWriter {
    /// Begins a file.
    pub fn create(path: &Path, kind: &Kind) -> Result<Self> {
        let Begun { place, file, temporary } = Begun::new(path)?;
        let mut new = Self {
            place,
            file: BufWriter::with_capacity(PORTION, file),
            temporary,
            at: 0,
            digest: Digest::default(),
            digests: Vec::new(),
            arrays: BTreeMap::new(),
            open: None,
        };
        new.bytes(kind.first_line().as_bytes())?;
        Ok(new)
    }

    /// Begins an array of such numbers, which ends where the next one begins.
    pub fn array<T: Element>(&mut self, name: &str) -> Result<()> {
        self.close();
        let gap = self.at.next_multiple_of(ALIGNED) - self.at;
        self.bytes(&[0; ALIGNED as usize][..gap as usize])?;
        let place = Place { of: T::NAME.into(), at: self.at, bytes: 0 };
        self.arrays.insert(name.into(), place);
        self.open = Some(name.into());
        Ok(())
    }

    fn close(&mut self) {
        let open = self.open.take();
        if let Some(place) = open.and_then(|name| self.arrays.get_mut(&name)) {
            place.bytes = self.at - place.at;
        }
    }

    /// Writes little-endian numbers of the array that was begun last.
    pub fn bytes(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let left = PORTION - (self.at % PORTION as u64) as usize;
            let (now, later) = bytes.split_at(bytes.len().min(left));
            self.digest.bytes(now);
            self.file.write_all(now).map_err(|error| unwritable(&self.place, error))?;
            self.at += now.len() as u64;
            if self.at.is_multiple_of(PORTION as u64) {
                self.digests.push(std::mem::take(&mut self.digest).hex());
            }
            bytes = later;
        }
        Ok(())
    }

    /// Writes the header, an object, and moves the file to its name.
    pub fn finish(mut self, header: &impl Serialize) -> Result<()> {
        self.close();
        let at = self.at;
        if !at.is_multiple_of(PORTION as u64) {
            self.digests.push(std::mem::take(&mut self.digest).hex());
        }
        let (arrays, digests) =
            (std::mem::take(&mut self.arrays), std::mem::take(&mut self.digests));
        let layout = Layout { arrays, portion: PORTION, digests };
        let made = serde_json::value::to_raw_value(&Header { fields: header, layout });
        let text = made.and_then(|header| {
            let seal = Digest::of(header.get().as_bytes());
            serde_json::to_string(&Sealed { seal, header })
        });
        let text = text.map_err(|error| {
            Error::file(&self.place, format!("cannot be written: {error}"), "name other data")
                .caused_by(error)
        })?;
        let length = text.len() as u64;
        let words = [at, length, at + length + END as u64, MARK].map(u64::to_le_bytes);
        let Self { place, mut file, temporary, .. } = self;
        let mut write = || -> std::io::Result<()> {
            file.write_all(text.as_bytes())?;
            file.write_all(&words.concat())
        };
        let written = write().and_then(|()| {
            let file = file.into_inner().map_err(IntoInnerError::into_error)?;
            settle(file, temporary, &place)
        });
        written.map_err(|error| unwritable(&place, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_where_they_lie() -> crate::Result<()> {
        use crate::container::{Form, MappedFile};
        const NOTES: Kind = Kind { name: "notes", form: Form::Lines, oldest: 1, version: 1 };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.mapped");
        let mut writer = MappedWriter::create(&path, &NOTES)?;
        writer.array::<f64>("pitch")?;
        writer.bytes(&440_f64.to_le_bytes())?;
        writer.finish(&serde_json::json!({ "author": "me" }))?;

        let file = MappedFile::open(&path, &NOTES).unwrap();
        assert_eq!(file.header::<serde_json::Value>().unwrap()["author"], "me");
        assert_eq!(file.array::<f64>("pitch").unwrap()[..], [440.0]);
        Ok(())
    }
}
