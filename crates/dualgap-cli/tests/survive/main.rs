//! Runs that are killed, interrupted or extended end as if nothing had happened.

mod checkpoints;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod locked;
mod warm;
