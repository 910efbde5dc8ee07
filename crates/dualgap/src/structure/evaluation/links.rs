//! Comparison of predicted matchings with sure and possible links.
//!
//! ```text
//! alignment error rate   1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
//! precision, recall      |A ∩ P| / |A|,   |A ∩ S| / |S|
//! ```
//!
//! A are the predicted links of all examples together, S the sure ones, and P the possible ones, the sure ones among
//! them. S and P are all links of the data, whether or not a matching has room for them.

use crate::data::{GraphRef, Mark};
use serde::Serialize;

/// How predicted matchings compare with sure and possible links.
///
/// ```
/// use dualgap::data::{Graph, Mark, Matchings};
/// use dualgap::linalg::Rows;
/// use dualgap::structure::evaluation::LinkEvaluation;
/// let marks = vec![Mark::Sure, Mark::None, Mark::Possible, Mark::Sure];
/// let data = Matchings::new(Rows::dense(&vec![vec![1.0]; 4])?, &[Graph::full(2, 2)], marks)?;
/// let mut evaluation = LinkEvaluation::default();
/// evaluation.compare(data.graph(0), &[(0, 0)], 3.0);
/// let figures = evaluation.figures();
/// assert_eq!((figures.precision, figures.recall), (1.0, 0.5));
/// assert_eq!(figures.aer, 1.0 - (1.0 + 1.0) / (1.0 + 2.0));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkEvaluation {
    examples: usize,
    exact: usize,
    predicted: usize,
    sure: usize,
    possible: usize,
    /// |A ∩ S| and |A ∩ P|.
    found_sure: usize,
    found_possible: usize,
    loss: f64,
    /// The weight of all examples and their loss times their weight, if examples have weights.
    weighted: Option<(f64, f64)>,
}

/// The figures of a [`LinkEvaluation`]; see the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LinkFigures {
    /// The number of examples.
    pub examples: usize,
    /// The alignment error rate.
    pub aer: f64,
    /// The fraction of the predicted links that are possible; zero if none is predicted.
    pub precision: f64,
    /// The fraction of the sure links that are predicted; zero if none is sure.
    pub recall: f64,
    /// The mean loss.
    pub mean_loss: f64,
    /// The fraction of examples whose truth is predicted, and beside it nothing but possible links.
    pub exact: f64,
    /// The number of predicted links.
    pub predicted: usize,
    /// The number of sure links.
    pub sure: usize,
    /// The number of possible links, the sure ones among them.
    pub possible: usize,
    /// The mean loss, each example with its weight; none if examples have no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_mean_loss: Option<f64>,
}

impl LinkEvaluation {
    /// Counts the predicted links of one example, which have this loss.
    pub fn compare(&mut self, graph: GraphRef<'_>, predicted: &[(usize, usize)], loss: f64) {
        let marks = (0..graph.edges().len()).map(|edge| graph.mark(edge));
        for mark in marks {
            self.sure += usize::from(mark == Mark::Sure);
            self.possible += usize::from(mark != Mark::None);
        }
        let (mut right, mut wrong) = (0, 0);
        for &(row, column) in predicted {
            let edge = graph.edge(row, column);
            let mark = edge.map_or(Mark::None, |edge| graph.mark(edge));
            self.found_sure += usize::from(mark == Mark::Sure);
            self.found_possible += usize::from(mark != Mark::None);
            wrong += usize::from(mark == Mark::None);
            right += usize::from(edge.is_some_and(|edge| graph.is_true(edge)));
        }
        self.predicted += predicted.len();
        self.examples += 1;
        self.exact += usize::from(wrong == 0 && right == graph.truth().count());
        self.loss += loss;
    }

    /// Counts the predicted links of one example, which have this loss, and the weight of the example in the mean of the losses.
    pub fn compare_weighted(
        &mut self,
        graph: GraphRef<'_>,
        predicted: &[(usize, usize)],
        loss: f64,
        weight: f64,
    ) {
        self.compare(graph, predicted, loss);
        let (all, sum) = self.weighted.get_or_insert_default();
        *all += weight;
        *sum += weight * loss;
    }

    /// Returns the figures.
    pub fn figures(&self) -> LinkFigures {
        let share = |a: usize, b: usize| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        let found = self.found_sure + self.found_possible;
        let all = self.predicted + self.sure;
        LinkFigures {
            examples: self.examples,
            aer: if all == 0 { 0.0 } else { 1.0 - share(found, all) },
            precision: share(self.found_possible, self.predicted),
            recall: share(self.found_sure, self.sure),
            mean_loss: self.loss / self.examples.max(1) as f64,
            exact: share(self.exact, self.examples),
            predicted: self.predicted,
            sure: self.sure,
            possible: self.possible,
            weighted_mean_loss: self.weighted.map(|(all, sum)| sum / all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Graph, Matchings};
    use crate::linalg::Rows;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Counted by sets, as the formulas are written.
        #[test]
        fn the_figures_are_those_of_the_sets(marks in prop::collection::vec(prop::sample::select(vec![Mark::None, Mark::Possible, Mark::Sure]), 9), said in prop::collection::btree_set((0_usize..3, 0_usize..3), 0..5)) {
            let features = Rows::dense(&vec![vec![1.0]; 9]).unwrap();
            let data = Matchings::new(features, &[Graph::full(3, 3)], marks.clone()).unwrap();
            let mut evaluation = LinkEvaluation::default();
            let predicted: Vec<_> = said.iter().copied().collect();
            evaluation.compare(data.graph(0), &predicted, 2.5);
            evaluation.compare(data.graph(0), &[], 0.5);
            let figures = evaluation.figures();
            let of = |wanted: &[Mark]| -> BTreeSet<(usize, usize)> {
                (0..9).filter(|&k| wanted.contains(&marks[k])).map(|k| (k / 3, k % 3)).collect()
            };
            let (s, p) = (of(&[Mark::Sure]), of(&[Mark::Sure, Mark::Possible]));
            let both = |other: &BTreeSet<(usize, usize)>| said.intersection(other).count() as f64;
            // The second example has the same links and predicts none.
            let (a, sure) = (said.len() as f64, 2.0 * s.len() as f64);
            if a + sure > 0.0 {
                prop_assert!((figures.aer - (1.0 - (both(&s) + both(&p)) / (a + sure))).abs() < 1e-12);
            }
            if a > 0.0 {
                prop_assert!((figures.precision - both(&p) / a).abs() < 1e-12);
            }
            if sure > 0.0 {
                prop_assert!((figures.recall - both(&s) / sure).abs() < 1e-12);
            }
            let truth: BTreeSet<_> = data.graph(0).truth().collect();
            let exact = u8::from(truth.is_subset(&said) && said.is_subset(&p)) + u8::from(truth.is_empty());
            prop_assert_eq!(figures.exact, f64::from(exact) / 2.0);
            prop_assert_eq!((figures.mean_loss, figures.possible), (1.5, 2 * p.len()));
        }
    }
}
