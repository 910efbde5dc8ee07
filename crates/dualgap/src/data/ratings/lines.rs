//! The cells of a line, for any separator.

use crate::data::source::Complaint;
use std::borrow::Cow;

/// The lines of a file, whose first one decides the separator.
#[derive(Default)]
pub struct Lines {
    separator: Option<Separator>,
    /// The number of lines that are not blank.
    pub count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Colons,
    Tab,
    Comma,
    Blanks,
}

impl Lines {
    /// Returns up to three cells of a line; none for a blank line.
    pub fn cells<'l>(&mut self, line: &'l str) -> Result<Vec<Cow<'l, str>>, Complaint> {
        if line.trim().is_empty() {
            return Ok(Vec::new());
        }
        self.count += 1;
        let separator = *self.separator.get_or_insert_with(|| Separator::of(line));
        let plain = |cell: &'l str| Cow::Borrowed(cell.trim());
        Ok(match separator {
            Separator::Colons => line.split("::").take(3).map(plain).collect(),
            Separator::Blanks => line.split_whitespace().take(3).map(plain).collect(),
            Separator::Tab | Separator::Comma => {
                let mark = if separator == Separator::Tab { '\t' } else { ',' };
                if line.contains('"') {
                    return quoted(line, mark);
                }
                line.split(mark).take(3).map(plain).collect()
            }
        })
    }
}

impl Separator {
    fn of(line: &str) -> Self {
        if line.contains("::") {
            Self::Colons
        } else if line.contains('\t') {
            Self::Tab
        } else if line.contains(',') {
            Self::Comma
        } else {
            Self::Blanks
        }
    }
}

/// Returns up to three cells, some of them in double quotes; a double quote inside is written twice.
fn quoted(line: &str, mark: char) -> Result<Vec<Cow<'_, str>>, Complaint> {
    let mut cells = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest.filter(|_| cells.len() < 3) {
        let Some(mut inner) = text.trim_start_matches(' ').strip_prefix('"') else {
            let (cell, after) = text.split_once(mark).map_or((text, None), |(a, b)| (a, Some(b)));
            cells.push(Cow::Borrowed(cell.trim()));
            rest = after;
            continue;
        };
        let mut cell = String::new();
        loop {
            let Some((part, after)) = inner.split_once('"') else {
                let remedy = "close it on the same line; one that is meant is written twice";
                return Err(("a double quote is opened and not closed".into(), remedy));
            };
            cell.push_str(part);
            if let Some(after) = after.strip_prefix('"') {
                cell.push('"');
                inner = after;
            } else {
                inner = after;
                break;
            }
        }
        cells.push(Cow::Owned(cell.trim().to_string()));
        let (behind, after) = inner.split_once(mark).map_or((inner, None), |(a, b)| (a, Some(b)));
        if !behind.trim().is_empty() {
            let remedy = "a cell in double quotes ends with them";
            return Err(("something follows a double quote that was closed".into(), remedy));
        }
        rest = after;
    }
    Ok(cells)
}
