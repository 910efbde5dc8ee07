//! Arrays of numpy as the library reads them: in place.
//!
//! The library reads shared arrays on threads that are not attached to the interpreter. numpy's own guard lives only as
//! long as the attachment, so this module keeps the array alive by a reference and lends its numbers together with it.
//! Whoever changes them while they are in use gets wrong results or an error, but no access outside the array: the
//! library checks every index that it reads. This is the only module with `unsafe`.

#![allow(unsafe_code)]

use bytemuck::Pod;
use dualgap::linalg::Buffer;
use numpy::{
    Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Returns the numbers of an array as ones of another type with the same bytes.
fn pin<T: Element, U: Pod>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Buffer<U>> {
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
    // SAFETY: so many aligned numbers lie here, plain data of any bits. The array is contiguous, numpy neither moves nor frees it
    // while there is a reference, and the buffer holds one wherever it lends the numbers.
    let numbers = unsafe { std::slice::from_raw_parts(numbers, len) };
    Ok(Buffer::lent(numbers, Arc::new(array.clone().into_any().unbind())))
}

/// Returns 64-bit floating-point numbers in row-major order, without a copy.
pub fn numbers(array: &Bound<'_, PyArrayDyn<f64>>) -> PyResult<Buffer<f64>> {
    pin(array)
}

/// Returns 32-bit indices, without a copy. A negative one becomes a large one, which the library refuses.
pub fn indices(array: &Bound<'_, PyArray1<i32>>) -> PyResult<Buffer<u32>> {
    pin(&array.to_dyn().clone())
}

/// Returns a copy of one number for each example. An array is copied at once, and any other sequence number by number.
pub fn copied(numbers: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match numbers.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => Ok(array.as_array().to_vec()),
        Err(_) => numbers.extract(),
    }
}
