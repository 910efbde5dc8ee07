//! Models of bitext: what they predict, what is counted, what is proved.

use super::{desk, rates, toy};
use crate::common::{gzip, interval, number, overlap};

const TRAIN: &str = "train matching pairs --bitext more --train-range 0..25 --test-range 25..40";

/// The lines from the first number to before the second.
fn part(text: &str, begin: usize, end: usize) -> String {
    text.lines().skip(begin).take(end - begin).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_error_rate_is_that_of_the_predicted_links() {
    let desk = desk();
    let json = desk.run(&format!("{TRAIN} -o model --json")).ok().json();
    let all = desk.run("predict model pairs").ok().stdout;
    let toy = toy(40, 1);
    let [aer, precision, recall] = rates(&part(&all, 25, 40), &part(&toy.a, 25, 40));
    assert!((number(&json["test"], "aer") - aer).abs() < 1e-12);
    assert!((number(&json["test"], "precision") - precision).abs() < 1e-12);
    assert!((number(&json["test"], "recall") - recall).abs() < 1e-12);
    assert!(aer < 0.05, "a language without exceptions: {aer}");
    assert_eq!((&json["n"], &json["test"]["examples"]), (&25.into(), &15.into()));
    let [aer, ..] = rates(&all, &toy.a);
    let evaluated = desk.run("eval model pairs --json").ok().json();
    assert!((number(&evaluated, "aer") - aer).abs() < 1e-12);
    let told = desk.run("eval model pairs").ok().stdout;
    assert!(told.contains("(AER), of 40 examples") && told.contains("sure links"), "{told}");
    let told = desk.run(TRAIN).ok().stdout;
    assert!(told.contains("test error") && told.contains("bitext"), "{told}");
}

#[test]
fn a_model_needs_nothing_but_text_and_proves_its_certificate() {
    let desk = desk();
    desk.run(&format!("{TRAIN} -o model --witness")).ok();
    let proof = desk.certify("model", "pairs");
    assert_eq!((&proof["certified"], &proof["n"]), (&true.into(), &25.into()));
    assert_eq!(proof["problem"]["aligner"]["pairs"], 100);
    // Other words, other signs, nothing at all: whatever comes gets a line.
    desk.write("new.e", "the heavy window .\n\nthe zebra\n\u{1b} é 7 .\n");
    desk.write("new.f", "eht wodniw yvaeh .\nx\n\n\u{feff} 7 É\n");
    let told = desk.run("predict model new").ok().stdout;
    assert_eq!(told.lines().next(), Some("0-0 1-2 2-1 3-3"));
    assert_eq!(told.lines().count(), 4);
    desk.run("eval model new").fails(&["no labels"]);
    // Other data are no proof, and neither is the same text with another link.
    let mut other = toy(40, 1);
    other.a = other.a.replacen("0-0", "0?0", 1);
    other.write(&desk, "other");
    desk.run("certify model other").refuses(&["refused"]);
    toy(40, 3).write(&desk, "third");
    desk.run("certify model third").refuses(&["refused"]);
}

#[test]
fn compression_threads_and_repeated_names_make_no_difference() {
    let desk = desk();
    desk.run(&format!("{TRAIN} -o one --threads 1")).ok();
    let toy = toy(40, 1);
    for (ending, text) in [("e", toy.e), ("f", toy.f), ("a", toy.a)] {
        desk.write(&format!("packed.{ending}.gz"), gzip(text.as_bytes()));
    }
    let line = TRAIN.replace("pairs", "packed").replace("more", "more packed more");
    desk.run(&format!("{line} -o two --threads 2")).ok();
    assert_eq!(desk.read("one"), desk.read("two"));
}

#[test]
fn tests_may_be_other_files_and_lambda_may_be_searched() {
    let desk = desk();
    let test = toy(12, 4);
    test.write(&desk, "test");
    let json = desk.train("matching pairs --test test -o model");
    let predicted = desk.run("predict model test").ok().stdout;
    assert!((number(&json["test"], "aer") - rates(&predicted, &test.a)[0]).abs() < 1e-12);
    // The text of the test counts as bitext, its links do not.
    let same = test.a.replace('-', "?");
    desk.write("test.a", same);
    desk.train("matching pairs --test test -o again");
    assert_eq!(desk.read("model"), desk.read("again"));
    let json = desk
        .run("cv matching pairs --train-range 0..20 --folds 2 --lambdas 10/n,1/n -o best --json");
    assert_eq!(json.ok().json()["n"], 20);
    desk.run("certify best pairs").exits(1);
    // Alignments have no classes, of which every fold could have its part; their error is a rate.
    let told = desk.run("cv matching pairs --train-range 0..20 --folds 2 --lambdas 10/n,1/n").ok();
    assert!(told.stdout.contains("2 folds of 20 examples, dealt at random\n"), "{told:#?}");
    let line = told.stderr.lines().find(|line| line.contains(": error ")).unwrap();
    assert!(line.split(", ").next().unwrap().ends_with(" %"), "{line}");
    desk.run("path matching pairs --from 10/n --to 3/n --tolerance 0.2 --witness -o folder").ok();
    desk.run("certify folder pairs").ok();
}

/// With c times the costs and λ, the problem is c times that with the costs and cλ, at weights that are c times as large.
#[test]
fn costs_and_lambda_scale_together() {
    let desk = desk();
    let train = |options: &str| {
        let json = desk.train(&format!("matching pairs --tolerance 1e-4 {options}"));
        (interval(&json), json["primal"].clone())
    };
    let (twice, _) = train("--fp 2 --fn 6 --lambda 0.05");
    let ((low, high), by_default) = train("--lambda 0.1");
    assert!(overlap(twice, (2.0 * low, 2.0 * high)), "{twice:?} {low} {high}");
    assert_eq!(train("--fp 1 --fn 3 --lambda 0.1").1, by_default);
    assert!(!overlap(train("--fp 2 --lambda 0.1").0, (low, high)));
    assert!(!overlap(train("--fn 4 --lambda 0.1").0, (low, high)));
}

#[test]
fn a_run_on_bitext_resumes() {
    desk().resumes("matching pairs --train-range 0..20 --tolerance 0", "kept");
}
