//! Which features of the training data are kept, and their numbers.
//!
//! Rare features are dropped, and the rest are numbered in order of appearance, those of a label and those of pairs apart; or
//! by a hash of their names.

use super::{ColumnRecipe, Dictionary, Hashing};
use crate::{Error, Result, Setting};

/// The numbers of the features that are kept.
pub(super) struct Numbering {
    /// Their names: those of labels first, then those of pairs; empty if they are hashed.
    pub dictionary: Dictionary,
    /// How many numbers there are, of labels and of pairs.
    pub widths: [usize; 2],
    /// For every feature that was met, its number.
    pub new: Vec<Option<u32>>,
}

impl Numbering {
    /// Numbers the features with these counts, and completes what the recipe says about hashing. `refuse` makes an error
    /// about the file of a message and a remedy.
    pub fn new(
        names: &Dictionary,
        counts: &[u32],
        recipe: &mut ColumnRecipe,
        refuse: impl Fn(String, String) -> Error,
    ) -> Result<Self> {
        let min_count = recipe.min_count;
        let is_pair = |name: &str| name.starts_with('B');
        let of = |pair: bool| {
            let kept = names.names().zip(counts).filter(move |(_, count)| **count >= min_count);
            kept.map(|(name, _)| name).filter(move |name| is_pair(name) == pair)
        };
        let widths = [false, true].map(|pair| of(pair).count());
        if widths[0] == 0 {
            let message = format!("no feature occurs {min_count} times");
            return Err(refuse(message, format!("lower {}", Setting::MinCount)));
        }
        if let Some(hashing) = &mut recipe.hash {
            if widths[1] > 0 {
                return Err(refuse(
                    "its templates make features of label pairs, and those are not hashed".into(),
                    "leave out the templates B…%x[…]".into(),
                ));
            }
            *hashing = Hashing::new(hashing.bits)?.counted(of(false));
        }
        let mut next = [0_u32; 2];
        let mut number = |name: &str| {
            if let Some(hash) = recipe.hash {
                return hash.number(name);
            }
            let next = &mut next[usize::from(is_pair(name))];
            *next += 1;
            *next - 1
        };
        let numbered = names.names().zip(counts);
        let new = numbered.map(|(name, &count)| (count >= min_count).then(|| number(name)));
        Ok(Self {
            new: new.collect(),
            dictionary: match recipe.hash {
                Some(_) => Dictionary::default(),
                None => of(false).chain(of(true)).collect(),
            },
            widths: recipe.hash.map_or(widths, |hash| [hash.width(), 0]),
        })
    }
}
