//! `--class-weights`: what the examples of each class count.

use crate::common::{Desk, interval, number, overlap};
use crate::linear::numbers::Numbers;

/// Names of classes as awkward as a csv file may have them.
const NAMES: [&str; 2] = ["-a=b", "c"];

/// A table with two columns of numbers and a class.
fn csv(data: &Numbers, chosen: impl Iterator<Item = usize>) -> String {
    let line = |i: usize| {
        let x = &data.rows[i];
        format!("{},{},{}\n", x[0], x[2], data.names[i])
    };
    "first,second,class\n".to_string() + &chosen.map(line).collect::<String>()
}

/// A desk with a table, and the same with the examples of the first class three times.
fn desk() -> (Desk, Numbers) {
    let (desk, data) = (Desk::new(), Numbers::binary(40, 3, NAMES));
    desk.write("data.csv", csv(&data, 0..40));
    let often = |i: usize| if data.names[i] == NAMES[0] { 3 } else { 1 };
    let chosen = (0..40).flat_map(|i| std::iter::repeat_n(i, often(i)));
    desk.write("copies.csv", csv(&data, chosen));
    (desk, data)
}

#[test]
fn a_class_that_counts_three_is_there_three_times() {
    let (desk, _) = desk();
    for task in ["binary", "binary --loss logistic", "multiclass", "multiclass --loss softmax"] {
        let (task, loss) = task.split_once(' ').unwrap_or((task, ""));
        for more in ["--lambda 0.02", "--lambda 2/n", "--c 0.5"] {
            let options = format!("{loss} {more} --absolute-tolerance 1e-4");
            let weighted = desk.train(&format!(
                "{task} data.csv --class-weights -a=b=3 {options} --witness -o model"
            ));
            let copies = desk.train(&format!("{task} copies.csv {options}"));
            let plain = desk.train(&format!("{task} data.csv {options}"));
            assert_eq!(weighted["lambda"], copies["lambda"], "n is the sum of the weights");
            assert!(overlap(interval(&weighted), interval(&copies)), "{weighted:#} {copies:#}");
            assert!(!overlap(interval(&weighted), interval(&plain)), "the weights matter");
            let certified = desk.certify("model", "data.csv");
            assert_eq!(certified["dual_proved"], true);
        }
    }
}

/// Balanced weights, written out for every example by hand.
#[test]
fn balanced_classes_are_sample_weights_that_a_hand_can_write() {
    let (desk, data) = desk();
    let counts: Vec<f64> = (0..40).map(|i| f64::from(1 + i % 3)).collect();
    let lines = |counts: &[f64]| counts.iter().map(|c| format!("{c}\n")).collect::<String>();
    desk.write("counts", lines(&counts));
    let of = |name: &str, counts: &[f64]| -> f64 {
        counts.iter().zip(&data.names).filter(|(_, y)| *y == name).map(|(c, _)| c).sum()
    };
    let by_hand = |counts: &[f64]| -> String {
        let total: f64 = counts.iter().sum();
        let each = counts.iter().zip(&data.names);
        lines(&each.map(|(c, y)| c * total / (2.0 * of(y, counts))).collect::<Vec<f64>>())
    };
    desk.write("by-hand", by_hand(&[1.0; 40]));
    desk.write("both-by-hand", by_hand(&counts));
    for (options, same) in [
        ("--class-weights balanced", "--sample-weights by-hand"),
        ("--class-weights balanced --sample-weights counts", "--sample-weights both-by-hand"),
    ] {
        for task in ["binary", "multiclass"] {
            let one = desk.train(&format!("{task} data.csv {options} --passes 3 --tolerance 0"));
            let other = desk.train(&format!("{task} data.csv {same} --passes 3 --tolerance 0"));
            for name in ["lambda", "primal", "dual"] {
                let (a, b) = (number(&one, name), number(&other, name));
                assert!((a - b).abs() <= 1e-9 * b.abs(), "{name}: {a} {b}");
            }
        }
    }
    // λ = 1/n does not see that classes were balanced: they count as much as before.
    let balanced = desk.train("binary data.csv --class-weights balanced");
    assert!((number(&balanced, "lambda") - 1.0 / 40.0).abs() < 1e-12);
}

#[test]
fn a_run_goes_on_only_with_the_weights_it_began_with() {
    let (desk, _) = desk();
    let line = "multiclass data.csv --lambda 0.01 --tolerance 0 --class-weights";
    desk.train(&format!("{line} balanced --passes 6 --checkpoint run"));
    let refused = desk.run(&format!("train {line} c=2 --passes 12 --resume run"));
    refused.refuses(&["class weights"]);
    let resumed = desk.train(&format!("{line} balanced --passes 12 --resume run"));
    let whole = desk.train(&format!("{line} balanced --passes 12"));
    assert_eq!((&resumed["primal"], &resumed["dual"]), (&whole["primal"], &whole["dual"]));
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let (desk, _) = desk();
    for (weights, words) in [
        ("d=1", &["`d`", "the classes are: -a=b c"][..]),
        ("c=1,c=2", &["`c`", "at most once"]),
        ("c=-1", &["--class-weights", "not negative"]),
        ("c=nan", &["--class-weights", "not negative"]),
        ("c=inf", &["--class-weights", "not negative"]),
        ("c", &["--class-weights", "balanced"]),
        ("", &["--class-weights"]),
        ("c=0,-a=b=0", &["count 0 in all", "some class"]),
    ] {
        for task in ["binary", "multiclass"] {
            let line = ["train", task, "data.csv", "-o", "model", "--class-weights", weights];
            desk.run_with(&line).refuses(words);
            assert!(!desk.files().contains(&"model".to_string()), "{weights}");
        }
    }
    // Neither sequences nor numbers have classes.
    desk.run("train chain data.csv --class-weights balanced").refuses(&["--class-weights"]);
    desk.run("train regression data.csv --class-weights balanced").refuses(&["--class-weights"]);
}
