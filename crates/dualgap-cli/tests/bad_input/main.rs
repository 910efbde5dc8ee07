//! What people type and feed to the program by mistake, and data at the edge of what is legal.
//!
//! A mistake ends with exit code 2, an error that names the file and the line and says how to go on,
//! no result, and the old model file as it was.

mod extremes;
mod letters;
mod libsvm;
#[cfg(target_os = "linux")]
mod memory;
mod options;
mod outputs;
mod side_files;
#[cfg(unix)]
mod streams;

use crate::common::{Desk, Run, Table, Words};

/// What the model file holds before a run that must not touch it.
const OLD_MODEL: &[u8] = b"the old model";

/// Good data, side files that fit, and a model of an earlier day.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(12, 3, 2, 1).text());
    desk.write("words.data", Words::new(12, 1).text());
    desk.write("model", OLD_MODEL);
    desk
}

/// Trains into the old model's place, which must fail and leave everything as it was.
#[track_caller]
fn fails(desk: &Desk, line: &str, words: &[&str]) {
    let before = desk.files();
    let run = desk.run(&format!("train {line} --json -o model"));
    untouched(desk, &before, &run);
    run.fails(words);
}

/// The same for a mistake in the settings, where no file is to blame; the message itself says what
/// the setting must be.
#[track_caller]
fn refuses(desk: &Desk, line: &str, words: &[&str]) {
    let before = desk.files();
    let run = desk.run(&format!("train {line} --json -o model"));
    untouched(desk, &before, &run);
    assert!(run.code == Some(2) && run.stdout.is_empty(), "{run:#?}");
    for word in words {
        assert!(run.stderr.contains(word), "`{word}` is not said: {run:#?}");
    }
}

#[track_caller]
fn untouched(desk: &Desk, before: &[String], run: &Run) {
    assert_eq!(desk.read("model"), OLD_MODEL, "{run:#?}");
    assert_eq!(desk.files(), before, "{run:#?}");
}
