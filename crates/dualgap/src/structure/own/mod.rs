//! Any output space with a max-oracle: the trait that a user implements, and the blocks that are made of it.

mod blocks;
mod check;
mod contract;
pub(crate) mod definition;
pub(crate) mod examples;
mod oracle;

pub use blocks::{OracleBlocks, OraclePoint, Plane};
pub use check::{OracleCheck, check_oracle, check_own_oracle};
pub use contract::{Breach, Checked, Clause};
pub use definition::OwnStructure;
pub use examples::OwnExamples;
pub use oracle::{Bound, Decoded, Extent, Oracle, OwnOracle};
