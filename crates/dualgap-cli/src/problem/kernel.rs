//! A kernel on the inputs of a task, in the place of weights of their features.

use crate::Outcome;
use crate::args::Common;
use crate::args::values::{parse_positive, parse_tolerance};
use crate::options::{TaskOptions, Work, check};
use clap::{Args, ValueEnum};
use dualgap::data::Loaded;
use dualgap::structure::{Choice, Kernelised, Structure, UnderKernel};
use dualgap::task::{Strength, TaskSpec};
use dualgap::term::{Kernel, KernelFunction};
use dualgap::{Error, Result};
use std::path::Path;

/// A kernel by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// ⟨x, z⟩
    Linear,
    /// exp(−gamma·‖x − z‖²)
    Rbf,
    /// (gamma·⟨x, z⟩ + coef0)^degree
    Polynomial,
}

/// The kernel, and how many of its values are kept.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct KernelArgs {
    /// Train under a kernel on the inputs: the model has coefficients of training inputs in the place of weights.
    #[arg(long, value_enum)]
    pub kernel: Option<KernelName>,
    /// Of rbf and polynomial: a number, or `scale` for 1/(features × variance of the inputs) [default: scale].
    #[arg(long, value_name = "scale|G", value_parser = parse_gamma, allow_hyphen_values = true, requires = "kernel")]
    pub gamma: Option<Gamma>,
    /// Of polynomial: its degree [default: 3].
    #[arg(long, value_name = "P", allow_hyphen_values = true, requires = "kernel")]
    pub degree: Option<u32>,
    /// Of polynomial: what is added to the inner product [default: 0].
    #[arg(long, value_name = "C", value_parser = parse_tolerance, allow_hyphen_values = true, requires = "kernel")]
    pub coef0: Option<f64>,
    /// Keep at most so many megabytes of kernel values [default: 1074]. The result does not depend on it.
    #[arg(long, value_name = "MB", requires = "kernel", help_heading = "Method")]
    pub kernel_cache: Option<u32>,
}

/// gamma, or `scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma(Option<f64>);

fn parse_gamma(text: &str) -> Result<Gamma, String> {
    if text == "scale" {
        return Ok(Gamma(None));
    }
    let number = parse_positive(text).map_err(|_| "must be `scale` or a positive number")?;
    Ok(Gamma(Some(number)))
}

impl KernelArgs {
    /// Returns the kernel, or an error for options that it does not have and would silently ignore.
    fn function(&self) -> Result<Option<KernelFunction>> {
        let Some(name) = self.kernel else { return Ok(None) };
        if self.gamma.is_some() && name == KernelName::Linear {
            return Err(Error::setting("--gamma is for --kernel rbf and polynomial"));
        }
        if (self.degree.is_some() || self.coef0.is_some()) && name != KernelName::Polynomial {
            return Err(Error::setting("--degree and --coef0 are for --kernel polynomial"));
        }
        let gamma = self.gamma.and_then(|gamma| gamma.0);
        let function = match name {
            KernelName::Linear => KernelFunction::Linear,
            KernelName::Rbf => KernelFunction::Rbf { gamma },
            KernelName::Polynomial => KernelFunction::Polynomial {
                degree: self.degree.unwrap_or(3),
                gamma,
                coef0: self.coef0.unwrap_or(0.0),
            },
        };
        function.check()?;
        Ok(Some(function))
    }

    /// Runs a command on a task, under the kernel if there is one.
    pub fn run<W: Work, T: TaskOptions<Structure: UnderKernel>>(
        &self,
        work: &W,
        task: &T,
    ) -> Result<Outcome> {
        let Some(function) = self.function()? else { return work.run(task) };
        let bytes = self.kernel_cache.map(|megabytes| megabytes as usize * 1_000_000);
        let task = TaskUnderKernel { of: task, function, bytes };
        check(&task, &work.common())?;
        work.run_under_kernel(&task)
    }
}

/// A task under a kernel.
#[derive(Debug)]
struct TaskUnderKernel<'a, T> {
    of: &'a T,
    function: KernelFunction,
    bytes: Option<usize>,
}

impl<T: TaskOptions<Structure: UnderKernel>> TaskUnderKernel<'_, T> {
    fn kernelised(&self, of: T::Structure) -> Kernelised<T::Structure> {
        let structure = Kernelised::new(of, self.function);
        match self.bytes {
            Some(bytes) => structure.with_cache(bytes),
            None => structure,
        }
    }

    fn of_kernel(&self, spec: TaskSpec<T::Structure>) -> TaskSpec<Kernelised<T::Structure>> {
        let TaskSpec { structure, penalty, free_intercept, scaling, class_weights } = spec;
        let structure = self.kernelised(structure);
        TaskSpec { structure, penalty, free_intercept, scaling, class_weights }
    }

    /// Lets the task without a kernel complete the one under it.
    fn completed(
        &self,
        spec: &mut TaskSpec<Kernelised<T::Structure>>,
        complete: impl FnOnce(&mut TaskSpec<T::Structure>) -> Result<()>,
    ) -> Result<()> {
        let TaskSpec { structure, penalty, free_intercept, scaling, class_weights } = spec.clone();
        let structure = structure.of;
        let mut of = TaskSpec { structure, penalty, free_intercept, scaling, class_weights };
        complete(&mut of)?;
        *spec = self.of_kernel(of);
        Ok(())
    }
}

impl<T: TaskOptions<Structure: UnderKernel>> TaskOptions for TaskUnderKernel<'_, T> {
    type Structure = Kernelised<T::Structure>;
    const COMMAND: &'static str = T::COMMAND;
    const ABOUT: &'static str = T::ABOUT;
    const DEFAULT_MU: Strength = T::DEFAULT_MU;

    fn structure(&self) -> Result<Self::Structure> {
        Ok(self.kernelised(self.of.structure()?))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Self::Structure>> {
        Ok(self.of_kernel(self.of.spec(common)?))
    }

    fn option(&self) -> Option<Choice> {
        self.of.option()
    }

    fn constant(&self) -> bool {
        self.of.constant()
    }

    fn prepare(&self, spec: &mut TaskSpec<Self::Structure>, common: &Common<'_>) -> Result<()> {
        self.completed(spec, |of| self.of.prepare(of, common))
    }

    fn meet(
        &self,
        spec: &mut TaskSpec<Self::Structure>,
        file: &Path,
        data: &<Self::Structure as Structure>::Data,
    ) -> Result<()> {
        self.completed(spec, |of| self.of.meet(of, file, data))
    }

    fn split(
        &self,
        train: Loaded<<T::Structure as Structure>::Data>,
        common: &Common<'_>,
    ) -> Result<(
        Loaded<<T::Structure as Structure>::Data>,
        Option<Loaded<<T::Structure as Structure>::Data>>,
    )> {
        self.of.split(train, common)
    }
}
