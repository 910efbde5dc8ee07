//! Data sets, their readers and their files.
//!
//! - `examples`: rows with a target each; `sequences`: sequences of labelled rows; `matchings`: graphs to be matched.
//! - `dataset`: the interface of all data sets.
//! - `targets`: what to predict: classes, numbers, `sets` of labels, or several numbers, `outputs`.
//! - `alphabet`, `dictionary`: names of labels and of features, and their numbers.
//! - `class_weights`: weights by class; `scaling`: columns of equal size.
//! - `folds`: which examples are held out together.
//! - [`source`]: files, plain or compressed, line by line, with errors that name the line.
//! - `sink`: standard output, or files that are written atomically.
//! - [`lock`]: files that one program at a time can lock.
//! - [`random_binning`]: features whose inner product is a kernel.
//! - [`mapped`]: data files, which are mapped into memory and read in place.
//! - [`conversion`]: conversion to LIBSVM files, with the same numbers for several files.
//! - [`alignment`]: bitext, and what it tells about the links between words.
//! - [`libsvm`], [`csv`], [`letters`], [`ratings`], [`edges`], [`attributes`], [`tables`]: readers.
//! - `columns`, [`templates`], `column_recipe`, [`features`]: column files, and how their cells become
//!   features.
//! - [`scheme`]: how chunks are written as labels.
//! - `numbering`, `hashing`: which features are kept and their numbers, also by a hash of their names.
//! - `vocabulary`: the names that a model knows, and what it does not know.
//! - `recipe`: how a file becomes a data set, in a form that a model file stores.
//! - `fingerprint`: digests that identify data sets; `print_parts`: those of data in shards.
//! - `common`: shards with the columns and labels of all of them.

pub mod alignment;
mod alphabet;
pub mod attributes;
mod checks;
mod class_weights;
mod column_recipe;
mod columns;
mod common;
pub mod conversion;
pub mod csv;
mod dataset;
mod decimal;
mod dictionary;
pub mod edges;
mod examples;
pub mod features;
pub(crate) mod fingerprint;
mod folds;
mod hashing;
mod labels;
#[cfg(not(all(feature = "bzip2", feature = "csv", feature = "zstd")))]
mod lacking;
pub mod letters;
pub mod libsvm;
pub mod lock;
pub mod mapped;
mod matchings;
mod numbering;
mod one_print;
mod outputs;
mod packed;
mod pieces;
mod print_parts;
pub mod random_binning;
pub mod ratings;
mod recipe;
mod scaling;
pub mod scheme;
mod sequences;
mod sets;
mod sink;
pub mod source;
pub mod tables;
mod targets;
pub mod templates;
mod vocabulary;
mod words;

pub use crate::container::{Digest, check_link, temporary, write_atomically};
pub use alphabet::Alphabet;
pub(crate) use checks::check_weights;
pub use class_weights::ClassWeights;
pub use column_recipe::ColumnRecipe;
pub use columns::{ColumnReader, Sentence};
pub use conversion::{AtomProducts, Conversion, DegreeTwo, FeatureMap};
pub use csv::CsvRecipe;
pub use dataset::DataSet;
pub use dictionary::{Dictionary, Lookup};
pub use examples::Examples;
pub use fingerprint::{Fingerprint, fingerprint};
pub use folds::Folds;
pub use hashing::Hashing;
pub use matchings::{Graph, GraphRef, Mark, Matchings, SideWords};
pub use outputs::Outputs;
pub use print_parts::{PrintParts, joined_print};
pub use random_binning::RandomBinning;
pub use ratings::{Pairs, Ratings, RatingsRecipe};
pub use recipe::{Format, Loaded, Recipe};
pub use scaling::{Factors, Scaling};
pub use scheme::{Scheme, SchemeUse};
pub use sequences::{Sequence, Sequences};
pub use sets::Sets;
pub use sink::Sink;
pub use source::{Encoding, Source};
pub use targets::{Classes, Numbers, TargetKind, Targets};
pub use vocabulary::{Unseen, Vocabulary};
pub use words::words;
