//! Classes and numbers as files spell them.

use crate::common::{Desk, interval, overlap};
use crate::linear::numbers::Numbers;

#[test]
fn two_classes_may_have_any_two_numbers_for_names() {
    let desk = Desk::new();
    let line = "--lambda 0.05 --tolerance 1e-7 --intercept --witness -o model";
    let mut intervals = Vec::new();
    for names in [["0", "1"], ["1", "2"], ["-1", "+1"], ["-1", "1"], ["3", "20"]] {
        let data = Numbers::binary(40, 3, names);
        desk.write("data.svm", data.text());
        intervals.push(interval(&desk.train(&format!("binary data.svm {line}"))));
        assert_eq!(desk.certify("model", "data.svm")["dual_proved"], true);
        let told = desk.run("predict model data.svm --scores").ok().stdout;
        for line in told.lines() {
            let (label, score) = line.split_once('\t').unwrap();
            let class = usize::from(score.parse::<f64>().unwrap() > 0.0);
            assert_eq!(label, names[class].trim_start_matches('+'), "{names:?}");
        }
    }
    // The same rows in the same two classes are the same problem.
    for &other in &intervals {
        assert!(overlap(other, intervals[0]), "{intervals:?}");
    }
}

const TABLE: &str = "size,colour,price,kind
1.2,red,3.4,flat
2.0,blue,4.1,house
0.4,red,1.9,flat
2.8,blue,5.5,house
1.9,red,4.6,house
0.9,blue,1.7,flat
2.2,red,5.6,house
1.1,blue,2.4,flat
";

#[test]
fn classes_of_a_table_have_names() {
    let desk = Desk::new();
    desk.write("table.csv", TABLE);
    for label in ["kind", "colour"] {
        desk.train(&format!("binary table.csv --label {label} --loss logistic --witness -o model"));
        assert_eq!(desk.certify("model", "table.csv")["dual_proved"], true);
        let names: &[&str] = if label == "kind" { &["flat", "house"] } else { &["blue", "red"] };
        let told = desk.run("predict model table.csv --probabilities").ok().stdout;
        assert_eq!(told.lines().count(), 8);
        for line in told.lines() {
            let (name, p) = line.split_once('\t').unwrap();
            // The second class is the one that comes later in the alphabet.
            assert_eq!(name, names[usize::from(p.parse::<f64>().unwrap() > 0.5)]);
        }
        desk.run("eval model table.csv").ok();
    }
}

#[test]
fn a_column_of_numbers_is_what_a_table_is_asked_for() {
    let desk = Desk::new();
    desk.write("table.csv", TABLE);
    desk.train(
        "regression table.csv --label price --intercept --tolerance 1e-6 --witness -o model",
    );
    assert_eq!(desk.certify("model", "table.csv")["dual_proved"], true);
    let shown = desk.run("inspect model --weights -").ok().stdout;
    let weight = |feature: &str| -> f64 {
        let line = shown.lines().find(|line| line.split('\t').nth(1) == Some(feature));
        line.map_or(0.0, |line| line.split('\t').next_back().unwrap().parse().unwrap())
    };
    let told = desk.run("predict model table.csv").ok().stdout;
    for (line, told) in TABLE.lines().skip(1).zip(told.lines()) {
        let cells: Vec<&str> = line.split(',').collect();
        let own = weight("size") * cells[0].parse::<f64>().unwrap()
            + weight(&format!("colour={}", cells[1]))
            + weight(&format!("kind={}", cells[3]))
            + weight("(constant)");
        assert!((told.parse::<f64>().unwrap() - own).abs() < 1e-12, "{line}: {told} {own}");
    }
}
