//! Data that are one of several shards: with the columns and the labels that all of them have in common.
//!
//! Every shard is read by itself, and knows its own columns and labels. Columns without names are those of the widest shard. Named
//! ones are numbered by the names of all shards, which is the numbering of the joined data if the names are in order of their first
//! occurrence there.

use super::one_print::OnePrint;
use super::{Alphabet, Classes, Dictionary, Examples, Sequences, Targets};
use crate::linalg::Rows;
use crate::{Error, Result};

impl Examples {
    /// Returns the examples with so many columns, and with classes that are numbers of these labels; targets of other kinds
    /// stay as they are. Mapped rows stay in place.
    ///
    /// ```
    /// use dualgap::data::{Alphabet, Examples};
    /// let shard = Examples::from_dense(&[vec![1.0]], &["yes"])?;
    /// let labels = Alphabet::new(["no", "yes"].map(String::from));
    /// let shard = shard.in_common(3, &labels)?;
    /// assert_eq!((shard.rows().width(), shard.classes()?.numbers()), (3, &[1][..]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn in_common(self, width: usize, labels: &Alphabet) -> Result<Self> {
        let Self { mut rows, targets, dictionary, weights, print } = self;
        let print = if rows.width() == width { print } else { OnePrint::default() };
        widen(&mut rows, width)?;
        let targets = match targets {
            Targets::Classes(classes) => {
                let new = numbers(classes.alphabet(), labels)?;
                let of = classes.numbers().iter().map(|&k| new[k as usize]).collect();
                Classes::new(of, labels.clone())?.into()
            }
            other => other,
        };
        Ok(Self { rows, targets, dictionary, weights, print })
    }
}

impl Sequences {
    /// Returns the sequences with these features, by name and without all others, and with labels that are numbers of `labels`.
    /// Features without names, for which the dictionary is empty, become `width` columns.
    ///
    /// ```
    /// use dualgap::data::{Alphabet, ColumnRecipe, Dictionary, Source};
    /// let recipe = ColumnRecipe::from_templates("", "U00:%x[0,0]".into())?;
    /// let (shard, _) = recipe.read_training(Source::from_bytes("a", b"b B\na A\n")?)?;
    /// let all: Dictionary = ["U00:a", "U00:b"].into_iter().collect();
    /// let labels = Alphabet::new(["A", "B", "C"].map(String::from));
    /// let shard = shard.in_common(2, &all, &labels)?;
    /// assert_eq!((shard.rows().row(0).get(1), shard.truth(0)), (1.0, &[1, 0][..]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn in_common(self, width: usize, features: &Dictionary, labels: &Alphabet) -> Result<Self> {
        if self.edges().is_some() {
            return Err(Error::setting(
                "sequences in shards have no features of pairs: leave out the templates B…%x[…]",
            ));
        }
        if features.is_empty() != self.dictionary().is_empty() {
            return Err(Error::setting("some shards have names of features and others none"));
        }
        if labels.len() > 1 << 16 {
            return Err(Error::setting("there are more labels than a chain can have"));
        }
        let new = numbers(self.alphabet(), labels)?;
        let of = self.labels().iter().map(|&label| new[label as usize] as u16).collect();
        let mut shard = self.relabelled(of, labels.clone());
        if features.is_empty() {
            widen(&mut shard.rows, width)?;
        } else {
            let numbers = shard.dictionary.names().map(|name| features.index(name));
            shard.rows = shard.rows.renumbered(&numbers.collect::<Vec<_>>(), features.len())?;
            shard.dictionary = features.clone();
        }
        Ok(shard)
    }

    /// Returns how often every feature of positions occurs.
    ///
    /// ```
    /// # use dualgap::data::Sequences;
    /// let names = ["a", "b"].map(String::from);
    /// let rows = [vec![vec![1.0, 0.0], vec![2.0, 1.0]]];
    /// let data = Sequences::from_dense(&rows, &[vec![0, 1]], &names)?;
    /// assert_eq!(data.feature_counts(), [3, 1]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn feature_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.rows.width()];
        for t in 0..self.rows.len() {
            // A feature that two templates make has the value two.
            self.rows.row(t).for_each(|j, x| counts[j] += x as u64);
        }
        counts
    }
}

fn widen(rows: &mut Rows, width: usize) -> Result<()> {
    let have = rows.width();
    if have > width {
        return Err(Error::setting(format!(
            "a shard has {have} columns, and all of them have {width}"
        )));
    }
    rows.fit_width(width);
    Ok(())
}

/// Returns the number of each of these names among all.
fn numbers(names: &Alphabet, all: &Alphabet) -> Result<Vec<u32>> {
    let number = |name: &String| {
        let number = all.index(name).and_then(|k| u32::try_from(k).ok());
        number.ok_or_else(|| Error::setting(format!("the label `{name}` is none of all shards")))
    };
    names.names().iter().map(number).collect()
}
