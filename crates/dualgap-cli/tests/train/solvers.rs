//! Whatever the solver chooses or is told, the optimum is the same, and the report says what was done.

use crate::common::{Desk, Table, Words, interval, overlap};

#[test]
fn every_way_to_the_optimum_ends_there() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 4, 3, 2).text());
    desk.write("words.data", Words::new(20, 2).text());
    for task in ["multiclass data.svm", "chain words.data"] {
        let bracket = interval(&desk.train(&format!("{task} --tolerance 1e-7")));
        for way in [
            "--solver bcfw",
            "--solver bcfw --direction away",
            "--solver bcfw --direction pairwise",
            "--solver bcfw --cache on",
            "--solver bcfw --sampling gap",
            "--solver bcfw --acceleration on",
            "--direction away --sampling gap",
            "--direction pairwise --cache on --acceleration on --batch 3",
            "--cache off --acceleration off",
        ] {
            let run = desk.train(&format!("{task} {way} --tolerance 1e-3 --witness -o model"));
            assert!(overlap(interval(&run), bracket), "{task} {way}: {run}");
            let proved = desk.certify("model", task.split(' ').nth(1).unwrap());
            assert!(overlap(interval(&proved), bracket), "{task} {way}");
        }
    }
}

#[test]
fn the_report_says_what_was_chosen() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(20, 2).text());
    let tactics = |way: &str| {
        let run = desk.train(&format!("chain words.data {way}"));
        run["tactics"].as_array().unwrap().iter().map(ToString::to_string).collect::<String>()
    };
    assert_eq!(tactics("--solver bcfw"), "");
    assert!(tactics("").contains("pairwise"));
    assert!(tactics("--solver bcfw --direction away").contains("away"));
    assert!(tactics("--solver bcfw --cache on").contains("without the oracle"));
    assert!(tactics("--solver bcfw --acceleration on").contains("accelerated from pass 0"));
    let table = desk.run("train chain words.data").ok();
    assert!(table.stdout.contains("tactics"), "{}", table.stdout);
}

// To score the classes that an example's point has is to score them all: a visit without the oracle would be one that nobody counts.
#[test]
fn classes_are_visited_without_the_oracle_only_if_that_is_asked_for() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 6, 4, 3).text());
    let way = "multiclass data.svm --lambda 1e-4 --tolerance 1e-6";
    for (cache, wanted) in [("auto", false), ("off", false), ("on", true)] {
        let tactics = desk.train(&format!("{way} --cache {cache}"))["tactics"].to_string();
        assert_eq!(tactics.contains("without the oracle"), wanted, "{cache}: {tactics}");
    }
    // Steps between classes that an example's point has follow the first one of a visit, but not without a cache.
    let passes = |cache: &str| {
        desk.train(&format!("{way} --acceleration off --cache {cache}"))["passes"].as_f64().unwrap()
    };
    assert!(passes("auto") < passes("off"));
}

// `auto` leaves examples out, the papers' algorithms do not, and what is asked for counts.
#[test]
fn the_papers_solvers_visit_every_example_in_every_pass_unless_asked_otherwise() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 4, 2, 2).text());
    desk.write("words.data", Words::new(20, 2).text());
    for task in ["multiclass data.svm", "chain words.data"] {
        let train = |way: &str| {
            desk.train(&format!(
                "{task} {way} --lambda 0.001 --tolerance 0 --passes 5 --witness -o model"
            ));
            let told = desk.run("inspect model --json").ok().json();
            let shrinks = told["provenance"]["method"]["shrinking"].as_bool().unwrap();
            (desk.read("model"), shrinks)
        };
        for (solver, shrinks) in [("auto", true), ("bcfw", false), ("fw", false)] {
            let [chosen, with, without] = ["", "--shrinking", "--no-shrinking"]
                .map(|option| train(&format!("--solver {solver} {option}")));
            assert_eq!([chosen.1, with.1, without.1], [shrinks, true, false], "{solver}");
            assert!(chosen == if shrinks { with } else { without }, "{task} {solver}");
        }
        desk.run(&format!("train {task} --shrinking --no-shrinking")).refuses(&["--no-shrinking"]);
    }
}

#[test]
fn what_a_task_has_not_is_refused() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1:1\n-1 1:-1\n1 1:0.5\n");
    desk.write("words.data", Words::new(20, 2).text());
    for line in [
        "binary data.svm --direction pairwise",
        "regression data.svm --direction away",
        "binary data.svm --cache on",
        "multiclass data.svm --loss softmax --direction pairwise",
        "chain words.data --solver fw --direction pairwise",
        "chain words.data --step predefined --direction away",
        "chain words.data --step predefined --cache on",
        "chain words.data --solver fw --cache on",
    ] {
        desk.run(&format!("train {line}")).refuses(&["structural"]);
    }
}
