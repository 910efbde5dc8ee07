//! Online exponentiated gradient on the dual of a structural SVM: Collins et al. (2008), with the step sizes of appendix F
//! of the BCFW paper.
//!
//! The dual variables of example i are a distribution over its outputs that is given by its logarithm, a parameter θ for
//! each part r of an output (a class; a label at a position, a pair of neighbouring labels):
//!
//! ```text
//! α_i(y) ∝ exp(Σ_{r ∈ y} θ_{i,r})                                    uniform in the beginning: θ = 0
//!
//! pick a block i
//! θ'   = θ_i + η_i (λ/mass_i) (L_r + ⟨w, φ_r⟩) in every part          α_i ∝ α_i exp(η_i · gradient)
//! α'   = the marginals of θ'                                         the expectation oracle
//! if D does not fall:  α_i ← α',   w ← w + (mass_i/λ) X_i (α' − α_i)
//! else halve η_i and try again: at most twice in the first pass, five times later
//! η_i ← 1.05 η_i
//! ```
//!
//! The gradient is that of the dual multiplied by λ/mass_i², the objective of Collins et al. with C = λn, so that the
//! η = ½ of appendix F is in its units: a step that suits feature vectors of length one, whatever λ and n are. Where no
//! trial keeps the dual from falling, which the paper leaves open, the block stays where it is.
//!
//! Every trial calls the expectation oracle once, and counts as an oracle call. Unlike Frank-Wolfe, the method needs sums
//! over all outputs and cannot do with a maximum; its iterates stay inside the simplex, where the optimum of a structural
//! SVM never is.
//!
//! - `expectation`: the trait of blocks that have the expectation oracle.
//! - `settings`: the settings of a run. `rates`: the step sizes of all blocks.
//! - `solver`: the method, as a [`crate::run::Solver`]. `train`: runs.
//!
//! ```
//! use dualgap::data::Examples;
//! use dualgap::methods::exponentiated_gradient::{GradientSettings, train};
//! use dualgap::run::Budget;
//! use dualgap::structure::MulticlassBlocks;
//! use dualgap::term::Costs;
//!
//! let rows = [vec![1.0, 0.0], vec![0.9, 0.2], vec![0.0, 1.0], vec![0.1, 0.8]];
//! let data = Examples::from_dense(&rows, &["cat", "cat", "dog", "dog"])?;
//! let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne)?;
//! let report = train(&blocks, 0.5, &GradientSettings::default(), &Budget::relative(0.01), &mut ())?;
//! assert!(report.certificate.relative_gap_bound() <= 0.01);
//! # Ok::<(), dualgap::Error>(())
//! ```

mod expectation;
mod rates;
mod settings;
mod solver;
mod train;

pub use expectation::ExpectationBlocks;
pub use settings::GradientSettings;
pub use solver::ExponentiatedGradient;
pub(crate) use train::check_penalty;
pub use train::{train, train_from};
