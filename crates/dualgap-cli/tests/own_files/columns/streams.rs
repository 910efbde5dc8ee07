//! `predict` as a part of a pipeline: answers as sentences come, CoNLL-U in and out, text in Latin-1.

use crate::common::{Desk, program};
use crate::own_files::feed;
use crate::own_files::sentences::Sentences;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Only turns a program that does not answer into a test that fails.
const SILENT: Duration = Duration::from_secs(120);

#[test]
fn every_sentence_is_answered_before_the_next_is_written() {
    let desk = Desk::new();
    let sentences = Sentences::new(60, 1);
    desk.write("train.txt", sentences.labelled());
    desk.train("chain train.txt --passes 5 -o model");
    let expected = feed(&desk, "predict model -", sentences.labelled().as_bytes()).ok().stdout;
    let mut child = Command::new(program())
        .args(["predict", "model", "-", "--quiet"])
        .current_dir(desk.folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(from).lines().map_while(Result::ok).all(|line| send.send(line).is_ok())
    });
    let mut answers = String::new();
    // A comment on its own decides nothing, and waits for its sentence.
    to.write_all(b"# a comment of some words\n").unwrap();
    to.flush().unwrap();
    for sentence in sentences.labelled().split_inclusive("\n\n").take(5) {
        to.write_all(sentence.as_bytes()).unwrap();
        to.flush().unwrap();
        loop {
            let line = lines.recv_timeout(SILENT).expect("an answer");
            let _ = writeln!(answers, "{line}");
            if line.is_empty() {
                break;
            }
        }
    }
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(answers.matches("\n\n").count(), 5);
    assert!(expected.starts_with(&answers), "{answers}");
}

/// Sentences as a CoNLL-U file, with all that may stand between its tokens; `tag` is what the column UPOS has.
fn conllu(sentences: &Sentences, tag: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (i, sentence) in sentences.0.iter().enumerate() {
        let _ = writeln!(text, "# sent_id = {i}\n# text = of several words");
        for (t, [word, part, _]) in sentence.iter().enumerate() {
            let id = t + 1;
            if t == 1 {
                let _ = writeln!(text, "2-3\t{word}{}", "\t_".repeat(8));
            }
            let _ = writeln!(
                text,
                "{id}\t{word}\t_\t{}\tX\tCase=Nom\t{t}\tdep\t_\tSpaceAfter=No",
                tag(part)
            );
            if t == 2 {
                let _ = writeln!(text, "3.1\tleft{}", "\t_".repeat(8));
            }
        }
        text += "\n";
    }
    text
}

#[test]
fn conllu_comes_out_as_conllu_with_the_tags_filled_in() {
    let desk = Desk::new();
    let (train, new) = (Sentences::new(80, 1), Sentences::new(20, 2));
    let given = conllu(&new, str::to_string);
    desk.write("train.conllu", conllu(&train, str::to_string));
    desk.write("new.conllu", conllu(&new, |_| "_".into()));
    let json = desk.train("chain train.conllu --passes 20 -o model");
    assert_eq!(json["n"], 80);
    let told = desk.run("inspect model --json").ok().json();
    let pick = &told["provenance"]["recipe"]["format"]["columns"]["pick"];
    assert_eq!(*pick, serde_json::json!([1, 3]), "words and universal tags");
    // Every word of these sentences has one tag, so that all of them are learnt.
    assert_eq!(desk.run("predict model new.conllu").ok().stdout, given);
    for columns in ["form,upos", "1,3", "FORM,UPOS"] {
        desk.train(&format!("chain train.conllu --passes 20 --columns {columns} -o other"));
        assert_eq!(desk.read("model"), desk.read("other"), "{columns}");
    }
    desk.run("train chain train.conllu --columns word,upos").refuses(&["form", "upos"]);
}

#[test]
fn templates_for_conllu_need_to_know_the_columns() {
    let desk = Desk::new();
    desk.write("train.conllu", conllu(&Sentences::new(10, 1), str::to_string));
    desk.write("templates", "U0:%x[0,1]\n");
    let run = desk.run("train chain train.conllu --features templates");
    run.fails(&["train.conllu", "CoNLL-U", "--columns"]);
}

#[test]
fn a_file_of_ten_columns_that_is_not_conllu_gets_one_more() {
    let desk = Desk::new();
    let line = |word: &str, label: &str| format!("{word}{}\t{label}\n", "\tx".repeat(8));
    let text = [line("a", "A"), line("b", "B")].concat() + "\n";
    desk.write("train.txt", text.repeat(3));
    desk.train("chain train.txt --columns 0,9 --passes 5 -o model");
    let out = desk.run("predict model train.txt").ok().stdout;
    assert!(out.lines().all(|line| line.is_empty() || line.split('\t').count() == 11), "{out}");
}

#[test]
fn latin1_is_read_and_written() {
    let desk = Desk::new();
    let text = Sentences::new(40, 1).labelled();
    assert!(text.contains('\u{dc}'), "an umlaut");
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    desk.write("utf8.txt", &text);
    desk.write("latin1.txt", &latin1);
    let of_utf8 = desk.train("chain utf8.txt --passes 5 -o model");
    let run = desk.run("train chain latin1.txt --passes 5");
    run.fails(&["not UTF-8", "--encoding"]);
    let of_latin1 = desk.train("chain latin1.txt --passes 5 --encoding latin1 -o old");
    assert_eq!(of_utf8["fingerprint"], of_latin1["fingerprint"]);
    desk.run("predict old latin1.txt -o out1").ok();
    desk.run("predict model utf8.txt -o out8").ok();
    let out8 = String::from_utf8(desk.read("out8")).unwrap();
    let expected: Vec<u8> = out8.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert_eq!(desk.read("out1"), expected);
    desk.run("certify old latin1.txt").exits(1); // without a witness, but with the same data
    desk.run("train multiclass latin1.txt --format libsvm --encoding latin1").exits(2);
}
