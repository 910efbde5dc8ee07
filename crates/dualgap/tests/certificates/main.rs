//! What makes a certificate true, and who tries to make it false.
//!
//! - `values`: both sides are those of the weights and the dual point returned, and bracket the optimum.
//! - `averages`: the same for averages, against all the iterates they are of.
//! - `links`: the same for a regulariser of one's own.
//! - `rounding`: the stated errors, against numbers of 32 digits.
//! - `attacks`: oracles that lie, or know little.
//! - `witnesses`: dual points that are none.
//! - `degenerate`: data at the edge of what makes sense.
//!
//! One program, so that the engine and the judge are compiled once for all of them.

#[path = "../common/mod.rs"]
mod common;

mod attacks;
mod averages;
mod degenerate;
mod links;
mod rounding;
mod values;
mod witnesses;
