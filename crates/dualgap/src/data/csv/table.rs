//! The records of a csv file: cells, lines, column names, and their conversion to numbers.

use super::recipe::{CsvColumn, CsvKind};
use crate::data::labels::Labels;
use crate::data::sets::parse_set;
use crate::data::source::NOT_TEXT;
use crate::data::{Source, Unseen};
use crate::linalg::Rows;
use crate::{Error, Result, Setting};
use ::csv::{ReaderBuilder, StringRecord, Terminator};
use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, Chain, Read};

/// Appended to every file: it is a record of its own, unless a double quote was opened and not closed.
const END: &[u8] = b"\n\x04\n";

/// The largest number of columns that an error message lists.
pub(super) const SHOWN: usize = 20;

pub(super) fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}

fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "NaN" | "?")
}

/// Returns the most frequent separator outside quotes; among equals, the first.
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

#[derive(Clone, Default)]
struct Record {
    /// The line where it begins, counted from one.
    line: u64,
    cells: StringRecord,
}

impl Record {
    fn cell(&self, place: usize) -> &str {
        self.cells.get(place).unwrap_or_default().trim()
    }
}

/// Records of the same length, and the names of their columns.
pub(super) struct Table<'a> {
    file: String,
    reader: ::csv::Reader<Chain<Box<dyn BufRead + 'a>, &'static [u8]>>,
    pub header: bool,
    /// Empty until the first record is read.
    pub names: Vec<String>,
    /// Records that were read ahead and not yet returned.
    waiting: VecDeque<Record>,
}

/// What to predict, and the columns that have it.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'w> {
    Nothing,
    Label(usize),
    /// An empty cell is an empty set.
    Set(usize),
    Numbers(&'w [usize]),
}

/// The records of a file as numbers.
pub(super) struct Gathered {
    pub rows: Rows,
    pub labels: Labels,
    /// The targets if they are numbers; the labels are then empty.
    pub numbers: Vec<f64>,
    /// The line of the first example without a label or a number, and the column that lacks it.
    pub unlabelled: Option<(u64, usize)>,
    /// Whether there is any label or number at all.
    pub labelled: bool,
    pub unseen: Unseen,
}

impl<'a> Table<'a> {
    /// Opens a file; without `header`, the first record decides whether there is one.
    pub fn open(mut source: Source<'a>, header: Option<bool>) -> Result<Self> {
        let separator = separator(&source.peek(|_| true)?);
        let file = source.name().to_string();
        // Only \n ends a line, and trimming the cells removes \r: if \r ended lines as well, the csv crate's line
        // numbers would be too small. Records of other lengths are detected below, with a remedy.
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

    /// Accepts a file without a header that has all columns or all except the labels.
    pub fn forgo_labels(&mut self, labels: &[String], trained: usize) -> Result<()> {
        let found = self.names.len();
        if found + labels.len() == trained {
            let names = (1..=trained).map(|k| format!("c{k}"));
            self.names = names.filter(|name| !labels.contains(name)).collect();
        } else if found != trained {
            let what = if labels.len() == 1 { "the label" } else { "what is to be predicted" };
            let without = trained - labels.len();
            return Err(self.file_error(
                format!(
                    "has {found} columns, and the training data had {trained}, {what} included"
                ),
                format!("give it {trained} columns, or {without} without {what}"),
            ));
        }
        Ok(())
    }

    /// Returns the place of the column with this name.
    pub fn place(&self, name: &str) -> Result<usize> {
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

    /// Returns the kind of a column, decided by the records that were read ahead.
    pub fn kind(&self, place: usize, categorical: &[String]) -> CsvKind {
        let fits = |cell: &str| is_missing(cell) || number(cell).is_some();
        if !categorical.contains(&self.names[place])
            && self.waiting.iter().all(|record| fits(record.cell(place)))
        {
            CsvKind::Number
        } else {
            CsvKind::Name
        }
    }

    pub fn look_ahead(&mut self, count: usize) -> Result<()> {
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

    /// Reads the next record that is not blank; returns false after the last.
    fn read(&mut self, record: &mut Record) -> Result<bool> {
        let mut bytes = std::mem::take(&mut record.cells).into_byte_record();
        loop {
            let more = self.reader.read_byte_record(&mut bytes).map_err(|error| {
                let line = self.reader.position().line();
                let message = format!("cannot be read: {error}");
                self.error(line, message, "is the file cut off or damaged?").caused_by(error)
            })?;
            let last = bytes.iter().next_back().unwrap_or_default();
            if !more || (bytes.len() == 1 && last == END.trim_ascii()) {
                return Ok(false);
            }
            // The csv crate counts the blank lines before a record as its own, so the line is counted back from its
            // end.
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
        record.cells = StringRecord::from_byte_record(bytes).map_err(|error| {
            self.error(record.line, "is not UTF-8 text", NOT_TEXT).caused_by(error)
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

    /// Reads all records; `feature` returns the number of a feature if it has one. `columns` are at `places`.
    pub fn gather(
        &mut self,
        wanted: Wanted<'_>,
        places: &[usize],
        columns: &[CsvColumn],
        mut feature: impl FnMut(&str) -> Option<u32>,
    ) -> Result<Gathered> {
        let mut read = Gathered {
            rows: Rows::sparse(),
            labels: Labels::default(),
            numbers: Vec::new(),
            unlabelled: None,
            labelled: false,
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
                    CsvKind::Number => {
                        number(cell).ok_or_else(|| self.no_number(record.line, cell, &name))?
                    }
                    CsvKind::Name => {
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
            // Recipes of `read_training` give no duplicates, but a recipe may come from a file.
            row.dedup_by_key(|&mut (number, _)| number);
            read.rows.try_reserve(row.len())?;
            read.rows.push_sparse(&row);
            self.take(wanted, &record, &mut read)?;
        }
        if read.rows.is_empty() {
            return Err(self.no_examples());
        }
        Ok(read)
    }

    /// Takes the targets of a record.
    fn take(&self, wanted: Wanted<'_>, record: &Record, read: &mut Gathered) -> Result<()> {
        match wanted {
            Wanted::Nothing => {}
            Wanted::Numbers(places) => {
                for &place in places {
                    let cell = record.cell(place);
                    if is_missing(cell) {
                        read.unlabelled = read.unlabelled.or(Some((record.line, place)));
                        continue;
                    }
                    let Some(value) = number(cell) else {
                        return Err(self.no_target(record.line, cell, place, places.len()));
                    };
                    read.numbers.push(value + 0.0); // −0 becomes 0
                    read.labelled = true;
                }
            }
            Wanted::Label(place) | Wanted::Set(place) => {
                let (cell, is_set) = (record.cell(place), matches!(wanted, Wanted::Set(_)));
                read.labelled |= !cell.is_empty();
                if cell.contains(['\t', '\n', '\r']) {
                    return Err(self.error(
                        record.line,
                        "the label has a tab or a line end in it",
                        "labels are written one a line: take a name without them",
                    ));
                } else if is_set {
                    let set = parse_set(cell, |name| Ok(name.into()));
                    let refuse = |(message, remedy)| self.error(record.line, message, remedy);
                    read.labels.push(&set.map_err(refuse)?);
                } else if cell.is_empty() {
                    read.unlabelled = read.unlabelled.or(Some((record.line, place)));
                } else {
                    read.labels.push(cell);
                }
            }
        }
        Ok(())
    }

    fn no_examples(&self) -> Error {
        self.file_error("has no examples", "a csv file has a line for each, below its header")
    }

    pub fn no_label(&self, line: u64, label: usize) -> Error {
        self.error(
            line,
            format!("the label is missing: the column `{}` has none", self.names[label]),
            format!(
                "fill it, or take the line out; another column is chosen with {}",
                Setting::Label
            ),
        )
    }

    /// Returns the error for a set whose labels are equal once they are identified by value.
    pub fn no_sets(&self, error: &Error) -> Error {
        self.file_error(error.to_string(), "`1`, `+1` and `1.0` are one label: name it once")
    }

    fn no_target(&self, line: u64, cell: &str, place: usize, columns: usize) -> Error {
        let other = match columns {
            1 => format!("name another column with {}", Setting::Label),
            _ => format!("leave the column out of {}", Setting::Label),
        };
        self.error(
            line,
            not_finite(cell, &self.names[place]),
            format!(
                "what is to be predicted are numbers: repair the cell, take the line out, or {other}"
            ),
        )
    }

    fn no_number(&self, line: u64, cell: &str, column: &str) -> Error {
        self.error(
            line,
            not_finite(cell, column),
            format!(
                "repair the cell, or leave it empty; \
                 if the column has names, train with {} {column}",
                Setting::Categorical
            ),
        )
    }

    fn error(&self, line: u64, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::line(&self.file, line, message, remedy)
    }

    pub fn file_error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::in_file(&self.file, message, remedy)
    }
}

fn not_finite(cell: &str, column: &str) -> String {
    let cell: String = cell.escape_debug().take(40).collect();
    format!("`{cell}` in the column `{column}` is not a finite number")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
