//! Checks that there is enough memory before it is needed.
//!
//! An allocation that fails ends a program at once, without a word about the cause. Vectors that scale with features
//! times outputs are therefore counted before a run begins, and one allocation of their total size, freed at once,
//! tests whether the system has it: under a limit (`ulimit -v`), or beyond what the machine has, the test is an
//! error.
//!
//! The number of copies of the weights that a solver holds at its peak was measured, from the size of the process in
//! long and short runs of every method; the counts here are these measurements, rounded up.

use crate::{Error, Result, Setting};
use std::num::NonZero;

/// The largest number of weights, 2 GiB a vector. More of them are most likely a mistake in the data, such as one
/// absurd feature index: an error is better than a machine without memory.
pub const MOST_WEIGHTS: usize = 1 << 28;

/// A matrix with more entries than this is never written out of its factors; it would take more than 1 GiB.
pub const MOST_ENTRIES: usize = 1 << 27;

/// Requests up to this many bytes are not tested. Above this size glibc always returns memory to the system when it
/// is freed, so a test does not change where other vectors are allocated.
const SMALL: usize = 1 << 25;

/// The bytes that must be left for reading to continue: names and labels grow in small steps, and some tables
/// double.
const HEADROOM: usize = 1 << 26;

/// The bytes of a number.
const NUMBER: usize = 8;

/// Returns the remedy that every error about memory suggests.
fn remedy() -> String {
    format!(
        "number the features from 1 on without gaps, leave out rare ones ({}) or map them to fewer, or take fewer \
         labels; is the memory limited (ulimit -v), or in use by others?",
        Setting::MinCount
    )
}

/// Returns an error unless the system has room for this many 64-bit numbers, in addition to what is in use.
///
/// ```
/// # use dualgap::linalg::reserve_check;
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

/// Whether enough memory is left to continue reading.
pub(crate) fn has_headroom() -> bool {
    is_there(HEADROOM / NUMBER)
}

/// Returns an error about memory, with its remedy.
pub(crate) fn short_of(message: &str) -> Error {
    Error::Memory { message: message.into(), remedy: remedy() }
}

/// Returns the number of weights, features times outputs, or an error if there are too many.
pub fn check_weights(weights: Option<usize>) -> Result<usize> {
    weights.filter(|&weights| weights <= MOST_WEIGHTS).ok_or_else(|| Error::Memory {
        message: format!(
            "the model would have more than {MOST_WEIGHTS} weights, the number of features times the number of labels"
        ),
        remedy: "are the labels where they should be, and are features numbered without gaps?".into(),
    })
}

/// The memory that a run needs at its peak.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need {
    /// The number of weights, of the whole matrix or of its factors.
    pub weights: usize,
    /// The number of vectors of this length that exist at once.
    pub copies: usize,
    /// Other numbers: dual variables, a copy of the data by columns.
    pub others: usize,
}

impl Need {
    /// Returns an error if the system has not enough memory.
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

/// Returns the address space that the threads of a run take, which a limit (`ulimit -v`) counts: glibc reserves 64 MB
/// for each of them. It counts at most eight threads: beyond a few, other limits matter.
fn of_threads() -> usize {
    const MOST: usize = 8;
    std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST) * (HEADROOM / NUMBER)
}

/// Allocates the numbers in one piece and frees it.
fn is_there(numbers: usize) -> bool {
    if numbers <= SMALL / NUMBER {
        return true;
    }
    let mut probe: Vec<f64> = Vec::new();
    let reserved = probe.try_reserve_exact(numbers).is_ok();
    // Without this the compiler may remove an allocation that is never used.
    std::hint::black_box(&probe);
    reserved
}

/// Formats the size in MB or GB.
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

    #[test]
    fn more_weights_than_memory_are_refused() {
        assert_eq!(check_weights(1000_usize.checked_mul(3)).unwrap(), 3000);
        assert!(check_weights(Some(1 << 29)).is_err() && check_weights(None).is_err());
    }

    #[test]
    fn a_run_that_needs_too_much_is_refused() {
        assert!(Need { weights: 1000, copies: 10, others: 50 }.check().is_ok());
        let huge = Need { weights: usize::MAX / 64, copies: 10, others: 0 };
        assert!(huge.check().unwrap_err().to_string().contains("weights"));
    }
}
