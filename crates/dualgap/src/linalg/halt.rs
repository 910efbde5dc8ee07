//! How long work is told to stop.

/// Asks whether to stop: Ctrl-C, or the time is up. Once it says yes it does not change its mind.
pub type Halted<'a> = &'a (dyn Fn() -> bool + Sync);

/// For whoever is never stopped.
pub(crate) fn never() -> bool {
    false
}
