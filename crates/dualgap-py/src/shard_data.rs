//! The data of a shard: what others must know of them, what they have in common with the others, and their part of the fingerprint
//! of all.

use crate::data::{Data, Held};
use crate::errors::OrRaise;
use crate::running::{dict, to_python};
use dualgap::Result;
use dualgap::data::{Alphabet, Classes, Dictionary, PrintParts, Sequences, Targets};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

fn other_kind() -> PyErr {
    PyTypeError::new_err(
        "only examples, sequences, matchings and those of an oracle are trained in shards",
    )
}

/// Return what the other shards must know of the data of one: the number of `examples` and of `rows`, the `width`, the `labels`
/// and how often each occurs (`counts`), unless the targets are numbers; the names of the `features`, and how often each occurs
/// in sequences (`feature_counts`); and whether the rows are `mapped`.
pub fn about<'py>(py: Python<'py>, held: &Held) -> PyResult<Bound<'py, PyDict>> {
    let (examples, rows, dictionary) = match held {
        Held::Examples(data) => (data.len(), data.rows(), data.dictionary()),
        Held::Sequences(data) => (data.len(), data.rows(), data.dictionary()),
        _ => return Err(other_kind()),
    };
    let (labels, counts) = match held {
        Held::Examples(data) => match data.targets() {
            Targets::Classes(classes) => classes_of(classes),
            _ => (None, None),
        },
        Held::Sequences(data) => labels_of(data),
        _ => (None, None),
    };
    let feature_counts = match held {
        Held::Sequences(data) => Some(py.detach(|| data.feature_counts())),
        _ => None,
    };
    let names: Vec<&str> = dictionary.names().collect();
    dict(
        py,
        &[
            ("examples", examples.into_pyobject(py)?.into_any()),
            ("rows", rows.len().into_pyobject(py)?.into_any()),
            ("width", rows.width().into_pyobject(py)?.into_any()),
            ("labels", to_python(py, &labels)?),
            ("counts", to_python(py, &counts)?),
            ("features", names.into_pyobject(py)?.into_any()),
            ("feature_counts", to_python(py, &feature_counts)?),
            ("mapped", to_python(py, &rows.are_mapped())?),
        ],
    )
}

/// Labels, and how often each of them occurs.
type Counted = (Option<Vec<String>>, Option<Vec<u64>>);

fn classes_of(classes: &Classes) -> Counted {
    counted(classes.alphabet(), classes.numbers().iter().map(|&k| k as usize))
}

fn labels_of(data: &Sequences) -> Counted {
    counted(data.alphabet(), data.labels().iter().map(|&k| usize::from(k)))
}

fn counted(labels: &Alphabet, numbers: impl Iterator<Item = usize>) -> Counted {
    let mut counts = vec![0; labels.len()];
    numbers.for_each(|k| counts[k] += 1);
    (Some(labels.names().to_vec()), Some(counts))
}

/// Return the data with the columns and labels of all shards. The names of the features of sequences are those of all shards;
/// `constant` appends a column of ones to examples.
pub fn in_common(
    py: Python<'_>,
    held: &Held,
    width: usize,
    labels: Vec<String>,
    features: Vec<String>,
    constant: bool,
) -> PyResult<Data> {
    let labels = Alphabet::from(labels);
    let made = py.detach(|| -> Result<Option<Held>> {
        Ok(match held {
            Held::Examples(data) => {
                let data = data.as_ref().clone().in_common(width, &labels)?;
                let data = if constant { data.with_constant() } else { data };
                Some(Held::Examples(Arc::new(data)))
            }
            Held::Sequences(data) => {
                let features: Dictionary = features.iter().map(String::as_str).collect();
                let data = data.as_ref().clone().in_common(width, &features, &labels)?;
                Some(Held::Sequences(Arc::new(data)))
            }
            _ => None,
        })
    });
    made.or_raise()?.map(Data).ok_or_else(other_kind)
}

/// Return a shard's part of the fingerprint of all; see `PrintParts`.
pub fn print_part(py: Python<'_>, held: &Held, before: &[u64], total: &[u64]) -> PyResult<Vec<u8>> {
    match held {
        Held::Examples(data) => py.detach(|| data.print_part(before, total)).or_raise(),
        Held::Sequences(data) => py.detach(|| data.print_part(before, total)).or_raise(),
        Held::Matchings(data) => py.detach(|| data.print_part(before, total)).or_raise(),
        Held::Own(data) => data.print_part(before, total).or_raise(),
        Held::Ratings(_) => Err(other_kind()),
    }
}

/// Return the sizes of a shard that its fingerprint needs.
pub fn sizes(held: &Held) -> PyResult<Vec<u64>> {
    match held {
        Held::Examples(data) => Ok(data.sizes()),
        Held::Sequences(data) => Ok(data.sizes()),
        Held::Matchings(data) => Ok(data.sizes()),
        Held::Own(data) => Ok(data.sizes()),
        Held::Ratings(_) => Err(other_kind()),
    }
}
