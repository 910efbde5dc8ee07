//! Runs that are killed, interrupted or extended end as if nothing had happened.

#[path = "../common/mod.rs"]
mod common;

mod checkpoints;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod locked;
mod warm;
