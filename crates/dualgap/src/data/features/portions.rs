//! The sentences of a file, some at a time.

use super::part::PART;
use crate::data::columns::{ColumnReader, Sentence};
use crate::data::targets::number;
use crate::data::{Source, TargetKind};
use crate::linalg::parallel;
use crate::{Error, Result};

/// Sentences in portions, so that their text is in memory for a while only.
pub struct Portions<'a> {
    reader: ColumnReader<'a>,
    /// The first sentence is read at once: it decides the columns of the file.
    first: Option<Sentence>,
    columns: usize,
    conllu: bool,
    /// What was wrong after the last portion.
    failed: Option<Error>,
}

impl<'a> Portions<'a> {
    /// Reads from the beginning of a file, which must have a sentence.
    pub fn new(source: Source<'a>) -> Result<Self> {
        Self::read(ColumnReader::new(source))
    }

    pub(super) fn read(mut reader: ColumnReader<'a>) -> Result<Self> {
        let Some(first) = reader.next_sentence()? else {
            return Err(reader.source().file_error(
                "has no sentences",
                "a column file has one token a line and an empty line after each sentence",
            ));
        };
        let conllu = reader.tabs() && first.is_conllu();
        Ok(Self { columns: first.width(), reader, first: Some(first), conllu, failed: None })
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
    pub(super) fn check_labels(
        &self,
        sentences: &[Sentence],
        column: usize,
        kind: TargetKind,
    ) -> Result<()> {
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
    /// that nothing waits for what nobody has written yet. An error comes after the sentences before it, so that what is wrong with
    /// their labels is told first.
    pub fn next_portion(&mut self) -> Result<Option<Vec<Sentence>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut portion: Vec<Sentence> = self.first.take().into_iter().collect();
        // A part for every thread, and no more: every part numbers its features by itself, and keeps their names until it is merged.
        while portion.len() < PART * parallel::threads() {
            match self.next_of_portion(portion.is_empty()) {
                Ok(Some(sentence)) => portion.push(sentence),
                Ok(None) => break,
                Err(error) if portion.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok((!portion.is_empty()).then_some(portion))
    }

    /// Returns the next sentence of a portion, or `None` if there is none; of a stream, only the first one is waited for.
    fn next_of_portion(&mut self, first: bool) -> Result<Option<Sentence>> {
        if first || !self.is_live() || self.reader.has_sentence()? {
            self.reader.next_sentence()
        } else {
            Ok(None)
        }
    }

    /// Returns an error about the file as a whole.
    pub fn file_error(&self, message: impl Into<String>, remedy: impl Into<String>) -> Error {
        self.reader.source().file_error(message, remedy)
    }
}
