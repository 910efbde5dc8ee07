//! Memory that is known to be there before it is needed.
//!
//! An allocation that fails ends a program at once, with no word about the cause. Vectors that scale with features
//! times outputs are therefore counted before a run begins, and the system is asked for all of them in one piece
//! that is given back at once: under a limit (`ulimit -v`), or beyond what the machine has, that is an error.
//!
//! How many copies of the weights a solver holds at its peak was measured, from the size of the process with long
//! and short runs of every method; what is counted here is that, rounded up.

use crate::{Error, Result};
use std::num::NonZero;

/// More weights than this, 2 GiB a vector and several vectors of them, are taken for a mistake in the
/// data, such as one absurd feature index: an error is better than a machine without memory.
pub const MOST_WEIGHTS: usize = 1 << 28;

/// Not more than this, in bytes, is not asked for. The allocator of glibc learns from larger pieces only that they are given
/// back to the system, so a probe never changes where other vectors lie.
const SMALL: usize = 1 << 25;

/// So many bytes must be left for reading to go on: names and labels grow in small steps, and some tables by doubling.
const HEADROOM: usize = 1 << 26;

/// The bytes of a number.
const NUMBER: usize = 8;

/// What can be done about it, whoever asks.
const REMEDY: &str = "number the features from 1 on without gaps, leave out rare ones (--min-count) or map them to \
                      fewer, or take fewer labels; is the memory limited (ulimit -v), or in use by others?";

/// Whether the system has room for so many numbers of 64 bits, on top of what is in use.
///
/// ```
/// # use dualgap::linalg::memory::reserve_check;
/// assert!(reserve_check(1000).is_ok());
/// let error = reserve_check(usize::MAX / 16).unwrap_err();
/// assert!(error.remedy().is_some(), "{error}");
/// ```
pub fn reserve_check(numbers: usize) -> Result<()> {
    if is_there(numbers) {
        return Ok(());
    }
    Err(short_of(&format!("about {} are needed", size(numbers))))
}

/// Whether reading may go on: some room is left beyond what is in use.
pub(crate) fn has_headroom() -> bool {
    is_there(HEADROOM / NUMBER)
}

/// An error about memory, with what can be done about it.
pub(crate) fn short_of(message: &str) -> Error {
    Error::Memory { message: message.into(), remedy: REMEDY.into() }
}

/// The weights of features times outputs, if that is a number of weights that a program can have.
///
/// ```
/// # use dualgap::linalg::memory::check_weights;
/// assert_eq!(check_weights(1000_usize.checked_mul(3)).unwrap(), 3000);
/// assert!(check_weights(Some(1 << 29)).is_err() && check_weights(None).is_err());
/// ```
pub fn check_weights(weights: Option<usize>) -> Result<usize> {
    weights.filter(|&weights| weights <= MOST_WEIGHTS).ok_or_else(|| Error::Memory {
        message: format!(
            "the model would have more than {MOST_WEIGHTS} weights, the number of features times the number of labels"
        ),
        remedy: "are the labels where they should be, and are features numbered without gaps?".into(),
    })
}

/// What a run holds at its peak.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need {
    /// Weights, written out or in factors.
    pub weights: usize,
    /// Vectors of so many numbers that are held at once.
    pub copies: usize,
    /// Other numbers: dual variables, the data once more by columns.
    pub others: usize,
}

impl Need {
    /// Refuses what the system cannot give.
    ///
    /// ```
    /// # use dualgap::linalg::memory::Need;
    /// assert!(Need { weights: 1000, copies: 10, others: 50 }.check().is_ok());
    /// let huge = Need { weights: usize::MAX / 64, copies: 10, others: 0 };
    /// assert!(huge.check().unwrap_err().to_string().contains("weights"));
    /// ```
    pub fn check(self) -> Result<()> {
        let Self { weights, copies, others } = self;
        let numbers = weights.saturating_mul(copies).saturating_add(others);
        if numbers <= SMALL / NUMBER || is_there(numbers.saturating_add(of_threads())) {
            return Ok(());
        }
        let size = size(numbers);
        Err(short_of(&format!("{weights} weights and all that goes with them take about {size}")))
    }
}

/// What the threads of a run take of the address space, which a limit (`ulimit -v`) counts: glibc gives each of them 64 MB to
/// allocate small pieces from. Beyond a few threads the limits are others.
fn of_threads() -> usize {
    const MOST: usize = 8;
    std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST) * (HEADROOM / NUMBER)
}

/// Asks for the numbers in one piece and gives it back.
fn is_there(numbers: usize) -> bool {
    if numbers <= SMALL / NUMBER {
        return true;
    }
    let mut probe: Vec<f64> = Vec::new();
    let reserved = probe.try_reserve_exact(numbers).is_ok();
    // An allocation that nobody looks at might be left out by the compiler.
    std::hint::black_box(&probe);
    reserved
}

/// In units that a person reads.
fn size(numbers: usize) -> String {
    let bytes = numbers as f64 * NUMBER as f64;
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_a_remedy() {
        for numbers in [1 << 50, usize::MAX / NUMBER, usize::MAX] {
            let error = reserve_check(numbers).unwrap_err();
            assert!(matches!(error, Error::Memory { .. }) && error.remedy().is_some(), "{error}");
        }
        let need = Need { weights: usize::MAX / 2, copies: 9, others: usize::MAX };
        assert!(need.check().is_err());
    }

    #[test]
    fn what_is_small_is_there() {
        assert!(reserve_check(0).is_ok() && has_headroom());
        assert!(Need { weights: 10, copies: 10, others: 0 }.check().is_ok());
    }

    #[test]
    fn sizes_are_said_in_round_numbers() {
        assert_eq!((size(16_000_000), size(1_100_000_000)), ("128 MB".into(), "8.8 GB".into()));
    }
}
