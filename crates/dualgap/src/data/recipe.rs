//! How a file becomes a data set: format and folds. A model file keeps its recipe, so that its
//! certificate can be checked with nothing but the data file.

use super::{Examples, Sequences, Source, letters, libsvm};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// `label index:value …`, see [`libsvm`].
    Libsvm,
    /// Taskar's `letter.data`, see [`letters`].
    Letters,
}

/// A format, and which folds of the file are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// How the file is read.
    pub format: Format,
    /// Only these folds; all of the file when absent.
    pub folds: Option<Vec<u8>>,
}

impl Recipe {
    /// The whole file.
    pub fn whole(format: Format) -> Self {
        Self { format, folds: None }
    }

    fn chosen(&self, words: &letters::Letters, name: &str) -> Result<Vec<usize>> {
        let Some(folds) = &self.folds else {
            return Ok((0..words.folds.len()).collect());
        };
        let chosen = words.in_folds(folds);
        if chosen.is_empty() {
            let folds: Vec<String> = folds.iter().map(ToString::to_string).collect();
            return Err(Error::File {
                file: name.into(),
                message: format!("no word is in fold {}", folds.join(", ")),
                remedy: "folds are 0 to 9; the sixth column of the file has them".into(),
            });
        }
        Ok(chosen)
    }

    fn no_folds(&self, name: &str) -> Result<()> {
        match self.folds {
            None => Ok(()),
            Some(_) => Err(Error::File {
                file: name.into(),
                message: "a LIBSVM file has no folds".into(),
                remedy: "leave the folds out, or name a file of the letters format".into(),
            }),
        }
    }

    /// The data as sequences.
    pub fn sequences(&self, source: Source<'_>) -> Result<Selected<Sequences>> {
        let name = source.name().to_string();
        match self.format {
            Format::Letters => {
                let letters = letters::read(source)?;
                let chosen = self.chosen(&letters, &name)?;
                Ok(Selected {
                    data: letters.words.select(&chosen),
                    of: letters.words.len(),
                    chosen,
                })
            }
            Format::Libsvm => Err(Error::File {
                file: name,
                message: "a LIBSVM file has no sequences".into(),
                remedy: "chains are trained on the letters format (--format letters)".into(),
            }),
        }
    }

    /// The data as independent examples; of sequences, every position is one.
    pub fn examples(&self, source: Source<'_>) -> Result<Selected<Examples>> {
        match self.format {
            Format::Libsvm => {
                self.no_folds(source.name())?;
                let data = libsvm::read(source)?;
                Ok(Selected { of: data.len(), chosen: (0..data.len()).collect(), data })
            }
            Format::Letters => {
                let name = source.name().to_string();
                let letters = letters::read(source)?;
                let words = self.chosen(&letters, &name)?;
                let starts = &letters.words.starts;
                Ok(Selected {
                    data: Examples::from(letters.words.select(&words)),
                    of: letters.words.labels.len(),
                    chosen: words.iter().flat_map(|&i| starts[i]..starts[i + 1]).collect(),
                })
            }
        }
    }
}

/// A part of a data file.
#[derive(Clone, Debug)]
pub struct Selected<D> {
    /// The examples that were asked for.
    pub data: D,
    /// Their numbers in the file.
    pub chosen: Vec<usize>,
    /// How many the file has.
    pub of: usize,
}
