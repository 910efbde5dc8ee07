//! The features of an edge between a word and one of its translation's.
//!
//! Numbers that matter appear as they are and as steps (`> 0.3`), so that a linear score can follow any curve of them.
//! All are between −1 and 1, so that no feature is cheaper than another under the penalty of the weights.

use super::hmm::{chain, independent};
use super::lexicon::{Lexicon, Told};
use super::spelling::{
    SHORTEST_COGNATE, View, common_prefix, common_subsequence, common_suffix, has_digit,
    is_punctuation, letters,
};
use crate::data::matchings::SideWords;
use std::fmt::Arguments;

/// Smaller values are left out: scores hardly depend on them, and most edges have few others, so rows stay short.
const SMALLEST: f64 = 1e-3;

/// Where steps of posteriors are.
const POSTERIOR_STEPS: [f64; 6] = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9];

/// Where steps of Dice coefficients are.
const DICE_STEPS: [f64; 4] = [0.05, 0.1, 0.2, 0.4];

/// Where steps of the common part of two words are.
const SPELLING_STEPS: [f64; 3] = [0.4, 0.6, 0.8];

/// The value of a step. It is less than one because of several steps of the same number most are passed together.
const STEP: f64 = 0.5;

/// Common letters at either end of two words, of which more do not count, and differences of their lengths.
const LETTERS: f64 = 6.0;
const LENGTHS: f64 = 10.0;

/// Words are frequent from this share of the text on, and common from the second on.
const FREQUENT: f64 = 0.01;
const COMMON: f64 = 0.001;

/// A word that occurs less often than this is rare: what is known about it is chance.
const RARE: f64 = 5.0;

/// Collects the features of an edge, or their names: both come from one list of calls, in the same order.
pub(super) struct Entries<'n> {
    row: Vec<(u32, f64)>,
    next: u32,
    names: Option<&'n mut Vec<String>>,
}

impl<'n> Entries<'n> {
    pub(super) fn new(names: Option<&'n mut Vec<String>>) -> Self {
        Self { row: Vec::new(), next: 0, names }
    }

    fn begin(&mut self) {
        self.row.clear();
        self.next = 0;
    }

    fn put(&mut self, name: Arguments<'_>, value: f64) {
        if let Some(names) = &mut self.names {
            names.push(name.to_string());
        }
        if value.abs() >= SMALLEST {
            self.row.push((self.next, value));
        }
        self.next += 1;
    }

    fn put_if(&mut self, name: Arguments<'_>, is: bool) {
        self.put(name, if is { STEP } else { 0.0 });
    }

    fn put_steps(&mut self, name: &str, value: f64, steps: &[f64]) {
        for step in steps {
            self.put_if(format_args!("{name}>{step}"), value > *step);
        }
    }
}

/// The largest of the other numbers in the row and in the column of each place of a table.
struct Rivals {
    /// The largest and the second largest number of each row, and of each column.
    rows: Vec<[f64; 2]>,
    columns: Vec<[f64; 2]>,
}

impl Rivals {
    fn of(values: &[f64], rows: usize, columns: usize) -> Self {
        let mut all = Self { rows: vec![[0.0; 2]; rows], columns: vec![[0.0; 2]; columns] };
        for (k, &value) in values.iter().enumerate() {
            for [first, second] in [&mut all.rows[k / columns], &mut all.columns[k % columns]] {
                if value > *first {
                    (*first, *second) = (value, *first);
                } else if value > *second {
                    *second = value;
                }
            }
        }
        all
    }

    /// How much larger a value is than its rivals in the row and in the column; negative if it is smaller.
    fn leads(&self, row: usize, column: usize, value: f64) -> [f64; 2] {
        [self.rows[row], self.columns[column]]
            .map(|[first, second]| value - if value >= first { second } else { first })
    }
}

/// What one view tells about a pair of sentences; tables row by row.
struct Seen {
    /// The posteriors from e to f, and from f to e, and the geometric mean of both.
    to_f: Vec<f64>,
    to_e: Vec<f64>,
    both: Vec<f64>,
    unlinked: [Vec<f64>; 2],
    told: Told,
}

impl Seen {
    fn new(lexicon: &Lexicon, view: View, words: &SideWords) -> Self {
        let told = lexicon.tell(words, view);
        let to_f = chain(&lexicon.jumps[0], &told.emissions[0], None);
        let to_e = chain(&lexicon.jumps[1], &told.emissions[1], None);
        let turned = turned(&to_f.links, words);
        let both = geometric(&turned, &to_e.links);
        let unlinked = [to_e.unlinked, to_f.unlinked];
        Self { to_f: turned, to_e: to_e.links, both, unlinked, told }
    }
}

/// Returns row by row what is given column by column.
fn turned(values: &[f64], [e, f]: &SideWords) -> Vec<f64> {
    (0..e.len()).flat_map(|i| (0..f.len()).map(move |j| values[j * e.len() + i])).collect()
}

fn geometric(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (a * b).sqrt()).collect()
}

/// A word as features look at it.
struct Word {
    letters: Vec<char>,
    is_punctuation: bool,
    has_digit: bool,
    count: f64,
    class: usize,
}

const CLASSES: [&str; 5] = ["punctuation", "frequent", "common", "known", "rare"];

impl Word {
    fn new(word: &str, count: f64, tokens: f64) -> Self {
        let is_punctuation = is_punctuation(word);
        let class = if is_punctuation {
            0
        } else if count < RARE {
            4
        } else if count >= FREQUENT * tokens {
            1
        } else if count >= COMMON * tokens {
            2
        } else {
            3
        };
        let has_digit = has_digit(word);
        Self { letters: letters(word), is_punctuation, has_digit, count, class }
    }
}

/// Everything about a pair of sentences that the features of its edges are made of.
pub(super) struct Evidence {
    words: [Vec<Word>; 2],
    views: [Seen; 2],
    /// Model 1 in both directions, on words.
    model1: Vec<f64>,
    /// The mean of both views: the best guess before anything is learned from links.
    mean: Vec<f64>,
    rivals: [Rivals; 2],
}

impl Evidence {
    pub(super) fn new(words: &SideWords, of_words: &Lexicon, of_prefixes: &Lexicon) -> Self {
        let views = [
            Seen::new(of_words, View::Words, words),
            Seen::new(of_prefixes, View::Prefixes, words),
        ];
        let told = &views[0].told;
        let [to_f, to_e] = [&told.emissions[0], &told.emissions[1]].map(independent);
        let model1 = geometric(&turned(&to_f.links, words), &to_e.links);
        let mean: Vec<f64> =
            views[0].both.iter().zip(&views[1].both).map(|(a, b)| (a + b) / 2.0).collect();
        let rivals = [&mean, &told.dice].map(|of| Rivals::of(of, words[0].len(), words[1].len()));
        let looked_at = |side: usize, tokens: f64| {
            let counts = &told.counts[side];
            words[side].iter().zip(counts).map(|(word, &n)| Word::new(word, n, tokens)).collect()
        };
        let words = [looked_at(0, of_words.e.tokens), looked_at(1, of_words.f.tokens)];
        Self { words, views, model1, mean, rivals }
    }

    /// Returns the features of an edge, by ascending number.
    pub(super) fn edge<'r>(
        &self,
        row: usize,
        column: usize,
        entries: &'r mut Entries<'_>,
    ) -> &'r [(u32, f64)] {
        entries.begin();
        entries.put(format_args!("constant"), 1.0);
        let distance = self.places(row, column, entries);
        self.posteriors(row, column, entries);
        self.neighbours(row, column, entries);
        self.spelling(row, column, distance, entries);
        self.frequencies(row, column, entries);
        &entries.row
    }

    fn at(&self, row: usize, column: usize) -> usize {
        row * self.words[1].len() + column
    }

    fn places(&self, row: usize, column: usize, entries: &mut Entries<'_>) -> f64 {
        let place = |i: usize, side: &[Word]| (i as f64 + 0.5) / side.len() as f64;
        let distance = (place(row, &self.words[0]) - place(column, &self.words[1])).abs();
        entries.put(format_args!("distance"), distance);
        entries.put(format_args!("distance²"), distance * distance);
        entries.put(format_args!("√distance"), distance.sqrt());
        distance
    }

    fn posteriors(&self, row: usize, column: usize, entries: &mut Entries<'_>) {
        let at = self.at(row, column);
        for (seen, view) in self.views.iter().zip(["word", "prefix"]) {
            entries.put(format_args!("{view}:dice"), seen.told.dice[at]);
            entries.put(format_args!("{view}:e→f"), seen.to_f[at]);
            entries.put(format_args!("{view}:f→e"), seen.to_e[at]);
            entries.put(format_args!("{view}:both"), seen.both[at]);
            let name = if view == "word" { "word:both" } else { "prefix:both" };
            entries.put_steps(name, seen.both[at], &POSTERIOR_STEPS);
            entries.put(format_args!("{view}:e unlinked"), seen.unlinked[0][row]);
            entries.put(format_args!("{view}:f unlinked"), seen.unlinked[1][column]);
        }
        let [words, prefixes] = &self.views;
        entries.put_steps("word:dice", words.told.dice[at], &DICE_STEPS);
        entries.put(format_args!("word×prefix"), (words.both[at] * prefixes.both[at]).sqrt());
        entries.put(format_args!("model 1"), self.model1[at]);
        let rivals = self.rivals.iter().zip([(&self.mean, "both"), (&words.told.dice, "dice")]);
        for (rivals, (values, name)) in rivals {
            let value = values[at];
            let [in_row, in_column] = rivals.leads(row, column, value);
            entries.put(format_args!("{name}:lead in row"), in_row);
            entries.put(format_args!("{name}:lead in column"), in_column);
            let [first, also] = [in_row, in_column].map(|lead| value > 0.0 && lead >= 0.0);
            entries.put_if(format_args!("{name}:best in row"), first);
            entries.put_if(format_args!("{name}:best in column"), also);
            entries.put_if(format_args!("{name}:best in both"), first && also);
        }
    }

    /// The guess about the edges around. Before the first words, and after the last, sentences are linked.
    fn neighbours(&self, row: usize, column: usize, entries: &mut Entries<'_>) {
        let (rows, columns) = (self.words[0].len(), self.words[1].len());
        // Of the places above, at and below the row, and left of, at and right of the column: 0, 1, 2.
        let guess = |down: usize, right: usize| {
            let (below, beyond) = (row + down, column + right);
            if (1..=rows).contains(&below) && (1..=columns).contains(&beyond) {
                self.mean[(below - 1) * columns + beyond - 1]
            } else if (below, beyond) == (0, 0) || (below, beyond) == (rows + 1, columns + 1) {
                1.0
            } else {
                0.0
            }
        };
        let (before, after) = (guess(0, 0), guess(2, 2));
        entries.put(format_args!("before"), before);
        entries.put(format_args!("after"), after);
        entries.put(format_args!("before×after"), before * after);
        entries.put(format_args!("crossing"), guess(0, 2).max(guess(2, 0)));
        entries.put(format_args!("beside in row"), guess(1, 0).max(guess(1, 2)));
        entries.put(format_args!("beside in column"), guess(0, 1).max(guess(2, 1)));
    }

    fn spelling(&self, row: usize, column: usize, distance: f64, entries: &mut Entries<'_>) {
        let (e, f) = (&self.words[0][row], &self.words[1][column]);
        let same = e.letters == f.letters;
        let one = |is: bool| if is { 1.0 } else { 0.0 };
        let plain = !e.is_punctuation && !e.has_digit;
        entries.put(format_args!("same punctuation"), one(same && e.is_punctuation));
        entries.put(format_args!("same number"), one(same && e.has_digit));
        entries.put(format_args!("same word"), one(same && plain));
        entries.put(format_args!("same×distance"), one(same) * distance);
        entries.put(format_args!("one is punctuation"), one(e.is_punctuation != f.is_punctuation));
        entries.put(format_args!("one is a number"), one(e.has_digit != f.has_digit));
        let (a, b) = (&e.letters, &f.letters);
        let comparable =
            plain && !f.is_punctuation && !f.has_digit && a.len().min(b.len()) >= SHORTEST_COGNATE;
        let (mut common, mut prefix, mut suffix) = (0.0, 0.0, 0.0);
        if comparable {
            common = common_subsequence(a, b) as f64 / a.len().max(b.len()) as f64;
            prefix = common_prefix(a, b) as f64;
            suffix = common_suffix(a, b) as f64;
        }
        entries.put(format_args!("common letters"), common);
        entries.put_steps("common letters", common, &SPELLING_STEPS);
        entries.put(format_args!("common prefix"), prefix.min(LETTERS) / LETTERS);
        entries.put_if(format_args!("common prefix≥3"), prefix >= 3.0);
        entries.put_if(format_args!("common prefix≥4"), prefix >= 4.0);
        entries.put(format_args!("common suffix"), suffix.min(LETTERS) / LETTERS);
        let lengths = a.len().abs_diff(b.len()) as f64;
        entries.put(format_args!("lengths"), lengths.min(LENGTHS) / LENGTHS);
    }

    fn frequencies(&self, row: usize, column: usize, entries: &mut Entries<'_>) {
        let (e, f) = (&self.words[0][row], &self.words[1][column]);
        let most = e.count.max(f.count);
        let ratio = if most > 0.0 { e.count.min(f.count) / most } else { 0.0 };
        entries.put(format_args!("frequency ratio"), ratio);
        for (i, of_e) in CLASSES.iter().enumerate() {
            for (j, of_f) in CLASSES.iter().enumerate() {
                let name = format_args!("{of_e}:{of_f}");
                entries.put_if(name, (e.class, f.class) == (i, j));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_lead_is_the_difference_to_the_largest_rival(
            columns in 1_usize..5, values in prop::collection::vec(0_u8..5, 1..20),
        ) {
            let rows = values.len().div_ceil(columns);
            let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
            values.resize(rows * columns, 0.0);
            let rivals = Rivals::of(&values, rows, columns);
            for row in 0..rows {
                for column in 0..columns {
                    let value = values[row * columns + column];
                    let in_row = (0..columns).filter(|&j| j != column).map(|j| values[row * columns + j]);
                    let in_column = (0..rows).filter(|&i| i != row).map(|i| values[i * columns + column]);
                    let expected = [in_row.fold(0.0, f64::max), in_column.fold(0.0, f64::max)].map(|rival| value - rival);
                    prop_assert_eq!(rivals.leads(row, column, value), expected);
                }
            }
        }
    }
}
