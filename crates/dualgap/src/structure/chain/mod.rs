//! One label for each position of a sequence, first order.
//!
//! - `blocks`: edge marginals of a sequence; `search` finds its best labeling, and `active_set` has its steps between known
//!   labelings; `scratch`, `edges`, `face` and `geometry` are what steps need.
//! - `oracle`: Viterbi's algorithm, the layout of the weights, and the max-oracle; `slack`: its search under slack
//!   rescaling, whose blocks keep labelings; `beam`: a search along a
//!   `frontier` of some labels, with a bound.

mod active_set;
mod beam;
mod blocks;
pub(crate) mod definition;
pub(crate) mod edges;
mod face;
mod frontier;
mod geometry;
mod oracle;
mod scratch;
mod search;
mod slack;

pub use beam::Beam;
pub use blocks::{ChainBlocks, ChainScratch};
pub use definition::Chain;
pub use oracle::{ChainOracle, Hamming, Label, Layout, Viterbi};
