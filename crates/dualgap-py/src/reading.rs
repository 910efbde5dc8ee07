//! Files of the program's formats: to data, and to predictions beside them.

use crate::data::Data;
use crate::errors::OrRaise;
use crate::fit::unknown;
use crate::model::Model;
use crate::running::{dict, to_python};
use crate::structures::{PyStructure, for_structure};
use dualgap::data::{
    ColumnRecipe, DataSet, Examples, Loaded, Recipe, Sink, Source, TargetKind, Unseen,
};
use dualgap::linalg::on_threads;
use dualgap::structure::Purpose;
use dualgap::task::{AnyModel, Request};
use dualgap::{Error, Result};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Where data are read from.
#[derive(FromPyObject)]
pub enum Input {
    /// The bytes of a file, plain or compressed.
    Bytes(PyBackedBytes),
    /// A file.
    File(PathBuf),
}

impl Input {
    fn open(&self) -> Result<Source<'_>> {
        match self {
            Self::Bytes(bytes) => Source::from_bytes("the data in memory", bytes),
            Self::File(path) => Source::open(path),
        }
    }
}

/// What is read, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted<S> {
    #[serde(bound(deserialize = "S: DeserializeOwned"))]
    structure: S,
    /// Guessed from the file if it is absent.
    recipe: Option<Recipe>,
}

/// What data are read for.
pub struct How<'a> {
    /// `train`, `shard`, `test` or `predict`.
    pub purpose: &'a str,
    /// The model to test, or to predict with.
    pub names_of: Option<&'a Model>,
    /// The weight of each example, unless all are the same.
    pub weights: Option<Vec<f64>>,
    /// The number of threads; zero stands for all cores.
    pub threads: usize,
}

/// Reads data; see `Data.read`.
pub fn read<'py>(
    py: Python<'py>,
    structure: &str,
    source: &Input,
    request: &str,
    how: How<'_>,
) -> PyResult<(Data, Bound<'py, PyDict>)> {
    for_structure!(structure, read_one(py, source, request, how))
        .unwrap_or_else(|| Err(unknown(structure)))
}

fn read_one<'py, S: PyStructure>(
    py: Python<'py>,
    source: &Input,
    request: &str,
    how: How<'_>,
) -> PyResult<(Data, Bound<'py, PyDict>)> {
    let How { purpose, names_of, weights, threads } = how;
    let Wanted::<S> { structure, recipe } = serde_json::from_str(request).or_raise()?;
    let model = names_of.map(Model::of_structure::<S>).transpose()?;
    let structure = model.map_or(structure, |model| model.task.structure.clone());
    // A shard need not have all that data to train on need, such as two classes.
    let is_shard = purpose == "shard";
    let purpose = match (purpose, model) {
        ("train" | "shard", _) => Purpose::Train,
        ("test", Some(model)) => Purpose::Test(&model.names),
        ("predict", Some(model)) => Purpose::Predict(&model.names),
        _ => return Err(PyValueError::new_err("data are read to train, or for a model")),
    };
    let loaded = py.detach(|| {
        on_threads(threads, || {
            let mut source = source.open()?;
            let name = source.name().to_string();
            let recipe = match recipe {
                Some(recipe) => recipe,
                None => Recipe::whole(S::guess(&source.head()?)),
            };
            let recipe = Recipe { target: structure.target(), ..recipe };
            let loaded = structure.read(&recipe, source, purpose)?;
            match structure.complaint(&loaded.data) {
                Some((message, remedy)) if matches!(purpose, Purpose::Train) && !is_shard => {
                    Err(Error::file(Path::new(&name), message, remedy))
                }
                _ => Ok(loaded),
            }
        })
    });
    let Loaded { mut data, recipe, labelled, unseen, .. } = loaded.or_raise()?.or_raise()?;
    if let Some(weights) = weights {
        data = data.weighted(weights).or_raise()?;
    }
    let told = dict(
        py,
        &[
            ("recipe", to_python(py, &recipe)?),
            ("labelled", to_python(py, &labelled)?),
            ("unseen", unseen_of(py, &unseen)?),
        ],
    )?;
    Ok((Data(S::hold(data)), told))
}

/// Returns what a model did not see in training as a dict.
fn unseen_of<'py>(py: Python<'py>, unseen: &Unseen) -> PyResult<Bound<'py, PyAny>> {
    let Unseen { met, features, labels } = unseen;
    to_python(py, &json!({ "features": features, "features_met": met, "labels": labels }))
}

/// Writes the predictions for a file as the program does, and returns what the model did not see in training.
pub fn predict_file<'py>(
    py: Python<'py>,
    model: &dyn AnyModel,
    source: &Input,
    out: &Path,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| {
        on_threads(threads, || {
            let source = source.open()?;
            let mut sink = Sink::create(out)?;
            let found = model.predict(source, &Request::default(), &mut sink)?;
            sink.finish()?;
            Ok(found)
        })
    });
    let found: Result<_> = found.or_raise()?;
    unseen_of(py, &found.or_raise()?.unseen)
}

/// Return the recipe of a column file, as a dict: with the features of a preset, or with templates, which are checked.
#[pyfunction]
#[pyo3(signature = (*, preset=None, templates=None, name="the templates"))]
pub fn column_recipe<'py>(
    py: Python<'py>,
    preset: Option<&str>,
    templates: Option<String>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let recipe = match (preset, templates) {
        // The file decides how often a feature has to occur, as it does for the program.
        (None | Some("standard"), None) => ColumnRecipe { min_count: 0, ..ColumnRecipe::default() },
        (Some(preset), None) => ColumnRecipe::preset(preset).ok_or_else(|| {
            PyValueError::new_err(format!(
                "`{preset}` is no set of features, no template and no file: give `standard`, `paper-conll2000`, \
                 templates such as U00:%x[0,0], a line each, or the path of a file of them"
            ))
        })?,
        (None, Some(templates)) => ColumnRecipe::from_templates(name, templates).or_raise()?,
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err("features are a preset or templates, not both"));
        }
    };
    to_python(py, &recipe)
}

/// Return how often a feature must occur in so many tokens if nothing is said about it.
#[pyfunction]
pub fn usual_min_count(tokens: usize) -> u32 {
    ColumnRecipe::usual_min_count(tokens)
}

/// A CSR matrix and a number for each of its rows.
type CsrAndNumbers<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f64>>,
    usize,
    Bound<'py, PyArray1<f64>>,
);

/// Read a LIBSVM file, plain or compressed, as the program does: return the starts, columns and values of its rows, the number of
/// columns, and the number that each line begins with.
#[pyfunction]
pub fn read_libsvm(py: Python<'_>, path: PathBuf, threads: usize) -> PyResult<CsrAndNumbers<'_>> {
    let read = py.detach(|| {
        on_threads(threads, || Examples::read_libsvm(Source::open(&path)?, TargetKind::Number))
    });
    let read = read.or_raise()?.or_raise()?;
    let rows = read.rows();
    let mut starts = Vec::with_capacity(rows.len() + 1);
    let (mut columns, mut values) =
        (Vec::with_capacity(rows.stored()), Vec::with_capacity(rows.stored()));
    starts.push(0);
    for i in 0..rows.len() {
        for (column, value) in rows.row(i).iter() {
            // The reader refuses indices above 2^28.
            columns.push(i32::try_from(column).unwrap_or(i32::MAX));
            values.push(value);
        }
        starts.push(i64::try_from(values.len()).unwrap_or(i64::MAX));
    }
    Ok((
        starts.into_pyarray(py),
        columns.into_pyarray(py),
        values.into_pyarray(py),
        rows.width(),
        read.numbers().or_raise()?.to_vec().into_pyarray(py),
    ))
}
