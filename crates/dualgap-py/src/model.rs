//! A fitted model of any structure.

use crate::data::Data;
use crate::errors::{OrRaise, exception};
use crate::figures::figures_of;
use crate::fit::unknown;
use crate::reading::{self, Input};
use crate::running::{dict, to_python};
use crate::structures::{PyStructure, for_structure};
use dualgap::container::write_atomically;
use dualgap::linalg::on_threads;
use dualgap::run::Certificate;
use dualgap::structure::evaluation::Evaluation;
use dualgap::structure::{Support, Table};
use dualgap::task::{AnyModel, DualEvidence, RawModel};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;

/// What Python does with a model, whatever its structure.
trait Fitted: Send + Sync {
    fn any(&self) -> &dyn AnyModel;
    fn arrays(&self) -> Vec<(&'static str, Vec<usize>, &[f64])>;
    fn support(&self) -> Option<&Support>;
    fn costs(&self) -> Option<&[f64]>;
    fn sample_weights(&self) -> Option<&[f64]>;
    fn to_bytes(&self, witness: bool) -> dualgap::Result<Vec<u8>>;
    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>>;
    fn scores(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Table>;
    fn probabilities(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Table>;
    fn evaluate(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Evaluation>;
    fn certify(&self, py: Python<'_>, data: &Data) -> PyResult<(Certificate, DualEvidence)>;
    fn completed(&self, arrays: &Bound<'_, PyDict>) -> PyResult<Model>;
}

impl<S: PyStructure> Fitted for dualgap::task::Model<S> {
    fn any(&self) -> &dyn AnyModel {
        self
    }

    fn arrays(&self) -> Vec<(&'static str, Vec<usize>, &[f64])> {
        self.arrays()
    }

    fn support(&self) -> Option<&Support> {
        self.support.as_ref()
    }

    fn costs(&self) -> Option<&[f64]> {
        self.task.structure.costs()
    }

    fn sample_weights(&self) -> Option<&[f64]> {
        self.sample_weights.as_deref()
    }

    fn to_bytes(&self, witness: bool) -> dualgap::Result<Vec<u8>> {
        if witness || self.witness.is_none() {
            return self.to_bytes();
        }
        Self { witness: None, ..self.clone() }.to_bytes()
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let data = S::data(&data.0)?;
        let outputs = py.detach(|| on_threads(threads, || self.predict(data)));
        self.task.structure.raised().map_or(Ok(()), Err)?;
        S::to_python(py, outputs.or_raise()?.or_raise()?)
    }

    fn scores(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Table> {
        let data = S::data(&data.0)?;
        py.detach(|| on_threads(threads, || self.scores(data))).or_raise()?.or_raise()
    }

    fn probabilities(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Table> {
        let data = S::data(&data.0)?;
        py.detach(|| on_threads(threads, || self.probabilities(data))).or_raise()?.or_raise()
    }

    fn evaluate(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Evaluation> {
        let data = S::data(&data.0)?;
        let found = py.detach(|| on_threads(threads, || self.evaluate(data)));
        self.task.structure.raised().map_or(Ok(()), Err)?;
        found.or_raise()?.or_raise()
    }

    fn certify(&self, py: Python<'_>, data: &Data) -> PyResult<(Certificate, DualEvidence)> {
        let data = S::data(&data.0)?;
        let verified = py.detach(|| self.certify(data));
        self.task.structure.raised().map_or(Ok(()), Err)?;
        let verified = verified.or_raise()?;
        Ok((verified.certificate, verified.evidence))
    }

    fn completed(&self, arrays: &Bound<'_, PyDict>) -> PyResult<Model> {
        let mut model = self.clone();
        model.task.structure = model.task.structure.complete(arrays)?;
        Ok(Model::new(model))
    }
}

/// A fitted model with its certificate.
#[pyclass(frozen, module = "dualgap._dualgap")]
#[derive(Clone)]
pub struct Model(Arc<dyn Fitted>);

impl Model {
    /// Wraps a model of the library.
    pub fn new<S: PyStructure>(model: dualgap::task::Model<S>) -> Self {
        Self(Arc::new(model))
    }

    /// Returns the model of the library, or raises an error if it is of another structure.
    pub fn of_structure<S: PyStructure>(&self) -> PyResult<&dualgap::task::Model<S>> {
        self.0.any().as_any().downcast_ref().ok_or_else(|| {
            let structure = self.0.any().structure();
            PyTypeError::new_err(format!(
                "this is a model of the structure `{structure}`, not `{}`",
                S::NAME
            ))
        })
    }
}

fn read_one<S: PyStructure>(raw: &RawModel) -> PyResult<Model> {
    raw.read::<S>()
        .map(Model::new)
        .map_err(|fault| PyValueError::new_err(format!("the model {fault}")))
}

/// Returns a table as a two-dimensional array.
fn table_of(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyAny>> {
    let shape = [table.len(), table.columns];
    Ok(table.values.into_pyarray(py).reshape(shape)?.into_any())
}

/// Returns a certificate as a dict.
pub fn certificate_of<'py>(
    py: Python<'py>,
    certificate: &Certificate,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = to_python(py, certificate)?;
    fields.set_item("gap", certificate.gap())?;
    fields.set_item("gap_bound", certificate.gap_bound())?;
    fields.set_item("relative_gap_bound", certificate.relative_gap_bound())?;
    Ok(fields)
}

#[pymethods]
impl Model {
    /// Read a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let raw = RawModel::open(&path).or_raise()?;
        for_structure!(raw.structure(), read_one(&raw))
            .unwrap_or_else(|| Err(unknown(raw.structure())))
    }

    /// Read the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let raw = RawModel::from_bytes(bytes.to_vec())
            .map_err(|fault| PyValueError::new_err(format!("the model {fault}")))?;
        for_structure!(raw.structure(), read_one(&raw))
            .unwrap_or_else(|| Err(unknown(raw.structure())))
    }

    /// Return the bytes of a model file, with or without the dual point behind the certificate.
    #[pyo3(signature = (witness=true))]
    fn to_bytes<'py>(&self, py: Python<'py>, witness: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes(witness)).or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Write a model file, atomically.
    #[pyo3(signature = (path, witness=true))]
    fn save(&self, py: Python<'_>, path: PathBuf, witness: bool) -> PyResult<()> {
        py.detach(|| {
            let bytes = self.0.to_bytes(witness)?;
            write_atomically(&path, &bytes)
        })
        .map_err(exception)
    }

    /// Return the model with what its file has no room for: a Python object that is the `oracle`. Unless `trusted`, the
    /// outputs in its witness count only if the oracle admits them.
    #[pyo3(signature = (oracle, *, trusted=false))]
    fn with_oracle(&self, oracle: &Bound<'_, PyAny>, trusted: bool) -> PyResult<Self> {
        let arrays = PyDict::new(oracle.py());
        arrays.set_item("oracle", oracle)?;
        arrays.set_item("trusted", trusted)?;
        self.0.completed(&arrays)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let bytes = slf.get().to_bytes(py, true)?;
        Ok((slf.get_type().getattr("from_bytes")?, PyTuple::new(py, [bytes])?))
    }

    /// The name of the structure.
    #[getter]
    fn structure(&self) -> &'static str {
        self.0.any().structure()
    }

    /// The task as the model file has it.
    #[getter]
    fn task<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.any().task())
    }

    /// The certificate of the weights, as a dict.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        certificate_of(py, &self.0.any().certificate())
    }

    /// How the model was made, as a dict.
    #[getter]
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.any().provenance())
    }

    /// The names of the labels; empty for numbers.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.0.any().names().alphabet.names().to_vec()
    }

    /// The names of the features; empty if they have none.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.0.any().names().dictionary.names().map(String::from).collect()
    }

    /// The names of what a feature has weights for: the labels, the outputs, or the items.
    #[getter]
    fn weighted(&self) -> Vec<String> {
        self.0.any().weighted()
    }

    /// What predictions depend on besides the weights: a kind, a name and a number each.
    #[getter]
    fn constants(&self) -> Vec<(&'static str, String, f64)> {
        self.0.any().constants()
    }

    /// The number of features of a row.
    #[getter]
    fn width(&self) -> usize {
        self.0.any().names().features
    }

    /// Whether the dual point behind the certificate is there.
    #[getter]
    fn has_witness(&self) -> bool {
        self.0.any().has_witness()
    }

    /// The arrays that the weights consist of, by the names that they have in the model file.
    #[getter]
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, shape, numbers) in self.0.arrays() {
            dict.set_item(name, numbers.to_vec().into_pyarray(py).reshape(shape)?)?;
        }
        Ok(dict)
    }

    /// The costs of mistakes, a row for every true class, or `None` if all cost 1.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(costs) = self.0.costs() else { return Ok(None) };
        let table = Table { columns: costs.len().isqrt(), values: costs.to_vec() };
        table_of(py, table).map(Some)
    }

    /// The training inputs that have coefficients, for a model under a kernel: which ones they are, and the rows, as an
    /// array or as the three arrays of the CSR form.
    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(support) = self.0.support() else { return Ok(None) };
        let examples: Vec<isize> =
            support.examples().iter().map(|&i| (i as usize).cast_signed()).collect();
        let examples = examples.into_pyarray(py);
        if let Some(values) = support.rows().dense_values() {
            let table = Table { columns: support.rows().width(), values: values.to_vec() };
            return (examples, table_of(py, table)?).into_pyobject(py).map(Some);
        }
        let (mut starts, mut columns, mut values) = (vec![0_isize], Vec::new(), Vec::new());
        for k in 0..support.len() {
            support.rows().row(k).for_each(|column, value| {
                columns.push(column.cast_signed());
                values.push(value);
            });
            starts.push(columns.len().cast_signed());
        }
        let [starts, columns] = [starts, columns].map(|places| places.into_pyarray(py));
        (examples, (starts, columns, values.into_pyarray(py))).into_pyobject(py).map(Some)
    }

    /// The weight of each training example, or `None` if all are the same.
    #[getter]
    fn sample_weights<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.sample_weights().map(|weights| weights.to_vec().into_pyarray(py))
    }

    /// The problem in words: pairs of a name and a value.
    fn describe(&self) -> Vec<(&'static str, String)> {
        self.0.any().describe().lines
    }

    /// Predict every example of the data.
    #[pyo3(signature = (data, threads=0))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.predict(py, data, threads)
    }

    /// Return the scores behind the predictions, a column for every label or output.
    #[pyo3(signature = (data, threads=0))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        table_of(py, self.0.scores(py, data, threads)?)
    }

    /// Return the probabilities of the labels, a column for each, or for two classes that of the second.
    #[pyo3(signature = (data, threads=0))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        table_of(py, self.0.probabilities(py, data, threads)?)
    }

    /// Return the error on labelled data, by which the program compares models.
    #[pyo3(signature = (data, threads=0))]
    fn evaluate(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<f64> {
        Ok(self.0.evaluate(py, data, threads)?.error())
    }

    /// Return all figures of the comparison with labelled data, as a dict.
    #[pyo3(signature = (data, threads=0))]
    fn figures<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        figures_of(py, &self.0.evaluate(py, data, threads)?)
    }

    /// Write the predictions for a file, as the program does; return what the model did not see in training.
    #[pyo3(signature = (source, out, threads=0))]
    fn predict_file<'py>(
        &self,
        py: Python<'py>,
        source: Input,
        out: PathBuf,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        reading::predict_file(py, self.0.any(), &source, &out, threads)
    }

    /// Recompute the certificate from the training data, without trusting a number of the model.
    ///
    /// Returns a dict of the certificate, and of whether its dual value rests on a `witness` or on the `word` of the run.
    fn certify<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyDict>> {
        let (certificate, evidence) = self.0.certify(py, data)?;
        let evidence = match evidence {
            DualEvidence::Witness => "witness",
            // Whatever else there may be, it is no witness.
            _ => "word",
        };
        dict(
            py,
            &[
                ("certificate", certificate_of(py, &certificate)?),
                ("evidence", evidence.into_pyobject(py)?.into_any()),
            ],
        )
    }
}
