//! `dualgap convert`: other formats as LIBSVM files, the features of random grids, products of two features, inner
//! products with atoms, and files in the same way as another.

mod binning;
mod mapped;
mod plain;
mod products;
mod refusals;

use crate::common::Table;

/// A label and the entries of a line.
type Line = (String, Vec<(usize, f64)>);

/// A LIBSVM file by its definition.
fn parse(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let mut words = line.split(' ').peekable();
        let label = words.next_if(|word| !word.contains(':')).unwrap_or_default().to_string();
        let entry = |word: &str| {
            let (j, x) = word.split_once(':').unwrap();
            (j.parse().unwrap(), x.parse().unwrap())
        };
        (label, words.map(entry).collect())
    };
    text.lines().map(line).collect()
}

fn table() -> Table {
    Table::new(60, 4, 3, 5)
}

fn gunzip(bytes: &[u8]) -> String {
    use std::io::Read;
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}
