//! The Python extension: arrays to data, keywords as JSON to a task, and a task to a certified model. The estimators, in
//! `python/dualgap`, are pure Python over this module.
//!
//! - `arrays`: arrays of numpy, read in place; `rows`: matrices; `data`: data sets.
//! - `structures`: what Python knows of each structure.
//! - `fit`: training; `running`: Ctrl-C and callbacks; `model`: fitted models.
//! - `errors`: errors as exceptions.

mod arrays;
mod data;
mod errors;
mod fit;
mod model;
mod rows;
mod running;
mod structures;

use pyo3::prelude::*;

/// The library behind the estimators. Its names may change without notice: use the package.
#[pymodule(gil_used = false)]
mod _dualgap {
    #[pymodule_export]
    use crate::data::Data;
    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::rows::Rows;

    /// The version of the library.
    #[allow(non_upper_case_globals)] // Python's name
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
