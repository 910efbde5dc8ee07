//! Any output space with a max-oracle: the trait that a user implements, and the blocks that are made of it.

mod blocks;
pub(crate) mod definition;
pub(crate) mod examples;
mod oracle;

pub use blocks::{OracleBlocks, OraclePoint, Plane};
pub use definition::OwnStructure;
pub use examples::OwnExamples;
pub use oracle::{Bound, Decoded, Extent, Oracle, OwnOracle};
