//! The N best labelings of a sequence.
//!
//! Viterbi's algorithm with lists: for every position t and label y the N best labelings of the positions up to t that end
//! with y, each of which is one of the lists before it and a step further,
//!
//! ```text
//! L_t(y) = the N best of { s + transition[x, y] + node_t(y) : x a label, s in L_{t−1}(x) }
//! ```
//!
//! The lists before are in order, so that K of their entries are compared at a time: O(TK(K + N log K)) in all. Of equal
//! scores the one from the smaller label comes first, so that the first labeling is the one that is predicted.

use super::legal::is_forbidden;
use super::oracle::{ChainLayout, Label, Viterbi};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A labeling of the positions so far: its score, the label before, and its rank in that label's list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    score: f64,
    from: Label,
    rank: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let ties = || (other.from, other.rank).cmp(&(self.from, self.rank));
        self.score.total_cmp(&other.score).then_with(ties)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

/// Returns the best of all entries of some lists, each with what a step from its label adds, the best first.
fn merged(lists: &[Vec<Entry>], count: usize, step: impl Fn(usize) -> f64) -> Vec<Entry> {
    let entry = |x: usize, rank: usize| {
        let score = lists[x].get(rank)?.score + step(x);
        (score > f64::NEG_INFINITY).then_some(Entry { score, from: x as Label, rank: rank as u32 })
    };
    let mut heads: BinaryHeap<Entry> = (0..lists.len()).filter_map(|x| entry(x, 0)).collect();
    let mut best = Vec::new();
    while best.len() < count
        && let Some(top) = heads.pop()
    {
        heads.extend(entry(usize::from(top.from), top.rank as usize + 1));
        best.push(top);
    }
    best
}

/// Returns the best labelings under the node scores, at most `count` of them, with their scores, the best first.
pub(super) fn n_best(
    viterbi: &Viterbi,
    layout: ChainLayout,
    w: &[f64],
    count: usize,
) -> Vec<(Vec<Label>, f64)> {
    let k = layout.labels;
    let length = viterbi.nodes.len() / k;
    if length == 0 {
        return vec![(Vec::new(), 0.0)];
    }
    let first = |&score: &f64| vec![Entry { score, from: 0, rank: 0 }];
    let mut table: Vec<Vec<Vec<Entry>>> = vec![viterbi.nodes[..k].iter().map(first).collect()];
    for t in 1..length {
        let transitions = viterbi.transitions(layout, w, t);
        let lists = (0..k).map(|y| {
            let mut list = merged(&table[t - 1], count, |x| transitions[x * k + y]);
            list.iter_mut().for_each(|entry| entry.score += viterbi.nodes[t * k + y]);
            list
        });
        let lists = lists.collect();
        table.push(lists);
    }
    let ends = merged(&table[length - 1], count, |_| 0.0);
    let path = |end: Entry| {
        let mut labels = vec![0; length];
        let mut at = end;
        for t in (0..length).rev() {
            labels[t] = at.from;
            at = table[t][usize::from(at.from)][at.rank as usize];
        }
        (labels, end.score)
    };
    // Forbidden ones come after all that are legal; where none is, the search has one to offer.
    let offered = |(rank, end): &(usize, Entry)| *rank == 0 || !is_forbidden(end.score);
    ends.into_iter().enumerate().filter(offered).map(|(_, end)| path(end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sequences;
    use proptest::prelude::*;

    /// All labelings with their scores, the best first; of equal ones in the order of the algorithm.
    fn brute_force(viterbi: &Viterbi, layout: ChainLayout, w: &[f64]) -> Vec<f64> {
        let (k, length) = (layout.labels, viterbi.nodes.len() / layout.labels);
        let mut scores: Vec<f64> = (0..k.pow(length as u32))
            .map(|mut code| {
                let next = |_| {
                    let label = (code % k) as Label;
                    code /= k;
                    label
                };
                let path: Vec<Label> = (0..length).map(next).collect();
                viterbi.path_score(layout, w, &path)
            })
            .collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn the_best_labelings_are_those_of_brute_force(
            length in 1_usize..5, labels in 1_usize..4, count in 1_usize..40, whole in any::<bool>(),
            numbers in prop::collection::vec(-2.0_f64..2.0, 64),
        ) {
            let layout = ChainLayout::new(2, labels).unwrap();
            // Whole numbers have many ties.
            let value = |k: usize| if whole { numbers[k % 64].round() } else { numbers[k % 64] };
            let w: Vec<f64> = (0..layout.dim()).map(value).collect();
            let rows: Vec<Vec<f64>> = (0..length).map(|t| vec![value(40 + t), value(50 + t)]).collect();
            let names: Vec<String> = (0..labels).map(|y| y.to_string()).collect();
            let data = Sequences::from_dense(&[rows], &[vec![0; length]], &names).unwrap();
            let mut viterbi = Viterbi::default();
            viterbi.score(layout, &w, data.sequence(0), None);
            let found = n_best(&viterbi, layout, &w, count);
            let all = brute_force(&viterbi, layout, &w);
            prop_assert_eq!(found.len(), count.min(all.len()));
            for (k, (path, score)) in found.iter().enumerate() {
                prop_assert!((score - all[k]).abs() < 1e-9);
                prop_assert!((score - viterbi.path_score(layout, &w, path)).abs() < 1e-9);
                prop_assert!(found[..k].iter().all(|(other, _)| other != path), "twice");
            }
            let mut best = Vec::new();
            viterbi.decode(layout, &w, &mut best);
            prop_assert_eq!(&found[0].0, &best, "the first is what is predicted");
        }
    }

    #[test]
    fn an_empty_sequence_has_one_labeling() {
        let layout = ChainLayout::new(1, 2).unwrap();
        assert_eq!(n_best(&Viterbi::default(), layout, &[0.0; 10], 3), [(Vec::new(), 0.0)]);
    }
}
