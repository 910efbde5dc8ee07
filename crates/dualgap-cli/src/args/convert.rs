//! The options of conversion from one data file to another.

use super::common::LayoutArgs;
use super::values::{Folds, parse_count, parse_folds, parse_positive, parse_threads};
use clap::Args;
use dualgap::data::Scheme;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// The data: plain, gzip, bzip2 or zstd; `-` for standard input.
    #[arg(help_heading = "Data")]
    pub data: PathBuf,
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// Only these folds, such as 1-9 or 0,2,5-7.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds, help_heading = "Data")]
    pub folds: Option<Folds>,

    /// Write the features of so many random grids: their inner product is about the kernel exp(−‖x − x'‖₁/σ).
    #[arg(long, value_name = "GRIDS", value_parser = parse_count, help_heading = "Features")]
    pub random_binning: Option<usize>,
    /// σ [default: the median distance ‖x − x'‖₁ of two rows].
    #[arg(long, value_name = "S", value_parser = parse_positive, allow_hyphen_values = true, requires = "random_binning", help_heading = "Features")]
    pub bandwidth: Option<f64>,
    /// Write the features and the products of two of them: a linear model of these is a quadratic one. The degree is 2.
    #[arg(long, value_name = "2", value_parser = parse_degree, conflicts_with = "random_binning", help_heading = "Features")]
    pub degree: Option<u32>,
    /// Write the inner products with the rows of this file, which has the same features: with --ball simplex --radius 1
    /// the weights of a model are in their convex hull.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["random_binning", "degree"], help_heading = "Features")]
    pub atoms: Option<PathBuf>,
    /// Write sequences as CRFsuite's attributes, in the place of a LIBSVM file: for column files with the features that
    /// their templates make.
    #[arg(long, conflicts_with_all = ["random_binning", "degree", "atoms", "save_names", "save_map", "map"], help_heading = "Features")]
    pub attributes: bool,
    /// Write a column file with its labels in this scheme, bio, iob1, bilou or iobes, and everything else as it is: the
    /// chunks are the same.
    #[arg(long, value_name = "SCHEME", value_parser = str::parse::<Scheme>, conflicts_with_all = ["random_binning", "degree", "atoms", "attributes", "save_names", "save_map", "map", "folds"], help_heading = "Features")]
    pub labels: Option<Scheme>,
    /// Of the random grids.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Features")]
    pub seed: u64,
    /// Write number and name of every feature, a line each.
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub save_names: Option<PathBuf>,
    /// Keep how the data were read, their names and the grids, products or atoms, for other files.
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub save_map: Option<PathBuf>,
    /// Convert as the data that this map was saved with.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Features",
        conflicts_with_all = [
            "random_binning", "bandwidth", "degree", "atoms", "save_map", "format", "features", "columns", "min_count",
            "lowercase", "hash", "encoding", "label", "categorical",
        ]
    )]
    pub map: Option<PathBuf>,

    /// Where to write: compressed if the name ends with .gz, .bz2 or .zst, and as a data file, which is mapped into memory and not
    /// read, if it ends with .mapped [default: standard output].
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Threads; 0 stands for all cores. The result does not depend on it.
    #[arg(long, value_name = "T", default_value_t = 0, value_parser = parse_threads, help_heading = "Output")]
    pub threads: usize,
    /// Print one JSON object; the data then need a file.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print nothing but data and errors (and JSON, if asked for).
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Parses the degree of products, which is 2: more would be too many features.
fn parse_degree(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(2) => Ok(2),
        _ => Err("2 is the only degree of products that there is".into()),
    }
}
