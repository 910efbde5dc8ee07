//! Sequences of rows with a label for every position.

use super::checks::{check_finite, check_names, check_weights, select_weights};
use super::one_print::OnePrint;
use super::{Alphabet, Classes, Dictionary, Vocabulary};
use crate::linalg::{Row, Rows};
use crate::{Error, Result};

/// Sequences of rows with a label for each row, or unlabelled sequences to predict.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequences {
    pub(super) rows: Rows,
    pub(super) edges: Option<Rows>,
    /// One label for every position, or none at all.
    labels: Option<Vec<u16>>,
    starts: Vec<usize>,
    alphabet: Alphabet,
    pub(super) dictionary: Dictionary,
    weights: Option<Vec<f64>>,
    lines: Lines,
    pub(super) print: OnePrint,
}

/// The line of every position in its file, for messages; empty if the sequences come from elsewhere.
#[derive(Clone, Debug, Default)]
struct Lines(Vec<u32>);

/// Where sequences stand in a file does not matter to whether they are the same.
impl PartialEq for Lines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Sequences {
    /// Returns sequences from dense rows; labels are numbers of `names`.
    ///
    /// ```
    /// # use dualgap::data::Sequences;
    /// let names = ["a", "b"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0], vec![2.0]]], &[vec![0, 1]], &names)?;
    /// assert_eq!((data.len(), data.truth(0)), (1, &[0, 1][..]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn from_dense(
        sequences: &[Vec<Vec<f64>>],
        labels: &[Vec<u16>],
        names: &[String],
    ) -> Result<Self> {
        if sequences.len() != labels.len()
            || sequences.iter().zip(labels).any(|(x, y)| x.len() != y.len())
        {
            return Err(Error::setting("every position of every sequence needs one label"));
        }
        let mut starts = vec![0];
        starts.extend(sequences.iter().scan(0, |end, x| {
            *end += x.len();
            Some(*end)
        }));
        let rows = Rows::dense(&sequences.concat())?;
        Self::new(rows, labels.concat(), starts, Alphabet::from(names.to_vec()))
    }

    /// Returns sequences from the rows of all positions, each with a label that is a number of the alphabet.
    /// Sequence `i` has the positions `starts[i]..starts[i + 1]`.
    pub fn new(
        rows: Rows,
        labels: Vec<u16>,
        starts: Vec<usize>,
        alphabet: Alphabet,
    ) -> Result<Self> {
        if rows.len() != labels.len() {
            return Err(Error::setting(format!(
                "there are {} rows and {} labels: every position of every sequence needs one of each",
                rows.len(),
                labels.len()
            )));
        }
        if labels.iter().any(|&label| label as usize >= alphabet.len()) {
            return Err(Error::setting("a label is not in the alphabet"));
        }
        Ok(Self::unlabelled(rows, starts)?.relabelled(labels, alphabet))
    }

    /// Returns unlabelled sequences to predict.
    ///
    /// ```
    /// # use dualgap::{data::Sequences, linalg::Rows};
    /// let data = Sequences::unlabelled(Rows::dense(&[vec![1.0], vec![2.0]])?, vec![0, 2])?;
    /// assert_eq!((data.len(), data.is_labelled(), data.truth(0)), (1, false, &[][..]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn unlabelled(rows: Rows, starts: Vec<usize>) -> Result<Self> {
        if starts.first() != Some(&0) || starts.last() != Some(&rows.len()) || !starts.is_sorted() {
            return Err(Error::setting(format!(
                "the bounds of sequences begin with 0, ascend, and end with the number of rows, {}",
                rows.len()
            )));
        }
        check_finite(&rows)?;
        let (alphabet, dictionary) = (Alphabet::none().clone(), Dictionary::default());
        let (edges, labels, weights) = (None, None, None);
        let (lines, print) = (Lines::default(), OnePrint::default());
        Ok(Self { rows, edges, labels, starts, alphabet, dictionary, weights, lines, print })
    }

    /// Sets the features of label pairs: a row for every position.
    ///
    /// ```
    /// # use dualgap::{data::Sequences, linalg::Rows};
    /// let names = ["a", "b"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0]; 2]], &[vec![0, 1]], &names)?;
    /// let data = data.with_edges(Rows::dense(&[vec![0.0], vec![1.0]])?)?;
    /// assert_eq!(data.edge_features(), 1);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn with_edges(self, edges: Rows) -> Result<Self> {
        if edges.len() != self.rows.len() {
            return Err(Error::setting(format!(
                "there are {} rows for label pairs and {} positions",
                edges.len(),
                self.rows.len()
            )));
        }
        check_finite(&edges)?;
        Ok(Self { edges: Some(edges), print: OnePrint::default(), ..self })
    }

    /// Sets the names of the features: those of positions first, then those of pairs.
    pub fn with_dictionary(self, dictionary: Dictionary) -> Result<Self> {
        check_names(&dictionary, self.rows.width() + self.edge_features())?;
        Ok(Self { dictionary, ..self })
    }

    /// Sets the training weight of each sequence, a nonnegative number. Without weights all sequences count the
    /// same.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        check_weights(&weights, self.len())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The weight of each sequence, unless all are the same.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// One row per position, sequence by sequence.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The features of pairs of neighbouring labels, if there are any: the row of a position has those of the pair
    /// of its label and the one before. The row of a first position is not used.
    pub fn edges(&self) -> Option<&Rows> {
        self.edges.as_ref()
    }

    /// One label per position, a number of the alphabet; empty if the sequences are not labelled.
    pub fn labels(&self) -> &[u16] {
        self.labels.as_deref().unwrap_or_default()
    }

    /// Whether positions have labels.
    pub fn is_labelled(&self) -> bool {
        self.labels.is_some()
    }

    /// Sequence `i` has the positions `starts[i]..starts[i + 1]`.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The names of the labels.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The names of the features, those of positions first, then those of pairs; empty if they have none.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Returns the line of a position in the file that the sequences were read from, if they were.
    pub fn line(&self, position: usize) -> Option<u64> {
        self.lines.0.get(position).map(|&line| u64::from(line))
    }

    /// Sets the line of every position.
    pub(super) fn with_lines(self, lines: Vec<u32>) -> Self {
        Self { lines: Lines(lines), ..self }
    }

    /// Returns the sequences with other labels, which are numbers of the alphabet.
    pub(super) fn relabelled(self, labels: Vec<u16>, alphabet: Alphabet) -> Self {
        debug_assert_eq!(labels.len(), self.rows.len());
        Self { labels: Some(labels), alphabet, print: OnePrint::default(), ..self }
    }

    /// Returns the labels of all positions, if they have any.
    pub(super) fn classes(&self) -> Option<Classes> {
        let labels = self.labels.as_ref()?.iter().map(|&label| u32::from(label)).collect();
        Classes::new(labels, self.alphabet.clone()).ok() // checked when they came
    }

    /// Returns the sequences without the features beyond these, of positions and of pairs, and without the names of
    /// features.
    #[must_use]
    pub fn narrowed(&self, features: usize, pair_features: usize) -> Self {
        let (dictionary, print) = (Dictionary::default(), OnePrint::default());
        let mut narrow = Self { dictionary, print, ..self.clone() };
        narrow.rows.fit_width(features);
        if let Some(edges) = &mut narrow.edges {
            edges.fit_width(pair_features);
        }
        narrow
    }

    /// Returns the names of the labels and features.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: &self.alphabet,
            dictionary: &self.dictionary,
            features: self.rows.width(),
        }
    }

    /// Returns the number of features of a label pair, not counting the constant one that all pairs have.
    pub fn edge_features(&self) -> usize {
        self.edges.as_ref().map_or(0, Rows::width)
    }

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the inputs of sequence `i`.
    #[inline]
    pub fn sequence(&self, i: usize) -> Sequence<'_> {
        Sequence {
            rows: &self.rows,
            edges: self.edges.as_ref(),
            first: self.starts[i],
            length: self.starts[i + 1] - self.starts[i],
        }
    }

    /// Returns the labels of sequence `i`; empty if the sequences are not labelled.
    #[inline]
    pub fn truth(&self, i: usize) -> &[u16] {
        match &self.labels {
            Some(labels) => &labels[self.starts[i]..self.starts[i + 1]],
            None => &[],
        }
    }

    /// Returns the same sequences with one feature for each position, its own: the inputs of a problem under a kernel.
    pub(crate) fn one_hot(&self) -> Self {
        let rows = Rows::identity(self.rows.len());
        let (dictionary, print) = (Dictionary::default(), OnePrint::default());
        Self { rows, dictionary, print, ..self.clone() }
    }

    /// Returns the given sequences in the given order, with the same alphabet, features and weights.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        let positions = || chosen.iter().flat_map(|&i| self.starts[i]..self.starts[i + 1]);
        let mut starts = vec![0];
        starts.extend(chosen.iter().scan(0, |end, &i| {
            *end += self.starts[i + 1] - self.starts[i];
            Some(*end)
        }));
        Self {
            rows: self.rows.select(positions()),
            edges: self.edges.as_ref().map(|edges| edges.select(positions())),
            labels: self.labels.as_ref().map(|labels| positions().map(|t| labels[t]).collect()),
            starts,
            alphabet: self.alphabet.clone(),
            dictionary: self.dictionary.clone(),
            weights: select_weights(self.weights.as_ref(), chosen),
            lines: Lines(positions().filter_map(|t| self.lines.0.get(t).copied()).collect()),
            print: OnePrint::default(),
        }
    }
}

/// The inputs of one sequence, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    rows: &'a Rows,
    edges: Option<&'a Rows>,
    first: usize,
    length: usize,
}

impl<'a> Sequence<'a> {
    /// T, the number of positions.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.length
    }

    /// x_t.
    #[inline]
    pub fn row(self, t: usize) -> Row<'a> {
        debug_assert!(t < self.length);
        self.rows.row(self.first + t)
    }

    /// Returns the features of the pair of labels at t − 1 and t; empty if pairs have none.
    #[inline]
    pub fn edge(self, t: usize) -> Row<'a> {
        debug_assert!(0 < t && t < self.length);
        match self.edges {
            Some(edges) => edges.row(self.first + t),
            None => Row::Dense(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Examples;

    #[test]
    fn selected_sequences_keep_rows_and_labels_together() {
        let names = ["a", "b"].map(String::from);
        let rows = [vec![vec![1.0], vec![2.0]], vec![vec![3.0]], vec![vec![4.0], vec![5.0]]];
        let labels = [vec![0, 1], vec![1], vec![1, 0]];
        let data = Sequences::from_dense(&rows, &labels, &names).unwrap();
        let chosen = data.select(&[2, 1]);
        assert_eq!((chosen.len(), chosen.truth(0), chosen.truth(1)), (2, &[1, 0][..], &[1][..]));
        assert_eq!(chosen.sequence(0).row(1).norm1(), 5.0);
        assert_eq!(chosen.sequence(1).row(0).norm1(), 3.0);
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let names = ["a", "b"].map(String::from);
        assert!(Sequences::from_dense(&[vec![vec![1.0]]], &[vec![0, 1]], &names).is_err());
        assert!(Sequences::from_dense(&[vec![vec![1.0]]], &[vec![2]], &names).is_err());
        assert!(Sequences::from_dense(&[vec![vec![f64::NAN]]], &[vec![0]], &names).is_err());
        let rows = || Rows::dense(&[vec![1.0], vec![2.0], vec![3.0]]).unwrap();
        for starts in [vec![], vec![0], vec![1, 3], vec![0, 2], vec![0, 4], vec![0, 2, 1, 3]] {
            assert!(Sequences::unlabelled(rows(), starts).is_err());
        }
        let data = Sequences::unlabelled(rows(), vec![0, 1, 1, 3]).unwrap();
        assert!(data.clone().with_edges(Rows::dense(&[vec![1.0]]).unwrap()).is_err());
        let data = data.with_edges(rows()).unwrap();
        assert!(data.clone().with_dictionary(["a"].into_iter().collect()).is_err());
        assert!(data.with_dictionary(["a", "b"].into_iter().collect()).is_ok());
    }

    #[test]
    fn sequences_may_go_without_labels() {
        let rows = Rows::dense(&[vec![1.0], vec![2.0], vec![3.0]]).unwrap();
        let data = Sequences::unlabelled(rows, vec![0, 2, 3]).unwrap();
        let chosen = data.select(&[1, 0]);
        assert_eq!((chosen.len(), chosen.starts(), chosen.labels()), (2, &[0, 1, 3][..], &[][..]));
        assert!(Examples::from(chosen).targets().are_none());
    }
}
