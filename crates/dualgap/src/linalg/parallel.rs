//! Work shared among the threads of a pool, with results in order.
//!
//! Rayon compiles its iterators for every closure, and the engine's closures are compiled for every kind of block
//! and link: that was a fifth of the library's code. Here rayon gets one closure behind a pointer and calls it once
//! per run of items.

use crate::{Error, Result};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::Mutex;

/// The number of runs per thread: enough of them that a thread that is done early can take some from another.
const RUNS_PER_THREAD: usize = 8;

/// Calls `work` on every item, on the threads of the current pool. A run of neighbouring items shares a state; the
/// results are in the order of the items, and of several errors the first is returned.
///
/// ```
/// # use dualgap::linalg::parallel::map_mut;
/// let mut numbers = [1, 2, 3];
/// let squares = map_mut(&mut numbers, || (), |(), i, number| {
///     *number += i;
///     Ok(*number * *number)
/// })?;
/// assert_eq!((numbers, &squares[..]), ([1, 3, 5], &[1, 9, 25][..]));
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn map_mut<P: Send, S, T: Send>(
    items: &mut [P],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &mut P) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let on_run = |first: usize, run: &mut [P]| -> Result<Vec<T>> {
        let mut state = state();
        run.iter_mut().enumerate().map(|(k, item)| work(&mut state, first + k, item)).collect()
    };
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return on_run(0, items);
    }
    let count = items.len();
    let size = count.div_ceil(RUNS_PER_THREAD * threads).max(1);
    let runs: Vec<_> = items.chunks_mut(size).map(|run| Mutex::new((run, None))).collect();
    each(runs.len(), &|k| {
        // No other thread has this run, so the lock is free and never poisoned.
        if let Ok(mut run) = runs[k].lock() {
            let (items, results) = &mut *run;
            *results = Some(on_run(k * size, items));
        }
    });
    let mut all = Vec::with_capacity(count);
    for run in runs {
        if let Ok((_, Some(results))) = run.into_inner() {
            all.extend(results?);
        }
    }
    Ok(all)
}

/// [`map_mut`] over the numbers below `count`.
pub fn map<S, T: Send>(
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    map_mut(&mut vec![(); count], state, |state, i, ()| work(state, i))
}

fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// Calls `work` on this number of threads (0: all cores), or returns an error if they cannot be started.
///
/// ```
/// # use dualgap::linalg::parallel::{map, on_threads};
/// let squares = on_threads(2, || map(3, || (), |(), i| Ok(i * i)))??;
/// assert_eq!(squares, [0, 1, 4]);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|error| Error::setting(format!("no threads can be started: {error}")))?;
    Ok(install(&pool, work))
}

/// Calls `work` with this pool as the current one.
///
/// # Panics
/// When `work` does.
pub fn install<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    install_pointer(pool, &mut || result = work.take().map(|work| work()));
    result.expect("the pool returns when the work is done, or panics with it")
}

fn install_pointer(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
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
}
