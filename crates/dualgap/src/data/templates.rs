//! Feature templates in the format of CRF++: one per line, with macros for cells near the current token.
//!
//! ```text
//! # a comment
//! U00:%x[-1,0]            the first column of the token before
//! U01:%x[-1,0]/%x[0,0]    two cells together
//! U02:%suffix3[0,0]       a function of a cell
//! U03:                    no macro: a constant, which gives every label a bias
//! B                       weights for pairs of neighbouring labels (a chain always has them)
//! B01:%x[0,1]             weights for pairs of labels that depend on a cell
//! ```
//!
//! A feature is the template's text with its macros replaced, so a name before the colon distinguishes the features
//! of two templates. The functions are `x` (the cell as it is), `lower`, `shape` (`Xx0-` for `Ab12-`, runs
//! shortened), `prefixN` and `suffixN` (the first or last N characters; an empty text if the cell is shorter, so that a
//! template of nothing else makes one feature of all short cells).
//! [`Templates::lowercased`] makes all of them except `shape` see their cells in lower case.

use super::Lookup;
use super::columns::Sentence;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The function that a macro applies to its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Same,
    Shape,
    Prefix(usize),
    Suffix(usize),
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Cell(Cell),
}

/// A macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    function: Function,
    /// Whether the function sees the cell in lower case.
    lower: bool,
    offset: isize,
    column: usize,
}

/// The text in place of a token outside the sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pad {
    /// `_B-1`, `_B-2`, `_B+1` …, as in CRF++.
    #[default]
    ByDistance,
    /// The same mark on either side, at any distance.
    One,
}

/// Templates, ready to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templates {
    unigrams: Vec<Vec<Piece>>,
    /// The templates with macros; the plain `B` is not stored, because a chain always has it.
    bigrams: Vec<Vec<Piece>>,
}

impl Templates {
    /// Parses templates; an error has the number of the line, counted from one.
    pub fn parse(text: &str) -> Result<Self, (u64, String)> {
        let mut templates = Self { unigrams: Vec::new(), bigrams: Vec::new() };
        for (k, line) in text.lines().enumerate() {
            let line = line.trim();
            let complain = |message: String| (k as u64 + 1, message);
            match line.chars().next() {
                None | Some('#') => {}
                Some(kind @ ('U' | 'B')) => {
                    let pieces =
                        parse_template(line).map_err(|error| complain(error.to_string()))?;
                    if kind == 'U' {
                        templates.unigrams.push(pieces);
                    } else if pieces.iter().any(|piece| matches!(piece, Piece::Cell(_))) {
                        templates.bigrams.push(pieces);
                    } else if line.contains(char::is_whitespace) {
                        return Err(complain(format!("`{line}`: is this meant as a template?")));
                    }
                }
                Some(_) => {
                    return Err(complain(format!(
                        "`{line}`: a template begins with U, B or # for a comment"
                    )));
                }
            }
        }
        if templates.unigrams.is_empty() {
            return Err((1, "there is no template that begins with U".into()));
        }
        Ok(templates)
    }

    /// Returns the templates with other columns.
    #[must_use]
    pub fn moved(mut self, place: impl Fn(usize) -> usize) -> Self {
        self.for_each_cell(|cell| cell.column = place(cell.column));
        self
    }

    /// Returns the templates with every cell in lower case, except those of `shape`.
    #[must_use]
    pub fn lowercased(mut self) -> Self {
        self.for_each_cell(|cell| cell.lower |= cell.function != Function::Shape);
        self
    }

    fn for_each_cell(&mut self, change: impl Fn(&mut Cell)) {
        for piece in self.unigrams.iter_mut().chain(&mut self.bigrams).flatten() {
            if let Piece::Cell(cell) = piece {
                change(cell);
            }
        }
    }

    /// Returns the number of templates for features of a label.
    pub fn len(&self) -> usize {
        self.unigrams.len()
    }

    /// Returns the number of templates for features of a label pair.
    pub fn pairs(&self) -> usize {
        self.bigrams.len()
    }

    /// Returns the largest column of a macro plus one.
    pub fn columns(&self) -> usize {
        let cells = self.unigrams.iter().chain(&self.bigrams).flatten();
        let column = |piece: &Piece| match piece {
            Piece::Cell(cell) => cell.column + 1,
            Piece::Text(_) => 0,
        };
        cells.map(column).max().unwrap_or(0)
    }

    /// Calls `visit` with every feature of a token; `feature` is a workspace.
    pub fn features(
        &self,
        sentence: &Sentence,
        token: usize,
        pad: Pad,
        feature: &mut String,
        visit: impl FnMut(&str),
    ) {
        fill_in(&self.unigrams, sentence, token, pad, feature, visit);
    }

    /// Adds every feature of a token to the names that are looked up.
    pub(super) fn look_up(&self, sentence: &Sentence, token: usize, pad: Pad, names: &mut Lookup) {
        for pieces in &self.unigrams {
            names.push(|feature| write_feature(pieces, sentence, token, pad, feature));
        }
    }

    /// Calls `visit` with every feature of the pair of a token and the one before.
    pub fn pair_features(
        &self,
        sentence: &Sentence,
        token: usize,
        pad: Pad,
        feature: &mut String,
        visit: impl FnMut(&str),
    ) {
        fill_in(&self.bigrams, sentence, token, pad, feature, visit);
    }
}

fn fill_in(
    templates: &[Vec<Piece>],
    sentence: &Sentence,
    token: usize,
    pad: Pad,
    feature: &mut String,
    mut visit: impl FnMut(&str),
) {
    for pieces in templates {
        feature.clear();
        write_feature(pieces, sentence, token, pad, feature);
        visit(feature);
    }
}

fn write_feature(pieces: &[Piece], sentence: &Sentence, token: usize, pad: Pad, out: &mut String) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Cell(cell) => expand(sentence, token, *cell, pad, out),
        }
    }
}

fn expand(sentence: &Sentence, token: usize, cell: Cell, pad: Pad, out: &mut String) {
    let Cell { function, lower, offset, column } = cell;
    let Some(at) = token.checked_add_signed(offset).filter(|&at| at < sentence.len()) else {
        // Writing to a string cannot fail.
        let _ = match (pad, token.checked_add_signed(offset)) {
            (Pad::One, _) => out.write_str("_PAD"),
            (Pad::ByDistance, None) => write!(out, "_B-{}", offset.unsigned_abs() - token),
            (Pad::ByDistance, Some(at)) => write!(out, "_B+{}", at - sentence.len() + 1),
        };
        return;
    };
    let cell = sentence.cell(at, column);
    match function {
        Function::Same if lower => out.extend(cell.chars().flat_map(char::to_lowercase)),
        Function::Same => out.push_str(cell),
        _ if lower => apply(function, &cell.to_lowercase(), out),
        _ => apply(function, cell, out),
    }
}

fn apply(function: Function, cell: &str, out: &mut String) {
    match function {
        Function::Same => out.push_str(cell),
        Function::Shape => shape(cell, out),
        Function::Prefix(n) => {
            if let Some((end, c)) = cell.char_indices().nth(n - 1) {
                out.push_str(&cell[..end + c.len_utf8()]);
            }
        }
        Function::Suffix(n) => {
            if let Some((start, _)) = cell.char_indices().rev().nth(n - 1) {
                out.push_str(&cell[start..]);
            }
        }
    }
}

/// Writes X for upper case, x for lower case, 0 for digits, and other characters as they are; a run of equal
/// characters is written at most twice.
fn shape(cell: &str, out: &mut String) {
    let mut last = ['\0'; 2];
    for c in cell.chars() {
        let kind = match c {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => '0',
            c => c,
        };
        if last != [kind; 2] {
            out.push(kind);
        }
        last = [last[1], kind];
    }
}

/// What is wrong with a template.
#[derive(Debug, thiserror::Error)]
enum Broken<'l> {
    #[error("`{0}`: a macro is written %x[row,column]")]
    Open(&'l str),
    #[error(
        "`{0}]`: a macro is written %x[row,column], with x, lower, shape, prefixN or suffixN as its name and whole numbers \
         in the brackets"
    )]
    Macro(&'l str),
}

fn parse_template(line: &str) -> Result<Vec<Piece>, Broken<'_>> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('%') {
        if start > 0 {
            pieces.push(Piece::Text(rest[..start].into()));
        }
        let (call, after) = rest[start..].split_once(']').ok_or(Broken::Open(line))?;
        pieces.push(parse_macro(call).ok_or(Broken::Macro(call))?);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.into()));
    }
    Ok(pieces)
}

/// Parses `%name[row,column`, without the closing bracket.
fn parse_macro(call: &str) -> Option<Piece> {
    let (name, place) = call.strip_prefix('%')?.split_once('[')?;
    let (offset, column) = place.split_once(',')?;
    let count = |name: &str, prefix: &str| -> Option<usize> {
        name.strip_prefix(prefix)?.parse().ok().filter(|&n: &usize| n > 0)
    };
    let function = match name {
        "x" | "lower" => Function::Same,
        "shape" => Function::Shape,
        name => count(name, "prefix")
            .map(Function::Prefix)
            .or_else(|| count(name, "suffix").map(Function::Suffix))?,
    };
    let offset: i32 = offset.trim().parse().ok()?;
    let column: u16 = column.trim().parse().ok()?;
    let lower = name == "lower";
    Some(Piece::Cell(Cell { function, lower, offset: offset as isize, column: column.into() }))
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::columns::ColumnReader;
    use super::*;

    fn sentence() -> Sentence {
        let text = "Über-2019 NN\nruns VBZ\n".as_bytes();
        let mut reader = ColumnReader::new(Source::from_bytes("t", text).unwrap());
        reader.next_sentence().unwrap().unwrap()
    }

    fn features(templates: &str, pad: Pad, token: usize) -> Vec<String> {
        features_of(&Templates::parse(templates).unwrap(), pad, token)
    }

    fn features_of(templates: &Templates, pad: Pad, token: usize) -> Vec<String> {
        let sentence = sentence();
        let mut all = Vec::new();
        templates.features(&sentence, token, pad, &mut String::new(), |f| all.push(f.into()));
        all
    }

    #[test]
    fn macros_are_replaced_by_cells_and_functions_of_them() {
        let templates = "# words\nU0:%x[0,0]/%x[1,1]\n\nU1:%lower[0,0]\nU2:%shape[0,0]\n\
                         U3:%prefix2[0,0]\nU4:%suffix3[0,0]\nU5:%suffix30[0,0]|\nU6:\nB\n";
        assert_eq!(
            features(templates, Pad::ByDistance, 0),
            ["U0:Über-2019/VBZ", "U1:über-2019", "U2:Xxx-00", "U3:Üb", "U4:019", "U5:|", "U6:"]
        );
    }

    #[test]
    fn in_lower_case_everything_but_the_shape_is() {
        let templates = "U0:%x[0,0]\nU1:%shape[0,0]\nU2:%prefix2[0,0]\nU3:%suffix3[0,1]";
        let templates = Templates::parse(templates).unwrap().lowercased();
        assert_eq!(
            features_of(&templates, Pad::One, 0),
            ["U0:über-2019", "U1:Xxx-00", "U2:üb", "U3:"]
        );
    }

    #[test]
    fn pairs_have_templates_of_their_own() {
        let templates = Templates::parse("U:\nB\nB0:%x[-1,1]/%x[0,1]\nB1:\n").unwrap();
        assert_eq!((templates.len(), templates.pairs(), templates.columns()), (1, 1, 2));
        let mut all = Vec::new();
        templates.pair_features(&sentence(), 1, Pad::One, &mut String::new(), |f| {
            all.push(f.to_string());
        });
        assert_eq!(all, ["B0:NN/VBZ"]);
    }

    #[test]
    fn tokens_outside_the_sentence_are_padded() {
        let templates = "U0:%x[-2,0]\nU1:%x[1,0]\nU2:%x[2,1]";
        assert_eq!(features(templates, Pad::ByDistance, 1), ["U0:_B-1", "U1:_B+1", "U2:_B+2"]);
        assert_eq!(features(templates, Pad::One, 1), ["U0:_PAD", "U1:_PAD", "U2:_PAD"]);
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, line) in [
            ("U0:%x[0,0]\nU1:%x[0]", 2),
            ("U0:%x[0,0", 1),
            ("U0:%prefix0[0,0]", 1),
            ("U0:%upper[0,0]", 1),
            ("U0:%x[a,0]", 1),
            ("U0:%x[0,-1]", 1),
            ("\nX0:%x[0,0]", 2),
            ("U0:%x[0,0]\nB0:%x[0]", 2),
            ("B", 1),
            ("U0:%x[0,0]\nBad template", 2),
        ] {
            assert_eq!(Templates::parse(text).unwrap_err().0, line, "{text}");
        }
    }

    #[test]
    fn a_template_without_its_brackets_is_named_by_its_line() {
        assert_eq!(Templates::parse("U0:%x[0,0]\nB\n").unwrap().len(), 1);
        assert_eq!(Templates::parse("U0:%y[0,0]").unwrap_err().0, 1);
    }
}
