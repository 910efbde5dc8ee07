//! The Python extension: arrays to data, keywords as JSON to a task, and a task to a certified model. The estimators, in
//! `python/dualgap`, are pure Python over this module.
//!
//! - `arrays`: arrays of numpy, read in place; `rows`: matrices; `data`: data sets.
//! - `structures`: what Python knows of each structure.
//! - `oracle`: structures that a Python object defines.
//! - `path`: models for every λ of an interval; `cv`: cross-validation.
//! - `reading`: files of the program's formats; `figures`: how predictions compare with the truth.
//! - `fit`: training; `running`: Ctrl-C and callbacks; `model`: fitted models.
//! - `shard`: examples in several processes; `shard_data`: the data of one of them.
//! - `certify`: how far from the optimum the weights of others are.
//! - `errors`: errors as exceptions.

mod arrays;
mod certify;
mod cv;
mod data;
mod errors;
mod figures;
mod fit;
mod model;
mod oracle;
mod pages;
mod path;
mod reading;
mod rows;
mod running;
mod shard;
mod shard_data;
mod structures;

use pyo3::prelude::*;

/// The library behind the estimators. Its names may change without notice: use the package.
#[pymodule(gil_used = false)]
mod _dualgap {
    #[pymodule_export]
    use crate::certify::appraise;
    #[pymodule_export]
    use crate::cv::cross_validate;
    #[pymodule_export]
    use crate::data::Data;
    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::oracle::check_oracle;
    #[pymodule_export]
    use crate::pages::{keep_pages, mapped_bytes};
    #[pymodule_export]
    use crate::path::{Reach, grid_path, path};
    #[pymodule_export]
    use crate::reading::{column_recipe, read_libsvm, usual_min_count};
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::running::Flag;
    #[pymodule_export]
    use crate::shard::{Course, Position, Shard, Whole, add_parts, assemble};

    /// The version of the library.
    #[allow(non_upper_case_globals)] // Python's name
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
