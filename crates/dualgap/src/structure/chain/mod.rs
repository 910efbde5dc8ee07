//! One label for each position of a sequence, first order.
//!
//! - `blocks`: edge marginals of a sequence; `search` finds its best labeling, and `active_set` has its steps between known
//!   labelings; `scratch`, `edges`, `face` and `geometry` are what steps need.
//! - `forward_backward`: the marginals of a distribution over labelings; `expectation`: exponentiated gradient steps of
//!   the blocks by them.
//! - `legal`: labelings that a scheme forbids, kept out of all searches and sums.
//! - `crf`: the log-loss, conditional random fields.
//! - `n_best`: the best labelings of a sequence.
//! - `oracle`: Viterbi's algorithm, the layout of the weights, and the max-oracle; `slack`: its search under slack
//!   rescaling, whose blocks keep labelings; `beam`: a search along a
//!   `frontier` of some labels, with a bound.

mod active_set;
mod beam;
mod blocks;
mod crf;
pub(crate) mod definition;
pub(crate) mod edges;
mod expectation;
mod face;
mod forward_backward;
mod frontier;
mod geometry;
mod legal;
mod n_best;
mod oracle;
mod scratch;
mod search;
mod slack;

pub use beam::Beam;
pub use blocks::ChainBlocks;
pub use definition::{Chain, ChainLoss};
pub use forward_backward::{ForwardBackward, Potentials};
pub use oracle::{ChainLayout, ChainOracle, Hamming, Label, Viterbi};
