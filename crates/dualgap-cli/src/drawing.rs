//! A matching as a picture: a grid of rows and columns with the links that are true and those that are predicted, as text
//! and as SVG.

use dualgap::data::Mark;
use std::fmt::Write;

/// An edge that is a link, is predicted to be one, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub row: usize,
    pub column: usize,
    pub mark: Mark,
    pub predicted: bool,
}

/// The links between named rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    pub rows: &'a [String],
    pub columns: &'a [String],
    pub links: &'a [Link],
}

/// The side of a cell of the SVG, and the size of its letters, in pixels.
const CELL: usize = 22;
const LETTERS: usize = 13;

/// About how much room a letter takes: words are never wider than that, whatever the font.
const LETTER_WIDTH: usize = 9;

impl Link {
    fn symbol(self) -> char {
        match (self.predicted, self.mark) {
            (true, Mark::Sure) => '●',
            (true, Mark::Possible) => '◐',
            (true, Mark::None) => '✗',
            (false, Mark::Sure) => '○',
            (false, Mark::Possible) => '◌',
            (false, Mark::None) => '·',
        }
    }

    fn draw(self, (left, top): (usize, usize), svg: &mut String) {
        let (x, y) = (left + self.column * CELL, top + self.row * CELL);
        let fill = match self.mark {
            Mark::Sure => Some("#333"),
            Mark::Possible => Some("#bbb"),
            Mark::None => None,
        };
        if let Some(fill) = fill {
            let side = CELL / 2;
            let (x, y) = (x + CELL / 4, y + CELL / 4);
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\"/>"
            );
        }
        if self.predicted {
            let colour = if self.mark == Mark::None { "#c22" } else { "#27c" };
            let _ = writeln!(
                svg,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                x + CELL / 2,
                y + CELL / 2,
                CELL / 2 - 2
            );
        }
    }
}

impl Drawing<'_> {
    /// Returns the grid as text. The names of the columns are above it, each on a line of its own.
    pub fn text(&self, labelled: bool) -> String {
        let width = self.rows.iter().map(|name| plain(name).chars().count()).max().unwrap_or(0);
        let mut cells = vec![vec!['·'; self.columns.len()]; self.rows.len()];
        for link in self.links {
            // Where nothing is known, a prediction is neither right nor wrong.
            cells[link.row][link.column] = if labelled { link.symbol() } else { '●' };
        }
        let mut text = String::new();
        for (column, name) in self.columns.iter().enumerate() {
            let _ = writeln!(text, "  {:width$}  {}{}", "", "│ ".repeat(column), plain(name));
        }
        for (name, row) in self.rows.iter().zip(&cells) {
            let (name, row) = (plain(name), row.iter().map(char::to_string).collect::<Vec<_>>());
            let pad = " ".repeat(width - name.chars().count());
            let _ = writeln!(text, "  {name}{pad}  {}", row.join(" "));
        }
        text += if labelled {
            "\n  ● sure link found   ◐ possible link found   ✗ wrong link   ○ sure link missed   ◌ possible link left out\n"
        } else {
            "\n  ● link\n"
        };
        text
    }

    /// Returns the grid as an SVG file: black squares are sure links, grey ones possible links, and rings predictions.
    pub fn svg(&self) -> String {
        let longest = |names: &[String]| {
            names.iter().map(|name| name.chars().count()).max().unwrap_or(0) * LETTER_WIDTH + CELL
        };
        let (left, top) = (longest(self.rows), longest(self.columns));
        let (across, down) = (CELL * self.columns.len(), CELL * self.rows.len());
        let (width, height) = (left + across + CELL, top + down + CELL);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"{LETTERS}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        for k in 0..=self.columns.len() {
            let x = left + k * CELL;
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" y1=\"{top}\" x2=\"{x}\" y2=\"{}\" stroke=\"#ddd\"/>",
                top + down
            );
        }
        for k in 0..=self.rows.len() {
            let y = top + k * CELL;
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#ddd\"/>",
                left + across
            );
        }
        for (k, name) in self.rows.iter().enumerate() {
            let y = top + k * CELL + CELL / 2 + LETTERS / 3;
            let x = left - CELL / 4;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
                escaped(name)
            );
        }
        for (k, name) in self.columns.iter().enumerate() {
            let (x, y) = (left + k * CELL + CELL / 2 + LETTERS / 3, top - CELL / 4);
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\">{}</text>",
                escaped(name)
            );
        }
        for link in self.links {
            link.draw((left, top), &mut svg);
        }
        svg + "</svg>\n"
    }
}

/// Whether a letter may be shown: controls would move a terminal's cursor, and XML has no way to write them.
fn is_shown(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}')
}

fn plain(name: &str) -> String {
    name.chars().map(|letter| if is_shown(letter) { letter } else { '\u{fffd}' }).collect()
}

pub fn escaped(name: &str) -> String {
    let mut text = String::new();
    for letter in plain(name).chars() {
        match letter {
            '&' => text += "&amp;",
            '<' => text += "&lt;",
            '>' => text += "&gt;",
            '"' => text += "&quot;",
            '\'' => text += "&#39;",
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn every_link_is_at_its_place() {
        let (rows, columns) = (names(&["the", "House"]), names(&["la", "Chambre", "."]));
        let link = |row, column, mark, predicted| Link { row, column, mark, predicted };
        let links = [
            link(0, 0, Mark::Sure, true),
            link(0, 1, Mark::Possible, false),
            link(1, 1, Mark::Sure, false),
            link(1, 2, Mark::None, true),
        ];
        let drawing = Drawing { rows: &rows, columns: &columns, links: &links };
        let text = drawing.text(true);
        let lines: Vec<&str> = text.lines().collect();
        let expected = [
            "         la",
            "         │ Chambre",
            "         │ │ .",
            "  the    ● ◌ ·",
            "  House  · ○ ✗",
        ];
        assert_eq!(lines[..5], expected);
        assert!(drawing.text(false).contains("  the    ● ● ·"));
        let svg = drawing.svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("fill=\"#333\"").count(), 2);
        assert_eq!(svg.matches("fill=\"#bbb\"").count(), 1);
    }

    #[test]
    fn words_cannot_break_out_of_the_drawing() {
        let (rows, columns) = (names(&["</text><script>&\"'", "\u{1b}[2J"]), names(&["\u{0}"]));
        let drawing = Drawing { rows: &rows, columns: &columns, links: &[] };
        let svg = drawing.svg();
        assert!(svg.contains("&lt;/text&gt;&lt;script&gt;&amp;&quot;&#39;"));
        let controls =
            |text: &str| text.chars().any(|letter| letter.is_control() && letter != '\n');
        assert!(!controls(&svg) && !controls(&drawing.text(true)));
        let empty = Drawing { rows: &[], columns: &[], links: &[] };
        assert!(empty.svg().ends_with("</svg>\n") && !empty.text(true).is_empty());
    }
}
