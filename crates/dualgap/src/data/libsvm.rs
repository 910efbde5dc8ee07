//! LIBSVM files: `label index:value index:value …`, one example a line, indices from one, ascending.
//!
//! A `#` begins a comment; blank lines are skipped. Labels are numbers and identified by their value: `1`, `+1` and
//! `1.0` are one label. If labels are sets, `1,3 index:value …` has two, and a line that begins with a feature has
//! none. One or several numbers to predict are at the beginning of the line in the same way.

use super::labels::Labels;
use super::outputs::NumberLines;
use super::pieces::Piece;
use super::sets::{self, Sets, parse_set};
use super::source::Complaint;
use super::targets::number;
use super::{
    Alphabet, Classes, Examples, Numbers, Source, TargetKind, Targets, Unseen, Vocabulary, decimal,
};
use crate::Result;
use crate::linalg::Rows;

/// The largest index. A larger one would need gigabytes of weights, so it is treated as a mistake in the file.
pub(super) const LARGEST_INDEX: u32 = 1 << 28;

impl Examples {
    /// Reads a whole LIBSVM file, whose labels are targets of this kind.
    ///
    /// ```
    /// use dualgap::data::{Examples, Source, TargetKind};
    /// let source = Source::from_bytes("demo", b"+1 1:0.5 3:2\n-1 2:1 # a comment\n")?;
    /// let data = Examples::read_libsvm(source, TargetKind::Class)?;
    /// assert_eq!(data.classes()?.alphabet().names(), ["-1", "1"]);
    /// assert_eq!((data.rows().width(), data.classes()?.numbers()), (3, &[1, 0][..]));
    /// let source = Source::from_bytes("demo", b"2.5 1:0.5\n-1 2:1\n")?;
    /// assert_eq!(Examples::read_libsvm(source, TargetKind::Number)?.numbers()?, [2.5, -1.0]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read_libsvm(source: Source<'_>, kind: TargetKind) -> Result<Self> {
        let mut rows = Rows::sparse();
        let targets = each_rows(source, kind, |some| rows.append(some))?;
        Self::new(rows, targets)
    }
}

/// Passes the rows of a whole file on, some at a time, and returns their targets.
pub(super) fn each_rows(
    source: Source<'_>,
    kind: TargetKind,
    push: impl FnMut(&Rows) -> Result<()>,
) -> Result<Targets> {
    let Lines { labels, numbers, .. } = read_lines(source, None, kind, push)?;
    Ok(match kind {
        TargetKind::Class => {
            let alphabet = Alphabet::new(labels.names());
            Classes::new(labels.numbered(&alphabet), alphabet)?.into()
        }
        TargetKind::Number => Numbers::new(numbers.values)?.into(),
        TargetKind::Set => {
            let alphabet = Alphabet::new(sets::names(labels.names()));
            Sets::spelled(&labels, alphabet)?.into()
        }
        TargetKind::Outputs => numbers.outputs(None)?.into(),
    })
}

/// Reads a file with the features and classes that a model knows. Returns the examples, whether they have labels,
/// and what the model does not know. Lines may begin with their first feature if all do.
pub(crate) fn read_known_as(
    source: Source<'_>,
    known: Vocabulary<'_>,
    kind: TargetKind,
) -> Result<(Examples, bool, Unseen)> {
    let mut rows = Rows::sparse();
    let read = read_lines(source, Some(known), kind, |some| rows.append(some))?;
    let Lines { labels, numbers, labelled, mut unseen } = read;
    rows.fit_width(known.features);
    let targets = match kind {
        _ if !labelled => Targets::None,
        TargetKind::Class => {
            let (alphabet, new) = known.beside(labels.names());
            unseen.labels = new;
            Classes::new(labels.numbered(&alphabet), alphabet)?.into()
        }
        TargetKind::Number => Numbers::new(numbers.values)?.into(),
        TargetKind::Set => {
            let (alphabet, new) = known.beside(sets::names(labels.names()));
            unseen.labels = new;
            Sets::spelled(&labels, alphabet)?.into()
        }
        TargetKind::Outputs => numbers.outputs(Some(known.alphabet))?.into(),
    };
    Ok((Examples::new(rows, targets)?, labelled, unseen))
}

/// The contents of a file, without its rows.
struct Lines {
    labels: Labels,
    numbers: NumberLines,
    labelled: bool,
    unseen: Unseen,
}

/// Reads the lines of a file. For a model, lines may have no label, and features that the model does not know are
/// dropped. Sets may be empty, in some lines or in all. Rows are passed on in their order, some at a time.
fn read_lines(
    mut source: Source<'_>,
    known: Option<Vocabulary<'_>>,
    kind: TargetKind,
    mut push: impl FnMut(&Rows) -> Result<()>,
) -> Result<Lines> {
    let count = known.map(|known| known.alphabet.len());
    let mut all = Part::new(None, count);
    let mut take = |all: &mut Part, part: Part| {
        push(&part.rows)?;
        all.append(part);
        Ok(())
    };
    // The first line decides what all of them have.
    while all.labelled.is_none()
        && let Some(piece) = source.next_piece()?
    {
        let part = Part::new(None, count).with(&piece, known, kind)?;
        take(&mut all, part)?;
    }
    let (labelled, count) = (all.labelled, all.numbers.count);
    source.each_piece(
        |piece| Part::new(labelled, count).with(piece, known, kind),
        |part| take(&mut all, part),
    )?;
    let Part { labels, numbers, labelled: Some(labelled), unseen, .. } = all else {
        return Err(source.file_error(
            "has no examples",
            "a LIBSVM file has a line `label index:value …` for each",
        ));
    };
    let labelled = if kind == TargetKind::Set { !labels.are_none() } else { labelled };
    Ok(Lines { labels, numbers, labelled, unseen })
}

/// What some lines of a file have.
struct Part {
    rows: Rows,
    labels: Labels,
    numbers: NumberLines,
    /// Whether lines have labels, which the first one decides.
    labelled: Option<bool>,
    unseen: Unseen,
}

impl Part {
    /// Returns no lines, after others with or without labels and with so many numbers.
    fn new(labelled: Option<bool>, count: Option<usize>) -> Self {
        let numbers = NumberLines { count, ..NumberLines::default() };
        let (rows, labels, unseen) = (Rows::sparse(), Labels::default(), Unseen::default());
        Self { rows, labels, numbers, labelled, unseen }
    }

    /// Adds the lines of a piece.
    fn with(
        mut self,
        piece: &Piece,
        known: Option<Vocabulary<'_>>,
        kind: TargetKind,
    ) -> Result<Self> {
        let mut row = Vec::new();
        piece.each_line(|number, line| {
            let line = line.split('#').next().unwrap_or_default();
            let parsed = self.push(line, known, kind, &mut row);
            if parsed.map_err(|(message, remedy)| piece.error(number, message, remedy))? {
                // A line may have most of a large file.
                self.rows.try_reserve(row.len())?;
                self.rows.push_sparse(&row);
            }
            Ok(())
        })?;
        Ok(self)
    }

    /// Adds a line without its comment, unless it is blank, but for its features, which come into `row`; returns whether it did.
    fn push(
        &mut self,
        line: &str,
        known: Option<Vocabulary<'_>>,
        kind: TargetKind,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<bool, Complaint> {
        let sets = kind == TargetKind::Set;
        let mut tokens = line.split_ascii_whitespace().peekable();
        let Some(first) = tokens.peek() else { return Ok(false) };
        let has_label = (known.is_none() && !sets) || !is_feature(first);
        if *self.labelled.get_or_insert(has_label) != has_label && !sets {
            let what =
                if has_label { "a label, and the lines before have none" } else { "no label" };
            return Err((what.into(), "give every line a label, or none of them"));
        }
        let token = if has_label { tokens.next() } else { None };
        match (kind, token) {
            (TargetKind::Class, Some(label)) => self.labels.push(&parse_label(label)?),
            (TargetKind::Number, Some(number)) => self.numbers.values.push(parse_number(number)?),
            (TargetKind::Outputs, Some(numbers)) => self.numbers.push(numbers)?,
            (TargetKind::Set, Some(set)) => self.labels.push(&parse_set(set, parse_label)?),
            (TargetKind::Set, None) => self.labels.push(""),
            (TargetKind::Class | TargetKind::Number | TargetKind::Outputs, None) => {}
        }
        parse_features(tokens, row)?;
        self.unseen.met += row.len() as u64;
        if let Some(known) = known {
            let met = row.len();
            row.retain(|&(index, _)| (index as usize) < known.features);
            self.unseen.features += (met - row.len()) as u64;
        }
        Ok(true)
    }

    /// Adds what later lines have but for their rows.
    fn append(&mut self, later: Self) {
        self.labels.append(&later.labels);
        self.numbers.values.extend(later.numbers.values);
        self.numbers.count = self.numbers.count.or(later.numbers.count);
        self.labelled = self.labelled.or(later.labelled);
        self.unseen.met += later.unseen.met;
        self.unseen.features += later.unseen.features;
    }
}

/// Whether a token has the form `index:value`.
pub(super) fn is_feature(token: &str) -> bool {
    token.split_once(':').is_some_and(|(index, _)| is_whole(index))
}

/// Whether a text is an integer, of any size.
pub(super) fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns the label in its normal spelling.
fn parse_label(label: &str) -> Result<String, Complaint> {
    const LABEL: &str =
        "a line of a LIBSVM file begins with the label, a number; other formats have to be named";
    let value: f64 = label.parse().map_err(|_| {
        let remedy = if label.contains(',') {
            "sets of labels such as 1,3 are for multi-label models, several numbers for multi-output regression"
        } else {
            LABEL
        };
        (format!("`{label}` is not a label"), remedy)
    })?;
    if !value.is_finite() {
        return Err((format!("the label `{label}` is not finite"), LABEL));
    }
    // Adding zero turns −0 into 0; integers are written without a point.
    Ok(format!("{}", value + 0.0))
}

/// Parses a number to predict.
fn parse_number(text: &str) -> Result<f64, Complaint> {
    const NUMBER: &str = "a line begins with the number that is to be predicted: 1.5 1:0.5 3:2";
    number(text).ok_or_else(|| {
        let remedy = if text.contains(',') {
            "several numbers with commas between them are for multi-output regression"
        } else if is_feature(text) {
            "put the number that is to be predicted in front of the features"
        } else {
            NUMBER
        };
        (format!("`{text}` is not a finite number"), remedy)
    })
}

/// Parses features with indices from one, ascending, into a row with indices from zero.
pub(super) fn parse_features<'t>(
    tokens: impl Iterator<Item = &'t str>,
    row: &mut Vec<(u32, f64)>,
) -> Result<(), Complaint> {
    const RENUMBER: &str = "number the features from 1 on, without gaps";
    const PAIR: &str = "features are written index:value, with a space between them";
    row.clear();
    for token in tokens {
        let complain = |what: &str, remedy| (format!("`{token}`: {what}"), remedy);
        // Searching for a byte is slower than looking at the few that are before it.
        let colon = token.bytes().position(|byte| byte == b':');
        let colon = colon.ok_or_else(|| complain("no colon", PAIR))?;
        let (index, value) = (&token[..colon], &token[colon + 1..]);
        if !is_whole(index) {
            return Err(complain("the index is not a whole number", PAIR));
        }
        // An index that does not fit is larger than any allowed one.
        let index: u32 = index.parse().unwrap_or(u32::MAX);
        let value =
            decimal::parse(value).ok_or_else(|| complain("the value is not a number", PAIR))?;
        if !value.is_finite() {
            return Err(complain("the value is not finite", "leave it out or replace it"));
        }
        if index > LARGEST_INDEX {
            return Err(complain("so large an index asks for gigabytes of weights", RENUMBER));
        }
        let Some(index) = index.checked_sub(1) else {
            return Err(complain("indices start at 1", "add one to every index of the file"));
        };
        match row.last() {
            Some(&(last, _)) if last == index => {
                return Err(complain("the index came before", "keep one of the two"));
            }
            Some(&(last, _)) if last > index => {
                return Err(complain("indices must ascend", "sort the features of the line"));
            }
            _ => row.push((index, value)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use proptest::prelude::*;

    fn read_text(text: &str) -> Result<Examples> {
        Examples::read_libsvm(Source::from_bytes("test.svm", text.as_bytes())?, TargetKind::Class)
    }

    #[test]
    fn rows_and_labels_are_what_the_file_says() {
        let data = read_text("3 1:1 4:-2.5e-1\r\n\n10\n-1.5 2:7 # c\n3.0 1:0").unwrap();
        let classes = data.classes().unwrap();
        assert_eq!(classes.alphabet().names(), ["-1.5", "3", "10"]);
        assert_eq!(classes.numbers(), [1, 2, 0, 1]);
        let row: Vec<_> = data.rows.row(0).iter().collect();
        assert_eq!(row, [(0, 1.0), (3, -0.25)]);
        assert_eq!((data.rows.row(1).stored(), data.rows.width()), (0, 4));
    }

    #[test]
    fn mistakes_name_the_line_and_the_token() {
        for (text, line, token) in [
            ("1 1:1\nx 1:1", 2, "`x`"),
            ("1 1", 1, "`1`: no colon"),
            ("1 0:1", 1, "`0:1`: indices start at 1"),
            ("1 a:1", 1, "`a:1`"),
            ("1 1:b", 1, "`1:b`"),
            ("1 1:nan", 1, "`1:nan`: the value is not finite"),
            ("inf 1:1", 1, "`inf`"),
            ("1 2:1 2:1", 1, "`2:1`: the index came before"),
            ("1 2:1 1:1", 1, "`1:1`: indices must ascend"),
            ("1 99999999999:1", 1, "`99999999999:1`"),
            ("1 -1:1", 1, "`-1:1`"),
        ] {
            let error = read_text(text).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with(&format!("test.svm:{line}: ")), "{message}");
            assert!(message.contains(token), "{message}");
            assert!(error.remedy().is_some());
        }
        assert!(matches!(read_text("# nothing\n"), Err(Error::File { .. })));
    }

    #[test]
    fn lines_without_labels_are_for_models_only_and_all_or_none() {
        let model = read_text("1 1:1 3:2\n-1 2:1\n").unwrap();
        let known = |text: &'static str| {
            let new = Source::from_bytes("new", text.as_bytes()).unwrap();
            read_known_as(new, model.vocabulary(), TargetKind::Class)
        };
        assert!(read_text("1:1\n").is_err());
        let (data, labelled, unseen) = known("7 1:1 4:1\n1 2:1 3:1 9:1\n").unwrap();
        let classes = data.classes().unwrap();
        assert_eq!(
            (labelled, classes.alphabet().names()),
            (true, &["-1", "1", "7"].map(String::from)[..])
        );
        assert_eq!(classes.numbers(), [2, 1]);
        assert_eq!(unseen, Unseen { met: 5, features: 2, labels: vec!["7".into()] });
        for mixed in ["1 1:1\n2:1\n", "1:1\n1 2:1\n"] {
            let message = known(mixed).unwrap_err().to_string();
            assert!(message.starts_with("new:2: "), "{message}");
        }
    }

    #[test]
    fn labels_may_be_sets_of_which_some_are_empty() {
        let source = |text: &'static str| Source::from_bytes("t.svm", text.as_bytes()).unwrap();
        let text = "10,9 1:1 3:1\n 2:1\n3:5\n9,+10.0\n3 1:1 # c\n";
        let data = Examples::read_libsvm(source(text), TargetKind::Set).unwrap();
        let sets = data.sets().unwrap();
        assert_eq!(sets.alphabet().names(), ["3", "9", "10"]);
        let names: Vec<Vec<&str>> = (0..5).map(|i| sets.names(i).collect()).collect();
        assert_eq!(names, [vec!["9", "10"], vec![], vec![], vec!["9", "10"], vec!["3"]]);
        assert_eq!(data.rows.row(2).norm1(), 5.0);
        // Any set of known labels is known.
        let known = data.vocabulary();
        let (more, labelled, unseen) =
            read_known_as(source("3,9 1:1\n 9:1\n10,7,8 2:1\n"), known, TargetKind::Set).unwrap();
        let sets = more.sets().unwrap();
        assert_eq!((labelled, sets.names(0).collect()), (true, vec!["3", "9"]));
        assert_eq!(sets.names(2).collect::<Vec<_>>(), ["10", "7", "8"]);
        assert_eq!((unseen.labels, unseen.features), (vec!["7".into(), "8".into()], 1));
        let (bare, labelled, _) =
            read_known_as(source("1:1\n 2:1\n"), known, TargetKind::Set).unwrap();
        assert!(!labelled && bare.targets.are_none());
        for (bad, token) in
            [("1,,2", "`1,,2`"), ("1,1", "twice"), ("1,x", "`x`"), ("1,inf", "`inf`")]
        {
            let text = format!("1 1:1\n{bad} 1:1\n");
            let source = Source::from_bytes("t.svm", text.as_bytes()).unwrap();
            let message = Examples::read_libsvm(source, TargetKind::Set).unwrap_err().to_string();
            assert!(message.starts_with("t.svm:2: ") && message.contains(token), "{message}");
        }
    }

    #[test]
    fn several_numbers_may_stand_in_front() {
        let source = |text: &'static str| Source::from_bytes("t.svm", text.as_bytes()).unwrap();
        let text = "1.5,-2 1:1\n+3,-0 # c\n\n0.1,1e-3 3:1\n";
        let data = Examples::read_libsvm(source(text), TargetKind::Outputs).unwrap();
        let outputs = data.outputs().unwrap();
        assert_eq!(outputs.values(), [1.5, -2.0, 3.0, 0.0, 0.1, 1e-3]);
        assert_eq!(
            (outputs.names().names(), data.rows.width()),
            (&["1", "2"].map(String::from)[..], 3)
        );
        let known = data.vocabulary();
        let read = |text| read_known_as(source(text), known, TargetKind::Outputs);
        let (more, labelled, unseen) = read("7,8 1:1 9:1\n").unwrap();
        assert_eq!((labelled, more.outputs().unwrap().of(0)), (true, &[7.0, 8.0][..]));
        assert_eq!((unseen.features, unseen.labels.len()), (1, 0));
        let (bare, labelled, _) = read("1:1\n2:1\n").unwrap();
        assert_eq!((bare.len(), bare.targets, labelled), (2, Targets::None, false));
        for (text, words) in [
            ("1,2 1:1\n1,2,3 1:1\n", "t.svm:2: `1,2,3` has 3 numbers where 2 belong"),
            ("1,2 1:1\n3 1:1\n", "t.svm:2: `3` has 1"),
            ("1,2 1:1\n1:1\n", "t.svm:2: "),
        ] {
            for error in [
                Examples::read_libsvm(source(text), TargetKind::Outputs).unwrap_err(),
                read(text).unwrap_err(),
            ] {
                assert!(error.to_string().starts_with(words), "{error}");
                assert!(error.remedy().is_some());
            }
        }
    }

    #[test]
    fn a_number_in_front_is_read_as_one() {
        let source = |text: &'static str| Source::from_bytes("t.svm", text.as_bytes()).unwrap();
        let text = "1.50 1:1\n+3 # c\n\n-0 3:1\n0.1 1:1\n1e-320\n";
        let data = Examples::read_libsvm(source(text), TargetKind::Number).unwrap();
        assert_eq!(data.numbers().unwrap(), [1.5, 3.0, 0.0, 0.1, 1e-320]);
        assert!(data.numbers().unwrap()[2].is_sign_positive());
        assert!(data.vocabulary().alphabet.is_empty());
        let read = |text| read_known_as(source(text), data.vocabulary(), TargetKind::Number);
        let (more, labelled, unseen) = read("7 1:1 9:1\n").unwrap();
        assert_eq!((labelled, more.numbers().unwrap()), (true, &[7.0][..]));
        assert_eq!((unseen.features, unseen.labels.len()), (1, 0));
        let (bare, labelled, _) = read("1:1\n2:1\n").unwrap();
        assert_eq!((bare.len(), bare.targets, labelled), (2, Targets::None, false));
        for (text, words) in [
            ("1 1:1\nmany 1:1\n", "t.svm:2: `many` is not a finite number"),
            ("1 1:1\n2\nnan 1:1\n", "t.svm:3: `nan` is not a finite number"),
            ("1e999\n", "t.svm:1: `1e999` is not"),
            ("1,2 1:1\n", "t.svm:1: `1,2` is not"),
        ] {
            let both = [
                Examples::read_libsvm(source(text), TargetKind::Number).unwrap_err(),
                read(text).unwrap_err(),
            ];
            for error in both {
                assert!(error.to_string().starts_with(words), "{error}");
                assert!(error.remedy().is_some());
            }
        }
        let error = Examples::read_libsvm(source("1 1:1\n1:1\n"), TargetKind::Number).unwrap_err();
        assert!(error.to_string().starts_with("t.svm:2: `1:1`"), "{error}");
    }

    fn any_kind() -> impl Strategy<Value = TargetKind> {
        use TargetKind::{Class, Number, Outputs, Set};
        prop::sample::select(vec![Class, Number, Set, Outputs])
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[0-9:.,; \\-+enaif#x\n]{0,60}", kind in any_kind()) {
            let _ = Examples::read_libsvm(Source::from_bytes("test.svm", text.as_bytes())?, kind);
        }

        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec((-3_i32..3, prop::collection::btree_map(1_u32..20, -1e3..1e3_f64, 0..5)), 1..8)) {
            let text: String = rows.iter().map(|(label, row)| {
                let features: Vec<String> = row.iter().map(|(j, x)| format!("{j}:{x}")).collect();
                format!("{label} {}\n", features.join(" "))
            }).collect();
            let data = read_text(&text).unwrap();
            for (i, (label, row)) in rows.iter().enumerate() {
                prop_assert_eq!(data.classes().unwrap().name(i), &label.to_string());
                let expected: Vec<(usize, f64)> = row.iter().map(|(&j, &x)| (j as usize - 1, x)).collect();
                prop_assert_eq!(data.rows.row(i).iter().collect::<Vec<_>>(), expected);
            }
        }
    }
}
