//! The options of the program, each declared once for parsing and help.
//!
//! A command that trains has the options of [`common`], joined in [`joint`], and its own, such as those of [`train`], [`cv`], [`path`] and [`appraise`], and
//! those of its task: `problem` has them. [`models`] has the commands that take a model, and [`convert`] converts one data
//! file to another.

mod appraise;
mod ball;
mod common;
mod convert;
mod cv;
mod grid;
mod joint;
mod models;
mod path;
mod train;
pub mod values;

pub use appraise::AppraiseArgs;
pub use ball::{BallArgs, check_option, refuse_given};
pub use common::{DataArgs, LayoutArgs, StopArgs};
pub use convert::ConvertArgs;
pub use cv::CvArgs;
pub(crate) use grid::COUNT;
pub use joint::Common;
pub(crate) use joint::no_accuracy;
pub use models::{
    CertifyArgs, CompressArgs, DemoArgs, EvalArgs, InspectArgs, PredictArgs, TagArgs,
};
pub use path::PathArgs;
pub use train::{KeptArgs, OutputArgs, TrainArgs};
pub use values::parse_column;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Train linear and structured predictors to a certified optimum.
///
/// Every run ends with a model and a duality gap that was recomputed from the data, is stored with the
/// model, and can be checked again by anyone: dualgap certify MODEL DATA.
#[derive(Debug, Parser)]
#[command(name = "dualgap", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(
    after_help = "dualgap help TOPIC explains: formats, templates, certificates, checkpoints, exit-codes."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // parsed once
pub enum Command {
    /// Label data with a model.
    #[command(after_help = "\
Examples:
  dualgap predict model.dualgap NEW.txt > labelled.txt
  gunzip -c NEW.txt.gz | dualgap predict model.dualgap - -o labelled.txt")]
    Predict(PredictArgs),
    /// Label sentences as they come: text, columns or JSON lines in; columns, JSON lines or spans out.
    #[command(after_help = "\
Examples:
  echo 'He reckons the deficit will narrow.' | dualgap tag model.dualgap
  dualgap tag model.dualgap NEWS.txt --output spans > spans.jsonl
  dualgap tag model.dualgap - --input json --output json --threads 2 < IN.jsonl > OUT.jsonl")]
    Tag(TagArgs),
    /// Compare a model's predictions with the labels of a file.
    #[command(after_help = "\
Examples:
  dualgap eval model.dualgap TEST.txt
  dualgap eval model.dualgap TEST.txt --json")]
    Eval(EvalArgs),
    /// Look into a model: settings, certificate, the largest weights, all weights as text.
    #[command(after_help = "\
Examples:
  dualgap inspect model.dualgap --top 20
  dualgap inspect model.dualgap --weights weights.tsv")]
    Inspect(InspectArgs),
    /// Write data as a LIBSVM file, with their own features or those of random binning.
    #[command(after_help = "\
Examples:
  dualgap convert TABLE.csv --label species -o data.svm
  dualgap convert TRAIN.svm --random-binning 300 --save-map grids.map -o train.svm.gz
  dualgap convert TEST.svm --map grids.map -o test.svm.gz")]
    Convert(ConvertArgs),
    /// Make a model small: few weights of few bits, with a proof of what that costs.
    #[command(after_help = "\
Examples:
  dualgap compress model.dualgap TRAIN.txt -o small.dualgap --test TEST.txt
  dualgap compress model.dualgap TRAIN.txt --bits 16 --keep 0.999 -o small.dualgap --json
  dualgap certify small.dualgap TRAIN.txt --witness model.dualgap")]
    Compress(CompressArgs),
    /// Check the certificate of a model or a path again, from the data it was trained on, and name the problem that it is of.
    #[command(after_help = "\
Examples:
  dualgap certify model.dualgap TRAIN.svm
  dualgap certify FOLDER TRAIN.svm --json
  dualgap certify --weights weights.txt --task binary --loss hinge --c 1 TRAIN.svm

Exit code 0: both sides of the gap are proved.
Exit code 1: the file has no witness; the primal value is verified, the dual value is the run's word.
Exit code 2: the certificate does not hold, or another error.")]
    Certify(CertifyArgs),
    /// Train a structural SVM on handwritten words that come with the program.
    Demo(DemoArgs),
    /// Explain a command or a topic.
    Help {
        /// A command such as `train chain`, or a topic; without any, a list of both.
        about: Vec<String>,
    },
    /// Print a completion script for a shell.
    #[command(after_help = "\
Examples:
  dualgap completions bash > ~/.local/share/bash-completion/completions/dualgap
  dualgap completions zsh > ~/.zfunc/_dualgap")]
    Completions {
        /// The shell to complete in.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands to a folder.
    #[command(after_help = "\
Examples:
  dualgap man | man -l -
  dualgap man --output ~/.local/share/man/man1")]
    Man {
        /// Write a page for every command there.
        #[arg(short, long, value_name = "FOLDER")]
        output: Option<PathBuf>,
    },
}
