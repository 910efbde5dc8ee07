//! What makes a certificate true, and who tries to make it false.
//!
//! - `values`: both sides are those of the weights and the dual point returned, and bracket the optimum.
//! - `ascents`: no step lowers the dual side.
//! - `averages`: the same for averages, against all the iterates they are of.
//! - `links`: the same for a regulariser of one's own.
//! - `rounding`: the stated errors, against numbers of 32 digits.
//! - `underflow`: the same at scales where products vanish.
//! - `attacks`: oracles that lie, or know little.
//! - `witnesses`: dual points that are none.
//! - `calls`: what calls of the oracle are spent on, and what saves them.
//! - `degenerate`: data at the edge of what makes sense.
//!
//! One program, so that the engine and the judge are compiled once for all of them.

mod ascents;
mod attacks;
mod averages;
mod calls;
mod degenerate;
mod links;
mod rounding;
mod underflow;
mod values;
mod witnesses;
