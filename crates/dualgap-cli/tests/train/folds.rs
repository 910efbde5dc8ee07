//! Folds, test files, and letters without their words.

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::{Desk, Words};

fn desk() -> (Desk, Words) {
    let (desk, words) = (Desk::new(), Words::new(40, 1));
    desk.write("words.data", words.text());
    (desk, words)
}

#[test]
fn only_the_folds_that_were_named_are_trained_on() {
    let (desk, words) = desk();
    let chosen = words.in_folds(&[0, 2, 5, 6, 7]);
    let json =
        desk.train("chain words.data --train-folds 5-7,0,2 --lambda 0.05 --witness -o model");
    assert_eq!(json["n"], chosen.0.len());
    let exact = Problem::chain(&chosen, true, None, 0.05);
    exact.confirms(&json, &ModelFile::parse(&desk.read("model")));
    // The model file knows its folds: the whole file is all that `certify` needs.
    exact.confirms(&desk.certify("model", "words.data"), &ModelFile::parse(&desk.read("model")));
}

#[test]
fn a_fold_of_the_file_is_the_same_as_a_file_of_the_fold() {
    let (desk, words) = desk();
    desk.write("train.data", words.in_folds(&[1, 2, 3]).text());
    desk.write("test.data", words.in_folds(&[0]).text());
    let folds = desk.train("chain words.data --train-folds 1-3 --test-folds 0");
    let files = desk.train("chain train.data --test test.data");
    for field in ["n", "dim", "lambda", "primal", "dual", "fingerprint", "test"] {
        assert_eq!(folds[field], files[field], "{field}");
    }
    assert_eq!(folds["test"]["examples"], 4);
}

#[test]
fn a_test_does_not_change_the_model() {
    let (desk, _) = desk();
    desk.train("chain words.data --train-folds 1-9 -o untested");
    desk.train("chain words.data --train-folds 1-9 --test-folds 0 -o tested");
    assert!(desk.read("untested") == desk.read("tested"));
}

#[test]
fn letters_can_be_told_apart_without_their_words() {
    let (desk, words) = desk();
    let data = words.in_folds(&[1, 3, 5, 7, 9]).apart();
    let json = desk.train(
        "multiclass words.data --format letters --train-folds 1,3,5,7,9 --test-folds 0,2 \
         --lambda 0.05 --witness -o model",
    );
    assert_eq!(json["n"], data.len());
    let exact = Problem::multiclass(&data, None, None, 0.05);
    exact.confirms(&json, &ModelFile::parse(&desk.read("model")));
    exact.confirms(&desk.certify("model", "words.data"), &ModelFile::parse(&desk.read("model")));

    let unseen = words.in_folds(&[0, 2]).apart();
    let weights = ModelFile::parse(&desk.read("model")).weights();
    let right = (0..unseen.len()).filter(|&i| unseen.predict(i, &weights) == unseen.labels[i]);
    let accuracy = right.count() as f64 / unseen.len() as f64;
    assert_eq!(json["test"]["examples"], unseen.len());
    assert!((json["test"]["accuracy"].as_f64().unwrap() - accuracy).abs() < 1e-12);
}

#[test]
fn a_test_may_have_labels_and_features_that_were_never_seen() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1:1\n2 2:1\n1 1:2\n2 2:2\n");
    desk.write("test.svm", "1 1:1 999:5\n2 2:1\n3 1:1\n");
    let test = desk.train("multiclass data.svm --test test.svm")["test"].clone();
    assert_eq!(test["labels"], 3);
    assert!((test["accuracy"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12, "{test:#}");
}
