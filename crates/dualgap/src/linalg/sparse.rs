//! Vectors on their way to another process: sparse ones travel sparse, by the gaps between their entries.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most numbers that a received vector may have: a claim of more is no vector of ours, and must not be allocated.
const MOST: u64 = 1 << 32;

#[derive(Serialize, Deserialize)]
enum Form {
    Dense(Vec<f64>),
    /// The length; for each entry how many zeros come before it; the entries.
    Sparse(u64, Vec<u32>, Vec<f64>),
}

/// Whether an entry is left out. A negative zero is an entry: bits travel unchanged.
fn is_nothing(x: f64) -> bool {
    x.to_bits() == 0
}

/// Serialises a vector in the shorter of its two forms.
pub(crate) fn serialize<S: Serializer>(vector: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let entries = vector.iter().filter(|x| !is_nothing(**x)).count();
    // A gap takes one to five bytes beside the eight of its entry.
    if 10 * entries >= 8 * vector.len() || vector.len() >= u32::MAX as usize {
        return Form::Dense(vector.to_vec()).serialize(serializer);
    }
    let (mut gaps, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut gap = 0;
    for &x in vector {
        if is_nothing(x) {
            gap += 1;
        } else {
            gaps.push(gap);
            values.push(x);
            gap = 0;
        }
    }
    Form::Sparse(vector.len() as u64, gaps, values).serialize(serializer)
}

/// Reads a vector of either form.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<f64>, D::Error> {
    match Form::deserialize(deserializer)? {
        Form::Dense(vector) => Ok(vector),
        Form::Sparse(length, gaps, values) => {
            let entries = gaps.iter().map(|&gap| u64::from(gap) + 1).sum::<u64>();
            if length > MOST || entries > length || gaps.len() != values.len() {
                return Err(D::Error::custom(
                    "the entries of a sparse vector do not fit its length",
                ));
            }
            let mut vector = vec![0.0; length as usize];
            let mut next = 0;
            for (gap, value) in gaps.into_iter().zip(values) {
                next += gap as usize;
                vector[next] = value;
                next += 1;
            }
            Ok(vector)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Held(#[serde(with = "super")] Vec<f64>);

    #[test]
    fn vectors_arrive_with_the_same_bits_and_sparse_ones_are_short() {
        let mut sparse = vec![0.0; 1000];
        (sparse[0], sparse[3], sparse[999]) = (1.5, -0.0, f64::MIN_POSITIVE);
        let dense: Vec<f64> = (0..50).map(f64::from).collect();
        for vector in [sparse, dense, vec![], vec![0.0; 9]] {
            let bytes = postcard::to_stdvec(&Held(vector.clone())).unwrap();
            let entries = vector.iter().filter(|x| x.to_bits() != 0).count();
            assert!(bytes.len() <= 16 + 10 * entries.max(1));
            let Held(back) = postcard::from_bytes(&bytes).unwrap();
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&back), bits(&vector));
        }
    }

    #[test]
    fn entries_beyond_the_length_are_refused() {
        let bytes = postcard::to_stdvec(&Form::Sparse(2, vec![0, 5], vec![1.0, 2.0])).unwrap();
        assert!(postcard::from_bytes::<Held>(&bytes).is_err());
    }
}
