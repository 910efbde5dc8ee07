//! A sparse mixture: non-negative weights on keys, with one lazy scale.
//!
//! The point of a block is a convex combination of corners, and a corner is a set of keys: one class,
//! or the edges that a labeling passes through. A step scales everything by 1 − γ, which costs one
//! multiplication, and adds γ to the corner's keys.

use serde::{Deserialize, Serialize};

/// Weights on ascending keys.
///
/// ```
/// # use dualgap::dual::Mixture;
/// let mut at = Mixture::corner(&[3]);
/// at.step(0.25, &[7]);
/// assert_eq!(at.iter().collect::<Vec<_>>(), [(3, 0.75), (7, 0.25)]);
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "(f64, Vec<(u64, f64)>)", into = "(f64, Vec<(u64, f64)>)")]
pub struct Mixture {
    scale: f64,
    /// Keys strictly ascending; the weight of an entry is `scale` times what is stored.
    entries: Vec<(u64, f64)>,
}

/// Stores scale and entries as they are in memory, so that they resume bit for bit.
impl From<Mixture> for (f64, Vec<(u64, f64)>) {
    fn from(mixture: Mixture) -> Self {
        (mixture.scale, mixture.entries)
    }
}

impl TryFrom<(f64, Vec<(u64, f64)>)> for Mixture {
    type Error = &'static str;

    fn try_from((scale, entries): (f64, Vec<(u64, f64)>)) -> Result<Self, Self::Error> {
        let ascending = entries.is_sorted_by(|a, b| a.0 < b.0);
        if ascending { Ok(Self { scale, entries }) } else { Err("keys that do not ascend") }
    }
}

/// The lazy scale is multiplied out below this, and above its inverse, long before anything could underflow or
/// overflow.
const SMALLEST_SCALE: f64 = 1e-100;

/// What rounding may leave of a weight that was removed completely; such a weight counts as zero.
const REST: f64 = 1e-15;

impl Mixture {
    /// Returns the mixture with all weight on one corner, given by its ascending keys.
    pub fn corner(keys: &[u64]) -> Self {
        Self { scale: 1.0, entries: keys.iter().map(|&key| (key, 1.0)).collect() }
    }

    /// Returns the mixture of these keys and weights, or `None` if the keys do not ascend.
    pub fn from_entries(entries: Vec<(u64, f64)>) -> Option<Self> {
        entries.is_sorted_by(|a, b| a.0 < b.0).then_some(Self { scale: 1.0, entries })
    }

    /// Iterates over the keys, ascending, and their weights.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.entries.iter().map(|&(key, weight)| (key, self.scale * weight))
    }

    /// Returns how many keys carry weight.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no key carries weight.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the least weight of these ascending keys.
    pub fn least(&self, keys: &[u64]) -> f64 {
        let mut entries = self.entries.iter();
        let weight = |key: &u64| entries.find(|(other, _)| other == key).map_or(0.0, |&(_, w)| w);
        self.scale * keys.iter().map(weight).fold(f64::INFINITY, f64::min)
    }

    /// Moves weight from the keys of one corner to those of another. Both corners list their keys by position, and keys
    /// that they share stay as they are.
    ///
    /// ```
    /// # use dualgap::dual::Mixture;
    /// let mut at = Mixture::corner(&[3, 14]);
    /// at.shift(0.25, &[3, 14], &[7, 14]);
    /// assert_eq!(at.iter().collect::<Vec<_>>(), [(3, 0.75), (7, 0.25), (14, 1.0)]);
    /// at.shift(0.75, &[3, 14], &[7, 14]);
    /// assert_eq!(at.iter().collect::<Vec<_>>(), [(7, 1.0), (14, 1.0)]);
    /// ```
    pub fn shift(&mut self, amount: f64, from: &[u64], to: &[u64]) {
        let amount = amount / self.scale;
        let apart = || from.iter().zip(to).filter(|(from, to)| from != to);
        self.take(amount, apart().map(|(&from, _)| from));
        let added = apart().count();
        let mut arriving = apart().map(|(_, &to)| to);
        if added == 1 {
            let key = arriving.next().unwrap_or_default();
            return self.merge(1, |_| (key, amount));
        }
        let arriving: Vec<u64> = arriving.collect();
        self.merge(added, |k| (arriving[k], amount));
    }

    /// Moves weight from the keys of one corner to those of another, as [`shift`](Self::shift) does for corners that list
    /// their keys by position; these are sets of ascending keys. All keys of `from` must have that much weight.
    ///
    /// ```
    /// # use dualgap::dual::Mixture;
    /// let mut at = Mixture::corner(&[3, 5, 14]);
    /// at.exchange(0.25, &[3, 5, 14], &[5, 7]);
    /// assert_eq!(at.iter().collect::<Vec<_>>(), [(3, 0.75), (5, 1.0), (7, 0.25), (14, 0.75)]);
    /// ```
    pub fn exchange(&mut self, amount: f64, from: &[u64], to: &[u64]) {
        let amount = amount / self.scale;
        self.take(amount, from.iter().copied().filter(|key| to.binary_search(key).is_err()));
        // Keys in both stay as they are: they have weight, so that nothing is added to them and nothing inserted.
        let arriving = |key| if from.binary_search(&key).is_err() { amount } else { 0.0 };
        self.merge(to.len(), |k| (to[k], arriving(to[k])));
    }

    /// Subtracts `amount` from the stored weight of each of these ascending keys, and drops keys that have nothing
    /// left.
    fn take(&mut self, amount: f64, mut keys: impl Iterator<Item = u64>) {
        let rest = REST / self.scale;
        let mut next = keys.next();
        self.entries.retain_mut(|(key, weight)| {
            if next != Some(*key) {
                return true;
            }
            next = keys.next();
            *weight -= amount;
            *weight > rest
        });
    }

    /// Multiplies every weight by the factor of its key, and drops those that become zero.
    pub(crate) fn rescale(&mut self, mut factor: impl FnMut(u64, f64) -> f64) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.entries.retain_mut(|(key, weight)| {
            *weight *= scale;
            *weight *= factor(*key, *weight);
            *weight > 0.0
        });
    }

    /// `self ← (1 − γ) self + γ corner`, the corner given by its ascending keys. A negative γ takes weight from the
    /// corner, which must have it.
    pub fn step(&mut self, gamma: f64, corner: &[u64]) {
        if gamma >= 1.0 {
            self.scale = 1.0;
            self.entries.clear();
            self.entries.extend(corner.iter().map(|&key| (key, 1.0)));
        } else if gamma < 0.0 {
            self.shrink(1.0 - gamma);
            self.take(-gamma / self.scale, corner.iter().copied());
        } else {
            self.shrink(1.0 - gamma);
            let amount = gamma / self.scale;
            self.merge(corner.len(), |k| (corner[k], amount));
        }
    }

    /// `self ← (1 − share) self + share other`.
    pub fn blend(&mut self, share: f64, other: &Self) {
        if share >= 1.0 {
            self.scale = other.scale;
            self.entries.clone_from(&other.entries);
        } else if share > 0.0 {
            self.shrink(1.0 - share);
            let factor = share * other.scale / self.scale;
            self.merge(other.entries.len(), |k| {
                let (key, weight) = other.entries[k];
                (key, factor * weight)
            });
        }
    }

    fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        if !(SMALLEST_SCALE..1.0 / SMALLEST_SCALE).contains(&self.scale) {
            for (_, weight) in &mut self.entries {
                *weight *= self.scale;
            }
            self.scale = 1.0;
        }
    }

    /// Adds `count` terms with ascending keys. One pass updates the keys that are present; only if some are missing,
    /// the list grows and is merged in place from its end.
    fn merge(&mut self, count: usize, term: impl Fn(usize) -> (u64, f64)) {
        let mut missing = 0;
        let mut e = 0;
        for k in 0..count {
            let (key, amount) = term(k);
            while e < self.entries.len() && self.entries[e].0 < key {
                e += 1;
            }
            match self.entries.get_mut(e) {
                Some(entry) if entry.0 == key => entry.1 += amount,
                _ => missing += 1,
            }
        }
        if missing == 0 {
            return;
        }
        let mut read = self.entries.len();
        let mut write = read + missing;
        self.entries.resize(write, (0, 0.0));
        for k in (0..count).rev() {
            let (key, amount) = term(k);
            while read > 0 && self.entries[read - 1].0 > key {
                read -= 1;
                write -= 1;
                self.entries[write] = self.entries[read];
            }
            if read == 0 || self.entries[read - 1].0 != key {
                write -= 1;
                self.entries[write] = (key, amount);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn keys() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::btree_set(0_u64..12, 1..5)
            .prop_map(|set: BTreeSet<u64>| set.into_iter().collect())
    }

    proptest! {
        // The reference is a map that is scaled entry by entry.
        #[test]
        fn steps_and_blends_agree_with_a_plain_map(moves in prop::collection::vec((keys(), 0.0..=1.0_f64, any::<bool>()), 1..30)) {
            let mut mixture = Mixture::corner(&[2, 5]);
            let mut plain = BTreeMap::from([(2, 1.0), (5, 1.0)]);
            for (keys, share, as_blend) in moves {
                if as_blend {
                    mixture.blend(share, &Mixture::corner(&keys));
                } else {
                    mixture.step(share, &keys);
                }
                plain.values_mut().for_each(|weight| *weight *= 1.0 - share);
                for key in keys {
                    *plain.entry(key).or_insert(0.0) += share;
                }
                let present: BTreeMap<u64, f64> = mixture.iter().collect();
                prop_assert!(present.keys().is_sorted());
                for (key, weight) in &plain {
                    prop_assert!((present.get(key).copied().unwrap_or(0.0) - weight).abs() < 1e-13);
                }
                prop_assert!(present.keys().all(|key| plain.contains_key(key)));
            }
        }
    }

    #[test]
    fn a_scale_that_vanishes_is_multiplied_out() {
        let mut mixture = Mixture::corner(&[1]);
        for _ in 0..200 {
            mixture.step(0.99, &[2]);
        }
        let weights: BTreeMap<u64, f64> = mixture.iter().collect();
        assert!((weights[&2] - 1.0).abs() < 1e-14);
        assert!(weights[&1] >= 0.0 && weights[&1] < 1e-200);
    }
}
