//! Numbers are predicted for data without labels, too, whatever the format.

use crate::common::Desk;

fn predicted(desk: &Desk, line: &str) -> Vec<f64> {
    let text = desk.run(line).ok().stdout;
    let last = |line: &str| line.rsplit([' ', '\t']).next().unwrap().parse().unwrap();
    text.lines().filter(|line| !line.is_empty()).map(last).collect()
}

#[test]
fn libsvm_csv_and_column_files_may_go_without_labels() {
    let desk = Desk::new();
    desk.write("n.svm", "2 1:1\n4 1:2\n6 1:3\n");
    desk.write("bare.svm", "1:1\n1:2\n1:3\n");
    desk.write("n.csv", "x,y\n1,2\n2,4\n3,6\n");
    desk.write("bare.csv", "x\n1\n2\n3\n");
    desk.write("n.txt", "a 2\nb 4\n\nc 6\n");
    desk.write("bare.txt", "a\nb\n\nc\n");
    for (kind, more) in [("svm", ""), ("csv", ""), ("txt", " --format columns")] {
        let line = format!("regression n.{kind} --lambda 1e-6 --tolerance 1e-6 -o {kind}{more}");
        desk.train(&line);
        let with = predicted(&desk, &format!("predict {kind} n.{kind}"));
        let without = predicted(&desk, &format!("predict {kind} bare.{kind}"));
        assert_eq!(with, without);
        for (y, expected) in with.iter().zip([2.0, 4.0, 6.0]) {
            assert!((y - expected).abs() < 0.01, "{kind}: {with:?}");
        }
        desk.run(&format!("eval {kind} bare.{kind}")).fails(&["bare", "no labels"]);
    }
}

#[test]
fn an_example_without_features_is_at_its_bound() {
    let desk = Desk::new();
    desk.write("empty.svm", "1\n2 1:0.5\n");
    for loss in ["absolute", "epsilon-insensitive", "squared", "huber"] {
        desk.train(&format!("regression empty.svm --loss {loss} --lambda 0.1 --tolerance 1e-6"));
    }
}
