//! The pages of mapped files, kept within the memory limit of a worker.
//!
//! Pages of a mapped file that a process has touched count as its memory, although the operating system drops them when memory is short.
//! Whoever watches processes by that number would end this one. So a thread drops the pages before. They stay in the memory of the
//! operating system as long as there is room, and come back from there.

use dualgap::data::DataFile;
use memory_stats::memory_stats;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often the thread looks. One touch may bring two megabytes, because systems keep files in memory in pieces of that size, and rows are visited
/// in random order: a core can so touch some twenty megabytes meanwhile. A look takes some microseconds.
const LOOK: Duration = Duration::from_millis(1);

/// So many bytes at least must have come since pages were dropped: what else a process has is not dropped by doing it more often.
const LEAST: usize = 4 << 20;

/// What the thread keeps to, if it is there.
static LIMIT: Mutex<Option<usize>> = Mutex::new(None);

/// A number is whole, whatever became of a thread that had the lock.
fn limit() -> MutexGuard<'static, Option<usize>> {
    LIMIT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drop the pages of all mapped files whenever this process has more than `most` bytes of memory. It goes on until no file has been mapped
/// for `idle` seconds; another call changes the limit. Does nothing on systems that do not tell how much memory a process has.
#[pyfunction]
#[pyo3(signature = (most, idle = 5.0))]
pub fn keep_pages(most: usize, idle: f64) -> PyResult<()> {
    let idle = Duration::try_from_secs_f64(idle).unwrap_or(Duration::MAX);
    let mut running = limit();
    if running.replace(most).is_none() {
        let started = Builder::new().name("dualgap pages".into()).spawn(move || keep(idle));
        if let Err(error) = started {
            *running = None;
            return Err(PyRuntimeError::new_err(format!("no thread can be started: {error}")));
        }
    }
    Ok(())
}

fn keep(idle: Duration) {
    let (mut least, mut used) = (0, Instant::now());
    loop {
        let Some(most) = *limit() else { return };
        let resident = || memory_stats().map_or(0, |found| found.physical_mem);
        if resident() > most.max(least) {
            DataFile::release_pages();
            least = resident() + LEAST;
        }
        std::thread::sleep(LOOK);
        if DataFile::mapped_bytes() > 0 {
            used = Instant::now();
        } else if used.elapsed() > idle {
            // Under the lock, so that a call either finds the thread or starts another.
            let mut limit = limit();
            if DataFile::mapped_bytes() == 0 {
                *limit = None;
                return;
            }
        }
    }
}

/// Return how many bytes of files this process has mapped.
#[pyfunction]
pub fn mapped_bytes() -> usize {
    DataFile::mapped_bytes()
}
