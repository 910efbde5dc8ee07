//! Data sets: rows with one label each, and sequences of labelled rows.

use super::{Alphabet, Dictionary, Outputs, Vocabulary};
use crate::linalg::{Row, Rows};
use crate::{Error, Result};

/// Rows with one label each.
///
/// ```
/// # use dualgap::data::Examples;
/// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["no", "yes"])?;
/// assert_eq!((data.len(), data.labels[1]), (2, 1));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// One row per example.
    pub rows: Rows,
    /// One label per row, a number of the alphabet.
    pub labels: Vec<u32>,
    /// The names of the labels.
    pub alphabet: Alphabet,
    /// The names of the features, or none.
    pub dictionary: Dictionary,
    /// Several numbers of every example, in the place of the label.
    pub outputs: Option<Outputs>,
}

impl Examples {
    /// From dense rows and the names of their labels.
    pub fn from_dense(rows: &[Vec<f64>], labels: &[&str]) -> Result<Self> {
        let alphabet = Alphabet::new(labels.iter().map(ToString::to_string));
        let numbers = labels.iter().filter_map(|name| alphabet.index(name)).map(|k| k as u32);
        Self::new(Rows::dense(rows)?, numbers.collect(), alphabet)
    }

    /// Checks that everything fits together.
    pub fn new(rows: Rows, labels: Vec<u32>, alphabet: Alphabet) -> Result<Self> {
        if rows.len() != labels.len() {
            return Err(Error::setting(format!(
                "there are {} rows and {} labels",
                rows.len(),
                labels.len()
            )));
        }
        if labels.iter().any(|&label| label as usize >= alphabet.len()) {
            return Err(Error::setting("a label is not in the alphabet"));
        }
        check_finite(&rows)?;
        Ok(Self { rows, labels, alphabet, dictionary: Dictionary::default(), outputs: None })
    }

    /// The labels as numbers: −1 and 1 for the first and the second of two classes, or their own values.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["2.5", "7"])?;
    /// assert_eq!(data.targets(false)?, [2.5, 7.0]);
    /// assert_eq!(data.targets(true)?, [-1.0, 1.0]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn targets(&self, binary: bool) -> Result<Vec<f64>> {
        let names = self.alphabet.names();
        let values: Vec<f64> = if binary {
            if names.len() != 2 {
                return Err(Error::setting(format!(
                    "there must be two classes, and the data have {}",
                    names.len()
                )));
            }
            vec![-1.0, 1.0]
        } else {
            let value = |name: &String| name.parse().ok().filter(|x: &f64| x.is_finite());
            let not_one = |name: &String| Error::setting(format!("the label {name} is no number"));
            names
                .iter()
                .map(|name| value(name).ok_or_else(|| not_one(name)))
                .collect::<Result<_>>()?
        };
        Ok(self.labels.iter().map(|&label| values[label as usize]).collect())
    }

    /// n.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The names of its labels, or of its outputs, and of its features.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: self.outputs.as_ref().map_or(&self.alphabet, Outputs::names),
            dictionary: &self.dictionary,
            features: self.rows.width(),
        }
    }

    /// The given examples in the given order, with the same alphabet and features.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["no", "yes"])?;
    /// let second = data.select(&[1]);
    /// assert_eq!((second.labels, second.alphabet), (vec![1], data.alphabet));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        Self {
            rows: self.rows.select(chosen.iter().copied()),
            labels: chosen.iter().map(|&i| self.labels[i]).collect(),
            alphabet: self.alphabet.clone(),
            dictionary: self.dictionary.clone(),
            outputs: self.outputs.as_ref().map(|outputs| outputs.select(chosen)),
        }
    }
}

/// A feature that is no finite number would make every sum meaningless.
fn check_finite(rows: &Rows) -> Result<()> {
    match (0..rows.len()).find(|&i| rows.row(i).iter().any(|(_, x)| !x.is_finite())) {
        Some(i) => Err(Error::setting(format!("row {i} has a value that is not finite"))),
        None => Ok(()),
    }
}

/// Sequences of rows with a label for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequences {
    /// One row per position, sequence after sequence.
    pub rows: Rows,
    /// Features of pairs of neighbouring labels, if there are any: the row of a position is about the pair of
    /// its label and the one before. That of a first position means nothing.
    pub edges: Option<Rows>,
    /// One label per position, a number of the alphabet.
    pub labels: Vec<u16>,
    /// Sequence `i` has the positions `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    /// The names of the labels.
    pub alphabet: Alphabet,
    /// The names of the features, or none: those of positions first, then those of pairs.
    pub dictionary: Dictionary,
}

impl Sequences {
    /// From dense rows; labels are numbers of `names`.
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

    /// Checks that everything fits together.
    pub fn new(
        rows: Rows,
        labels: Vec<u16>,
        starts: Vec<usize>,
        alphabet: Alphabet,
    ) -> Result<Self> {
        if rows.len() != labels.len()
            || starts.first() != Some(&0)
            || starts.last() != Some(&labels.len())
            || !starts.is_sorted()
        {
            return Err(Error::setting("rows, labels and sequence bounds do not fit together"));
        }
        if labels.iter().any(|&label| label as usize >= alphabet.len()) {
            return Err(Error::setting("a label is not in the alphabet"));
        }
        check_finite(&rows)?;
        let dictionary = Dictionary::default();
        Ok(Self { rows, edges: None, labels, starts, alphabet, dictionary })
    }

    /// With features of label pairs: a row for every position.
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
        Ok(Self { edges: Some(edges), ..self })
    }

    /// The names of its labels and features.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: &self.alphabet,
            dictionary: &self.dictionary,
            features: self.rows.width(),
        }
    }

    /// How many features a pair of labels has, beside the one that all pairs have.
    pub fn edge_features(&self) -> usize {
        self.edges.as_ref().map_or(0, Rows::width)
    }

    /// n, the number of sequences.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The inputs of sequence `i`.
    #[inline]
    pub fn sequence(&self, i: usize) -> Sequence<'_> {
        Sequence {
            rows: &self.rows,
            edges: self.edges.as_ref(),
            first: self.starts[i],
            length: self.starts[i + 1] - self.starts[i],
        }
    }

    /// The labels of sequence `i`.
    #[inline]
    pub fn truth(&self, i: usize) -> &[u16] {
        &self.labels[self.starts[i]..self.starts[i + 1]]
    }

    /// The given sequences in the given order, with the same alphabet and features.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        let positions = || chosen.iter().flat_map(|&i| self.starts[i]..self.starts[i + 1]);
        let mut starts = vec![0];
        starts.extend(chosen.iter().scan(0, |end, &i| {
            *end += self.truth(i).len();
            Some(*end)
        }));
        Self {
            rows: self.rows.select(positions()),
            edges: self.edges.as_ref().map(|edges| edges.select(positions())),
            labels: positions().map(|t| self.labels[t]).collect(),
            starts,
            alphabet: self.alphabet.clone(),
            dictionary: self.dictionary.clone(),
        }
    }
}

/// Every position as an example of its own; features of label pairs are left behind.
impl From<Sequences> for Examples {
    fn from(sequences: Sequences) -> Self {
        let dictionary = sequences.dictionary;
        Self {
            dictionary: match sequences.edges {
                Some(_) => dictionary.first(sequences.rows.width()),
                None => dictionary,
            },
            rows: sequences.rows,
            labels: sequences.labels.into_iter().map(u32::from).collect(),
            alphabet: sequences.alphabet,
            outputs: None,
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
    /// T.
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

    /// The features of the pair of labels at t − 1 and t; empty where pairs have none.
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
        assert!(Examples::from_dense(&[vec![f64::INFINITY]], &["a"]).is_err());
        assert!(Examples::from_dense(&[vec![1.0], vec![1.0]], &["a"]).is_err());
    }
}
