//! Paths of every task, their tables and plots, held against single runs.

use crate::common::{Desk, number, overlap};
use crate::path::{desk, models, walk};
use serde_json::Value;

/// Every task, with something of its own.
const TASKS: [&str; 7] = [
    "binary two.svm --test two-test.svm",
    "binary two.svm --loss logistic --l1 0.01 --intercept",
    "regression numbers.svm --loss squared --scale rms --test numbers.svm",
    "regression numbers.svm --loss absolute --nonnegative --absolute-tolerance 0.05",
    "multiclass three.svm --loss softmax --tolerance 0.03",
    "multiclass three.svm --class-weights balanced",
    "chain words.data --train-folds 1-9 --test-folds 0 --tolerance 0.05",
];

fn text(desk: &Desk, name: &str) -> String {
    String::from_utf8(desk.read(name)).unwrap()
}

#[test]
fn a_path_of_any_task_has_no_holes_and_is_proved_again() {
    for task in TASKS {
        let desk = desk();
        let data = task.split(' ').nth(1).unwrap();
        let path = walk(&desk, &format!("{task} --from 1 --to 0.01 --witness -o out"));
        assert_eq!((&path["complete"], number(&path, "covered_from")), (&Value::from(true), 0.01));
        let models = models(&path);
        assert_eq!((number(&models[0], "lambda"), number(&models[0], "to")), (1.0, 1.0), "{task}");
        assert_eq!(number(&models[models.len() - 1], "from"), 0.01);
        for pair in models.windows(2) {
            assert!(number(&pair[1], "to") >= number(&pair[0], "from"), "{task}: a hole");
        }
        let limit =
            path["tolerance"].as_object().unwrap().values().next().unwrap().as_f64().unwrap();
        for model in models {
            let (from, lambda, to) =
                (number(model, "from"), number(model, "lambda"), number(model, "to"));
            assert!(from <= lambda && lambda <= to, "{model}");
            assert!(number(model, "worst_gap") <= limit * (1.0 + 1e-9), "{model}");
            assert_eq!(model["test_error"].is_number(), task.contains("test"), "{model}");
            let file = format!("out/{}", model["file"].as_str().unwrap());
            let own = desk.certify(&file, data);
            assert_eq!(number(&own, "primal"), number(model, "primal"));
            assert_eq!(number(&own, "lambda"), lambda);
        }
        let proved = desk.certify("out", data);
        assert_eq!((number(&proved, "from"), number(&proved, "to")), (0.01, 1.0));
        assert_eq!(number(&proved, "models"), models.len() as f64);
    }
}

// A run that knows nothing of the path finds the optimum where the path says that it is.
#[test]
fn single_runs_agree_with_the_path() {
    for task in ["binary two.svm --loss hinge", "multiclass three.svm"] {
        let desk = desk();
        let path = walk(&desk, &format!("{task} --from 0.5 --to 0.01 --tolerance 0.02 -o out"));
        for model in models(&path) {
            let line = |tolerance| {
                let lambda = &model["lambda"];
                format!("{task} --lambda {lambda} --tolerance {tolerance}")
            };
            let tight = desk.train(&line(1e-6));
            let (low, high) = (number(&tight, "dual"), number(&tight, "primal"));
            let claimed = (number(model, "dual"), number(model, "primal"));
            assert!(overlap((low - 1e-12, high + 1e-12), claimed), "{tight} {model}");
            assert!(claimed.1 - high <= 0.02 * claimed.1, "{tight} {model}");
        }
    }
}

#[test]
fn the_folder_has_the_models_a_table_a_plot_and_what_json_prints() {
    let desk = desk();
    let line = "path binary two.svm --test two-test.svm --from 1 --to 0.01 -o out --json";
    let run = desk.run(line).ok();
    let count = models(&run.json()).len();
    assert_eq!(text(&desk, "out/path.json"), run.stdout);
    let table = text(&desk, "out/path.tsv");
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len(), count);
    for (row, model) in rows.iter().zip(models(&run.json())) {
        assert_eq!(row.len(), header.len());
        for (name, cell) in header.iter().zip(row) {
            match model[*name].as_f64() {
                Some(value) => assert_eq!(cell.parse::<f64>().unwrap(), value, "{name}"),
                None => assert_eq!(model[*name], *cell, "{name}"),
            }
        }
    }
    let mut files: Vec<String> = std::fs::read_dir(desk.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut expected: Vec<String> = (1..=count).map(|k| format!("model-{k:03}.dualgap")).collect();
    expected.extend(["path.json", "path.svg", "path.tsv"].map(String::from));
    assert_eq!(files, expected);
}

/// The names of all elements of an XML document, which must be well formed.
fn elements(document: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        assert!(!before.contains('>') && !before.contains('&'), "loose signs: {before}");
        let end = start + rest[start..].find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "tags do not match");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap().to_string();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        all.push(format!("{name} {tag}"));
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} are not closed");
    all
}

#[test]
fn the_plot_is_well_formed_and_shows_every_model() {
    for (task, tested) in
        [("binary two.svm --test two-test.svm", true), ("multiclass three.svm", false)]
    {
        let desk = desk();
        let path = walk(&desk, &format!("{task} --from 1 --to 0.01 -o out"));
        let (count, plot) = (models(&path).len(), text(&desk, "out/path.svg"));
        let all = elements(&plot);
        let of_class = |class: &str| {
            all.iter().filter(|tag| tag.contains(&format!("class=\"{class}\""))).count()
        };
        assert!(all[0].starts_with("svg ") && all[0].contains("http://www.w3.org/2000/svg"));
        assert_eq!(of_class("model"), count);
        assert_eq!(of_class("gap"), count);
        assert_eq!((of_class("band"), of_class("upper"), of_class("lower")), (1, 1, 1));
        assert_eq!(of_class("tolerance"), 1);
        assert_eq!(of_class("error"), if tested { count } else { 0 });
        assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
        for label in [">0.01<", ">0.1<", ">1<", ">λ<"] {
            assert!(plot.contains(label), "{label}");
        }
    }
}

#[test]
fn either_end_may_come_first_and_multiples_of_one_over_n_will_do() {
    let desk = desk();
    let down = walk(&desk, "binary two.svm --from 60/n --to 0.6/n -o down");
    let up = walk(&desk, "binary two.svm --from 0.01 --to 1 -o up");
    assert_eq!(down, up);
    let default = walk(&desk, "binary two.svm -o default");
    assert_eq!((number(&default, "from"), number(&default, "to")), (0.1 / 60.0, 100.0 / 60.0));
}

#[test]
fn the_same_path_is_the_same_to_the_last_byte_on_any_number_of_threads() {
    let desk = desk();
    let line = "multiclass three.svm --from 1 --to 0.01 --batch 4";
    walk(&desk, &format!("{line} --threads 1 -o one"));
    walk(&desk, &format!("{line} --threads 2 -o two"));
    for entry in std::fs::read_dir(desk.path("one")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(desk.read(&format!("one/{name}")), desk.read(&format!("two/{name}")), "{name}");
    }
}

#[test]
fn the_table_on_the_terminal_says_what_is_certified() {
    let desk = desk();
    let run = desk.run("path binary two.svm --from 1 --to 0.01 --tolerance 0.02 -o out").ok();
    let said = "Certified: at every lambda from 1 down to 0.01, one of these models has a gap of at most 0.02";
    assert!(run.stdout.contains(said), "{run:#?}");
    let quiet = desk.run("path binary two.svm --from 1 --to 0.01 -o quiet --quiet").ok();
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet:#?}");
}

#[test]
fn models_of_a_path_label_data_like_any_other() {
    let desk = desk();
    let path = walk(&desk, "binary two.svm --test two-test.svm --from 1 --to 0.01 -o out");
    for model in models(&path) {
        let file = model["file"].as_str().unwrap();
        let eval = desk.run(&format!("eval out/{file} two-test.svm --json")).ok().json();
        assert_eq!(number(&eval, "error"), number(model, "test_error"));
    }
}
