//! The OCR letters of Kassel and Taskar (`letter.data`): handwritten words, one letter a line.
//!
//! ```text
//! id  letter  next_id  word_id  position  fold  p_0_0 … p_15_7        tab separated
//! ```
//!
//! `next_id` is −1 at the end of a word, `position` counts from one, `fold` is 0 to 9, and there are 128
//! pixels, 0 or 1. Each letter becomes a row of its pixels and a constant feature, so that every label
//! has a bias weight.

use super::pieces::Piece;
use super::source::Complaint;
use super::{Alphabet, Sequences, Source};
use crate::linalg::Rows;
use crate::{Error, Result};

/// The number of pixels: 16 rows of 8.
pub const PIXELS: usize = 128;

/// The words of a file and the fold of each.
#[derive(Clone, Debug)]
pub struct Letters {
    /// All words, in the order of the file.
    pub words: Sequences,
    /// The fold of each word, 0 to 9.
    pub folds: Vec<u8>,
}

impl Letters {
    /// Returns the numbers of the words in the given folds.
    pub fn in_folds(&self, folds: &[u8]) -> Vec<usize> {
        (0..self.folds.len()).filter(|&i| folds.contains(&self.folds[i])).collect()
    }
}

/// The fields of a line, but for the pixels.
struct Line {
    number: u64,
    letter: String,
    ends_word: bool,
    position: usize,
    fold: u8,
}

impl Letters {
    /// Reads a whole file.
    pub fn read(mut source: Source<'_>) -> Result<Letters> {
        let mut rows = Rows::sparse();
        let mut letters: Vec<String> = Vec::new();
        let (mut starts, mut folds) = (vec![0], Vec::new());
        let mut word_fold = None; // of the word that has begun
        let name = source.name().to_string();
        source.each_piece(|piece| Ok(parse_piece(piece)), |(lines, pixels, failed)| {
            for Line { number, letter, ends_word, position, fold } in lines {
                let expected = letters.len() - starts[starts.len() - 1] + 1;
                if position != expected {
                    return Err(Error::line(
                        &name,
                        number,
                        format!("position {position} of a word where {expected} should follow"),
                        "keep the letters of a word together, in order, the last one with next_id -1",
                    ));
                }
                if *word_fold.get_or_insert(fold) != fold {
                    return Err(Error::line(
                        &name,
                        number,
                        format!("fold {fold} within a word of another fold"),
                        "all letters of a word belong to one fold",
                    ));
                }
                letters.push(letter);
                if ends_word {
                    starts.push(letters.len());
                    folds.push(fold);
                    word_fold = None;
                }
            }
            rows.append(&pixels)?;
            failed.map_or(Ok(()), Err)
        })?;
        if letters.is_empty() {
            return Err(source.file_error("has no letters", "is this a `letter.data` file?"));
        }
        if word_fold.is_some() {
            return Err(source.file_error(
                "ends within a word",
                "the last letter of a word has the next_id -1; is the file cut off?",
            ));
        }
        let alphabet = Alphabet::new(letters.iter().cloned());
        if alphabet.len() > usize::from(u16::MAX) {
            return Err(source.file_error(
                format!("has {} different letters", alphabet.len()),
                "the second column is the letter, and there are few of them",
            ));
        }
        let labels =
            letters.iter().filter_map(|letter| alphabet.index(letter)).map(|k| k as u16).collect();
        Ok(Letters { words: Sequences::new(rows, labels, starts, alphabet)?, folds })
    }
}

/// Returns the lines of a piece that are not blank, and their pixels. If a line cannot be parsed, these are the lines before it, and
/// its error comes with them: whether they follow on each other is still to be seen, and what is wrong with them is told first.
fn parse_piece(piece: &Piece) -> (Vec<Line>, Rows, Option<Error>) {
    let (mut lines, mut rows, mut row) = (Vec::new(), Rows::sparse(), Vec::new());
    let parsed = piece.each_line(|number, line| {
        if !line.trim().is_empty() {
            let parsed = parse(number, line, &mut row);
            lines.push(parsed.map_err(|(message, remedy)| piece.error(number, message, remedy))?);
            rows.push_sparse(&row);
        }
        Ok(())
    });
    (lines, rows, parsed.err())
}

fn parse(number: u64, line: &str, row: &mut Vec<(u32, f64)>) -> Result<Line, Complaint> {
    const LAYOUT: &str = "a line is: id, letter, next_id, word_id, position, fold and 128 pixels, \
                          separated by tabs";
    let count = line.split_ascii_whitespace().count();
    if count != 6 + PIXELS {
        return Err((format!("{count} columns where {} belong", 6 + PIXELS), LAYOUT));
    }
    let mut columns = line.split_ascii_whitespace();
    let mut column = || columns.next().unwrap_or_default();
    let _id = column();
    let letter = column().to_string();
    let next: i64 = parse_column(column(), "next_id")?;
    let _word = column();
    let position = parse_column(column(), "position")?;
    let fold: u8 = parse_column(column(), "fold")?;
    if fold > 9 {
        return Err((format!("fold {fold}"), "folds are 0 to 9"));
    }
    row.clear();
    for k in 0..PIXELS {
        match column() {
            "0" => {}
            "1" => row.push((k as u32, 1.0)),
            other => return Err((format!("pixel {} is `{other}`", k + 1), "pixels are 0 or 1")),
        }
    }
    row.push((PIXELS as u32, 1.0));
    Ok(Line { number, letter, ends_word: next < 0, position, fold })
}

fn parse_column<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, Complaint> {
    text.parse().map_err(|_| {
        (format!("{name} is `{text}`"), "it must be a whole number, as in Taskar's letter.data")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letter lines: letter, next_id, position, fold; the pixels in the last list are on.
    fn text(lines: &[(&str, i32, usize, u8, &[usize])]) -> String {
        lines
            .iter()
            .enumerate()
            .map(|(id, (letter, next, position, fold, on))| {
                let pixels: Vec<&str> =
                    (0..PIXELS).map(|k| if on.contains(&k) { "1" } else { "0" }).collect();
                format!(
                    "{}\t{letter}\t{next}\t1\t{position}\t{fold}\t{}\t\n",
                    id + 1,
                    pixels.join("\t")
                )
            })
            .collect()
    }

    fn read_text(text: &str) -> Result<Letters> {
        Letters::read(Source::from_bytes("letters", text.as_bytes())?)
    }

    #[test]
    fn words_pixels_and_folds_are_what_the_file_says() {
        let file = text(&[("c", 2, 1, 3, &[0, 127]), ("a", -1, 2, 3, &[]), ("b", -1, 1, 0, &[5])]);
        let letters = read_text(&file).unwrap();
        assert_eq!((letters.words.len(), &letters.folds[..]), (2, &[3, 0][..]));
        assert_eq!(letters.words.alphabet().names(), ["a", "b", "c"]);
        assert_eq!((letters.words.truth(0), letters.words.truth(1)), (&[2, 0][..], &[1][..]));
        let row: Vec<_> = letters.words.sequence(0).row(0).iter().collect();
        assert_eq!(row, [(0, 1.0), (127, 1.0), (128, 1.0)]);
        assert_eq!(letters.words.rows.width(), PIXELS + 1);
        assert_eq!(letters.in_folds(&[0, 1]), [1]);
    }

    #[test]
    fn mistakes_name_the_line() {
        let good = text(&[("a", -1, 1, 0, &[])]);
        let out_of_place = text(&[("a", 2, 1, 0, &[]), ("b", -1, 3, 0, &[])]);
        for (bad, what) in [
            (text(&[("a", 2, 1, 0, &[]), ("b", -1, 3, 0, &[])]), "letters:2: position 3"),
            (text(&[("a", 2, 1, 0, &[]), ("b", -1, 2, 1, &[])]), "letters:2: fold 1 within"),
            (text(&[("a", 2, 1, 0, &[])]), "letters: ends within a word"),
            (good.replace("\t0\t\n", "\t2\t\n"), "letters:1: pixel 128 is `2`"),
            (good.replace("\t0\t\n", "\n"), "letters:1: 133 columns"),
            (text(&[("a", -1, 1, 12, &[])]), "letters:1: fold 12"),
            (out_of_place + "1\tb\n", "letters:2: position 3"),
            (String::new(), "letters: has no letters"),
        ] {
            let message = read_text(&bad).unwrap_err().to_string();
            assert!(message.starts_with(what), "{message} is not {what}");
        }
    }
}
