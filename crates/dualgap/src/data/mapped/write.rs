//! Examples to a data file, row by row: none of them is kept in memory.
//!
//! How many rows there are, how wide they are and whether 32 bits hold their values is known after the last of them. So columns and
//! values wait in two temporary files without a name, beside the file to be, which are copied to it at the end.

use super::header::{DATA_FILE, Header, Kept};
use crate::container::atomic::unwritable;
use crate::container::{Digest, MappedWriter};
use crate::data::fingerprint::{digest_row, digest_targets};
use crate::data::targets::number;
use crate::data::{Alphabet, Dictionary, Targets};
use crate::linalg::is_single;
use crate::{Error, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{BufReader, BufWriter, IntoInnerError, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// How the name of a data file ends.
const ENDING: &str = "mapped";

/// Labels that are more different numbers than this are stored as numbers, in the place of so many names.
const MOST_NAMES: usize = 1 << 16;

/// A data file to be.
///
/// ```
/// use dualgap::data::DataWriter;
/// use dualgap::data::{Classes, Dictionary, Format, Recipe, Source};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.mapped");
/// let mut writer = DataWriter::create(&path)?;
/// writer.push(&[(0, 0.5), (2, 2.0)])?;
/// writer.push(&[(1, 1.0)])?;
/// let (targets, recipe) = (Classes::named(&["1", "-1"]).into(), Recipe::whole(Format::Libsvm));
/// let written = writer.finish(0, &targets, &Dictionary::default(), &recipe)?;
/// assert_eq!((written.examples, written.features, written.entries), (2, 3, 3));
///
/// let data = recipe.examples(Source::open(&path)?, None)?.data;
/// assert_eq!((data.rows().row(0).get(2), data.classes()?.name(1)), (2.0, "-1"));
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct DataWriter {
    path: PathBuf,
    file: MappedWriter,
    indices: BufWriter<File>,
    values: BufWriter<File>,
    /// Whether the values so far are in 32 bits.
    single: bool,
    starts: Vec<u64>,
    width: usize,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct DataFile {
    /// The number of examples.
    pub examples: usize,
    /// The number of features.
    pub features: usize,
    /// The number of stored entries.
    pub entries: u64,
    /// The bytes of a value: 4 if all are exact in 32 bits, else 8.
    pub value_bytes: usize,
    /// The fingerprint of the examples, which is that of the file they came from.
    pub fingerprint: String,
}

impl DataFile {
    /// Whether a path has the name of a data file: it ends with `.mapped`.
    ///
    /// ```
    /// # use dualgap::data::DataFile;
    /// assert!(DataFile::is_named("train.mapped".as_ref()) && !DataFile::is_named("train.svm.gz".as_ref()));
    /// ```
    pub fn is_named(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
    }

    /// Returns how many bytes of files this process has mapped, in memory or not.
    ///
    /// ```
    /// assert_eq!(dualgap::data::DataFile::mapped_bytes(), 0);
    /// ```
    pub fn mapped_bytes() -> usize {
        dualgap_map::mapped()
    }

    /// Drops the pages of all mapped files from the memory of this process, for those who are watched by how much they have; returns
    /// how many bytes are mapped. The pages are read again when they are touched, mostly from the memory of the operating system.
    ///
    /// ```
    /// assert_eq!(dualgap::data::DataFile::release_pages(), 0);
    /// ```
    pub fn release_pages() -> usize {
        dualgap_map::release()
    }
}

impl DataWriter {
    /// Begins a file, which appears under its name when it is finished.
    pub fn create(path: &Path) -> Result<Self> {
        let file = MappedWriter::create(path, &DATA_FILE)?;
        Ok(Self {
            path: path.into(),
            file,
            indices: waiting(path)?,
            values: waiting(path)?,
            single: true,
            starts: vec![0],
            width: 0,
        })
    }

    /// Adds a row of columns that ascend and their values.
    pub fn push(&mut self, row: &[(u32, f64)]) -> Result<()> {
        if self.single && !row.iter().all(|&(_, x)| is_single(x)) {
            self.widen()?;
        }
        let (indices, values, single) = (&mut self.indices, &mut self.values, self.single);
        let mut write = || -> std::io::Result<()> {
            for &(j, x) in row {
                indices.write_all(&j.to_le_bytes())?;
                if single {
                    values.write_all(&(x as f32).to_le_bytes())?;
                } else {
                    values.write_all(&x.to_le_bytes())?;
                }
            }
            Ok(())
        };
        write().map_err(|error| unwritable(&self.path, error))?;
        if let Some(&(j, _)) = row.last() {
            self.width = self.width.max(j as usize + 1);
        }
        self.starts.push(self.entries() + row.len() as u64);
        Ok(())
    }

    fn entries(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Writes the values so far again, in 64 bits.
    fn widen(&mut self) -> Result<()> {
        let narrow = std::mem::replace(&mut self.values, waiting(&self.path)?);
        let (values, entries) = (&mut self.values, self.starts.last().copied().unwrap_or(0));
        let copy = || -> std::io::Result<()> {
            let mut narrow = again(narrow)?;
            for _ in 0..entries {
                let mut value = [0; 4];
                narrow.read_exact(&mut value)?;
                values.write_all(&f64::from(f32::from_le_bytes(value)).to_le_bytes())?;
            }
            Ok(())
        };
        copy().map_err(|error| unwritable(&self.path, error))?;
        self.single = false;
        Ok(())
    }

    /// Writes the file: with at least `width` features, and a recipe that says how the data were read.
    pub fn finish(
        self,
        width: usize,
        targets: &Targets,
        dictionary: &Dictionary,
        recipe: &impl Serialize,
    ) -> Result<DataFile> {
        let (width, entries, examples) =
            (self.width.max(width), self.entries(), self.starts.len() - 1);
        let Self { path, mut file, indices, values, single, starts, .. } = self;
        let failed = |error: std::io::Error| unwritable(&path, error);
        if targets.len().is_some_and(|count| count != examples) {
            return Err(Error::setting("a data file has a target for every row, or for none"));
        }
        let recipe = serde_json::to_value(recipe).map_err(|error| {
            Error::setting(format!("the recipe cannot be written: {error}")).caused_by(error)
        })?;

        file.array::<u32>("indices")?;
        let mut indices = again(indices).map_err(failed)?;
        let mut columns = Vec::new();
        for ends in starts.windows(2) {
            read_row(&mut indices, ends, 4, &mut columns).map_err(failed)?;
            columns.extend_from_slice(&(width as u32).to_le_bytes());
            file.bytes(&columns)?;
        }

        if single {
            file.array::<f32>("values")?;
        } else {
            file.array::<f64>("values")?;
        }
        // The values pass by here, one row after the other, as the fingerprint wants them.
        let mut digest = Digest::of_data();
        digest.text("examples");
        digest.number(examples as u64);
        digest.number(width as u64);
        digest.section(0);
        indices.rewind().map_err(failed)?;
        let mut values = again(values).map_err(failed)?;
        let (size, one) =
            if single { (4, &1_f32.to_le_bytes()[..]) } else { (8, &1_f64.to_le_bytes()[..]) };
        let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
        for ends in starts.windows(2) {
            read_row(&mut indices, ends, 4, &mut columns).map_err(failed)?;
            read_row(&mut values, ends, size, &mut numbers).map_err(failed)?;
            let columns = columns.chunks_exact(4).map(|j| u32::from_le_bytes(word(j)) as usize);
            let value = |x: &[u8]| {
                if single {
                    f64::from(f32::from_le_bytes(word(x)))
                } else {
                    f64::from_le_bytes(word(x))
                }
            };
            digest_row(&mut digest, columns.zip(numbers.chunks_exact(size).map(value)), &mut bytes);
            numbers.extend_from_slice(one);
            file.bytes(&numbers)?;
        }

        file.array::<u64>("starts")?;
        for (i, start) in starts.iter().enumerate() {
            file.bytes(&(start + i as u64).to_le_bytes())?;
        }
        digest_targets(targets, &mut digest, 0);
        let targets = write_targets(&mut file, targets)?;
        let names = dictionary.names().map(String::from).collect();
        let fingerprint = digest.hex();
        let header =
            Header { recipe, features: width, names, targets, fingerprint: fingerprint.clone() };
        file.finish(&header)?;
        Ok(DataFile { examples, features: width, entries, value_bytes: size, fingerprint })
    }
}

fn write_targets(file: &mut MappedWriter, targets: &Targets) -> Result<Kept> {
    let numbers = |file: &mut MappedWriter, values: &[f64]| -> Result<Kept> {
        file.array::<f64>("numbers")?;
        values.iter().try_for_each(|x| file.bytes(&x.to_le_bytes()))?;
        Ok(Kept::Numbers)
    };
    match targets {
        Targets::None => Ok(Kept::None),
        Targets::Numbers(values) => numbers(file, values.values()),
        Targets::Classes(classes) if are_many_numbers(classes.alphabet()) => {
            numbers(file, classes.to_numbers()?.values())
        }
        Targets::Classes(classes) => {
            file.array::<u32>("classes")?;
            classes.numbers().iter().try_for_each(|k| file.bytes(&k.to_le_bytes()))?;
            Ok(Kept::Classes { labels: classes.alphabet().clone() })
        }
        Targets::Sets(_) | Targets::Outputs(_) => Err(Error::setting(
            "a data file has one class or one number for each example: keep these data as text",
        )),
    }
}

/// Whether labels are numbers in their normal spelling, and too many to be names.
fn are_many_numbers(alphabet: &Alphabet) -> bool {
    let normal = |name: &String| number(name).is_some_and(|value| value.to_string() == *name);
    alphabet.len() > MOST_NAMES && alphabet.names().iter().all(normal)
}

/// Returns a temporary file without a name in the folder of a path.
fn waiting(path: &Path) -> Result<BufWriter<File>> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let made = tempfile::tempfile_in(folder).map_err(|error| unwritable(path, error))?;
    Ok(BufWriter::with_capacity(1 << 16, made))
}

/// Returns what was written, from the start.
fn again(written: BufWriter<File>) -> std::io::Result<BufReader<File>> {
    let mut file = written.into_inner().map_err(IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Reads the numbers of a row, each of so many bytes.
fn read_row(
    from: &mut BufReader<File>,
    ends: &[u64],
    size: usize,
    row: &mut Vec<u8>,
) -> std::io::Result<()> {
    row.resize((ends[1] - ends[0]) as usize * size, 0);
    from.read_exact(row)
}

fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut word = [0; N];
    word.copy_from_slice(bytes);
    word
}
