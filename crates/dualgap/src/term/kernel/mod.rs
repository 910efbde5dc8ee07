//! Kernels: inner products k(x, z) = ⟨Φ(x), Φ(z)⟩ of features that nobody computes.
//!
//! The weights of a model under a kernel are coefficients of its training inputs, one run of K numbers for each,
//!
//! ```text
//! f(x) = Σ_j k(x, x_j) β_j,      ‖f‖² = Σ_{i,j} k(x_i, x_j)⟨β_i, β_j⟩ = Σ_i ⟨β_i, f(x_i)⟩
//! ```
//!
//! and all that a loss sees of an input is f at this input. To the blocks of the engine this is a problem whose inputs are
//! one-hot, e_i for example i, under a regulariser whose norm is the kernel's: a [`Link`](super::Link).
//!
//! - `definition`: the trait, and `function`: the built-in kernels, and bounds on the rounding of their values.
//! - `exponential`: e^x over a slice, with an error that is proved.
//! - `gram`: the matrix of kernel values, by rows, some of which are kept in `cache`.
//! - `link`: the regulariser.

mod cache;
mod definition;
mod exponential;
mod function;
mod gram;
mod link;

pub use definition::Kernel;
pub use function::KernelFunction;
pub use gram::Gram;
pub use link::KernelLink;
