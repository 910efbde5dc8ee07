//! What the help of a task shows is what the task has: an option that it refuses is in the help of others only.

use crate::common::Desk;
use std::collections::BTreeSet;

/// All tasks, each with the options that it cannot do without.
const TASKS: [(&str, &str); 10] = [
    ("binary", ""),
    ("regression", ""),
    ("multiclass", ""),
    ("multilabel", ""),
    ("multioutput", ""),
    ("chain", ""),
    ("completion", ""),
    ("matching", ""),
    ("phase-retrieval", ""),
    ("affine-rank", "--matrix-columns 1"),
];

/// A value for each option of `train` that takes one.
const VALUES: [(&str, &str); 51] = [
    ("absolute-tolerance", "0.1"),
    ("acceleration", "off"),
    ("average", "none"),
    ("average-after", "5"),
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
    ("encoding", "latin1"),
    ("epsilon", "0.1"),
    ("features", "standard"),
    ("format", "libsvm"),
    ("hamming", "plain"),
    ("hash", "8"),
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

/// A line that declares an option, without its indentation. What is said about one is indented further, and may begin with the name
/// of another.
fn declaration(line: &str) -> Option<&str> {
    let text = line.trim_start();
    (text.starts_with('-') && line.len() - text.len() < 10).then_some(text)
}

/// The options that a help shows, by their long names.
fn shown(help: &str) -> BTreeSet<String> {
    let option = |line: &str| {
        let line = declaration(line)?;
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
    let all: BTreeSet<String> = TASKS.iter().flat_map(|(task, _)| of(task)).collect();
    for (name, _) in VALUES {
        assert!(all.contains(name) || name == "c", "no task has --{name}: {all:?}");
    }
    for (task, needs) in TASKS {
        let shown = of(task);
        assert!(shown.contains("loss") || task == "matching", "{shown:?}");
        for name in all.iter().filter(|name| *name != "help") {
            let value =
                VALUES.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value);
            // No file is read before an option is refused.
            let run =
                desk.run(&format!("train {task} missing {} --{name} {value}", others(needs, name)));
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

/// What a task needs besides an option.
fn others<'n>(needs: &'n str, name: &str) -> &'n str {
    if needs.starts_with(&format!("--{name} ")) { "" } else { needs }
}

/// The values that a help shows of an option.
fn values(help: &str, option: &str) -> Vec<String> {
    let declares = |line: &&str| declaration(line).is_some();
    let names = |line: &&str| {
        declaration(line).is_some_and(|line| line.starts_with(&format!("--{option} ")))
    };
    let of_this = help.lines().skip_while(|line| !names(line)).skip(1);
    let of_this = of_this.take_while(|line| !declares(line));
    let value = |line: &str| Some(line.trim_start().strip_prefix("- ")?.split_once(':')?.0.into());
    of_this.filter_map(value).collect()
}

/// Small data in every format, as far as the task reads it.
fn write_data(desk: &Desk) {
    desk.write("two.svm", "1 1:1\n2 2:1\n1 1:2\n2 2:3\n");
    desk.write("outs.svm", "1,2 1:1\n2,1 2:1\n1,3 1:2\n0,1 2:3\n");
    desk.write("four.svm", "4 1:1\n1 2:1\n1 1:1 2:1\n9 3:1 4:-1\n");
    desk.write("two.csv", "a,b,l\n1,0,1\n0,1,2\n1,1,1\n0,2,2\n");
    desk.write("outs.csv", "a,b,l,m\n1,0,1,3\n0,1,2,2\n1,1,1,4\n0,2,2,1\n");
    desk.write("four.csv", "a,b,c,d,l\n1,0,0,1,1\n0,1,1,0,2\n1,1,0,0,1\n0,2,1,0,2\n");
    desk.write("text", "He 1\nruns 2\n\nShe 1\nsleeps 2\n");
    desk.write("text.crf", "1\tw=He\n2\tw=runs\n\n1\tw=She\n2\tw=sleeps\n");
    desk.write("edges", "0 0 1 a:1\n0 1 0 b:1\n1 0 0 b:1\n1 1 1 a:2\n\n0 0 1 a:1\n0 1 0 b:1\n");
    desk.write("ratings", "a x 1\na y 2\nb x 3\nb y 5\nc x 4\n");
    let letter = |id: usize, letter: char, next: &str, word: usize, place: usize, on: usize| {
        let pixels: Vec<&str> = (0..128).map(|k| if k % 5 == on { "1" } else { "0" }).collect();
        format!("{id}\t{letter}\t{next}\t{word}\t{place}\t0\t{}\n", pixels.join("\t"))
    };
    let words = [
        letter(1, 'a', "2", 1, 1, 0),
        letter(2, 'b', "-1", 1, 2, 1),
        letter(3, 'a', "-1", 2, 1, 0),
    ];
    desk.write("letters.data", words.concat());
}

/// Options under which a run may have what the one in question needs: data, losses, penalties, balls.
fn companions(task: &str) -> (&'static [&'static str], &'static [&'static str]) {
    const ROWS: &[&str] = &["two.svm", "two.csv", "text", "text.crf", "letters.data"];
    const BALLS: &[&str] = &["--ball l1 --radius 1", "--ball trace --radius 1", "--radius 1"];
    match task {
        "binary" => (
            ROWS,
            &[
                "",
                "--loss logistic",
                "--loss logistic --l1 0.1 --lambda 0",
                "--ball l1 --radius 1",
                "--radius 1",
            ],
        ),
        "regression" => (
            ROWS,
            &["", "--l1 0.1 --lambda 0", "--ball l1 --radius 1", "--radius 1", "--loss absolute"],
        ),
        "multiclass" => (
            ROWS,
            &[
                "",
                "--loss softmax",
                "--loss softmax --l1 0.1 --lambda 0",
                "--ball l1 --radius 1",
                "--ball trace --radius 1",
                "--radius 1",
                "--loss smooth-hinge",
            ],
        ),
        "multilabel" => (&["outs.svm", "outs.csv"], BALLS),
        "multioutput" => (&["outs.svm", "outs.csv --label l,m"], BALLS),
        "chain" => (&["text", "text.crf", "letters.data"], &["", "--loss log"]),
        "matching" => (&["edges"], &[""]),
        "completion" => (&["ratings"], &["--radius 4"]),
        "phase-retrieval" => {
            (&["four.svm", "four.csv", "text", "text.crf"], &["--radius 5", "--radius 5 --mu 0.1"])
        }
        "affine-rank" => {
            (&["four.svm", "four.csv", "text", "text.crf"], &["--radius 3", "--radius 3 --mu 0.1"])
        }
        other => panic!("{other}"),
    }
}

/// Every value that is shown is one with which some run ends, and every other one is refused by name.
#[test]
fn a_task_shows_the_values_that_it_takes_and_refuses_others_by_name() {
    let desk = Desk::new();
    write_data(&desk);
    let helps = TASKS.map(|(task, _)| desk.run(&format!("train {task} --help")).ok().stdout);
    for option in ["solver", "format", "option", "loss", "ball"] {
        let of = |help: &String| values(help, option);
        let all: BTreeSet<String> = helps.iter().flat_map(of).collect();
        assert!(all.len() > 2, "--{option}: {all:?}");
        for ((task, needs), help) in TASKS.iter().zip(&helps) {
            let (shown, (data, ways)) = (of(help), companions(task));
            for value in &shown {
                let mut lines = ways.iter().flat_map(|way| {
                    data.iter().map(move |data| {
                        format!("train {task} {data} {needs} {way} --passes 2 --{option} {value}")
                    })
                });
                // An option that is given twice is an error of its own.
                let ended = lines.any(|line| {
                    line.matches(&format!("--{option} ")).count() == 1
                        && desk.run(&line).code != Some(2)
                });
                assert!(ended, "--{option} {value} is shown by {task}, and no run takes it");
            }
            if shown.is_empty() {
                continue; // it is one of the options that the task does not show
            }
            for value in all.iter().filter(|value| !shown.contains(value)) {
                let line = format!("train {task} {} {needs} {}", data[0], ways[0]);
                if line.contains(&format!("--{option} ")) {
                    continue;
                }
                desk.run(&format!("{line} --{option} {value}")).refuses(&[]);
            }
        }
    }
    for (task, line) in [
        ("chain", "text --solver newton"),
        ("chain", "text --solver apg"),
        ("chain", "missing --format csv"),
        ("matching", "edges --solver eg"),
        ("multilabel", "missing --ball l1 --radius 1 --format letters"),
        ("binary", "missing --solver eg"),
        ("completion", "missing --radius 1 --loss absolute"),
    ] {
        let value = line.rsplit(' ').next().unwrap();
        let run = desk.run(&format!("train {task} {line}"));
        let said = format!("{value} does not go with {task}: it takes ");
        assert!(run.stderr.contains(&said) || run.stderr.contains("take --loss"), "{run:#?}");
        run.refuses(&[]);
    }
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
        for (k, (task, _)) in TASKS.into_iter().enumerate() {
            let line = list.lines().find_map(|line| line.trim_start().strip_prefix(task));
            // Where a task has another name, that stands behind what it is about.
            let line = line.map(|line| line.split(" [alias").next().unwrap_or(line));
            let Some(about) = line else {
                assert!(command != "train" && k >= 3, "{command} {task}");
                continue;
            };
            for help in ["-h", "--help"] {
                let told = desk.run(&format!("{command} {task} {help}")).ok().stdout;
                // The list has less room in a line.
                let first = told.lines().next().unwrap();
                assert!(first.starts_with(about.trim()), "{command} {task} {help}");
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
        ("matching", &["ball", "radius", "mu", "constants", "q-norm", "categorical", "encoding"]),
        (
            "phase-retrieval",
            &["lambda", "ball", "accuracy", "bound", "average-after", "warm-start"],
        ),
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
