//! Data files: the same data, the same models, and the same certificates as from text.

use super::table;
use crate::common::{Desk, interval, number};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("data.svm", table().text());
    desk.run("convert data.svm -o data.mapped -q").ok();
    desk
}

#[test]
fn a_model_of_either_form_is_certified_on_the_other() {
    let desk = desk();
    for line in [
        "multiclass DATA --lambda 0.1",
        "multiclass DATA --loss softmax --intercept --lambda 0.1",
        "regression DATA --loss squared --intercept --lambda 0.1",
        "regression DATA --loss huber --width 1 --l1 0.01 --lambda 0.1",
        "regression DATA --loss squared --lambda 0 --l1 0.2",
        "multiclass DATA --scale rms --lambda 0.1",
        "multiclass DATA --kernel rbf --gamma 0.5 --lambda 0.1",
    ] {
        let train = |data: &str| {
            let line = line.replace("DATA", data);
            desk.train(&format!("{line} --tolerance 0.001 --witness -o {data}.model"))
        };
        let (text, mapped) = (train("data.svm"), train("data.mapped"));
        // Coordinate descent would copy the data by columns, so that a run on mapped ones may go another way.
        if !line.contains("--l1 0.01") {
            assert_eq!(interval(&text), interval(&mapped), "{line}");
        }
        for data in ["data.svm", "data.mapped"] {
            for model in ["data.svm.model", "data.mapped.model"] {
                assert_eq!(desk.certify(model, data)["certified"], true, "{line}");
            }
            desk.run(&format!("predict data.mapped.model {data} -o {data}.out -q")).ok();
        }
        assert_eq!(desk.read("data.svm.out"), desk.read("data.mapped.out"), "{line}");
        let errors =
            |data: &str| desk.run(&format!("eval data.svm.model {data} --json")).ok().json();
        let (mut one, mut other) = (errors("data.svm"), errors("data.mapped"));
        for json in [&mut one, &mut other] {
            if let Some(fields) = json.as_object_mut() {
                fields.retain(|name, _| name != "data" && !name.contains("seconds"));
            }
        }
        assert_eq!(one, other);
    }
}

#[test]
fn it_comes_back_as_the_text_it_was() {
    let desk = desk();
    assert_eq!(desk.run("convert data.mapped -q").ok().stdout, table().text());
    let json = desk.run("convert data.svm -o other.mapped --json").ok().json();
    assert_eq!((number(&json, "n"), number(&json, "value_bits")), (60.0, 64.0));
    assert_eq!(desk.read("other.mapped"), desk.read("data.mapped"));
    let told = desk.run("convert data.svm -o other.mapped").ok().stdout;
    assert!(told.contains("other.mapped") && told.contains(json["fingerprint"].as_str().unwrap()));
    // No spool and no half of a file is left.
    assert_eq!(desk.files(), ["data.mapped", "data.svm", "other.mapped"]);
}

#[test]
fn a_table_keeps_its_names() {
    let desk = Desk::new();
    desk.write("train.csv", "width,colour,species\n1.5,red,rose\n0,blue,iris\n-2e-3,red,lily\n");
    desk.write("new.csv", "colour,width\nblue,3\ngreen,0\n");
    desk.run("convert train.csv -o train.mapped -q").ok();
    desk.run("train multiclass train.mapped --lambda 0.1 --witness -o model -q").ok();
    assert_eq!(desk.certify("model", "train.csv")["certified"], true);
    desk.run("train multiclass train.csv --lambda 0.1 -o of-text -q").ok();
    let told = |model: &str| desk.run(&format!("predict {model} new.csv")).ok().stdout;
    assert_eq!(told("model"), told("of-text"));
    desk.run("train multiclass train.mapped --label species").fails(&["says itself how"]);
    desk.run("train multiclass train.mapped --format csv").fails(&["says itself how"]);
}

#[test]
fn folds_and_grids_go_as_with_text() {
    let desk = desk();
    let cv = |data: &str| {
        let line = format!("cv multiclass {data} --from 1 --to 0.01 --count 3 --folds 3 -q");
        desk.run(&format!("{line} --table {data}.tsv -o {data}.model")).ok();
        desk.read(&format!("{data}.tsv"))
    };
    assert_eq!(cv("data.svm"), cv("data.mapped"));
    desk.run("path regression data.mapped --from 1 --to 0.1 --witness -o folder -q").ok();
    desk.run("certify folder data.mapped").ok();
    desk.run("certify folder data.svm").ok();
    let line = "multiclass data.mapped --lambda 0.01";
    desk.resumes(line, "checkpoint");
}

#[test]
fn what_was_altered_or_is_something_else_is_refused() {
    let desk = desk();
    desk.run("train multiclass data.svm --lambda 0.1 --witness -o model -q").ok();
    let whole = desk.read("data.mapped");
    let refused = |bytes: &[u8], words: &[&str]| {
        desk.write("bad.mapped", bytes);
        desk.run("certify model bad.mapped").fails(words);
        desk.run("train multiclass bad.mapped --lambda 0.1").fails(words);
    };
    // A byte of every array, of the header and of the end; the library's tests flip every one.
    for at in (70..whole.len()).step_by(whole.len() / 12) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        refused(&bytes, &["bad.mapped", "convert the data again"]);
    }
    for length in [30, 100, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..length], &["bad.mapped: is cut off"]);
    }
    let newer = [b"dualgap data file 2\n", &whole[20..]].concat();
    refused(&newer, &["format version 2"]);
    desk.run("convert data.svm --save-map a.map -o a.svm -q").ok();
    let map = String::from_utf8(desk.read("a.map")).unwrap();
    let posing = map.replacen("dualgap map 1", "dualgap data file 1", 1);
    refused(posing.as_bytes(), &["cut off"]);
    desk.run("inspect data.mapped").fails(&["data.mapped", "is a data file and no model"]);
    // Other data with digests of their own are other data.
    desk.write("other.svm", table().text().replacen(':', ":1", 1));
    desk.run("convert other.svm -o other.mapped -q").ok();
    desk.run("certify model other.mapped").fails(&["fingerprint"]);
}

#[test]
fn what_a_data_file_cannot_have_is_told() {
    let desk = desk();
    desk.write("sets.svm", "1,2 1:1\n2 2:1\n");
    desk.run("convert sets.svm -o sets.mapped").fails(&["sets.svm:1: "]);
    desk.run("train multilabel data.mapped --ball trace --radius 2")
        .fails(&["one class or number"]);
    desk.run("convert data.svm --random-binning 3 -o b.mapped").refuses(&["--random-binning"]);
    desk.run("convert data.mapped -o again.mapped").fails(&["is a data file already"]);
    desk.write("bad.svm", "1 1:1\n1 1:x\n");
    desk.run("convert bad.svm -o b.mapped").fails(&["bad.svm:2: "]);
    desk.run("convert data.svm -o none/b.mapped").fails(&["none/b.mapped"]);
    assert!(!desk.path("b.mapped").exists());
    let mut program = assert_cmd::Command::new(crate::common::program());
    let run = program.args(["train", "multiclass", "-"]).write_stdin(desk.read("data.mapped"));
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("name the data file itself"));
}
