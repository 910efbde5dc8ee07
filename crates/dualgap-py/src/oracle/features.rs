//! Feature vectors in the forms that Python may return.

use super::value::described;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Indices and numbers; an index may occur more than once.
pub type Entries = Vec<(usize, f64)>;

/// Reads a dense vector, a pair of indices and values, a dict, or a sparse row.
pub fn entries(features: &Bound<'_, PyAny>, dim: usize) -> PyResult<Entries> {
    if let Ok(dict) = features.cast::<PyDict>() {
        let each = |(index, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let index = index.extract().map_err(|_| {
                PyValueError::new_err(format!("{} is no index of a feature", described(&index)))
            })?;
            Ok((index, value.extract()?))
        };
        return dict.iter().map(each).collect();
    }
    if let Ok(pair) = features.cast::<PyTuple>()
        && pair.len() == 2
        && pair.iter().all(|part| part.len().is_ok())
    {
        return paired(&pair.get_item(0)?, &pair.get_item(1)?);
    }
    if features.hasattr("tocoo")? {
        let row = features.call_method0("tocoo")?;
        let shape: Vec<usize> = row.getattr("shape")?.extract()?;
        if shape != [dim] && shape != [1, dim] {
            return Err(wrong_shape(&shape, dim));
        }
        let indices = row.getattr("coords")?.get_item(shape.len() - 1)?;
        return paired(&indices, &row.getattr("data")?);
    }
    let dense: Bound<'_, PyAny> = match features.cast::<PyArray1<f64>>() {
        Ok(array) => array.clone().into_any(),
        Err(_) => numbers(features, "float64")?,
    };
    let Ok(dense) = dense.cast::<PyArray1<f64>>() else {
        let shape: Vec<usize> = dense.getattr("shape")?.extract()?;
        return Err(wrong_shape(&shape, dim));
    };
    let dense = dense.readonly();
    let dense = dense.as_array();
    if dense.len() != dim {
        return Err(wrong_shape(&[dense.len()], dim));
    }
    Ok(dense.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, x)| (j, *x)).collect())
}

fn wrong_shape(shape: &[usize], dim: usize) -> PyErr {
    PyValueError::new_err(format!(
        "features have the shape {shape:?}, and the oracle's dimension is {dim}: return an array of that length, a \
         pair of indices and values, a dict, or a sparse row"
    ))
}

/// Returns a sequence as an array of numpy.
fn numbers<'py>(sequence: &Bound<'py, PyAny>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    let numpy = sequence.py().import("numpy")?;
    numpy.call_method1("asarray", (sequence, kind)).map_err(|_| {
        PyTypeError::new_err(format!("features cannot be made of {}", described(sequence)))
    })
}

fn paired(indices: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<Entries> {
    let one_dimension = |_| PyValueError::new_err("indices and values of features are two lists");
    let plain = numbers(indices, "int64")?;
    // Numbers with a fraction would be cut off.
    if !indices.py().import("numpy")?.call_method1("array_equal", (&plain, indices))?.is_truthy()? {
        return Err(PyValueError::new_err("the indices of features are whole numbers"));
    }
    let indices: PyReadonlyArray1<'_, i64> = plain.extract().map_err(one_dimension)?;
    let values: PyReadonlyArray1<'_, f64> = numbers(values, "float64")?
        .extract()
        .map_err(|_| PyValueError::new_err("indices and values of features are two lists"))?;
    let (indices, values) = (indices.as_array(), values.as_array());
    if indices.len() != values.len() {
        return Err(PyValueError::new_err(format!(
            "features have {} indices and {} values",
            indices.len(),
            values.len()
        )));
    }
    let each = |(&index, &value): (&i64, &f64)| match usize::try_from(index) {
        Ok(index) => Ok((index, value)),
        Err(_) => Err(PyValueError::new_err(format!("{index} is no index of a feature"))),
    };
    indices.iter().zip(values).map(each).collect()
}
