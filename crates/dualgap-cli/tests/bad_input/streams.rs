//! Standard output and standard error that nobody reads, or that have no room.

use crate::bad_input::desk;
use crate::common::{Desk, program};
use std::io::Write;
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

#[cfg(target_os = "linux")]
fn full() -> Stdio {
    std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// Half a report in a full file system must not look like a success, and the work that it tells of was done.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_finds_no_room_is_said_to_be_lost() {
    let desk = desk();
    for line in [
        "train multiclass data.svm --json --witness -o good",
        "train multiclass data.svm --witness -o good",
        "certify good data.svm",
        "eval good data.svm",
        "inspect good",
        "cv multiclass data.svm --folds 2 --witness -o chosen",
        "path multiclass data.svm --from 1 --to 0.5 -o out",
        "help formats",
    ] {
        let (status, stderr) = run(&desk, line, full(), Stdio::piped());
        assert_eq!(status.code(), Some(1), "{line}: {stderr}");
        let lost = |line: &str| line.starts_with("incomplete: the report is lost");
        assert!(stderr.lines().any(lost), "{line}: {stderr}");
        assert!(stderr.contains("standard output"), "{line}: {stderr}");
    }
    for model in ["good", "chosen"] {
        desk.run(&format!("certify {model} data.svm")).ok();
    }
    assert!(desk.path("out/path.json").exists());
}

/// Predictions, converted data and tables are no reports: half of them is an error.
#[cfg(target_os = "linux")]
#[test]
fn a_result_that_finds_no_room_is_an_error() {
    let desk = desk();
    desk.run("train multiclass data.svm -o good").ok();
    for line in ["predict good data.svm", "convert data.svm", "inspect good --weights -"] {
        let (status, stderr) = run(&desk, line, full(), Stdio::piped());
        assert_eq!(status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.starts_with("error: standard output: "), "{line}: {stderr}");
    }
}

/// Ctrl-C where no run is under way ends the program, and takes along what was being written.
#[test]
fn a_program_that_is_told_to_end_leaves_no_temporary_files() {
    // What ignores signals passes that on, and the program would be waited for without end.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    assert_eq!(
        ignored & 0b11,
        0,
        "run the tests without nohup, and not in the background of a script"
    );
    let desk = desk();
    desk.run("train multiclass data.svm -o good").ok();
    desk.write("labels", "the old labels");
    let before = desk.files();
    for signal in ["INT", "TERM"] {
        let mut child = Command::new(program())
            .current_dir(desk.folder())
            .args("predict good - -o labels".split(' '))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // The file for the labels is begun when the data are, and more of them are waited for.
        let mut data = child.stdin.take().unwrap();
        data.write_all(b"1 1:1\n").unwrap();
        while desk.files() == before {
            assert!(child.try_wait().unwrap().is_none(), "the program ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(desk.files(), before, "{signal}");
        assert_eq!(desk.read("labels"), b"the old labels");
    }
}
