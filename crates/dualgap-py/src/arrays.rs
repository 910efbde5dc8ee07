//! Arrays of numpy as the library reads them: in place.
//!
//! The library holds shared arrays behind `AsRef<[T]>` and reads them on threads that are not attached to the
//! interpreter. numpy's own guard lives only as long as the attachment, so this module keeps the array alive by a
//! reference and remembers where its numbers are. It is the only one with `unsafe`.

#![allow(unsafe_code)]

use bytemuck::Pod;
use numpy::{
    Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The numbers of a contiguous numpy array. Whoever changes them while they are in use gets wrong results or an error,
/// but no access outside the array: the library checks every index that it reads.
pub struct Pinned<T> {
    /// Keeps the numbers where they are.
    _owner: Py<PyAny>,
    numbers: *const T,
    len: usize,
}

// SAFETY: the numbers are plain data that nobody frees while `_owner` lives, and are only read.
unsafe impl<T: Pod + Send> Send for Pinned<T> {}
// SAFETY: as above.
unsafe impl<T: Pod + Sync> Sync for Pinned<T> {}

impl<T> AsRef<[T]> for Pinned<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: `pin` has checked that `len` aligned numbers lie here, and `_owner` keeps them there.
        unsafe { std::slice::from_raw_parts(self.numbers, self.len) }
    }
}

/// Returns the numbers of an array as ones of another type with the same bytes.
fn pin<T: Element, U: Pod>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Arc<Pinned<U>>> {
    const { assert!(size_of::<T>() == size_of::<U>() && align_of::<T>() == align_of::<U>()) };
    if !array.is_c_contiguous() {
        return Err(PyValueError::new_err("an array must be contiguous, in row-major order"));
    }
    let len = array.len();
    let numbers =
        if len == 0 { std::ptr::dangling() } else { array.data().cast::<U>().cast_const() };
    if !numbers.is_aligned() {
        return Err(PyValueError::new_err("an array must be aligned"));
    }
    Ok(Arc::new(Pinned { _owner: array.clone().into_any().unbind(), numbers, len }))
}

/// Returns 64-bit floating-point numbers in row-major order, without a copy.
pub fn numbers(array: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<Arc<Pinned<f64>>> {
    pin(array)
}

/// Returns 32-bit indices, without a copy. A negative one becomes a large one, which the library refuses.
pub fn indices(array: &Bound<'_, PyArray1<i32>>) -> PyResult<Arc<Pinned<u32>>> {
    pin(&array.to_dyn().clone())
}

/// Returns a copy of one number for each example. An array is copied at once, and any other sequence number by number.
pub fn copied(numbers: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match numbers.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => Ok(array.as_array().to_vec()),
        Err(_) => numbers.extract(),
    }
}
