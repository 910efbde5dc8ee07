//! Long calls of `dualgap_dense`, which have no place to look whether they are halted.

use crate::linalg::Halted;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// A call of more operations than this is made where it can be left alone once it is halted: it takes some tenths
/// of a second, and starting a thread for it some hundredths of a millisecond.
const LONG: f64 = 1e9;

/// Makes a call of about so many operations, or none if it is halted.
pub(crate) fn called_until<T: Send + 'static>(
    operations: f64,
    halted: Halted<'_>,
    call: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if operations < LONG { Some(call()) } else { unless_halted(halted, call) }
}

/// The time between two looks while others work: nobody notices so short a delay, and the looks cost nothing beside the work.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Does what cannot look by itself whether it is halted, such as one long call of a library, on a thread of its own; returns its
/// result, or `None` as soon as it is halted. The thread then goes on in vain until the call ends: it takes a core and memory for as
/// long, but nobody waits for it.
fn unless_halted<T: Send + 'static>(
    halted: Halted<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    // Shared, so that it can be done here if there is no other thread.
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (send, receive) = sync_channel(1);
    let theirs = Arc::clone(&work);
    let thread = Builder::new().spawn(move || {
        if let Some(work) = take(&theirs) {
            // Nobody receives what is sent too late.
            let _ = send.send(work());
        }
    });
    let Ok(thread) = thread else { return take(&work).map(|work| work()) };
    while !halted() {
        match receive.recv_timeout(BETWEEN_LOOKS) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(panic) = thread.join() {
                    resume_unwind(panic);
                }
                return None;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::halt::never;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn nobody_waits_for_work_that_is_halted() {
        // The work ends when the test has seen that nobody waits for it.
        let (end, ended) = sync_channel::<()>(1);
        let looks = AtomicUsize::new(0);
        let halted = || looks.fetch_add(1, Ordering::Relaxed) >= 2;
        assert_eq!(unless_halted(&halted, move || ended.recv()), None);
        assert_eq!(looks.load(Ordering::Relaxed), 3);
        end.send(()).unwrap();
        assert_eq!(unless_halted(&never, || 7), Some(7));
    }

    #[test]
    #[should_panic(expected = "the work fails")]
    fn a_panic_of_the_work_is_one_of_the_caller() {
        unless_halted(&never, || panic!("the work fails"));
    }
}
