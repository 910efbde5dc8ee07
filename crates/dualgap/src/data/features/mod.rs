//! From columns to rows: templates make feature strings, which are counted and numbered.
//!
//! Sentences are read in portions, each while the one before is at work. A portion is split into parts whose features are
//! computed and numbered in parallel, and the parts are then merged in order: features are numbered by first occurrence in
//! the file, for any number of threads. The text is dropped portion by portion.

use self::assembly::assemble;
use self::part::{PART, Part, merge};
use super::columns::{ColumnReader, Sentence};
use super::numbering::Numbering;
use super::templates::{Pad, Templates};
use super::{
    Alphabet, ColumnRecipe, Dictionary, Encoding, Hashing, Lookup, Scheme, Sequences, Source,
    TargetKind, Unseen, Vocabulary,
};
use crate::error::count_of;
use crate::linalg::parallel;
use crate::{Error, Result, Setting};

mod assembly;
mod part;
mod portions;

pub use portions::Portions;

/// The columns of a CoNLL-U file that are meant if nothing else is said: the words and their universal tags.
const CONLLU_TAGS: [usize; 2] = [1, 3];

/// From so many tokens on, features that occur only once are left out if nothing is said about them.
const MANY_TOKENS: usize = 20_000;

impl ColumnRecipe {
    /// Returns how often a feature must occur in so many tokens if nothing is said about it.
    ///
    /// ```
    /// # use dualgap::data::ColumnRecipe;
    /// assert_eq!([ColumnRecipe::usual_min_count(100), ColumnRecipe::usual_min_count(1_000_000)], [1, 2]);
    /// ```
    pub fn usual_min_count(tokens: usize) -> u32 {
        if tokens >= MANY_TOKENS { 2 } else { 1 }
    }

    /// Reads training data, whose last column is the label, and returns the recipe with everything that the file
    /// decided.
    ///
    /// ```
    /// use dualgap::data::{ColumnRecipe, Source};
    /// let text = b"He PRP B-NP\nruns VBZ B-VP\n\nShe PRP B-NP\nruns VBZ B-VP\n";
    /// let source = Source::from_bytes("demo", text)?;
    /// let (data, recipe) = ColumnRecipe::default().read_training(source)?;
    /// assert_eq!((data.len(), recipe.columns), (2, 3));
    /// assert!(data.dictionary().index("Uw0:runs").is_some());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read_training(&self, source: Source<'_>) -> Result<(Sequences, ColumnRecipe)> {
        read_training_as(source, self, TargetKind::Class)
    }
}

/// The smallest number of sentences for which a thread is worth its while when a stream is labelled.
const SMALL_PART: usize = 16;

/// [`ColumnRecipe::read_training`] for any kind of target; numeric targets require that all labels are numbers.
pub(super) fn read_training_as(
    source: Source<'_>,
    recipe: &ColumnRecipe,
    kind: TargetKind,
) -> Result<(Sequences, ColumnRecipe)> {
    let mut portions = Portions::new(source.encoded(recipe.encoding))?;
    let found = portions.columns();
    let mut recipe = recipe.clone();
    if portions.is_conllu() && recipe.pick.is_empty() {
        if !recipe.templates.is_empty() {
            return Err(portions.file_error(
                "is a CoNLL-U file, whose last column is no label",
                format!("say by {} which columns are meant, the label last; 1,3 are the words and their universal tags", Setting::Columns),
            ));
        }
        recipe.pick = CONLLU_TAGS.to_vec();
    }
    let columns = if recipe.pick.is_empty() { found } else { recipe.pick.len() };
    recipe = ColumnRecipe { columns, tabs: portions.tabs(), ..recipe };
    if columns < 2 || found < recipe.width(columns) {
        return Err(portions.file_error(
            format!(
                "has {}, and {} are needed",
                count_of(found, "column"),
                recipe.width(columns).max(2)
            ),
            "columns are separated by spaces or tabs; the label comes last",
        ));
    }
    if recipe.templates.is_empty() {
        recipe.templates = ColumnRecipe::standard(columns);
    }
    let templates = recipe.parse().map_err(|error| match error {
        Error::Setting { message, .. } => portions.file_error(
            format!("does not have the columns for its features: {message}"),
            "take other features, or pick other columns",
        ),
        other => other,
    })?;
    let label = recipe.place(columns - 1);
    let mut all = Part::default();
    let mut counts: Vec<u32> = Vec::new();
    let mut portion = portions.next_portion()?;
    while let Some(sentences) = portion {
        portions.check_labels(&sentences, label, kind)?;
        let make = |part: &[Sentence]| extract(part, &templates, recipe.pad, Some(label), None);
        let add = || {
            for part in in_parts(&sentences, PART, make)? {
                merge(part, &mut all, &mut counts);
            }
            Ok(())
        };
        let (added, next): (Result<()>, _) = parallel::both(add, || portions.next_portion());
        added?;
        portion = next?;
    }
    if recipe.min_count == 0 {
        recipe.min_count = ColumnRecipe::usual_min_count(all.lines.len());
    }
    let names = std::mem::take(&mut all.dictionary);
    let Numbering { dictionary, widths, new } =
        Numbering::new(&names, &counts, &mut recipe, |message, remedy| {
            portions.file_error(message, remedy)
        })?;
    drop((names, counts));
    let alphabet = Alphabet::new(all.labels.names());
    let mut sequences = assemble(&all, alphabet, widths, |feature| new[feature as usize])?;
    sequences.dictionary = dictionary;
    if let Some(scheme) = &mut recipe.scheme {
        let Some(found) = Scheme::recognise(&sequences) else {
            return Err(portions.file_error(
                "has labels of no scheme that could be converted",
                "labels of chunks are O, and B-NAME, I-NAME or their like",
            ));
        };
        scheme.file = Some(found.scheme);
        sequences = sequences.in_scheme(scheme.model, None)?;
    }
    Ok((sequences, recipe))
}

/// Makes a part of every so many sentences, on the threads of the current pool.
fn in_parts(
    sentences: &[Sentence],
    size: usize,
    make: impl Fn(&[Sentence]) -> Part + Sync,
) -> Result<Vec<Part>> {
    let mut parts: Vec<&[Sentence]> = sentences.chunks(size).collect();
    parallel::map_mut(&mut parts, || (), |(), _, part| Ok(make(part)))
}

/// Computes the features that a model knows, for the sentences of training and for any others.
///
/// ```
/// # use dualgap::data::{ColumnRecipe, Extractor, Source};
/// let source = Source::from_bytes("demo", b"He B-NP\nruns B-VP\n")?;
/// let (data, recipe) = ColumnRecipe::default().read_training(source)?;
/// let extractor = Extractor::new(&recipe, data.vocabulary())?;
/// let mut portions = extractor.portions(Source::from_bytes("more", b"She\nruns\n")?)?;
/// assert!(!extractor.has_labels(&portions)?);
/// let sentences = portions.next_portion()?.unwrap();
/// let (more, unseen) = extractor.sequences(&sentences, false)?;
/// assert_eq!(more.sequence(0).len(), 2);
/// assert!(unseen.features > 0); // nothing is known of "she"
/// # Ok::<(), dualgap::Error>(())
/// ```
pub struct Extractor<'a> {
    templates: Templates,
    recipe: ColumnRecipe,
    known: Vocabulary<'a>,
}

impl<'a> Extractor<'a> {
    /// Returns the extractor for the recipe and the names of a training set, which may come from a stranger's model
    /// file.
    pub fn new(recipe: &ColumnRecipe, known: Vocabulary<'a>) -> Result<Self> {
        let (columns, picked) = (recipe.columns, recipe.pick.len());
        let sound = columns >= 2 && (picked == 0 || picked == columns);
        let named = recipe.hash.is_some() || known.features <= known.dictionary.len();
        let hashed = recipe.hash.is_none_or(|hash| {
            Hashing::new(hash.bits).is_ok_and(|hash| hash.width() == known.features)
        });
        if !sound || !named || !hashed {
            return Err(Error::setting(
                "the templates, the columns and the names of the features do not fit together",
            ));
        }
        Ok(Self { templates: recipe.parse()?, recipe: recipe.clone(), known })
    }

    /// Returns the sentences of a file. A file with a single column has no separator that could be detected, so the
    /// reader uses that of the training data.
    pub fn portions<'s>(&self, source: Source<'s>) -> Result<Portions<'s>> {
        let single = self.recipe.width(self.recipe.columns - 1) == 1;
        let source = source.encoded(self.recipe.encoding);
        Portions::read(ColumnReader::new(source).tabs_only(self.recipe.tabs && single))
    }

    /// Whether a file has the label column; any other number of columns is an error. If the recipe picks columns by
    /// number, the file may have more of them.
    pub fn has_labels(&self, portions: &Portions<'_>) -> Result<bool> {
        let recipe = &self.recipe;
        let found = portions.columns();
        let (with, without) = (recipe.width(recipe.columns), recipe.width(recipe.columns - 1));
        let picked = !recipe.pick.is_empty();
        if found == with || (picked && found > with) {
            return Ok(true);
        }
        if found == without || (picked && found > without) {
            return Ok(false);
        }
        Err(portions.file_error(
            format!(
                "has {}, and the training data had {with}, the label included",
                count_of(found, "column")
            ),
            format!("give it {with} columns, or {without} without the label"),
        ))
    }

    /// Returns the sentences as sequences of rows, and what the model does not know. New labels come after the known
    /// ones.
    pub fn sequences(&self, sentences: &[Sentence], labelled: bool) -> Result<(Sequences, Unseen)> {
        let all = self.extract(sentences, labelled)?;
        let data = self.assemble(&all)?;
        let unseen = self.unseen(&all, &data);
        Ok((data, unseen))
    }

    /// Returns the column of the label in a file.
    pub fn label_column(&self) -> usize {
        self.recipe.place(self.recipe.columns - 1)
    }

    /// Whether the recipe picks columns by their number.
    pub fn picks(&self) -> bool {
        !self.recipe.pick.is_empty()
    }

    /// Returns how the bytes of a file become characters, and characters bytes.
    pub fn encoding(&self) -> Encoding {
        self.recipe.encoding
    }

    /// Returns how many columns the features are made of: those up to the last that a template names.
    pub fn inputs(&self) -> usize {
        Templates::parse(&self.recipe.templates).map_or(0, |templates| templates.columns())
    }

    /// Returns how many columns a file without labels has at least.
    pub fn width(&self) -> usize {
        self.recipe.width(self.recipe.columns - 1)
    }

    /// Returns a sentence of tokens that were not read from a file: for each the columns that features are made of, and perhaps
    /// more.
    pub fn sentence(&self, tokens: &[Vec<String>], line: u64) -> Sentence {
        let recipe = &self.recipe;
        let width = recipe.width(recipe.columns - 1);
        let column = |place: usize| (0..recipe.columns - 1).find(|&k| recipe.place(k) == place);
        let columns: Vec<Option<usize>> = (0..width).map(column).collect();
        let cell = |token: &'_ [String], k: Option<usize>| -> Option<usize> {
            k.filter(|&k| k < token.len())
        };
        let cells = tokens.iter().flat_map(|token| {
            columns.iter().map(move |&k| cell(token, k).map_or("_", |k| &token[k][..]))
        });
        Sentence::of_cells(cells, width, line)
    }

    /// Returns the word of a token: its first column.
    pub fn word<'s>(&self, sentence: &'s Sentence, token: usize) -> &'s str {
        sentence.cell(token, self.recipe.place(0))
    }

    fn extract(&self, sentences: &[Sentence], labelled: bool) -> Result<Part> {
        let Self { templates, recipe, known } = self;
        let label = labelled.then(|| recipe.place(recipe.columns - 1));
        let known = match recipe.hash {
            Some(hashing) => Known::Hash(hashing),
            None => Known::Names(known.dictionary),
        };
        let make = |part: &[Sentence]| extract(part, templates, recipe.pad, label, Some(known));
        let mut all = Part::default();
        // Known features have their numbers, so that the size of the parts changes nothing but the time.
        let size = sentences.len().div_ceil(8).clamp(SMALL_PART, PART);
        for part in in_parts(sentences, size, make)? {
            all.append(part);
        }
        Ok(all)
    }

    fn assemble(&self, all: &Part) -> Result<Sequences> {
        let Vocabulary { alphabet, dictionary, features } = self.known;
        let alphabet = alphabet.extended(all.labels.names());
        let widths = [features, dictionary.len().saturating_sub(features)];
        let first_pair = features as u32;
        // In the dictionary the features of pairs follow those of labels; in their own rows they count from zero.
        let number = |feature: u32| Some(feature.checked_sub(first_pair).unwrap_or(feature));
        let mut sequences = assemble(all, alphabet, widths, number)?;
        sequences.dictionary = dictionary.clone();
        match self.recipe.scheme {
            Some(scheme) => sequences.in_scheme(scheme.model, Some(self.known.alphabet)),
            None => Ok(sequences),
        }
    }

    fn unseen(&self, all: &Part, data: &Sequences) -> Unseen {
        let mut labels: Vec<String> = match self.recipe.scheme {
            Some(_) => data.alphabet().names().to_vec(),
            None => all.labels.names().collect(),
        };
        labels.retain(|label| self.known.alphabet.index(label).is_none());
        labels.sort();
        Unseen { labels, ..all.unseen.clone() }
    }

    /// Reads a whole file. Returns the sequences, whether they have labels, and what the model does not know.
    pub fn read(&self, source: Source<'_>) -> Result<(Sequences, bool, Unseen)> {
        self.read_as(source, TargetKind::Class)
    }

    pub(super) fn read_as(
        &self,
        source: Source<'_>,
        kind: TargetKind,
    ) -> Result<(Sequences, bool, Unseen)> {
        let mut portions = self.portions(source)?;
        let labelled = self.has_labels(&portions)?;
        let mut all = Part::default();
        let mut portion = portions.next_portion()?;
        while let Some(sentences) = portion {
            if labelled {
                portions.check_labels(&sentences, self.label_column(), kind)?;
            }
            let extract = || self.extract(&sentences, labelled);
            let (part, next) = parallel::both(extract, || portions.next_portion());
            all.append(part?);
            portion = next?;
        }
        let data = self.assemble(&all)?;
        let unseen = self.unseen(&all, &data);
        Ok((data, labelled, unseen))
    }
}

/// How the features of a model are found.
#[derive(Clone, Copy)]
enum Known<'k> {
    Names(&'k Dictionary),
    Hash(Hashing),
}

/// Computes the features of a part, and takes its labels from their column. With those of a model it computes only known
/// features.
fn extract(
    sentences: &[Sentence],
    templates: &Templates,
    pad: Pad,
    label: Option<usize>,
    known: Option<Known<'_>>,
) -> Part {
    let mut part = Part::default();
    let mut buffer = String::new();
    let mut names = Lookup::default();
    for sentence in sentences {
        for t in 0..sentence.len() {
            let Part { dictionary, features, edges, unseen, .. } = &mut part;
            let mut number = |feature: &str, unseen: &mut Unseen| {
                let number = match known {
                    None => Some(dictionary.number(feature)),
                    Some(Known::Names(known)) => known.index(feature),
                    Some(Known::Hash(hashing)) => Some(hashing.number(feature)),
                };
                unseen.met += 1;
                unseen.features += u64::from(number.is_none());
                number
            };
            counted(features, |features| {
                if let Some(Known::Names(known)) = known {
                    templates.look_up(sentence, t, pad, &mut names);
                    let begin = features.len();
                    names.find(known, |number| features.extend(number));
                    unseen.met += templates.len() as u64;
                    unseen.features += (templates.len() - (features.len() - begin)) as u64;
                    return;
                }
                templates.features(sentence, t, pad, &mut buffer, |feature| {
                    features.extend(number(feature, unseen));
                });
            });
            if templates.pairs() > 0 {
                counted(edges, |edges| {
                    if t > 0 {
                        templates.pair_features(sentence, t, pad, &mut buffer, |feature| {
                            edges.extend(number(feature, unseen));
                        });
                    }
                });
            }
            if let Some(label) = label {
                part.labels.push(sentence.cell(t, label));
            }
        }
        part.lengths.push(sentence.len());
        part.lines.extend((0..sentence.len()).map(|t| sentence.line(t) as u32));
    }
    part
}

/// Calls `fill` to append to the list, and puts the number of new items in front.
fn counted(list: &mut Vec<u32>, fill: impl FnOnce(&mut Vec<u32>)) {
    let count = list.len();
    list.push(0);
    fill(list);
    list[count] = (list.len() - count - 1) as u32;
}

#[cfg(test)]
mod tests;
