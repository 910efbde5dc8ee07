//! Arrays of numbers that a matrix owns, or shares with another owner.

use std::sync::Arc;

/// The owner of a shared array: a vector, a memory map, an array of another library.
pub(super) type Owner<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// An array for [`Rows`](super::Rows), moved in or shared, and never copied.
///
/// ```
/// # use dualgap::linalg::Rows;
/// # use std::sync::Arc;
/// let measured = Arc::new(vec![1.0, 2.0, 3.0, 4.0]);
/// let rows = Rows::from_dense(measured.clone(), 2)?;
/// assert_eq!(Arc::strong_count(&measured), 2); // the rows read the very same numbers
/// # Ok::<(), dualgap::Error>(())
/// ```
///
/// A shared array must not change while it is shared, because it is checked only once. A change can cause a panic or
/// wrong results, but never an access to memory outside the array.
pub struct Buffer<T>(pub(super) Kept<T>);

pub(super) enum Kept<T> {
    Owned(Vec<T>),
    Shared(Owner<T>),
}

impl<T> Buffer<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match &self.0 {
            Kept::Owned(values) => values,
            Kept::Shared(owner) => (**owner).as_ref(),
        }
    }
}

impl<T: Send + Sync + 'static> Buffer<T> {
    pub(super) fn into_owner(self) -> Owner<T> {
        match self.0 {
            Kept::Owned(values) => Arc::new(values),
            Kept::Shared(owner) => owner,
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Kept::Owned(values))
    }
}

impl<T, O: AsRef<[T]> + Send + Sync + 'static> From<Arc<O>> for Buffer<T> {
    fn from(owner: Arc<O>) -> Self {
        Self(Kept::Shared(owner))
    }
}
