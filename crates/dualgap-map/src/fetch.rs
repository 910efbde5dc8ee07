//! What will soon be read, asked for ahead.

use std::hint::black_box;

/// Asks the processor to bring the cache line of a number near, and does not wait for it. Where the architecture has no instruction for
/// that which stable Rust knows, the number is read.
///
/// ```
/// let numbers = vec![0.5; 1000];
/// dualgap_map::fetch(&numbers[900]);
/// assert_eq!(numbers[900], 0.5);
/// ```
#[inline(always)]
#[allow(clippy::inline_always)] // it is a single instruction
pub fn fetch<T: Copy>(number: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction. It changes nothing but caches, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(number).cast()) };
    }
    if cfg!(not(target_arch = "x86_64")) {
        black_box(*number);
    }
}

/// [`fetch`] for every cache line that this many numbers from the first on lie in.
///
/// ```
/// dualgap_map::fetch_all(&[1_u32; 100]);
/// dualgap_map::fetch_all::<f64>(&[]);
/// ```
#[inline(always)]
#[allow(clippy::inline_always)] // a call takes as long as two of its instructions
pub fn fetch_all<T: Copy>(numbers: &[T]) {
    numbers.iter().step_by((LINE / size_of::<T>().max(1)).max(1)).for_each(fetch);
    // They may begin within a line, and end in one more than they fill.
    numbers.last().into_iter().for_each(fetch);
}

/// The bytes of a cache line.
const LINE: usize = 64;
