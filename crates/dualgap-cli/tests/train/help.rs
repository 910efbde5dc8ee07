//! What the help of a task shows is what the task has: an option that it refuses is in the help of others only.

use crate::common::Desk;
use std::collections::BTreeSet;

const TASKS: [&str; 7] =
    ["binary", "regression", "multiclass", "multilabel", "multioutput", "chain", "completion"];

/// A value for each option of `train` that takes one.
const VALUES: [(&str, &str); 48] = [
    ("absolute-tolerance", "0.1"),
    ("acceleration", "off"),
    ("average", "none"),
    ("ball", "trace"),
    ("batch", "2"),
    ("beam", "3"),
    ("beam-bound", "off"),
    ("c", "1"),
    ("cache", "on"),
    ("categorical", "x"),
    ("centre", "mean"),
    ("checkpoint", "c"),
    ("checkpoint-every", "1"),
    ("class-weights", "balanced"),
    ("columns", "0,1"),
    ("costs", "missing"),
    ("direction", "away"),
    ("epsilon", "0.1"),
    ("features", "standard"),
    ("format", "libsvm"),
    ("hamming", "plain"),
    ("holdout", "0.1"),
    ("l1", "0.1"),
    ("label", "x"),
    ("lambda", "0.1"),
    ("loss", "smooth-hinge"),
    ("min-count", "2"),
    ("mu", "0.1"),
    ("option", "i"),
    ("oracle-calls", "5"),
    ("output", "o"),
    ("passes", "5"),
    ("radius", "1"),
    ("rescale", "slack"),
    ("resume", "missing"),
    ("sample-weights", "missing"),
    ("sampling", "cyclic"),
    ("scale", "rms"),
    ("seed", "5"),
    ("solver", "fw"),
    ("step", "predefined"),
    ("constants", "s=2"),
    ("test", "missing"),
    ("test-folds", "2"),
    ("threads", "1"),
    ("time", "5"),
    ("tolerance", "0.1"),
    ("train-folds", "1"),
];

/// Of these a task may have one choice: it is then not shown, and may be given all the same.
const ONE_CHOICE: [&str; 3] = ["ball", "cache", "direction"];

/// The options that a help shows, by their long names.
fn shown(help: &str) -> BTreeSet<String> {
    let option = |line: &str| {
        let line = line.trim_start();
        let long = line.split_once(", --").filter(|(short, _)| short.len() == 2);
        let name = long.map(|(_, name)| name).or_else(|| line.strip_prefix("--"))?;
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        Some(name[..end.unwrap_or(name.len())].to_string())
    };
    help.lines().filter_map(option).collect()
}

#[test]
fn a_task_shows_the_options_that_it_has_and_refuses_those_of_others_by_name() {
    let desk = Desk::new();
    let of = |task: &str| shown(&desk.run(&format!("train {task} --help")).ok().stdout);
    let all: BTreeSet<String> = TASKS.iter().flat_map(|task| of(task)).collect();
    for (name, _) in VALUES {
        assert!(all.contains(name) || name == "c", "no task has --{name}: {all:?}");
    }
    for task in TASKS {
        let shown = of(task);
        assert!(shown.contains("loss") || task == "chain", "{shown:?}");
        for name in all.iter().filter(|name| *name != "help") {
            let value =
                VALUES.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value);
            // No file is read before an option is refused.
            let run = desk.run(&format!("train {task} missing --{name} {value}"));
            if shown.contains(name) {
                let refused = run.stderr.contains(&format!("--{name} does not go with {task}"));
                assert!(!refused, "shown and refused: {run:#?}");
                assert!(!run.stderr.contains("unexpected argument"), "{run:#?}");
            } else if !ONE_CHOICE.contains(&&name[..]) || task == "chain" {
                run.refuses(&[&format!("--{name}")]);
            }
        }
    }
    assert_eq!(desk.files(), Vec::<String>::new());
}

#[test]
fn an_option_of_one_choice_takes_no_other() {
    let desk = Desk::new();
    desk.write("two.svm", "1 1:1\n-1 2:1\n1 1:2\n-1 2:3\n");
    desk.write("ratings", "a x 1\na y 2\nb x 3\nb y 5\nc x 4\n");
    for (line, only, others) in [
        ("train binary two.svm --cache", "off", &["on"][..]),
        ("train binary two.svm --direction", "toward", &["away", "pairwise"]),
        ("train regression two.svm --cache", "off", &["on"]),
        ("train completion ratings --radius 4 --ball", "trace", &["l1"]),
    ] {
        desk.run(&format!("{line} {only}")).ok();
        for other in others {
            desk.run(&format!("{line} {other}")).refuses(&[]);
        }
    }
}

#[test]
fn the_help_of_a_task_begins_with_what_it_is_about() {
    let desk = Desk::new();
    for command in ["train", "cv", "path"] {
        let list = desk.run(&format!("{command} --help")).ok().stdout;
        for task in TASKS {
            let line = list.lines().find_map(|line| line.trim_start().strip_prefix(task));
            // Where a task has another name, that stands behind what it is about.
            let line = line.map(|line| line.split(" [alias").next().unwrap_or(line));
            let Some(about) = line else {
                assert!(command != "train" && TASKS[3..].contains(&task), "{command} {task}");
                continue;
            };
            for help in ["-h", "--help"] {
                let told = desk.run(&format!("{command} {task} {help}")).ok().stdout;
                assert_eq!(told.lines().next(), Some(about.trim()), "{command} {task} {help}");
            }
        }
    }
}

/// These are in the help of none but those that have them.
#[test]
fn the_help_of_a_task_is_about_the_task() {
    let desk = Desk::new();
    let of = |task: &str| shown(&desk.run(&format!("train {task} --help")).ok().stdout);
    for (task, absent) in [
        ("chain", &["ball", "radius", "mu", "constants", "q-norm", "categorical"][..]),
        ("multiclass", &["q-norm", "epsilon", "hamming"]),
        ("multilabel", &["lambda", "c", "l1", "step", "warm-start", "average"]),
        ("multioutput", &["lambda", "c", "l1", "step", "warm-start", "average"]),
        ("completion", &["lambda", "ball", "format", "columns", "intercept", "scale"]),
    ] {
        let shown = of(task);
        for name in absent {
            assert!(!shown.contains(*name), "{task} shows --{name}");
        }
    }
}
