//! What linear models, classes and chains are under a kernel.

use super::UnderKernel;
use crate::data::{Examples, Sequences};
use crate::linalg::Rows;
use crate::structure::chain::ChainLoss;
use crate::structure::own::Rescaling;
use crate::structure::{
    Chain, ChainBlocks, Choice, Linear, LinearBlocks, Multiclass, MulticlassBlocks,
};
use crate::term::{Gram, MulticlassLoss, ScalarLoss};
use crate::{Error, Result, Setting};

/// A support vector machine without an intercept, kernel ridge regression, and what other losses make of it.
impl UnderKernel for Linear {
    const KERNEL_NAME: &'static str = "kernel_linear";
    const HAS_OPTIONS: bool = true;
    type Blocks<'b> = LinearBlocks<'b, ScalarLoss>;

    fn check_kernel(&self) -> Result<()> {
        Ok(())
    }

    fn inputs(data: &Examples) -> &Rows {
        data.rows()
    }

    fn one_hot(data: &Examples) -> Examples {
        data.one_hot()
    }

    fn blocks<'b>(
        &'b self,
        one_hot: &'b Examples,
        gram: &Gram<'_>,
        choice: Option<Choice>,
    ) -> Result<LinearBlocks<'b, ScalarLoss>> {
        let (targets, choice) = (self.targets(one_hot)?, choice.unwrap_or_default());
        Ok(LinearBlocks::new(one_hot.rows(), targets, self.loss, choice)?.under_kernel(gram))
    }

    fn squared_radius(_: &Examples, largest: f64) -> f64 {
        largest
    }
}

impl UnderKernel for Multiclass {
    const KERNEL_NAME: &'static str = "kernel_multiclass";
    type Blocks<'b> = MulticlassBlocks<'b>;

    fn check_kernel(&self) -> Result<()> {
        if self.loss != MulticlassLoss::Hinge {
            return Err(only_the_hinge("classes"));
        }
        if self.rescaling == Rescaling::Margin { Ok(()) } else { Err(only_margins("classes")) }
    }

    fn inputs(data: &Examples) -> &Rows {
        data.rows()
    }

    fn one_hot(data: &Examples) -> Examples {
        data.one_hot()
    }

    fn blocks<'b>(
        &'b self,
        one_hot: &'b Examples,
        gram: &Gram<'_>,
        _: Option<Choice>,
    ) -> Result<MulticlassBlocks<'b>> {
        Ok(MulticlassBlocks::new(one_hot, &self.costs)?.under_kernel(gram))
    }

    /// ψ = Φ(x) ⊗ (e_y − e_{y'}).
    fn squared_radius(_: &Examples, largest: f64) -> f64 {
        2.0 * largest
    }
}

/// The kernel is on the inputs of positions. Start, end, transitions and features of pairs have weights as ever.
impl UnderKernel for Chain {
    const KERNEL_NAME: &'static str = "kernel_chain";
    type Blocks<'b> = ChainBlocks<'b>;

    fn check_kernel(&self) -> Result<()> {
        if self.loss != ChainLoss::Hinge {
            return Err(only_the_hinge("chains"));
        }
        if self.rescaling != Rescaling::Margin {
            return Err(only_margins("chains"));
        }
        if self.beam.is_some() || self.forbid.is_some() {
            return Err(Error::setting(format!(
                "chains under a kernel are searched by Viterbi's algorithm among all labelings: leave {} or {} out, and forbid \
                 none",
                Setting::Beam,
                Setting::Kernel
            )));
        }
        Ok(())
    }

    fn inputs(data: &Sequences) -> &Rows {
        data.rows()
    }

    fn one_hot(data: &Sequences) -> Sequences {
        data.one_hot()
    }

    fn blocks<'b>(
        &'b self,
        one_hot: &'b Sequences,
        gram: &Gram<'_>,
        _: Option<Choice>,
    ) -> Result<ChainBlocks<'b>> {
        Ok(ChainBlocks::new(one_hot, self.hamming)?.under_kernel(gram))
    }

    /// Each of T positions differs by Φ(x) ⊗ (e_y − e_{y'}) and a transition, and there are start and end.
    fn squared_radius(data: &Sequences, largest: f64) -> f64 {
        let lengths = data.starts().windows(2).map(|ends| ends[1] - ends[0]);
        let longest = lengths.max().unwrap_or(0) as f64;
        2.0 * (longest * longest * largest + longest * longest + 2.0)
    }
}

/// Returns the error for another loss than the hinge.
fn only_the_hinge(what: &str) -> Error {
    let (kernel, loss) = (Setting::Kernel, Setting::Loss);
    Error::setting(format!(
        "{what} under a kernel have the hinge: leave {kernel} out, or take {loss} hinge"
    ))
}

/// Returns the error for slack rescaling.
fn only_margins(what: &str) -> Error {
    let (kernel, rescale) = (Setting::Kernel, Setting::Rescale);
    Error::setting(format!(
        "{what} under a kernel are margin-rescaled: leave {kernel} out, or take {rescale} margin"
    ))
}
