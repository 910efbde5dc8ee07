//! The right file beside the wrong data.

use crate::common::{Table, Words};
use crate::forgeries::{Case, Kind};

/// What is said when the data are not those of the training run.
const OTHER_DATA: [&str; 3] = ["refused", "not the data", "fingerprint"];

/// Writes other data and certifies the honest model against them.
#[track_caller]
fn refused(case: &Case, text: &str) {
    case.desk.write("other", text);
    case.desk.run("certify model other").fails(&OTHER_DATA);
}

#[test]
fn examples_that_differ_in_anything_are_refused() {
    let case = Case::multiclass();
    let Kind::Multiclass(honest) = &case.kind else { unreachable!() };
    let changed = |change: &dyn Fn(&mut Table)| {
        let mut data = honest.clone();
        change(&mut data);
        data.text()
    };
    // The control: the same data under another name.
    case.desk.write("other", honest.text());
    case.desk.run("certify model other").ok();

    refused(&case, &changed(&|data| data.rows[5][3] += 0.001));
    refused(&case, &changed(&|data| data.rows[5][3] = -data.rows[5][3]));
    refused(
        &case,
        &changed(&|data| data.rows[5][3] = f64::from_bits(data.rows[5][3].to_bits() + 1)),
    );
    refused(&case, &changed(&|data| data.labels[7] = (data.labels[7] + 1) % 3));
    refused(&case, &changed(&|data| data.rows.swap(2, 5)));
    refused(&case, &changed(&|data| data.labels.swap(0, 1)));
    refused(&case, &changed(&|data| data.rows.iter_mut().for_each(|row| row.insert(0, 0.0))));
    let all: Vec<usize> = (0..12).collect();
    refused(&case, &honest.select(&all[1..]).text());
    refused(&case, &honest.select(&all[..11]).text());
    refused(&case, &honest.select(&[&all[..], &[0]].concat()).text());
    refused(&case, &honest.select(&[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]).text());
    // Labels by another name, and a wider file.
    refused(&case, &honest.text().replace("\n3 ", "\n4 "));
    refused(&case, &honest.text().replacen('\n', " 9:1\n", 1));
}

#[test]
fn words_that_differ_in_anything_are_refused() {
    let case = Case::chain();
    let Kind::Chain(honest) = &case.kind else { unreachable!() };
    let changed = |change: &dyn Fn(&mut Words)| {
        let mut data = honest.clone();
        change(&mut data);
        data.text()
    };
    refused(&case, &changed(&|data| data.0[3].pixels[1].insert(0, 1)));
    refused(&case, &changed(&|data| data.0[3].letters[1] = (data.0[3].letters[1] + 1) % 3));
    refused(&case, &changed(&|data| data.0.swap(1, 5)));
    refused(&case, &changed(&|data| drop(data.0.remove(4))));
    refused(&case, &changed(&|data| drop(data.0.pop())));
    // The same letters in the same order, but one word ends earlier.
    let split = changed(&|data| {
        let mut rest = data.0[3].clone();
        rest.letters.drain(..2);
        rest.pixels.drain(..2);
        data.0[3].letters.truncate(2);
        data.0[3].pixels.truncate(2);
        data.0.insert(4, rest);
    });
    refused(&case, &split);
    // The folds are no part of a model that was trained on all of them.
    case.desk.write("other", changed(&|data| data.0[3].fold = 9));
    case.desk.run("certify model other").ok();
}

#[test]
fn folds_that_lose_or_gain_a_word_are_refused() {
    let case = Case::chain();
    let Kind::Chain(honest) = &case.kind else { unreachable!() };
    case.desk.train("chain words.data --train-folds 0-4 --witness -o model");
    case.desk.run("certify model words.data").ok();
    for (word, fold) in [(3, 7), (7, 3)] {
        let mut other = honest.clone();
        other.0[word].fold = fold;
        refused(&case, &other.text());
    }
    let mut unrelated = honest.clone();
    unrelated.0[7].pixels[0].clear();
    case.desk.write("other", unrelated.text());
    case.desk.run("certify model other").ok();
}

#[test]
fn data_that_cannot_be_read_are_an_error_that_names_them() {
    for case in Case::both() {
        case.desk.write("empty", "");
        case.desk.write("garbage", [0xff, 0x00, 0x80, 0x0a].repeat(50));
        case.desk.run("certify model missing").fails(&["missing"]);
        case.desk.run("certify model .").fails(&["folder"]);
        case.desk.run("certify model empty").fails(&["empty"]);
        case.desk.run("certify model garbage").fails(&["garbage:1"]);
    }
}

#[test]
fn a_model_of_one_task_is_refused_beside_the_data_of_another() {
    let (multiclass, chain) = (Case::multiclass(), Case::chain());
    multiclass.desk.write("words.data", chain.desk.read("words.data"));
    chain.desk.write("data.svm", multiclass.desk.read("data.svm"));
    multiclass.desk.run("certify model words.data").fails(&["words.data:1"]);
    chain.desk.run("certify model data.svm").fails(&["data.svm:1"]);
}
