//! Without grids: the same numbers in another format.

use super::{gunzip, parse, table};
use crate::common::{Desk, Words, gzip, program};

const TRAIN: &str = "width,colour,species\n1.5,red,rose\n0,blue,iris\n-2e-3,red,lily\n";

#[test]
fn a_libsvm_file_comes_back_as_it_was() {
    let desk = Desk::new();
    let text = table().text();
    desk.write("data.svm", &text);
    assert_eq!(desk.run("convert data.svm -q").ok().stdout, text);
    desk.write("data.svm.gz", gzip(text.as_bytes()));
    let run = desk.run("convert data.svm.gz -o out.svm.gz").ok();
    assert!(run.stdout.contains("60") && run.stdout.contains("out.svm.gz"), "{run:#?}");
    assert_eq!(gunzip(&desk.read("out.svm.gz")), text);
    for name in ["out.svm.bz2", "out.svm.zst", "out.svm"] {
        desk.run(&format!("convert out.svm.gz -o {name} -q")).ok();
        assert_eq!(desk.run(&format!("convert {name} -q")).ok().stdout, text, "{name}");
    }
    assert_ne!(desk.read("out.svm.bz2"), text.as_bytes());
    assert_ne!(desk.read("out.svm.zst"), text.as_bytes());
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let text = table().text();
    let mut program = assert_cmd::Command::new(program());
    let output = program.args(["convert", "-", "-q"]).write_stdin(gzip(text.as_bytes())).output();
    assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), text);
}

#[test]
fn a_table_becomes_numbers_and_another_the_same_ones() {
    let desk = Desk::new();
    desk.write("train.csv", TRAIN);
    let run = desk.run("convert train.csv --save-map names.map -o train.svm").ok();
    // By letter: iris, lily, rose. Zeros are not written.
    assert!(run.stdout.contains("iris = 1, lily = 2, rose = 3"), "{run:#?}");
    let train = String::from_utf8(desk.read("train.svm")).unwrap();
    assert_eq!(train, "3 1:1.5 2:1\n1 3:1\n2 1:-0.002 2:1\n");
    // Other columns first, a colour that is new, a label that is new.
    desk.write("test.csv", "species,colour,width\nlily,blue,3\nrose,green,1\ntulip,red,0\n");
    let run = desk.run("convert test.csv --map names.map").ok();
    assert_eq!(run.stdout, "2 1:3 3:1\n3 1:1\n4 2:1\n");
    assert!(run.stderr.contains("tulip") && run.stderr.contains("left out"), "{run:#?}");
    // Without labels; a row without features is still a row.
    desk.write("new.csv", "colour,width\nblue,3\ngreen,0\n");
    assert_eq!(desk.run("convert new.csv --map names.map -q").ok().stdout, "1:3 3:1\n1:0\n");
}

#[test]
fn labels_that_are_numbers_stay_as_they_are() {
    let desk = Desk::new();
    desk.write("train.csv", "a,b,y\n1,2,0.5\n3,4,-7\n");
    assert_eq!(desk.run("convert train.csv -q").ok().stdout, "0.5 1:1 2:2\n-7 1:3 2:4\n");
    assert_eq!(desk.run("convert train.csv --label a -q").ok().stdout, "1 1:2 2:0.5\n3 1:4 2:-7\n");
}

#[test]
fn letters_and_tokens_are_examples_too() {
    let desk = Desk::new();
    let words = Words::new(40, 1);
    desk.write("words.data", words.text());
    let all = parse(&desk.run("convert words.data -q").ok().stdout);
    let apart = words.apart();
    assert_eq!(all.len(), apart.len());
    for (i, (label, entries)) in all.iter().enumerate() {
        assert_eq!(label, &(apart.labels[i] + 1).to_string());
        let on = |&(j, _): &(usize, f64)| apart.rows[i][j - 1] == 1.0;
        assert!(entries.iter().all(on), "{entries:?}");
        assert_eq!(entries.len() as f64, apart.rows[i].iter().sum::<f64>());
    }
    let part = parse(&desk.run("convert words.data --folds 3 -q").ok().stdout);
    assert_eq!(part.len(), words.in_folds(&[3]).apart().len());
    desk.write("tokens.txt", "The\tDT\ndog\tNN\n\nThe\tDT\n");
    let tokens = parse(&desk.run("convert tokens.txt --format columns -q").ok().stdout);
    assert_eq!(tokens.iter().map(|line| line.0.as_str()).collect::<Vec<_>>(), ["1", "2", "1"]);
}

#[test]
fn a_model_of_the_converted_file_is_that_of_the_table() {
    let desk = Desk::new();
    desk.write("train.csv", TRAIN.repeat(5).replace("\nwidth,colour,species", ""));
    desk.run("convert train.csv -o train.svm -q").ok();
    let one = desk.train("multiclass train.csv --tolerance 1e-6");
    let other = desk.train("multiclass train.svm --tolerance 1e-6");
    assert_eq!(one["primal"], other["primal"]);
}
