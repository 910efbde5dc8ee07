//! Mistakes end with exit code 2, a word on what to do, and every file as it was.

use super::table;
use crate::common::{Desk, Run};

const OLD: &[u8] = b"what was there before";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("data.svm", table().text());
    desk.write("out.svm", OLD);
    desk.write("old.map", OLD);
    desk.run("convert data.svm --random-binning 5 --save-map map -o binned.svm -q").ok();
    desk
}

#[track_caller]
fn refused(desk: &Desk, line: &str, words: &[&str]) -> Run {
    let before = desk.files();
    let run = desk.run(&format!("convert {line} -o out.svm")).refuses(words);
    assert_eq!((desk.read("out.svm"), desk.read("old.map")), (OLD.to_vec(), OLD.to_vec()));
    assert_eq!(desk.files(), before);
    run
}

#[test]
fn bad_data_name_the_place() {
    let desk = desk();
    for (text, words) in [
        ("", "has no examples"),
        ("1 1:nan\n", "bad.svm:1: `1:nan`: the value is not finite"),
        ("1 1:1\n2 1:inf\n", "bad.svm:2: `1:inf`: the value is not finite"),
        ("1 1:1\n2 0:1\n", "indices start at 1"),
    ] {
        desk.write("bad.svm", text);
        for options in
            ["", "--random-binning 3", "--random-binning 3 --save-map old.map", "--map map"]
        {
            let run = refused(&desk, &format!("bad.svm {options}"), &[words]);
            run.fails(&[]);
        }
    }
    refused(&desk, "missing.svm", &["missing.svm"]).fails(&[]);
}

#[test]
fn bad_settings_say_what_they_must_be() {
    let desk = desk();
    for (options, words) in [
        ("--random-binning 0", "from 1 on"),
        ("--random-binning -3", "-3"),
        ("--random-binning 5 --bandwidth 0", "positive"),
        ("--random-binning 5 --bandwidth -1", "positive"),
        ("--random-binning 5 --bandwidth nan", "positive"),
        ("--random-binning 5 --bandwidth 1e-300", "1e-200"),
        ("--random-binning 5 --bandwidth 1e-100", "larger bandwidth"),
        ("--random-binning 999999999999", "fewer grids"),
        ("--bandwidth 1", "--random-binning"),
        ("--degree 3", "2 is the only degree"),
        ("--degree 2 --random-binning 5", "--degree"),
        ("--degree 2 --atoms data.svm", "--atoms"),
        ("--map map --degree 2", "--degree"),
        ("--atoms nowhere.svm", "nowhere.svm"),
        ("--degree 2 --save-names out.svm", "where the data go"),
        ("--degree 2 --save-names data.svm", "data.svm"),
        ("--map map --random-binning 5", "--random-binning"),
        ("--map map --format libsvm", "--format"),
        ("--map map --save-map old.map", "--save-map"),
        ("--label x", "--label"),
        ("--folds 1", "folds"),
        ("--save-map out.svm", "another file"),
        ("--save-map data.svm", "would be overwritten"),
        ("--save-map .", "is a folder"),
        ("--save-map no/such/folder", "folder"),
        ("--save-map -", "name a file"),
    ] {
        refused(&desk, &format!("data.svm {options}"), &[words]);
    }
    desk.run("convert data.svm -o data.svm").fails(&["would be overwritten"]);
    desk.run("convert data.svm --map map -o map").fails(&["would be overwritten"]);
    desk.run("convert data.svm --json").refuses(&["-o"]);
}

#[test]
fn rows_that_are_all_alike_suggest_no_bandwidth() {
    let desk = desk();
    desk.write("alike.svm", "1 1:2\n2 1:2\n");
    refused(&desk, "alike.svm --random-binning 3", &["bandwidth"]).fails(&[]);
    desk.run("convert alike.svm --random-binning 3 --bandwidth 1").ok();
}

#[test]
fn a_map_of_other_data_is_refused() {
    let desk = desk();
    desk.write("wide.svm", "1 1:1 5:1\n");
    refused(&desk, "wide.svm --map map", &["wide.svm", "4 features"]).fails(&[]);
}

#[test]
fn damaged_maps_are_refused() {
    let desk = desk();
    let whole = desk.read("map");
    desk.write("cut", &whole[..whole.len() - 7]);
    desk.write("long", [&whole[..], b"x"].concat());
    desk.write("empty", "");
    desk.write("head", &whole[..20]);
    desk.write("later", [b"dualgap map 2", &whole[13..]].concat());
    for name in ["cut", "long", "empty", "head", "later", "data.svm", "old.map", "missing"] {
        refused(&desk, &format!("data.svm --map {name}"), &[name]).fails(&[]);
    }
    // A bit anywhere is noticed.
    for place in (0..whole.len()).step_by(whole.len() / 40) {
        let mut altered = whole.clone();
        altered[place] ^= 4;
        desk.write("altered", altered);
        refused(&desk, "data.svm --map altered", &["altered"]).fails(&[]);
    }
}

#[cfg(unix)]
#[test]
fn a_map_that_never_ends_is_not_read() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1:1\n");
    let run = desk.run("convert data.svm --map /dev/zero");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("/dev/zero: is not a file"), "{}", run.stderr);
}
