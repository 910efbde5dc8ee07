//! Any output space with a max-oracle: the trait that a user implements, and the blocks that are made of it.
//!
//! - `oracle`: the trait; `rescaling`: how losses and scores make its hinge; `examples`: its data.
//! - `blocks`: one block an example, a mixture of the corners in `plane`; `active_set` has its steps between known
//!   corners, `witness` what is stored of it, `refute` what it says against false claims; `score`: the loss of an output.
//!   `ahead`: what a batch has decoded for several blocks.
//! - `definition`: the structure of an oracle. `check`: tests an oracle against its contract, whose clauses are in `contract`.

mod active_set;
mod ahead;
mod blocks;
mod check;
mod contract;
pub(crate) mod definition;
pub(crate) mod examples;
mod oracle;
mod plane;
mod refute;
mod rescaling;
mod score;
mod witness;

pub use blocks::OracleBlocks;
pub use check::{OracleCheck, check_oracle, check_own_oracle};
pub use contract::{Breach, Checked, Clause};
pub use definition::OwnStructure;
pub use examples::OwnExamples;
pub use oracle::{Bound, Decoded, Extent, Oracle, OwnOracle};
pub use rescaling::Rescaling;
pub use witness::StoredOutputs;
