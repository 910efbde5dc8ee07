//! `--kernel`: trained, stored, proved, predicted with, and refused where it has no meaning.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, Words, interval, overlap};
use serde_json::json;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("three.svm", Table::new(40, 5, 3, 2).text());
    desk.write("two.svm", Table::new(40, 5, 2, 3).text());
    desk.write("words.data", Words::new(12, 4).text());
    desk
}

#[test]
fn a_model_under_a_kernel_is_one_like_any_other() {
    let desk = desk();
    for (line, kernel) in [
        ("multiclass three.svm", "rbf"),
        ("binary two.svm", "rbf --gamma 0.5"),
        ("chain words.data", "polynomial --degree 2 --coef0 1"),
    ] {
        let data = line.split(' ').nth(1).unwrap();
        let train = |rest: &str| {
            desk.train(&format!("{line} --lambda 0.05 --tolerance 1e-3 --kernel {kernel} {rest}"))
        };
        let run = train("--witness -o model");
        assert_eq!(run["certified"], true, "{run}");
        let vectors = run["counters"]["support_vectors"].as_u64().unwrap();
        assert!(
            vectors > 0 && run["counters"]["support_bound"].as_u64().unwrap() > vectors,
            "{run}"
        );
        let proved = desk.certify("model", data);
        assert!(overlap(interval(&run), interval(&proved)));
        let name = kernel.split(' ').next().unwrap();
        assert_eq!(proved["problem"]["kernel"]["name"], name);
        let told = desk.run(&format!("certify model {data}")).ok().stdout;
        assert!(told.contains(&format!("{name}, ")), "{told}");
        // With hardly a row of the kernel matrix in memory, the same numbers.
        let small = train("--kernel-cache 0 --threads 2");
        assert_eq!((&small["primal"], &small["dual"]), (&run["primal"], &run["dual"]));
        desk.run(&format!("predict model {data}")).ok();
        let eval = desk.run(&format!("eval model {data} --json")).ok().json();
        assert!(eval["error"].as_f64().is_none_or(|error| error < 0.5), "{eval}");
        desk.resumes(&format!("{line} --lambda 0.05 --kernel {kernel}"), &format!("{data}.kept"));
        desk.run("inspect model").ok();
        desk.run("inspect model --weights w.tsv").ok();
        assert!(String::from_utf8(desk.read("w.tsv")).unwrap().contains("coefficient"));
        desk.run(&format!("cv {line} --kernel {kernel} --folds 2 --lambdas 1,0.1")).ok();
        let warm = format!("train {line} --lambda 0.05 --warm-start model");
        desk.run(&format!("{warm} --kernel {kernel}")).ok();
        assert_eq!(desk.run(&warm).code, Some(2), "a model of another structure");
    }
}

#[test]
fn altered_files_are_refused() {
    let desk = desk();
    desk.train("multiclass three.svm --kernel rbf --gamma 0.5 --lambda 0.05 --witness -o model");
    let honest = ModelFile::parse(&desk.read("model"));
    let spoil = |name: &str| {
        let mut file = honest.clone();
        let mut values = file.floats(name);
        values[0] += 0.01;
        file.set_floats(name, &values);
        file
    };
    let inputs = if honest.tensors.contains_key("support.dense") {
        "support.dense"
    } else {
        "support.values"
    };
    let mut other = honest.clone();
    let mut examples = other.words("support.examples");
    let last = examples.len() - 1;
    examples[last] = 1 << 40;
    other.set_words("support.examples", &examples);
    for (what, file) in [
        ("a coefficient", spoil("coefficients")),
        ("an input", spoil(inputs)),
        ("an example", other),
        ("gamma", honest.with_header(|h| h["task"]["structure"]["kernel"]["gamma"] = json!(0.501))),
        (
            "no gamma",
            honest.with_header(|h| h["task"]["structure"]["kernel"]["gamma"] = json!(null)),
        ),
        (
            "a bad one",
            honest.with_header(|h| h["task"]["structure"]["kernel"]["gamma"] = json!(-1.0)),
        ),
    ] {
        desk.write("forged", file.sealed());
        let run = desk.run("certify forged three.svm");
        assert_eq!(run.code, Some(2), "{what}: {run:#?}");
    }
    desk.write("honest", honest.sealed());
    desk.run("certify honest three.svm").ok();
}

#[test]
fn what_has_no_meaning_under_a_kernel_is_refused() {
    let desk = desk();
    for line in [
        "train multiclass three.svm --kernel rbf --gamma 0",
        "train multiclass three.svm --kernel rbf --gamma nan",
        "train multiclass three.svm --kernel rbf --degree 2",
        "train multiclass three.svm --kernel linear --gamma 1",
        "train multiclass three.svm --kernel polynomial --degree 0",
        "train multiclass three.svm --kernel polynomial --coef0 -1",
        "train multiclass three.svm --gamma 1",
        "train multiclass three.svm --kernel rbf --l1 0.1",
        "train multiclass three.svm --kernel rbf --nonnegative",
        "train multiclass three.svm --kernel rbf --loss softmax",
        "train multiclass three.svm --kernel rbf --rescale slack",
        "train multiclass three.svm --kernel rbf --scale max",
        "train multiclass three.svm --kernel rbf --option i",
        "train multiclass three.svm --kernel rbf --acceleration on",
        "train multiclass three.svm --kernel rbf --ball l1 --radius 1 --loss smooth-hinge",
        "train binary two.svm --kernel rbf --intercept",
        "train binary two.svm --kernel rbf --q-norm",
        "train chain words.data --kernel rbf --beam 2",
        "path multiclass three.svm --kernel rbf -o folder",
    ] {
        let run = desk.run(line);
        assert_eq!(run.code, Some(2), "{line}: {run:#?}");
    }
    assert!(!desk.path("folder").exists());
}
