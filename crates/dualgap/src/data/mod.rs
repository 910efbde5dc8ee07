//! Data sets, their readers and their files.
//!
//! A data set is made of arrays ([`Examples::from_dense`], [`Examples::new`], [`Sequences`], [`Matchings`], [`Ratings`]), or of a file
//! by a [`Recipe`], which a model keeps, so that it reads other files in the same way. [`DataSet`] is what all of them have in common;
//! a data set of one's own implements it with a [`Fingerprint`].
//!
//! The files here:
//!
//! - `examples`: rows with a target each; `sequences`: sequences of labelled rows; `matchings`: graphs to be matched.
//! - `dataset`: the interface of all data sets.
//! - `targets`: what to predict: classes, numbers, `sets` of labels, or several numbers, `outputs`.
//! - `alphabet`, `dictionary`: names of labels and of features, and their numbers.
//! - `class_weights`: weights by class; `scaling`: columns of equal size.
//! - `folds`: which examples are held out together.
//! - `source`: files, plain or compressed, line by line, with errors that name the line.
//! - `sink`: standard output, or files that are written atomically.
//! - `lock`: files that one program at a time can lock.
//! - `random_binning`: features whose inner product is a kernel.
//! - `mapped`: data files, which are mapped into memory and read in place.
//! - `conversion`: conversion to LIBSVM files, with the same numbers for several files.
//! - `alignment`: bitext, and what it tells about the links between words.
//! - `libsvm`, `csv`, `letters`, `ratings`, `edges`, `attributes`, [`tables`]: readers.
//! - `columns`, `templates`, `column_recipe`, `features`: column files, and how their cells become
//!   features.
//! - `scheme`: how chunks are written as labels.
//! - `numbering`, `hashing`: which features are kept and their numbers, also by a hash of their names.
//! - `vocabulary`: the names that a model knows, and what it does not know.
//! - `recipe`: how a file becomes a data set, in a form that a model file stores.
//! - `fingerprint`: digests that identify data sets; `print_parts`: those of data in shards.
//! - `common`: shards with the columns and labels of all of them.

pub(crate) mod alignment;
mod alphabet;
pub(crate) mod attributes;
mod checks;
mod class_weights;
mod column_recipe;
mod columns;
mod common;
pub(crate) mod conversion;
pub(crate) mod csv;
mod dataset;
mod decimal;
mod dictionary;
pub(crate) mod edges;
mod examples;
pub(crate) mod features;
pub(crate) mod fingerprint;
mod folds;
mod hashing;
mod labels;
#[cfg(not(all(feature = "bzip2", feature = "csv", feature = "zstd")))]
mod lacking;
pub(crate) mod letters;
pub(crate) mod libsvm;
pub(crate) mod lock;
pub(crate) mod mapped;
mod matchings;
mod numbering;
mod one_print;
mod outputs;
mod packed;
mod pieces;
mod print_parts;
pub(crate) mod random_binning;
pub(crate) mod ratings;
mod recipe;
mod scaling;
pub(crate) mod scheme;
mod sequences;
mod sets;
mod sink;
pub(crate) mod source;
pub mod tables;
mod targets;
pub(crate) mod templates;
mod vocabulary;
mod words;

pub use alignment::{Aligner, Bitext, WordLink};
pub use alphabet::Alphabet;
pub(crate) use checks::check_weights;
pub use class_weights::ClassWeights;
pub use column_recipe::ColumnRecipe;
pub(crate) use columns::ColumnReader;
pub use columns::Sentence;
pub use conversion::{AtomProducts, Conversion, DegreeTwo, FeatureMap, Written};
pub use csv::{CsvColumn, CsvKind, CsvRecipe};
pub use dataset::DataSet;
pub use dictionary::Dictionary;
pub(crate) use dictionary::Lookup;
pub use examples::Examples;
pub use features::{Extractor, Portions};
pub use fingerprint::Fingerprint;
pub use folds::Folds;
pub use hashing::Hashing;
pub use letters::Letters;
pub use lock::{FileLock, Taken};
pub use mapped::{DataFile, DataWriter};
pub use matchings::{Graph, GraphRef, Mark, Matchings};
pub use outputs::Outputs;
pub use print_parts::{PrintParts, joined_print};
pub use random_binning::RandomBinning;
pub use ratings::{HeldOut, Pairs, Ratings, RatingsRecipe};
pub use recipe::{Format, Loaded, Recipe};
pub use scaling::{Factors, Scaling};
pub use scheme::chunks;
pub use scheme::{Recognised, Rewritten, Scheme, SchemeUse};
pub use sequences::{Sequence, Sequences};
pub use sets::Sets;
pub use sink::Sink;
pub use source::{Encoding, Source};
pub use targets::{Classes, Numbers, TargetKind, Targets};
pub use templates::Pad;
pub use vocabulary::{Unseen, Vocabulary};
pub use words::words;
