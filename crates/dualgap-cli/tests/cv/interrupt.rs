//! Ctrl-C: no λ is chosen, and nothing is written.

use crate::common::{Desk, Table, program};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Whether the search is under way: the program has computed for half a second, and its data are read in far less. Before that,
/// Ctrl-C ends the program at once.
fn searches(process: u32) -> bool {
    let told = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, which is in parentheses, may contain blanks; the time is the 14th of all fields, in hundredths of a second.
    let fields = told.rsplit(')').next().unwrap_or_default();
    fields.split_whitespace().nth(11).is_some_and(|time| time.parse::<u64>().unwrap() >= 50)
}

#[test]
fn an_interrupt_leaves_everything_as_it_was() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 4, 1).text());
    desk.write("model", "the old one");
    // Batch Frank-Wolfe with fixed steps is far too slow for such a gap.
    let line = "cv multiclass data.svm --solver fw --step predefined --tolerance 1e-12 \
                -o model --table table";
    let mut child = Command::new(program())
        .current_dir(desk.folder())
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !searches(child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("interrupted") && told.contains("nothing was written"), "{told}");
    assert_eq!(desk.read("model"), b"the old one");
    assert_eq!(desk.files(), ["data.svm", "model"]);
}
