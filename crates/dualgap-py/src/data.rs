//! Data sets of the library, made from Python's arrays or read from files.

use crate::arrays::copied;
use crate::errors::OrRaise;
use crate::model::Model;
use crate::oracle::{self, Value};
use crate::reading::{self, How, Input};
use crate::rows::{Rows, places};
use crate::shard_data;
use dualgap::data::{
    Alphabet, Classes, DataSet, Dictionary, Examples, Graph, Mark, Matchings, Numbers, Outputs,
    Ratings, Sequences, Sets, Targets,
};
use dualgap::structure::OwnExamples;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The kinds of data sets; see the library's `DataSet`.
#[derive(Clone)]
pub enum Held {
    /// Rows with a target each.
    Examples(Arc<Examples>),
    /// Sequences of rows.
    Sequences(Arc<Sequences>),
    /// Graphs to be matched.
    Matchings(Arc<Matchings>),
    /// Ratings of items by users.
    Ratings(Arc<Ratings>),
    /// Inputs and outputs of a Python oracle.
    Own(Arc<OwnExamples<oracle::Input, Value>>),
}

/// A data set to train on or to predict.
#[pyclass(frozen, module = "dualgap._dualgap")]
#[derive(Clone)]
pub struct Data(pub Held);

#[pymethods]
impl Data {
    /// Return independent examples: rows, and at most one kind of targets.
    ///
    /// `classes` are numbers of `labels`, `sets` are lists of such numbers, `numbers` has one number an example and
    /// `outputs` several, which are named by `labels`. `constant` appends a column of ones, which copies the rows.
    #[staticmethod]
    #[pyo3(signature = (rows, *, classes=None, sets=None, numbers=None, outputs=None, labels=None, weights=None, features=None, constant=false))]
    #[allow(clippy::too_many_arguments)] // named by the caller
    fn examples(
        rows: &Rows,
        classes: Option<&Bound<'_, PyAny>>,
        sets: Option<Vec<Vec<u32>>>,
        numbers: Option<&Bound<'_, PyAny>>,
        outputs: Option<PyReadonlyArray2<'_, f64>>,
        labels: Option<Vec<String>>,
        weights: Option<&Bound<'_, PyAny>>,
        features: Option<Vec<String>>,
        constant: bool,
    ) -> PyResult<Self> {
        let labels = labels.unwrap_or_default();
        let targets: Targets = match (classes, sets, numbers, outputs) {
            (None, None, None, None) => Targets::None,
            (Some(classes), None, None, None) => {
                let numbers = places(classes)?.into_iter().map(|k| k as u32).collect();
                Classes::new(numbers, Alphabet::from(labels)).or_raise()?.into()
            }
            (None, Some(sets), None, None) => {
                Sets::new(&sets, Alphabet::from(labels)).or_raise()?.into()
            }
            (None, None, Some(numbers), None) => Numbers::new(copied(numbers)?).or_raise()?.into(),
            (None, None, None, Some(outputs)) => {
                let values = outputs.as_array().iter().copied().collect();
                Outputs::new(labels, values).or_raise()?.into()
            }
            _ => return Err(PyValueError::new_err("examples have one kind of targets")),
        };
        let mut data = Examples::new(rows.0.clone(), targets).or_raise()?;
        if let Some(names) = features {
            let names: Dictionary = names.iter().map(String::as_str).collect();
            data = data.with_dictionary(names).or_raise()?;
        }
        if constant {
            data = data.with_constant();
        }
        if let Some(weights) = weights {
            data = data.with_weights(copied(weights)?).or_raise()?;
        }
        Ok(Self(Held::Examples(Arc::new(data))))
    }

    /// Return sequences: sequence `i` has the rows `starts[i]..starts[i + 1]`, each with a number of `labels` if there
    /// are `classes`. `edges` has a row of features of the pair of a position and the one before; `features` names those of
    /// positions, and then those of pairs.
    #[staticmethod]
    #[pyo3(signature = (rows, starts, edges=None, *, classes=None, labels=None, weights=None, features=None))]
    #[allow(clippy::too_many_arguments)] // named by the caller
    fn sequences(
        rows: &Rows,
        starts: &Bound<'_, PyAny>,
        edges: Option<&Rows>,
        classes: Option<&Bound<'_, PyAny>>,
        labels: Option<Vec<String>>,
        weights: Option<&Bound<'_, PyAny>>,
        features: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let (rows, starts) = (rows.0.clone(), places(starts)?);
        let mut data = match classes {
            None => Sequences::unlabelled(rows, starts),
            Some(classes) => {
                let narrowed = places(classes)?.into_iter().map(u16::try_from).collect();
                let numbers: Vec<u16> =
                    Result::map_err(narrowed, |_| PyValueError::new_err("more than 65536 labels"))?;
                Sequences::new(rows, numbers, starts, Alphabet::from(labels.unwrap_or_default()))
            }
        }
        .or_raise()?;
        if let Some(edges) = edges {
            data = data.with_edges(edges.0.clone()).or_raise()?;
        }
        if let Some(names) = features {
            data = data.with_dictionary(names.into_iter().collect()).or_raise()?;
        }
        if let Some(weights) = weights {
            data = data.with_weights(copied(weights)?).or_raise()?;
        }
        Ok(Self(Held::Sequences(Arc::new(data))))
    }

    /// Return graphs: graph `i` has the numbers of rows and columns `sizes[i]` and the edges `starts[i]..starts[i + 1]`,
    /// each with a row of features and, if there are `marks`, 0 for no link, 1 for a possible one and 2 for a sure one.
    #[staticmethod]
    #[pyo3(signature = (rows, sizes, edges, starts, *, marks=None, weights=None, features=None))]
    fn matchings(
        rows: &Rows,
        sizes: Vec<(usize, usize)>,
        edges: PyReadonlyArray2<'_, i64>,
        starts: &Bound<'_, PyAny>,
        marks: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        features: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let edges: Vec<(u32, u32)> = edges
            .as_array()
            .outer_iter()
            .map(|edge| ends(edge[0], edge[1]))
            .collect::<PyResult<_>>()?;
        let starts = places(starts)?;
        if starts.len() != sizes.len() + 1 {
            return Err(PyValueError::new_err("every graph needs a size and a range of edges"));
        }
        let graph = |(&(rows, columns), range): (&(usize, usize), &[usize])| {
            let edges = edges.get(range[0]..range[1]).ok_or_else(|| {
                PyValueError::new_err("the bounds of the graphs do not fit their edges")
            })?;
            Ok(Graph { rows, columns, edges: edges.to_vec() })
        };
        let graphs =
            sizes.iter().zip(starts.windows(2)).map(graph).collect::<PyResult<Vec<_>>>()?;
        let rows = rows.0.clone();
        let mut data = match marks {
            None => Matchings::unlabelled(rows, &graphs),
            Some(marks) => {
                let marks = places(marks)?.into_iter().map(mark).collect::<PyResult<_>>()?;
                Matchings::new(rows, &graphs, marks)
            }
        }
        .or_raise()?;
        if let Some(names) = features {
            data = data.with_dictionary(names.into_iter().collect()).or_raise()?;
        }
        if let Some(weights) = weights {
            data = data.with_weights(copied(weights)?).or_raise()?;
        }
        Ok(Self(Held::Matchings(Arc::new(data))))
    }

    /// Return ratings: rating `k` is `values[k]`, of `item_names[items[k]]` by `user_names[users[k]]`. Without `values`
    /// they are pairs to predict.
    #[staticmethod]
    #[pyo3(signature = (users, items, user_names, item_names, *, values=None, weights=None))]
    fn ratings(
        users: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
        user_names: Vec<String>,
        item_names: Vec<String>,
        values: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (users, items) = (places(users)?, places(items)?);
        let values = values.map(copied).transpose()?;
        let lengths = [items.len(), values.as_ref().map_or(items.len(), Vec::len)];
        if lengths != [users.len(); 2] {
            return Err(PyValueError::new_err("every rating needs a user, an item and a value"));
        }
        let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(users.len());
        for (user, item) in users.into_iter().zip(items) {
            let (Some(user), Some(item)) = (user_names.get(user), item_names.get(item)) else {
                return Err(PyValueError::new_err("a user or an item has no name"));
            };
            pairs.push((user, item));
        }
        let mut data = match values {
            None => Ratings::from_pairs(&pairs),
            Some(values) => {
                let triples: Vec<(&str, &str, f64)> = pairs
                    .into_iter()
                    .zip(values)
                    .map(|((user, item), y)| (user, item, y))
                    .collect();
                Ratings::from_triples(&triples).or_raise()?
            }
        };
        if let Some(weights) = weights {
            data = data.with_weights(copied(weights)?).or_raise()?;
        }
        Ok(Self(Held::Ratings(Arc::new(data))))
    }

    /// Read data as the program does, from a path or from the bytes of a file.
    ///
    /// `request` is JSON, `{"structure": …, "recipe": …}` in the forms that a model file has; without a recipe the format
    /// is guessed. To `train` a file must have targets; a `shard` is read to train on together with others; to `test` or to `predict` it is read with the
    /// names of the model `names_of`. `weights` are those of the examples. Returns the data, and a dict of the completed `recipe`, of whether they are `labelled`, and of what is
    /// `unseen` by the model.
    #[staticmethod]
    #[pyo3(signature = (structure, source, request, *, purpose="train", names_of=None, weights=None, threads=0))]
    #[allow(clippy::too_many_arguments)] // named by the caller
    fn read<'py>(
        py: Python<'py>,
        structure: &str,
        source: Input,
        request: &str,
        purpose: &str,
        names_of: Option<&Model>,
        weights: Option<&Bound<'_, PyAny>>,
        threads: usize,
    ) -> PyResult<(Self, Bound<'py, PyDict>)> {
        let weights = weights.map(copied).transpose()?;
        let how = How { purpose, names_of, weights, threads };
        reading::read(py, structure, &source, request, how)
    }

    /// Return inputs of a Python oracle, with outputs if there are any. The content of an input is that of its key.
    #[staticmethod]
    #[pyo3(signature = (inputs, *, keys=None, outputs=None, weights=None))]
    fn own(
        inputs: Vec<Bound<'_, PyAny>>,
        keys: Option<Vec<Bound<'_, PyAny>>>,
        outputs: Option<Vec<Bound<'_, PyAny>>>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let mut data = oracle::examples(&inputs, keys.as_deref(), outputs.as_deref())?;
        if let Some(weights) = weights {
            data = data.with_weights(weights).or_raise()?;
        }
        Ok(Self(Held::Own(Arc::new(data))))
    }

    fn __len__(&self) -> usize {
        match &self.0 {
            Held::Examples(data) => data.len(),
            Held::Sequences(data) => data.len(),
            Held::Matchings(data) => data.len(),
            Held::Ratings(data) => data.len(),
            Held::Own(data) => data.len(),
        }
    }

    /// Return what the other shards must know of the data of one.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        shard_data::about(py, &self.0)
    }

    /// Return the data with the columns and labels of all shards, and with the features of these names if they have any.
    #[pyo3(signature = (width, labels, features, *, constant=false))]
    fn in_common(
        &self,
        py: Python<'_>,
        width: usize,
        labels: Vec<String>,
        features: Vec<String>,
        constant: bool,
    ) -> PyResult<Self> {
        shard_data::in_common(py, &self.0, width, labels, features, constant)
    }

    /// Return the sizes of a shard that the fingerprint of all shards needs: the number of examples, and others.
    fn sizes(&self) -> PyResult<Vec<u64>> {
        shard_data::sizes(&self.0)
    }

    /// Return a shard's part of the fingerprint of all shards. `before` are the sizes of the shards before this one and `total`
    /// those of all.
    fn print_part(&self, py: Python<'_>, before: Vec<u64>, total: Vec<u64>) -> PyResult<Vec<u8>> {
        shard_data::print_part(py, &self.0, &before, &total)
    }

    /// The fingerprint of the data, as a model file has it.
    fn fingerprint(&self, py: Python<'_>) -> String {
        // It reads all of the data, and whoever watches over the pages of mapped files has to run meanwhile.
        match &self.0 {
            Held::Examples(data) => py.detach(|| data.fingerprint()),
            Held::Sequences(data) => py.detach(|| data.fingerprint()),
            Held::Matchings(data) => data.fingerprint(),
            Held::Ratings(data) => data.fingerprint(),
            Held::Own(data) => data.fingerprint(),
        }
    }
}

/// Returns the row and the column of an edge.
fn ends(row: i64, column: i64) -> PyResult<(u32, u32)> {
    match (u32::try_from(row), u32::try_from(column)) {
        (Ok(row), Ok(column)) => Ok((row, column)),
        _ => Err(PyValueError::new_err(format!(
            "there is no edge from row {row} to column {column}: both count from 0"
        ))),
    }
}

/// Returns the mark of a number.
fn mark(number: usize) -> PyResult<Mark> {
    match number {
        0 => Ok(Mark::None),
        1 => Ok(Mark::Possible),
        2 => Ok(Mark::Sure),
        _ => Err(PyValueError::new_err("a mark is 0, 1 or 2")),
    }
}
