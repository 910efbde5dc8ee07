//! The options of conversion from one data file to another.

use super::common::LayoutArgs;
use super::values::{Folds, parse_count, parse_folds, parse_positive, parse_threads};
use clap::Args;
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
    /// Of the random grids.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Features")]
    pub seed: u64,
    /// Keep how the data were read, their names and the grids, for other files.
    #[arg(long, value_name = "FILE", help_heading = "Features")]
    pub save_map: Option<PathBuf>,
    /// Convert as the data that this map was saved with.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Features",
        conflicts_with_all = [
            "random_binning", "bandwidth", "save_map", "format", "features", "columns", "min_count",
            "lowercase", "label", "categorical",
        ]
    )]
    pub map: Option<PathBuf>,

    /// Where to write: compressed if the name ends with .gz, .bz2 or .zst [default: standard output].
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
