//! Standard output and standard error that nobody reads, or that have no room.

use crate::common::{Desk, program};
use crate::desk;
use std::process::{Command, ExitStatus, Stdio};

/// The read end of this pipe is closed, so that every write to it fails.
fn broken_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// What is left of standard error, and how the program ended.
fn run(desk: &Desk, line: &str, stdout: Stdio, stderr: Stdio) -> (ExitStatus, String) {
    let child = Command::new(program())
        .current_dir(desk.folder())
        .args(line.split_whitespace())
        .stdout(stdout)
        .stderr(stderr)
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_panic() {
    let desk = desk();
    run(&desk, "train multiclass data.svm --witness -o good", Stdio::null(), Stdio::null());
    for line in [
        "train multiclass data.svm",
        "train multiclass data.svm --json",
        "certify good data.svm",
        "--help",
        "--version",
    ] {
        let (status, stderr) = run(&desk, line, broken_pipe(), Stdio::piped());
        assert_eq!((status.code(), &stderr[..]), (Some(0), ""), "{line}");
    }
}

#[test]
fn an_error_that_nobody_reads_has_the_same_exit_code() {
    let desk = desk();
    for line in ["train multiclass missing.svm", "certify missing data.svm", "train --frobnicate"] {
        let (status, _) = run(&desk, line, Stdio::null(), broken_pipe());
        assert_eq!(status.code(), Some(2), "{line}");
    }
}

/// Half a report in a full file system must not look like a success.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_finds_no_room_is_an_error() {
    let desk = desk();
    for line in ["train multiclass data.svm --json", "train multiclass data.svm"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (status, stderr) = run(&desk, line, full.into(), Stdio::piped());
        assert_eq!(status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.starts_with("error: "), "{line}: {stderr}");
    }
}
