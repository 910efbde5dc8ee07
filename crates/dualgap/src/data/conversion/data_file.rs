//! Conversion to data files, which are mapped in the place of being read.

use crate::data::mapped::{DataFile, DataWriter};
use crate::data::{Dictionary, Examples, Format, Loaded, Recipe, Source, TargetKind, libsvm};
use crate::linalg::Rows;
use crate::{Error, Result};
use std::path::Path;

impl DataFile {
    /// Writes examples that are in memory as a data file.
    ///
    /// ```
    /// use dualgap::data::{DataFile, DataSet, Format, Recipe, Source};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("train.mapped");
    /// let table = Source::from_bytes("train.csv", b"width,colour,species\n1.5,red,rose\n2,blue,iris\n")?;
    /// let recipe = Recipe::whole(Format::guess_examples("width,colour,species"));
    /// let train = recipe.examples(table, None)?;
    /// let written = DataFile::write(&train, &path)?;
    /// assert_eq!(written.fingerprint, train.data.fingerprint());
    ///
    /// let again = recipe.examples(Source::open(&path)?, None)?;
    /// assert_eq!((&again.data, &again.recipe), (&train.data, &train.recipe));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn write(loaded: &Loaded<Examples>, path: &Path) -> Result<DataFile> {
        let data = &loaded.data;
        let mut writer = DataWriter::create(path)?;
        write_rows(&mut writer, data.rows())?;
        writer.finish(data.rows().width(), data.targets(), data.dictionary(), &loaded.recipe)
    }

    /// Converts a LIBSVM file to a data file, some lines at a time: in memory are one number for each line, and nothing of its features.
    /// Labels are read as classes, which are numbers for those who want numbers.
    ///
    /// ```
    /// use dualgap::data::{DataFile, DataSet, Examples, Source, TargetKind};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("train.mapped");
    /// let text = b"+1 1:0.5 3:2\n-1 2:1\n";
    /// let written = DataFile::from_libsvm(Source::from_bytes("train.svm", text)?, &path)?;
    /// let train = Examples::read_libsvm(Source::from_bytes("train.svm", text)?, TargetKind::Class)?;
    /// assert_eq!(written.fingerprint, train.fingerprint());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn from_libsvm(source: Source<'_>, path: &Path) -> Result<DataFile> {
        let mut writer = DataWriter::create(path)?;
        if let Some(from) = source.mapped()? {
            return Err(Error::file(&from, "is a data file already", "take it as it is"));
        }
        let write = |rows: &'_ Rows| write_rows(&mut writer, rows);
        let targets = libsvm::each_rows(source, TargetKind::Class, write)?;
        writer.finish(0, &targets, &Dictionary::default(), &Recipe::whole(Format::Libsvm))
    }
}

fn write_rows(writer: &mut DataWriter, rows: &Rows) -> Result<()> {
    let mut row = Vec::new();
    for i in 0..rows.len() {
        row.clear();
        row.extend(rows.row(i).iter().map(|(j, x)| (j as u32, x)));
        writer.push(&row)?;
    }
    Ok(())
}
