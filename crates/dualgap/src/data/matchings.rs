//! Bipartite graphs whose edges have features, to be matched: rows, columns, and the edges between them.
//!
//! Edges are marked as sure links, as possible ones, or as none. Sure links are often not one to one, and what is
//! learned is a matching: the *truth* of an example is a largest matching within its sure links, and of those the one
//! nearest to the diagonal. Precisely, it has the least sum of `|(2r + 1)·columns − (2c + 1)·rows|` over its edges
//! (r, c); the order of the edges decides what is still tied. Evaluations count the sets of all links, not the truth.

use super::checks::{check_finite, check_names, check_weights, select_weights};
use super::{Alphabet, Dictionary, Vocabulary};
use crate::linalg::{Assignment, Row, Rows};
use crate::{Error, Result};

/// The most rows and the most columns of an example. A full grid of this size has 16 million edges, and the sums by which
/// the truth is chosen stay below 2⁵³, so that they are exact.
pub(super) const LARGEST_SIDE: usize = 1 << 12;

/// Whether an edge is a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mark {
    /// It is none.
    #[default]
    None,
    /// It may be one: to predict it is no mistake, and neither is to leave it out.
    Possible,
    /// It is one.
    Sure,
}

/// The rows and columns of an example, and the edges between them.
///
/// ```
/// # use dualgap::data::Graph;
/// let full = Graph::full(2, 3);
/// assert_eq!((full.edges.len(), full.edges[4]), (6, (1, 1)));
/// let sparse = Graph { rows: 2, columns: 3, edges: vec![(0, 0), (1, 2)] };
/// assert_ne!(full, sparse);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The row and the column of each edge, both from 0 on.
    pub edges: Vec<(u32, u32)>,
}

impl Graph {
    /// Returns the graph with all edges, row by row.
    pub fn full(rows: usize, columns: usize) -> Self {
        let row = |r: u32| (0..columns as u32).map(move |c| (r, c));
        Self { rows, columns, edges: (0..rows as u32).flat_map(row).collect() }
    }
}

/// The words of the rows and of the columns of an example.
pub type SideWords = [Vec<String>; 2];

/// Graphs with features and marks for each edge, or without marks, to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Matchings {
    /// One row per edge.
    features: Rows,
    /// Example i has the edges `starts[i]..starts[i + 1]`, in ascending order of rows and columns.
    starts: Vec<usize>,
    edges: Vec<(u32, u32)>,
    /// Rows and columns of each example.
    sizes: Vec<(usize, usize)>,
    /// One mark per edge, or none at all.
    marks: Option<Vec<Mark>>,
    /// Whether an edge is one of the truth; empty without marks.
    truth: Vec<bool>,
    dictionary: Dictionary,
    weights: Option<Vec<f64>>,
    words: Option<Vec<SideWords>>,
}

impl Matchings {
    /// Returns graphs with a row of features and a mark for every edge, those of the first graph first. The data keep the
    /// edges of a graph, with their features and marks, in ascending order of rows and columns.
    ///
    /// ```
    /// use dualgap::data::{Graph, Mark, Matchings};
    /// use dualgap::linalg::Rows;
    /// let graph = Graph { rows: 2, columns: 2, edges: vec![(0, 1), (0, 0), (1, 0)] };
    /// let features = Rows::dense(&[vec![1.0], vec![2.0], vec![3.0]])?;
    /// let data = Matchings::new(features, &[graph], vec![Mark::Sure, Mark::Sure, Mark::Sure])?;
    /// // Three links cannot be matched one to one; two of them can.
    /// assert_eq!(data.graph(0).truth().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    /// assert_eq!(data.graph(0).features(0).get(0), 2.0); // of the edge (0, 0)
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn new(features: Rows, graphs: &[Graph], marks: Vec<Mark>) -> Result<Self> {
        if marks.len() != features.len() {
            return Err(Error::setting(format!(
                "there are {} marks and {} rows of features: every edge needs one of each",
                marks.len(),
                features.len()
            )));
        }
        Self::checked(features, graphs, Some(marks))
    }

    /// Returns graphs without marks, to predict.
    pub fn unlabelled(features: Rows, graphs: &[Graph]) -> Result<Self> {
        Self::checked(features, graphs, None)
    }

    fn checked(features: Rows, graphs: &[Graph], marks: Option<Vec<Mark>>) -> Result<Self> {
        let count: usize = graphs.iter().map(|graph| graph.edges.len()).sum();
        if count != features.len() {
            return Err(Error::setting(format!(
                "there are {} rows of features and {count} edges: every edge needs one",
                features.len()
            )));
        }
        check_finite(&features)?;
        let (mut starts, mut edges, mut order) = (vec![0], Vec::with_capacity(count), Vec::new());
        for (i, graph) in graphs.iter().enumerate() {
            check_graph(i, graph)?;
            let first = edges.len();
            edges.extend_from_slice(&graph.edges);
            if !graph.edges.is_sorted() {
                order.extend(order.len()..first);
                let mut sorted: Vec<usize> = (first..edges.len()).collect();
                sorted.sort_by_key(|&e| edges[e]);
                order.extend(sorted);
                edges[first..].sort_unstable();
            }
            if let Some(twice) = edges[first..].windows(2).find(|pair| pair[0] == pair[1]) {
                let (r, c) = twice[0];
                let message = format!("example {i} has the edge from row {r} to column {c} twice");
                return Err(Error::setting(message));
            }
            starts.push(edges.len());
        }
        let (mut features, mut marks) = (features, marks);
        if !order.is_empty() {
            order.extend(order.len()..count);
            features = features.select(order.iter().copied());
            marks = marks.map(|marks| order.iter().map(|&e| marks[e]).collect());
        }
        let sizes = graphs.iter().map(|graph| (graph.rows, graph.columns)).collect();
        let (truth, dictionary, weights, words) = (Vec::new(), Dictionary::default(), None, None);
        let mut data =
            Self { features, starts, edges, sizes, marks, truth, dictionary, weights, words };
        data.choose_truths();
        Ok(data)
    }

    /// Chooses a largest matching within the sure links of each example.
    fn choose_truths(&mut self) {
        let Some(marks) = &self.marks else { return };
        let mut truth = vec![false; marks.len()];
        let mut assignment = Assignment::default();
        for i in 0..self.len() {
            let (rows, columns) = self.sizes[i];
            let range = self.starts[i]..self.starts[i + 1];
            // An edge counts more than all distances together.
            let one = (2 * rows * columns * (rows.min(columns) + 1)) as f64;
            let distance = |(r, c): (u32, u32)| {
                ((2 * r as usize + 1) * columns).abs_diff((2 * c as usize + 1) * rows) as f64
            };
            let sure = range.clone().filter(|&e| marks[e] == Mark::Sure).map(|e| self.edges[e]);
            let scored = sure.map(|(r, c)| (r as usize, c as usize, one - distance((r, c))));
            assignment.solve(rows, columns, scored);
            for e in range {
                let (r, c) = self.edges[e];
                truth[e] = assignment.column_of(r as usize) == Some(c as usize);
            }
        }
        self.truth = truth;
    }

    /// Sets the names of the features.
    pub fn with_dictionary(self, dictionary: Dictionary) -> Result<Self> {
        check_names(&dictionary, self.features.width())?;
        Ok(Self { dictionary, ..self })
    }

    /// Sets the training weight of each example, a nonnegative number. Without weights all examples count the same.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        check_weights(&weights, self.len())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// Sets the words of the rows and columns of each example, with which a matching can be shown. They are no part of the
    /// problem.
    pub fn with_words(self, words: Vec<SideWords>) -> Result<Self> {
        let lengths = words.iter().map(|[rows, columns]| (rows.len(), columns.len()));
        if !lengths.eq(self.sizes.iter().copied()) {
            return Err(Error::setting("every row and every column of every example needs a word"));
        }
        Ok(Self { words: Some(words), ..self })
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Whether edges have marks.
    pub fn is_labelled(&self) -> bool {
        self.marks.is_some()
    }

    /// One row of features per edge, example by example.
    pub fn features(&self) -> &Rows {
        &self.features
    }

    /// The names of the features; empty if they have none.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The weight of each example, unless all are the same.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The words of the rows and columns of example `i`, if they were given.
    pub fn words(&self, i: usize) -> Option<&SideWords> {
        self.words.as_ref().map(|words| &words[i])
    }

    /// Returns the names of the features; there are no labels to name.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: Alphabet::none(),
            dictionary: &self.dictionary,
            features: self.features.width(),
        }
    }

    /// Returns the graph of example `i`.
    #[inline]
    pub fn graph(&self, i: usize) -> GraphRef<'_> {
        let range = self.starts[i]..self.starts[i + 1];
        let (rows, columns) = self.sizes[i];
        GraphRef {
            rows,
            columns,
            edges: &self.edges[range.clone()],
            marks: self.marks.as_ref().map(|marks| &marks[range.clone()]),
            truth: if self.truth.is_empty() { &[] } else { &self.truth[range] },
            features: &self.features,
            first: self.starts[i],
        }
    }

    /// Returns the given examples in the given order, with the same features and their weights.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        let edges = || chosen.iter().flat_map(|&i| self.starts[i]..self.starts[i + 1]);
        let mut starts = vec![0];
        starts.extend(chosen.iter().scan(0, |end, &i| {
            *end += self.starts[i + 1] - self.starts[i];
            Some(*end)
        }));
        let words = |words: &Vec<SideWords>| chosen.iter().map(|&i| words[i].clone()).collect();
        let truth = if self.truth.is_empty() {
            Vec::new()
        } else {
            edges().map(|e| self.truth[e]).collect()
        };
        Self {
            features: self.features.select(edges()),
            starts,
            edges: edges().map(|e| self.edges[e]).collect(),
            sizes: chosen.iter().map(|&i| self.sizes[i]).collect(),
            marks: self.marks.as_ref().map(|marks| edges().map(|e| marks[e]).collect()),
            truth,
            dictionary: self.dictionary.clone(),
            weights: select_weights(self.weights.as_ref(), chosen),
            words: self.words.as_ref().map(words),
        }
    }
}

fn check_graph(i: usize, graph: &Graph) -> Result<()> {
    let Graph { rows, columns, edges } = graph;
    if *rows > LARGEST_SIDE || *columns > LARGEST_SIDE {
        return Err(Error::setting(format!(
            "example {i} has {rows} rows and {columns} columns, and at most {LARGEST_SIDE} of each are possible"
        )));
    }
    match edges.iter().find(|(r, c)| *r as usize >= *rows || *c as usize >= *columns) {
        Some((r, c)) => Err(Error::setting(format!(
            "example {i} has an edge from row {r} to column {c}, and it has {rows} rows and {columns} columns, from 0 on"
        ))),
        None => Ok(()),
    }
}

/// The graph of one example, borrowed. Edges have the numbers 0, 1, … in ascending order of rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct GraphRef<'a> {
    rows: usize,
    columns: usize,
    edges: &'a [(u32, u32)],
    marks: Option<&'a [Mark]>,
    truth: &'a [bool],
    features: &'a Rows,
    first: usize,
}

impl<'a> GraphRef<'a> {
    /// The number of rows.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// The row and the column of each edge.
    pub fn edges(self) -> &'a [(u32, u32)] {
        self.edges
    }

    /// Returns the features of an edge.
    #[inline]
    pub fn features(self, edge: usize) -> Row<'a> {
        debug_assert!(edge < self.edges.len());
        self.features.row(self.first + edge)
    }

    /// Returns the mark of an edge; without marks it is none.
    #[inline]
    pub fn mark(self, edge: usize) -> Mark {
        self.marks.map_or(Mark::None, |marks| marks[edge])
    }

    /// Whether an edge belongs to the truth.
    #[inline]
    pub fn is_true(self, edge: usize) -> bool {
        self.truth.get(edge).copied().unwrap_or(false)
    }

    /// Returns the row and the column of the edges of the truth; none without marks.
    pub fn truth(self) -> impl Iterator<Item = (usize, usize)> + Clone + 'a {
        let all = self.edges.iter().zip(self.truth).filter(|(_, is)| **is);
        all.map(|(&(r, c), _)| (r as usize, c as usize))
    }

    /// Returns the number of the edge between a row and a column, if there is one.
    #[inline]
    pub fn edge(self, row: usize, column: usize) -> Option<usize> {
        if row >= self.rows || column >= self.columns {
            return None;
        }
        if self.edges.len() == self.rows * self.columns {
            return Some(row * self.columns + column);
        }
        self.edges.binary_search(&(row as u32, column as u32)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbered(count: usize) -> Rows {
        Rows::from_dense((0..count).map(|e| e as f64).collect::<Vec<_>>(), 1).unwrap()
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let graph = |edges: &[(u32, u32)]| Graph { rows: 2, columns: 3, edges: edges.to_vec() };
        let made = |edges: &[(u32, u32)], rows: usize, marks: usize| {
            Matchings::new(numbered(rows), &[graph(edges)], vec![Mark::None; marks])
        };
        assert!(made(&[(0, 0), (1, 2)], 2, 2).is_ok());
        for (edges, words) in [
            (&[(0, 0), (2, 0)], "row 2 to column 0"),
            (&[(0, 0), (1, 3)], "row 1 to column 3"),
            (&[(0, 1), (0, 1)], "from row 0 to column 1 twice"),
        ] {
            let message = made(edges, 2, 2).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
        assert!(made(&[(0, 0), (1, 2)], 3, 3).is_err());
        assert!(made(&[(0, 0), (1, 2)], 2, 1).is_err());
        let wide = Graph { rows: 1, columns: LARGEST_SIDE + 1, edges: Vec::new() };
        assert!(Matchings::unlabelled(numbered(0), &[wide]).is_err());
        let infinite = Rows::dense(&[vec![f64::INFINITY]]).unwrap();
        assert!(Matchings::unlabelled(infinite, &[Graph::full(1, 1)]).is_err());
        let data = made(&[(0, 0), (1, 2)], 2, 2).unwrap();
        assert!(data.clone().with_dictionary(Dictionary::default()).is_ok());
        assert!(data.clone().with_words(vec![[vec!["a".into()], Vec::new()]]).is_err());
        assert!(data.with_weights(vec![1.0, 2.0]).is_err());
    }

    #[test]
    fn edges_are_sorted_with_their_features_and_marks() {
        let first = Graph::full(1, 2);
        let second = Graph { rows: 2, columns: 2, edges: vec![(1, 0), (0, 1), (1, 1)] };
        let marks = vec![Mark::Sure, Mark::None, Mark::None, Mark::Sure, Mark::Possible];
        let data = Matchings::new(numbered(5), &[first, second], marks).unwrap();
        let graph = data.graph(1);
        assert_eq!(graph.edges(), [(0, 1), (1, 0), (1, 1)]);
        let values: Vec<f64> = (0..3).map(|e| graph.features(e).get(0)).collect();
        assert_eq!(values, [3.0, 2.0, 4.0]);
        assert_eq!([0, 1, 2].map(|e| graph.mark(e)), [Mark::Sure, Mark::None, Mark::Possible]);
        assert_eq!((graph.edge(1, 0), graph.edge(0, 0), graph.edge(2, 0)), (Some(1), None, None));
        assert_eq!(data.graph(0).features(1).get(0), 1.0);
        let chosen = data.select(&[1, 0, 1]);
        assert_eq!(chosen.graph(2).edges(), graph.edges());
        assert_eq!(chosen.graph(2).truth().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(chosen.graph(1).features(0).get(0), 0.0);
    }

    /// Every matching within these edges.
    fn matchings(edges: &[(u32, u32)]) -> Vec<Vec<(u32, u32)>> {
        let Some((&(r, c), rest)) = edges.split_first() else { return vec![Vec::new()] };
        let mut all = matchings(rest);
        let apart = |edge: &&(u32, u32)| edge.0 != r && edge.1 != c;
        let beside: Vec<(u32, u32)> = rest.iter().filter(apart).copied().collect();
        all.extend(matchings(&beside).into_iter().map(|mut matching| {
            matching.insert(0, (r, c));
            matching
        }));
        all
    }

    proptest! {
        #[test]
        fn the_truth_is_a_largest_matching_and_the_nearest_to_the_diagonal(
            rows in 1_usize..5, columns in 1_usize..5, sure in prop::collection::vec(any::<bool>(), 25),
        ) {
            let graph = Graph::full(rows, columns);
            let mark = |&is: &bool| if is { Mark::Sure } else { Mark::Possible };
            let marks = sure[..rows * columns].iter().map(mark).collect();
            let data = Matchings::new(numbered(rows * columns), std::slice::from_ref(&graph), marks).unwrap();
            let links: Vec<(u32, u32)> = graph.edges.iter().zip(&sure).filter(|(_, is)| **is).map(|(&edge, _)| edge).collect();
            let far = |&(r, c): &(u32, u32)| ((2 * r as usize + 1) * columns).abs_diff((2 * c as usize + 1) * rows);
            let rank = |matching: &[(u32, u32)]| (matching.len(), std::cmp::Reverse(matching.iter().map(far).sum::<usize>()));
            let best = matchings(&links).iter().map(|matching| rank(matching)).max().unwrap();
            let truth: Vec<(u32, u32)> = data.graph(0).truth().map(|(r, c)| (r as u32, c as u32)).collect();
            prop_assert!(truth.iter().all(|edge| links.contains(edge)));
            prop_assert_eq!(rank(&truth), best);
        }
    }
}
