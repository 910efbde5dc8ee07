//! Multiclass: one label out of several for each example.

use super::linear::NO_LANES;
use super::{ClassWeightArgs, ColumnArgs, KernelArgs};
use crate::Outcome;
use crate::args::values::parse_positive;
use crate::args::{Common, check_option};
use crate::choices::{ClassesLoss, Rescale, SdcaOption, Step};
use crate::options::{TaskOptions, Verb, Work};
use clap::Args;
use dualgap::data::{Examples, Source, tables};
use dualgap::structure::{Choice, Multiclass};
use dualgap::task::{PenaltySpec, TaskSpec};
use dualgap::term::{Costs, MulticlassLoss};
use dualgap::{Error, Result};
use std::path::{Path, PathBuf};

/// A loss of several scores, and what goes with it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct ClassesArgs {
    /// What wrong or narrow scores cost [default: hinge, in a ball smooth-hinge].
    #[arg(long, value_enum)]
    pub loss: Option<ClassesLoss>,
    /// Of the smooth hinge: over which width its corners are rounded off [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
    /// How the step of an example is chosen: an option of the Prox-SDCA paper. For the hinge, auto is
    /// block-coordinate Frank-Wolfe.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
    pub option: SdcaOption,
    /// Add a feature that is always 1; its weights are penalised like the others.
    #[arg(long)]
    pub intercept: bool,
    /// What each mistake costs: a table with the labels as its first line and first column.
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Of the hinge: how the cost of a mistake is weighed against its score.
    #[arg(long, value_enum, default_value = "margin")]
    pub rescale: Rescale,
    #[command(flatten)]
    pub classes: ClassWeightArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub kernel: KernelArgs,
}

impl ClassesArgs {
    fn loss(&self, in_ball: bool) -> MulticlassLoss {
        let default = if in_ball { ClassesLoss::SmoothHinge } else { ClassesLoss::Hinge };
        match self.loss.unwrap_or(default) {
            ClassesLoss::Hinge => MulticlassLoss::Hinge,
            ClassesLoss::SmoothHinge => {
                MulticlassLoss::SmoothHinge { width: self.width.unwrap_or(1.0) }
            }
            ClassesLoss::Softmax => MulticlassLoss::Softmax,
        }
    }
}

impl TaskOptions for ClassesArgs {
    type Structure = Multiclass;
    const COMMAND: &'static str = "multiclass";
    const ABOUT: &'static str = "One label out of several for each example.";
    const REFUSES: &'static [(&'static str, &'static str)] =
        &[("q-norm", "it is for binary and regression"), ("lanes", NO_LANES)];
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] =
        &[("format", &["edges"])];

    const APPRAISED: bool = true;

    fn examples(verb: Verb) -> &'static str {
        match verb {
            Verb::Train => {
                "\
Examples:
  dualgap train multiclass DATA.svm --lambda 1/n --tolerance 0.01 -o model.dualgap
  dualgap train multiclass DATA.svm --test TEST.svm --c 1 --average weighted --passes 20"
            }
            Verb::Cv => {
                "\
Examples:
  dualgap cv multiclass DATA.svm -o model.dualgap
  dualgap cv multiclass TABLE.csv --label species --loss softmax --tolerance 1e-3 --json"
            }
            Verb::Path => {
                "\
Examples:
  dualgap path multiclass DATA.svm --tolerance 0.05 --test TEST.svm -o FOLDER"
            }
            Verb::Appraise => {
                "\
Examples:
  dualgap appraise multiclass DATA.svm --weights weights.txt --loss softmax --c 1"
            }
        }
    }

    fn structure(&self) -> Result<Multiclass> {
        Ok(Multiclass::new(self.loss(false)).rescaled(self.rescale.into()))
    }

    /// Returns the problem, or an error for options that the loss does not have and would silently ignore.
    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Multiclass>> {
        let penalty = common.penalty(Self::DEFAULT_MU)?;
        let in_ball = matches!(penalty, PenaltySpec::Ball { .. });
        let loss = self.loss(in_ball);
        let chosen = self.option != SdcaOption::Auto;
        if self.width.is_some() && !matches!(loss, MulticlassLoss::SmoothHinge { .. }) {
            return Err(Error::setting("--width is for the loss smooth-hinge"));
        }
        if in_ball {
            check_option(self.option)?;
        } else if chosen {
            common.method.check_option()?;
        }
        let hinge = loss == MulticlassLoss::Hinge && !chosen;
        if !hinge && common.method.step == Step::Predefined {
            return Err(Error::setting(
                "--step is for the hinge without --option; --option chooses steps here",
            ));
        }
        Ok(TaskSpec {
            scaling: self.columns.scale.into(),
            class_weights: self.classes.class_weights.clone(),
            ..TaskSpec::new(Multiclass::new(loss).rescaled(self.rescale.into()), penalty)
        })
    }

    fn option(&self) -> Option<Choice> {
        let hinge = self.loss(false) == MulticlassLoss::Hinge;
        (self.option != SdcaOption::Auto || !hinge).then(|| self.option.into())
    }

    fn constant(&self) -> bool {
        self.intercept
    }

    fn run<W: Work>(&self, work: &W) -> Result<Outcome> {
        self.kernel.run(work, self)
    }

    fn meet(&self, spec: &mut TaskSpec<Multiclass>, _: &Path, data: &Examples) -> Result<()> {
        if let Some(path) = &self.costs {
            let alphabet = data.classes()?.alphabet();
            spec.structure.costs =
                Costs::Matrix(tables::read_costs(Source::open(path)?, alphabet)?);
        }
        Ok(())
    }
}
