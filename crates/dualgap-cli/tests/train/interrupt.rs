//! Ctrl-C: the run ends at once, with a model that is certified and saved.

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::running::Running;
use crate::common::{Desk, Table};

/// Batch Frank-Wolfe with fixed steps is far too slow for a gap of zero.
const ENDLESS: &str =
    "train multiclass data.svm --solver fw --step predefined --tolerance 0 --witness -o model";

#[test]
fn an_interrupt_ends_the_run_with_a_model_that_holds() {
    let (desk, data) = (Desk::new(), Table::new(60, 5, 4, 1));
    desk.write("data.svm", data.text());
    for signal in ["INT", "TERM"] {
        let running = Running::start(&desk, &format!("{ENDLESS} --json"));
        running.send(signal);
        let run = running.end().exits(1);
        let json = run.json();
        assert_eq!(json["stop"], "interrupted", "{signal}");
        assert!(run.stderr.contains("stopping"), "{run:#?}");
        let exact = Problem::multiclass(&data, None, None, 1.0 / 60.0);
        exact.confirms(&json, &ModelFile::parse(&desk.read("model")));
        let checked = desk.certify("model", "data.svm");
        assert_eq!(checked["dual_proved"], true);
        exact.confirms(&checked, &ModelFile::parse(&desk.read("model")));
        std::fs::remove_file(desk.path("model")).unwrap();
        std::fs::remove_file(desk.path("trace")).unwrap();
    }
}

#[test]
fn an_interrupted_run_says_so_in_its_table() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 4, 2).text());
    let running = Running::start(&desk, ENDLESS);
    running.send("INT");
    let run = running.end().exits(1);
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("Certified: ") && last.contains("interrupted"), "{run:#?}");
}

#[test]
fn a_run_that_is_killed_leaves_the_old_model_as_it_was() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 4, 3).text());
    desk.write("model", "the old one");
    let running = Running::start(&desk, ENDLESS);
    running.send("KILL");
    assert_eq!(running.end().code, None);
    assert_eq!(desk.read("model"), b"the old one");
    assert_eq!(desk.files(), ["data.svm", "model", "trace"]);
}

/// Whether the second signal comes in time or the run has ended by then: nothing temporary is left.
#[test]
fn a_second_interrupt_leaves_no_temporary_files() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(60, 5, 4, 4).text());
    for _ in 0..5 {
        desk.write("model", "the old one");
        let kept = "--checkpoint run.ck --checkpoint-every 0.1";
        let running = Running::start(&desk, &format!("{ENDLESS} {kept}"));
        running.send("INT");
        running.send("INT");
        let run = running.end();
        assert!(matches!(run.code, Some(1 | 130)), "{run:#?}");
        let kept = desk.path("run.ck").exists();
        let files = ["data.svm", "model", "run.ck", "trace"];
        assert_eq!(
            desk.files(),
            files.into_iter().filter(|f| kept || *f != "run.ck").collect::<Vec<_>>()
        );
        let old = desk.read("model") == b"the old one";
        assert!(old || dualgap::task::RawModel::open(&desk.path("model")).is_ok());
        for file in ["run.ck", "trace"] {
            let _ = std::fs::remove_file(desk.path(file));
        }
    }
}
