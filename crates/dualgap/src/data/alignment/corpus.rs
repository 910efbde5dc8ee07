//! Text in numbers: the words of a view, the pairs of them that occur together, and how often.

use super::spelling::View;
use super::{Bitext, spelling};
use crate::data::Dictionary;
use crate::linalg::memory::reserve_check;
use crate::{Error, Result};
use rustc_hash::FxHashMap;

/// Longer sentences are left out of what tables are learned from: they are rare, often misaligned as sentences, and the
/// work for a pair grows with the third power of its length.
const LONGEST: usize = 100;

/// The numbers that a cell of a sentence pair takes at most while tables are learned: its own, its posterior, and, if no
/// other cell has the same words, the pair's key, counts and probabilities in both directions.
const NUMBERS_PER_CELL: usize = 12;

/// The text of one view.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    pub e: Words,
    pub f: Words,
    pub sentences: Vec<Sentence>,
    /// The words of every pair that occurs together, in order of first occurrence.
    pub pairs: Vec<(u32, u32)>,
    /// How often they do: in a sentence as often as the rarer of the two occurs there.
    pub together: Vec<f64>,
}

/// The words of one side, and how often each occurs.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub names: Dictionary,
    pub counts: Vec<f64>,
}

/// A pair of sentences.
#[derive(Debug)]
pub(super) struct Sentence {
    pub e: Vec<u32>,
    pub f: Vec<u32>,
    /// The number of every pair of their words, row by row.
    pub cells: Vec<u32>,
}

impl Words {
    /// Counts a word and returns its number.
    fn count(&mut self, word: &str) -> u32 {
        let number = self.names.number(word);
        if number as usize == self.counts.len() {
            self.counts.push(0.0);
        }
        self.counts[number as usize] += 1.0;
        number
    }
}

impl Corpus {
    /// Numbers all pairs of sentences that have words on both sides and are not too long.
    pub(super) fn new(texts: &[&Bitext], view: View) -> Result<Self> {
        let pairs = || texts.iter().flat_map(|text| (0..text.len()).map(|i| text.pair(i)));
        let fits = |words: &Vec<String>| (1..=LONGEST).contains(&words.len());
        let usable = || pairs().filter(|[e, f]| fits(e) && fits(f));
        let cells: usize = usable().map(|[e, f]| e.len() * f.len()).sum();
        if u32::try_from(cells).is_err() {
            return Err(Error::setting("the bitext has more than 2³² pairs of words; take a part"));
        }
        reserve_check(NUMBERS_PER_CELL * cells)?;
        let mut corpus = Self::default();
        let mut numbers = FxHashMap::default();
        for [e, f] in usable() {
            corpus.add(e, f, view, &mut numbers);
        }
        Ok(corpus)
    }

    fn add(
        &mut self,
        e: &[String],
        f: &[String],
        view: View,
        numbers: &mut FxHashMap<(u32, u32), u32>,
    ) {
        let e: Vec<u32> = e.iter().map(|word| self.e.count(&view.form(word))).collect();
        let f: Vec<u32> = f.iter().map(|word| self.f.count(&view.form(word))).collect();
        let (of_e, of_f) = (occurrences(&e), occurrences(&f));
        let mut cells = Vec::with_capacity(e.len() * f.len());
        for (&x, &often) in e.iter().zip(&of_e) {
            for (&y, &other) in f.iter().zip(&of_f) {
                let number = *numbers.entry((x, y)).or_insert(self.pairs.len() as u32);
                if number as usize == self.pairs.len() {
                    self.pairs.push((x, y));
                    self.together.push(0.0);
                }
                self.together[number as usize] += often.min(other) as f64;
                cells.push(number);
            }
        }
        self.sentences.push(Sentence { e, f, cells });
    }

    /// Returns how alike the words of every pair are spelt.
    pub(super) fn similarities(&self) -> Vec<f64> {
        let letters = |words: &Words| -> Vec<Vec<char>> {
            words.names.names().map(spelling::letters).collect()
        };
        let (e, f) = (letters(&self.e), letters(&self.f));
        let of = |&(x, y): &(u32, u32)| spelling::similarity(&e[x as usize], &f[y as usize]);
        self.pairs.iter().map(of).collect()
    }
}

/// Returns how often each word of a sentence occurs in it, at its first place, and zero at the others.
fn occurrences(words: &[u32]) -> Vec<usize> {
    let of = |(i, word): (usize, &u32)| {
        if words[..i].contains(word) {
            0
        } else {
            words.iter().filter(|other| *other == word).count()
        }
    };
    words.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_often_as_the_rarer_word_occurs() {
        let text = Bitext::from_pairs(&[("a A b", "x y x x"), ("b", "x"), ("", "y"), ("c", "")]);
        let corpus = Corpus::new(&[&text], View::Words).unwrap();
        assert_eq!(corpus.e.names.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(corpus.e.counts, [2.0, 2.0]);
        assert_eq!(corpus.f.counts, [4.0, 1.0]);
        assert_eq!(corpus.pairs, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(corpus.together, [2.0, 1.0, 2.0, 1.0]);
        assert_eq!(corpus.sentences[0].cells, [0, 1, 0, 0, 0, 1, 0, 0, 2, 3, 2, 2]);
    }

    #[test]
    fn long_sentences_are_left_out() {
        let long = "w ".repeat(LONGEST + 1);
        let text = Bitext::from_pairs(&[(&long, "x"), ("a", "x")]);
        let corpus = Corpus::new(&[&text], View::Words).unwrap();
        assert_eq!((corpus.sentences.len(), corpus.e.names.len()), (1, 1));
    }
}
