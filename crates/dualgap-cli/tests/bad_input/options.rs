//! Options that make no sense.

use crate::bad_input::{Desk, desk, refuses};

#[test]
fn numbers_out_of_range_are_refused_and_the_option_is_named() {
    let desk = desk();
    for (option, values) in [
        ("--lambda", &["0", "-1", "nan", "inf", "1e999", "x", "/n", "0/n", "-1/n", "1/m", "n"][..]),
        ("--c", &["0", "-1", "nan", "inf", "x", "1/n"]),
        ("--tolerance", &["-1", "nan", "inf", "x", "1%"]),
        ("--absolute-tolerance", &["-0.1", "nan", "x"]),
        ("--passes", &["-1", "1.5", "x", "18446744073709551616"]),
        ("--oracle-calls", &["-1", "1e3", "x"]),
        ("--time", &["-1", "nan", "inf", "x"]),
        ("--batch", &["0", "-1", "1.5", "x"]),
        ("--threads", &["-1", "x"]),
        ("--seed", &["-1", "x", "18446744073709551616"]),
        ("--train-folds", &["10", "3-1", "x", "1-", "1,,2", "1-2-3", "256"]),
        ("--test-folds", &["10", "3-1", "x"]),
        ("--format", &["tsv", "LIBSVM"]),
        ("--step", &["fast"]),
        ("--sampling", &["random"]),
        ("--average", &["mean", "suffix:0", "suffix:1.5", "suffix:x", "suffix:0.5"]),
    ] {
        for value in values {
            // Joined, because a value may begin with a minus sign.
            refuses(&desk, &format!("multiclass data.svm {option}={value}"), &[option, value]);
        }
    }
    refuses(&desk, "chain words.data --hamming=both", &["--hamming"]);
}

#[test]
fn options_of_the_hinge_do_not_go_with_the_log_loss() {
    let desk = desk();
    for option in ["--rescale slack", "--beam 2", "--option ii", "--kernel rbf"] {
        let name = option.split(' ').next().unwrap();
        refuses(&desk, &format!("chain words.data --loss log {option}"), &[name, "--loss hinge"]);
    }
    refuses(&desk, "chain words.data --loss log --lambda 0 --l1 0.1", &["--lambda", "positive"]);
    refuses(&desk, "chain words.data --loss crf --solver bcfw --passes 1", &["solver"]);
    refuses(&desk, "chain words.data --loss squared", &["--loss"]);
}

#[test]
fn empty_values_are_refused() {
    let desk = desk();
    for option in ["--lambda=", "--c=", "--tolerance=", "--train-folds=", "--batch=", "--test="] {
        refuses(&desk, &format!("multiclass data.svm {option}"), &[option.trim_end_matches('=')]);
    }
    desk.run_with(&["train", "multiclass", ""]).exits(2);
    desk.run_with(&["train", "multiclass", "data.svm", "-o", ""]).exits(2);
}

#[test]
fn a_c_that_leaves_no_lambda_is_refused() {
    let desk = desk();
    for c in ["1e308", "1e-320"] {
        refuses(&desk, &format!("multiclass data.svm --c {c}"), &["lambda"]);
    }
}

/// Data and checkpoints that are not there show that nothing is read first, and the files that nothing is written.
#[test]
fn options_that_do_not_go_together_are_refused_before_anything_is_read_or_written() {
    let desk = desk();
    let files = desk.files();
    for (line, words) in [
        ("train binary missing --loss hinge --width 2 --checkpoint run -o model", "--width"),
        ("train binary missing --loss hinge --width 2 --resume missing", "--width"),
        (
            "train multiclass missing --rescale slack --lambda 0 --l1 0.1 --checkpoint run",
            "--lambda",
        ),
        (
            "train multiclass missing --rescale slack --lambda 0 --l1 0.1 --warm-start missing",
            "--lambda",
        ),
        ("train chain missing --q-norm --checkpoint run", "--q-norm"),
        ("train multilabel missing --checkpoint run", "--ball"),
        ("train completion missing --radius 1 --loss absolute --checkpoint run", "smooth"),
        ("cv binary missing --loss hinge --width 2 -o model", "--width"),
        ("path binary missing --loss hinge --width 2 -o folder", "--width"),
        ("path chain missing --q-norm -o folder", "--q-norm"),
        ("train chain missing --solver ssg --step predefined -o model", "--step"),
        ("train chain missing --solver ssg --sampling gap -o model", "equally often"),
        ("train chain missing --solver ssg --average random -o model", "--average"),
        ("train binary missing --solver subgradient --sampling uniform -o model", "--sampling"),
        ("train binary missing --solver newton --sampling uniform -o model", "--sampling"),
        ("train binary missing --solver ssg --option iii -o model", "--option"),
    ] {
        desk.run(line).refuses(&[words]);
        assert_eq!(desk.files(), files, "{line}");
    }
}

#[test]
fn lanes_are_for_structures_and_steps_of_one_example() {
    let desk = Desk::new();
    desk.write("two.svm", "1 1:1\n-1 1:-1\n");
    desk.write("words.txt", "a X\nb Y\n\nb Y\na X\n");
    for task in ["binary", "regression", "multiclass"] {
        let run = desk.run(&format!("train {task} two.svm --lanes"));
        run.refuses(&["--lanes does not go with", task, "chain and matching"]);
    }
    for more in [
        "--batch 2",
        "--average weighted",
        "--sampling uniform",
        "--no-shrinking",
        "--solver bcfw",
        "--l1 0.1",
    ] {
        desk.run(&format!("train chain words.txt --lanes {more}"))
            .refuses(&["lanes are for chains and matchings"]);
    }
    desk.run("train chain words.txt --lanes --solver ssg")
        .refuses(&["--lanes does not go with --solver ssg"]);
    desk.run("train chain words.txt --lanes --lambda 0.1").ok();
}
