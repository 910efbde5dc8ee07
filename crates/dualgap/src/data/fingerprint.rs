//! Fingerprints of data sets: a digest over everything that a certificate depends on.
//!
//! The fingerprint depends on the contents and not on the file: compression, comments and line ends make no
//! difference; a value, a label, the order of the examples do. Fields are written with their lengths in
//! little-endian order, so that no two data sets give the same bytes.

use super::{Examples, Mark, Matchings, Ratings, Sequences, Targets};
use crate::container::Digest;
use crate::linalg::Rows;

/// A data set that has a fingerprint.
pub trait Fingerprint {
    /// Adds everything that a certificate depends on to the digest.
    fn digest(&self, digest: &mut Digest);
}

/// Returns the fingerprint of a data set.
pub fn fingerprint(data: &impl Fingerprint) -> String {
    let mut digest = Digest::of_data();
    data.digest(&mut digest);
    digest.hex()
}

impl Fingerprint for Rows {
    fn digest(&self, digest: &mut Digest) {
        digest.number(self.len() as u64);
        digest.number(self.width() as u64);
        self.digest_entries(digest, 0);
    }
}

impl Rows {
    /// Adds the entries of all rows, a section of its own that begins after so many rows of other shards.
    pub(super) fn digest_entries(&self, digest: &mut Digest, before: u64) {
        let mut buffer = Vec::new();
        digest.section(before);
        (0..self.len()).for_each(|i| digest_row(digest, self.row(i).iter(), &mut buffer));
    }
}

/// Adds the entries of a row, an item of a section. Zeros are left out, so that sparse and dense forms of the same rows agree.
pub(super) fn digest_row(
    digest: &mut Digest,
    row: impl Iterator<Item = (usize, f64)>,
    buffer: &mut Vec<u8>,
) {
    buffer.clear();
    let mut stored = 0_u64;
    for (j, x) in row.filter(|&(_, x)| x != 0.0) {
        stored += 1;
        buffer.extend_from_slice(&(j as u32).to_le_bytes());
        buffer.extend_from_slice(&x.to_le_bytes());
    }
    digest.number(stored);
    digest.bytes(buffer);
    digest.end_item();
}

impl Digest {
    /// Adds a text, an item of a section.
    fn text_item(&mut self, text: &str) {
        self.text(text);
        self.end_item();
    }
}

impl Fingerprint for Examples {
    fn digest(&self, digest: &mut Digest) {
        digest.text("examples");
        self.rows.digest(digest);
        digest_targets(&self.targets, digest, 0);
    }
}

/// Adds the targets of examples, a section of its own that begins after so many examples of other shards.
pub(super) fn digest_targets(targets: &Targets, digest: &mut Digest, before: u64) {
    digest.section(before);
    match targets {
        Targets::None => digest.text("unlabelled"),
        Targets::Classes(classes) => {
            (0..classes.len()).for_each(|i| digest.text_item(classes.name(i)));
        }
        // In the normal spelling that numbers and sets have in files: the bytes are those of earlier versions, whose SHA-256 is in
        // their models.
        Targets::Numbers(numbers) => {
            numbers.values().iter().for_each(|value| digest.text_item(&value.to_string()));
        }
        Targets::Sets(sets) => (0..sets.len()).for_each(|i| digest.text_item(&sets.spelling(i))),
        Targets::Outputs(outputs) => {
            digest.text("outputs");
            digest.number(outputs.names().len() as u64);
            outputs.names().names().iter().for_each(|name| digest.text(name));
            outputs.values().iter().for_each(|value| digest.bytes(&value.to_le_bytes()));
        }
    }
}

impl Fingerprint for Sequences {
    fn digest(&self, digest: &mut Digest) {
        digest.text("sequences");
        self.rows.digest(digest);
        if let Some(edges) = &self.edges {
            digest.section(0);
            digest.text("edges");
            edges.digest(digest);
        }
        digest.section(0);
        digest.number(self.starts().len() as u64);
        self.digest_starts(digest, [0, 0], self.starts().len());
        self.digest_labels(digest, 0);
    }
}

impl Sequences {
    /// Adds so many of the starts, a section that begins after so many sequences and positions of other shards.
    pub(super) fn digest_starts(
        &self,
        digest: &mut Digest,
        [sequences, positions]: [u64; 2],
        count: usize,
    ) {
        digest.section(sequences);
        for &start in &self.starts()[..count] {
            digest.number(positions + start as u64);
            digest.end_item();
        }
    }

    /// Adds the labels, a section that begins after so many positions of other shards.
    pub(super) fn digest_labels(&self, digest: &mut Digest, positions: u64) {
        digest.section(positions);
        for &label in self.labels() {
            digest.text_item(&self.alphabet().names()[label as usize]);
        }
    }
}

/// The truth follows from the marks, and words are for people.
impl Fingerprint for Matchings {
    fn digest(&self, digest: &mut Digest) {
        digest.text("matchings");
        self.features().digest(digest);
        digest.section(0);
        digest.number(self.len() as u64);
        digest.text(if self.is_labelled() { "marked" } else { "unlabelled" });
        self.digest_graphs(digest, 0);
    }
}

impl Matchings {
    /// Adds the graphs and their marks, a section that begins after so many graphs of other shards.
    pub(super) fn digest_graphs(&self, digest: &mut Digest, before: u64) {
        digest.section(before);
        for graph in (0..self.len()).map(|i| self.graph(i)) {
            for number in [graph.rows(), graph.columns(), graph.edges().len()] {
                digest.number(number as u64);
            }
            for (e, &(row, column)) in graph.edges().iter().enumerate() {
                let mark = match graph.mark(e) {
                    Mark::None => 0,
                    Mark::Possible => 1,
                    Mark::Sure => 2,
                };
                digest.number(u64::from(row) << 32 | u64::from(column));
                digest.number(mark);
            }
            digest.end_item();
        }
    }
}

/// By name: the numbers of users and items depend on the order of the ratings.
impl Fingerprint for Ratings {
    fn digest(&self, digest: &mut Digest) {
        digest.text("ratings");
        digest.number(self.len() as u64);
        digest.section(0);
        for (&place, value) in self.pairs.places.iter().zip(&self.values) {
            let (user, item) = self.pairs.names(place);
            digest.text(user);
            digest.text(item);
            digest.bytes(&value.to_le_bytes());
            digest.end_item();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, DataSet, Numbers, Outputs, Sets};

    #[test]
    fn every_part_of_a_data_set_counts() {
        let names = ["a", "b"].map(String::from);
        let data = |rows: [f64; 3], labels: [u16; 3], split: usize| {
            let positions: Vec<Vec<f64>> = rows.iter().map(|&x| vec![x]).collect();
            let rows = [positions[..split].to_vec(), positions[split..].to_vec()];
            let labels = [labels[..split].to_vec(), labels[split..].to_vec()];
            fingerprint(&Sequences::from_dense(&rows, &labels, &names).unwrap())
        };
        let original = data([1.0, 2.0, 3.0], [0, 1, 0], 1);
        assert_eq!(original, data([1.0, 2.0, 3.0], [0, 1, 0], 1));
        assert_ne!(original, data([1.0, 2.0, 3.0], [0, 1, 0], 2));
        assert_ne!(original, data([1.0, 2.0, 3.0], [0, 1, 1], 1));
        assert_ne!(original, data([1.0, 3.0, 2.0], [0, 1, 0], 1));
    }

    /// It is computed once, and again for data that were made of others.
    #[test]
    fn changed_data_have_a_fingerprint_of_their_own() {
        let data = || Examples::from_dense(&[vec![1.0], vec![4.0]], &["a", "b"]).unwrap();
        let same = |changed: &Examples| {
            assert_eq!(changed.fingerprint(), fingerprint(changed));
            changed.fingerprint() == fingerprint(&data())
        };
        let known = data();
        assert!(same(&known) && same(&known.clone()) && known == data());
        assert!(same(&known.clone().with_weights(vec![1.0, 2.0]).unwrap()));
        assert!(!same(&known.clone().with_constant()));
        assert!(!same(&known.select(&[1, 0])));
        assert!(!same(&known.one_hot()));
        assert!(!same(&known.scaled(crate::data::Scaling::Max).unwrap().1));
    }

    #[test]
    fn numbers_and_their_names_count() {
        let data = |names: [&str; 2], values: [f64; 2]| {
            let outputs = Outputs::new(names.map(String::from).to_vec(), values.to_vec()).unwrap();
            let rows = Rows::dense(&[vec![1.0]]).unwrap();
            fingerprint(&Examples::new(rows, outputs).unwrap())
        };
        let original = data(["a", "b"], [1.0, 2.0]);
        assert_eq!(original, data(["a", "b"], [1.0, 2.0]));
        assert_ne!(original, data(["b", "a"], [1.0, 2.0]));
        assert_ne!(original, data(["a", "b"], [2.0, 1.0]));
    }

    /// The fingerprints of earlier versions are the SHA-256 of these bytes, where the number 2.5 is the name `2.5` and the set of 9
    /// and 10 is `9,10`.
    #[test]
    fn numbers_and_sets_have_the_fingerprints_of_their_names() {
        let rows = || Rows::dense(&[vec![1.0], vec![2.0], vec![3.0]]).unwrap();
        let named =
            |names: [&str; 3]| fingerprint(&Examples::new(rows(), Classes::named(&names)).unwrap());
        let numbers = Numbers::new(vec![2.5, -7.0, 1e-7]).unwrap();
        let numbers = fingerprint(&Examples::new(rows(), numbers).unwrap());
        assert_eq!(numbers, named(["2.5", "-7", "0.0000001"]));
        let sets = Sets::named(&[vec!["10", "9"], vec![], vec!["x", "9"]]).unwrap();
        let sets = Examples::new(rows(), sets).unwrap();
        assert_eq!(fingerprint(&sets), named(["9,10", "", "9,x"]));
        let bare = Examples::unlabelled(rows()).unwrap();
        assert_ne!(fingerprint(&bare), fingerprint(&sets));
        let fewer = Examples::unlabelled(rows().select(0..2)).unwrap();
        assert_ne!(fingerprint(&bare), fingerprint(&fewer));
    }

    /// As docs/model-file.md says it.
    #[test]
    fn a_fingerprint_can_be_computed_by_the_documentation() {
        let rows: Vec<Vec<f64>> = (0..65).map(|i| vec![0.0, f64::from(i)]).collect();
        let names: Vec<String> = (0..65).map(|i| format!("no. {}", i % 3)).collect();
        let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
        let data = Examples::new(Rows::dense(&rows).unwrap(), Classes::named(&names)).unwrap();
        let number = |number: usize| (number as u64).to_le_bytes().to_vec();
        let text = |text: &str| [&number(text.len())[..], text.as_bytes()].concat();
        let entry = |x: f64| [&1_u32.to_le_bytes()[..], &x.to_le_bytes()].concat();
        let row = |row: &Vec<f64>| match row[1] {
            0.0 => number(0),
            x => [number(1), entry(x)].concat(),
        };
        let group = |bytes: Vec<u8>| blake3::hash(&bytes).as_bytes().to_vec();
        let mut root = group([text("examples"), number(65), number(2)].concat());
        let zeros = [0; 32];
        root.extend(zeros);
        rows.chunks(64).for_each(|rows| root.extend(group(rows.iter().flat_map(row).collect())));
        root.extend(zeros);
        let label = |name: &&str| text(name);
        names.chunks(64).for_each(|some| root.extend(group(some.iter().flat_map(label).collect())));
        root.extend(zeros);
        assert_eq!(fingerprint(&data), format!("blake3-{}", blake3::hash(&root).to_hex()));
    }

    #[test]
    fn sparse_and_dense_forms_of_the_same_rows_agree() {
        let mut sparse = Rows::sparse();
        sparse.push_sparse(&[(0, 1.0), (2, 3.0)]);
        let dense = Rows::dense(&[vec![1.0, 0.0, 3.0]]).unwrap();
        let hex = |rows: &Rows| fingerprint(rows);
        assert_eq!(hex(&sparse), hex(&dense));
    }
}
