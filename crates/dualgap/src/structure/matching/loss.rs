//! The loss of a matching: a weighted count of wrong and of missing edges.

use crate::data::{GraphRef, Mark};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a wrong edge costs, and a missing one. Possible links cost nothing, and neither do sure links that the truth,
/// which is a matching, has no room for.
///
/// ```
/// use dualgap::data::{Graph, Mark, Matchings};
/// use dualgap::linalg::Rows;
/// use dualgap::structure::LinkLoss;
/// let marks = vec![Mark::Sure, Mark::None, Mark::Possible, Mark::Sure];
/// let data = Matchings::new(Rows::dense(&vec![vec![1.0]; 4])?, &[Graph::full(2, 2)], marks)?;
/// let loss = LinkLoss { false_positive: 1.0, false_negative: 3.0 };
/// let of = |pairs: &[(usize, usize)]| loss.of(data.graph(0), pairs.iter().copied());
/// assert_eq!(of(&[(0, 0), (1, 1)]), 0.0);
/// assert_eq!(of(&[(0, 1), (1, 0)]), 1.0 + 2.0 * 3.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkLoss {
    /// a, the cost of an edge that is no link.
    pub false_positive: f64,
    /// b, the cost of an edge of the truth that is missing.
    pub false_negative: f64,
}

/// The weights of the paper: words that stay without a link by mistake cost three times as much.
impl Default for LinkLoss {
    fn default() -> Self {
        Self { false_positive: 1.0, false_negative: 3.0 }
    }
}

impl LinkLoss {
    /// Returns an error unless both costs are numbers that are not negative, and one of them is positive.
    pub fn check(self) -> Result<()> {
        let Self { false_positive, false_negative } = self;
        for (cost, of) in [(false_positive, "wrong"), (false_negative, "missing")] {
            if !(cost >= 0.0 && cost.is_finite()) {
                return Err(Error::setting(format!(
                    "the cost of a {of} edge is {cost}; it must be a number that is not negative"
                )));
            }
        }
        if self.largest() == 0.0 {
            return Err(Error::setting("neither wrong nor missing edges cost anything"));
        }
        Ok(())
    }

    /// Returns the larger cost.
    pub(super) fn largest(self) -> f64 {
        self.false_positive.max(self.false_negative)
    }

    /// Returns what an edge of a matching adds to its loss, which begins with b for each edge of the truth.
    #[inline]
    pub fn of_edge(self, graph: GraphRef<'_>, edge: usize) -> f64 {
        if graph.is_true(edge) {
            -self.false_negative
        } else if graph.mark(edge) == Mark::None {
            self.false_positive
        } else {
            0.0
        }
    }

    /// Returns the loss of a matching; every pair must be an edge, and none may come twice.
    pub fn of(self, graph: GraphRef<'_>, pairs: impl IntoIterator<Item = (usize, usize)>) -> f64 {
        let (mut wrong, mut missing) = (0_usize, graph.truth().count());
        for (row, column) in pairs {
            let Some(edge) = graph.edge(row, column) else { continue };
            wrong += usize::from(graph.mark(edge) == Mark::None);
            missing = missing.saturating_sub(usize::from(graph.is_true(edge)));
        }
        wrong as f64 * self.false_positive + missing as f64 * self.false_negative
    }
}
