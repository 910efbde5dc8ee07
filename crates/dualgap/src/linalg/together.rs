//! Threads that do a piece each at the same time, and wait for each other in between.

use super::parallel::Alone;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Builder;

/// How often a thread looks for the others before it leaves its core to them: some microseconds.
const LOOKS: usize = 4096;

/// Where the threads of [`together`] meet.
pub(crate) struct Gate {
    threads: usize,
    here: AtomicUsize,
    /// How often all have met.
    meetings: AtomicUsize,
    /// Whether a thread is gone, so that waiting for it is in vain.
    gone: AtomicBool,
}

impl Gate {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            here: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            gone: AtomicBool::new(false),
        }
    }

    /// Waits until all threads are here, and sees all that they have done before; returns whether they are. The wait is a loop:
    /// to be woken would take longer than most waits.
    #[must_use]
    pub fn meet(&self) -> bool {
        let meetings = self.meetings.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            self.meetings.store(meetings + 1, Ordering::Release);
            return true;
        }
        for looks in 0_usize.. {
            if self.meetings.load(Ordering::Acquire) != meetings {
                return true;
            }
            if self.gone.load(Ordering::Relaxed) {
                return false;
            }
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        false
    }
}

/// Tells the others that a thread ended by a panic.
struct Leaves<'a>(&'a Gate);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.gone.store(true, Ordering::Relaxed);
        }
    }
}

/// Calls `work` for every part at the same time, for the first one on this thread and for each other on one of its own: unlike
/// the tasks of a pool, which may have to wait for each other's end, they can meet at the gate. If a thread cannot be started this is
/// an error, and of two parts nothing has been done.
pub(crate) fn together<P: Send>(
    builder: fn() -> Builder,
    parts: &mut [P],
    work: &(dyn Fn(&mut P, &Gate) + Sync),
) -> std::io::Result<()> {
    let gate = Gate::new(parts.len());
    let on_part = |part: &mut P| {
        let (_alone, _leaves) = (Alone::set(true), Leaves(&gate));
        work(part, &gate);
    };
    let Some((first, others)) = parts.split_first_mut() else { return Ok(()) };
    std::thread::scope(|scope| {
        for part in others {
            let started = builder().spawn_scoped(scope, || on_part(part));
            started.inspect_err(|_| gate.gone.store(true, Ordering::Relaxed))?;
        }
        on_part(first);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        for threads in 1..5 {
            let sum = AtomicU64::new(0);
            let mut seen = vec![Vec::new(); threads];
            together(Builder::new, &mut seen, &|seen, gate| {
                for _ in 0..50 {
                    sum.fetch_add(1, Ordering::Relaxed);
                    assert!(gate.meet());
                    seen.push(sum.load(Ordering::Relaxed));
                    assert!(gate.meet());
                }
            })
            .unwrap();
            let all = (1..=50).map(|round| round * threads as u64).collect::<Vec<_>>();
            assert!(seen.iter().all(|seen| *seen == all));
        }
    }

    #[test]
    fn of_two_parts_nothing_is_done_if_there_is_no_thread() {
        let mut parts = [0, 0];
        let none = || Builder::new().stack_size(1 << 60);
        assert!(together(none, &mut parts, &|part, _| *part = 1).is_err());
        assert_eq!(parts, [0, 0]);
        assert!(together(none, &mut parts[..1], &|part, _| *part = 1).is_ok());
        assert_eq!(parts, [1, 0]);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_ends_all() {
        let _ = together(Builder::new, &mut [0, 1, 2], &|part, gate| {
            assert!(*part != 1, "one of them");
            while gate.meet() {}
        });
    }
}
