//! Grids of σ and of radii.

use crate::common::{Desk, Table, number};
use serde_json::Value;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("two.svm", Table::new(60, 5, 2, 1).text());
    desk.write("numbers.svm", Table::new(60, 5, 9, 4).text());
    desk
}

fn values(found: &Value, over: &str) -> Vec<f64> {
    found["candidates"].as_array().unwrap().iter().map(|one| number(one, over)).collect()
}

#[test]
fn a_grid_of_l1_has_its_fractions_and_the_model_is_that_of_train() {
    let desk = desk();
    let task = "regression numbers.svm --intercept";
    let most = number(&desk.train(&format!("{task} --lambda 0 --l1 1max")), "l1_max");
    let line = format!("cv {task} --l1s 0.01max,0.5max --folds 3 --json -o model");
    let found = desk.run(&line).ok().json();
    assert_eq!(found["over"], "l1");
    assert_eq!(values(&found, "l1"), [0.5 * most, 0.01 * most]);
    let chosen = number(&found, "chosen");
    let single = desk.train(&format!("{task} --lambda 0 --l1 {chosen} -o single"));
    assert_eq!(number(&single, "primal"), number(&found["refit"], "primal"));
    assert_eq!(desk.read("model"), desk.read("single"));
    let net = format!("cv {task} --l1s 0.1max --lambda 0.1l1 --folds 3 --json -o net");
    let found = desk.run(&net).ok().json();
    assert_eq!(number(&found["refit"], "lambda"), 0.1 * number(&found["refit"], "l1"));
    let whole = desk.run(&format!("cv {task} --over l1 --folds 3 --json")).ok().json();
    let all = values(&whole, "l1");
    assert_eq!((all.len(), all[0]), (13, most));
    let text = desk.run(&format!("cv {task} --over l1 --folds 3 --table t.tsv")).ok().stdout;
    assert!(text.contains("Chosen: l1"), "{text}");
    assert!(String::from_utf8(desk.read("t.tsv")).unwrap().starts_with("l1\t"));
}

#[test]
fn radii_are_tried_from_the_smallest_on() {
    let desk = desk();
    let line =
        "cv binary two.svm --loss logistic --ball l1 --radii 4,0.5,1 --folds 3 --json -o model";
    let found = desk.run(line).ok().json();
    assert_eq!(values(&found, "radius"), [0.5, 1.0, 4.0]);
    let chosen = number(&found, "chosen");
    let single = format!("binary two.svm --loss logistic --ball l1 --radius {chosen} -o single");
    desk.train(&single);
    assert_eq!(desk.read("model"), desk.read("single"));
    desk.run("cv binary two.svm --ball l1 --loss logistic --folds 3 --json").ok();
    desk.run("cv binary two.svm --radii 1,2").refuses(&["ball"]);
    desk.run("cv binary two.svm --ball l1 --radius 2").refuses(&["--radius"]);
    desk.run("cv binary two.svm --l1s 0.1max --l1 0.1").refuses(&["--l1"]);
    desk.run("cv binary two.svm --lambdas 0.1 --l1s 0.1").refuses(&["--l1s"]);
    desk.run("cv binary two.svm --l1s 0").refuses(&["l1"]);
    desk.run("cv binary two.svm --lambda 0.1").refuses(&["--over l1"]);
}
