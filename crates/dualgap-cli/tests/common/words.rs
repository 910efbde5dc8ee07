//! Small handwritten words, written in the letters format.

use super::{Dice, Table};
use std::fmt::Write;

/// The pixels of the format, and the constant feature that the reader adds.
pub const PIXELS: usize = 128;
pub const FEATURES: usize = PIXELS + 1;

/// The alphabet; few letters, so that all labelings of a word can be gone through.
pub const LETTERS: [char; 3] = ['a', 'b', 'c'];

#[derive(Clone)]
pub struct Word {
    /// Numbers of the alphabet.
    pub letters: Vec<usize>,
    /// The pixels that are on, ascending, letter by letter.
    pub pixels: Vec<Vec<usize>>,
    pub fold: usize,
}

impl Word {
    /// The rows as the reader makes them.
    pub fn row(&self, t: usize) -> Vec<(usize, f64)> {
        self.pixels[t].iter().copied().chain([PIXELS]).map(|pixel| (pixel, 1.0)).collect()
    }
}

#[derive(Clone)]
pub struct Words(pub Vec<Word>);

impl Words {
    /// One to four letters a word, folds 0 to 9 in turn; a letter tends to follow the one before it
    /// in the alphabet, and pixels say with some noise which letter it is.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let word = |i: usize| {
            let length = 1 + i % 4;
            let mut letters = vec![(i / 4) % LETTERS.len()];
            while letters.len() < length {
                let step = if dice.below(4) == 0 { 2 } else { 1 };
                letters.push((letters[letters.len() - 1] + step) % LETTERS.len());
            }
            let pixels = letters
                .iter()
                .map(|&letter| {
                    let on = |pixel: &usize| {
                        let odds = if pixel % LETTERS.len() == letter { 5 } else { 3 };
                        dice.below(10) < odds
                    };
                    (0..15).map(|k| k * 8).filter(on).collect()
                })
                .collect();
            Word { letters, pixels, fold: i % 10 }
        };
        Self((0..n).map(word).collect())
    }

    pub fn text(&self) -> String {
        let mut id = 0;
        let mut text = String::new();
        for (number, word) in self.0.iter().enumerate() {
            for (t, &letter) in word.letters.iter().enumerate() {
                id += 1;
                let next = if t + 1 == word.letters.len() { -1 } else { id + 1 };
                let pixels: String = (0..PIXELS)
                    .map(|pixel| if word.pixels[t].contains(&pixel) { "\t1" } else { "\t0" })
                    .collect();
                let (letter, position, fold) = (LETTERS[letter], t + 1, word.fold);
                let columns = format!("{id}\t{letter}\t{next}\t{number}\t{position}\t{fold}");
                let _ = writeln!(text, "{columns}{pixels}");
            }
        }
        text
    }

    pub fn in_folds(&self, folds: &[usize]) -> Self {
        Self(self.0.iter().filter(|word| folds.contains(&word.fold)).cloned().collect())
    }

    /// Every letter as an example of its own.
    pub fn apart(&self) -> Table {
        let places =
            || self.0.iter().flat_map(|word| (0..word.letters.len()).map(move |t| (word, t)));
        let row = |(word, t): (&Word, usize)| {
            let mut row = vec![0.0; FEATURES];
            word.row(t).into_iter().for_each(|(j, x)| row[j] = x);
            row
        };
        Table {
            rows: places().map(row).collect(),
            labels: places().map(|(word, t)| word.letters[t]).collect(),
            classes: LETTERS.len(),
        }
    }
}

/// All labelings of a length.
pub fn labelings(length: usize) -> impl Iterator<Item = Vec<usize>> {
    let k = LETTERS.len();
    (0..k.pow(length as u32)).map(move |mut code| {
        let digits = (0..length).map(|_| {
            let digit = code % k;
            code /= k;
            digit
        });
        digits.collect()
    })
}

/// Where the weights of a chain lie: emissions `[feature][label]`, start, end, transitions.
pub mod layout {
    use super::{FEATURES, LETTERS};

    const K: usize = LETTERS.len();
    pub const DIM: usize = FEATURES * K + 2 * K + K * K;

    pub fn emission(feature: usize, label: usize) -> usize {
        feature * K + label
    }

    pub fn start(label: usize) -> usize {
        FEATURES * K + label
    }

    pub fn end(label: usize) -> usize {
        FEATURES * K + K + label
    }

    pub fn transition(from: usize, to: usize) -> usize {
        FEATURES * K + 2 * K + from * K + to
    }
}
