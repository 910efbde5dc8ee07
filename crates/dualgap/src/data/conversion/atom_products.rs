//! Inner products with given atoms as features: a model whose weights λ are in the simplex then has the weights Σ λ_j b_j,
//! in the convex hull of the atoms.

use crate::linalg::memory::check_weights;
use crate::linalg::{Row, Rows};
use crate::{Error, Result};

/// The most atoms times features: two gigabytes of numbers.
const MOST: usize = 1 << 28;

/// Atoms b_j, dense and of as many numbers as the data have features.
///
/// ```
/// use dualgap::data::AtomProducts;
/// use dualgap::linalg::Rows;
/// let atoms = AtomProducts::new(&Rows::dense(&[vec![1.0, 1.0], vec![0.0, -2.0]])?, 2)?;
/// let rows = Rows::dense(&[vec![3.0, 1.0]])?;
/// assert_eq!(atoms.features_of(rows.row(0))?, [4.0, -2.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AtomProducts {
    dimension: usize,
    numbers: Vec<f64>,
}

impl AtomProducts {
    /// Takes the rows as atoms of so many features.
    pub fn new(rows: &Rows, dimension: usize) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::setting("there is no atom, and a convex hull needs at least one"));
        }
        let size = rows.len().checked_mul(dimension).filter(|&size| size <= MOST);
        let mut numbers = vec![0.0; check_weights(size)?];
        for (i, atom) in numbers.chunks_exact_mut(dimension.max(1)).enumerate() {
            rows.row(i).for_each(|j, x| {
                if let Some(to) = atom.get_mut(j) {
                    *to = x;
                }
            });
        }
        Ok(Self { dimension, numbers })
    }

    /// The number of features of a row before the conversion.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the number of atoms, which is that of features after the conversion.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.dimension.max(1)
    }

    /// Whether there is no atom.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the inner products of a row with all atoms.
    pub fn features_of(&self, row: Row<'_>) -> Result<Vec<f64>> {
        let atoms = self.numbers.chunks_exact(self.dimension.max(1));
        let products: Vec<f64> = atoms
            .map(|atom| {
                let mut sum = 0.0;
                row.for_each(|j, x| sum += x * atom.get(j).copied().unwrap_or(0.0));
                sum
            })
            .collect();
        if products.iter().any(|product| !product.is_finite()) {
            return Err(Error::setting(
                "a product with an atom is too large for a number: divide the columns by their size first",
            ));
        }
        Ok(products)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.numbers.iter().copied().flat_map(f64::to_le_bytes).collect()
    }

    /// Returns `None` if the bytes are no atoms of so many features.
    pub(super) fn from_bytes(dimension: usize, bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let numbers: Vec<f64> = words.iter().map(|&word| f64::from_le_bytes(word)).collect();
        let sound = dimension > 0
            && !numbers.is_empty()
            && numbers.len().is_multiple_of(dimension)
            && numbers.len() <= MOST
            && numbers.iter().all(|x| x.is_finite());
        sound.then_some(Self { dimension, numbers })
    }
}
