//! The question whether long computations should stop.

/// Returns whether to stop, because of Ctrl-C or the time limit. Once it returns true it always does.
pub type Halted<'a> = &'a (dyn Fn() -> bool + Sync);

/// For computations that nothing stops.
pub(crate) fn never() -> bool {
    false
}
