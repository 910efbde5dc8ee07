//! The options of every command that trains: the data, the penalty, the method, and when a run stops.

use super::values::{
    Folds, Wanted, parse_average, parse_column, parse_count, parse_folds, parse_threads,
    parse_tolerance, parse_wanted_sigma,
};
use crate::Outcome;
use crate::choices::{
    Acceleration, Average, Cache, Direction, Encoding, Format, Sampling, Solver, Step,
};
use clap::Args;
use dualgap::dual::{self, Settings};
use dualgap::methods::{cutting_plane, exponentiated_gradient, subgradient};
use dualgap::run::{Budget, Stop};
use dualgap::structure::Choice;
use dualgap::task::{DualMethod, Method, Strength};
use dualgap::{Error, Result};
use std::path::PathBuf;

/// Which data, and how they are read.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// The data: plain, gzip, bzip2 or zstd; `-` for standard input.
    pub data: PathBuf,
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// Train on these folds only, such as 1-9 or 0,2,5-7.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds)]
    pub train_folds: Option<Folds>,
    /// Test on these folds of the same file.
    #[arg(long, value_name = "FOLDS", value_parser = parse_folds)]
    pub test_folds: Option<Folds>,
    /// Test on this file.
    #[arg(long, value_name = "FILE", conflicts_with = "test_folds")]
    pub test: Option<PathBuf>,
    /// What each example of the data file counts: one number a line.
    #[arg(long, value_name = "FILE")]
    pub sample_weights: Option<PathBuf>,
}

/// How a data file is written.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
pub struct LayoutArgs {
    /// How the data are written [default: what the first line looks like].
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Column files: a file of CRF++ templates, `standard`, or `paper-conll2000`.
    #[arg(long, visible_alias = "templates", value_name = "NAME|FILE")]
    pub features: Option<PathBuf>,
    /// Column files: which columns are meant, counted from 0, the label last, such as 1,3; of CoNLL-U also by their
    /// names [default: all; of CoNLL-U form,upos].
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = parse_column)]
    pub columns: Vec<usize>,
    /// Column files: how bytes become characters.
    #[arg(long, value_enum, default_value = "utf8")]
    pub encoding: Encoding,
    /// Column files: leave out features that occur less often [default: 1, or the preset's; of standard features 2 from
    /// 20,000 tokens on].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub min_count: Option<u32>,
    /// Column files: number features by a hash of so many bits of their names, which the model then need not have.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=24))]
    pub hash: Option<u32>,
    /// Column files: see cells in lower case, but for their shape.
    #[arg(long)]
    pub lowercase: bool,
    /// csv: the column with the label [default: the last]; of multioutput the columns with the numbers, such as
    /// price,weight, where a name that has a comma itself is in double quotes. CoNLL-U: the column with the label, such
    /// as upos; of the others form is read, or those of --columns.
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// csv: columns whose values are names even where they look like numbers.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub categorical: Vec<String>,
}

/// What is in the objective beside the loss and λ.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct PenaltyArgs {
    /// σ, in … + σ·‖w‖₁: many weights become zero. A number, a/n, or a fraction such as 0.1max of the smallest σ with which
    /// all of them do; with train also auto, by held-out data.
    #[arg(long, value_name = "S|fmax|auto", default_value = "0", value_parser = parse_wanted_sigma, allow_hyphen_values = true)]
    pub l1: Wanted<Strength>,
    /// Penalise λ·(c/2)·‖w‖q² in the place of λ/2·‖w‖², with q near 1: for dense inputs that are small in every
    /// entry; binary and regression.
    #[arg(long, conflicts_with = "nonnegative")]
    pub q_norm: bool,
    /// Allow no negative weights.
    #[arg(long)]
    pub nonnegative: bool,
}

impl PenaltyArgs {
    /// Whether an l1 penalty was asked for.
    pub fn has_l1(&self) -> bool {
        self.l1 != Wanted::Given(Strength::NONE)
    }

    /// Returns σ as the user wrote it. While it is not chosen, it is that of zero weights.
    pub fn sigma(&self) -> Strength {
        self.l1.or(Strength::FractionOfMax(1.0))
    }
}

/// How the problem is solved.
#[derive(Args, Debug)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// Which method trains. Under a penalty: auto, bcfw, fw, newton, coordinates, ssg, subgradient, cutting-plane, n-slack or eg; in a
    /// ball: auto, pdbfw, fw and the others.
    #[arg(long, value_enum, default_value = "auto")]
    pub solver: Solver,
    /// How far a step goes.
    #[arg(long, value_enum, default_value = "line-search")]
    pub step: Step,
    /// Between what a step moves weight: structural tasks [default: the solver's].
    #[arg(long, value_enum)]
    pub direction: Option<Direction>,
    /// Whether steps are also taken on outputs that were found before, without looking for better ones: structural
    /// tasks [default: the solver's].
    #[arg(long, value_enum)]
    pub cache: Option<Cache>,
    /// In which order the examples are visited.
    #[arg(long, value_enum, default_value = "permuted")]
    pub sampling: Sampling,
    /// Whether to accelerate the steps by momentum [default: the solver's].
    #[arg(long, value_enum)]
    pub acceleration: Option<Acceleration>,
    /// Visit examples whose visits change nothing less often [default: with --solver auto].
    #[arg(long)]
    pub shrinking: bool,
    /// Visit every example in every pass, also those whose visits change nothing [default: with --solver bcfw and fw].
    #[arg(long, conflicts_with = "shrinking")]
    pub no_shrinking: bool,
    /// Which average of the iterates is returned: none; uniform, of all; weighted by t; suffix (or doubling), since the last
    /// step that was a power of two; random, one of those. With --solver ssg and subgradient also suffix:F, of the last share
    /// F of the steps, but not random.
    #[arg(long, value_name = "AVERAGE", value_parser = parse_average)]
    pub average: Option<Average>,
    /// Of --average uniform and random: leave out the iterates of so many first steps.
    #[arg(long, value_name = "STEPS")]
    pub average_after: Option<u64>,
    /// Look for so many corners at the same weights, in parallel.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = parse_count)]
    pub batch: usize,
    /// Visit examples in two lanes at the same time, each on a thread: chains and matchings with --solver auto. It pays on two cores
    /// that are free, with a few thousand weights.
    #[arg(long)]
    pub lanes: bool,
    /// Threads; 0 stands for all cores. The result does not depend on it.
    #[arg(long, value_name = "T", default_value_t = 0, value_parser = parse_threads)]
    pub threads: usize,
    /// Of the random order.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// When a run stops.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "When to stop")]
pub struct StopArgs {
    /// Stop at this gap, as a fraction of the primal value [default: 0.01, unless
    /// --absolute-tolerance is given].
    #[arg(long, value_name = "R", value_parser = parse_tolerance, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
    /// Stop at this gap, in units of the objective.
    #[arg(long, value_name = "A", value_parser = parse_tolerance, allow_hyphen_values = true)]
    pub absolute_tolerance: Option<f64>,
    /// Stop after so many passes over the data.
    #[arg(long, value_name = "N")]
    pub passes: Option<u64>,
    /// Stop after so many oracle calls.
    #[arg(long, value_name = "N")]
    pub oracle_calls: Option<u64>,
    /// Stop after so many seconds.
    #[arg(long, value_name = "S", value_parser = parse_tolerance, allow_hyphen_values = true)]
    pub time: Option<f64>,
}

impl MethodArgs {
    /// Whether nothing was said about the method that an average of the iterates would contradict.
    pub fn is_plain(&self) -> bool {
        self.solver == Solver::Auto
            && self.average.is_none()
            && self.direction.is_none()
            && self.cache.is_none()
            && !self.lanes
            && self.acceleration.is_none()
            && self.step == Step::LineSearch
    }

    /// Returns the average that was asked for.
    pub fn average(&self) -> Average {
        self.average.unwrap_or(Average::None)
    }

    /// Returns the solver of a problem under a penalty, or an error for options that it does not have; `option` is the
    /// task's.
    pub fn of_penalty(&self, option: Option<Choice>) -> Result<Method> {
        let seed = self.seed;
        let chosen = match self.solver {
            Solver::Auto | Solver::Bcfw | Solver::Fw => {
                return Ok(DualMethod { option, ..self.settings()?.into() }.into());
            }
            Solver::Ssg | Solver::Subgradient => {
                let settings = self.of_subgradient()?;
                let own: &[&str] = match settings.method {
                    subgradient::SubgradientMethod::Stochastic => &["--average", "--sampling"],
                    subgradient::SubgradientMethod::Batch => &["--average"],
                };
                self.refuse_of_engine(own)?;
                return Ok(settings.into());
            }
            Solver::CuttingPlane | Solver::NSlack => {
                let slacks = match self.solver {
                    Solver::CuttingPlane => cutting_plane::Slacks::One,
                    _ => cutting_plane::Slacks::Each,
                };
                Method::CuttingPlane(cutting_plane::CuttingPlaneSettings {
                    slacks,
                    seed,
                    threads: 0,
                })
            }
            Solver::Eg => {
                let sampling = self.sampling.into();
                let settings = exponentiated_gradient::GradientSettings {
                    sampling,
                    seed,
                    ..Default::default()
                };
                Method::ExponentiatedGradient(settings)
            }
            // Without settings; those in a ball are none here.
            other => Method::named(&other.name(), false)?,
        };
        self.refuse_of_engine(if self.solver == Solver::Eg { &["--sampling"] } else { &[] })?;
        Ok(chosen)
    }

    /// Returns the settings of a subgradient method, or an error for values that it does not have.
    fn of_subgradient(&self) -> Result<subgradient::SubgradientSettings> {
        let Some(average) = self.average().of_subgradient() else {
            return Err(Error::setting(format!(
                "--average random goes with --solver auto and bcfw: --solver {} has none, uniform, weighted, doubling and \
                 suffix:F",
                self.solver.name()
            )));
        };
        let settings = subgradient::SubgradientSettings {
            method: match self.solver {
                Solver::Ssg => subgradient::SubgradientMethod::Stochastic,
                _ => subgradient::SubgradientMethod::Batch,
            },
            average,
            sampling: self.sampling.into(),
            seed: self.seed,
            threads: 0,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Returns an error unless the solver has the options of Prox-SDCA.
    pub fn check_option(&self) -> Result<()> {
        match self.solver {
            Solver::Auto | Solver::Bcfw => Ok(()),
            other => Err(Error::setting(format!(
                "--option is about steps of one example by --solver auto or bcfw, not those of --solver {}",
                other.name()
            ))),
        }
    }

    /// Returns an error for options of the engine, which other solvers would silently ignore, except those that are the
    /// solver's own.
    fn refuse_of_engine(&self, own: &[&str]) -> Result<()> {
        let given = [
            ("--step", self.step != Step::LineSearch),
            ("--direction", self.direction.is_some()),
            ("--cache", self.cache.is_some()),
            ("--sampling", self.sampling != Sampling::Permuted),
            ("--acceleration", self.acceleration.is_some()),
            ("--shrinking", self.shrinking),
            ("--no-shrinking", self.no_shrinking),
            ("--average", self.average() != Average::None),
            ("--average-after", self.average_after.is_some()),
            ("--batch", self.batch != 1),
            ("--lanes", self.lanes),
        ];
        match given.into_iter().find(|(name, given)| *given && !own.contains(name)) {
            Some((name, _)) => Err(Error::setting(format!(
                "{name} does not go with --solver {}: leave it out, or take --solver auto or bcfw",
                self.solver.name()
            ))),
            None => Ok(()),
        }
    }

    /// Returns the settings of the engine, except those of the problem, or an error for an average that it does not have.
    fn settings(&self) -> Result<Settings> {
        let Some(average) = self.average().of_engine(self.average_after) else {
            return Err(Error::setting(format!(
                "--average {} goes with --solver ssg and subgradient: take none, uniform, weighted, suffix or random",
                self.average().name()
            )));
        };
        let (method, chosen) = match self.solver {
            Solver::Bcfw => (dual::Algorithm::Bcfw, Settings::plain()),
            Solver::Fw => (dual::Algorithm::Fw, Settings::plain()),
            _ => (dual::Algorithm::Bcfw, Settings::default()),
        };
        Ok(Settings {
            method,
            step: self.step.into(),
            direction: self.direction.map_or(chosen.direction, Into::into),
            cache: self.cache.map_or(chosen.cache, Into::into),
            acceleration: self.acceleration.map_or(chosen.acceleration, Into::into),
            sampling: self.sampling.into(),
            shrinking: self.shrinking || (chosen.shrinking && !self.no_shrinking),
            average,
            batch: self.batch,
            lanes: self.lanes,
            threads: self.threads,
            seed: self.seed,
            ..chosen
        })
    }
}

impl StopArgs {
    /// Returns the budget. A run without a tolerance would have no end, so there is a default tolerance; a given
    /// absolute tolerance replaces it, and zero switches it off.
    pub fn budget(&self) -> Budget {
        let relative = match (self.tolerance, self.absolute_tolerance) {
            (None, None) => Some(0.01),
            (given, _) => given,
        };
        Budget {
            relative,
            absolute: self.absolute_tolerance,
            passes: self.passes,
            oracle_calls: self.oracle_calls,
            seconds: self.time,
            ..Budget::default()
        }
    }

    /// Whether the user set a limit.
    pub fn limited(&self) -> bool {
        self.passes.is_some() || self.oracle_calls.is_some() || self.time.is_some()
    }

    /// Returns the outcome: exit code 0 if the tolerance was reached, or at a limit if the user asked for no
    /// tolerance; a tolerance of zero asks for none. A run that stalls has done neither, and one that is not certified
    /// has reached nothing.
    pub fn outcome(&self, stop: Stop, certified: bool) -> Outcome {
        let asked =
            [self.tolerance, self.absolute_tolerance].into_iter().flatten().any(|t| t > 0.0);
        let at_limit = matches!(stop, Stop::PassLimit | Stop::OracleLimit | Stop::TimeLimit);
        if certified && (stop == Stop::GapReached || (at_limit && !asked)) {
            Outcome::Reached
        } else {
            Outcome::NotReached
        }
    }
}
