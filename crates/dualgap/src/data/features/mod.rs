//! From columns to rows: templates make feature strings, which are counted and numbered.
//!
//! Sentences are read in portions, each while the one before is at work. A portion is split into parts whose features are
//! computed and numbered in parallel, and the parts are then merged in order: features are numbered by first occurrence in
//! the file, for any number of threads. The text is dropped portion by portion.

use super::columns::{ColumnReader, Sentence};
use super::labels::Labels;
use super::numbering::Numbering;
use super::targets::number;
use super::templates::{Pad, Templates};
use super::{
    Alphabet, ColumnRecipe, Dictionary, Encoding, Hashing, Lookup, Scheme, Sequences, Source,
    TargetKind, Unseen, Vocabulary,
};
use crate::error::count_of;
use crate::linalg::{Rows, parallel};
use crate::{Error, Result, Setting};

/// The sentences of one part, with features numbered within it.
#[derive(Default)]
struct Part {
    dictionary: Dictionary,
    /// For each token, the number of its features and then the features.
    features: Vec<u32>,
    /// The same for the pair of a token and the one before; empty without templates for pairs.
    edges: Vec<u32>,
    /// Empty if the file has none.
    labels: Labels,
    lengths: Vec<usize>,
    /// The line of every token.
    lines: Vec<u32>,
    unseen: Unseen,
}

/// The columns of a CoNLL-U file that are meant if nothing else is said: the words and their universal tags.
const CONLLU_TAGS: [usize; 2] = [1, 3];

/// The number of sentences of a part: large enough that few features are new in the next one.
const PART: usize = 1000;

/// The number of tokens whose features are sorted into rows at a time.
const TOKENS: usize = 1 << 12;

/// From so many tokens on, features that occur only once are left out if nothing is said about them.
const MANY_TOKENS: usize = 20_000;

/// Returns how often a feature must occur in so many tokens if nothing is said about it.
///
/// ```
/// # use dualgap::data::features::usual_min_count;
/// assert_eq!([usual_min_count(100), usual_min_count(1_000_000)], [1, 2]);
/// ```
pub fn usual_min_count(tokens: usize) -> u32 {
    if tokens >= MANY_TOKENS { 2 } else { 1 }
}

/// The smallest number of sentences for which a thread is worth its while when a stream is labelled.
const SMALL_PART: usize = 16;

/// Reads training data, whose last column is the label, and returns the recipe with everything that the file
/// decided.
///
/// ```
/// use dualgap::data::{ColumnRecipe, Source, features::read_training};
/// let text = b"He PRP B-NP\nruns VBZ B-VP\n\nShe PRP B-NP\nruns VBZ B-VP\n";
/// let source = Source::from_bytes("demo", text)?;
/// let (data, recipe) = read_training(source, &ColumnRecipe::default())?;
/// assert_eq!((data.len(), recipe.columns), (2, 3));
/// assert!(data.dictionary().index("Uw0:runs").is_some());
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn read_training(
    source: Source<'_>,
    recipe: &ColumnRecipe,
) -> Result<(Sequences, ColumnRecipe)> {
    read_training_as(source, recipe, TargetKind::Class)
}

/// [`read_training`] for any kind of target; numeric targets require that all labels are numbers.
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
        recipe.min_count = usual_min_count(all.lines.len());
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

/// Appends a part to the others, and counts how often its features occur.
fn merge(part: Part, all: &mut Part, counts: &mut Vec<u32>) {
    let numbers: Vec<u32> =
        part.dictionary.names().map(|name| all.dictionary.number(name)).collect();
    counts.resize(all.dictionary.len(), 0);
    for (from, to) in [(&part.features, &mut all.features), (&part.edges, &mut all.edges)] {
        to.reserve_exact(from.len()); // twice as much as is needed would be a large part of all memory
        for token in tokens(from) {
            to.push(token.len() as u32);
            for &feature in token {
                let number = numbers[feature as usize];
                counts[number as usize] += 1;
                to.push(number);
            }
        }
    }
    all.labels.append(&part.labels);
    all.lengths.extend(part.lengths);
    all.lines.extend(part.lines);
}

/// Computes the features that a model knows, for the sentences of training and for any others.
///
/// ```
/// # use dualgap::data::{ColumnRecipe, Source, features::{Extractor, read_training}};
/// let source = Source::from_bytes("demo", b"He B-NP\nruns B-VP\n")?;
/// let (data, recipe) = read_training(source, &ColumnRecipe::default())?;
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

impl Part {
    fn append(&mut self, later: Self) {
        self.features.extend(later.features);
        self.edges.extend(later.edges);
        self.labels.append(&later.labels);
        self.lengths.extend(later.lengths);
        self.lines.extend(later.lines);
        self.unseen.met += later.unseen.met;
        self.unseen.features += later.unseen.features;
    }
}

/// Iterates over the features of each token.
fn tokens(features: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = features;
    std::iter::from_fn(move || {
        let (&count, after) = rest.split_first()?;
        let (token, after) = after.split_at(count as usize);
        rest = after;
        Some(token)
    })
}

/// Sentences in portions, only one of which is in memory at a time.
pub struct Portions<'a> {
    reader: ColumnReader<'a>,
    /// The first sentence is read at once: it decides the columns of the file.
    first: Option<Sentence>,
    columns: usize,
    conllu: bool,
}

impl<'a> Portions<'a> {
    /// Reads from the beginning of a file, which must have a sentence.
    pub fn new(source: Source<'a>) -> Result<Self> {
        Self::read(ColumnReader::new(source))
    }

    fn read(mut reader: ColumnReader<'a>) -> Result<Self> {
        let Some(first) = reader.next_sentence()? else {
            return Err(reader.source().file_error(
                "has no sentences",
                "a column file has one token a line and an empty line after each sentence",
            ));
        };
        let conllu = reader.tabs() && first.is_conllu();
        Ok(Self { columns: first.width(), reader, first: Some(first), conllu })
    }

    /// Whether the file looks like one of CoNLL-U, by its first sentence.
    pub fn is_conllu(&self) -> bool {
        self.conllu
    }

    /// Whether the sentences come as somebody writes them, see [`Source::is_live`].
    pub fn is_live(&self) -> bool {
        self.reader.source().is_live()
    }

    /// Returns the number of columns of every token.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether tabs separate the columns.
    pub fn tabs(&self) -> bool {
        self.reader.tabs()
    }

    /// Returns an error for an empty label, as a cell between tabs can be, and for one that is no number if numbers
    /// are required.
    fn check_labels(&self, sentences: &[Sentence], column: usize, kind: TargetKind) -> Result<()> {
        let numbers = kind == TargetKind::Number;
        let is_wrong = |cell: &str| cell.is_empty() || (numbers && number(cell).is_none());
        for sentence in sentences {
            let wrong = (0..sentence.len()).find(|&t| is_wrong(sentence.cell(t, column)));
            let Some(t) = wrong else { continue };
            let (message, remedy) = match sentence.cell(t, column) {
                "" => ("the label is empty".into(), "give the token a label, or take it out"),
                cell => (
                    format!("the label `{cell}` is not a finite number"),
                    "the last column has the numbers that are to be predicted: repair it, or take the token out",
                ),
            };
            let file = self.reader.source().name();
            return Err(Error::line(file, sentence.line(t), message, remedy));
        }
        Ok(())
    }

    /// Returns the next sentences, or `None` after the last. Of a stream these are the sentences that are there, so
    /// that nothing waits for what nobody has written yet.
    pub fn next_portion(&mut self) -> Result<Option<Vec<Sentence>>> {
        let mut portion: Vec<Sentence> = self.first.take().into_iter().collect();
        let live = self.is_live();
        // A part for every thread: each has names of its own until it is merged, so there are never more of them.
        while portion.len() < PART * parallel::threads()
            && (!live || portion.is_empty() || self.reader.has_sentence()?)
            && let Some(sentence) = self.reader.next_sentence()?
        {
            portion.push(sentence);
        }
        Ok((!portion.is_empty()).then_some(portion))
    }

    /// Returns an error about the file as a whole.
    pub fn file_error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        self.reader.source().file_error(message, remedy)
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

/// Returns rows of the features that have a number, and labels by their number in the alphabet.
fn assemble(
    part: &Part,
    alphabet: Alphabet,
    [width, edge_width]: [usize; 2],
    number: impl Fn(u32) -> Option<u32> + Sync,
) -> Result<Sequences> {
    let mut starts = vec![0];
    starts.extend(part.lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    let positions = rows(&part.features, width, &number)?;
    let sequences = if part.labels.is_empty() {
        Sequences::unlabelled(positions, starts)?
    } else {
        let numbers = part.labels.numbered(&alphabet).into_iter().map(u16::try_from);
        let labels = numbers
            .collect::<Result<Vec<u16>, _>>()
            .map_err(|_| Error::setting("there are more labels than a chain can have"))?;
        Sequences::new(positions, labels, starts, alphabet)?
    };
    let sequences = sequences.with_lines(part.lines.clone());
    if edge_width == 0 {
        return Ok(sequences);
    }
    sequences.with_edges(rows(&part.edges, edge_width, number)?)
}

fn rows(
    features: &[u32],
    width: usize,
    number: impl Fn(u32) -> Option<u32> + Sync,
) -> Result<Rows> {
    let mut rows = Rows::sparse();
    let kept = |token: &[u32]| token.iter().filter(|feature| number(**feature).is_some()).count();
    let entries: usize = tokens(features).map(kept).sum();
    rows.reserve_exact(tokens(features).count(), entries)?;
    let mut rest = tokens(features);
    loop {
        // For every thread some, which are put together before there are more.
        let some: Vec<&[u32]> = rest.by_ref().take(TOKENS * parallel::threads()).collect();
        if some.is_empty() {
            break;
        }
        let parts = parallel::map_ranges(some.len(), some.len().div_ceil(TOKENS), |range| {
            Ok(sorted_rows(&some[range], &number))
        })?;
        parts.iter().try_for_each(|part| rows.append(part))?;
    }
    rows.fit_width(width);
    Ok(rows)
}

fn sorted_rows(tokens: &[&[u32]], number: impl Fn(u32) -> Option<u32>) -> Rows {
    let (mut rows, mut row) = (Rows::sparse(), Vec::<(u32, f64)>::new());
    for token in tokens {
        row.clear();
        row.extend(token.iter().filter_map(|&feature| number(feature)).map(|j| (j, 1.0)));
        row.sort_unstable_by_key(|&(j, _)| j);
        // A feature that two templates make has the value two.
        row.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0.0 };
            same
        });
        rows.push_sparse(&row);
    }
    rows
}

#[cfg(test)]
mod tests;
