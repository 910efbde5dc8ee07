//! Column files with their labels in another scheme.

use super::{Scheme, is_chunk_label};
use crate::data::{ColumnReader, Encoding, Sentence, Sink, Source};
use crate::{Error, Result};

/// What was written, and what was found in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The number of sentences.
    pub sentences: usize,
    /// The number of tokens.
    pub tokens: usize,
    /// The scheme of the file, as [`Scheme::recognise`] has it; `None` if all its labels are `O`.
    pub found: Option<Scheme>,
    /// How often the file breaks it.
    pub mistakes: usize,
    /// The line of the first such place, and its label.
    pub first: Option<(u64, String)>,
}

impl Scheme {
    /// Writes a column file with the labels of the same chunks in this scheme: comments, other columns and lines that are no
    /// tokens stay as they are. `column` has the labels; the last one without it.
    ///
    /// ```
    /// # use dualgap::data::{Encoding, Scheme, Sink, Source};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("out");
    /// let text = b"the DT B-NP\ndog NN I-NP\nruns VB B-VP\n";
    /// let mut sink = Sink::create(&path)?;
    /// let source = Source::from_bytes("demo", text)?;
    /// let told = Scheme::Bilou.rewrite(source, Encoding::Utf8, None, &mut sink)?;
    /// sink.finish()?;
    /// assert_eq!((told.found, told.mistakes), (Some(Scheme::Bio), 0));
    /// assert_eq!(std::fs::read(&path).unwrap(), b"the DT B-NP\ndog NN L-NP\nruns VB U-VP\n\n");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn rewrite(
        self,
        source: Source<'_>,
        encoding: Encoding,
        column: Option<usize>,
        sink: &mut Sink,
    ) -> Result<Rewritten> {
        let mut reader = ColumnReader::new(source.encoded(encoding));
        let mut told = Rewritten::default();
        let mut broken: [(usize, Option<(u64, String)>); 4] = Default::default();
        let mut any = false;
        let mut text = String::new();
        while let Some(sentence) = reader.next_sentence()? {
            let column = column.unwrap_or(sentence.width() - 1);
            if column >= sentence.width() {
                return Err(reader.source().file_error(
                    format!(
                        "has {} columns, and no column {column}, counted from 0",
                        sentence.width()
                    ),
                    "name one that it has",
                ));
            }
            let labels: Vec<&str> = (0..sentence.len()).map(|t| sentence.cell(t, column)).collect();
            if let Some(t) = labels.iter().position(|label| *label != "O" && !is_chunk_label(label))
            {
                return Err(Error::line(
                    reader.source().name(),
                    sentence.line(t),
                    format!("the label `{}` is none of a chunk", labels[t]),
                    "labels of chunks are O, and B-NAME, I-NAME or their like, in the last column unless another is named",
                ));
            }
            any |= labels.iter().any(|label| *label != "O");
            for (scheme, (mistakes, first)) in Scheme::ALL.into_iter().zip(&mut broken) {
                for t in scheme.all_mistakes(&labels) {
                    *mistakes += 1;
                    let at = t.min(labels.len() - 1);
                    first.get_or_insert_with(|| (sentence.line(at), labels[at].to_string()));
                }
            }
            let separator = if reader.tabs() { "\t" } else { " " };
            text.clear();
            write(&sentence, column, &self.convert(&labels), separator, &mut text);
            sink.bytes(&encoding.bytes(&text))?;
            told.sentences += 1;
            told.tokens += sentence.len();
        }
        let least = Scheme::ALL.into_iter().zip(broken).min_by_key(|(_, (mistakes, _))| *mistakes);
        if let Some((found, (mistakes, first))) = least.filter(|_| any) {
            (told.found, told.mistakes, told.first) = (Some(found), mistakes, first);
        }
        Ok(told)
    }
}

/// Writes a sentence with other labels in a column, and an empty line after it.
fn write(
    sentence: &Sentence,
    column: usize,
    labels: &[String],
    separator: &str,
    text: &mut String,
) {
    for t in 0..=sentence.len() {
        for line in sentence.others(t) {
            text.extend([line, "\n"]);
        }
        for (c, label) in (0..sentence.width()).zip(std::iter::repeat(labels.get(t))) {
            let Some(label) = label else { break };
            text.push_str(if c == 0 { "" } else { separator });
            text.push_str(if c == column { label } else { sentence.cell(t, c) });
        }
        text.push('\n');
    }
}
