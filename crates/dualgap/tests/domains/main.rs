//! Frank-Wolfe over any product of convex sets.
//!
//! - `steps`: the general solver and the block-dual engine, step by step.
//! - `optima`: quadratics over products of simplices, and a solver that shares nothing with ours.
//! - `proximal`: Algorithm C.1 beside a transcription of it.
//! - `bounds`: certificates against numbers of 32 digits, and oracles that are wrong.
//! - `runs`: budgets, checkpoints, averages, and what is refused.
//! - `quadratics`: the problems of these tests.

mod bounds;
mod optima;
mod proximal;
mod quadratics;
mod runs;
mod steps;
