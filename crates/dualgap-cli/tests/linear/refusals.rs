//! What is refused, and where the refusal points to.

use crate::common::Desk;
use crate::linear::numbers::Numbers;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("binary.svm", Numbers::of("binary", 1).text());
    desk.write("numbers.svm", Numbers::of("regression", 1).text());
    desk.write("three.svm", "1 1:1\n2 1:2\n3 2:1\n1 2:2\n");
    desk.write("table.csv", "size,price\n1,cheap\n2,dear\n3,cheap\n");
    desk.write("columns.txt", "a b X\nb c Y\n\na c X\n\n");
    desk
}

#[test]
fn binary_is_for_two_classes_and_points_to_multiclass() {
    let desk = desk();
    desk.run("train binary three.svm").fails(&["two classes", "3", "train multiclass"]);
    desk.run("train binary numbers.svm").fails(&["two classes", "train multiclass"]);
    desk.write("one.svm", "1 1:1\n1 1:2\n");
    desk.run("train binary one.svm").fails(&["two classes"]);
    assert!(desk.files().iter().all(|name| name.contains('.')));
}

#[test]
fn words_are_no_numbers() {
    let desk = desk();
    desk.run("train regression table.csv --label price").fails(&[
        "table.csv:2",
        "`cheap`",
        "number",
    ]);
    desk.write("nan.csv", "size,price\n1,2\n2,nan\n3,4\n");
    desk.run("train regression nan.csv --label price").refuses(&["nan"]);
    desk.write("inf.csv", "size,price\n1,2\n2,inf\n3,4\n");
    desk.run("train regression inf.csv --label price").refuses(&["inf"]);
}

#[test]
fn probabilities_are_for_the_logistic_loss_and_scores_for_linear_models() {
    let desk = desk();
    for loss in ["hinge", "smooth-hinge", "squared-hinge"] {
        desk.train(&format!("binary binary.svm --loss {loss} -o model"));
        desk.run("predict model binary.svm --probabilities").refuses(&["logistic"]);
        desk.run("predict model binary.svm --scores").ok();
    }
    desk.train("regression numbers.svm -o model");
    desk.run("predict model numbers.svm --probabilities").refuses(&["logistic"]);
    desk.train("multiclass three.svm -o model");
    desk.run("predict model three.svm --probabilities").refuses(&["--probabilities", "softmax"]);
    desk.write("words.txt", "a x\nb y\n\nb y\n\n");
    desk.train("chain words.txt -o model");
    // The data need not be there: what the model does not have is known before they are read.
    desk.run("predict model missing --scores -o out").refuses(&["--scores", "multiclass"]);
    desk.run("predict model missing --probabilities -o out").refuses(&["--probabilities"]);
    assert!(!desk.path("out").exists());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let desk = desk();
    for (task, words) in [
        ("binary binary.svm --step predefined", &["--step", "--option"][..]),
        ("regression numbers.svm --step predefined", &["--step", "--option"]),
        ("binary binary.svm --loss hinge --option v", &["smooth"]),
        ("regression numbers.svm --loss absolute --option v", &["smooth"]),
        ("regression numbers.svm --loss epsilon-insensitive --option v", &["smooth"]),
        ("binary binary.svm --option vi", &["--option"]),
        ("binary binary.svm --lambda 0", &["--lambda"]),
        ("binary binary.svm --lambda -1", &["--lambda"]),
        ("regression numbers.svm --lambda 0", &["--lambda"]),
        ("binary binary.svm --l1 -0.1", &["--l1"]),
        ("regression numbers.svm --l1 nan", &["--l1"]),
        ("binary binary.svm --loss smooth-hinge --width 0", &["--width"]),
        ("regression numbers.svm --loss huber --width 0", &["--width"]),
        ("regression numbers.svm --loss huber --width inf", &["--width"]),
        ("regression numbers.svm --epsilon nan", &["--epsilon"]),
        ("binary binary.svm --loss squared", &["--loss"]),
        ("regression numbers.svm --loss hinge", &["--loss"]),
        ("binary columns.txt --format columns --intercept", &["columns.txt", "template"]),
        ("binary binary.svm --intercept=maybe", &["--intercept"]),
        ("binary binary.svm --intercept --solver fw", &["--intercept=penalised"]),
        ("binary binary.svm --intercept --average weighted", &["--intercept=penalised"]),
        ("binary binary.svm --q-norm", &["eight"]),
        ("binary binary.svm --q-norm --intercept", &["q-norm"]),
        ("binary binary.svm --q-norm --nonnegative", &["--q-norm"]),
        ("binary binary.svm --acceleration on --average weighted", &["--acceleration"]),
        ("binary binary.svm --acceleration on --solver fw", &["--acceleration"]),
        ("binary binary.svm --acceleration on --lambda 0 --l1 0.1", &["--acceleration"]),
        ("binary binary.svm --q-norm --lambda 0 --l1 0.1", &["q-norm"]),
    ] {
        desk.run(&format!("train {task} -o model")).refuses(words);
        assert!(!desk.files().contains(&"model".to_string()), "{task}");
    }
}

#[test]
fn features_too_large_to_be_squared_are_an_error_and_no_crash() {
    let desk = Desk::new();
    desk.write("huge.svm", "1 1:1e200 2:1e200\n-1 1:1e200 2:-1e200\n1 1:-1e200 2:3\n");
    for loss in ["hinge", "smooth-hinge", "squared-hinge", "logistic"] {
        for more in ["", "--intercept", "--lambda 0 --l1 0.1"] {
            let run = desk.run(&format!("train binary huge.svm --loss {loss} {more} --passes 20"));
            assert!(matches!(run.code, Some(0..=2)), "{run:?}");
        }
    }
}

#[test]
fn a_model_is_certified_for_its_own_data_only() {
    let desk = desk();
    desk.train("binary binary.svm --witness -o model");
    desk.run("certify model numbers.svm").exits(2);
    let mut other = Numbers::of("binary", 1);
    other.rows[7][1] += 0.001;
    desk.write("other.svm", other.text());
    desk.run("certify model other.svm").fails(&["refused"]);
    desk.train("binary binary.svm --witness --lambda 0.3 -o other");
    let mut one = crate::common::forge::ModelFile::parse(&desk.read("model"));
    let another = crate::common::forge::ModelFile::parse(&desk.read("other"));
    one.set_floats("weights", &another.floats("weights"));
    desk.write("forged", one.sealed());
    desk.run("certify forged binary.svm").fails(&["refused"]);
}

#[test]
fn a_width_for_a_loss_without_one_is_refused() {
    let desk = Desk::new();
    desk.write("two.svm", "1 1:1\n-1 1:-1\n");
    desk.run("train binary two.svm --loss hinge --width 2").refuses(&["--width", "smooth-hinge"]);
    desk.run("train regression two.svm --loss huber --epsilon 1").refuses(&["--epsilon"]);
    desk.run("train regression two.svm --loss huber --width -1").refuses(&["--width", "positive"]);
    desk.run("train binary two.svm --solver fw --option ii").refuses(&["--option"]);
}
