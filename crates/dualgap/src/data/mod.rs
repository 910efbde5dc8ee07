//! Data sets and where they come from.
//!
//! - [`examples`]: rows with one label each, and sequences of them.
//! - [`alphabet`]: names of labels and their numbers.
//! - [`source`]: files, plain or gzip, line by line, with errors that name the place.
//! - [`libsvm`], [`letters`], [`tables`]: readers.
//! - [`columns`], [`templates`], [`features`]: column files, and how their cells become features.
//! - [`recipe`]: how a file becomes a data set, in a form that a model file can keep.
//! - [`fingerprint`](mod@fingerprint): what tells one data set from another.

pub mod alphabet;
pub mod columns;
pub mod examples;
pub mod features;
pub mod fingerprint;
pub mod letters;
pub mod libsvm;
pub mod recipe;
pub mod source;
pub mod tables;
pub mod templates;

pub use alphabet::Alphabet;
pub use examples::{Examples, Sequence, Sequences};
pub use features::{ColumnRecipe, Dictionary};
pub use fingerprint::{Digest, fingerprint};
pub use recipe::{Format, Recipe};
pub use source::Source;
