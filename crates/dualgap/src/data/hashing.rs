//! Feature hashing: the number of a feature is a hash of its name, so that names need not be kept.
//!
//! With B bits there are 2^B numbers. Features that share one have one weight in common, in which the rarer of them is mostly
//! noise: of F features about F(1 − e^{−F/2^B}) share theirs with another.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The most bits: 2²⁴ numbers are more than any tagger needs, and every one has a weight for each label.
const MOST_BITS: u32 = 24;

/// Features by a hash of their names, and what that cost in the training data.
///
/// ```
/// use dualgap::data::Hashing;
/// let hashing = Hashing::new(10)?;
/// assert!(hashing.number("Uw0:dog") < 1024);
/// assert!(Hashing::new(40).is_err());
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashing {
    /// B: there are 2^B numbers.
    pub bits: u32,
    /// How many features the training data have; zero before they are read.
    #[serde(default)]
    pub features: usize,
    /// How many of them share their number with another one.
    #[serde(default)]
    pub colliding: usize,
}

impl Hashing {
    /// Returns hashing to this many bits, or an error for a number out of range.
    pub fn new(bits: u32) -> Result<Self> {
        if !(1..=MOST_BITS).contains(&bits) {
            return Err(Error::setting(format!(
                "features are hashed to 1 to {MOST_BITS} bits, not {bits}"
            )));
        }
        Ok(Self { bits, features: 0, colliding: 0 })
    }

    /// Returns how many numbers there are.
    pub fn width(self) -> usize {
        1 << self.bits
    }

    /// Returns the fraction of the features that share their number with another one.
    pub fn collision_rate(self) -> f64 {
        self.colliding as f64 / self.features.max(1) as f64
    }

    /// Returns the number of a feature: the upper bits of FNV-1a, mixed once more. Model files depend on it.
    #[inline]
    pub fn number(self, name: &str) -> u32 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.bits)) as u32
    }

    /// Counts what these features have in common.
    pub(super) fn counted<'n>(self, names: impl Iterator<Item = &'n str>) -> Self {
        let mut taken = vec![0_u32; self.width()];
        let mut features = 0;
        for name in names {
            features += 1;
            taken[self.number(name) as usize] += 1;
        }
        let colliding =
            taken.into_iter().filter(|&count| count > 1).map(|count| count as usize).sum();
        Self { features, colliding, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Collisions are as rare as those of numbers that are drawn at random.
    #[test]
    fn names_that_are_alike_collide_no_more_often_than_any() {
        let names: Vec<String> = (0..4096).map(|k| format!("Uw{}:word{}", k % 4, k / 4)).collect();
        let hashing = Hashing::new(12).unwrap().counted(names.iter().map(String::as_str));
        assert_eq!(hashing.features, 4096);
        let expected = 1.0 - (-1.0_f64).exp();
        assert!((hashing.collision_rate() - expected).abs() < 0.03, "{}", hashing.collision_rate());
    }

    #[test]
    fn numbers_never_change() {
        let hashing = Hashing::new(20).unwrap();
        let hash = |name: &str| {
            let mut hash = 14_695_981_039_346_656_037_u128;
            for byte in name.bytes() {
                hash = ((hash ^ u128::from(byte)) * 1_099_511_628_211) % (1 << 64);
            }
            let mixed = ((hash ^ (hash >> 32)) * 0x9e37_79b9_7f4a_7c15) % (1 << 64);
            (mixed >> 44) as u32
        };
        for name in ["", "Uw0:dog", "Uform:Müller"] {
            assert_eq!(hashing.number(name), hash(name));
        }
    }
}
