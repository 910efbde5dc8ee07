//! Linear models in a norm ball, held against judges that share nothing with them.
//!
//! - `case`: small random problems of every loss, and as the library has them.
//! - `program`, `judge`: the same as cone programs for clarabel.
//! - `exact`: both sides to 32 digits.
//! - `models`: fitted, stored and verified models, and forged ones.
//! - `problems`: values, gradients and certificates.
//! - `kept`: runs that go on where others ended, and forged states.
//! - `solvers`: runs to the optimum, and the work they take.
//! - `baselines`: the methods they are measured by.
//! - `sets`: the simplex, the convex hull of atoms, and terms of a user's own.
//! - `low_rank`: all methods in the trace ball.

mod baselines;
mod case;
mod exact;
mod judge;
mod kept;
mod low_rank;
mod models;
mod problems;
mod program;
mod sets;
mod solvers;
