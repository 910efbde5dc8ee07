//! Warm starts: another lambda, the same data, more data.

use crate::common::{Desk, Words, interval, number, overlap};

fn desk() -> (Desk, Words) {
    let desk = Desk::new();
    let words = Words::new(60, 8);
    desk.write("words.data", words.text());
    desk.write("half.data", Words(words.0[..30].to_vec()).text());
    (desk, words)
}

#[test]
fn a_warm_start_begins_where_the_model_stood() {
    let (desk, _) = desk();
    let first = desk.train("chain words.data --lambda 0.02 --tolerance 0.02 --witness -o first");
    let again =
        desk.train("chain words.data --lambda 0.02 --tolerance 0 --passes 1 --warm-start first");
    // Line search never lets the dual fall, so it can only be better than that of the model.
    let rounding = number(&first, "rounding_error");
    assert!(number(&again, "dual") >= number(&first, "dual") - rounding);
    let cold = desk.train("chain words.data --lambda 0.02 --tolerance 0 --passes 1");
    assert!(number(&again, "dual") > number(&cold, "dual"));
}

#[test]
fn another_lambda_and_more_data_are_certified_as_from_a_cold_start() {
    let (desk, _) = desk();
    desk.train("chain half.data --lambda 0.05 --tolerance 0.01 --witness -o first");
    for line in [
        "chain half.data --lambda 0.02 --tolerance 0.01",
        "chain words.data --lambda 0.05 --tolerance 0.01",
        "chain words.data --lambda 0.02 --tolerance 0.01 --solver fw",
        "chain words.data --lambda 0.02 --tolerance 0.01 --average weighted",
    ] {
        let cold = desk.train(line);
        let warm = desk.train(&format!("{line} --warm-start first --witness -o second"));
        assert!(overlap(interval(&cold), interval(&warm)), "{line}");
        let data = line.split(' ').nth(1).unwrap();
        assert_eq!(desk.certify("second", data)["dual_proved"], true);
    }
}

#[test]
fn a_warm_start_needs_a_witness() {
    let (desk, _) = desk();
    desk.train("chain words.data --lambda 0.02 --tolerance 0.05 -o bare");
    let run = desk.run("train chain words.data --warm-start bare");
    run.fails(&["bare", "witness"]);
    desk.run("train chain words.data --warm-start words.data").fails(&["words.data"]);
}
