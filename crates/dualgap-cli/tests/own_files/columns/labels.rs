//! What `predict` makes of a column file.

use crate::common::Desk;
use crate::own_files::sentences::Sentences;
use crate::own_files::{column, feed};

/// A model that has learnt the rules, and sentences that it has not seen.
fn desk() -> (Desk, Sentences) {
    let (desk, unseen) = (Desk::new(), Sentences::new(24, 2));
    desk.write("train.txt", Sentences::new(60, 1).labelled());
    desk.write("test.txt", unseen.labelled());
    desk.train("chain train.txt --passes 30 -o model");
    (desk, unseen)
}

/// The lines of a file with one cell more in each.
fn extended(text: &str, separator: &str, labels: &[Vec<&str>]) -> String {
    let mut labels = labels.iter().flatten();
    let line = |line: &str| match line {
        "" => "\n".into(),
        line => format!("{line}{separator}{}\n", labels.next().unwrap()),
    };
    text.lines().map(line).collect()
}

#[test]
fn rules_that_the_tags_follow_are_learnt() {
    let (desk, unseen) = desk();
    let output = desk.run("predict model test.txt").ok().stdout;
    assert_eq!(column(&output, 3), column(&unseen.labelled(), 2));
}

#[test]
fn every_line_comes_back_with_one_column_more() {
    let (desk, unseen) = desk();
    let output = desk.run("predict model test.txt").ok().stdout;
    assert_eq!(output, extended(&unseen.labelled(), " ", &column(&output, 3)));
}

#[test]
fn labels_do_not_depend_on_the_labels_that_are_there() {
    let desk = Desk::new();
    let (train, unseen) = (Sentences::new(10, 1), Sentences::new(40, 2));
    desk.write("train.txt", train.labelled());
    // Little is learnt, so that predictions and labels differ.
    desk.train("chain train.txt --passes 1 --tolerance 0 -o model");
    desk.write("labelled.txt", unseen.labelled());
    desk.write("bare.txt", unseen.text(2, " "));
    let labelled = desk.run("predict model labelled.txt").ok();
    let bare = desk.run("predict model bare.txt").ok();
    let predicted = column(&labelled.stdout, 3);
    assert_ne!(predicted, column(&labelled.stdout, 2), "no mistake to learn from");
    assert_eq!(column(&bare.stdout, 2), predicted);
    assert_eq!(bare.stdout, extended(&unseen.text(2, " "), " ", &predicted));
    assert_eq!(bare.stderr, labelled.stderr);
}

#[test]
fn tabs_stay_tabs_and_keep_the_spaces_within_cells() {
    let (desk, unseen) = desk();
    let text = unseen.text(2, "\t").replace("dog", "guide dog");
    desk.write("tabs.txt", &text);
    let output = desk.run("predict model tabs.txt").ok().stdout;
    let labels: Vec<&str> =
        output.lines().filter_map(|line| Some(line.rsplit_once('\t')?.1)).collect();
    assert_eq!(output, extended(&text, "\t", &[labels]));
    // Words are told apart by their tags here, whatever they are.
    let output = output.replace("guide dog", "dog");
    assert_eq!(column(&output, 2), column(&unseen.labelled(), 2));
}

#[test]
fn blank_lines_however_many_come_back_as_one() {
    let (desk, unseen) = desk();
    let plain = desk.run("predict model test.txt").ok().stdout;
    let airy = format!("\n \n{}\n\n", unseen.labelled().replace("\n\n", "\n\n\n\t\n"));
    desk.write("airy.txt", airy);
    assert_eq!(desk.run("predict model airy.txt").ok().stdout, plain);
}

#[test]
fn a_sentence_is_labelled_without_regard_to_its_neighbours() {
    let (desk, unseen) = desk();
    let all = desk.run("predict model test.txt").ok().stdout;
    let alone = unseen.0.iter().map(|sentence| {
        desk.write("one.txt", Sentences(vec![sentence.clone()]).labelled());
        desk.run("predict model one.txt").ok().stdout
    });
    assert_eq!(alone.collect::<String>(), all);
}

#[test]
fn a_file_that_is_written_has_what_standard_output_would_have() {
    let (desk, unseen) = desk();
    let output = desk.run("predict model test.txt").ok().stdout;
    let quiet = desk.run("predict model test.txt -o labelled.txt").ok();
    assert_eq!(quiet.stdout, "");
    assert_eq!(desk.read("labelled.txt"), output.as_bytes());
    let fed = feed(&desk, "predict model -", unseen.labelled().as_bytes()).ok();
    assert_eq!(fed.stdout, output);
    assert_eq!(desk.files(), ["labelled.txt", "model", "test.txt", "train.txt"]);
}

#[test]
fn features_that_were_not_seen_are_counted_on_standard_error() {
    let desk = Desk::new();
    desk.write("templates", "U0:%x[0,0]\nU1:%x[0,1]\n");
    desk.write("train.txt", Sentences::new(60, 1).labelled());
    desk.train("chain train.txt --features templates --passes 5 -o model");
    // Of eight features one is not known, the word.
    desk.write("new.txt", "the DT\nzebra NN\n\nin IN\ntree NN\n");
    let run = desk.run("predict model new.txt").ok();
    assert!(run.stderr.contains("not seen in training: 12.5 %"), "{run:#?}");
    assert_eq!(desk.run("predict model new.txt --quiet").ok().stderr, "");
    desk.write("known.txt", "the DT\ntree NN\n");
    assert_eq!(desk.run("predict model known.txt").ok().stderr, "");
}

#[test]
fn multiclass_takes_every_token_for_an_example_and_gives_the_same_file_back() {
    let (desk, unseen) = desk();
    let json = desk.train("multiclass train.txt --format columns --passes 30 -o tokens");
    let tokens: usize = Sentences::new(60, 1).0.iter().map(Vec::len).sum();
    assert_eq!(json["n"], tokens);
    let output = desk.run("predict tokens test.txt").ok().stdout;
    assert_eq!(output, extended(&unseen.labelled(), " ", &column(&output, 3)));
    // The tags around say everything.
    assert_eq!(column(&output, 3), column(&output, 2));
}

#[test]
fn a_file_of_any_length_is_labelled_like_its_parts() {
    let (desk, unseen) = desk();
    let once = desk.run("predict model test.txt").ok().stdout;
    // Some ten thousand sentences.
    desk.write("long.txt", unseen.labelled().repeat(400));
    assert!(desk.run("predict model long.txt").ok().stdout == once.repeat(400));
    let accuracy =
        |file| desk.run(&format!("eval model {file} --json")).ok().json()["accuracy"].clone();
    assert_eq!(accuracy("long.txt"), accuracy("test.txt"));
}
