//! CRFsuite's attribute files: a line for every position, with its label and its attributes between tabs, and an empty
//! line after each sequence.
//!
//! ```text
//! B-NP    w[0]=He      pos[0]=PRP    __BOS__
//! B-VP    w[0]=runs    pos[0]=VBZ    length:0.4
//! ```
//!
//! An attribute is a name, or a name and its value, `name:value`, which is 1 where it is not given. In a name `\:` is a
//! colon and `\\` a backslash. The values of an attribute that comes twice in a line are added. A file to predict for may
//! leave out the labels, all of them: its lines then begin with a tab.

use super::labels::Labels;
use super::source::Complaint;
use super::{Alphabet, Dictionary, Lookup, Sequences, Sink, Source, Unseen, Vocabulary};
use crate::linalg::Rows;
use crate::{Error, Result};
use std::fmt::Write;

/// How a position is written.
const LINE: &str = "a line is a label and attributes between tabs: B-NP, w[0]=He, length:0.4; a colon in a name is \\:";

impl Sequences {
    /// Reads a file of attributes to train on: every position must have a label.
    ///
    /// ```
    /// use dualgap::data::{Sequences, Source};
    /// let text = b"N\tw=dog\tshort\nV\tw=runs\tlength:0.5\n\nN\tw=cat\n";
    /// let data = Sequences::read_attributes(Source::from_bytes("demo", text)?)?;
    /// assert_eq!((data.len(), data.rows().len()), (2, 3));
    /// assert!(data.dictionary().index("length").is_some());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read_attributes(source: Source<'_>) -> Result<Sequences> {
        let name = source.name().to_string();
        let (data, labelled, _) = Lines::new(None).read(source)?;
        if !labelled {
            let remedy = "write a label at the beginning of every line";
            return Err(Error::in_file(name, "its positions have no labels to learn from", remedy));
        }
        Ok(data)
    }
}

/// Reads a file with the attributes that a model knows. Returns whether it has labels, and what the model does not know.
pub fn read_known(source: Source<'_>, known: Vocabulary<'_>) -> Result<(Sequences, bool, Unseen)> {
    Lines::new(Some(known)).read(source)
}

impl Sequences {
    /// Writes sequences as attributes. Features of label pairs have no place in such a file.
    ///
    /// ```
    /// # use dualgap::data::{Sequences, Sink, Source};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("out");
    /// let text = b"N\tw=a\\:b\tlong:2.5\nV\tw=c\n\n";
    /// let data = Sequences::read_attributes(Source::from_bytes("demo", text)?)?;
    /// let mut sink = Sink::create(&path)?;
    /// data.write_attributes(&mut sink)?;
    /// sink.finish()?;
    /// assert_eq!(std::fs::read(&path).unwrap(), text);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn write_attributes(&self, sink: &mut Sink) -> Result<()> {
        if self.edges().is_some() {
            return Err(Error::setting(
                "the templates have features of label pairs, and attributes are of single labels: leave out the templates \
                 B…%x[…]",
            ));
        }
        let mut line = String::new();
        for ends in self.starts().windows(2) {
            for t in ends[0]..ends[1] {
                line.clear();
                if let Some(&label) = self.labels().get(t) {
                    line.push_str(&self.alphabet().names()[usize::from(label)]);
                }
                for (j, x) in self.rows().row(t).iter() {
                    line.push('\t');
                    match self.dictionary().name(j) {
                        Some(name) => escape(name, &mut line),
                        None => _ = write!(line, "{}", j + 1),
                    }
                    if x != 1.0 {
                        let _ = write!(line, ":{x}");
                    }
                }
                line.push('\n');
                sink.text(&line)?;
            }
            sink.text("\n")?;
        }
        Ok(())
    }
}

/// Whether a line looks like one of attributes: of its cells but the first, two thirds have a `=` or a colon, as most
/// attributes do but for those of the first position, `__BOS__`.
pub(super) fn is_attributes(line: &str) -> bool {
    let mut cells = line.split('\t');
    let label = cells.next().unwrap_or_default();
    let (mut all, mut like) = (0, 0);
    for cell in cells {
        all += 1;
        like += usize::from(cell.contains(['=', ':']));
    }
    !label.contains('=') && like > 0 && 3 * like >= 2 * all
}

fn escape(name: &str, line: &mut String) {
    for c in name.chars() {
        if matches!(c, ':' | '\\') {
            line.push('\\');
        }
        line.push(c);
    }
}

/// What was read so far.
struct Lines<'k> {
    known: Option<Vocabulary<'k>>,
    dictionary: Dictionary,
    rows: Rows,
    labels: Labels,
    starts: Vec<usize>,
    places: Vec<u32>,
    unseen: Unseen,
    row: Vec<(u32, f64)>,
    /// A name, or those of a whole line with their values, of which those that a model knows are looked up together.
    name: String,
    names: Lookup,
    values: Vec<f64>,
}

impl<'k> Lines<'k> {
    fn new(known: Option<Vocabulary<'k>>) -> Self {
        Self {
            known,
            dictionary: known.map(|known| known.dictionary.clone()).unwrap_or_default(),
            rows: Rows::sparse(),
            labels: Labels::default(),
            starts: vec![0],
            places: Vec::new(),
            unseen: Unseen::default(),
            row: Vec::new(),
            name: String::new(),
            names: Lookup::default(),
            values: Vec::new(),
        }
    }

    fn read(mut self, mut source: Source<'_>) -> Result<(Sequences, bool, Unseen)> {
        while let Some(line) = source.next_line()? {
            if line.trim_ascii().is_empty() {
                self.end_sequence();
            } else if let Err((message, remedy)) = self.position(line) {
                return Err(source.error(message, remedy));
            } else {
                self.places.push(source.line_number() as u32);
            }
            self.rows.try_reserve(self.row.len())?;
        }
        self.end_sequence();
        let Self { known, dictionary, mut rows, labels, starts, places, mut unseen, .. } = self;
        if starts.len() == 1 {
            return Err(source.file_error("has no positions", LINE));
        }
        rows.fit_width(known.map_or(dictionary.len(), |known| known.features));
        let labelled = !labels.are_none();
        let mut data = if labelled {
            if labels.names().any(|label| label.is_empty()) {
                return Err(source.file_error(
                    "some of its positions have a label, and some have none",
                    "begin every line with its label, or none of them",
                ));
            }
            let alphabet = match known {
                None => Alphabet::new(labels.names()),
                Some(known) => known.alphabet.extended(labels.names()),
            };
            let numbers = labels.numbered(&alphabet).into_iter().map(u16::try_from);
            let numbers = numbers
                .collect::<Result<Vec<u16>, _>>()
                .map_err(|_| Error::setting("there are more labels than a chain can have"))?;
            Sequences::new(rows, numbers, starts, alphabet)?
        } else {
            Sequences::unlabelled(rows, starts)?
        };
        data = data.with_lines(places);
        data.dictionary = dictionary;
        if let Some(known) = known {
            unseen.labels = labels.names().filter(|name| !name.is_empty()).collect();
            unseen.labels.retain(|label| known.alphabet.index(label).is_none());
            unseen.labels.sort();
        }
        Ok((data, labelled, unseen))
    }

    fn end_sequence(&mut self) {
        if self.starts.last() != Some(&self.rows.len()) {
            self.starts.push(self.rows.len());
        }
    }

    /// Reads the position of a line.
    fn position(&mut self, line: &str) -> Result<(), Complaint> {
        let mut cells = line.split('\t');
        self.labels.push(cells.next().unwrap_or_default().trim_ascii());
        self.row.clear();
        self.values.clear();
        for cell in cells.filter(|cell| !cell.is_empty()) {
            let value = if self.known.is_some() {
                let mut value = Ok(1.0);
                self.names.push(|name| value = unescape(cell, name));
                value?
            } else {
                self.name.clear();
                let value = unescape(cell, &mut self.name)?;
                self.row.push((self.dictionary.number(&self.name), value));
                value
            };
            self.values.push(value);
        }
        self.unseen.met += self.values.len() as u64;
        if let Some(known) = self.known {
            let mut values = self.values.iter();
            self.names.find(known.dictionary, |number| {
                let number = number.filter(|&number| (number as usize) < known.features);
                self.unseen.features += u64::from(number.is_none());
                self.row.extend(number.zip(values.next().copied()));
            });
        }
        self.row.sort_unstable_by_key(|&(number, _)| number);
        self.row.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0.0 };
            same
        });
        if self.row.iter().any(|&(_, value)| !value.is_finite()) {
            return Err(("values that are added overflow".into(), LINE));
        }
        self.row.retain(|&(_, value)| value != 0.0);
        self.rows.push_sparse(&self.row);
        Ok(())
    }
}

/// Appends the name of an attribute to `name`, and returns its value.
fn unescape(cell: &str, name: &mut String) -> Result<f64, Complaint> {
    let mut rest = cell;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'\\' | b':')) {
        name.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        if chars.next() == Some(':') {
            let value = chars.as_str();
            return match value.parse::<f64>() {
                Ok(x) if x.is_finite() => Ok(x),
                _ => Err((format!("the value `{value}` of an attribute is no number"), LINE)),
            };
        }
        name.push(chars.next().unwrap_or('\\'));
        rest = chars.as_str();
    }
    name.push_str(rest);
    Ok(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source<'_> {
        Source::from_bytes("t", text.as_bytes()).unwrap()
    }

    #[test]
    fn names_values_and_sequences_are_read() {
        let text = "A\tx\ty:2\tx:0.5\r\nB\t\ta\\:b\\\\c:-1e3\n\n\nA\n";
        let data = Sequences::read_attributes(source(text)).unwrap();
        assert_eq!(data.starts(), [0, 2, 3]);
        assert_eq!(data.dictionary().names().collect::<Vec<_>>(), ["x", "y", "a:b\\c"]);
        let row = |t: usize| data.rows().row(t).iter().collect::<Vec<_>>();
        assert_eq!((row(0), row(1)), (vec![(0, 1.5), (1, 2.0)], vec![(2, -1000.0)]));
        assert!(row(2).is_empty(), "a position may have no attributes");
        assert_eq!(data.labels(), [0, 1, 0]);
    }

    #[test]
    fn known_attributes_keep_their_numbers() {
        let data = Sequences::read_attributes(source("A\tx\nB\ty\n")).unwrap();
        let (same, labelled, unseen) =
            read_known(source("A\tx\nB\ty\n"), data.vocabulary()).unwrap();
        assert!(labelled && unseen == Unseen { met: 2, ..Unseen::default() } && same == data);
        let (other, labelled, unseen) =
            read_known(source("C\ty:3\tz\n"), data.vocabulary()).unwrap();
        assert_eq!(other.rows().row(0).iter().collect::<Vec<_>>(), [(1, 3.0)]);
        assert_eq!((labelled, unseen.features, &unseen.labels[..]), (true, 1, &["C".into()][..]));
        let (bare, labelled, _) = read_known(source("\tx\n\ty\n"), data.vocabulary()).unwrap();
        assert_eq!((bare.rows(), labelled), (data.rows(), false));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, words) in [
            ("A\tx\nB\ty:z\n", "t:2: the value `z`"),
            ("A\tx:inf\n", "t:1: the value `inf`"),
            ("A\tx:1e308\tx:1e308\n", "t:1: values that are added"),
            ("A\tw=12:30\tx:1:2\n", "t:1: the value `1:2`"),
            ("\n\n", "no positions"),
            ("\tx\n", "no labels to learn from"),
            ("A\tx\n\tx\n", "some have none"),
        ] {
            let error = Sequences::read_attributes(source(text)).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn attributes_are_told_from_columns() {
        assert!(is_attributes("B-NP\tw[0]=He\tpos[0]=PRP"));
        assert!(is_attributes("B-NP\tw[0]=He\tpos[0]=PRP\t__BOS__"));
        assert!(is_attributes("N\tUw0\\:He\tlength:0.4"));
        for columns in ["He PRP B-NP", "He\tPRP\tB-NP", "1\tHe\t_\tPRON\tPRP\tCase=Nom", "word"] {
            assert!(!is_attributes(columns), "{columns}");
        }
    }
}
