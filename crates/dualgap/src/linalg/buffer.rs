//! Arrays of numbers that a matrix owns, or shares with another owner.

use std::any::Any;
use std::sync::Arc;

/// A shared array. Rows are read millions of times, so an owner is only asked for its numbers where nothing else tells where they are.
#[derive(Clone)]
pub(super) enum Owner<T: 'static> {
    Vector(Arc<Vec<T>>),
    /// Numbers that stay where they are as long as their keeper is held.
    Lent {
        numbers: &'static [T],
        _keeper: Arc<dyn Any + Send + Sync>,
    },
    /// A memory map, an array of another library.
    Asked(Arc<dyn AsRef<[T]> + Send + Sync>),
}

impl<T: 'static> Owner<T> {
    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::Vector(numbers) => numbers,
            Self::Lent { numbers, .. } => numbers,
            Self::Asked(owner) => ask(owner),
        }
    }
}

/// Out of line, so that reading a row of any other array stays short.
#[cold]
#[inline(never)]
fn ask<T>(owner: &Arc<dyn AsRef<[T]> + Send + Sync>) -> &[T] {
    (**owner).as_ref()
}

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
pub struct Buffer<T: 'static>(pub(super) Kept<T>);

pub(super) enum Kept<T: 'static> {
    Owned(Vec<T>),
    Shared(Owner<T>),
}

impl<T: 'static> Buffer<T> {
    /// Returns an array that needs not be asked where its numbers are, which makes reading a row of it faster. `keeper` is held as long as the
    /// array is used. It matters to callers that know more than the compiler, and made a static slice of an array that `keeper` keeps in its place.
    ///
    /// ```
    /// # use dualgap::linalg::{Buffer, Rows};
    /// # use std::sync::Arc;
    /// static MEASURED: [f64; 4] = [1.0, 2.0, 3.0, 4.0];
    /// let rows = Rows::from_dense(Buffer::lent(&MEASURED, Arc::new(())), 2)?;
    /// assert_eq!(rows.row(1).get(0), 3.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn lent(numbers: &'static [T], keeper: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Kept::Shared(Owner::Lent { numbers, _keeper: keeper }))
    }

    pub(super) fn as_slice(&self) -> &[T] {
        match &self.0 {
            Kept::Owned(values) => values,
            Kept::Shared(owner) => owner.as_slice(),
        }
    }
}

impl<T: 'static> Buffer<T> {
    pub(super) fn into_owner(self) -> Owner<T> {
        match self.0 {
            Kept::Owned(values) => Owner::Vector(Arc::new(values)),
            Kept::Shared(owner) => owner,
        }
    }
}

impl<T: 'static> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Kept::Owned(values))
    }
}

impl<T: 'static, O: AsRef<[T]> + Send + Sync + 'static> From<Arc<O>> for Buffer<T> {
    fn from(owner: Arc<O>) -> Self {
        Self(Kept::Shared(Owner::Asked(owner)))
    }
}
