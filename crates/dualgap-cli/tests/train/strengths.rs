//! Strengths that data decide: fractions of the largest l1 penalty, and numbers that held-out data choose.

use crate::common::{Desk, Table, number};
use serde_json::Value;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("two.svm", Table::new(60, 5, 2, 1).text());
    desk.write("three.svm", Table::new(60, 5, 3, 3).text());
    desk.write("numbers.svm", Table::new(60, 5, 9, 4).text());
    desk
}

#[test]
fn a_fraction_is_that_of_the_largest_and_the_model_has_the_number() {
    let desk = desk();
    for task in [
        "regression numbers.svm --intercept",
        "regression numbers.svm --loss huber --scale rms --nonnegative",
        "binary two.svm --loss logistic --intercept --class-weights balanced",
        "binary two.svm --loss squared-hinge",
        "multiclass three.svm --loss softmax",
    ] {
        let data = task.split(' ').nth(1).unwrap();
        let at = |fraction: &str| {
            desk.train(&format!(
                "{task} --lambda 0 --l1 {fraction} --tolerance 1e-6 --witness -o model"
            ))
        };
        let tenth = at("0.1max");
        let most = number(&tenth, "l1_max");
        assert_eq!(number(&tenth, "l1"), 0.1 * most, "{task}");
        assert!(number(&tenth, "nonzero_weights") > 0.0, "{task}");
        let proved = desk.certify("model", data);
        assert_eq!(number(&proved["problem"]["penalty"], "l1"), 0.1 * most, "{task}");
        let none = at("1max");
        let free = f64::from(u8::from(task.contains("--intercept")));
        assert!(number(&none, "nonzero_weights") <= free, "{task}: {none}");
        let text = desk.run(&format!("train {task} --lambda 0 --l1 0.5max")).ok().stdout;
        assert!(text.contains("l1 max"), "{text}");
    }
    let given = desk.train("regression numbers.svm --lambda 0 --l1 0.01");
    assert_eq!(given["l1_max"], Value::Null, "a number is no fraction");
    let net = desk.train("regression numbers.svm --lambda 0.1l1 --l1 0.2max");
    assert_eq!(number(&net, "lambda"), 0.1 * number(&net, "l1"));
}

#[test]
fn strengths_that_make_no_sense_are_refused() {
    let desk = desk();
    for bad in ["1.5max", "0max", "max", "-0.1max", "nanmax", "0.1l1", "x", "-1", "AUTO"] {
        desk.run(&format!("train binary two.svm --l1 {bad}")).refuses(&["--l1"]);
    }
    for bad in ["0.1max", "0l1", "-1l1", "auto2"] {
        desk.run(&format!("train binary two.svm --lambda {bad}")).refuses(&["--lambda"]);
    }
    desk.run("train binary two.svm --lambda 0.1l1").refuses(&["--l1"]);
    let ball = "train binary two.svm --ball l1";
    desk.run(&format!("{ball} --radius 2 --mu 0.1max")).refuses(&["--mu"]);
    desk.run(&format!("{ball} --radius 0.1max")).refuses(&["--radius"]);
    desk.run(&format!("{ball} --radius 2 --l1 0.1max")).refuses(&["--l1"]);
    desk.run("train binary two.svm --radius auto").refuses(&["--ball"]);
    desk.run("train binary two.svm --lambda auto --l1 auto").refuses(&["one number at a time"]);
    desk.run("train binary two.svm --l1 auto --accuracy 0.1").refuses(&["--accuracy"]);
    desk.run("cv binary two.svm --l1 auto").refuses(&["--over l1"]);
    desk.run("path binary two.svm --l1 auto -o out").refuses(&["--l1 auto"]);
    desk.write("weights", "0\n0\n0\n0\n0\n");
    desk.run("appraise binary two.svm --weights weights --lambda auto").refuses(&["auto"]);
    desk.write("few.svm", "1 1:1\n2 1:2\n1 1:0.5\n2 1:3\n");
    desk.run("train binary few.svm --lambda auto").fails(&["too few", "give --lambda"]);
    desk.write("same.svm", "1 1:0\n".repeat(20));
    desk.run("train regression same.svm --lambda 0 --l1 auto").fails(&["give --l1"]);
}

/// The errors of the candidates of `cv`, and of the numbers that `auto` has tried.
fn errors(found: &Value, name: &str) -> Vec<(f64, f64)> {
    let pair = |one: &Value| (number(one, name), number(one, "error"));
    found["candidates"].as_array().unwrap().iter().map(pair).collect()
}

#[test]
fn what_chooses_itself_is_what_cross_validation_finds() {
    let desk = desk();
    for (task, auto, over, grid) in [
        ("regression numbers.svm --intercept", "--lambda 0 --l1 auto", "l1", "--over l1"),
        (
            "binary two.svm --loss logistic",
            "--lambda auto",
            "lambda",
            "--from 1000/n --to 0.01/n --count 11",
        ),
    ] {
        let json = desk.train(&format!("{task} {auto} --seed 3 -o model"));
        let told = &json["auto"];
        assert_eq!((&told["over"], &told["folds"]), (&over.into(), &5.into()));
        let found = desk.run(&format!("cv {task} {grid} --seed 3 --json")).ok().json();
        assert_eq!(errors(told, "value"), errors(&found, over), "{task}");
        assert_eq!(
            (number(told, "chosen"), number(&json, over)),
            (number(&found, "best"), number(&found, "best"))
        );
        let again = desk.train(&format!("{task} {auto} --seed 3 --threads 1"));
        assert_eq!(again["auto"], *told, "{task}");
        let rest = if over == "l1" { "--lambda 0 --l1" } else { "--lambda" };
        let by_hand = desk.train(&format!("{task} {rest} {} --seed 3", number(told, "chosen")));
        assert_eq!(number(&by_hand, "primal"), number(&json, "primal"));
        let text = desk.run(&format!("train {task} {auto} --seed 3")).ok().stdout;
        assert!(text.contains("auto") && text.contains("5 folds"), "{text}");
    }
}

#[test]
fn a_radius_chooses_itself_in_any_ball() {
    let desk = desk();
    for line in
        ["regression numbers.svm --ball l1", "multiclass three.svm --ball trace --loss softmax"]
    {
        let json = desk.train(&format!("{line} --radius auto"));
        let told = &json["auto"];
        let tried = errors(told, "value");
        assert!(tried.len() >= 3 && tried.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told}");
        let least = tried.iter().map(|pair| pair.1).fold(f64::INFINITY, f64::min);
        let chosen = number(&json["ball"], "radius");
        assert_eq!(number(told, "chosen"), chosen);
        assert!(tried.iter().any(|&(radius, error)| radius == chosen && error == least), "{told}");
    }
}
