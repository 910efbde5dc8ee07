//! `‖Σ_t x_t ⊗ d_t‖²` for the positions of a sequence: the denominator of a chain's line search.
//!
//! Short sequences store the Gram matrix of their inputs, `Σ_{s,t} ⟨x_s, x_t⟩⟨d_s, d_t⟩`, which costs T² short
//! products. Long ones store their inputs by feature, `Σ_f ‖Σ_t x_tf d_t‖²`, which costs as much as scoring and needs
//! no more memory than the inputs themselves.

use crate::data::Sequence;
use crate::linalg::kernels::{add_scaled, dot};
use crate::term::Gram;

/// Up to this length the Gram matrix is the cheaper form: it has no more entries than a position
/// with some thirty features has in all.
const LONGEST_GRAM: usize = 64;

#[derive(Debug)]
pub(super) enum Geometry {
    /// `⟨x_s, x_t⟩` for s ≤ t, at `t(t + 1)/2 + s`.
    Gram(Box<[f64]>),
    /// For each feature the positions at which it occurs, with its values; `ends` holds where each feature's entries
    /// end.
    Features { ends: Box<[u32]>, entries: Box<[(u32, f64)]> },
}

/// The inner products of a sequence's inputs.
#[derive(Clone, Copy)]
pub(super) struct GramRows<'a>(&'a [f64]);

impl GramRows<'_> {
    /// Returns `⟨x_s, x_t⟩`.
    #[inline]
    pub fn product(self, s: usize, t: usize) -> f64 {
        let (low, high) = (s.min(t), s.max(t));
        self.0[high * (high + 1) / 2 + low]
    }
}

impl Geometry {
    pub fn of(x: Sequence<'_>) -> Self {
        if x.len() <= LONGEST_GRAM { Self::gram(x) } else { Self::features(x) }
    }

    /// Returns the Gram matrix, if it is stored.
    pub fn gram_rows(&self) -> Option<GramRows<'_>> {
        match self {
            Self::Gram(products) => Some(GramRows(products)),
            Self::Features { .. } => None,
        }
    }

    /// Returns the kernel's values at the positions of a sequence of this length, from `first` on among all positions.
    pub fn under_kernel(first: usize, length: usize, gram: &Gram<'_>) -> Self {
        let mut products = vec![0.0; length * (length + 1) / 2];
        for t in 0..length {
            let row = &mut products[t * (t + 1) / 2..=t * (t + 1) / 2 + t];
            gram.part(first + t, first..first + t + 1, row);
        }
        Self::Gram(products.into())
    }

    fn gram(x: Sequence<'_>) -> Self {
        if (0..x.len()).any(|t| x.row(t).indices().is_none()) {
            let pairs = (0..x.len()).flat_map(|t| (0..=t).map(move |s| (s, t)));
            return Self::Gram(pairs.map(|(s, t)| x.row(s).dot(x.row(t))).collect());
        }
        // Most features of a sentence are at one position: far fewer products than pairs of positions and their features.
        let mut products = vec![0.0; x.len() * (x.len() + 1) / 2];
        for feature in by_feature(x).chunk_by(|a, b| a.0 == b.0) {
            for (k, &(_, t, value)) in feature.iter().enumerate() {
                let row = &mut products[t as usize * (t as usize + 1) / 2..];
                for &(_, s, before) in &feature[..=k] {
                    row[s as usize] += before * value;
                }
            }
        }
        Self::Gram(products.into())
    }

    fn features(x: Sequence<'_>) -> Self {
        let all = by_feature(x);
        let ends = all.chunk_by(|a, b| a.0 == b.0).scan(0, |end, feature| {
            *end += feature.len() as u32;
            Some(*end)
        });
        Self::Features {
            ends: ends.collect(),
            entries: all.iter().map(|&(_, t, x)| (t, x)).collect(),
        }
    }

    /// Returns the squared norm for `d` as `T × K`, which is zero except at the `active` positions (ascending). `row`
    /// is a buffer.
    pub fn squared_norm(
        &self,
        labels: usize,
        d: &[f64],
        active: &[usize],
        row: &mut Vec<f64>,
    ) -> f64 {
        let at = |t: usize| &d[t * labels..(t + 1) * labels];
        let total: f64 = match self {
            Self::Gram(gram) => active
                .iter()
                .enumerate()
                .map(|(k, &t)| {
                    let products = &gram[t * (t + 1) / 2..=t * (t + 1) / 2 + t];
                    let cross: f64 =
                        active[..k].iter().map(|&s| products[s] * dot(at(s), at(t))).sum();
                    2.0 * cross + products[t] * dot(at(t), at(t))
                })
                .sum(),
            Self::Features { ends, entries } => {
                row.clear();
                row.resize(labels, 0.0);
                let mut start = 0;
                let mut total = 0.0;
                for &end in ends {
                    row.fill(0.0);
                    for &(t, x) in &entries[start..end as usize] {
                        add_scaled(at(t as usize), x, row);
                    }
                    total += dot(row, row);
                    start = end as usize;
                }
                total
            }
        };
        // Cancellation in the cross terms can leave a tiny negative number.
        total.max(0.0)
    }
}

/// Returns feature, position and value of all entries, by feature and then by position.
fn by_feature(x: Sequence<'_>) -> Vec<(u32, u32, f64)> {
    let entries = |t: usize| x.row(t).iter().map(move |(f, value)| (f as u32, t as u32, value));
    let mut all: Vec<_> = (0..x.len()).flat_map(entries).collect();
    all.sort_unstable_by_key(|&(f, t, _)| u64::from(f) << 32 | u64::from(t));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sequences;
    use crate::linalg::{Accumulate, Rows};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_forms_equal_the_norm_of_the_vector_itself(
            rows in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0.0), -1.0..1.0_f64], 3), 1..6),
            values in prop::collection::vec(-1.0..1.0_f64, 12),
            sleeping in 0_usize..6,
        ) {
            let length = rows.len();
            let names = ["a", "b"].map(String::from);
            let data = Sequences::from_dense(std::slice::from_ref(&rows), &[vec![0; length]], &names).unwrap();
            let x = data.sequence(0);
            let mut d: Vec<f64> = values[..2 * length].to_vec();
            let active: Vec<usize> = (0..length).filter(|&t| t != sleeping).collect();
            if sleeping < length {
                d[2 * sleeping..2 * sleeping + 2].fill(0.0);
            }
            let mut vector = vec![0.0; 6];
            for t in 0..length {
                vector.add_outer(x.row(t), &d[2 * t..2 * t + 2], 1.0);
            }
            let expected = dot(&vector, &vector);
            let mut entries = Rows::sparse();
            for row in &rows {
                let row = (0..).zip(row.iter().copied());
                entries.push_sparse(&row.filter(|&(_, value)| value != 0.0).collect::<Vec<_>>());
            }
            let sparse = Sequences::unlabelled(entries, vec![0, length]).unwrap();
            let forms = [x, sparse.sequence(0)].map(|x| [Geometry::gram(x), Geometry::features(x)]);
            for geometry in forms.into_iter().flatten() {
                let norm = geometry.squared_norm(2, &d, &active, &mut Vec::new());
                prop_assert!((norm - expected).abs() < 1e-12, "{norm} {expected}");
            }
        }
    }
}
