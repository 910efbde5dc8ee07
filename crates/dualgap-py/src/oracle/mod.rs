//! Structures that a Python object defines: its oracle is called with the interpreter attached, all else runs detached.
//!
//! - `value`: outputs, as plain values; `input`: inputs, with a digest of their content.
//! - `features`: feature vectors in the forms that Python may return; `object`: the Python object and its methods.
//! - `definition`: the library's oracle; `check`: the test of its contract.

mod check;
mod definition;
mod features;
mod input;
mod object;
mod value;

pub use check::check_oracle;
pub use definition::{PyOracle, examples};
pub use input::Input;
pub use object::Trust;
pub use value::Value;
