//! Data sets of the library, made from Python's arrays or read from files.

use crate::arrays::copied;
use crate::errors::OrRaise;
use crate::rows::{Rows, places};
use dualgap::data::{
    Alphabet, Classes, DataSet, Dictionary, Examples, Matchings, Numbers, Outputs, Ratings,
    Sequences, Sets, Targets,
};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
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
    /// are `classes`. `edges` has a row of features of the pair of a position and the one before.
    #[staticmethod]
    #[pyo3(signature = (rows, starts, *, classes=None, labels=None, edges=None, weights=None))]
    fn sequences(
        rows: &Rows,
        starts: &Bound<'_, PyAny>,
        classes: Option<&Bound<'_, PyAny>>,
        labels: Option<Vec<String>>,
        edges: Option<&Rows>,
        weights: Option<&Bound<'_, PyAny>>,
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
        if let Some(weights) = weights {
            data = data.with_weights(copied(weights)?).or_raise()?;
        }
        Ok(Self(Held::Sequences(Arc::new(data))))
    }

    fn __len__(&self) -> usize {
        match &self.0 {
            Held::Examples(data) => data.len(),
            Held::Sequences(data) => data.len(),
            Held::Matchings(data) => data.len(),
            Held::Ratings(data) => data.len(),
        }
    }

    /// The fingerprint of the data, as a model file has it.
    fn fingerprint(&self) -> String {
        match &self.0 {
            Held::Examples(data) => data.fingerprint(),
            Held::Sequences(data) => data.fingerprint(),
            Held::Matchings(data) => data.fingerprint(),
            Held::Ratings(data) => data.fingerprint(),
        }
    }
}
