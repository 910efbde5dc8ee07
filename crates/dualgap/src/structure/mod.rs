//! The structures: one module for each output space, with its oracle and its blocks.
//!
//! ```text
//! P(w) = Σ mass_i · max_y [L_i(y) − ⟨w, ψ_i(y)⟩] + (λ/2)‖w‖²,    ψ_i(y) = φ(x_i, y_i) − φ(x_i, y)
//! ```
//!
//! A block is an example's simplex over its outputs. The built-in structures represent its point in coordinates of
//! their own, a class distribution or edge marginals; [`OracleBlocks`] stores the corners themselves, for any
//! [`Oracle`]; under a loss of one number the point is that number.
//!
//! [`Structure`] is the trait that all of them implement; a structure of the user's own does so too. Who has a max-oracle writes an
//! [`Oracle`], or an [`OwnOracle`] for an [`OwnStructure`] with everything that the built-in ones have; who has blocks of another kind
//! implements [`Structure`] and poses the problem of his data as [`Posed`]. The blocks themselves ([`LinearBlocks`],
//! [`MulticlassBlocks`], [`ChainBlocks`], …) are for the engine alone, without a task.
//!
//! - `linear`: a number for each example, or the sign of one.
//! - `multiclass`: one label out of several.
//! - `chain`: a label for each position of a sequence.
//! - `matching`: which rows and columns of a graph belong together.
//! - `multi_label`: any number of labels, and `multi_output`: several numbers, in a ball.
//! - `completion`: ratings of items by users, and `sensing`: other measurements of a matrix, in the trace ball.
//! - `own`: a user's own structure, given by its max-oracle.
//! - `kernel`: linear models, classes and chains under a kernel on their inputs.
//! - `definition`: the trait; `posed`: optimisation problems that can be solved and proved; `names`, `fitted`, `words`, `ranked`,
//!   `remarks`: what the trait speaks of.
//! - `prox_sdca`: the steps of Prox-SDCA for structures.
//! - [`evaluation`]: comparison of predictions with the truth.

pub(crate) mod chain;
pub(crate) mod completion;
mod definition;
pub mod evaluation;
mod fitted;
mod kernel;
mod linear;
pub(crate) mod matching;
mod multi_label;
mod multi_output;
mod multiclass;
pub(crate) mod names;
pub(crate) mod own;
pub(crate) mod posed;
mod prox_sdca;
mod ranked;
pub(crate) mod remarks;
pub(crate) mod sensing;
pub(crate) mod words;

pub use chain::{
    Beam, Chain, ChainBlocks, ChainLayout, ChainLoss, ChainOracle, ForwardBackward, Hamming, Label,
    Potentials, Viterbi,
};
pub use completion::{Centre, Centring, Completion};
pub use definition::{Purpose, Structure, WeightOf};
pub(crate) use evaluation::Evaluation;
pub use fitted::{Fitted, Table};
pub use kernel::{Kernelised, Support, UnderKernel};
pub use linear::{Choice, Linear, LinearBlocks, train_linear, train_pure_l1, train_pure_l1_from};
pub use matching::{LinkLoss, Matching, MatchingBlocks, MatchingOracle};
pub use multi_label::MultiLabel;
pub use multi_output::MultiOutput;
pub use multiclass::{Multiclass, MulticlassBlocks, MulticlassOracle, ScoreBlocks};
pub use names::Names;
pub use own::{
    Bound, Decoded, Extent, Oracle, OracleBlocks, OwnExamples, OwnOracle, OwnStructure, Rescaling,
};
pub use own::{Breach, Checked, Clause, OracleCheck, check_oracle, check_own_oracle};
pub use posed::{Compressible, Posed, Posing, StoredLosses};
pub use prox_sdca::{ProxSdca, Radius};
pub use ranked::Ranked;
pub use remarks::{Remark, RemarkKind};
pub use sensing::{Measurement, Sensing};
pub use words::Words;
