//! `dualgap cv`: what its table says is what anyone finds who splits the files by hand.
//!
//! - `by_hand`: every number beside those of `train` and `eval` on files that the test has split.
//! - `choices`: means, standard errors, which λ is chosen, and the model of all data.
//! - `determinism`: threads change nothing, the seed does.
//! - `grids`: σ and radii in the place of λ.
//! - `refusals`: folds, grids and files that make no sense.
//! - `interrupt`: Ctrl-C leaves nothing half done.

mod by_hand;
mod choices;
mod determinism;
mod grids;
#[cfg(target_os = "linux")]
mod interrupt;
mod refusals;
