//! Csv files: a record per example, with cells that are numbers or names, one of which is the label.
//!
//! A column of numbers is one feature, which has the column's name and the cell's value. A column of names is a
//! feature `column=name` for each of its names, with the value 1. Cells are trimmed, and one that is empty,
//! `NA`, `NaN` or `?` is missing: it has no feature.
//!
//! The first line tells what separates the cells (`,`, `;`, a tab or `|`) and whether it is a header: it is
//! none if one of its cells is a number, and then the columns are called `c1`, `c2`, … The beginning of the
//! training file tells which columns are numbers. The recipe keeps all of that but for the separator, so that
//! other files are read in the same way, whatever separates their cells and in whatever order they come.

use super::{Alphabet, Dictionary, Examples, Source, Unseen, Vocabulary};
use crate::linalg::Rows;
use crate::{Error, Result};
use ::csv::{ReaderBuilder, StringRecord, Terminator};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::io::{BufRead, Chain, Read};

/// How a csv file is read.
///
/// ```
/// # use dualgap::data::CsvRecipe;
/// let zip = CsvRecipe { categorical: vec!["zip".into()], ..CsvRecipe::default() };
/// assert!(zip.label.is_none()); // the last column
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvRecipe {
    /// The column with the label; the last one when absent.
    pub label: Option<String>,
    /// Columns whose values are names even where they look like numbers.
    pub categorical: Vec<String>,
    /// What the training file decided: its columns but for the label, in order; empty before it was read.
    pub columns: Vec<CsvColumn>,
    /// Whether the first line has the names of the columns; this, too, the training file decides.
    pub header: bool,
}

/// A column that gives features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvColumn {
    /// From the header, or its place: `c1` is the first.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Numbers: one feature, with the cell as its value.
    Number,
    /// Names: a feature for each.
    Name,
}

/// So many records are looked at to tell columns of numbers from columns of names.
const BEGINNING: usize = 1000;

/// Put behind every file: a record of its own, unless a double quote was opened and not closed.
const END: &[u8] = b"\n\x04\n";

/// Reads training data; the recipe comes back with everything that the file decided.
///
/// ```
/// use dualgap::data::{CsvRecipe, Source, csv::read_training};
/// let text = b"age,colour,ill\n31,red,no\n0,,yes\n";
/// let source = Source::from_bytes("demo", text)?;
/// let (data, recipe) = read_training(source, &CsvRecipe::default())?;
/// assert_eq!(data.dictionary.names().collect::<Vec<_>>(), ["age", "colour=red"]);
/// assert_eq!((data.rows.row(0).stored(), data.rows.row(1).stored()), (2, 0));
/// assert_eq!(recipe.label.as_deref(), Some("ill"));
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn read_training(source: Source<'_>, recipe: &CsvRecipe) -> Result<(Examples, CsvRecipe)> {
    let mut table = Table::open(source, None)?;
    if table.names.len() < 2 {
        return Err(table.file_error(
            "has a single column",
            "a label and something to tell it by are needed, with , ; | or a tab between them",
        ));
    }
    let label = match &recipe.label {
        Some(name) => table.place(name)?,
        None => table.names.len() - 1,
    };
    for name in &recipe.categorical {
        table.place(name)?;
    }
    table.look_ahead(BEGINNING)?;
    let columns: Vec<CsvColumn> = (0..table.names.len())
        .filter(|&place| place != label)
        .map(|place| CsvColumn {
            name: table.names[place].clone(),
            kind: table.kind(place, &recipe.categorical),
        })
        .collect();
    if let Some((short, long)) = clash(&columns) {
        return Err(table.file_error(
            format!("`{long}` is a column and may be a feature of the column `{short}`"),
            "give one of the two another name",
        ));
    }
    let places: Vec<usize> = (0..table.names.len()).filter(|&place| place != label).collect();
    let mut dictionary = Dictionary::default();
    let mut read =
        table.gather(Some(label), &places, &columns, |name| Some(dictionary.number(name)))?;
    if let Some(line) = read.unlabelled {
        return Err(table.no_label(line, label));
    }
    read.rows.fit_width(dictionary.len());
    let names = read.label_names(read.names.names().all(|name| number(name).is_some()));
    let alphabet = Alphabet::new(names.iter().cloned());
    let labels = read.labels(&names, &alphabet);
    let data = Examples { dictionary, ..Examples::new(read.rows, labels, alphabet)? };
    let recipe = CsvRecipe {
        label: Some(table.names[label].clone()),
        categorical: recipe.categorical.clone(),
        columns,
        header: table.header,
    };
    Ok((data, recipe))
}

/// Reads a file with the columns, features and labels of a training set: the examples, whether they have
/// labels, and what of them is not known. Labels that are not are put behind those that are; without labels,
/// all of them are the first and mean nothing.
///
/// With a header, columns are known by name: they may come in any order and among others. Without one, the file
/// has the columns of the training data, with or without the label.
///
/// ```
/// use dualgap::data::{CsvRecipe, Source, csv::{read_known, read_training}};
/// let source = Source::from_bytes("demo", b"age,colour,ill\n31,red,no\n7,blue,yes\n")?;
/// let (data, recipe) = read_training(source, &CsvRecipe::default())?;
/// let more = Source::from_bytes("more", b"colour;age\ngreen;12\n")?;
/// let (more, labelled, unseen) = read_known(more, &recipe, data.vocabulary())?;
/// assert_eq!(more.rows.row(0).iter().collect::<Vec<_>>(), [(0, 12.0)]);
/// assert!(!labelled);
/// assert_eq!((unseen.met, unseen.features), (2, 1)); // nothing is known of green
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn read_known(
    source: Source<'_>,
    recipe: &CsvRecipe,
    known: Vocabulary<'_>,
) -> Result<(Examples, bool, Unseen)> {
    let Some(label) = &recipe.label else {
        return Err(Error::setting("the csv recipe must be that of a training file"));
    };
    let mut table = Table::open(source, Some(recipe.header))?;
    if !recipe.header {
        table.forgo_label(label, recipe.columns.len() + 1)?;
    }
    let places = recipe
        .columns
        .iter()
        .map(|column| table.place(&column.name))
        .collect::<Result<Vec<usize>>>()?;
    let label = table.names.iter().position(|name| name == label);
    let mut read = table.gather(label, &places, &recipe.columns, |name| {
        known.dictionary.index(name).filter(|&feature| (feature as usize) < known.features)
    })?;
    let labelled = !read.names.is_empty();
    if let (Some(line), Some(label), true) = (read.unlabelled, label, labelled) {
        return Err(table.no_label(line, label));
    }
    read.rows.fit_width(known.features);
    let names = read.label_names(known.alphabet.names().iter().all(|name| number(name).is_some()));
    let new: BTreeSet<&String> =
        names.iter().filter(|name| known.alphabet.index(name).is_none()).collect();
    read.unseen.labels = new.into_iter().cloned().collect();
    let all: Vec<String> =
        known.alphabet.names().iter().chain(&read.unseen.labels).cloned().collect();
    let alphabet = Alphabet::from(all);
    let labels = if labelled { read.labels(&names, &alphabet) } else { vec![0; read.rows.len()] };
    let dictionary = known.dictionary.clone();
    let data = Examples { dictionary, ..Examples::new(read.rows, labels, alphabet)? };
    Ok((data, labelled, read.unseen))
}

fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}

fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "NaN" | "?")
}

/// The most frequent one outside quotes; of equals, the first.
fn separator(line: &str) -> u8 {
    const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
    let mut counts = SEPARATORS.map(|separator| (0, separator));
    let mut quoted = false;
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        for (count, separator) in &mut counts {
            *count += u32::from(!quoted && byte == *separator);
        }
    }
    counts
        .into_iter()
        .rev()
        .max_by_key(|&(count, _)| count)
        .map_or(b',', |(_, separator)| separator)
}

/// A column of names, and another that is called as one of its features could be. Where there are none, no two
/// columns have a feature in common.
fn clash(columns: &[CsvColumn]) -> Option<(&str, &str)> {
    let of_names: HashSet<&str> = columns
        .iter()
        .filter(|column| column.kind == Kind::Name)
        .map(|column| column.name.as_str())
        .collect();
    columns.iter().find_map(|column| {
        let long = column.name.as_str();
        let mut shorter = long.match_indices('=').map(|(end, _)| &long[..end]);
        shorter.find(|short| of_names.contains(short)).map(|short| (short, long))
    })
}

#[derive(Clone, Default)]
struct Record {
    /// Where it begins, counted from one.
    line: u64,
    cells: StringRecord,
}

impl Record {
    fn cell(&self, place: usize) -> &str {
        self.cells.get(place).unwrap_or_default().trim()
    }
}

/// Records of the same length, and the names of their columns.
struct Table<'a> {
    file: String,
    reader: ::csv::Reader<Chain<Box<dyn BufRead + 'a>, &'static [u8]>>,
    header: bool,
    /// Empty only until the first record was read.
    names: Vec<String>,
    /// Records that were looked at and not yet taken.
    waiting: VecDeque<Record>,
}

/// A file's records as numbers.
struct Gathered {
    rows: Rows,
    /// The labels in order of appearance, ...
    names: Dictionary,
    /// ... and which of them an example has.
    numbers: Vec<u32>,
    /// The line of the first example without a label, in a file that has them.
    unlabelled: Option<u64>,
    unseen: Unseen,
}

impl<'a> Table<'a> {
    /// Whether there is a header is told by the first record if it is not known.
    fn open(mut source: Source<'a>, header: Option<bool>) -> Result<Self> {
        let separator = separator(&source.peek()?);
        let file = source.name().to_string();
        // Lines are ended by \n alone, and \r goes when cells are trimmed: where \r ends them as well, the csv
        // crate's line numbers are too small. Records of other lengths are found below, with a remedy.
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(source.into_reader().chain(END));
        let (names, waiting) = (Vec::new(), VecDeque::new());
        let mut table = Self { file, reader, header: false, names, waiting };
        let mut first = Record::default();
        if !table.read(&mut first)? {
            return Err(table.no_examples());
        }
        let places = 0..first.cells.len();
        table.header = header
            .unwrap_or_else(|| places.clone().all(|place| number(first.cell(place)).is_none()));
        if table.header {
            table.names = places.map(|place| first.cell(place).to_string()).collect();
            table.check_names(first.line)?;
        } else {
            table.names = places.map(|place| format!("c{}", place + 1)).collect();
            table.waiting.push_back(first);
        }
        Ok(table)
    }

    fn check_names(&self, line: u64) -> Result<()> {
        let mut names = HashSet::new();
        for (place, name) in self.names.iter().enumerate() {
            if name.is_empty() {
                return Err(self.error(
                    line,
                    format!("column {} has no name", place + 1),
                    "name it in the header, or take the column out",
                ));
            }
            if !names.insert(name) {
                return Err(self.error(
                    line,
                    format!("two columns are called `{name}`"),
                    "give every column a name of its own",
                ));
            }
        }
        Ok(())
    }

    /// Without a header, a file may have all columns or all but the label.
    fn forgo_label(&mut self, label: &str, trained: usize) -> Result<()> {
        let found = self.names.len();
        if found + 1 == trained {
            let names = (1..=trained).map(|k| format!("c{k}"));
            self.names = names.filter(|name| name != label).collect();
        } else if found != trained {
            return Err(self.file_error(
                format!(
                    "has {found} columns, and the training data had {trained}, the label included"
                ),
                format!("give it {trained} columns, or {} without the label", trained - 1),
            ));
        }
        Ok(())
    }

    /// The column of this name.
    fn place(&self, name: &str) -> Result<usize> {
        const SHOWN: usize = 20;
        self.names.iter().position(|other| other == name).ok_or_else(|| {
            let shown = self.names.len().min(SHOWN);
            let columns = self.names[..shown].join(", ");
            let more = match self.names.len() - shown {
                0 => String::new(),
                rest => format!(" and {rest} more"),
            };
            let why =
                if self.header { "" } else { " (its first line has a number, so it is no header)" };
            self.file_error(
                format!("has no column `{name}`"),
                format!("the columns of the file are {columns}{more}{why}"),
            )
        })
    }

    /// What the records that are waiting say about a column.
    fn kind(&self, place: usize, categorical: &[String]) -> Kind {
        let fits = |cell: &str| is_missing(cell) || number(cell).is_some();
        if !categorical.contains(&self.names[place])
            && self.waiting.iter().all(|record| fits(record.cell(place)))
        {
            Kind::Number
        } else {
            Kind::Name
        }
    }

    fn look_ahead(&mut self, count: usize) -> Result<()> {
        let mut record = Record::default();
        while self.waiting.len() < count && self.read(&mut record)? {
            self.waiting.push_back(record.clone());
        }
        Ok(())
    }

    fn next(&mut self, record: &mut Record) -> Result<bool> {
        match self.waiting.pop_front() {
            Some(waiting) => *record = waiting,
            None => return self.read(record),
        }
        Ok(true)
    }

    /// The next record of the file that is not blank; false after the last.
    fn read(&mut self, record: &mut Record) -> Result<bool> {
        let mut bytes = std::mem::take(&mut record.cells).into_byte_record();
        loop {
            let more = self.reader.read_byte_record(&mut bytes).map_err(|error| {
                let line = self.reader.position().line();
                let message = format!("cannot be read: {error}");
                self.error(line, message, "is the file cut off or damaged?")
            })?;
            let last = bytes.iter().next_back().unwrap_or_default();
            if !more || (bytes.len() == 1 && last == END.trim_ascii()) {
                return Ok(false);
            }
            // A record's own position is that of the blank lines before it, so it is counted from its end.
            let lines = bytes.as_slice().split(|&byte| byte == b'\n').count() as u64;
            record.line = self.reader.position().line() - lines;
            if last.ends_with(END) {
                return Err(self.error(
                    record.line + 1, // no line end behind it
                    "a double quote is opened and not closed",
                    "close it; a double quote that is meant is written twice",
                ));
            }
            if bytes.len() > 1 || !last.trim_ascii().is_empty() {
                break;
            }
        }
        record.cells = StringRecord::from_byte_record(bytes).map_err(|_| {
            self.error(
                record.line,
                "is not UTF-8 text",
                "convert the file to UTF-8, and check that it is not a binary one",
            )
        })?;
        let (found, needed) = (record.cells.len(), self.names.len());
        if needed > 0 && found != needed {
            return Err(self.error(
                record.line,
                format!("has {found} cells, and the first line has {needed}"),
                "missing cells are left empty, not out; cells with a separator are put in double quotes",
            ));
        }
        Ok(true)
    }

    /// All records; `feature` gives the number of a feature if it has one. `columns` are at `places`.
    fn gather(
        &mut self,
        label: Option<usize>,
        places: &[usize],
        columns: &[CsvColumn],
        mut feature: impl FnMut(&str) -> Option<u32>,
    ) -> Result<Gathered> {
        let mut read = Gathered {
            rows: Rows::sparse(),
            names: Dictionary::default(),
            numbers: Vec::new(),
            unlabelled: None,
            unseen: Unseen::default(),
        };
        let mut record = Record::default();
        let mut row: Vec<(u32, f64)> = Vec::new();
        let mut name = String::new();
        while self.next(&mut record)? {
            row.clear();
            for (&place, column) in places.iter().zip(columns) {
                let cell = record.cell(place);
                if is_missing(cell) {
                    continue;
                }
                name.clone_from(&column.name);
                let value = match column.kind {
                    Kind::Number => {
                        number(cell).ok_or_else(|| self.no_number(record.line, cell, &name))?
                    }
                    Kind::Name => {
                        name.extend(["=", cell]);
                        1.0
                    }
                };
                let number = feature(&name);
                read.unseen.met += 1;
                read.unseen.features += u64::from(number.is_none());
                row.extend(number.filter(|_| value != 0.0).map(|number| (number, value)));
            }
            row.sort_unstable_by_key(|&(number, _)| number);
            // Nothing to do for a recipe of `read_training`, but recipes come out of files, too.
            row.dedup_by_key(|&mut (number, _)| number);
            read.rows.push_sparse(&row);
            match label.map(|place| record.cell(place)) {
                None => {}
                Some("") => read.unlabelled = read.unlabelled.or(Some(record.line)),
                Some(label) => read.numbers.push(read.names.number(label)),
            }
        }
        if read.rows.is_empty() {
            return Err(self.no_examples());
        }
        Ok(read)
    }

    fn no_examples(&self) -> Error {
        self.file_error("has no examples", "a csv file has a line for each, below its header")
    }

    fn no_label(&self, line: u64, label: usize) -> Error {
        self.error(
            line,
            format!("the label is missing: the column `{}` is empty", self.names[label]),
            "fill it, or take the line out; another column is chosen with --label",
        )
    }

    fn no_number(&self, line: u64, cell: &str, column: &str) -> Error {
        let cell: String = cell.escape_debug().take(40).collect();
        self.error(
            line,
            format!("`{cell}` in the column `{column}` is not a finite number"),
            format!(
                "repair the cell, or leave it empty; \
                 if the column has names, train with --categorical {column}"
            ),
        )
    }

    fn error(&self, line: u64, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        let file = self.file.clone();
        Error::Line { file, line, message: message.into(), remedy: remedy.into() }
    }

    fn file_error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        let file = self.file.clone();
        Error::File { file, message: message.into(), remedy: remedy.into() }
    }
}

impl Gathered {
    /// Numbers are known by their value, as in [`super::libsvm`]: `1`, `+1` and `1.0` are one label.
    fn label_names(&self, numbers: bool) -> Vec<String> {
        let plain = |name: &str| match number(name).filter(|_| numbers) {
            Some(value) => format!("{}", value + 0.0), // −0 becomes 0
            None => name.into(),
        };
        self.names.names().map(plain).collect()
    }

    fn labels(&self, names: &[String], alphabet: &Alphabet) -> Vec<u32> {
        let order: Vec<u32> =
            names.iter().filter_map(|name| alphabet.index(name)).map(|k| k as u32).collect();
        self.numbers.iter().map(|&label| order[label as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::io::Write;

    fn source(text: &[u8]) -> Source<'_> {
        Source::from_bytes("t.csv", text).unwrap()
    }

    fn train(text: &str, recipe: &CsvRecipe) -> Result<(Examples, CsvRecipe)> {
        read_training(source(text.as_bytes()), recipe)
    }

    fn train_plain(text: &str) -> (Examples, CsvRecipe) {
        train(text, &CsvRecipe::default()).unwrap()
    }

    /// Features by name, and the label.
    fn example(data: &Examples, i: usize) -> (BTreeMap<&str, f64>, &str) {
        let name = |j| data.dictionary.name(j).unwrap();
        let features = data.rows.row(i).iter().map(|(j, x)| (name(j), x)).collect();
        (features, &data.alphabet.names()[data.labels[i] as usize])
    }

    fn names(data: &Examples) -> Vec<&str> {
        data.dictionary.names().collect()
    }

    #[test]
    fn numbers_are_values_and_names_are_features() {
        let text = "age, colour ,zip,ill\r\n 31,red,04109,no\r\n\r\n\
                    -2.5e1,\"a, \"\"b\"\"\nc\",?,yes\n0,NA,04109, no ";
        let recipe = CsvRecipe { categorical: vec!["zip".into()], ..CsvRecipe::default() };
        let (data, recipe) = train(text, &recipe).unwrap();
        assert_eq!(names(&data), ["age", "colour=red", "zip=04109", "colour=a, \"b\"\nc"]);
        assert_eq!(data.rows.width(), 4);
        let expected = [
            (BTreeMap::from([("age", 31.0), ("colour=red", 1.0), ("zip=04109", 1.0)]), "no"),
            (BTreeMap::from([("age", -25.0), ("colour=a, \"b\"\nc", 1.0)]), "yes"),
            (BTreeMap::from([("zip=04109", 1.0)]), "no"),
        ];
        for (i, expected) in expected.into_iter().enumerate() {
            assert_eq!(example(&data, i), expected);
        }
        let columns = [("age", Kind::Number), ("colour", Kind::Name), ("zip", Kind::Name)];
        let columns = columns.map(|(name, kind)| CsvColumn { name: name.into(), kind });
        assert_eq!((&recipe.columns[..], recipe.header), (&columns[..], true));
        assert_eq!(recipe.label.as_deref(), Some("ill"));
    }

    #[test]
    fn a_first_line_with_a_number_is_no_header() {
        let (data, recipe) = train_plain("\u{feff}red;1,5;1.5;x\nblue;2;0;y");
        assert!(!recipe.header);
        assert_eq!(names(&data), ["c1=red", "c2=1,5", "c3", "c1=blue", "c2=2"]);
        assert_eq!((data.len(), data.alphabet.names()), (2, &["x".into(), "y".into()][..]));
        let first = CsvRecipe { label: Some("c1".into()), ..CsvRecipe::default() };
        let (data, recipe) = train("no|1|a\nyes|2|b\n", &first).unwrap();
        assert_eq!((names(&data), data.labels.clone()), (vec!["c2", "c3=a", "c3=b"], vec![0, 1]));
        // The label stays where training had it, or is not there at all.
        let known = data.vocabulary();
        let (more, labelled, _) = read_known(source(b"yes,3,b\nno,4,a"), &recipe, known).unwrap();
        assert_eq!((labelled, more.labels.clone()), (true, vec![1, 0]));
        let (bare, labelled, _) = read_known(source(b"3,b\n4,a"), &recipe, known).unwrap();
        assert_eq!((labelled, &bare.labels[..]), (false, &[0, 0][..]));
        assert_eq!(bare.rows, more.rows);
        for text in ["3", "yes,3,b,1"] {
            let error = read_known(source(text.as_bytes()), &recipe, known).unwrap_err();
            assert!(error.to_string().contains("the training data had 3"), "{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_quoted_name() {
        let (data, _) = train_plain("\u{feff}\"a\",b\n1,x\n");
        assert_eq!(names(&data), ["a"]);
    }

    #[test]
    fn the_separator_is_the_most_frequent_one_outside_quotes() {
        for (line, expected) in [
            ("a,b;c,d", b','),
            ("a;b;c,d", b';'),
            ("a\tb", b'\t'),
            ("\"a,b,c\"|d", b'|'),
            ("a,b;c", b','),
            ("a", b','),
        ] {
            assert_eq!(separator(line), expected, "{line}");
        }
    }

    #[test]
    fn labels_that_are_numbers_are_known_by_their_value() {
        let (data, recipe) = train_plain("x,y\n1,10\n1,+9\n1,9.0\n1,-0\n");
        assert_eq!(data.alphabet.names(), ["0", "9", "10"]);
        assert_eq!(data.labels, [2, 1, 1, 0]);
        let text = b"y,x\n1e1,1\nmany,1\n7.0,1\n";
        let (more, _, unseen) = read_known(source(text), &recipe, data.vocabulary()).unwrap();
        assert_eq!(more.alphabet.names(), ["0", "9", "10", "7", "many"]);
        assert_eq!((more.labels, unseen.labels), (vec![2, 4, 3], vec!["7".into(), "many".into()]));
        // One that is no number, and all are texts.
        let (data, recipe) = train_plain("x,y\n1,1\n1,1.0\n1,nan\n");
        assert_eq!(data.alphabet.names(), ["1", "1.0", "nan"]);
        let (more, ..) = read_known(source(b"x,y\n1,1.0"), &recipe, data.vocabulary()).unwrap();
        assert_eq!(more.labels, [1]);
    }

    #[test]
    fn what_a_model_does_not_know_is_left_out_and_counted() {
        let (data, recipe) = train_plain("n,c,y\n1,red,a\n2,blue,b\n");
        let text = b"extra|c|y|n\n9|green|a|3\n9|red|c|0\n9||a|\n";
        let (more, labelled, unseen) =
            read_known(source(text), &recipe, data.vocabulary()).unwrap();
        assert_eq!(example(&more, 0), (BTreeMap::from([("n", 3.0)]), "a"));
        assert_eq!(example(&more, 1), (BTreeMap::from([("c=red", 1.0)]), "c"));
        assert_eq!(example(&more, 2), (BTreeMap::new(), "a"));
        assert_eq!((labelled, more.rows.width()), (true, 3));
        assert_eq!(unseen, Unseen { met: 4, features: 1, labels: vec!["c".into()] });
    }

    #[test]
    fn a_label_column_that_is_empty_throughout_is_none() {
        let (data, recipe) = train_plain("n,y\n1,a\n2,b\n");
        let known = data.vocabulary();
        let (more, labelled, _) = read_known(source(b"n,y\n1,\n2,\n"), &recipe, known).unwrap();
        assert_eq!((labelled, more.labels), (false, vec![0, 0]));
        let error = read_known(source(b"n,y\n1,a\n2,\n"), &recipe, known).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:3: the label is missing"), "{error}");
    }

    #[test]
    fn a_column_is_judged_by_the_beginning_of_the_file() {
        let mut text = "n,y\n".to_string();
        text.extend((0..BEGINNING).map(|i| format!("{i},a\n")));
        let late = format!("{text}many,b\n");
        let error = train(&late, &CsvRecipe::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:1002: `many` in the column `n`"), "{error}");
        assert!(error.remedy().unwrap().contains("--categorical n"));
        let recipe = CsvRecipe { categorical: vec!["n".into()], ..CsvRecipe::default() };
        assert_eq!(train(&late, &recipe).unwrap().0.dictionary.len(), BEGINNING + 1);
        let early = text.replace("\n999,", "\nmany,");
        assert_eq!(train_plain(&early).1.columns[0].kind, Kind::Name);
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, line, what) in [
            ("a,b,y\n1,2,x\n\r\n3,x\n", 4, "has 2 cells, and the first line has 3"),
            ("a,b\r\n1,x\r\n1,x,2\r\n", 3, "has 3 cells"),
            ("a,b\n1,x\n\n1,\n", 4, "the label is missing: the column `b`"),
            ("\na,b,a\n1,2,3\n", 2, "two columns are called `a`"),
            ("a,,b\n1,2,3\n", 1, "column 2 has no name"),
            ("a,b\n1,x\n2,\"x\n3,x\n", 3, "a double quote is opened"),
            ("a,b\n1,\"x", 2, "a double quote is opened"),
        ] {
            let error = train(text, &CsvRecipe::default()).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with(&format!("t.csv:{line}: {what}")), "{message}");
            assert!(error.remedy().is_some());
        }
        let bytes = b"a,b\r\n\r\n\"x\n\",y\r\nx,\xff\r\n";
        let error = read_training(source(bytes), &CsvRecipe::default()).unwrap_err();
        assert!(error.to_string().starts_with("t.csv:5: is not UTF-8"), "{error}");
    }

    #[test]
    fn a_compressed_file_is_read_unless_it_is_cut_off() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let lines = (0..50_000).map(|i| format!("{i},a\n"));
        let text: String = std::iter::once("n,y\n".to_string()).chain(lines).collect();
        encoder.write_all(text.as_bytes()).unwrap();
        let whole = encoder.finish().unwrap();
        let recipe = CsvRecipe::default();
        assert_eq!(read_training(source(&whole), &recipe).unwrap(), train_plain(&text));
        let error = read_training(source(&whole[..whole.len() / 2]), &recipe).unwrap_err();
        assert!(matches!(error, Error::Line { line: 1000.., .. }), "{error}");
    }

    #[test]
    fn files_that_cannot_be_used_say_why() {
        let plain = CsvRecipe::default();
        let label = CsvRecipe { label: Some("z".into()), ..CsvRecipe::default() };
        let categorical = CsvRecipe { categorical: vec!["z".into()], ..CsvRecipe::default() };
        for (text, recipe, message, remedy) in [
            ("", &plain, "has no examples", ""),
            ("\u{feff}", &plain, "has no examples", ""),
            ("\n \r\n", &plain, "has no examples", ""),
            ("a,b\n", &plain, "has no examples", ""),
            ("a\n1\n", &plain, "has a single column", ""),
            ("a,b\n1,x\n", &label, "has no column `z`", "a, b"),
            ("a,b\n1,x\n", &categorical, "has no column `z`", "a, b"),
            ("1,x\n", &label, "has no column `z`", "c1, c2 (its first line has a number"),
            ("c,c=d,y\nd,1,x\n", &plain, "`c=d` is a column", "another name"),
        ] {
            let error = train(text, recipe).unwrap_err();
            assert!(error.to_string().starts_with(&format!("t.csv: {message}")), "{error}");
            assert!(error.remedy().unwrap().contains(remedy), "{error:?}");
        }
        let (data, recipe) = train_plain("a,b,y\n1,1,x\n");
        let known = data.vocabulary();
        let wide: Vec<String> = (0..23).map(|k| format!("w{k}")).collect();
        let error = train(&format!("{}\n", wide.join(",")), &label).unwrap_err();
        assert!(error.remedy().unwrap().ends_with("w18, w19 and 3 more"), "{error:?}");
        let error = read_known(source(b"a,y\n1,x\n"), &recipe, known).unwrap_err();
        assert_eq!(error.to_string(), "t.csv: has no column `b`");
        assert!(read_known(source(b"a,b,y\n"), &recipe, known).is_err());
        assert!(read_known(source(b"a,b,y\n1,1,x\n"), &plain, known).is_err());
    }

    #[test]
    fn an_equals_sign_in_a_name_is_fine_where_nothing_clashes() {
        let (data, _) = train_plain("c,c=d,e=f,y\n2,1,g,x\n");
        assert_eq!(names(&data), ["c", "c=d", "e=f=g"]);
    }

    #[test]
    fn a_recipe_that_no_training_file_made_does_not_panic() {
        let (data, mut recipe) = train_plain("a,b,y\n1,1,x\n");
        recipe.columns[1] = recipe.columns[0].clone();
        let (more, ..) = read_known(source(b"a,y\n5,x\n"), &recipe, data.vocabulary()).unwrap();
        assert_eq!(example(&more, 0), (BTreeMap::from([("a", 5.0)]), "x"));
    }

    #[test]
    fn a_recipe_survives_a_file() {
        let (_, recipe) = train_plain("a,b,y\n1,r,x\n");
        let text = serde_json::to_string(&recipe).unwrap();
        assert!(text.contains(r#"{"name":"b","kind":"name"}"#), "{text}");
        assert_eq!(serde_json::from_str::<CsvRecipe>(&text).unwrap(), recipe);
    }

    type Line = (Vec<Option<f64>>, Vec<String>, String);

    fn line() -> impl Strategy<Value = Line> {
        let value = prop_oneof![Just(0.0), -1e3..1e3_f64, any::<i8>().prop_map(f64::from)];
        let numbers = prop::collection::vec(prop::option::of(value), 2);
        let names = prop::collection::vec("[ab,;|\t\"\n= é]{0,4}", 2);
        (numbers, names, "[a-c]|[0-2]")
    }

    fn quoted(cell: &str) -> String {
        format!("\"{}\"", cell.replace('"', "\"\""))
    }

    /// The columns n, m, u, v and y in some order.
    fn written(lines: &[Line], order: &[usize], separator: char, end: &str) -> String {
        let header = ["n", "m", "u", "v", "y"].map(String::from);
        let cells = lines.iter().map(|(numbers, names, label)| {
            let number = |k: usize| numbers[k].map(|x| x.to_string()).unwrap_or_default();
            [number(0), number(1), quoted(&names[0]), quoted(&names[1]), label.clone()]
        });
        let separator = separator.to_string();
        let text = |cells: [String; 5]| {
            order.iter().map(|&k| cells[k].clone()).collect::<Vec<_>>().join(&separator) + end
        };
        std::iter::once(header).chain(cells).map(text).collect()
    }

    fn any_separator() -> impl Strategy<Value = char> {
        prop::sample::select(vec![',', ';', '\t', '|'])
    }

    fn any_end() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r\n \r\n"])
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            lines in prop::collection::vec(line(), 1..8),
            separators in [any_separator(), any_separator()],
            end in any_end(),
            order in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(),
        ) {
            let text = written(&lines, &[0, 1, 2, 3, 4], separators[0], end);
            let categorical = vec!["u".into(), "v".into()];
            let recipe = CsvRecipe { categorical, ..CsvRecipe::default() };
            let (data, recipe) = train(&text, &recipe).unwrap();
            prop_assert_eq!(data.len(), lines.len());
            for (i, (numbers, texts, label)) in lines.iter().enumerate() {
                let numbers = ["n", "m"].into_iter().zip(numbers);
                let texts = ["u", "v"].into_iter().zip(texts);
                let mut expected: BTreeMap<String, f64> = numbers
                    .filter_map(|(name, x)| x.filter(|&x| x != 0.0).map(|x| (name.into(), x)))
                    .collect();
                let cells = texts.filter(|(_, cell)| !cell.trim().is_empty());
                expected.extend(cells.map(|(name, cell)| (format!("{name}={}", cell.trim()), 1.0)));
                let (found, found_label) = example(&data, i);
                let found: BTreeMap<String, f64> =
                    found.into_iter().map(|(name, x)| (name.into(), x)).collect();
                prop_assert_eq!((found, found_label), (expected, label.as_str()));
            }
            // A model reads its training file as training did, also in another guise.
            let again = read_known(source(text.as_bytes()), &recipe, data.vocabulary()).unwrap();
            prop_assert_eq!((&again.0, again.1, again.2.features), (&data, true, 0));
            let other = written(&lines, &order, separators[1], "\n");
            let again = read_known(source(other.as_bytes()), &recipe, data.vocabulary()).unwrap();
            prop_assert_eq!((&again.0, again.1, again.2.features), (&data, true, 0));
            prop_assert_eq!(train(&text, &recipe).unwrap(), (data, recipe));
        }

        #[test]
        fn a_bad_cell_is_found_in_its_line(lines in prop::collection::vec(line(), 1..8), end in any_end()) {
            let order = [0, 1, 2, 3, 4];
            let (data, recipe) = train_plain("n,m,u,v,y\n1,1,a,a,a\n");
            let good = written(&lines, &order, ',', end);
            let number = good.bytes().filter(|&byte| byte == b'\n').count() + 1;
            let bad = format!("{good}x,1,a,a,a{end}{}", written(&lines, &order, ',', end));
            let error = read_known(source(bad.as_bytes()), &recipe, data.vocabulary()).unwrap_err();
            let start = format!("t.csv:{number}: `x` in the column `n`");
            prop_assert!(error.to_string().starts_with(&start), "{}", error);
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "[a1,;\"=\r\n\t?\u{4} ]{0,40}", header: bool) {
            let _ = train(&text, &CsvRecipe::default());
            let (data, recipe) = train_plain(if header { "a,1a,y\n1,b,b\n" } else { "1,b,b\n" });
            let _ = read_known(source(text.as_bytes()), &recipe, data.vocabulary());
        }
    }
}
