//! The options of commands that take a model, and of the demo.

use super::values::{Folds, parse_folds, parse_threads};
use crate::choices::{InputName, OutputName};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct PredictArgs {
    /// A model file.
    pub model: PathBuf,
    /// What to label, with or without labels of its own; `-` for standard input.
    pub data: PathBuf,
    /// Where to write the labels [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Only these folds, such as 1-9 or 0,2,5-7.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds)]
    pub folds: Option<Folds>,
    /// Binary and regression: the score behind each label; multiclass and multilabel: those of all labels.
    #[arg(long)]
    pub scores: bool,
    /// Logistic loss: the probability of the second class behind each label; softmax: those of all classes;
    /// multilabel with the logistic loss: those of all labels; chains with the log-loss: those of all labels at each
    /// position, the marginals.
    #[arg(long, visible_alias = "marginals")]
    pub probabilities: bool,
    /// Chains: the N best labelings of every sequence, each after a line with its rank, its score, its margin to the best
    /// other one and, with the log-loss, its probability.
    #[arg(long, value_name = "N", visible_alias = "n-best")]
    pub nbest: Option<usize>,
    /// Print nothing but labels and errors.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct TagArgs {
    /// A model of a column file.
    pub model: PathBuf,
    /// The sentences to label; `-` for standard input.
    #[arg(default_value = "-")]
    pub data: PathBuf,
    /// What comes in.
    #[arg(long, value_enum, default_value_t = InputName::Text)]
    pub input: InputName,
    /// What goes out.
    #[arg(long, value_enum, default_value_t = OutputName::Columns)]
    pub output: OutputName,
    /// Where to write it [default: standard output].
    #[arg(short = 'o', long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Threads to use; 0 for all cores. The answers are the same, in the same order.
    #[arg(long, value_name = "T", default_value_t = 0, value_parser = parse_threads)]
    pub threads: usize,
    /// Print nothing but labels and errors.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct EvalArgs {
    /// A model file.
    pub model: PathBuf,
    /// Labelled data; `-` for standard input.
    pub data: PathBuf,
    /// Only these folds, such as 1-9 or 0,2,5-7.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds)]
    pub folds: Option<Folds>,
    /// Print one JSON object, with the whole confusion matrix.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct InspectArgs {
    /// A model file.
    pub model: PathBuf,
    /// How many of the largest weights to show for each label.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
    /// Write all weights that are not zero to this file, one a line; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Taggers: show what drives the label of each word of this sentence, beside the runner-up; if features are made of more
    /// columns, these follow each word after slashes: "He/PRP runs/VBZ". --top says how many reasons.
    #[arg(long, value_name = "SENTENCE", conflicts_with_all = ["weights", "data"])]
    pub explain: Option<String>,
    /// Chains: show the weights of neighbouring labels in shades, and draw them in this SVG file; `-` for standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["weights", "data", "explain", "json"])]
    #[allow(clippy::option_option)] // the option, and its file
    pub transitions: Option<Option<PathBuf>>,
    /// Matchings: show what the model predicts for an example of these data, beside what is true.
    #[arg(long, value_name = "DATA", requires = "pair", conflicts_with = "weights")]
    pub data: Option<PathBuf>,
    /// The example to show, from 0 on.
    #[arg(long, value_name = "N", requires = "data")]
    pub pair: Option<usize>,
    /// Draw the example in this file; `-` for standard output.
    #[arg(long, value_name = "FILE", requires = "data")]
    pub svg: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct CompressArgs {
    /// A model file; unless it is a conditional random field, it was trained with --witness.
    pub model: PathBuf,
    /// The data it was trained on; format and folds are taken from the model file.
    pub data: PathBuf,
    /// Bits of a weight: 8 or 16 for integers with a scale for every 64 weights, 32 for floats, 64 to leave them.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub bits: u32,
    /// The share of the squared norm of the weights that stays; the smallest weights become zero.
    #[arg(long, value_name = "SHARE", default_value_t = 0.99)]
    pub keep: f64,
    /// Where to write the compressed model.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Compare predictions on this file, in the place of the training data.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,
    /// Keep the dual point in the new file, which then proves its certificate by itself and is larger.
    #[arg(long)]
    pub witness: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct CertifyArgs {
    /// A model file, or the folder of a path; what was trained without --witness is not proved.
    pub model: PathBuf,
    /// The data it was trained on; format and folds are taken from the model file.
    pub data: PathBuf,
    /// Take the dual point from this model file: the one that was compressed.
    #[arg(long, value_name = "MODEL", conflicts_with = "weights")]
    pub witness: Option<PathBuf>,
    /// In the place of a model: the weights of another program, as `dualgap appraise` takes them.
    #[arg(long, value_name = "FILE", requires = "task")]
    pub weights: Option<PathBuf>,
    /// Of --weights: the task, after which its options come, as in `dualgap appraise`.
    #[arg(long, value_name = "TASK", requires = "weights")]
    pub task: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Where to leave the data and the model.
    #[arg(short, long, value_name = "FOLDER", default_value = "dualgap-demo")]
    pub output: PathBuf,
}
