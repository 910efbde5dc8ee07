//! Recipes: how a file becomes a data set, with format, features and folds. A model file stores its recipe, so that
//! its certificate can be verified, and other files read in the same way, with nothing but the data file.

use super::alignment::Aligner;
use super::features::{self, Extractor};
use super::one_print::OnePrint;
use super::{
    ColumnRecipe, CsvRecipe, DataSet, Examples, Letters, Matchings, Ratings, RatingsRecipe,
    Sequences, Source, TargetKind, Targets, Unseen, Vocabulary, attributes, csv, edges, libsvm,
    mapped,
};
use crate::container::Fault;
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use std::iter::repeat_n;
use std::path::Path;

/// A file format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// `label index:value …`, see [`Examples::read_libsvm`].
    Libsvm,
    /// Taskar's `letter.data`, see [`Letters`].
    Letters,
    /// A table with a label column, see [`CsvRecipe`].
    Csv(CsvRecipe),
    /// One token a line, and an empty line after each sentence; see [`ColumnRecipe`].
    Columns(ColumnRecipe),
    /// CRFsuite's attributes, see [`Sequences::read_attributes`].
    Attributes,
    /// `user item rating`, see [`RatingsRecipe`].
    Ratings(RatingsRecipe),
    /// `row column mark features…`, see [`Matchings::read`].
    Edges,
    /// Sentences, their translations and the links between their words, see [`Bitext`](super::Bitext).
    Bitext,
    /// The format of a user's own structure, which reads it.
    Own,
}

/// Whether a line has as many cells as those of `letter.data`: six, and 128 pixels.
fn is_letter(line: &str) -> bool {
    line.trim_end().split('\t').count() == 6 + 128
}

fn first_line(head: &str) -> &str {
    head.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Whether a line belongs to a LIBSVM file. Comments and lists of numbers without features do not decide it, because
/// they may belong to a table too.
fn is_libsvm(line: &str) -> Option<bool> {
    let mut cells = line.split_whitespace().take_while(|cell| !cell.starts_with('#'));
    let first = cells.next()?;
    let rest: Vec<&str> = cells.collect();
    let number = |name: &str| name.is_empty() || name.parse::<f64>().is_ok();
    let list = first.split(',').all(number);
    if list && first.contains(',') && rest.is_empty() {
        return None;
    }
    Some((libsvm::is_feature(first) || list) && rest.into_iter().all(libsvm::is_feature))
}

/// Whether the first line that decides it belongs to a LIBSVM file; false if no line decides it.
fn looks_like_libsvm(head: &str) -> bool {
    head.lines().filter(|line| !line.trim().is_empty()).find_map(is_libsvm).unwrap_or(false)
}

impl Format {
    /// Guesses the format of a file of sequences from its beginning.
    ///
    /// ```
    /// # use dualgap::data::Format;
    /// assert!(matches!(Format::guess_sequences("He PRP B-NP"), Format::Columns(_)));
    /// assert_eq!(Format::guess_sequences("B-NP\tw[0]=He\tpos[0]=PRP"), Format::Attributes);
    /// ```
    pub fn guess_sequences(head: &str) -> Self {
        let line = first_line(head);
        if is_letter(line) {
            Self::Letters
        } else if is_libsvm(line) == Some(true) && line.contains(':') {
            Self::Libsvm
        } else if attributes::is_attributes(line) {
            Self::Attributes
        } else {
            Self::Columns(ColumnRecipe::default())
        }
    }

    /// Guesses the format of a file of independent examples from its beginning. Tables have no blank lines between
    /// their lines, and sentences with tabs do.
    ///
    /// ```
    /// # use dualgap::data::Format;
    /// assert_eq!(Format::guess_examples("-1 1:0.5 3:2"), Format::Libsvm);
    /// assert_eq!(Format::guess_examples("1,3 1:0.5 3:2"), Format::Libsvm);
    /// assert_eq!(Format::guess_examples("1,3\n2 1:0.5"), Format::Libsvm);
    /// assert!(matches!(Format::guess_examples("1,3\n2,0.5\n"), Format::Csv(_)));
    /// assert!(matches!(Format::guess_examples("age,colour,label\n5,red,no\n"), Format::Csv(_)));
    /// assert!(matches!(Format::guess_examples("He\tNP\n\nShe\tNP\n"), Format::Columns(_)));
    /// ```
    pub fn guess_examples(head: &str) -> Self {
        let line = first_line(head);
        if is_letter(line) {
            Self::Letters
        } else if line.contains('\t') && head.trim().lines().any(|line| line.trim().is_empty()) {
            Self::Columns(ColumnRecipe::default())
        } else if !looks_like_libsvm(head) && line.contains([',', ';', '\t', '|']) {
            Self::Csv(CsvRecipe::default())
        } else {
            Self::Libsvm
        }
    }

    /// Returns the name of the format.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Libsvm => "LIBSVM",
            Self::Letters => "letters",
            Self::Csv(_) => "csv",
            Self::Columns(_) => "column",
            Self::Attributes => "CRFsuite attribute",
            Self::Ratings(_) => "ratings",
            Self::Edges => "edge",
            Self::Bitext => "bitext",
            Self::Own => "structure's own",
        }
    }

    /// Returns the name of a file of this format, with its article.
    pub(crate) fn of_file(&self) -> String {
        let name = self.name();
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {name} file")
    }
}

/// A format, the target, and the folds of the file to use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Recipe {
    /// How the file is read.
    pub format: Format,
    /// The folds to use; the whole file if absent.
    pub folds: Option<Vec<u8>>,
    /// Whether to append a constant feature, for independent examples only.
    pub constant: bool,
    /// What to predict, for independent examples only.
    pub target: TargetKind,
    /// The examples to train on, from the first number to before the second; all if absent. For matchings only.
    pub range: Option<[usize; 2]>,
}

/// A recipe in a file. At most one of three fields gives the target, so that all programs that know version 1 read
/// its files in the same way: programs that do not know `numbers` read names, and convert them to numbers later.
#[derive(Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // files have them so
struct Stored {
    format: Format,
    folds: Option<Vec<u8>>,
    #[serde(default)]
    constant: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    label_sets: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    outputs: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    numbers: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<[usize; 2]>,
}

impl From<Stored> for Recipe {
    fn from(stored: Stored) -> Self {
        let Stored { format, folds, constant, label_sets, outputs, numbers, range } = stored;
        let target = match (outputs, label_sets, numbers) {
            (true, _, _) => TargetKind::Outputs,
            (false, true, _) => TargetKind::Set,
            (false, false, true) => TargetKind::Number,
            (false, false, false) => TargetKind::Class,
        };
        Self { format, folds, constant, target, range }
    }
}

impl From<Recipe> for Stored {
    fn from(recipe: Recipe) -> Self {
        let Recipe { format, folds, constant, target, range } = recipe;
        let is = |kind| target == kind;
        let (label_sets, outputs) = (is(TargetKind::Set), is(TargetKind::Outputs));
        let numbers = is(TargetKind::Number);
        Self { format, folds, constant, label_sets, outputs, numbers, range }
    }
}

/// A file, or a part of it, as a data set.
#[derive(Clone, Debug)]
pub struct Loaded<D> {
    /// The requested examples.
    pub data: D,
    /// Their numbers in the file.
    pub chosen: Vec<usize>,
    /// The number of examples in the file.
    pub of: usize,
    /// The recipe, with everything that the file decided.
    pub recipe: Recipe,
    /// Whether the file has targets.
    pub labelled: bool,
    /// What the file has that the model did not see in training.
    pub unseen: Unseen,
    /// The fold of each example, if the file has folds.
    pub folds: Option<Vec<u8>>,
}

impl<D: DataSet> Loaded<D> {
    /// Returns a data set that is a whole file.
    pub fn all(data: D, format: Format, labelled: bool) -> Self {
        let of = data.len();
        Self::whole(data, of, format, labelled, Unseen::default())
    }
}

impl<D> Loaded<D> {
    fn whole(data: D, of: usize, format: Format, labelled: bool, unseen: Unseen) -> Self {
        let recipe = Recipe::whole(format);
        Self { data, chosen: (0..of).collect(), of, recipe, labelled, unseen, folds: None }
    }

    fn map<E>(self, form: impl FnOnce(D) -> E) -> Loaded<E> {
        let Self { data, chosen, of, recipe, labelled, unseen, folds } = self;
        Loaded { data: form(data), chosen, of, recipe, labelled, unseen, folds }
    }
}

impl Recipe {
    /// Returns the recipe for a whole file.
    pub fn whole(format: Format) -> Self {
        Self { format, folds: None, constant: false, target: TargetKind::Class, range: None }
    }

    /// Reads the data as sequences: to train on, or with the names that a model knows.
    pub fn sequences(
        &self,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Sequences>> {
        match &self.format {
            Format::Letters => self.words(source, known).map(|(words, _)| words),
            Format::Columns(recipe) => {
                self.no_folds(source.name())?;
                let (data, recipe, labelled, unseen) = match known {
                    None => {
                        let (data, recipe) =
                            features::read_training_as(source, recipe, self.target)?;
                        (data, recipe, true, Unseen::default())
                    }
                    Some(known) => {
                        let (data, labelled, unseen) =
                            Extractor::new(recipe, known)?.read_as(source, self.target)?;
                        (data, recipe.clone(), labelled, unseen)
                    }
                };
                let of = data.len();
                Ok(Loaded::whole(data, of, Format::Columns(recipe), labelled, unseen))
            }
            Format::Attributes => {
                self.no_folds(source.name())?;
                let (data, labelled, unseen) = match known {
                    None => (Sequences::read_attributes(source)?, true, Unseen::default()),
                    Some(known) => attributes::read_known(source, known)?,
                };
                let of = data.len();
                Ok(Loaded::whole(data, of, Format::Attributes, labelled, unseen))
            }
            Format::Libsvm
            | Format::Csv(_)
            | Format::Ratings(_)
            | Format::Edges
            | Format::Bitext
            | Format::Own => Err(source.file_error(
                format!("{} has no sequences", self.format.of_file()),
                format!(
                    "chains are trained on column files ({} columns), CRFsuite's attributes and letters",
                    Setting::Format
                ),
            )),
        }
    }

    /// Reads the data as independent examples, which are the positions of sequences: to train on, or with the names
    /// that a model knows.
    pub fn examples(
        &self,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Examples>> {
        let mapped = source.mapped()?;
        if !self.constant && mapped.is_none() {
            return self.plain_examples(source, known);
        }
        let known = known.map(|known| Vocabulary {
            features: known.features.saturating_sub(usize::from(self.constant)),
            ..known
        });
        let no_constant = |format: &Format, name: &str| match format {
            Format::Columns(_) => Err(Error::in_file(
                name,
                "a column file has its constant feature from a template",
                "a template without a macro, such as U99:, is one",
            )),
            _ => Ok(()),
        };
        let mut loaded = if let Some(path) = mapped {
            let loaded = self.of_data_file(&path, known)?;
            if !self.constant {
                return Ok(loaded);
            }
            no_constant(&loaded.recipe.format, source.name())?;
            loaded
        } else {
            no_constant(&self.format, source.name())?;
            self.plain_examples(source, known)?
        };
        loaded.data = loaded.data.with_constant();
        loaded.recipe.constant = true;
        Ok(loaded)
    }

    /// Reads the ratings of a file: to train on, without those that are held out, or all of them, to test on.
    pub fn ratings(&self, source: Source<'_>, train: bool) -> Result<Loaded<Ratings>> {
        let recipe = self.of_ratings(&source)?;
        let (all, read) = recipe.read(source)?;
        let data = match recipe.held_out.filter(|_| train) {
            Some(held_out) => all.split(held_out)?.0,
            None => all,
        };
        Ok(Loaded::all(data, Format::Ratings(read), true))
    }

    /// Reads the pairs of a file with or without ratings, to predict.
    pub fn pairs(&self, source: Source<'_>) -> Result<Loaded<Ratings>> {
        let pairs = self.of_ratings(&source)?.read_pairs(source)?;
        Ok(Loaded::all(pairs.into(), self.format.clone(), false))
    }

    /// Reads the graphs of an edge file: to train on, or with the features that a model knows.
    pub fn matchings(
        &self,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Matchings>> {
        self.no_folds(source.name())?;
        let name = source.name().to_string();
        if self.format != Format::Edges {
            return Err(source.file_error(
                format!("{} has no graphs to be matched", self.format.of_file()),
                format!("matchings are trained on edge files ({} edges)", Setting::Format),
            ));
        }
        let (data, unseen) = match known {
            None => (Matchings::read(source)?, Unseen::default()),
            Some(known) => edges::read_known(source, known)?,
        };
        let labelled = data.is_labelled();
        let loaded = Loaded { unseen, ..Loaded::all(data, Format::Edges, labelled) };
        self.within_range(&name, loaded)
    }

    /// Reads sentences and their translations, and makes graphs of them.
    pub fn bitext(&self, source: Source<'_>, aligner: &Aligner) -> Result<Loaded<Matchings>> {
        self.no_folds(source.name())?;
        let name = source.name().to_string();
        let data = aligner.read(source)?;
        let labelled = data.is_labelled();
        self.within_range(&name, Loaded::all(data, Format::Bitext, labelled))
    }

    /// Returns the part of a file that the recipe is about.
    fn within_range(&self, name: &str, all: Loaded<Matchings>) -> Result<Loaded<Matchings>> {
        let Some(range @ [begin, end]) = self.range else { return Ok(all) };
        if begin >= end || end > all.of {
            return Err(Error::in_file(
                name,
                format!("has {} examples, and none from {begin} to before {end}", all.of),
                "examples count from 0; 0..100 are the first hundred",
            ));
        }
        let chosen: Vec<usize> = (begin..end).collect();
        let recipe = Self { range: Some(range), ..all.recipe };
        Ok(Loaded { data: all.data.select(&chosen), chosen, recipe, ..all })
    }

    fn of_ratings(&self, source: &Source<'_>) -> Result<&RatingsRecipe> {
        self.no_folds(source.name())?;
        match &self.format {
            Format::Ratings(recipe) => Ok(recipe),
            _ => Err(source.file_error(
                "is to be read as ratings, and its model says that its data are something else",
                "the model file was altered: train the model again",
            )),
        }
    }

    fn plain_examples(
        &self,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<Loaded<Examples>> {
        match &self.format {
            Format::Columns(_) | Format::Attributes | Format::Letters
                if matches!(self.target, TargetKind::Set | TargetKind::Outputs) =>
            {
                Err(source.file_error(
                    format!("{} has one label a line, and no more", self.format.of_file()),
                    "several of them are read from LIBSVM and csv files",
                ))
            }
            Format::Libsvm => {
                self.no_folds(source.name())?;
                let (data, labelled, unseen) = match known {
                    None => (Examples::read_libsvm(source, self.target)?, true, Unseen::default()),
                    Some(known) => libsvm::read_known_as(source, known, self.target)?,
                };
                let of = data.len();
                Ok(self.with_target(Loaded::whole(data, of, Format::Libsvm, labelled, unseen)))
            }
            Format::Csv(recipe) => {
                self.no_folds(source.name())?;
                let (data, recipe, labelled, unseen) = match known {
                    None => {
                        let (data, recipe) = csv::read_training_as(source, recipe, self.target)?;
                        (data, recipe, true, Unseen::default())
                    }
                    Some(known) => {
                        let (data, labelled, unseen) =
                            csv::read_known_as(source, recipe, known, self.target)?;
                        (data, recipe.clone(), labelled, unseen)
                    }
                };
                let of = data.len();
                Ok(self.with_target(Loaded::whole(data, of, Format::Csv(recipe), labelled, unseen)))
            }
            Format::Own => Err(source.file_error(
                "has the format of another structure, and no examples with features",
                "it is for models of that structure",
            )),
            Format::Ratings(_) => Err(source.file_error(
                "a ratings file has pairs of users and items, and no examples with features",
                "it is for matrix completion, and for models of that",
            )),
            Format::Edges | Format::Bitext => Err(source.file_error(
                format!(
                    "{} has graphs to be matched, and no examples with features",
                    self.format.of_file()
                ),
                "it is for models of matchings",
            )),
            Format::Columns(_) | Format::Attributes => {
                let name = source.name().to_string();
                let sequences = self.sequences(source, known)?;
                if sequences.data.edges.is_some() {
                    return Err(Error::in_file(
                        name,
                        "the templates have features of label pairs, and examples on \
                         their own have no pairs",
                        "train a chain, or leave out the templates B…%x[…]",
                    ));
                }
                let of = sequences.data.rows.len();
                let examples = self.positions(&name, sequences)?;
                Ok(Loaded { chosen: (0..of).collect(), of, ..examples })
            }
            Format::Letters => {
                let name = source.name().to_string();
                let (words, starts) = self.words(source, known)?;
                let positions = |&i: &usize| starts[i]..starts[i + 1];
                let chosen = words.chosen.iter().flat_map(positions).collect();
                let of = starts.last().copied().unwrap_or(0);
                let lengths = words.data.starts().windows(2).map(|ends| ends[1] - ends[0]);
                let of_words = words.folds.iter().flatten();
                let of_letters = of_words.zip(lengths).flat_map(|(&f, t)| repeat_n(f, t));
                let folds = Some(of_letters.collect());
                Ok(Loaded { chosen, of, folds, ..self.positions(&name, words)? })
            }
        }
    }

    /// Reads a data file, whose recipe is that of the file that it was made from: models of both have the same.
    fn of_data_file(&self, path: &Path, known: Option<Vocabulary<'_>>) -> Result<Loaded<Examples>> {
        let open = || -> Result<_, Fault> {
            let (data, recipe) = mapped::open(path)?;
            let stored = serde_json::from_value::<Self>(recipe)
                .map_err(|error| Fault::caused("has a recipe that makes no sense", error))?;
            Ok((data, stored))
        };
        let (data, stored) = open().map_err(|fault| fault.in_file(path, mapped::REMEDY))?;
        if self.folds.is_some() && self.folds != stored.folds {
            return Err(Error::file(
                path,
                "is a data file, whose folds were chosen when it was written",
                "convert the folds to a data file of their own",
            ));
        }
        let (data, labelled, unseen) =
            mapped::fitted(data, known, self.target).map_err(|error| {
                Error::file(path, error.to_string(), "name the text file that it was made from")
                    .caused_by(error)
            })?;
        let of = data.len();
        let loaded = Loaded::whole(data, of, stored.format, labelled, unseen);
        let recipe = Self { folds: stored.folds, ..loaded.recipe };
        Ok(self.with_target(Loaded { recipe, ..loaded }))
    }

    /// Sets the target of the recipe, which the file does not decide.
    fn with_target<D>(&self, mut loaded: Loaded<D>) -> Loaded<D> {
        loaded.recipe.target = self.target;
        loaded
    }

    /// Turns positions into independent examples, and labels that were read as names into numbers if these are the
    /// target.
    fn positions(&self, name: &str, loaded: Loaded<Sequences>) -> Result<Loaded<Examples>> {
        let mut loaded = self.with_target(loaded.map(Examples::from));
        if self.target != TargetKind::Number {
            return Ok(loaded);
        }
        if let Targets::Classes(classes) = &loaded.data.targets {
            let numbers = classes.to_numbers().map_err(|error| {
                let remedy = "regression is for labels that are numbers: take another task";
                Error::in_file(name, error.to_string(), remedy).caused_by(error)
            })?;
            loaded.data.targets = numbers.into();
            loaded.data.print = OnePrint::default();
        }
        loaded.unseen.labels.clear();
        Ok(loaded)
    }

    /// Returns the words, and the start of each word in the file.
    fn words(
        &self,
        source: Source<'_>,
        known: Option<Vocabulary<'_>>,
    ) -> Result<(Loaded<Sequences>, Vec<usize>)> {
        let name = source.name().to_string();
        let letters = Letters::read(source)?;
        let chosen = self.chosen(&letters, &name)?;
        let data = letters.words.select(&chosen);
        let known = known.map(|known| known.alphabet);
        let is_new = |label: &&String| known.is_some_and(|known| known.index(label).is_none());
        let unseen = Unseen {
            met: data.rows.stored() as u64,
            labels: data.alphabet().names().iter().filter(is_new).cloned().collect(),
            ..Unseen::default()
        };
        let (of, recipe) = (letters.words.len(), self.clone());
        let folds = Some(chosen.iter().map(|&i| letters.folds[i]).collect());
        let loaded = Loaded { data, chosen, of, recipe, labelled: true, unseen, folds };
        let starts = letters.words.starts().to_vec();
        Ok((loaded, starts))
    }

    fn chosen(&self, words: &Letters, name: &str) -> Result<Vec<usize>> {
        let Some(folds) = &self.folds else {
            return Ok((0..words.folds.len()).collect());
        };
        let chosen = words.in_folds(folds);
        if chosen.is_empty() {
            let folds: Vec<String> = folds.iter().map(ToString::to_string).collect();
            return Err(Error::in_file(
                name,
                format!("no word is in fold {}", folds.join(", ")),
                "folds are 0 to 9; the sixth column of the file has them",
            ));
        }
        Ok(chosen)
    }

    fn no_folds(&self, name: &str) -> Result<()> {
        match self.folds {
            None => Ok(()),
            Some(_) => Err(Error::in_file(
                name,
                format!("{} has no folds", self.format.of_file()),
                "leave the folds out, or name a file of the letters format",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of version 1 in older files.
    #[test]
    fn recipes_of_older_files_are_read() {
        for (fields, target) in [
            ("", TargetKind::Class),
            (r#","constant":true"#, TargetKind::Class),
            (r#","label_sets":true"#, TargetKind::Set),
            (r#","outputs":true"#, TargetKind::Outputs),
            (r#","numbers":true"#, TargetKind::Number),
        ] {
            let text = format!(r#"{{"format":"libsvm","folds":[1,2]{fields}}}"#);
            let recipe: Recipe = serde_json::from_str(&text).unwrap();
            assert_eq!((recipe.target, recipe.constant), (target, fields.contains("constant")));
            assert_eq!(recipe.folds.as_deref(), Some(&[1, 2][..]));
            let again = serde_json::to_string(&recipe).unwrap();
            assert_eq!(again.contains("label_sets"), target == TargetKind::Set);
            assert_eq!(again.contains("outputs"), target == TargetKind::Outputs);
            assert_eq!(serde_json::from_str::<Recipe>(&again).unwrap(), recipe);
        }
    }

    #[test]
    fn numbers_are_read_from_every_format_that_has_labels() {
        let columns = Format::Columns(ColumnRecipe::default());
        for (format, text) in [
            (Format::Libsvm, "1.50 1:1\n-0 1:2\n"),
            #[cfg(feature = "csv")]
            (Format::Csv(CsvRecipe::default()), "x,y\n1,1.50\n2,-0\n"),
            (columns.clone(), "a 1.50\nb -0\n"),
        ] {
            let recipe = Recipe { target: TargetKind::Number, ..Recipe::whole(format) };
            let source = || Source::from_bytes("t", text.as_bytes()).unwrap();
            let train = recipe.examples(source(), None).unwrap();
            assert_eq!(train.data.numbers().unwrap(), [1.5, 0.0]);
            assert_eq!(train.recipe.target, TargetKind::Number);
            let known = Some(train.data.vocabulary());
            let again = train.recipe.examples(source(), known).unwrap();
            assert_eq!((&again.data, again.labelled), (&train.data, true));
            assert!(again.unseen.labels.is_empty());
        }
        let recipe = Recipe { target: TargetKind::Number, ..Recipe::whole(columns) };
        let source = |text: &'static str| Source::from_bytes("t", text.as_bytes()).unwrap();
        let error = recipe.examples(source("a 1\n\nb two\n"), None).unwrap_err();
        assert!(error.to_string().starts_with("t:3: the label `two`"), "{error}");
        let train = recipe.examples(source("a 1\nb 2\n"), None).unwrap();
        let bare = train.recipe.examples(source("a\nc\n"), Some(train.data.vocabulary())).unwrap();
        assert!(!bare.labelled && bare.data.targets.are_none());
    }
}
