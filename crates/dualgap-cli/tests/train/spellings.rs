//! The same problem, spelt in several ways, gives the same model to the bit.

use crate::common::{Desk, Table, Words};

/// The model files of two command lines are the same.
#[track_caller]
fn same(desk: &Desk, one: &str, other: &str) {
    let (a, b) = (desk.train(&format!("{one} -o one")), desk.train(&format!("{other} -o other")));
    for field in ["lambda", "primal", "dual", "passes"] {
        assert_eq!(a[field], b[field], "{field}: {one} and {other}");
    }
    assert_eq!(desk.read("one"), desk.read("other"), "{one} and {other}");
}

#[test]
fn lambda_is_a_number_or_a_multiple_of_one_over_n_or_comes_from_c() {
    let desk = Desk::new();
    let n = 30;
    desk.write("data.svm", Table::new(n, 4, 3, 1).text());
    let one_over_n = 1.0 / n as f64;
    same(&desk, "multiclass data.svm", "multiclass data.svm --lambda 1/n");
    same(&desk, "multiclass data.svm", &format!("multiclass data.svm --lambda {one_over_n}"));
    same(&desk, "multiclass data.svm", "multiclass data.svm --c 1");
    // Powers of two, so that 0.25/n and 1/(4n) round to the same number.
    let quarter = 0.25 / n as f64;
    let number = format!("multiclass data.svm --lambda {quarter}");
    same(&desk, &number, "multiclass data.svm --lambda 0.25/n");
    same(&desk, &number, "multiclass data.svm --c 4");
    assert_eq!(desk.train(&number)["lambda"], quarter);
}

#[test]
fn for_words_n_is_the_number_of_words_that_are_trained_on() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(40, 1).text());
    let folds = "chain words.data --train-folds 0-4";
    assert_eq!(desk.train(folds)["lambda"], 1.0 / 20.0);
    same(&desk, folds, &format!("{folds} --lambda 0.05"));
    same(&desk, folds, &format!("{folds} --c 1"));
}

#[test]
fn a_default_that_is_written_out_changes_nothing() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(30, 4, 3, 2).text());
    desk.write("words.data", Words::new(20, 2).text());
    let common = "--solver auto --direction auto --cache auto --acceleration auto \
                  --step line-search --sampling permuted --average none --batch 1 \
                  --threads 0 --seed 0";
    let multiclass = format!("multiclass data.svm --format libsvm {common}");
    same(&desk, "multiclass data.svm", &multiclass);
    let chain = format!("chain words.data --format letters --hamming normalized {common}");
    same(&desk, "chain words.data", &chain);
}

#[test]
fn labels_are_known_by_their_value_and_comments_and_line_ends_do_not_count() {
    let desk = Desk::new();
    desk.write("plain.svm", "1 1:1 2:0.5\n-1 1:-1\n1 2:0.25\n");
    desk.write("odd.svm", "\u{feff}+1 1:1.0 2:5e-1 # one\r\n\r\n# two\r\n-1.0 1:-1\r\n1.00 2:.25");
    same(&desk, "multiclass plain.svm", "multiclass odd.svm");
}
