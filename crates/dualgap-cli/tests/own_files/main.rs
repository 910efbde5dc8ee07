//! The way of a user with files of their own: train, predict, eval, inspect.
//!
//! Expectations come from the data, or are computed again from the weights that `inspect` exports.

mod columns;
mod compressed;
mod evaluation;
mod exported;
mod inspection;
mod schemes;
mod sentences;
mod streams;
mod tables;

use crate::common::{Desk, Run};

/// Runs the program with these bytes on its standard input.
fn feed(desk: &Desk, line: &str, input: &[u8]) -> Run {
    let mut program = assert_cmd::Command::new(crate::common::program());
    let program = program.current_dir(desk.folder()).args(line.split_whitespace());
    let output = program.write_stdin(input).output().unwrap();
    Run {
        line: line.into(),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The cells of column files, sentence by sentence and token by token.
fn cells(text: &str) -> Vec<Vec<Vec<&str>>> {
    let sentences = text.split("\n\n").map(|sentence| {
        let tokens = sentence.lines().filter(|line| !line.is_empty());
        tokens.map(|line| line.split([' ', '\t']).collect()).collect()
    });
    sentences.filter(|sentence: &Vec<_>| !sentence.is_empty()).collect()
}

/// One column of them.
fn column(text: &str, k: usize) -> Vec<Vec<&str>> {
    cells(text).iter().map(|sentence| sentence.iter().map(|token| token[k]).collect()).collect()
}
