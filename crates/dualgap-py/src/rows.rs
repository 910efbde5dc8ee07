//! Data matrices from numpy and scipy.

use crate::arrays;
use crate::errors::OrRaise;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Rows of numbers, dense or sparse, that share the memory of the arrays they were made from.
#[pyclass(frozen, module = "dualgap._dualgap")]
#[derive(Clone)]
pub struct Rows(pub dualgap::linalg::Rows);

#[pymethods]
impl Rows {
    /// Return the rows of a two-dimensional float64 array in row-major order, without a copy.
    #[staticmethod]
    fn dense(values: &Bound<'_, PyArray2<f64>>) -> PyResult<Self> {
        let width = values.shape()[1];
        let numbers = arrays::numbers(values.to_dyn())?;
        dualgap::linalg::Rows::from_dense(numbers, width).or_raise().map(Self)
    }

    /// Return compressed sparse rows.
    ///
    /// The float64 values are not copied, nor are int32 indices; int64 indices are checked and narrowed.
    #[staticmethod]
    fn csr(
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyArray1<f64>>,
        width: usize,
    ) -> PyResult<Self> {
        let starts = places(indptr)?;
        let values = arrays::numbers(values.to_dyn())?;
        let rows = if let Ok(narrow) = indices.cast::<PyArray1<i32>>() {
            dualgap::linalg::Rows::from_csr(starts, arrays::indices(narrow)?, values, width)
        } else {
            let wide = places(indices)?;
            let narrowed = wide.into_iter().map(u32::try_from).collect::<Result<Vec<u32>, _>>();
            let narrowed = narrowed.map_err(|_| {
                PyValueError::new_err(
                    "a column is beyond 4294967295, the largest that is supported",
                )
            })?;
            dualgap::linalg::Rows::from_csr(starts, narrowed, values, width)
        };
        rows.or_raise().map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The number of columns.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }
}

/// Returns an array of int32 or int64 as sizes.
pub fn places(array: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let negative = |_| PyValueError::new_err("an index is negative");
    if let Ok(narrow) = array.cast::<PyArray1<i32>>() {
        let narrow = narrow.readonly();
        narrow.as_array().iter().map(|&i| usize::try_from(i).map_err(negative)).collect()
    } else if let Ok(wide) = array.cast::<PyArray1<i64>>() {
        let wide = wide.readonly();
        wide.as_array().iter().map(|&i| usize::try_from(i).map_err(negative)).collect()
    } else {
        Err(PyTypeError::new_err("indices must be an array of int32 or int64"))
    }
}
