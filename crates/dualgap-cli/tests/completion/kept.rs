//! Runs that are kept, and taken up again.

use crate::common::number;
use crate::completion::{csv, desk, triples};

const LINE: &str = "train completion ratings.csv --radius 9 --tolerance 0";

#[test]
fn a_kept_run_goes_on_as_if_it_had_never_ended() {
    let desk = desk();
    for (k, options) in [
        "--mu 1e-3",
        "--mu 0 --centre effects --loss huber --width 0.5",
        "--mu 1e-3 --holdout 0.2 --seed 3",
        "--mu 0.01 --solver pdbfw",
    ]
    .iter()
    .enumerate()
    {
        let line = format!("{LINE} {options}");
        desk.run(&format!("{line} --passes 30 --witness -o whole -q")).ok();
        let kept = format!("--checkpoint {k}.ck --checkpoint-every 0.5");
        let told = desk.run(&format!("{line} --passes 7 {kept}")).ok().stdout;
        assert!(told.contains(&format!("{k}.ck")), "{told}");
        desk.run(&format!("{line} --passes 16 {kept} --resume {k}.ck -q")).ok();
        desk.run(&format!("{line} --passes 30 --resume {k}.ck --witness -o resumed -q")).ok();
        assert_eq!(desk.read("whole"), desk.read("resumed"), "{options}");
    }
}

#[test]
fn a_tighter_tolerance_goes_on_where_the_run_had_ended() {
    let desk = desk();
    let line = "completion ratings.csv --radius 9 --mu 1e-3";
    desk.train(&format!("{line} --tolerance 1e-6 --witness -o whole"));
    let first = desk.train(&format!("{line} --tolerance 0.01 --checkpoint run --witness -o first"));
    let again = desk.train(&format!("{line} --tolerance 0.01 --resume run --witness -o again"));
    assert_eq!(desk.read("again"), desk.read("first"));
    assert_eq!(number(&again, "primal"), number(&first, "primal"));
    desk.train(&format!("{line} --tolerance 1e-6 --resume run --witness -o second"));
    assert_eq!(desk.read("second"), desk.read("whole"));
    assert_eq!(desk.certify("second", "ratings.csv")["dual_proved"], true);
}

#[test]
fn a_checkpoint_of_another_run_is_refused_by_what_differs() {
    let desk = desk();
    let line = format!("{LINE} --mu 0.01 --holdout 0.2 --seed 3");
    desk.run(&format!("{line} --passes 5 --checkpoint run -q")).ok();
    let kept = desk.read("run");
    let with = |from: &str, to: &str| line.replace(from, to);
    for (other, word) in [
        (with("ratings.csv", "others.csv"), "data"),
        (with("--holdout 0.2", "--holdout 0.3"), "data"),
        (with("--holdout 0.2", ""), "data"),
        (with("--seed 3", "--seed 4"), "data"),
        (with("--radius 9", "--radius 8"), "ball"),
        (with("--mu 0.01", "--mu 0.02"), "mu"),
        (format!("{line} --centre none"), "centre"),
        (format!("{line} --centre mean"), "centre"),
        (format!("{line} --loss huber"), "loss"),
        (format!("{line} --solver apg"), "method"),
        (format!("{line} --solver pdbfw"), "method"),
    ] {
        let words = format!("its {word} is");
        desk.run(&format!("{other} --passes 9 --resume run -o model")).fails(&[
            "run",
            "another run",
            &words,
        ]);
    }
    assert_eq!(desk.read("run"), kept);
    assert!(!desk.path("model").exists());
}

#[test]
fn nothing_is_overwritten_by_a_checkpoint() {
    let desk = desk();
    let line = format!("{LINE} --passes 5");
    desk.run(&format!("{line} --checkpoint run -q")).ok();
    let kept = desk.read("run");
    desk.run(&format!("{line} --checkpoint run")).fails(&["run", "already"]);
    desk.run(&format!("{line} --checkpoint ratings.csv")).fails(&["ratings.csv"]);
    desk.run(&format!("{line} --checkpoint others.csv")).fails(&["others.csv", "no checkpoint"]);
    desk.run(&format!("{line} --checkpoint no/such/folder")).fails(&["no/such/folder"]);
    desk.run(&format!("{line} --resume missing")).fails(&["missing"]);
    desk.run(&format!("{line} --checkpoint-every 2")).refuses(&["--checkpoint"]);
    desk.run(&format!("{line} --solver frank-wolfe --checkpoint new")).refuses(&["pdbfw"]);
    assert_eq!(desk.read("run"), kept);
    assert_eq!(desk.read("ratings.csv"), csv(&triples(70, 1)).into_bytes());
    assert!(!desk.path("new").exists());
}
