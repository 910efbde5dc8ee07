//! Column files, as in the CoNLL shared tasks: one token a line, its columns separated by spaces or tabs, an
//! empty line after each sentence. Other white space, such as the wide one of Japanese text, is part of a cell.
//!
//! If the first token line has a tab, tabs separate the columns of the whole file, and a cell may then hold
//! spaces or be empty. Every token line has the same number of columns.
//!
//! Between sentences, a line that begins with `#` and does not have the columns of a token is a comment. In CoNLL-U
//! files, which have ten columns separated by tabs, the lines of multiword tokens (`3-4`) and of empty nodes (`5.1`)
//! are not tokens. A sentence keeps such lines beside its tokens, so that it can be written as it was read.

use super::Source;
use crate::error::count_of;
use crate::{Error, Result};
use std::collections::VecDeque;

/// The cells of one sentence.
#[derive(Clone, Debug, Default)]
pub struct Sentence {
    text: String,
    /// The end of each cell in the text, token by token.
    ends: Vec<usize>,
    width: usize,
    /// The line of each token in the file.
    lines: Vec<u64>,
    /// The lines that are not tokens, each with the number of tokens before it.
    others: Vec<(usize, String)>,
}

impl Sentence {
    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.ends.len() / self.width.max(1)
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of columns of a token.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns a cell.
    #[inline]
    pub fn cell(&self, token: usize, column: usize) -> &str {
        let k = token * self.width + column;
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.text[start..self.ends[k]]
    }

    /// Returns the line of a token in its file, counted from one.
    pub fn line(&self, token: usize) -> u64 {
        self.lines[token]
    }

    /// Returns the lines between a token and the one before that are not tokens: comments, and of CoNLL-U files
    /// multiword tokens and empty nodes. Those after the last token are [`others`](Self::others) of `len()`.
    pub fn others(&self, token: usize) -> impl Iterator<Item = &str> {
        self.others.iter().filter(move |(before, _)| *before == token).map(|(_, line)| &line[..])
    }

    /// Whether the sentence looks like one of a CoNLL-U file: ten columns, tokens numbered from one, attributes
    /// `Name=Value` or `_` in the columns FEATS and MISC, a number or `_` in HEAD.
    pub fn is_conllu(&self) -> bool {
        let attributes = |cell: &str| cell == "_" || cell.contains('=');
        let number = |cell: &str| cell == "_" || cell.bytes().all(|byte| byte.is_ascii_digit());
        self.width == CONLLU
            && (0..self.len()).all(|t| {
                self.cell(t, 0).parse() == Ok(t + 1)
                    && attributes(self.cell(t, 5))
                    && number(self.cell(t, 6))
                    && attributes(self.cell(t, 9))
            })
    }

    /// Returns a sentence of these cells, `width` for every token.
    pub(super) fn of_cells<'c>(
        cells: impl Iterator<Item = &'c str>,
        width: usize,
        line: u64,
    ) -> Self {
        let mut sentence = Self { width, ..Self::default() };
        cells.for_each(|cell| sentence.push(cell));
        sentence.lines = vec![line; sentence.len()];
        sentence
    }

    fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }
}

/// Reads a file sentence by sentence.
pub struct ColumnReader<'a> {
    source: Source<'a>,
    /// The number of columns, and whether tabs separate them; known after the first token line.
    layout: Option<(usize, bool)>,
    tabs_only: bool,
    /// The first lines, which were read to learn the layout, with their numbers.
    pending: VecDeque<(u64, String)>,
    /// The last of them.
    line: String,
}

impl<'a> ColumnReader<'a> {
    /// Reads from the beginning of a file.
    pub fn new(source: Source<'a>) -> Self {
        Self {
            source,
            layout: None,
            tabs_only: false,
            pending: VecDeque::new(),
            line: String::new(),
        }
    }

    /// Sets whether tabs separate the columns even if the file has none.
    #[must_use]
    pub fn tabs_only(self, tabs_only: bool) -> Self {
        Self { tabs_only, ..self }
    }

    /// The source, for errors that name the line.
    pub fn source(&self) -> &Source<'a> {
        &self.source
    }

    /// Whether tabs separate the columns; known after the first sentence.
    pub fn tabs(&self) -> bool {
        self.layout.is_some_and(|(_, tabs)| tabs)
    }

    /// Returns the number of columns and whether tabs separate them, from the first line that is certainly no
    /// comment. Lines are read, not peeked at: the first that a stream offers may be a comment and no more.
    fn look(&mut self) -> Result<(usize, bool)> {
        while let Some(line) = self.source.next_line()? {
            let decides = !line.starts_with('#') && !line.trim_ascii().is_empty();
            let line = line.to_string();
            self.pending.push_back((self.source.line_number(), line));
            if decides {
                break;
            }
        }
        let certain = self.pending.back().filter(|(_, line)| !line.starts_with('#'));
        let comment = || self.pending.iter().find(|(_, line)| !line.trim_ascii().is_empty());
        let line = certain.or_else(comment).map_or("", |(_, line)| &line[..]);
        let tabs = self.tabs_only || line.contains('\t');
        Ok((count(line, tabs), tabs))
    }

    /// Returns the next line and its number.
    fn next_line(&mut self) -> Result<Option<(u64, &str)>> {
        if let Some((number, line)) = self.pending.pop_front() {
            self.line = line;
            return Ok(Some((number, &self.line)));
        }
        let number = self.source.line_number() + 1;
        Ok(self.source.next_line()?.map(|line| (number, line)))
    }

    /// Whether the next sentence can be read without waiting for more input.
    pub(super) fn has_sentence(&mut self) -> Result<bool> {
        let mut begun = false;
        let buffered = if self.pending.is_empty() { self.source.buffered()? } else { &[] };
        Ok(buffered.split_inclusive(|&byte| byte == b'\n').any(|line| {
            let blank = line.trim_ascii().is_empty() && line.ends_with(b"\n");
            begun |= !blank && !line.starts_with(b"#");
            begun && blank
        }))
    }

    /// Returns the next sentence that has tokens.
    pub fn next_sentence(&mut self) -> Result<Option<Sentence>> {
        let mut sentence = Sentence::default();
        let (width, tabs) = if let Some(layout) = self.layout { layout } else { self.look()? };
        self.layout = Some((width, tabs));
        let conllu = tabs && width == CONLLU;
        while let Some((number, line)) = self.next_line()? {
            if line.trim_ascii().is_empty() {
                if sentence.is_empty() {
                    continue;
                }
                break;
            }
            let before = sentence.ends.len();
            let comment = sentence.is_empty() && line.starts_with('#');
            if (comment && count(line, tabs) != width) || (conllu && is_no_token(line)) {
                sentence.others.push((sentence.lines.len(), line.to_string()));
                continue;
            }
            sentence.width = width;
            if tabs {
                line.split('\t').for_each(|cell| sentence.push(cell.trim_ascii()));
            } else {
                line.split_ascii_whitespace().for_each(|cell| sentence.push(cell));
            }
            sentence.lines.push(number);
            let found = sentence.ends.len() - before;
            if found != width {
                let separator = if tabs { "tabs" } else { "white space" };
                return Err(Error::line(
                    self.source.name(),
                    number,
                    format!("{} where the lines before have {width}", count_of(found, "column")),
                    format!(
                        "every token has the same columns, separated by {separator}; an empty line \
                         ends a sentence"
                    ),
                ));
            }
        }
        Ok((!sentence.is_empty()).then_some(sentence))
    }
}

/// The number of columns of a CoNLL-U file.
const CONLLU: usize = 10;

fn count(line: &str, tabs: bool) -> usize {
    if tabs { line.split('\t').count() } else { line.split_ascii_whitespace().count() }
}

/// Whether the number of a CoNLL-U line is that of a multiword token or of an empty node.
fn is_no_token(line: &str) -> bool {
    let id = line.split('\t').next().unwrap_or_default();
    let whole = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    id.split_once(['-', '.']).is_some_and(|(first, last)| whole(first) && whole(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<Sentence>> {
        let mut reader = ColumnReader::new(Source::from_bytes("test", text)?);
        let mut sentences = Vec::new();
        while let Some(sentence) = reader.next_sentence()? {
            sentences.push(sentence);
        }
        Ok(sentences)
    }

    #[test]
    fn blank_lines_however_many_part_sentences() {
        let sentences = read(b"\n\na x\nb y\r\n\r\n \nc z").unwrap();
        assert_eq!(sentences.iter().map(Sentence::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(sentences[0].cell(1, 1), "y");
        assert_eq!(sentences[1].cell(0, 0), "c");
        assert!(read(b"\n\n").unwrap().is_empty());
    }

    #[test]
    fn tabs_keep_spaces_and_empty_cells() {
        let sentences = read(b"New York\t\tB\nis\tV\tO\n").unwrap();
        assert_eq!(sentences[0].cell(0, 0), "New York");
        assert_eq!(sentences[0].cell(0, 1), "");
        assert_eq!(sentences[0].cell(1, 2), "O");
    }

    #[test]
    fn comments_stand_between_sentences_and_are_not_mistaken_for_tokens() {
        let sentences = read(b"# a comment of five words\n# # O\nx y O\n\n# ten\nz z O\n").unwrap();
        assert_eq!(sentences.iter().map(Sentence::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((sentences[0].cell(0, 0), sentences[1].cell(0, 0)), ("#", "z"));
        assert!(read(b"a b\n# three four five\n").is_err(), "a comment within a sentence");
    }

    #[test]
    fn of_conllu_files_only_tokens_are_read() {
        let line = |id: &str, word: &str| format!("{id}\t{word}{}\n", "\t_".repeat(8));
        let text = ["# sent_id = 1\n".into(), line("1-2", "vamonos"), line("1", "vamos")];
        let more = [line("2", "nos"), line("2.1", "left out"), line("3", "1-2")];
        let text: String = text.into_iter().chain(more).collect();
        let sentence = &read(text.as_bytes()).unwrap()[0];
        let words: Vec<&str> = (0..sentence.len()).map(|t| sentence.cell(t, 1)).collect();
        assert_eq!(words, ["vamos", "nos", "1-2"]);
        let others: Vec<Vec<&str>> = (0..4).map(|t| sentence.others(t).collect()).collect();
        assert_eq!(others[0].len(), 2, "the comment and the multiword token");
        assert!(others[1].is_empty() && others[3].is_empty());
        assert!(others[2][0].starts_with("2.1\tleft out"));
    }

    #[test]
    fn conllu_is_told_from_other_files_of_ten_columns() {
        let read = |lines: &[&str]| read(lines.concat().as_bytes()).unwrap().remove(0).is_conllu();
        let he = "1\tHe\the\tPRON\tPRP\tCase=Nom|Number=Sing\t2\tnsubj\t_\tSpaceAfter=No\n";
        assert!(read(&["# text = He ran\n", he, "2\tran\t_\t_\t_\t_\t_\t_\t_\t_\n"]));
        assert!(!read(&[he, "3\tran\t_\t_\t_\t_\t_\t_\t_\t_\n"]), "tokens are numbered");
        assert!(!read(&["1\ta\tb\tc\td\t_\t2\te\tf\tB-NP\n"]), "a label comes last");
        assert!(!read(&["1\tHe\tPRON\n"]));
    }

    #[test]
    fn comments_do_not_decide_how_many_columns_there_are() {
        let sentences = read(b"# one two three four\n\n# five six\na b\n\n").unwrap();
        assert_eq!((sentences.len(), sentences[0].width()), (1, 2));
        assert_eq!(sentences[0].line(0), 4);
        assert_eq!(read(b"# # O\n# x O\n").unwrap()[0].len(), 2, "tokens, for want of others");
    }

    #[test]
    fn only_spaces_and_tabs_are_between_columns() {
        let sentences = read("a\u{a0}b DT\n\u{3000} PU\n".as_bytes()).unwrap();
        assert_eq!((sentences[0].width(), sentences[0].cell(1, 0)), (2, "\u{3000}"));
        assert_eq!((sentences[0].line(0), sentences[0].line(1)), (1, 2));
    }

    #[test]
    fn ragged_columns_name_the_line() {
        let error = read(b"a b c\n\nd e f\ng h\n").unwrap_err().to_string();
        assert!(error.starts_with("test:4: 2 columns where the lines before have 3"), "{error}");
    }

    #[test]
    fn comments_and_ids_tell_conllu() -> crate::Result<()> {
        let line = b"1\tHe\the\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\t_\n";
        let mut reader = ColumnReader::new(Source::from_bytes("demo", line)?);
        assert!(reader.next_sentence()?.unwrap().is_conllu());
        Ok(())
    }

    #[test]
    fn sentences_come_one_by_one() -> crate::Result<()> {
        let mut reader =
            ColumnReader::new(Source::from_bytes("demo", b"He PRP\nruns VBZ\n\n\nYes UH")?);
        let first = reader.next_sentence()?.unwrap();
        assert_eq!((first.len(), first.cell(1, 0)), (2, "runs"));
        assert_eq!(reader.next_sentence()?.unwrap().cell(0, 1), "UH");
        assert!(reader.next_sentence()?.is_none());
        Ok(())
    }
}
