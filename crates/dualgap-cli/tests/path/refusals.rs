//! What is refused before any work, and paths that end early.

use crate::common::{Desk, number};
use crate::path::{desk, models};

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing_behind() {
    let desk = desk();
    let before = desk.files();
    for (options, words) in [
        ("--from 0 --to 1", &["lambda of 0", "--lambda 0"][..]),
        ("--to 0", &["lambda of 0"]),
        ("--tolerance 0", &["tolerance", "more than 0"]),
        ("--tolerance 1", &["tolerance", "less than 1"]),
        ("--absolute-tolerance 0", &["tolerance", "positive"]),
        ("--loss hinge --width 2", &["--width"]),
        ("--step predefined", &["--option"]),
        ("--test nothing.svm", &["nothing.svm"]),
        ("--test-folds 1", &["--train-folds"]),
    ] {
        desk.run(&format!("path binary two.svm -o out {options}")).refuses(words);
        assert_eq!(desk.files(), before, "{options}");
    }
    for options in [
        "--from -1",
        "--from x",
        "--from 1/m",
        "--tolerance -1",
        "--tolerance 0.1 --absolute-tolerance 0.1",
        "--lambda 0.1",
        "--c 1",
        "--passes -1",
    ] {
        let run = desk.run(&format!("path binary two.svm -o out {options}")).exits(2);
        assert!(run.stdout.is_empty() && run.stderr.contains("error"), "{run:#?}");
        assert_eq!(desk.files(), before, "{options}");
    }
    desk.run("path binary two.svm").exits(2);
    desk.run("path binary nothing.svm -o out").fails(&["nothing.svm"]);
    desk.run("path binary three.svm -o out").fails(&["three.svm"]);
    assert_eq!(desk.files(), before);
}

#[test]
fn a_folder_is_never_overwritten() {
    let desk = desk();
    std::fs::create_dir(desk.path("full")).unwrap();
    desk.write("full/precious", "kept");
    desk.run("path binary two.svm -o full").fails(&["full", "not empty"]);
    assert_eq!(desk.read("full/precious"), b"kept");
    desk.run("path binary two.svm -o two.svm").fails(&["two.svm"]);
    desk.run("path binary two.svm -o two.svm/x").fails(&["two.svm/x"]);
    desk.run("path binary two.svm -o nowhere/out").fails(&["nowhere/out"]);
    desk.run("path binary two.svm -o ..").fails(&["..", "not empty"]);
    desk.run("path binary two.svm -o .").fails(&["."]);
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.run("path binary two.svm --from 1 --to 0.1 -o empty").ok();
    assert!(desk.path("empty/path.tsv").exists());
    desk.run("path binary two.svm --from 1 --to 0.1 -o empty/").fails(&["not empty"]);
    desk.run("path binary two.svm --from 1 --to 0.1 -o new/").ok();
    assert!(desk.path("new/path.tsv").exists());
}

#[test]
fn a_path_that_ends_early_says_which_part_is_covered() {
    let desk = desk();
    let line = "path multiclass three.svm --from 10 --to 1e-6 --tolerance 0.01 --passes 8 --witness -o out";
    let run = desk.run(line).exits(1);
    assert!(run.stdout.contains("NOT at") && run.stdout.contains("used up"), "{run:#?}");
    let path: serde_json::Value = serde_json::from_slice(&desk.read("out/path.json")).unwrap();
    assert_eq!(path["complete"], false);
    let covered = number(&path, "covered_from");
    assert!(covered > 1e-6 && run.stdout.contains(&format!("down to {covered},")), "{run:#?}");
    assert_eq!(number(&models(&path)[models(&path).len() - 1], "from"), covered);
    let proved = desk.certify("out", "three.svm");
    assert_eq!(number(&proved, "from"), covered);
}

#[test]
fn a_path_without_any_model_leaves_nothing_behind() {
    let desk = desk();
    let before = desk.files();
    for limit in ["--time 0", "--passes 0 --to 1e-6 --from 1e-5"] {
        let run = desk.run(&format!("path multiclass three.svm {limit} -o out")).exits(1);
        assert!(run.stdout.contains("Certified: nothing."), "{run:#?}");
        let json =
            desk.run(&format!("path multiclass three.svm {limit} -o out --json")).exits(1).json();
        assert!(json["covered_from"].is_null() && models(&json).is_empty(), "{json}");
        assert_eq!(desk.files(), before);
    }
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.run("path multiclass three.svm --time 0 -o empty").exits(1);
    assert_eq!(std::fs::read_dir(desk.path("empty")).unwrap().count(), 0);
}

/// Ctrl-C ends the path with what is covered by then.
#[cfg(unix)]
#[test]
fn an_interrupted_path_keeps_what_is_covered() {
    use std::process::{Command, Stdio};
    let desk = desk();
    let line =
        "path multiclass three.svm --from 100 --to 1e-9 --tolerance 1e-7 --witness -o out --json";
    let mut child = Command::new(crate::common::program())
        .current_dir(desk.folder())
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !under_way(&desk) {
        assert!(child.try_wait().unwrap().is_none(), "the path ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let path: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&path["complete"], models(&path).is_empty()), (&false.into(), false));
    let entries = std::fs::read_dir(desk.path("out")).unwrap();
    assert!(entries.flatten().all(|entry| entry.path().is_file()), "nothing hidden is left");
    desk.certify("out", "three.svm");
}

/// Whether the first model has been written.
#[cfg(unix)]
fn under_way(desk: &Desk) -> bool {
    let Ok(entries) = std::fs::read_dir(desk.path("out")) else { return false };
    entries.flatten().any(|entry| entry.path().join("model-001.dualgap").exists())
}

/// A path that takes long, under way in `out`.
#[cfg(unix)]
fn start(desk: &Desk) -> std::process::Child {
    use std::process::{Command, Stdio};
    let line = "path multiclass three.svm --from 100 --to 1e-9 --tolerance 1e-7 -o out --quiet";
    let mut child = Command::new(crate::common::program())
        .current_dir(desk.folder())
        .args(line.split_whitespace())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !under_way(desk) {
        assert!(child.try_wait().unwrap().is_none(), "the path ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[cfg(unix)]
#[test]
fn a_path_takes_over_from_one_that_was_killed_and_from_no_other() {
    let desk = desk();
    let short = "path multiclass three.svm --from 1 --to 0.5 -o out --quiet";
    let mut child = start(&desk);
    desk.run(short).fails(&["out", "another path", &format!("process {}", child.id())]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(under_way(&desk), "a killed path leaves what it had");

    // What is not the path's own is never touched, wherever it lies.
    let hidden = std::fs::read_dir(desk.path("out")).unwrap().next().unwrap().unwrap().path();
    for precious in [desk.path("out/precious"), hidden.join("precious"), desk.path("out/path.tsv")]
    {
        std::fs::write(&precious, "kept").unwrap();
        desk.run(short).fails(&["out", "not empty"]);
        assert_eq!(std::fs::read(&precious).unwrap(), b"kept");
        assert!(under_way(&desk), "nothing was removed");
        std::fs::remove_file(&precious).unwrap();
    }
    desk.run(short).ok();
    let names: Vec<_> = std::fs::read_dir(desk.path("out")).unwrap().flatten().collect();
    assert!(names.iter().all(|entry| entry.path().is_file()), "{names:?}");
    assert!(desk.path("out/path.json").exists());
    desk.run(short).fails(&["out", "not empty"]);
}

/// Killed while the files were brought to their places: some are there, and the last, path.json, is not.
#[cfg(unix)]
#[test]
fn a_path_that_was_killed_at_its_end_is_replaced() {
    let desk = desk();
    let short = "path multiclass three.svm --from 1 --to 0.5 -o out --quiet";
    desk.run(short).ok();
    let entries = std::fs::read_dir(desk.path("out")).unwrap().flatten();
    let files: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let hidden = desk.path("out/.dualgap-path");
    std::fs::create_dir(&hidden).unwrap();
    std::fs::write(hidden.join("unfinished"), "1\n").unwrap();
    std::fs::write(hidden.join("files"), files.join("\n")).unwrap();
    // With path.json it is a whole path, which nobody replaces.
    desk.run(short).fails(&["out", "not empty"]);
    assert!(desk.path("out/model-001.dualgap").exists());
    std::fs::rename(desk.path("out/path.json"), hidden.join("path.json")).unwrap();
    desk.run(short).ok();
    assert!(desk.path("out/path.json").exists() && !hidden.exists());
}
