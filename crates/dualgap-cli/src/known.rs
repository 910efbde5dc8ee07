//! Models of a structure that a command is about: a sentence explained by a chain, a matching drawn, a matrix of ratings shown by its
//! factors.
//!
//! Whatever is said of any model comes from [`AnyModel`], so that a new structure has it, too. This is for what other structures
//! have no counterpart of.

use dualgap::structure::Structure;
use dualgap::task::{AnyModel, Model};

/// Returns the model, if it is one of the structure.
pub fn of<S: Structure>(model: &dyn AnyModel) -> Option<&Model<S>> {
    model.as_any().downcast_ref()
}
