//! Labelings that a scheme forbids, kept out of every search and every sum.
//!
//! What may follow what is a property of pairs of labels, of the first and of the last one. A forbidden pair, first or last
//! label has the score [`FORBIDDEN`] in the place of its weight, so that
//!
//! ```text
//! max_y, Σ_y   over all labelings with these scores   =   max_y, Σ_y   over the legal labelings
//! ```
//!
//! for Viterbi's algorithm, beams, the count of errors under slack rescaling, and forward-backward, where exp(FORBIDDEN − …)
//! is exactly zero. The score is finite, so that it may be multiplied with a marginal of zero.
//!
//! If some length has no legal labeling at all (a file of BILOU labels without `O` and `U-…`, and a sentence of one word), the
//! search returns one of those with the fewest forbidden places.

use crate::data::{Alphabet, Scheme, Sequences};
use std::sync::Arc;

/// The score of what is forbidden. A labeling may have a first and a last label and many pairs of this score: sums of the
/// first two stay finite, and sums of many are −∞, which no search prefers.
pub(super) const FORBIDDEN: f64 = -1e300;

/// Whether a score has something forbidden in it.
pub(super) fn is_forbidden(score: f64) -> bool {
    score < 0.5 * FORBIDDEN
}

/// The labels, by their numbers, that may begin, follow each other, and end.
#[derive(Debug, PartialEq, Eq)]
pub struct Legal {
    labels: usize,
    first: Vec<bool>,
    last: Vec<bool>,
    /// By the label before.
    pairs: Vec<bool>,
    /// The places of the pairs that are forbidden.
    forbidden: Vec<usize>,
}

impl Legal {
    /// Returns what a scheme allows of these labels.
    pub(super) fn new(scheme: Scheme, alphabet: &Alphabet) -> Self {
        let names = alphabet.names();
        let follows = |y: &String, next: &String| scheme.allows(Some(y), Some(next));
        let pairs: Vec<bool> =
            names.iter().flat_map(|y| names.iter().map(move |next| follows(y, next))).collect();
        Self {
            labels: names.len(),
            first: names.iter().map(|y| scheme.allows(None, Some(y))).collect(),
            last: names.iter().map(|y| scheme.allows(Some(y), None)).collect(),
            forbidden: (0..pairs.len()).filter(|&pair| !pairs[pair]).collect(),
            pairs,
        }
    }

    /// [`new`](Self::new), shared; `None` if nothing is forbidden.
    pub(super) fn shared(scheme: Option<Scheme>, alphabet: &Alphabet) -> Option<Arc<Self>> {
        scheme.map(|scheme| Arc::new(Self::new(scheme, alphabet)))
    }

    pub(super) fn begins(&self, y: u16) -> bool {
        self.first[usize::from(y)]
    }

    pub(super) fn ends(&self, y: u16) -> bool {
        self.last[usize::from(y)]
    }

    pub(super) fn follows(&self, y: u16, next: u16) -> bool {
        self.pairs[usize::from(y) * self.labels + usize::from(next)]
    }

    /// Whether a labeling is legal.
    pub(super) fn allows(&self, labeling: &[u16]) -> bool {
        labeling.first().is_none_or(|&y| self.begins(y))
            && labeling.last().is_none_or(|&y| self.ends(y))
            && labeling.windows(2).all(|pair| self.follows(pair[0], pair[1]))
    }

    /// Forbids pairs of a table of their scores.
    pub(super) fn mask_pairs(&self, table: &mut [f64]) {
        for &pair in &self.forbidden {
            table[pair] = FORBIDDEN;
        }
    }

    /// Forbids labels of position t of so many.
    pub(super) fn mask_nodes(&self, t: usize, length: usize, nodes: &mut [f64]) {
        let mut mask = |legal: &[bool]| {
            for (node, _) in nodes.iter_mut().zip(legal).filter(|(_, legal)| !**legal) {
                *node += FORBIDDEN;
            }
        };
        if t == 0 {
            mask(&self.first);
        }
        if t + 1 == length {
            mask(&self.last);
        }
    }

    /// The places of the pairs that are forbidden.
    pub(super) fn barred_pairs(&self) -> impl Iterator<Item = usize> + '_ {
        self.forbidden.iter().copied()
    }

    /// The labels that are forbidden at position t of so many.
    pub(super) fn barred(&self, t: usize, length: usize) -> Vec<usize> {
        let (first, last) = (t == 0, t + 1 == length);
        if !first && !last {
            return Vec::new();
        }
        let is_barred = |&y: &usize| first && !self.first[y] || last && !self.last[y];
        (0..self.labels).filter(is_barred).collect()
    }

    /// The scores of pairs, without what is forbidden.
    pub(super) fn masked(legal: Option<&Self>, scores: &[f64]) -> Vec<f64> {
        let mut table = scores.to_vec();
        if let Some(legal) = legal {
            legal.mask_pairs(&mut table);
        }
        table
    }
}

/// Returns what is wrong with data whose own labels a scheme forbids, and what to do about it.
pub(super) fn complaint(scheme: Scheme, data: &Sequences) -> Option<(String, String)> {
    let found = scheme.mistakes(data);
    let first = found.first?;
    let more = match found.mistakes {
        1 => String::new(),
        count => format!(" (and {} more such places)", count - 1),
    };
    Some((
        format!(
            "{}{more}, so that the labels of the training data are forbidden themselves",
            scheme.describe_mistake(data, first)
        ),
        "mend the labels, or convert them to the scheme that they mean, or forbid nothing".into(),
    ))
}
