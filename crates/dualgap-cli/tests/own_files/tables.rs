//! Examples on their own: csv and LIBSVM files.

use crate::common::{Desk, Table};
use crate::own_files::exported::{Exported, Position};
use crate::own_files::feed;
use serde_json::json;
use std::collections::BTreeSet;

const MEADOW: &str = "\
height,colour,place,kind
0.5,red,10,poppy
1.5,yellow,10,sunflower
0.25,\"red, or pink\",20,clover
,yellow,20,sunflower
0.5,\"so-called \"\"white\"\"\",20,clover
0.75,red,?,poppy
1.25,NA,10,sunflower
";

const KINDS: [&str; 3] = ["clover", "poppy", "sunflower"];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("meadow.csv", MEADOW);
    desk.train("multiclass meadow.csv --categorical place --passes 200 -o model");
    desk
}

/// The features of a flower.
fn flower(height: Option<f64>, colour: &str, place: &str) -> Position {
    let height = height.map(|x| ("height".to_string(), x));
    let names =
        [("colour", colour), ("place", place)].into_iter().filter(|(_, name)| !name.is_empty());
    let names = names.map(|(column, name)| (format!("{column}={name}"), 1.0));
    Position { features: height.into_iter().chain(names).collect(), ..Position::default() }
}

/// The labels that `predict` gives must be the best ones.
#[track_caller]
fn confirm(desk: &Desk, file: &str, flowers: &[Position]) -> String {
    let exported = Exported::of(desk, "model");
    let run = desk.run(&format!("predict model {file}")).ok();
    let labels: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(labels.len(), flowers.len(), "{run:#?}");
    for (flower, label) in flowers.iter().zip(&labels) {
        exported.confirms(std::slice::from_ref(flower), &[label], &KINDS);
    }
    run.stdout
}

/// What is in `MEADOW`.
fn flowers() -> Vec<Position> {
    vec![
        flower(Some(0.5), "red", "10"),
        flower(Some(1.5), "yellow", "10"),
        flower(Some(0.25), "red, or pink", "20"),
        flower(None, "yellow", "20"),
        flower(Some(0.5), "so-called \"white\"", "20"),
        flower(Some(0.75), "red", ""),
        flower(Some(1.25), "", "10"),
    ]
}

#[test]
fn numbers_are_one_feature_and_names_one_each() {
    let desk = desk();
    let names = [
        "height",
        "colour=red",
        "colour=yellow",
        "colour=red, or pink",
        "colour=so-called \"white\"",
        "place=10",
        "place=20",
    ];
    let expected: BTreeSet<String> = names.map(String::from).into();
    assert_eq!(Exported::of(&desk, "model").features("feature"), expected);
    let json = desk.run("inspect model --json").ok().json();
    assert_eq!((&json["features"], &json["labels"]), (&7.into(), &json!(KINDS)));
    // Without --categorical, the place is a number like the height.
    desk.train("multiclass meadow.csv --passes 20 -o model");
    assert_eq!(desk.run("inspect model --json").ok().json()["features"], 1 + 4 + 1);
}

#[test]
fn labels_are_the_best_ones_under_the_exported_weights() {
    let desk = desk();
    let labels = confirm(&desk, "meadow.csv", &flowers());
    let truth: Vec<&str> =
        MEADOW.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1).collect();
    assert_eq!(labels.lines().collect::<Vec<_>>(), truth, "flowers that are easy to tell apart");
}

#[test]
fn any_column_can_be_the_label() {
    let desk = Desk::new();
    desk.write("meadow.csv", MEADOW.replace("kind", "species"));
    desk.train("multiclass meadow.csv --label colour --passes 5 --tolerance 0 -o model");
    let json = desk.run("inspect model --json").ok().json();
    let colours = json["labels"].as_array().unwrap();
    assert!(colours.contains(&"red, or pink".into()) && colours.contains(&"yellow".into()));
    let features = Exported::of(&desk, "model").features("feature");
    assert!(features.iter().all(|name| !name.starts_with("colour")), "{features:?}");
    assert!(features.contains("species=poppy"), "{features:?}");
}

#[test]
fn the_last_column_is_the_label_if_none_is_named() {
    let desk = Desk::new();
    desk.write("meadow.csv", MEADOW);
    let models = ["", "--label kind"].map(|label| {
        desk.train(&format!("multiclass meadow.csv --passes 20 -o model {label}"));
        desk.run("inspect model --weights -").ok().stdout
    });
    assert_eq!(models[0], models[1]);
}

#[test]
fn separators_and_line_ends_and_quotes_make_no_difference() {
    let desk = Desk::new();
    let plain = "height,colour,kind\n0.5,red,poppy\n1.5,yellow,sunflower\n0.25,pink,clover\n";
    let quoted = "\"height\",\"colour\",\"kind\"\n\"0.5\",\"red\",\"poppy\"\n\
                  1.5,\"yellow\",sunflower\n0.25,\"pink\",\"clover\"";
    desk.write("plain.csv", plain);
    let expected = desk.train("multiclass plain.csv --passes 20 -o plain")["fingerprint"].clone();
    let weights = desk.run("inspect plain --weights -").ok().stdout;
    for text in [
        plain.replace(',', ";"),
        plain.replace(',', "\t"),
        plain.replace(',', "|"),
        plain.replace(',', " , "),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\n\n"),
        format!("\u{feff}{plain}"),
        plain.trim_end().into(),
        quoted.into(),
    ] {
        desk.write("other.csv", &text);
        let json = desk.train("multiclass other.csv --passes 20 -o other");
        assert_eq!(json["fingerprint"], expected, "{text:?}");
        assert_eq!(desk.run("inspect other --weights -").ok().stdout, weights, "{text:?}");
    }
    let run = feed(&desk, "train multiclass - --passes 20 --json", plain.as_bytes());
    assert_eq!(run.ok().json()["fingerprint"], expected);
}

#[test]
fn columns_are_known_by_their_name_wherever_they_are() {
    let desk = desk();
    let expected = desk.run("predict model meadow.csv").ok().stdout;
    // The label and the order are gone, and there is a column more.
    desk.write(
        "other.csv",
        "place;note;colour;height\n10;a;red;0.5\n10;b;yellow;1.5\n20;c;red, or pink;0.25\n\
         20;d;yellow;\n20;e;\"so-called \"\"white\"\"\";0.5\n?;f;red;0.75\n10;g;;1.25\n",
    );
    assert_eq!(confirm(&desk, "other.csv", &flowers()), expected);
    assert_eq!(desk.run("predict model other.csv").ok().stderr, "");
}

#[test]
fn names_that_were_not_seen_are_reported_and_left_out() {
    let desk = desk();
    desk.write("new.csv", "height,colour,place\n0.5,purple,10\n1.5,red,30\n,,\n1,red,20\n");
    let flowers = [
        flower(Some(0.5), "", "10"),
        flower(Some(1.5), "red", ""),
        flower(None, "", ""),
        flower(Some(1.0), "red", "20"),
    ];
    confirm(&desk, "new.csv", &flowers);
    // Two of nine cells.
    let run = desk.run("predict model new.csv").ok();
    assert!(run.stderr.contains("not seen in training: 22.22 % of the features"), "{run:#?}");
    assert_eq!(desk.run("predict model new.csv --quiet").ok().stderr, "");
    // A label that was not seen is nobody's business here, but eval's.
    desk.write("new.csv", "height,colour,place,kind\n0.5,red,10,orchid\n0.5,red,10,poppy\n");
    assert_eq!(desk.run("predict model new.csv").ok().stderr, "");
    let told = desk.run("eval model new.csv --json").ok().json();
    assert_eq!(told["unseen_labels"], json!(["orchid"]));
    assert_eq!(told["accuracy"], 0.5);
}

#[test]
fn a_table_without_a_header_has_columns_by_number() {
    let desk = Desk::new();
    desk.write("train.csv", "0.5,red,poppy\n1.5,yellow,sunflower\n0.25,pink,clover\n");
    desk.train("multiclass train.csv --passes 100 -o model");
    let names = ["c1", "c2=pink", "c2=red", "c2=yellow"].map(String::from);
    assert_eq!(Exported::of(&desk, "model").features("feature"), names.into());
    desk.write("bare.csv", "0.5,red\n1.5,yellow\n0.25,pink\n");
    let labels = desk.run("predict model bare.csv").ok().stdout;
    assert_eq!(labels, desk.run("predict model train.csv").ok().stdout);
    desk.write("wide.csv", "0.5,red,1,2\n");
    desk.run("predict model wide.csv").fails(&["wide.csv", "has 4 columns", "or 2 without"]);
}

#[test]
fn libsvm_labels_are_the_best_ones_with_or_without_labels_in_the_file() {
    let (desk, unseen) = (Desk::new(), Table::new(40, 4, 3, 7));
    desk.write("train.svm", Table::new(30, 4, 3, 1).text());
    desk.train("multiclass train.svm --passes 50 -o model");
    desk.write("labelled.svm", unseen.text());
    let bare: Vec<String> =
        (0..unseen.len()).map(|i| unseen.line(i).split_once(' ').unwrap().1.into()).collect();
    desk.write("bare.svm", bare.concat());
    let run = desk.run("predict model labelled.svm").ok();
    assert_eq!(run.stderr, "");
    assert_eq!(desk.run("predict model bare.svm").ok().stdout, run.stdout);
    let exported = Exported::of(&desk, "model");
    for (row, label) in unseen.rows.iter().zip(run.stdout.lines()) {
        let features = row.iter().enumerate().map(|(j, &x)| ((j + 1).to_string(), x)).collect();
        let position = Position { features, ..Position::default() };
        exported.confirms(&[position], &[label], &["1", "2", "3"]);
    }
    assert!(run.stdout.lines().count() == 40);
}

#[test]
fn libsvm_features_beyond_those_of_the_training_are_reported_and_left_out() {
    let desk = Desk::new();
    desk.write("train.svm", Table::new(30, 4, 3, 1).text());
    desk.train("multiclass train.svm --passes 20 -o model");
    desk.write("known.svm", "1:1\n2:-1 3:0.5\n");
    desk.write("more.svm", "1:1 5:100\n2:-1 3:0.5 999:7\n");
    let run = desk.run("predict model more.svm").ok();
    assert_eq!(run.stdout, desk.run("predict model known.svm").ok().stdout);
    assert!(run.stderr.contains("not seen in training: 40 % of the features"), "{run:#?}");
    desk.write("mixed.svm", "1:1\n1 1:1\n");
    desk.run("predict model mixed.svm").fails(&["mixed.svm:2: ", "label"]);
}

#[test]
fn a_column_that_is_missing_is_named_with_those_that_are_there() {
    let desk = desk();
    desk.write("new.csv", "height,color,place\n1,red,10\n");
    let words = ["new.csv", "`colour`", "height, color, place"];
    desk.run("predict model new.csv").fails(&words);
    desk.run("eval model new.csv").fails(&words);
    for option in ["--label", "--categorical"] {
        let run = desk.run(&format!("train multiclass meadow.csv {option} Kind"));
        run.fails(&["meadow.csv", "`Kind`", "height, colour, place, kind"]);
    }
}

#[test]
fn a_line_that_is_too_short_or_too_long_is_named() {
    let desk = desk();
    let cases = [("0.5,red,10", "3 cells"), ("1,red, or pink,10,poppy", "5 cells")];
    for (line, found) in cases {
        desk.write("bad.csv", format!("{MEADOW}{line}\n{MEADOW}"));
        for command in ["train multiclass bad.csv", "predict model bad.csv", "eval model bad.csv"] {
            desk.run(command).fails(&["bad.csv:9: ", found, "4", "double quotes"]);
        }
    }
}

#[test]
fn a_name_where_numbers_were_is_no_number() {
    let desk = desk();
    desk.write("bad.csv", "height,colour,place,kind\n1,red,10,poppy\ntall,red,10,poppy\n");
    let words = ["bad.csv:3: ", "`tall`", "`height`", "--categorical height"];
    desk.run("predict model bad.csv").fails(&words);
    desk.run("eval model bad.csv").fails(&words);
    desk.write("bad.csv", "height,colour,place,kind\n1e999,red,10,poppy\n");
    desk.run("predict model bad.csv").fails(&["bad.csv:2: ", "`1e999`"]);
}

#[test]
fn a_label_that_is_missing_is_an_error_to_train_on_and_to_evaluate() {
    let desk = desk();
    desk.write("bad.csv", "height,colour,place,kind\n1,red,10,poppy\n1,red,10,\n");
    for command in ["train multiclass bad.csv", "eval model bad.csv"] {
        desk.run(command).fails(&["bad.csv:3: ", "`kind`"]);
    }
    desk.write("bare.csv", "height,colour,place\n1,red,10\n");
    desk.run("eval model bare.csv").fails(&["bare.csv", "no labels", "dualgap predict"]);
}

#[test]
fn a_label_of_several_lines_is_refused() {
    let desk = Desk::new();
    desk.write("t.csv", "a,kind\n1,x\n2,\"y\nz\"\n");
    desk.run("train multiclass t.csv").fails(&["t.csv:3: ", "line end"]);
}

#[test]
fn tables_that_are_none_are_refused() {
    let desk = desk();
    for (text, words) in [
        ("", &["bad.csv"][..]),
        ("height,colour,place,kind\n", &["bad.csv: has no examples"]),
        ("a,a,b\n1,2,x\n", &["bad.csv:1: ", "`a`"]),
        ("a,,b\n1,2,x\n", &["bad.csv:1: ", "column 2"]),
        ("a,b\n1,\"x\n2,y\n", &["bad.csv:2: ", "double quote"]),
        ("a,b\n1,x\n2,x\n", &["bad.csv", "two classes"]),
    ] {
        desk.write("bad.csv", text);
        desk.run("train multiclass bad.csv").fails(words);
    }
    desk.write("bad.csv", b"a,b\n1,x\n2,\xfc\n");
    desk.run("train multiclass bad.csv").fails(&["bad.csv:3: ", "UTF-8"]);
    desk.run("train chain meadow.csv --format csv").refuses(&["does not go with chain"]);
}

#[test]
fn a_name_far_down_a_column_of_numbers_is_an_error_with_a_way_out() {
    let desk = Desk::new();
    let rows: String = (0..1500).map(|i| format!("0.{i},{}\n", ["x", "y"][i % 2])).collect();
    desk.write("long.csv", format!("a,b\n{rows}high,x\n"));
    let line = "train multiclass long.csv --passes 1";
    desk.run(line).fails(&["long.csv:1502: ", "`high`", "`a`", "--categorical a"]);
    desk.run(&format!("{line} --categorical a")).ok();
}
