//! Sample weights and costs: what an example counts, and what a mistake costs.

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, Words, interval, overlap};

/// One weight a line.
fn lines(weights: &[f64]) -> String {
    weights.iter().map(|weight| format!("{weight}\n")).collect()
}

/// Each example as often as its weight says.
fn repeated(counts: &[f64]) -> Vec<usize> {
    counts
        .iter()
        .enumerate()
        .flat_map(|(i, &count)| std::iter::repeat_n(i, count as usize))
        .collect()
}

#[test]
fn a_weight_of_two_is_the_same_as_a_duplicate() {
    let (desk, data) = (Desk::new(), Table::new(24, 4, 3, 1));
    let counts: Vec<f64> = (0..24).map(|i| f64::from(1 + i * i % 4)).collect();
    desk.write("data.svm", data.text());
    desk.write("counts", lines(&counts));
    desk.write("repeated.svm", data.select(&repeated(&counts)).text());
    for lambda in ["0.02", "1/n", "5/n"] {
        let options = format!("--lambda {lambda} --tolerance 1e-5");
        let weighted = desk.train(&format!(
            "multiclass data.svm --sample-weights counts {options} --witness -o model"
        ));
        let repeated = desk.train(&format!("multiclass repeated.svm {options}"));
        let unweighted = desk.train(&format!("multiclass data.svm {options}"));
        assert_eq!(weighted["lambda"], repeated["lambda"], "1/n means one over the sum");
        assert!(overlap(interval(&weighted), interval(&repeated)), "{weighted:#} {repeated:#}");
        assert!(!overlap(interval(&weighted), interval(&unweighted)), "the weights matter");
        let lambda = weighted["lambda"].as_f64().unwrap();
        let exact = Problem::multiclass(&data, None, Some(&counts), lambda);
        exact.confirms(&weighted, &ModelFile::parse(&desk.read("model")));
        exact.confirms(&desk.certify("model", "data.svm"), &ModelFile::parse(&desk.read("model")));
    }
}

#[test]
fn weights_count_words_and_not_letters() {
    let (desk, data) = (Desk::new(), Words::new(24, 2));
    let counts: Vec<f64> = (0..24).map(|i| f64::from(1 + i % 3)).collect();
    desk.write("words.data", data.text());
    desk.write("counts", lines(&counts));
    let again = repeated(&counts).into_iter().map(|i| data.0[i].clone()).collect();
    desk.write("repeated.data", Words(again).text());
    let options = "--lambda 10/n --tolerance 1e-3";
    let weighted =
        desk.train(&format!("chain words.data --sample-weights counts {options} --witness -o m"));
    let repeated = desk.train(&format!("chain repeated.data {options}"));
    let unweighted = desk.train(&format!("chain words.data {options}"));
    assert!(overlap(interval(&weighted), interval(&repeated)));
    assert!(!overlap(interval(&weighted), interval(&unweighted)), "the weights matter");
    let lambda = weighted["lambda"].as_f64().unwrap();
    let exact = Problem::chain(&data, true, Some(&counts), lambda);
    exact.confirms(&desk.certify("m", "words.data"), &ModelFile::parse(&desk.read("m")));
}

#[test]
fn a_weight_of_zero_is_the_same_as_an_example_that_is_not_there() {
    let (desk, data) = (Desk::new(), Table::new(30, 4, 3, 3));
    let counts: Vec<f64> = (0..30).map(|i| f64::from(u8::from(i % 5 != 0))).collect();
    desk.write("data.svm", data.text());
    desk.write("counts", lines(&counts));
    desk.write("fewer.svm", data.select(&repeated(&counts)).text());
    for options in ["--tolerance 1e-4", "--solver fw", "--step predefined", "--average weighted"] {
        let weighted = desk.train(&format!(
            "multiclass data.svm --sample-weights counts {options} --witness -o m"
        ));
        let fewer = desk.train(&format!("multiclass fewer.svm {options}"));
        assert_eq!(weighted["lambda"], fewer["lambda"]);
        assert!(overlap(interval(&weighted), interval(&fewer)), "{options}");
        let exact = Problem::multiclass(&data, None, Some(&counts), 1.0 / 24.0);
        exact.confirms(&desk.certify("m", "data.svm"), &ModelFile::parse(&desk.read("m")));
    }
}

#[test]
fn the_scale_of_the_weights_does_not_matter() {
    let (desk, data) = (Desk::new(), Table::new(24, 4, 3, 4));
    desk.write("data.svm", data.text());
    desk.write("ones", lines(&[1.0; 24]));
    desk.write("huge", lines(&[f64::powi(2.0, 900); 24]));
    desk.write("tiny", lines(&[f64::powi(2.0, -900); 24]));
    let weights = |options: &str| {
        desk.train(&format!("multiclass data.svm --lambda 0.05 {options} -o model"));
        ModelFile::parse(&desk.read("model")).weights()
    };
    let plain = weights("");
    for file in ["ones", "huge", "tiny"] {
        assert_eq!(weights(&format!("--sample-weights {file}")), plain, "{file}");
    }
}

#[test]
fn with_folds_the_weights_are_still_one_for_each_word_of_the_file() {
    let (desk, data) = (Desk::new(), Words::new(30, 5));
    let counts: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 4)).collect();
    desk.write("words.data", data.text());
    desk.write("counts", lines(&counts));
    let json = desk.train(
        "chain words.data --train-folds 2,5-7 --sample-weights counts --lambda 0.1 --witness -o m",
    );
    let chosen = |i: &usize| [2, 5, 6, 7].contains(&data.0[*i].fold);
    let counts: Vec<f64> = (0..30).filter(chosen).map(|i| counts[i]).collect();
    let exact = Problem::chain(&data.in_folds(&[2, 5, 6, 7]), true, Some(&counts), 0.1);
    exact.confirms(&json, &ModelFile::parse(&desk.read("m")));
}

#[test]
fn with_folds_the_weights_of_single_letters_are_also_one_for_each_of_the_file() {
    let (desk, data) = (Desk::new(), Words::new(30, 6));
    let all = data.apart();
    let counts: Vec<f64> = (0..all.len()).map(|i| [1.0, 2.0, 4.0][i % 3]).collect();
    desk.write("words.data", data.text());
    desk.write("counts", lines(&counts));
    let json = desk.train(
        "multiclass words.data --format letters --train-folds 1-4 --sample-weights counts \
         --lambda 0.1 --witness -o m",
    );
    let folds = data.0.iter().flat_map(|word| word.letters.iter().map(|_| word.fold));
    let chosen = |fold: usize| (1..=4).contains(&fold);
    let counts: Vec<f64> =
        folds.zip(&counts).filter(|&(fold, _)| chosen(fold)).map(|(_, &c)| c).collect();
    let exact =
        Problem::multiclass(&data.in_folds(&[1, 2, 3, 4]).apart(), None, Some(&counts), 0.1);
    exact.confirms(&json, &ModelFile::parse(&desk.read("m")));
}

/// Three classes; missing the third costs much, and taking the first for the second almost nothing.
const COSTS: [f64; 9] = [0.0, 0.125, 1.0, 2.0, 0.0, 1.5, 7.0, 5.0, 0.0];

#[test]
fn costs_are_charged_as_the_table_says() {
    let (desk, data) = (Desk::new(), Table::new(30, 4, 3, 7));
    desk.write("data.svm", data.text());
    desk.write("costs", "   1   2   3\n1  0 .125  1\n2  2   0  1.5\n3  7   5   0\n");
    desk.write("turned", "   3   1   2\n2  1.5 2   0\n\n3  0   7   5\n1  1   0 .125\n");
    let exact = Problem::multiclass(&data, Some(&COSTS), None, 1.0 / 30.0);
    for options in ["", "--solver fw --passes 50", "--step predefined --passes 50"] {
        let line = format!("multiclass data.svm --costs costs {options} --witness -o model");
        exact.confirms(&desk.train(&line), &ModelFile::parse(&desk.read("model")));
        let checked = desk.certify("model", "data.svm");
        exact.confirms(&checked, &ModelFile::parse(&desk.read("model")));
    }
    desk.train("multiclass data.svm --costs costs -o model");
    desk.train("multiclass data.svm --costs turned -o turned.model");
    assert!(desk.read("model") == desk.read("turned.model"), "labels may stand in any order");
}

#[test]
fn costs_of_one_are_the_default() {
    let (desk, data) = (Desk::new(), Table::new(30, 4, 3, 8));
    desk.write("data.svm", data.text());
    desk.write("costs", "1 2 3\n1 0 1 1\n2 1 0 1\n3 1 1 0\n");
    let weights = |options: &str| {
        desk.train(&format!("multiclass data.svm {options} -o model"));
        ModelFile::parse(&desk.read("model")).weights()
    };
    assert_eq!(weights(""), weights("--costs costs"));
}
