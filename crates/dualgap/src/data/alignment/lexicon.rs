//! What was learned about the words of one view: how often they occur, alone and together, how often they are linked,
//! and how far links jump. It is what a model file keeps.
//!
//! ```text
//! p(f | e) = (c(e, f) + κ s(e, f) + β u(f)) / C(e),      C(e) = Σ_f c(e, f) + κ Σ_f s(e, f) + β
//! ```
//!
//! c are expected links, s tells cognates, and u is the frequency of a word among all. The other direction is the same
//! with e and f exchanged: both have the same expected links, because in [`learn`](super::learn) they have to agree.

use super::corpus::Words;
use super::hmm::{Emissions, Jumps};
use super::spelling::{View, letters, similarity};
use crate::data::Dictionary;
use crate::data::matchings::SideWords;

/// κ: a cognate counts as much as one link that was seen. Without cognates posteriors alone make 13.3 percent errors on
/// the labelled Hansard pairs that are not for testing, with half a link 11.2 and with two 10.9.
pub(super) const COGNATE: f64 = 1.0;

/// β: the weight of the frequency of a word, which keeps all probabilities positive. From 0.01 to 1 results hardly
/// differ.
pub(super) const SMOOTHING: f64 = 0.1;

/// The frequency of words counts as much as this number of words that were met without a link.
pub(super) const UNLINKED_PRIOR: f64 = 10.0;

/// Expected links below this are not stored. Of 481,000 pairs of words that occur together in 2,867 pairs of sentences,
/// 13,000 have more; in cross-validation the error rate changes by less than a tenth of a percent.
pub(super) const FEWEST_LINKS: f64 = 1e-3;

/// Dice coefficients below this are not stored.
pub(super) const LEAST_DICE: f64 = 0.05;

/// The words of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Side {
    pub words: Dictionary,
    pub counts: Vec<f64>,
    /// C: the sum of everything that the links of a word are divided by.
    pub totals: Vec<f64>,
    /// How often a word is expected to be without a link.
    pub unlinked: Vec<f64>,
    /// The sums of counts and of unlinked words.
    pub tokens: f64,
    pub all_unlinked: f64,
}

impl Side {
    pub(super) fn new(
        words: Dictionary,
        counts: Vec<f64>,
        totals: Vec<f64>,
        unlinked: Vec<f64>,
    ) -> Self {
        let (tokens, all_unlinked) = (counts.iter().sum(), unlinked.iter().sum());
        Self { words, counts, totals, unlinked, tokens, all_unlinked }
    }

    /// Returns the words of a text before anything about their links is known.
    pub(super) fn of_text(words: &Words) -> Self {
        let none = vec![0.0; words.counts.len()];
        Self::new(words.names.clone(), words.counts.clone(), none.clone(), none)
    }

    /// Returns how often a word occurs; never for a word that is not known.
    pub(super) fn count(&self, word: Option<u32>) -> f64 {
        word.map_or(0.0, |word| self.counts[word as usize])
    }

    /// u: the share of a word among all. One that is not known counts as the next one to be met.
    pub(super) fn frequency(&self, word: Option<u32>) -> f64 {
        (self.count(word) + 1.0) / (self.tokens + 1.0)
    }

    fn total(&self, word: Option<u32>) -> f64 {
        word.map_or(COGNATE + SMOOTHING, |word| self.totals[word as usize])
    }

    /// Returns the probability of a word without a link.
    pub(super) fn of_unlinked(&self, word: Option<u32>) -> f64 {
        let met = word.map_or(0.0, |word| self.unlinked[word as usize]);
        (met + UNLINKED_PRIOR * self.frequency(word)) / (self.all_unlinked + UNLINKED_PRIOR)
    }
}

/// Returns the probability of a word given another: all that speaks for the two together, by what speaks for the other
/// with any word.
pub(super) fn probability(links: f64, similarity: f64, frequency: f64, total: f64) -> f64 {
    (links + COGNATE * similarity + SMOOTHING * frequency) / total
}

/// What was learned about the words of one view.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lexicon {
    pub e: Side,
    pub f: Side,
    /// Word x of e has the entries `starts[x]..starts[x + 1]`.
    pub starts: Vec<usize>,
    /// The words of f, ascending for each word of e.
    pub partners: Vec<u32>,
    /// c.
    pub links: Vec<f64>,
    /// How often the two occur in the same pair of sentences.
    pub together: Vec<f64>,
    /// From e to f, and from f to e.
    pub jumps: [Jumps; 2],
}

/// What a lexicon tells about the words of a sentence pair.
#[derive(Debug)]
pub(super) struct Told {
    /// How often each word occurs in the text that was learned from.
    pub counts: [Vec<f64>; 2],
    /// Discounted Dice coefficients, row by row.
    pub dice: Vec<f64>,
    /// Of the words of f given those of e, and the other way round.
    pub emissions: [Emissions; 2],
}

impl Lexicon {
    /// Returns the place of a pair of words in the table.
    fn entry(&self, e: Option<u32>, f: Option<u32>) -> Option<usize> {
        let (e, f) = (e? as usize, f?);
        let first = self.starts[e];
        let found = self.partners[first..self.starts[e + 1]].binary_search(&f);
        found.ok().map(|k| first + k)
    }

    /// Returns the Dice coefficient with one occurrence together taken off: that two words occur together once, in the
    /// very pair in which a link between them is in question, says nothing about them.
    fn dice(&self, entry: Option<usize>, e: Option<u32>, f: Option<u32>) -> f64 {
        let together = entry.map_or(0.0, |k| self.together[k]);
        discounted_dice(together, self.e.count(e), self.f.count(f))
    }

    /// Returns everything about the words of a pair.
    pub(super) fn tell(&self, [e, f]: &SideWords, view: View) -> Told {
        let known = |side: &Side, words: &[String]| -> Vec<(Option<u32>, Vec<char>)> {
            let of = |word: &String| {
                let form = view.form(word);
                (side.words.index(&form), letters(&form))
            };
            words.iter().map(of).collect()
        };
        let (e, f) = (known(&self.e, e), known(&self.f, f));
        let (rows, columns) = (e.len(), f.len());
        let mut dice = vec![0.0; rows * columns];
        let mut given_e = vec![0.0; rows * columns];
        let mut given_f = vec![0.0; rows * columns];
        for (i, (x, spelt)) in e.iter().enumerate() {
            for (j, (y, other)) in f.iter().enumerate() {
                let entry = self.entry(*x, *y);
                let links = entry.map_or(0.0, |k| self.links[k]);
                let alike = similarity(spelt, other);
                dice[i * columns + j] = self.dice(entry, *x, *y);
                given_e[j * rows + i] =
                    probability(links, alike, self.f.frequency(*y), self.e.total(*x));
                given_f[i * columns + j] =
                    probability(links, alike, self.e.frequency(*x), self.f.total(*y));
            }
        }
        let counts = |side: &Side, words: &[(Option<u32>, Vec<char>)]| {
            words.iter().map(|(word, _)| side.count(*word)).collect()
        };
        let unlinked = |side: &Side, words: &[(Option<u32>, Vec<char>)]| {
            words.iter().map(|(word, _)| side.of_unlinked(*word)).collect()
        };
        Told {
            counts: [counts(&self.e, &e), counts(&self.f, &f)],
            dice,
            emissions: [
                Emissions { sources: rows, linked: given_e, unlinked: unlinked(&self.f, &f) },
                Emissions { sources: columns, linked: given_f, unlinked: unlinked(&self.e, &e) },
            ],
        }
    }
}

/// The Dice coefficient of two words with one occurrence together taken off.
pub(super) fn discounted_dice(together: f64, e: f64, f: f64) -> f64 {
    if together > 1.0 { 2.0 * (together - 1.0) / (e + f) } else { 0.0 }
}
