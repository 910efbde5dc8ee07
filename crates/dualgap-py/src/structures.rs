//! What Python knows of each structure: its data, and its outputs as arrays.

use crate::data::Held;
use dualgap::data::{Examples, Matchings, Ratings, Sequences};
use dualgap::structure::{
    Chain, Completion, Kernelised, Linear, Matching, MultiLabel, MultiOutput, Multiclass, Structure,
};
use dualgap::term::Costs;
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// A structure with data and outputs that Python can hold.
pub trait PyStructure: Structure {
    /// Returns the data, if they are of the structure's kind.
    fn held(data: &Held) -> Option<&Self::Data>;

    /// Wraps data of the structure.
    fn hold(data: Self::Data) -> Held;

    /// Returns predictions as an array or a list.
    fn to_python(py: Python<'_>, outputs: Vec<Self::Output>) -> PyResult<Bound<'_, PyAny>>;

    /// Completes the structure with arrays that its JSON form has no room for.
    fn complete(self, _arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(self)
    }

    /// Returns the costs of mistakes row by row, if they are a matrix.
    fn costs(&self) -> Option<&[f64]> {
        None
    }

    /// Returns the data, or raises an error if they are of another kind.
    fn data(data: &Held) -> PyResult<&Self::Data> {
        Self::held(data).ok_or_else(|| {
            PyTypeError::new_err(format!("these are no data of the structure `{}`", Self::NAME))
        })
    }
}

/// The data of a structure among those that Python holds.
macro_rules! holds {
    ($kind:ident) => {
        fn held(data: &Held) -> Option<&Self::Data> {
            match data {
                Held::$kind(data) => Some(data),
                _ => None,
            }
        }

        fn hold(data: $kind) -> Held {
            Held::$kind(Arc::new(data))
        }
    };
}

/// One label or number for each example.
macro_rules! one_number {
    () => {
        fn to_python(py: Python<'_>, outputs: Vec<Self::Output>) -> PyResult<Bound<'_, PyAny>> {
            Ok(outputs.into_pyarray(py).into_any())
        }
    };
}

/// A list for each example.
macro_rules! a_list {
    () => {
        fn to_python(py: Python<'_>, outputs: Vec<Self::Output>) -> PyResult<Bound<'_, PyAny>> {
            Ok(outputs.into_pyobject(py)?.into_any())
        }
    };
}

/// What the structure under the kernel has, and `cache_bytes`, how many bytes of kernel values a run keeps.
macro_rules! kernel {
    () => {
        fn complete(self, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
            let of = self.of.complete(arrays)?;
            let cache_bytes = match arrays.get_item("cache_bytes")? {
                Some(bytes) => bytes.extract()?,
                None => self.cache_bytes,
            };
            Ok(Self { of, cache_bytes, ..self })
        }

        fn costs(&self) -> Option<&[f64]> {
            self.of.costs()
        }
    };
}

impl PyStructure for Linear {
    holds!(Examples);
    one_number!();
}

impl PyStructure for Multiclass {
    holds!(Examples);
    one_number!();

    fn complete(self, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Some(costs) = arrays.get_item("costs")? else { return Ok(self) };
        let costs: PyReadonlyArray2<'_, f64> = costs.extract()?;
        let costs = costs.as_array().iter().copied().collect();
        Ok(Self { costs: Costs::Matrix(costs), ..self })
    }

    fn costs(&self) -> Option<&[f64]> {
        match &self.costs {
            Costs::Matrix(costs) => Some(costs),
            Costs::ZeroOne => None,
        }
    }
}

impl PyStructure for Chain {
    holds!(Sequences);
    a_list!();
}

impl PyStructure for MultiLabel {
    holds!(Examples);
    a_list!();
}

impl PyStructure for MultiOutput {
    holds!(Examples);
    a_list!();
}

impl PyStructure for Completion {
    holds!(Ratings);
    one_number!();
}

impl PyStructure for Matching {
    holds!(Matchings);
    a_list!();
}

impl PyStructure for Kernelised<Linear> {
    holds!(Examples);
    one_number!();
    kernel!();
}

impl PyStructure for Kernelised<Multiclass> {
    holds!(Examples);
    one_number!();
    kernel!();
}

impl PyStructure for Kernelised<Chain> {
    holds!(Sequences);
    a_list!();
    kernel!();
}

/// Calls a generic function for the structure of a name, or returns `None` if there is no such structure.
macro_rules! for_structure {
    ($name:expr, $call:ident ( $($argument:expr),* $(,)? )) => {{
        use dualgap::structure::{
            Chain, Completion, Kernelised, Linear, Matching, MultiLabel, MultiOutput, Multiclass, Structure,
        };
        let name: &str = $name;
        if name == Linear::NAME {
            Some($call::<Linear>($($argument),*))
        } else if name == Multiclass::NAME {
            Some($call::<Multiclass>($($argument),*))
        } else if name == Chain::NAME {
            Some($call::<Chain>($($argument),*))
        } else if name == MultiLabel::NAME {
            Some($call::<MultiLabel>($($argument),*))
        } else if name == MultiOutput::NAME {
            Some($call::<MultiOutput>($($argument),*))
        } else if name == Completion::NAME {
            Some($call::<Completion>($($argument),*))
        } else if name == Matching::NAME {
            Some($call::<Matching>($($argument),*))
        } else if name == <Kernelised<Linear>>::NAME {
            Some($call::<Kernelised<Linear>>($($argument),*))
        } else if name == <Kernelised<Multiclass>>::NAME {
            Some($call::<Kernelised<Multiclass>>($($argument),*))
        } else if name == <Kernelised<Chain>>::NAME {
            Some($call::<Kernelised<Chain>>($($argument),*))
        } else {
            None
        }
    }};
}
pub(crate) use for_structure;
