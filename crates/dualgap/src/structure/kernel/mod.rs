//! Any structure that scores inputs, under a kernel on these inputs.
//!
//! The weights of the inputs become coefficients of the training inputs, and everything else stays as it is: costs, the
//! search for the best output, the transitions of a chain. So nothing of a structure is written twice. For training, its
//! blocks get inputs that are one-hot, e_i for input i, and a regulariser whose norm is the kernel's
//! ([`KernelLink`](crate::term::KernelLink)): that is Algorithm B.1 of the BCFW paper. For predictions, it gets inputs that are one-hot, and as
//! weights the values of the functions at the new inputs.
//!
//! - `definition`: the structure; `under`: what it asks of the one that it is made of, and `structures`: what linear models,
//!   classes and chains answer.
//! - `posed`: its optimisation problem.
//! - `support`: the training inputs with coefficients, which a model has besides its weights.

mod definition;
mod posed;
mod structures;
mod support;
mod under;

pub use definition::Kernelised;
pub use support::Support;
pub use under::UnderKernel;
