//! CRFsuite's attribute files.

use crate::common::Desk;
use crate::own_files::column;
use crate::own_files::sentences::Sentences;

#[test]
fn a_column_file_and_its_attributes_give_the_same_model() {
    let desk = Desk::new();
    desk.write("train.txt", Sentences::new(40, 1).labelled());
    desk.write("test.txt", Sentences::new(20, 2).labelled());
    desk.run("convert train.txt --attributes -q -o train.crf").ok();
    let text = String::from_utf8(desk.read("train.crf")).unwrap();
    assert!(text.starts_with("B-NP\t") || text.starts_with("O\t"), "{text:.200}");
    let weights = |file: &str| {
        let json = desk.train(&format!("chain {file} --passes 5 -o {file}.model"));
        (desk.run(&format!("inspect {file}.model --weights -")).ok().stdout, json["primal"].clone())
    };
    assert_eq!(weights("train.txt"), weights("train.crf"));
    // Names with a colon were escaped, and are read as they were.
    let told = desk.run("inspect train.crf.model").ok().stdout;
    assert!(told.contains("CRFsuite"), "{told}");
    let labels: Vec<String> = column(&desk.run("predict train.txt.model train.txt").ok().stdout, 3)
        .iter()
        .map(|sentence| {
            sentence.iter().map(|label| format!("{label}\n")).collect::<String>() + "\n"
        })
        .collect();
    let bare: String = text
        .lines()
        .map(|line| match line.split_once('\t') {
            Some((_, attributes)) => format!("\t{attributes}\n"),
            None => "\n".into(),
        })
        .collect();
    desk.write("bare.crf", bare);
    assert_eq!(desk.run("predict train.crf.model bare.crf").ok().stdout, labels.concat());
    assert!(desk.run("eval train.crf.model train.crf").ok().stdout.contains("F1"));
    desk.run("train chain train.crf --test bare.crf").fails(&["bare.crf", "no labels"]);
}

#[test]
fn values_are_real_numbers_and_mistakes_are_told() {
    let desk = Desk::new();
    let text = "A\tw=x\tlength:0.5\nB\tw=y\tlength:-2\n\n".repeat(10);
    desk.write("train.crf", &text);
    let json = desk.train("chain train.crf --format crfsuite --tolerance 0.01 -o model");
    assert_eq!(json["n"], 10);
    let weights = desk.run("inspect model --weights -").ok().stdout;
    assert!(weights.contains("\tlength\t"), "{weights}");
    desk.write("bad.crf", text.replace("0.5", "half"));
    desk.run("train chain bad.crf --format crfsuite").fails(&["bad.crf:1", "half"]);
    desk.run("train chain train.crf --min-count 2").refuses(&["--min-count", "--format"]);
}
