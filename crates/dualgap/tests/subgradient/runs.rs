//! Runs like any other: checkpoints, threads, warm starts, and what is refused.
