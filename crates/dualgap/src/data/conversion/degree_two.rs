//! Degree-2 polynomial features, so that a linear model becomes a quadratic one.
//!
//! ```text
//! φ(x) = (√2 x_1, …, √2 x_d,  x_i² and √2 x_i x_j for the pairs i ≤ j):     ⟨φ(x), φ(x')⟩ = (⟨x, x'⟩ + 1)² − 1
//! ```
//!
//! That is the kernel of degree 2 without its constant, which is an intercept (Chang, Hsieh, Chang, Ringgaard and Lin,
//! *Training and testing low-degree polynomial data mappings via linear SVM*, 2010). Only pairs that occur together in a
//! row of the data become features, so that sparse data of many features stay sparse: a row of k entries has k(k + 3)/2.
//! The others would have a weight of zero.

use crate::data::libsvm::LARGEST_INDEX;
use crate::linalg::memory::reserve_check;
use crate::linalg::{Row, Rows};
use crate::{Error, Result};
use rustc_hash::FxHashSet;

/// The pairs of features that occur together in a data set; see the module's head.
///
/// ```
/// use dualgap::data::DegreeTwo;
/// use dualgap::linalg::Rows;
/// let mut rows = Rows::sparse();
/// rows.push_sparse(&[(0, 1.0), (2, 3.0)]);
/// rows.push_sparse(&[(1, 2.0)]);
/// let map = DegreeTwo::fit(&rows)?;
/// assert_eq!(map.features(), 3 + 4); // three of the data, 1·1, 1·3, 2·2, 3·3
/// let row = map.features_of(rows.row(1))?.0;
/// assert_eq!(row, [(1, 2.0 * 2_f64.sqrt()), (5, 4.0)]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DegreeTwo {
    dimension: usize,
    /// i and j of each pair, ascending.
    pairs: Vec<(u32, u32)>,
}

/// The nonzero entries of a row.
fn entries(row: Row<'_>) -> Vec<(u32, f64)> {
    row.iter().filter(|&(_, x)| x != 0.0).map(|(j, x)| (j as u32, x)).collect()
}

impl DegreeTwo {
    /// Numbers the pairs that occur in these rows.
    pub fn fit(rows: &Rows) -> Result<Self> {
        let dimension = rows.width();
        let most = Self::most_pairs(rows);
        // A set of pairs is about half full, and is then sorted: three numbers for a pair of 32 bits each.
        reserve_check(most.saturating_mul(3))?;
        let mut pairs = FxHashSet::default();
        for i in 0..rows.len() {
            let row = entries(rows.row(i));
            for (k, &(i, _)) in row.iter().enumerate() {
                pairs.extend(row[k..].iter().map(|&(j, _)| (i, j)));
            }
            if dimension + pairs.len() > LARGEST_INDEX as usize {
                return Err(Error::setting(
                    "the rows have more than 2²⁸ products of two features: leave out rare features, or take the \
                     random grids in the place of products",
                ));
            }
        }
        let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
        pairs.sort_unstable();
        Ok(Self { dimension, pairs })
    }

    /// Returns the largest number of pairs that these rows can have: a memory estimate before the work begins.
    pub fn most_pairs(rows: &Rows) -> usize {
        let dimension = rows.width();
        let all = dimension.saturating_mul(dimension + 1) / 2;
        let each = (0..rows.len()).map(|i| {
            let count = rows.row(i).iter().filter(|&(_, x)| x != 0.0).count();
            count.saturating_mul(count + 1) / 2
        });
        each.fold(0_usize, usize::saturating_add).min(all)
    }

    /// The number of features of a row before the conversion.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// i and j of each pair, ascending.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Returns the number of features after the conversion.
    pub fn features(&self) -> usize {
        self.dimension + self.pairs.len()
    }

    /// Returns the features of a row and their values, ascending, and how many products were left out because the data
    /// of the fit do not have them.
    pub fn features_of(&self, row: Row<'_>) -> Result<(Vec<(usize, f64)>, u64)> {
        let row = entries(row);
        let root = std::f64::consts::SQRT_2;
        let known = row.iter().filter(|&&(j, _)| (j as usize) < self.dimension);
        let mut found: Vec<(usize, f64)> = known.map(|&(j, x)| (j as usize, root * x)).collect();
        let mut unseen = 0;
        for (k, &(i, x)) in row.iter().enumerate() {
            for &(j, y) in &row[k..] {
                match self.pairs.binary_search(&(i, j)) {
                    Ok(at) => {
                        let value = if i == j { x * x } else { root * x * y };
                        found.push((self.dimension + at, value));
                    }
                    Err(_) => unseen += 1,
                }
            }
        }
        if found.iter().any(|(_, value)| !value.is_finite()) {
            return Err(Error::setting(
                "a product of two features is too large for a number: divide the columns by their size first",
            ));
        }
        Ok((found, unseen))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.pairs.iter().flat_map(|&(i, j)| [i, j]).flat_map(u32::to_le_bytes).collect()
    }

    /// Returns `None` if the bytes are no pairs of so many features.
    pub(super) fn from_bytes(dimension: usize, bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let half = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).ok();
        let pair = |word: &[u8; 8]| Some((half(&word[..4])?, half(&word[4..])?));
        let pairs = words.iter().map(pair).collect::<Option<Vec<_>>>()?;
        let sound = pairs.iter().all(|&(i, j)| i <= j && (j as usize) < dimension)
            && pairs.is_sorted_by(|a, b| a < b)
            && dimension.saturating_add(pairs.len()) <= LARGEST_INDEX as usize;
        sound.then_some(Self { dimension, pairs })
    }
}
