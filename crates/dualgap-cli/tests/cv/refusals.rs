//! Folds, grids and files that make no sense: refused in words, before anything is written.

use crate::common::{Desk, Table, Words};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(30, 4, 2, 1).text());
    desk.write("words.data", Words::new(20, 1).text());
    desk
}

#[test]
fn folds_that_cannot_be() {
    let desk = desk();
    desk.run("cv binary data.svm --folds 31").fails(&["data.svm", "31 folds of 30", "--folds"]);
    desk.run("cv binary data.svm --folds 30 --lambdas 0.1").ok();
    for bad in ["1", "0", "-3", "x", "2.5", "99999999999999999999999"] {
        desk.run(&format!("cv binary data.svm --folds {bad}")).exits(2);
    }
    desk.run("cv binary data.svm --given-folds").fails(&["data.svm", "no folds", "--given-folds"]);
    desk.run("cv chain words.data --given-folds --folds 3").exits(2);
    desk.run("cv chain words.data --given-folds --train-folds 4")
        .fails(&["words.data", "one fold"]);
}

#[test]
fn grids_that_cannot_be() {
    let desk = desk();
    for bad in ["", "1,,2", "nan", "inf", "-1", "1/m", "0/n", "1;2"] {
        let run = desk.run_with(&["cv", "binary", "data.svm", "--lambdas", bad]).exits(2);
        assert!(run.stdout.is_empty(), "{run:#?}");
    }
    desk.run("cv binary data.svm --lambdas 0.1,0").refuses(&["lambda", "--l1"]);
    desk.run("cv multiclass data.svm --lambdas 0 --l1 1 --rescale slack")
        .refuses(&["--lambda", "margin"]);
    desk.run("cv binary data.svm --to 0").refuses(&["grid", "--lambdas"]);
    desk.run("cv binary data.svm --lambdas 1 --count 3").exits(2);
    for bad in ["1", "0", "1001", "many"] {
        desk.run(&format!("cv binary data.svm --count {bad}")).exits(2);
    }
    for bad in ["0", "-1", "nan", "inf"] {
        desk.run(&format!("cv binary data.svm --tolerance {bad}")).exits(2);
    }
    desk.run("cv binary data.svm --acceleration on --l1 1 --lambdas 1,0")
        .refuses(&["--acceleration"]);
}

#[test]
fn a_label_of_one_example_leaves_nothing_to_tell_apart() {
    let desk = desk();
    desk.write("lonely.svm", "1 1:1\n2 1:2\n2 1:3\n2 1:4\n2 1:5\n");
    for task in ["binary", "multiclass"] {
        desk.run(&format!("cv {task} lonely.svm --folds 2")).fails(&["lonely.svm", "tell apart"]);
    }
    // Where two others are left, it is a mistake wherever it is tested, and that is told.
    desk.write("rare.svm", "1 1:1\n2 2:2\n2 2:3\n3 3:4\n3 3:5\n");
    let out = desk.run("cv multiclass rare.svm --folds 2").ok().stdout;
    assert!(out.contains("The label 1 is in one fold only"), "{out}");
    let json = desk.run("cv multiclass rare.svm --folds 2 --json").ok().json();
    assert_eq!(json["labels_in_one_fold"], serde_json::json!(["1"]));
    // Numbers are not told apart.
    desk.run("cv regression lonely.svm --folds 2").ok();
}

#[test]
fn weights_that_leave_a_fold_without_any() {
    let desk = desk();
    desk.write("short", "1\n1\n");
    desk.run("cv binary data.svm --sample-weights short").fails(&["short"]);
    let one: String = (0..30).map(|i| if i == 7 { "1\n" } else { "0\n" }).collect();
    desk.write("one", one);
    desk.run("cv binary data.svm --sample-weights one").fails(&["one", "add up to 0"]);
    desk.run("cv binary data.svm --class-weights 3=1").refuses(&["no class `3`"]);
}

#[test]
fn outputs_that_have_no_place() {
    let desk = desk();
    for option in ["-o", "--table"] {
        desk.run(&format!("cv binary data.svm {option} data.svm"))
            .fails(&["data.svm", "overwritten"]);
        desk.run(&format!("cv binary data.svm {option} none/such")).fails(&["none/such"]);
        desk.run(&format!("cv binary data.svm {option} .")).fails(&["folder"]);
    }
    desk.run("cv binary data.svm -o both --table both").refuses(&["one file"]);
    desk.run("cv binary data.svm --witness").exits(2);
    desk.run("cv binary - --sample-weights -").refuses(&["standard input"]);
    desk.run("cv binary none.svm").fails(&["none.svm"]);
    assert_eq!(desk.files(), ["data.svm", "words.data"], "nothing was written");
}

#[test]
fn numbers_too_large_name_the_run_that_they_broke() {
    let desk = Desk::new();
    desk.write("huge.svm", "1e300 1:1e200\n-1e300 2:1e200\n1 3:1\n1 4:5\n");
    let run = desk.run("cv regression huge.svm --folds 2 --lambdas 0.5 --threads 1");
    run.refuses(&["no certificate", "lambda 5e-1", "without fold", "huge numbers in the data"]);
}

#[test]
fn tasks_refuse_what_they_refuse_to_train_on() {
    let desk = desk();
    desk.run("cv chain data.svm").fails(&["data.svm", "no sequences"]);
    desk.run("cv binary words.data").fails(&["two classes"]);
    desk.run("cv regression words.data").fails(&["is no number"]);
    desk.run("cv binary data.svm --width 2").refuses(&["--width"]);
    desk.run("cv chain words.data --folds 3 --train-folds 1-3 --test-folds 3").refuses(&["fold 3"]);
}
