//! `dualgap demo`: the words that come with the program, trained and certified.

use crate::common::{Desk, number};

#[test]
fn the_demo_leaves_a_model_whose_gap_anyone_can_prove() {
    let desk = Desk::new();
    let run = desk.run("demo --output left").ok();
    assert_eq!(run.stderr, "");
    let certified = run.stdout.lines().filter(|line| line.starts_with("Certified: "));
    assert_eq!(certified.count(), 1, "{}", run.stdout);

    // The command that it tells people to try works as it is written there.
    let line = run.stdout.lines().find(|line| line.starts_with("  dualgap certify ")).unwrap();
    let line = line.trim().strip_prefix("dualgap ").unwrap();
    let checked = desk.run(&format!("{line} --json")).ok().json();
    assert_eq!(checked["dual_proved"], true);
    assert!(number(&checked, "relative_gap") <= 0.05, "{checked:#}");
    assert_eq!(number(&checked, "lambda"), 0.01);

    let bundled = include_bytes!("../../data/letters.data.gz");
    assert!(desk.read("left/letters.data.gz") == bundled, "the data are left as they came");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let desk = Desk::new();
    desk.write("file", "in the way");
    desk.run("demo --output file").fails(&["file", "cannot be made"]);
    desk.run("demo --output file/below").fails(&["file/below"]);
    assert_eq!(desk.read("file"), b"in the way");
}
