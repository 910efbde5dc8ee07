//! Linear models by dual coordinate ascent, held against judges that share nothing with them.
//!
//! - `intervals`: the certified interval contains the optimum that a search over the plane finds.
//! - `accelerated`: rounds around a centre that moves, on ill-conditioned problems.
//! - `advice`: what a run suggests about its problem.
//! - `appraisals`: how far from the optimum weights of others are.
//! - `ascent`: the dual value never falls.
//! - `bounds`: a regulariser of a user's own.
//! - `intercepts`, `free_models`: a weight without penalty, and models that have one.
//! - `q_norms`: the regulariser of section 3.2.
//! - `solvers`: quadratic programs, closed forms, Newton's method.
//! - `weights`: sample weights and duplicates; two classes as a binary problem.
//! - `class_weights`: classes that count more, and as many copies.
//! - `scaling`, `scaled_runs`, `scaled_classes`: columns divided by the run, and by the test beforehand.
//! - `theorems`: the iterations that the paper's theorems ask for are enough.
//! - `random_outputs`: averages, and iterates drawn at random.
//! - `witnesses`: models that are verified, and forged ones that are not.
//! - `rounding`: certificates beside numbers of 32 digits.
//! - `sleepers`: shrinking.
//! - `orders`: chunks of neighbouring rows.
//! - `sweeps`: runs of visits in one loop.
//! - `structures`: structural blocks in accelerated rounds.
//! - `survival`: checkpoints and warm starts.
//! - `kept_rounds`, `kept_l1`: checkpoints of accelerated rounds and pure l1 runs, and forged ones.
//! - `classes`: losses of several scores.
//! - `reaches`: what a model proves at other λ, beside numbers of 32 digits.
//! - `narrow`: data in 32 bits. `empty_columns`: columns without entries, which runs leave out.
//! - `newton`: second-order steps. `coordinates`: steps along weights under the l1 norm.
//! - `paths`: models for every λ of an interval.
//! - `edges`: data that nobody would wish for.
//!
//! One program, so that the engine is compiled once for all of them.

mod accelerated;
mod advice;
mod appraisals;
mod ascent;
mod bounds;
mod case;
mod class_weights;
mod classes;
mod compressed;
mod coordinates;
mod edges;
mod empty_columns;
mod free_models;
mod intercepts;
mod intervals;
mod kept_l1;
mod kept_rounds;
mod narrow;
mod newton;
mod orders;
mod paths;
mod q_norms;
mod random_outputs;
mod raw;
mod reaches;
mod rounding;
mod scaled_classes;
mod scaled_runs;
mod scaling;
mod sleepers;
mod solvers;
mod structures;
mod survival;
mod sweeps;
mod theorems;
mod weights;
mod witnesses;
