//! Structures that can be trained under a kernel.

use crate::Result;
use crate::dual::Witnessed;
use crate::linalg::Rows;
use crate::structure::{Choice, Structure};
use crate::term::Gram;

/// A structure whose weights of the inputs can be coefficients under a kernel.
pub trait UnderKernel: Structure {
    /// The name in model files of the structure under a kernel.
    const KERNEL_NAME: &'static str;

    /// Whether its blocks under a kernel can choose their steps as without one, by the options of Prox-SDCA.
    const HAS_OPTIONS: bool = false;

    /// Its blocks, over data whose inputs are one-hot.
    type Blocks<'b>: Witnessed
    where
        Self: 'b;

    /// Returns an error if the structure is not trained under a kernel with these settings.
    fn check_kernel(&self) -> Result<()>;

    /// Returns the inputs of the data.
    fn inputs(data: &Self::Data) -> &Rows;

    /// Returns the data with inputs that are one-hot.
    fn one_hot(data: &Self::Data) -> Self::Data;

    /// Returns the blocks of data with inputs that are one-hot.
    fn blocks<'b>(
        &'b self,
        one_hot: &'b Self::Data,
        gram: &Gram<'_>,
        choice: Option<Choice>,
    ) -> Result<Self::Blocks<'b>>;

    /// Returns R², a bound on the squared length of what a block's best output differs by from another, where no k(x, x)
    /// is larger than `largest`.
    fn squared_radius(data: &Self::Data, largest: f64) -> f64;
}
