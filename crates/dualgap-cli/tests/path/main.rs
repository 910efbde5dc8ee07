//! `dualgap path`, and `dualgap certify` on what it has written, as their users see them.
//!
//! - `walks`: paths of every task, their tables and plots, held against single runs.
//! - `grids`: paths over σ and radii.
//! - `proofs`: paths that are proved again, and forged ones that are not.
//! - `refusals`: what is refused before any work, and paths that end early.

mod grids;
mod proofs;
mod refusals;
mod walks;

use crate::common::{Desk, Table, Words};
use serde_json::Value;

/// A desk with data for every task: two classes, three, numbers, and words.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("two.svm", Table::new(60, 5, 2, 1).text());
    desk.write("two-test.svm", Table::new(60, 5, 2, 2).text());
    desk.write("three.svm", Table::new(60, 5, 3, 3).text());
    let numbers = Table::new(60, 5, 9, 4).text();
    desk.write("numbers.svm", numbers);
    desk.write("words.data", Words::new(40, 5).text());
    desk
}

/// Walks a path with `--json`, which must cover everything.
fn walk(desk: &Desk, line: &str) -> Value {
    desk.run(&format!("path {line} --json")).ok().json()
}

/// The entries of the models.
fn models(path: &Value) -> &[Value] {
    path["models"].as_array().expect("models")
}
