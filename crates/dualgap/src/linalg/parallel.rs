//! Work shared among the threads of a pool, with results in order.
//!
//! Rayon compiles its iterators for every closure, and the engine's closures are compiled for every kind of block
//! and link: that was a fifth of the library's code. Here rayon gets one closure behind a pointer and calls it once
//! per run of items.

use crate::{Error, Result};
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Mutex;

/// The number of runs per thread: enough of them that a thread that is done early can take some from another.
const RUNS_PER_THREAD: usize = 8;

/// The threads that work is done on: several of their own, or the caller's alone, which nobody has to start or to wake.
#[derive(Debug)]
pub(crate) struct Pool {
    several: Option<rayon::ThreadPool>,
}

impl Pool {
    /// The caller's thread.
    pub const CALLER: Self = Self { several: None };

    /// Returns this number of threads (0: all cores), or an error if they cannot be started.
    pub fn new(threads: usize) -> Result<Self> {
        if threads == 1 {
            return Ok(Self::CALLER);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let several = pool.map_err(|error| {
            Error::setting(format!("no threads can be started: {error}")).caused_by(error)
        })?;
        Ok(Self { several: Some(several) })
    }
}

thread_local! {
    /// Whether this thread does its work alone.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether this thread works alone, and back at the end of a scope, also that of a panic.
pub(super) struct Alone {
    before: bool,
}

impl Alone {
    pub(super) fn set(alone: bool) -> Self {
        Self { before: ALONE.replace(alone) }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        ALONE.set(self.before);
    }
}

/// What is done with a run of items, whose first has this number; its results are pushed.
type OnRun<'a, P, T> = dyn Fn(usize, &mut [P], &mut Vec<T>) -> Result<()> + Sync + 'a;

/// Calls `work` on every item, on the threads of the current pool. A run of neighbouring items shares a state; the
/// results are in the order of the items, and of several errors the first is returned.
pub(crate) fn map_mut<P: Send, S, T: Send>(
    items: &mut [P],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &mut P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    in_runs(items, &|first, run, results| {
        let mut state = state();
        for (k, item) in run.iter_mut().enumerate() {
            results.push(work(&mut state, first + k, item)?);
        }
        Ok(())
    })
}

/// Calls `on_run` on runs of neighbouring items, each with the number of its first one and the place for its results.
/// This is compiled for every kind of item and result, and `on_run`, which has all that a caller does with an item inlined,
/// once for every caller: called in two places, it was compiled twice.
fn in_runs<P: Send, T: Send>(items: &mut [P], on_run: &OnRun<P, T>) -> Result<Vec<T>> {
    let count = items.len();
    let mut all = Vec::with_capacity(count);
    // Asking rayon starts the threads of its global pool if this thread is in no other.
    if count < 2 || ALONE.get() || rayon::current_num_threads() == 1 {
        on_run(0, items, &mut all)?;
        return Ok(all);
    }
    let threads = rayon::current_num_threads();
    let size = count.div_ceil(RUNS_PER_THREAD * threads).max(1);
    let runs: Vec<_> = items.chunks_mut(size).map(|run| Mutex::new((run, None))).collect();
    each(runs.len(), &|k| {
        // No other thread has this run, so the lock is free and never poisoned.
        if let Ok(mut run) = runs[k].lock() {
            let (items, done) = &mut *run;
            let mut results = Vec::with_capacity(items.len());
            *done = Some(on_run(k * size, items, &mut results).map(|()| results));
        }
    });
    for run in runs {
        if let Ok((_, Some(results))) = run.into_inner() {
            all.append(&mut results?);
        }
    }
    Ok(all)
}

/// [`map_mut`] over the numbers below `count`.
pub(crate) fn map<S, T: Send>(
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    map_mut(&mut vec![(); count], state, |state, i, ()| work(state, i))
}

/// Returns the number of threads of the current pool. No result may depend on it.
pub(crate) fn threads() -> usize {
    if ALONE.get() { 1 } else { rayon::current_num_threads() }
}

/// Does two things at the same time, if the current pool has threads for it.
pub(crate) fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if ALONE.get() { (one(), other()) } else { rayon::join(one, other) }
}

/// The most parts of a sum: enough for the cores of most machines.
const MOST_PARTS: f64 = 16.0;

/// The least number of multiplications in a part: fewer take less time than waking another thread.
const LEAST_WORK: f64 = 32_768.0;

/// Whether work with this many multiplications takes less time than it takes to wake other threads.
pub(crate) fn is_little(multiplications: usize) -> bool {
    (multiplications as f64) < LEAST_WORK
}

/// A part has this many multiplications for every number of its result, so that adding up the parts takes little time.
const WORK_PER_RESULT: f64 = 8.0;

/// Returns into how many parts a sum with this many multiplications and results is split. It depends on these numbers
/// alone, so that the sum does not depend on the number of threads.
pub(crate) fn parts(multiplications: f64, results: usize) -> usize {
    let least = (WORK_PER_RESULT * results as f64).max(LEAST_WORK);
    (multiplications / least).clamp(1.0, MOST_PARTS) as usize
}

/// Returns the numbers below `count` in this many parts of neighbours, of about the same size.
pub(crate) fn ranges(count: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    let parts = parts.max(1);
    // In 128 bits the products do not overflow, whatever is asked.
    let start = move |k: usize| (k as u128 * count as u128 / parts as u128) as usize;
    (0..parts).map(move |k| start(k)..start(k + 1))
}

/// Calls `work` on every part of the numbers below `count`, on the threads of the current pool; the results are in order.
pub(crate) fn map_ranges<T: Send>(
    count: usize,
    parts: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut ranges: Vec<Range<usize>> = ranges(count, parts).collect();
    map_mut(&mut ranges, || (), |(), _, range| work(range.clone()))
}

/// Returns what the parts have, one after the other; a single part is not copied.
pub(crate) fn joined<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let all = parts.iter().map(Vec::len).sum::<usize>();
    let mut parts = parts.into_iter();
    let mut joined = parts.next().unwrap_or_default();
    joined.reserve_exact(all - joined.len());
    parts.for_each(|part| joined.extend(part));
    joined
}

/// Calls `work` on every part of the numbers below `count` and on the parts of several arrays that belong to it, each with
/// its own width per number, on the threads of the current pool; the results are in order.
pub(crate) fn fill_ranges<T: Send, const N: usize>(
    count: usize,
    parts: usize,
    arrays: [(&mut [f64], usize); N],
    work: impl Fn(Range<usize>, [&mut [f64]; N]) -> T + Sync,
) -> Vec<T> {
    let mut rests = arrays;
    let mut pieces = Vec::with_capacity(parts);
    for range in ranges(count, parts) {
        let piece = rests.each_mut().map(|(rest, width)| {
            let (piece, after) = std::mem::take(rest).split_at_mut(range.len() * *width);
            *rest = after;
            piece
        });
        pieces.push((range, piece));
    }
    let done = map_mut(
        &mut pieces,
        || (),
        |(), _, (range, piece)| Ok(work(range.clone(), piece.each_mut().map(|piece| &mut **piece))),
    );
    done.unwrap_or_default() // no part returns an error
}

fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// Calls `work` on this number of threads (0: all cores), or returns an error if they cannot be started.
///
/// ```
/// # use dualgap::linalg::on_threads;
/// assert_eq!(on_threads(2, || 6 * 7)?, 42);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    Ok(install(&Pool::new(threads)?, work))
}

/// Calls `work` with these threads as the current ones.
///
/// # Panics
/// When `work` does.
pub(crate) fn install<R: Send>(pool: &Pool, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    install_pointer(pool, &mut || result = work.take().map(|work| work()));
    result.expect("the pool returns when the work is done, or panics with it")
}

fn install_pointer(pool: &Pool, work: &mut (dyn FnMut() + Send)) {
    let Some(several) = &pool.several else {
        let _alone = Alone::set(true);
        return work();
    };
    several.install(|| {
        // A caller that waits for the pool may be one of its threads.
        let _several = Alone::set(false);
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> Pool {
        Pool::new(threads).unwrap()
    }

    #[test]
    fn parts_are_joined_in_order() {
        assert_eq!(joined(vec![vec![1, 2], vec![], vec![3]]), [1, 2, 3]);
        let alone = vec![7; 5];
        let place = alone.as_ptr();
        let whole = joined(vec![alone]);
        assert_eq!(whole.as_ptr(), place, "it is not copied");
        assert!(joined::<u8>(Vec::new()).is_empty());
    }

    #[test]
    fn one_thread_is_that_of_the_caller() {
        let caller = std::thread::current().id();
        let (inside, among) = install(&pool(1), || {
            let each = map(9, || (), |(), _| Ok(std::thread::current().id())).unwrap();
            // Several threads inside of one are several again.
            let among =
                install(&pool(2), || rayon::current_num_threads() + usize::from(ALONE.get()));
            (each, among)
        });
        assert!(inside.iter().all(|&id| id == caller));
        assert_eq!(among, 2);
        assert!(!ALONE.get());
    }

    #[test]
    fn results_are_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            for count in [0, 1, 7, 100] {
                let squares = install(&pool(threads), || map(count, || (), |(), i| Ok(i * i)));
                assert!(squares.unwrap().into_iter().eq((0..count).map(|i| i * i)));
            }
        }
    }

    #[test]
    fn parts_cover_all_numbers_once() {
        for (count, parts) in [(0, 1), (1, 3), (7, 3), (100, 16)] {
            assert!(ranges(count, parts).flatten().eq(0..count));
            for threads in [1, 3] {
                let mut out = vec![0.0; 2 * count];
                let fill = |range: Range<usize>, [out]: [&mut [f64]; 1]| {
                    out.iter_mut().for_each(|out| *out += 1.0);
                    range.len()
                };
                let run = || fill_ranges(count, parts, [(&mut out, 2)], fill);
                assert_eq!(install(&pool(threads), run).iter().sum::<usize>(), count);
                assert!(out.iter().all(|&out| out == 1.0));
            }
        }
    }

    #[test]
    fn of_several_errors_the_first_is_returned() {
        for threads in [1, 3] {
            let odd = |(): &mut (), i| {
                if i % 2 == 0 { Ok(i) } else { Err(Error::setting(format!("{i}"))) }
            };
            let error = install(&pool(threads), || map(50, || (), odd)).unwrap_err();
            assert_eq!(error.to_string(), "1");
        }
    }

    #[test]
    fn every_item_is_changed_once() {
        let mut items = vec![0; 33];
        let add = |(): &mut (), i, item: &mut usize| {
            *item += i;
            Ok(())
        };
        install(&pool(4), || map_mut(&mut items, || (), add)).unwrap();
        assert!(items.into_iter().eq(0..33));
    }

    #[test]
    fn places_are_filled_in_order() -> crate::Result<()> {
        let mut numbers = [1, 2, 3];
        let squares = map_mut(
            &mut numbers,
            || (),
            |(), i, number| {
                *number += i;
                Ok(*number * *number)
            },
        )?;
        assert_eq!((numbers, &squares[..]), ([1, 3, 5], &[1, 9, 25][..]));
        Ok(())
    }

    #[test]
    fn both_results_come_back() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn small_work_stays_in_one_part() {
        assert_eq!((parts(1e3, 10), parts(1e5, 10), parts(1e9, 10)), (1, 3, 16));
        assert_eq!(parts(1e6, 1_000_000), 1); // a sparse matrix of many columns
    }

    #[test]
    fn ranges_cover_everything_once() {
        assert!(ranges(5, 2).eq([0..2, 2..5]));
    }

    #[test]
    fn ranges_of_arrays_are_filled_side_by_side() {
        let (mut once, mut twice) = (vec![0.0; 5], vec![0.0; 10]);
        let counts =
            fill_ranges(5, 2, [(&mut once, 1), (&mut twice, 2)], |range, [once, twice]| {
                once.fill(1.0);
                twice.fill(2.0);
                range.len()
            });
        assert_eq!((once, twice, counts), (vec![1.0; 5], vec![2.0; 10], vec![2, 3]));
    }
}
