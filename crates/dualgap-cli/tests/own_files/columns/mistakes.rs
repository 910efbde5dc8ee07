//! Column files and templates that are none, and models that do not fit.

use crate::common::{Desk, gzip};
use crate::own_files::feed;
use crate::own_files::sentences::Sentences;

/// A model of three columns, the label included.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("train.txt", Sentences::new(16, 1).labelled());
    desk.train("chain train.txt --passes 1 --tolerance 0 -o model");
    desk
}

/// To train, to test, to predict and to evaluate: all read with the same care.
#[track_caller]
fn bad(text: &[u8], words: &[&str]) {
    let desk = desk();
    desk.write("bad.txt", text);
    let before = desk.files();
    desk.run("train chain bad.txt -o new").fails(words);
    desk.run("train chain train.txt --test bad.txt -o new").fails(words);
    desk.run("predict model bad.txt -o new").fails(words);
    desk.run("eval model bad.txt").fails(words);
    assert_eq!(desk.files(), before);
}

#[test]
fn a_token_with_other_columns_is_named_by_its_line() {
    bad(b"a DT O\nb NN O\n\nc O\n", &["bad.txt:4: ", "2 columns", "3"]);
    bad(b"\n\na DT O\nb NN x O\n", &["bad.txt:4: ", "4 columns", "3"]);
    bad(b"a\tDT\tO\nb NN O\n", &["bad.txt:2: ", "tabs"]);
    bad(b"a DT O\r\n\r\nc O\r\n", &["bad.txt:3: "]);
    bad(&gzip(b"a DT O\n\nc O\n"), &["bad.txt:3: "]);
}

#[test]
fn a_file_without_sentences_is_refused() {
    bad(b"", &["bad.txt: has no sentences"]);
    bad(b"\n \n\t\n", &["bad.txt: has no sentences"]);
    bad("\u{feff}".as_bytes(), &["bad.txt: has no sentences"]);
}

#[test]
fn text_that_is_not_utf_8_is_named_by_its_line() {
    bad(b"a DT O\n\xfcber IN O\n", &["bad.txt:2: ", "UTF-8"]);
    bad(b"\xff\xfea\0 \0", &["bad.txt:1: ", "UTF-8"]);
}

#[test]
fn a_compressed_file_that_is_cut_off_is_refused() {
    let whole = gzip(Sentences::new(50, 3).labelled().as_bytes());
    bad(&whole[..whole.len() / 2], &["bad.txt", "cut off"]);
    let zstd = include_bytes!("small.txt.zst");
    bad(&zstd[..zstd.len() - 9], &["bad.txt", "cut off"]);
    let bzip2 = include_bytes!("small.txt.bz2");
    bad(&bzip2[..bzip2.len() - 9], &["bad.txt", "cut off"]);
}

#[test]
fn a_file_of_words_alone_has_no_labels_to_learn_from() {
    let desk = desk();
    desk.write("words.txt", "the\ndog\n\ncat\n");
    desk.run("train chain words.txt").fails(&["words.txt", "has 1 column, and 2 are needed"]);
    desk.write("same.txt", "the O\ndog O\n");
    desk.run("train chain same.txt").fails(&["same.txt", "two labels"]);
}

#[test]
fn the_columns_of_other_data_are_those_of_the_training_data_with_or_without_the_label() {
    let desk = desk();
    for (columns, text) in [(1, "the\n"), (4, "the DT B-NP O\n"), (5, "the DT B-NP O O\n")] {
        desk.write("other.txt", text);
        let found = format!("has {columns} column");
        for line in ["predict model other.txt", "eval model other.txt"] {
            desk.run(line).fails(&["other.txt", &found, "3", "or 2 without the label"]);
        }
        let line = "train chain train.txt --test other.txt";
        desk.run(line).fails(&["other.txt", &found, "3"]);
    }
    let run = feed(&desk, "predict model -", b"the\n");
    run.fails(&["standard input", "has 1 column"]);
}

#[test]
fn a_label_that_is_empty_is_named_by_its_line() {
    let desk = desk();
    desk.write("gap.txt", "# a comment\nthe\tDT\tB\n\ndog\tNN\t\n");
    desk.run("train chain gap.txt").fails(&["gap.txt:4: ", "label is empty"]);
    desk.run("eval model gap.txt").fails(&["gap.txt:4: ", "label is empty"]);
}

#[test]
fn columns_that_are_not_there_cannot_be_picked() {
    let desk = desk();
    desk.run("train chain train.txt --columns 0,7").fails(&["train.txt", "has 3 columns", "8"]);
    desk.run("train chain train.txt --columns 2").fails(&["train.txt"]);
    for bad in ["x", "-1", "1,,2", "1;2"] {
        desk.run(&format!("train chain train.txt --columns={bad}")).refuses(&["--columns"]);
    }
    desk.write("data.svm", "1 1:1\n2 2:1\n");
    desk.run("train multiclass data.svm --columns 0,1").refuses(&["--columns", "column files"]);
}

#[test]
fn a_test_without_labels_is_no_test() {
    let desk = desk();
    desk.write("bare.txt", Sentences::new(8, 2).text(2, " "));
    let words = ["bare.txt", "no labels", "dualgap predict"];
    desk.run("eval model bare.txt").fails(&words);
    desk.run("train chain train.txt --test bare.txt").fails(&words);
}

#[test]
fn features_that_do_not_exist_are_told_with_those_that_do() {
    let words = ["`standard`", "`paper-conll2000`", "paper-conll2001: "];
    desk().run("train chain train.txt --features paper-conll2001").fails(&words);
    desk().run("train chain train.txt --features .").fails(&["folder"]);
}

#[test]
fn a_bad_template_is_named_by_its_file_and_line() {
    let desk = desk();
    for (template, word) in [
        ("U1:%y[0,0]", "`%y[0,0]`"),
        ("U1:%x[0]", "%x[row,column]"),
        ("U1:%x[0,0", "%x[row,column]"),
        ("U1:%x[0,-1]", "`%x[0,-1]`"),
        ("U1:%prefix[0,0]", "prefixN"),
        ("U1:%prefix0[0,0]", "prefixN"),
        ("B1:%x[a,0]", "`%x[a,0]`"),
        ("X1:%x[0,0]", "begins with U, B or #"),
    ] {
        desk.write("templates", format!("# words\nU0:%x[0,0]\n\n{template}\nB\n"));
        let run = desk.run("train chain train.txt --features templates -o new");
        run.fails(&["templates:4: ", word, "U00:%x[0,0]"]);
    }
    for empty in ["", "# nothing\n", "B\n"] {
        desk.write("templates", empty);
        desk.run("train chain train.txt --features templates").fails(&["templates:", "with U"]);
    }
    assert_eq!(desk.files(), ["model", "templates", "train.txt"]);
}

#[test]
fn a_template_cannot_see_the_label() {
    let desk = desk();
    for column in [2, 3, 60_000] {
        desk.write("templates", format!("U0:%x[0,{column}]\n"));
        let run = desk.run("train chain train.txt --features templates");
        let named = format!("name column {column}");
        run.fails(&["train.txt", &named, "there are 2 beside the label"]);
    }
}

#[test]
fn options_of_column_files_are_for_no_others() {
    let desk = desk();
    desk.write("data.svm", "1 1:1\n2 2:1\n");
    desk.write("table.csv", "a,b\n1,x\n2,y\n");
    desk.write("templates", "U0:%x[0,0]\n");
    for option in ["--features templates", "--features standard", "--min-count 2", "--lowercase"] {
        let name = option.split(' ').next().unwrap();
        let words = [name, "column files", "LIBSVM file", "--format"];
        desk.run(&format!("train multiclass data.svm {option}")).refuses(&words);
        let words = [name, "column files", "csv file", "--format"];
        desk.run(&format!("train multiclass table.csv {option}")).refuses(&words);
    }
    desk.run("train chain train.txt --categorical tag").refuses(&[
        "--categorical",
        "chain",
        "csv files",
    ]);
    desk.run("train chain train.txt --label tag").refuses(&["--label", "CoNLL-U", "upos"]);
    desk.run("train multiclass data.svm --label tag").refuses(&["--label", "csv and CoNLL-U"]);
}

#[test]
fn a_column_file_has_no_folds() {
    let desk = desk();
    for line in [
        "train chain train.txt --train-folds 1-9",
        "predict model train.txt --folds 1",
        "eval model train.txt --folds 1",
    ] {
        desk.run(line).fails(&["train.txt", "no folds"]);
    }
}

#[test]
fn labels_are_not_written_over_what_they_are_made_from() {
    let desk = desk();
    let before = desk.read("train.txt");
    desk.run("predict model train.txt -o train.txt").fails(&["train.txt", "another file"]);
    desk.run("predict model train.txt -o ./train.txt").fails(&["train.txt", "another file"]);
    assert_eq!(desk.read("train.txt"), before);
}

#[test]
fn what_is_no_model_is_named() {
    let desk = desk();
    for command in ["predict train.txt train.txt", "eval train.txt train.txt", "inspect train.txt"]
    {
        desk.run(command).fails(&["train.txt", "no dualgap model"]);
    }
    for command in ["predict missing train.txt", "eval missing train.txt", "inspect missing"] {
        desk.run(command).fails(&["missing", "check the path"]);
    }
    for command in ["predict model missing", "eval model missing"] {
        desk.run(command).fails(&["missing", "check the path"]);
    }
}
