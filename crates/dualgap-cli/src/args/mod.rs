//! The options of the program, each declared once for parsing and help.
//!
//! [`tasks`] has the tasks, each with its options; a command for any task has the options of [`common`] and its own,
//! such as those of [`train`], [`cv`] and [`path`]. [`models`] has the commands that take a model, [`completion`] is
//! a task of training only, and [`convert`] converts one data file to another.

mod ball;
mod common;
mod completion;
mod convert;
mod cv;
mod grid;
mod models;
mod path;
mod tasks;
mod train;
mod values;

pub use ball::{BallArgs, check_method, check_steps, refuse_given};
pub use common::{Common, DataArgs, LayoutArgs, MethodArgs, StopArgs};
pub use completion::CompletionArgs;
pub use convert::ConvertArgs;
pub use cv::CvArgs;
pub use models::{CertifyArgs, DemoArgs, EvalArgs, InspectArgs, PredictArgs};
pub use path::PathArgs;
pub use tasks::{
    BinaryArgs, ChainArgs, ClassesArgs, Examples, LabelsArgs, LinearArgs, OtherTask, OutputsArgs,
    RegressionArgs, SeveralArgs, Task, TrainTask, Work,
};
pub use train::{KeptArgs, OutputArgs, TrainArgs};
pub use values::{Folds, Lambda};

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
    /// Train a model until its certified gap is small enough.
    #[command(subcommand)]
    Train(TrainTask),
    /// Find the regularisation that predicts best, by cross-validation.
    #[command(subcommand)]
    Cv(OtherTask<CvArgs>),
    /// Train models for every lambda of an interval, each certified on a part of it.
    #[command(subcommand)]
    Path(OtherTask<PathArgs>),
    /// Label data with a model.
    #[command(after_help = "\
Examples:
  dualgap predict model.dualgap NEW.txt > labelled.txt
  gunzip -c NEW.txt.gz | dualgap predict model.dualgap - -o labelled.txt")]
    Predict(PredictArgs),
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
    /// Check the certificate of a model or a path again, from the data it was trained on, and name the problem that it is of.
    #[command(after_help = "\
Examples:
  dualgap certify model.dualgap TRAIN.svm
  dualgap certify FOLDER TRAIN.svm --json

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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_of_the_options_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_book_has_every_option() {
        let book = include_str!("../../../../docs/command-line.md");
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
                let named = book.contains(&format!("--{option}"));
                assert!(named || option == "help" || option == "version", "--{option}");
            }
        }
    }
}
