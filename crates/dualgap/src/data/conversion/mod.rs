//! Conversion of data sets to LIBSVM files, with the same numbers for several files, and to data files, which are mapped.
//!
//! LIBSVM files identify features and labels by number. So a conversion stores what the first file decided: how it
//! was read, the names of its features and labels, and what its features are mapped to if they are: the bins of random
//! grids, products of two features, inner products with atoms. Other files then get the same numbers.

mod atom_products;
mod data_file;
mod degree_two;
mod file;

pub use atom_products::AtomProducts;
pub use degree_two::DegreeTwo;

use super::{
    Alphabet, Dictionary, Examples, Format, Loaded, RandomBinning, Recipe, Sink, Source,
    Vocabulary, labels,
};
use crate::error::count_of;
use crate::linalg::Rows;
use crate::{Error, Result};
use rayon::prelude::*;
use std::fmt::Write;

/// The number of rows that are formatted at a time.
const PORTION: usize = 4096;

/// How a data set becomes a LIBSVM file; see the module's head.
///
/// ```
/// use dualgap::data::{Conversion, Format, RandomBinning, Recipe, Sink, Source};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.svm.gz");
///
/// let table = Source::from_bytes("train.csv", b"width,colour,species\n1.5,red,rose\n2,blue,iris\n")?;
/// let format = Format::guess_examples("width,colour,species");
/// let train = Recipe::whole(format).examples(table, None)?;
/// let conversion = Conversion::new(&train, None);
/// let mut sink = Sink::create_named(&path)?;
/// conversion.write(&train, &mut sink)?;
/// sink.finish()?;
/// assert_eq!(Source::open(&path)?.next_line()?, Some("2 1:1.5 2:1")); // iris is 1, rose is 2
///
/// let other = Source::from_bytes("new.csv", b"colour,width\nblue,3\n")?;
/// let new = conversion.read(other, None)?;
/// assert_eq!(new.data.rows().row(0).iter().collect::<Vec<_>>(), [(0, 3.0), (2, 1.0)]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conversion {
    recipe: Recipe,
    alphabet: Alphabet,
    dictionary: Dictionary,
    features: usize,
    map: FeatureMap,
}

/// What the features of a row become.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FeatureMap {
    /// They stay as they are.
    Own,
    /// The bins of random grids.
    Binning(RandomBinning),
    /// Themselves, and products of two of them.
    DegreeTwo(DegreeTwo),
    /// Inner products with given atoms.
    Atoms(AtomProducts),
}

impl From<Option<RandomBinning>> for FeatureMap {
    fn from(binning: Option<RandomBinning>) -> Self {
        binning.map_or(Self::Own, Self::Binning)
    }
}

/// The result of writing a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of entries of all rows together.
    pub entries: u64,
    /// The number of entries in bins that no row of the first file fell into: they have no number and are left out.
    pub unseen_bins: u64,
    /// The number of products of two features that no row of the first file has together: they are left out, too.
    pub unseen_products: u64,
}

impl Conversion {
    /// Returns the conversion of a first file, to its own features or to those of a map.
    pub fn new(first: &Loaded<Examples>, map: impl Into<FeatureMap>) -> Self {
        let Vocabulary { alphabet, dictionary, features } = first.data.vocabulary();
        Self {
            recipe: Recipe { folds: None, ..first.recipe.clone() },
            alphabet: alphabet.clone(),
            dictionary: dictionary.clone(),
            features,
            map: map.into(),
        }
    }

    /// What the features of a row become.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// The same conversion with this map of its features.
    #[must_use]
    pub fn with(self, map: FeatureMap) -> Self {
        Self { map, ..self }
    }

    /// The grids, if there are any.
    pub fn binning(&self) -> Option<&RandomBinning> {
        match &self.map {
            FeatureMap::Binning(binning) => Some(binning),
            _ => None,
        }
    }

    /// Returns the name of a feature of the written rows, or its number from 1 if it has none: `width`,
    /// `width*height`, `width^2`. Bins and atoms have no names.
    pub fn name(&self, feature: usize) -> String {
        let own = |j: usize| {
            self.dictionary.name(j).map_or_else(|| (j + 1).to_string(), ToString::to_string)
        };
        match &self.map {
            FeatureMap::Own => own(feature),
            FeatureMap::DegreeTwo(map) => match feature.checked_sub(map.dimension()) {
                Some(at) => map.pairs().get(at).map_or_else(String::new, |&(i, j)| {
                    let (one, other) = (own(i as usize), own(j as usize));
                    if i == j { format!("{one}^2") } else { format!("{one}*{other}") }
                }),
                None => own(feature),
            },
            FeatureMap::Binning(_) | FeatureMap::Atoms(_) => (feature + 1).to_string(),
        }
    }

    /// Writes number and name of every feature, a line each, with a tab between them.
    pub fn write_names(&self, sink: &mut Sink) -> Result<()> {
        (0..self.features()).try_for_each(|j| sink.text(&format!("{}\t{}\n", j + 1, self.name(j))))
    }

    /// Returns the number of features of the written rows, including those at the end that do not occur.
    pub fn features(&self) -> usize {
        match &self.map {
            FeatureMap::Own => self.features,
            FeatureMap::Binning(binning) => binning.features(),
            FeatureMap::DegreeTwo(map) => map.features(),
            FeatureMap::Atoms(atoms) => atoms.len(),
        }
    }

    /// Reads another file, or these folds of it, in the same way as the first one.
    pub fn read(&self, source: Source<'_>, folds: Option<Vec<u8>>) -> Result<Loaded<Examples>> {
        let name = source.name().to_string();
        let recipe = Recipe { folds, ..self.recipe.clone() };
        let known = Vocabulary {
            alphabet: &self.alphabet,
            dictionary: &self.dictionary,
            features: self.features,
        };
        let loaded = recipe.examples(source, Some(known))?;
        // New names are expected, but new numbers show that the file is of other data, for which the map is not valid.
        if !matches!(self.map, FeatureMap::Own)
            && recipe.format == Format::Libsvm
            && loaded.unseen.features > 0
        {
            let message = format!(
                "has features beyond those of the map, which is of data with {}",
                count_of(self.features, "feature")
            );
            let remedy = "take the map that was saved with the data that this file belongs to";
            return Err(Error::in_file(name, message, remedy));
        }
        Ok(loaded)
    }

    /// Returns name and number of the labels of the first file if they are written as numbers; none if they are
    /// numbers themselves.
    pub fn renamed(&self) -> Vec<(&str, usize)> {
        if labels::are_numbers(self.alphabet.names()) {
            return Vec::new();
        }
        self.alphabet.names().iter().enumerate().map(|(k, name)| (name.as_str(), k + 1)).collect()
    }

    /// Writes the first data set, or one that this conversion has read. Zeros are not written; data without labels
    /// give lines without labels.
    pub fn write(&self, loaded: &Loaded<Examples>, sink: &mut Sink) -> Result<Written> {
        let data = &loaded.data;
        let classes = if data.targets.are_none() { None } else { Some(data.classes()?) };
        let names = classes.map(|classes| self.label_texts(classes.alphabet())).transpose()?;
        let label = |i: usize| match (classes, &names) {
            (Some(classes), Some(names)) => names[classes.numbers()[i] as usize].as_str(),
            _ => "",
        };
        let value = self.binning().map_or_else(String::new, |b| b.value().to_string());
        let mut written = Written::default();
        for begin in (0..data.len()).step_by(PORTION) {
            let portion = begin..data.len().min(begin + PORTION);
            let lines = portion.into_par_iter().map(|i| {
                let (label, row) = (label(i), data.rows.row(i));
                Ok(match &self.map {
                    FeatureMap::Own => (plain_line(label, &data.rows, i), 0),
                    FeatureMap::Binning(binning) => {
                        let features = binning.features_of(row)?;
                        (line(label, features.iter().map(|&j| (j as usize, &value))), 0)
                    }
                    FeatureMap::DegreeTwo(map) => {
                        let (features, unseen) = map.features_of(row)?;
                        (line(label, features.into_iter()), unseen)
                    }
                    FeatureMap::Atoms(atoms) => {
                        let products = atoms.features_of(row)?.into_iter().enumerate();
                        (line(label, products.filter(|&(_, x)| x != 0.0)), 0)
                    }
                })
            });
            for ((text, entries), unseen) in lines.collect::<Result<Vec<_>>>()? {
                written.entries += entries;
                written.unseen_products += unseen;
                sink.text(&text)?;
            }
        }
        if let Some(binning) = self.binning() {
            written.unseen_bins = (data.len() * binning.grids()) as u64 - written.entries;
        }
        Ok(written)
    }

    /// Returns the labels to write: numbers stay as they are; other labels get numbers from 1, those of the first
    /// file first.
    fn label_texts(&self, alphabet: &Alphabet) -> Result<Vec<String>> {
        let names = alphabet.names();
        if !labels::are_numbers(self.alphabet.names()) {
            return Ok((1..=names.len()).map(|k| k.to_string()).collect());
        }
        let strange = names.iter().find(|name| !labels::are_numbers(std::slice::from_ref(name)));
        strange.map_or_else(
            || Ok(names.to_vec()),
            |name| {
                Err(Error::setting(format!(
                    "the label {name} is no number, and those that the map knows are numbers"
                )))
            },
        )
    }
}

fn plain_line(label: &str, rows: &Rows, i: usize) -> (String, u64) {
    line(label, rows.row(i).iter().filter(|&(_, x)| x != 0.0))
}

/// Returns a line and the number of its entries.
fn line(label: &str, row: impl Iterator<Item = (usize, impl std::fmt::Display)>) -> (String, u64) {
    let mut line = String::from(label);
    let mut entries = 0;
    for (j, x) in row {
        let space = if line.is_empty() { "" } else { " " };
        let _ = write!(line, "{space}{}:{x}", j + 1);
        entries += 1;
    }
    if line.is_empty() {
        line.push_str("1:0"); // an empty line would be no example
    }
    line.push('\n');
    (line, entries)
}
