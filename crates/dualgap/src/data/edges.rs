//! Edge files: a line `row column mark features…` for every edge of a bipartite graph, a blank line between graphs.
//!
//! ```text
//! # two words on either side
//! 0 0 1 dice:0.8 distance:0
//! 0 1 ? dice:0.1 distance:0.5
//! 1 0 0 distance:0.5
//! 1 1 1 dice:0.7 distance:0
//!
//! 0 0 1 dice:0.4 distance:0
//! ```
//!
//! Rows and columns count from 0. The mark is `1` for a sure link, `?` for a possible one, `0` or `-` for none; a file to
//! predict for may leave it out, in all lines. Features are `name:value`, in any order, or `index:value` as in a LIBSVM
//! file, with indices from 1, ascending; the first feature of the file decides which. A word that begins with `#` begins a
//! comment, and a line that is all comment separates nothing.

use super::libsvm::{is_whole, parse_features};
use super::matchings::{Graph, LARGEST_SIDE, Mark, Matchings};
use super::source::Complaint;
use super::{Dictionary, Source, Unseen, Vocabulary};
use crate::Result;
use crate::linalg::Rows;
use std::collections::HashSet;

/// How an edge is written.
const LINE: &str = "a line is `row column mark features…`: 0 2 1 dice:0.8, with the mark 1, ? or 0";

impl Matchings {
    /// Reads a file of edges to train on: every edge must have a mark.
    ///
    /// ```
    /// use dualgap::data::{Matchings, Source};
    /// let text = b"0 0 1 dice:0.8\n0 1 0 dice:0.1\n\n0 0 ? bias:1\n";
    /// let data = Matchings::read(Source::from_bytes("demo", text)?)?;
    /// assert_eq!((data.len(), data.graph(0).edges()), (2, &[(0, 0), (0, 1)][..]));
    /// assert_eq!(data.dictionary().names().collect::<Vec<_>>(), ["dice", "bias"]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read(source: Source<'_>) -> Result<Matchings> {
        let name = source.name().to_string();
        let (data, _) = Lines::new(None).read(source)?;
        if !data.is_labelled() {
            let remedy = "write 1, ? or 0 behind the row and the column of every edge";
            return Err(crate::Error::in_file(
                name,
                "its edges have no marks to learn from",
                remedy,
            ));
        }
        Ok(data)
    }
}

/// Reads a file with the features that a model knows, and returns what the model does not know. Edges may go without
/// marks, if all do.
pub fn read_known(source: Source<'_>, known: Vocabulary<'_>) -> Result<(Matchings, Unseen)> {
    Lines::new(Some(known)).read(source)
}

/// What was read so far.
struct Lines<'k> {
    known: Option<Vocabulary<'k>>,
    /// Whether features have names; not known before the first of them.
    named: Option<bool>,
    dictionary: Dictionary,
    features: Rows,
    graphs: Vec<Graph>,
    /// The graph that is being read, and its edges.
    graph: Graph,
    met: HashSet<(u32, u32)>,
    marks: Vec<Mark>,
    marked: Option<bool>,
    unseen: Unseen,
    row: Vec<(u32, f64)>,
}

impl<'k> Lines<'k> {
    fn new(known: Option<Vocabulary<'k>>) -> Self {
        Self {
            known,
            named: known.map(|known| !known.dictionary.is_empty()),
            dictionary: known.map(|known| known.dictionary.clone()).unwrap_or_default(),
            features: Rows::sparse(),
            graphs: Vec::new(),
            graph: Graph::default(),
            met: HashSet::new(),
            marks: Vec::new(),
            marked: None,
            unseen: Unseen::default(),
            row: Vec::new(),
        }
    }

    fn read(mut self, mut source: Source<'_>) -> Result<(Matchings, Unseen)> {
        while let Some(line) = source.next_line()? {
            let line = line.trim();
            if line.is_empty() {
                self.end_graph();
            } else if let Err((message, remedy)) = self.edge(line) {
                return Err(source.error(message, remedy));
            }
            self.features.try_reserve(self.row.len())?;
        }
        self.end_graph();
        let Self { known, dictionary, mut features, graphs, marks, marked, unseen, .. } = self;
        if graphs.is_empty() {
            return Err(source.file_error("has no edges", LINE));
        }
        features.fit_width(
            known.map_or(features.width().max(dictionary.len()), |known| known.features),
        );
        let data = match marked {
            Some(true) => Matchings::new(features, &graphs, marks),
            _ => Matchings::unlabelled(features, &graphs),
        };
        Ok((data?.with_dictionary(dictionary)?, unseen))
    }

    fn end_graph(&mut self) {
        if !self.graph.edges.is_empty() {
            self.graphs.push(std::mem::take(&mut self.graph));
            self.met.clear();
        }
    }

    /// Reads the edge of a line.
    fn edge(&mut self, line: &str) -> Result<(), Complaint> {
        let words = line.split_ascii_whitespace().take_while(|word| !word.starts_with('#'));
        let mut words = words.peekable();
        let Some(row) = words.next() else { return Ok(()) };
        let row = side(row, "row")?;
        let column = words.next().ok_or_else(|| ("there is no column".to_string(), LINE))?;
        let column = side(column, "column")?;
        let marked = words.peek().is_some_and(|word| !word.contains(':'));
        if *self.marked.get_or_insert(marked) != marked {
            let message = if marked { "a mark, and the lines before have none" } else { "no mark" };
            return Err((message.into(), "give every edge a mark, or none of them"));
        }
        if let Some(word) = words.next_if(|_| marked) {
            self.marks.push(mark(word)?);
        }
        if !self.met.insert((row, column)) {
            let message = format!("the edge from row {row} to column {column} came before");
            return Err((message, "keep one of the two, or put a blank line between two examples"));
        }
        if let Some(first) = words.peek() {
            let named = first.rsplit_once(':').is_some_and(|(name, _)| !is_whole(name));
            let named = *self.named.get_or_insert(named);
            if named { self.named_features(words)? } else { parse_features(words, &mut self.row)? }
        } else {
            self.row.clear();
        }
        let met = self.row.len();
        self.unseen.met += met as u64;
        if let Some(known) = self.known {
            self.row.retain(|&(index, _)| (index as usize) < known.features);
            self.unseen.features += (met - self.row.len()) as u64;
        }
        self.features.push_sparse(&self.row);
        self.graph.edges.push((row, column));
        self.graph.rows = self.graph.rows.max(row as usize + 1);
        self.graph.columns = self.graph.columns.max(column as usize + 1);
        Ok(())
    }

    /// Reads features with names; those that the model does not know get a number beyond all others.
    fn named_features<'t>(
        &mut self,
        words: impl Iterator<Item = &'t str>,
    ) -> Result<(), Complaint> {
        const PAIR: &str = "features are written name:value, with a space between them";
        self.row.clear();
        let mut unknown = 0;
        for word in words {
            let complain = |what: &str, remedy| (format!("`{word}`: {what}"), remedy);
            let (name, value) = word.rsplit_once(':').ok_or_else(|| complain("no colon", PAIR))?;
            if name.is_empty() {
                return Err(complain("the feature has no name", PAIR));
            }
            let value: f64 =
                value.parse().map_err(|_| complain("the value is not a number", PAIR))?;
            if !value.is_finite() {
                return Err(complain("the value is not finite", "leave it out or replace it"));
            }
            let index = match self.known {
                None => self.dictionary.number(name),
                Some(known) => known.dictionary.index(name).unwrap_or_else(|| {
                    unknown += 1;
                    u32::MAX - unknown
                }),
            };
            self.row.push((index, value));
        }
        self.row.sort_unstable_by_key(|&(index, _)| index);
        if let Some(twice) = self.row.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let name = self.dictionary.name(twice[0].0 as usize).unwrap_or_default();
            return Err((format!("the feature `{name}` comes twice"), "keep one of the two"));
        }
        Ok(())
    }
}

/// Reads the number of a row or of a column.
fn side(word: &str, which: &str) -> Result<u32, Complaint> {
    if !is_whole(word) {
        return Err((format!("`{word}` is not the number of a {which}"), LINE));
    }
    word.parse().ok().filter(|&number: &u32| (number as usize) < LARGEST_SIDE).ok_or_else(|| {
        let message = format!("`{word}`: the number of a {which} is below {LARGEST_SIDE}");
        (message, "number the rows and columns of every example from 0 on")
    })
}

fn mark(word: &str) -> Result<Mark, Complaint> {
    match word {
        "1" => Ok(Mark::Sure),
        "?" => Ok(Mark::Possible),
        "0" | "-" => Ok(Mark::None),
        _ => Err((
            format!("`{word}` is not a mark"),
            "a mark is 1 (sure), ? (possible), 0 or - (none)",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use proptest::prelude::*;

    fn read_text(text: &str) -> Result<Matchings> {
        Matchings::read(Source::from_bytes("test.edges", text.as_bytes())?)
    }

    #[test]
    fn graphs_marks_and_features_are_what_the_file_says() {
        let text = "# head\n0 1 ? b:2 a:-1e-1\r\n0 0 1 a:1 # c\n# no end of the graph\n2 0 -\n\n\n0 0 0 http://x:3\n";
        let data = read_text(text).unwrap();
        assert_eq!(data.len(), 2);
        assert!(data.dictionary().names().eq(["b", "a", "http://x"]));
        let graph = data.graph(0);
        assert_eq!((graph.rows(), graph.columns()), (3, 2));
        assert_eq!(graph.edges(), [(0, 0), (0, 1), (2, 0)]);
        assert_eq!([0, 1, 2].map(|e| graph.mark(e)), [Mark::Sure, Mark::Possible, Mark::None]);
        assert_eq!(graph.features(1).iter().collect::<Vec<_>>(), [(0, 2.0), (1, -0.1)]);
        assert_eq!(graph.features(2).stored(), 0);
        assert_eq!(data.graph(1).features(0).get(2), 3.0);
    }

    #[test]
    fn features_may_have_numbers() {
        let data = read_text("0 0 1 1:0.5 4:2\n1 0 0 2:1\n").unwrap();
        assert!(data.dictionary().is_empty());
        assert_eq!((data.features().width(), data.graph(0).features(0).get(3)), (4, 2.0));
        let new = Source::from_bytes("new", b"0 0 1 1:1 9:1\n").unwrap();
        let (data, unseen) = read_known(new, data.vocabulary()).unwrap();
        assert_eq!((data.features().width(), unseen.met, unseen.features), (4, 2, 1));
        assert!(data.is_labelled());
    }

    #[test]
    fn unknown_names_are_counted_and_left_out() {
        let model = read_text("0 0 1 a:1 b:1\n").unwrap();
        let new = Source::from_bytes("new", b"0 0 x:1 b:2 y:1\n").unwrap();
        let (data, unseen) = read_known(new, model.vocabulary()).unwrap();
        assert_eq!((unseen.met, unseen.features), (3, 2));
        assert_eq!(data.graph(0).features(0).iter().collect::<Vec<_>>(), [(1, 2.0)]);
    }

    #[test]
    fn mistakes_name_the_line_and_the_word() {
        for (text, line, words) in [
            ("0 0 1 a:1\nx 0 1", 2, "`x` is not the number of a row"),
            ("0", 1, "no column"),
            ("0 -1 1", 1, "`-1`"),
            ("0 4096 1", 1, "`4096`"),
            ("0 99999999999999999999 1", 1, "`99999999999999999999`"),
            ("0 0 2 a:1", 1, "`2` is not a mark"),
            ("0 0 1 a", 1, "`a`: no colon"),
            ("0 0 1 :1", 1, "no name"),
            ("0 0 1 a:x", 1, "`a:x`"),
            ("0 0 1 a:inf", 1, "not finite"),
            ("0 0 1 a:1 a:2", 1, "`a` comes twice"),
            ("0 0 1 2:1 1:2", 1, "must ascend"),
            ("0 0 1 1:1\n0 1 1 b:2", 2, "`b:2`"),
            ("0 0 1 a:1\n\n0 0 a:1", 3, "no mark"),
            ("0 0 1 a:1\n1 0 0\n0 0 1", 3, "came before"),
        ] {
            let error = read_text(text).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with(&format!("test.edges:{line}: ")), "{message}");
            assert!(message.contains(words), "{message}");
            assert!(error.remedy().is_some());
        }
        assert!(matches!(read_text("# nothing\n\n"), Err(Error::File { .. })));
        let error = read_text("0 0 a:1\n").unwrap_err();
        assert!(error.to_string().contains("no marks"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[0-9:.? \\-+ena#x\n]{0,60}") {
            let _ = read_text(&text);
            if let Ok(model) = read_text("0 0 1 a:1\n") {
                let _ = read_known(Source::from_bytes("new", text.as_bytes())?, model.vocabulary());
            }
        }
    }
}
