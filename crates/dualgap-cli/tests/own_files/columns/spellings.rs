//! The same sentences in several spellings give the same model.

use crate::common::{Desk, gzip};
use crate::own_files::feed;
use crate::own_files::sentences::Sentences;
use serde_json::Value;

/// The model of this file: its weights as text, and the fingerprint of the data.
fn model(desk: &Desk, file: &str) -> (String, Value) {
    let json = desk.train(&format!("chain {file} --passes 8 -o model"));
    let weights = desk.run("inspect model --weights -").ok().stdout;
    (weights, json["fingerprint"].clone())
}

#[track_caller]
fn same(plain: &str, spellings: &[(&str, Vec<u8>)]) {
    let desk = Desk::new();
    desk.write("plain", plain);
    let expected = model(&desk, "plain");
    assert!(expected.0.lines().count() > 10, "a model that has something to lose");
    for (what, bytes) in spellings {
        desk.write("other", bytes);
        assert_eq!(model(&desk, "other"), expected, "{what}");
    }
}

#[test]
fn line_ends_marks_and_blank_lines_make_no_difference() {
    let text = Sentences::new(20, 1).labelled();
    same(
        &text,
        &[
            ("Windows line ends", text.replace('\n', "\r\n").into_bytes()),
            ("a byte-order mark", format!("\u{feff}{text}").into_bytes()),
            ("no last line end", text.trim_end().as_bytes().to_vec()),
            ("one last line end", format!("{}\n", text.trim_end()).into_bytes()),
            ("blank lines in front", format!("\n\n{text}").into_bytes()),
            ("more of them between", text.replace("\n\n", "\n\n  \n\n").into_bytes()),
            ("all at once", {
                let airy = format!("\u{feff}\n{}", text.trim_end().replace("\n\n", "\n\n\n"));
                airy.replace('\n', "\r\n").into_bytes()
            }),
        ],
    );
}

#[test]
fn what_parts_the_columns_makes_no_difference() {
    let text = Sentences::new(20, 1);
    let spaced = text.text(3, "   ").replace('\n', " \n");
    same(
        &text.labelled(),
        &[("tabs", text.text(3, "\t").into_bytes()), ("many spaces", spaced.into_bytes())],
    );
}

/// `small.txt` was compressed by the programs bzip2 1.0 and zstd 1.5.
const SMALL: &str = include_str!("small.txt");

#[test]
fn compression_makes_no_difference_whatever_the_name() {
    same(
        SMALL,
        &[
            ("gzip", gzip(SMALL.as_bytes())),
            ("gzip in two members", {
                let (head, tail) = SMALL.split_at(SMALL.len() / 2);
                [gzip(head.as_bytes()), gzip(tail.as_bytes())].concat()
            }),
            ("bzip2", include_bytes!("small.txt.bz2").to_vec()),
            ("zstd", include_bytes!("small.txt.zst").to_vec()),
            ("gzip of Windows line ends", gzip(SMALL.replace('\n', "\r\n").as_bytes())),
        ],
    );
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let desk = Desk::new();
    desk.write("plain", SMALL);
    let expected = model(&desk, "plain");
    for bytes in [SMALL.as_bytes(), &gzip(SMALL.as_bytes()), include_bytes!("small.txt.zst")] {
        let run = feed(&desk, "train chain - --passes 8 -o model --json", bytes).ok();
        let weights = desk.run("inspect model --weights -").ok().stdout;
        assert_eq!((weights, run.json()["fingerprint"].clone()), expected);
    }
}

#[test]
fn other_words_are_another_model() {
    let desk = Desk::new();
    desk.write("plain", SMALL);
    desk.write("other", SMALL.replacen("dog", "cat", 1));
    let ((weights, fingerprint), other) = (model(&desk, "plain"), model(&desk, "other"));
    assert_ne!(weights, other.0);
    assert_ne!(fingerprint, other.1);
}

#[test]
fn predictions_and_evaluations_read_compressed_files_too() {
    let desk = Desk::new();
    desk.write("plain", SMALL);
    desk.write("data.zst", include_bytes!("small.txt.zst"));
    desk.write("data.bz2", include_bytes!("small.txt.bz2"));
    desk.train("chain plain --witness --passes 8 -o model");
    let labels = desk.run("predict model plain").ok().stdout;
    let figures = desk.run("eval model plain").ok().stdout;
    for file in ["data.zst", "data.bz2"] {
        assert_eq!(desk.run(&format!("predict model {file}")).ok().stdout, labels, "{file}");
        assert_eq!(desk.run(&format!("eval model {file}")).ok().stdout, figures, "{file}");
        assert_eq!(desk.certify("model", file)["dual_proved"], true, "{file}");
    }
}
