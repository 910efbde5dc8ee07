//! `--rescale slack`: trained, stored, proved, and refused where it has no meaning.

use crate::common::{Desk, Table, Words, interval, overlap};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("three.svm", Table::new(30, 5, 3, 2).text());
    desk.write("words.data", Words::new(15, 4).text());
    desk.write("costs", "1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n");
    desk
}

#[test]
fn a_rescaled_run_is_certified_stored_and_proved_again() {
    let desk = desk();
    for line in ["multiclass three.svm --costs costs", "chain words.data"] {
        let data = line.split(' ').nth(1).unwrap();
        let train = |rest: &str| desk.train(&format!("{line} --lambda 0.05 {rest}"));
        let run = train("--rescale slack --tolerance 1e-3 --witness -o model");
        assert_eq!(run["certified"], true, "{run}");
        let proved = desk.certify("model", data);
        assert!(overlap(interval(&run), interval(&proved)));
        assert_eq!(proved["problem"]["rescaling"], "slack");
        let told = desk.run(&format!("certify model {data}")).ok().stdout;
        assert!(told.contains("slack-rescaled"), "{told}");
        assert!(!overlap(interval(&run), interval(&train("--tolerance 1e-3"))), "another problem");

        desk.run(&format!("train {line} --lambda 0.05 --rescale slack --warm-start model")).ok();
        let other = desk.run(&format!("train {line} --lambda 0.05 --warm-start model"));
        assert_eq!(other.code, Some(2), "{other:#?}");
        desk.run(&format!("predict model {data}")).ok();
        desk.run(&format!("eval model {data}")).ok();
        desk.run("inspect model").ok();
        desk.run(&format!("cv {line} --rescale slack --folds 2 --lambdas 1,0.1")).ok();
        let path = "--from 1 --to 0.1 --tolerance 0.1 -o folder";
        desk.run(&format!("path {line} --rescale slack {path}")).ok();
        std::fs::remove_dir_all(desk.path("folder")).unwrap();
    }
}

#[test]
fn slack_rescaling_without_a_hinge_is_refused() {
    let desk = desk();
    for line in [
        "multiclass three.svm --rescale slack --loss softmax",
        "multiclass three.svm --rescale slack --loss smooth-hinge",
        "multiclass three.svm --rescale slack --option i",
        "multiclass three.svm --rescale slack --ball l1 --radius 1",
        "binary three.svm --rescale slack",
        "chain words.data --rescale both",
    ] {
        let run = desk.run(&format!("train {line}"));
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains("--rescale"), "{run:#?}");
    }
}
