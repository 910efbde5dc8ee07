//! The options of the program, each declared once for parsing and help.

pub use crate::choices::{
    Acceleration, Average, BinaryLoss, ClassesLoss, Format, Hamming, Intercept, RegressionLoss,
    Sampling, Scale, SdcaOption, Solver, Step,
};
use crate::weights::parse_class_weights;
use clap::{Args, Parser, Subcommand};
use dualgap::data::ClassWeights;
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
    Train(Task),
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
    /// Check a model's certificate again, from the data it was trained on.
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

#[derive(Debug, Subcommand)]
pub enum Task {
    /// One of two classes for each example, by the sign of a score.
    #[command(after_help = "\
Examples:
  dualgap train binary DATA.svm --loss hinge --lambda 1e-4 --tolerance 1e-4 -o model.dualgap
  dualgap train binary DATA.svm --loss logistic --l1 0.001 --test TEST.svm")]
    Binary {
        #[command(flatten)]
        common: TrainArgs,
        /// What a wrong or narrow score costs.
        #[arg(long, value_enum, default_value = "hinge", help_heading = "Problem")]
        loss: BinaryLoss,
        /// Of the smooth hinge: over which width its corner is rounded off [default: 1].
        #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "Problem")]
        width: Option<f64>,
        #[command(flatten)]
        classes: ClassArgs,
        #[command(flatten)]
        linear: LinearArgs,
    },
    /// A number for each example.
    #[command(after_help = "\
Examples:
  dualgap train regression DATA.svm --loss squared --lambda 0.01 --intercept -o model.dualgap
  dualgap train regression TABLE.csv --label price --loss huber --width 10 --l1 0.1")]
    Regression {
        #[command(flatten)]
        common: TrainArgs,
        /// What a number that is off costs.
        #[arg(long, value_enum, default_value = "squared", help_heading = "Problem")]
        loss: RegressionLoss,
        /// Of Huber's loss: how far from the target it is squared [default: 1].
        #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "Problem")]
        width: Option<f64>,
        /// Of the epsilon-insensitive loss: what is forgiven [default: 0.1].
        #[arg(long, value_name = "E", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "Problem")]
        epsilon: Option<f64>,
        #[command(flatten)]
        linear: LinearArgs,
    },
    /// One label out of several for each example.
    #[command(after_help = "\
Examples:
  dualgap train multiclass DATA.svm --lambda 1/n --tolerance 0.01 -o model.dualgap
  dualgap train multiclass DATA.svm --test TEST.svm --c 1 --average weighted --passes 20")]
    Multiclass {
        #[command(flatten)]
        common: TrainArgs,
        /// What wrong or narrow scores cost.
        #[arg(long, value_enum, default_value = "hinge", help_heading = "Problem")]
        loss: ClassesLoss,
        /// Of the smooth hinge: over which width its corners are rounded off [default: 1].
        #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "Problem")]
        width: Option<f64>,
        /// How the step of an example is chosen: an option of the Prox-SDCA paper. For the hinge, auto is
        /// block-coordinate Frank-Wolfe.
        #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
        option: SdcaOption,
        /// Add a feature that is always 1; its weights are penalised like the others.
        #[arg(long, help_heading = "Problem")]
        intercept: bool,
        /// What each mistake costs: a table with the labels as its first line and first column.
        #[arg(long, value_name = "FILE", help_heading = "Problem")]
        costs: Option<PathBuf>,
        #[command(flatten)]
        classes: ClassArgs,
        #[command(flatten)]
        columns: ColumnArgs,
    },
    /// A label for each position of a sequence, by a first-order chain.
    #[command(after_help = "\
Examples:
  dualgap train chain TRAIN.txt --test TEST.txt -o tagger.dualgap
  dualgap train chain TRAIN.txt --features TEMPLATES --min-count 2 --average weighted --passes 10
  dualgap train chain letter.data.gz --train-folds 1-9 --test-folds 0 --witness -o m.dualgap")]
    Chain {
        #[command(flatten)]
        common: TrainArgs,
        /// Count the wrong labels of a sequence, or their fraction.
        #[arg(long, value_enum, default_value = "normalized", help_heading = "Problem")]
        hamming: Hamming,
    },
}

/// What the tasks of classes have in common.
#[derive(Args, Debug)]
pub struct ClassArgs {
    /// What the examples of each class count: `balanced` for all classes the same, or such as yes=5,no=1;
    /// times --sample-weights. Labels that are not named count 1.
    #[arg(long, value_name = "balanced|LABEL=W,…", value_parser = parse_class_weights, allow_hyphen_values = true, help_heading = "Problem")]
    pub class_weights: Option<ClassWeights>,
}

/// What all tasks but chains have in common.
#[derive(Args, Debug)]
pub struct ColumnArgs {
    /// Divide every column before the run; λ and σ are about the scaled problem, the weights that are saved
    /// about the data as they are.
    #[arg(long, value_enum, default_value = "none", help_heading = "Problem")]
    pub scale: Scale,
}

/// What the tasks of linear models have in common.
#[derive(Args, Debug)]
pub struct LinearArgs {
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Add a feature that is always 1. Its weight is not penalised, or like any other: --intercept=penalised.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "free", value_name = "KIND", help_heading = "Problem")]
    pub intercept: Option<Intercept>,
    /// How the step of an example is chosen: an option of the Prox-SDCA paper.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
    pub option: SdcaOption,
}

/// What all training tasks have in common.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
#[allow(clippy::struct_excessive_bools)] // switches are
pub struct TrainArgs {
    /// The data: plain, gzip, bzip2 or zstd; `-` for standard input.
    pub data: PathBuf,
    /// How the data are written [default: what the first line looks like].
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Column files: a file of CRF++ templates, `standard`, or `paper-conll2000`.
    #[arg(long, value_name = "NAME|FILE")]
    pub features: Option<PathBuf>,
    /// Column files: which columns are meant, counted from 0, the label last, such as 1,3 [default: all].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column)]
    pub columns: Vec<usize>,
    /// Column files: leave out features that occur less often [default: 1, or the preset's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub min_count: Option<u32>,
    /// Column files: see cells in lower case, but for their shape.
    #[arg(long)]
    pub lowercase: bool,
    /// csv: the column with the label [default: the last].
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// csv: columns whose values are names even where they look like numbers.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// Train on these folds only, such as 1-9 or 0,2,5-7.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds)]
    pub train_folds: Option<Folds>,
    /// Test on these folds of the same file.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds)]
    pub test_folds: Option<Folds>,
    /// Test on this file.
    #[arg(long, value_name = "FILE", conflicts_with = "test_folds")]
    pub test: Option<PathBuf>,
    /// Show the test error while the run goes on, and put it into the trace.
    #[arg(long)]
    pub watch_test: bool,
    /// What each example of the data file counts: one number a line.
    #[arg(long, value_name = "FILE")]
    pub sample_weights: Option<PathBuf>,

    /// The regularisation, in mean loss + λ/2·‖w‖²: a number, or a/n [default: 1/n]. 0 with --l1 is pure l1,
    /// for binary and regression.
    #[arg(long, value_name = "X|a/n", value_parser = parse_lambda, allow_hyphen_values = true, help_heading = "Problem")]
    pub lambda: Option<Lambda>,
    /// σ, in … + σ·‖w‖₁: many weights become zero.
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "Problem")]
    pub l1: f64,
    /// Penalise λ·(c/2)·‖w‖q² in the place of λ/2·‖w‖², with q near 1: for dense inputs that are small in every
    /// entry; binary and regression.
    #[arg(long, conflicts_with = "nonnegative", help_heading = "Problem")]
    pub q_norm: bool,
    /// Allow no negative weights.
    #[arg(long, help_heading = "Problem")]
    pub nonnegative: bool,
    /// The same as C = 1/(λn).
    #[arg(long = "c", value_name = "C", value_parser = parse_positive, allow_hyphen_values = true, conflicts_with = "lambda", help_heading = "Problem")]
    pub c: Option<f64>,

    /// Stop at this gap, as a fraction of the primal value [default: 0.01, unless
    /// --absolute-tolerance is given].
    #[arg(long, value_name = "R", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub tolerance: Option<f64>,
    /// Stop at this gap, in units of the objective.
    #[arg(long, value_name = "A", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub absolute_tolerance: Option<f64>,
    /// Stop after so many passes over the data.
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    pub passes: Option<u64>,
    /// Stop after so many oracle calls.
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    pub oracle_calls: Option<u64>,
    /// Stop after so many seconds.
    #[arg(long, value_name = "S", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub time: Option<f64>,

    /// Block-coordinate Frank-Wolfe, or batch Frank-Wolfe.
    #[arg(long, value_enum, default_value = "bcfw", help_heading = "Method")]
    pub solver: Solver,
    /// How far a step goes.
    #[arg(long, value_enum, default_value = "line-search", help_heading = "Method")]
    pub step: Step,
    /// In which order the examples are visited.
    #[arg(long, value_enum, default_value = "permuted", help_heading = "Method")]
    pub sampling: Sampling,
    /// Whether to accelerate the steps by momentum.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
    pub acceleration: Acceleration,
    /// Visit every example in every pass, also those whose visits change nothing.
    #[arg(long, help_heading = "Method")]
    pub no_shrinking: bool,
    /// Which average of the iterates is returned.
    #[arg(long, value_enum, default_value = "none", help_heading = "Method")]
    pub average: Average,
    /// Look for so many corners at the same weights, in parallel.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = parse_count, help_heading = "Method")]
    pub batch: usize,
    /// Threads; 0 stands for all cores. The result does not depend on it.
    #[arg(long, value_name = "T", default_value_t = 0, value_parser = parse_threads, help_heading = "Method")]
    pub threads: usize,
    /// Of the random order.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub seed: u64,

    /// Begin with the dual point of this model, which was saved with its witness: of the same data, of more,
    /// or under another lambda.
    #[arg(long, value_name = "MODEL", help_heading = "Runs that survive")]
    pub warm_start: Option<PathBuf>,
    /// Keep the run in this file while it goes on.
    #[arg(long, value_name = "FILE", help_heading = "Runs that survive")]
    pub checkpoint: Option<PathBuf>,
    /// After so many passes, which may be a fraction.
    #[arg(long, value_name = "PASSES", default_value = "5", requires = "checkpoint", value_parser = parse_positive, help_heading = "Runs that survive")]
    pub checkpoint_every: f64,
    /// Go on from this checkpoint, with the other options as they were; tolerances and limits may differ.
    #[arg(long, value_name = "FILE", help_heading = "Runs that survive")]
    pub resume: Option<PathBuf>,

    /// Save the model here.
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Store the dual point with the model, so that anyone can check the gap itself.
    #[arg(long, requires = "output", help_heading = "Output")]
    pub witness: bool,
    /// Write every certification to this file, one JSON object a line.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Print one JSON object instead of a table.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print nothing but errors (and JSON, if asked for).
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

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
    /// Binary and regression: the score behind each label.
    #[arg(long)]
    pub scores: bool,
    /// Logistic loss: the probability of the second class behind each label; softmax: those of all classes.
    #[arg(long)]
    pub probabilities: bool,
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
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct CertifyArgs {
    /// A model file.
    pub model: PathBuf,
    /// The data it was trained on; format and folds are taken from the model file.
    pub data: PathBuf,
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

/// λ as the user may write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lambda {
    Value(f64),
    /// a/n, where n is the number of examples or the sum of their weights.
    PerExample(f64),
}

impl Lambda {
    pub fn resolve(self, total_weight: f64) -> f64 {
        match self {
            Self::Value(lambda) => lambda,
            Self::PerExample(a) => a / total_weight,
        }
    }
}

fn parse_lambda(text: &str) -> Result<Lambda, String> {
    match text.strip_suffix("/n") {
        Some(a) => parse_positive(a).map(Lambda::PerExample),
        None => parse_tolerance(text).map(Lambda::Value),
    }
    .map_err(|_| "a positive number such as 0.01, or a multiple of 1/n such as 10/n".into())
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a positive number".into()),
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a number that is not negative, such as 0.01".into()),
    }
}

fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "must be a whole number from 1 on".into())
}

fn parse_column(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&k| k < 1000).ok_or_else(|| "must be a number from 0 on".into())
}

/// More threads than any machine has would only fail later, and less clearly.
fn parse_threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n <= 1024).ok_or_else(|| "must be 0 (all cores) to 1024".into())
}

/// Fold numbers, ascending. (A type of its own: clap would take a `Vec` for several values.)
#[derive(Clone, Debug, PartialEq)]
pub struct Folds(pub Vec<u8>);

fn parse_folds(text: &str) -> Result<Folds, String> {
    let complain = || "folds are 0 to 9, such as 1-9 or 0,2,5-7".to_string();
    let mut folds = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u8 = first.trim().parse().map_err(|_| complain())?;
        let last: u8 = last.trim().parse().map_err(|_| complain())?;
        if first > last || last > 9 {
            return Err(complain());
        }
        folds.extend(first..=last);
    }
    folds.sort_unstable();
    folds.dedup();
    Ok(Folds(folds))
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
        let book = include_str!("../../../docs/command-line.md");
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
                let named = book.contains(&format!("--{option}"));
                assert!(named || option == "help" || option == "version", "--{option}");
            }
        }
    }

    #[test]
    fn lambda_is_a_number_or_a_multiple_of_one_over_n() {
        assert_eq!(parse_lambda("0.01"), Ok(Lambda::Value(0.01)));
        assert_eq!(parse_lambda("10/n"), Ok(Lambda::PerExample(10.0)));
        assert_eq!(Lambda::PerExample(10.0).resolve(4.0), 2.5);
        assert_eq!(parse_lambda("0"), Ok(Lambda::Value(0.0)));
        for bad in ["", "/n", "n", "0/n", "-1", "nan", "inf", "1/m"] {
            assert!(parse_lambda(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn folds_are_numbers_and_ranges() {
        assert_eq!(parse_folds("1-3,0,2"), Ok(Folds(vec![0, 1, 2, 3])));
        for bad in ["", "10", "3-1", "a", "1-", "-1", "1,,2"] {
            assert!(parse_folds(bad).is_err(), "{bad}");
        }
    }
}
