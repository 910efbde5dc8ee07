//! Files and options that cannot be meant.

use super::{desk, toy};
use crate::common::Desk;

/// Writes `bad` with other text in the place of one of its files.
fn write_bad(desk: &Desk, ending: &str, change: impl Fn(&str) -> String) {
    let good = toy(6, 1);
    good.write(desk, "bad");
    let text = match ending {
        "e" => good.e,
        "f" => good.f,
        _ => good.a,
    };
    desk.write(&format!("bad.{ending}"), change(&text));
}

/// The ending of a file, how its text is changed, and what is said about it.
type Case<'a> = (&'a str, &'a dyn Fn(&str) -> String, &'a str);

#[test]
fn broken_bitext_is_named_with_file_and_line() {
    let desk = desk();
    let without_last = |text: &str| text.lines().take(5).map(|line| format!("{line}\n")).collect();
    let line = |k: usize, new: &'static str| {
        move |text: &str| -> String {
            let lines = text.lines().enumerate();
            lines.map(|(i, line)| format!("{}\n", if i == k { new } else { line })).collect()
        }
    };
    let long = "w ".repeat(300);
    let cases: [Case<'_>; 10] = [
        ("f", &without_last, "bad.f:6: has no line here, and bad.e has one"),
        ("a", &without_last, "bad.a:6: has no line here, and bad.e has one"),
        ("e", &without_last, "bad.f:6: has a line here, and bad.e has none"),
        ("a", &|text| format!("{text}\n"), "bad.a:7: has a line here, and bad.e has none"),
        ("a", &line(2, "0-0 1:1"), "bad.a:3: `1:1` is no link"),
        ("a", &line(2, "0-0 -1-1"), "bad.a:3: `-1-1` is no link"),
        ("a", &line(3, "0-0 99-0"), "bad.a:4: the link `99-0` goes to word 99 of the first"),
        ("a", &line(3, "0?99"), "bad.a:4: the link `0?99` goes to word 99 of the second"),
        ("a", &|text| text.replace('-', "?"), "there is no sure link"),
        ("e", &|text| text.replacen("the", &long, 1), "bad.e:1: has 30"),
    ];
    for (ending, change, words) in cases {
        write_bad(&desk, ending, change);
        desk.run("train matching bad").fails(&[words]);
        desk.run("train matching pairs --test bad --bitext more")
            .exits(if words.contains("sure") { 0 } else { 2 });
    }
    write_bad(&desk, "f", |_| "\u{0}".into());
    std::fs::write(desk.path("bad.f"), [0xff, 0xfe, b'\n']).unwrap();
    desk.run("train matching bad").fails(&["bad.f:1: is not UTF-8"]);
}

#[test]
fn missing_files_and_wrong_prefixes_are_explained() {
    let desk = desk();
    desk.run("train matching more").fails(&["more.e", "no links beside it"]);
    desk.run("train matching nowhere").fails(&["nowhere"]);
    desk.run("train matching pairs --bitext nowhere").fails(&["nowhere"]);
    desk.run("train matching pairs --bitext pairs.e").fails(&["pairs.e", "PREFIX"]);
    desk.run("train matching pairs --test more").fails(&["more"]);
    desk.write("alone.e", "a b\n");
    desk.run("train matching alone").fails(&["alone.e: has no translation beside it"]);
    desk.write("empty.e", "");
    desk.write("empty.f", "");
    desk.write("empty.a", "");
    desk.run("train matching empty").fails(&["empty"]);
    desk.write("blank.e", "\n\n");
    desk.write("blank.f", "\n\n");
    desk.write("blank.a", "\n\n");
    desk.run("train matching blank").fails(&["blank"]);
    desk.write("edges", "0 0 1 x:1\n");
    desk.run("train matching edges --bitext more").fails(&["edges", "--bitext"]);
    // A model of one kind of data does not read the other.
    desk.run("train matching edges -o of-edges").ok();
    desk.run("predict of-edges pairs").fails(&["pairs.e"]);
    desk.run("train matching pairs -o of-text").ok();
    desk.run("predict of-text edges").fails(&["edges", "no translation"]);
    desk.run("predict of-text pairs -o pairs.a").fails(&["pairs.a: is read here"]);
}

#[test]
fn ranges_and_costs_must_make_sense() {
    let desk = desk();
    for (options, words) in [
        ("--train-range 0..50", &["pairs", "has 40 examples", "--train-range 0..50"][..]),
        ("--train-range 0..10 --test-range 30..41", &["has 40 examples", "--test-range"]),
        ("--train-range 0..10 --test-range 9..20", &["overlap"]),
        ("--train-range 10..10", &["0..100"]),
        ("--train-range 10", &["0..100"]),
        ("--train-range +1..2", &["0..100"]),
        ("--test-range 10..20", &["--train-range"]),
        ("--train-range 0..9 --test-range 10..20 --test more", &["--test"]),
        ("--fp 0 --fn 0", &["neither wrong nor missing"]),
        ("--fp nan", &["--fp"]),
        ("--fn=-1", &["--fn"]),
        ("--train-folds 1", &["--train-range"]),
        ("--ball l1 --radius 1", &["--ball"]),
        ("--features f", &["--features"]),
    ] {
        desk.run(&format!("train matching pairs {options}")).refuses(words);
    }
    desk.run("train chain pairs").exits(2);
    desk.run("train multiclass pairs").exits(2);
}
