//! Models under a kernel.
//!
//! - `judge`: small problems under a kernel, fitted by the library, and their values in numbers of 32 digits.
//! - `linear_kernel`: with the linear kernel, the iterates are those of the solver with weights.
//! - `certificates`: certificates beside the judge's values, and optima beside clarabel's.
//! - `runs`: what a result does not depend on; checkpoints; averages.
//! - `models`: files, predictions, users' own kernels, and what is refused.

mod certificates;
mod judge;
mod linear_kernel;
mod models;
mod runs;
