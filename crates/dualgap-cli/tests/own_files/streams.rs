//! Streams: the best labelings in order, and sentences as text, columns and JSON lines.

use crate::common::Desk;
use crate::own_files::{column, feed};
use serde_json::{Value, json};

const TRAIN: &str = "He B-NP\nruns B-VP\n. O\n\nThe B-NP\nold I-NP\ndog I-NP\nsees B-VP\nhim B-NP\n. O\n\n\
                     She B-NP\nsees B-VP\nthe B-NP\ndog I-NP\n. O\n\n";

fn desk(loss: &str) -> Desk {
    let desk = Desk::new();
    desk.write("train.txt", TRAIN);
    desk.train(&format!("chain train.txt {loss} --lambda 0.01 --tolerance 0.001 -o model"));
    desk
}

#[test]
fn the_best_labelings_come_in_order_with_scores_and_margins() {
    for (loss, has_probabilities) in [("--loss hinge", false), ("--loss log", true)] {
        let desk = desk(loss);
        let told = feed(&desk, "predict model - --nbest 25 --quiet", b"She\nruns\n\n").ok().stdout;
        let blocks: Vec<&str> = told.trim_end().split("\n\n").collect();
        let labels = 4; // B-NP, B-VP, I-NP, O
        assert_eq!(blocks.len(), labels * labels, "two tokens have no more labelings");
        let (mut scores, mut sum) = (Vec::new(), 0.0);
        for (k, block) in blocks.iter().enumerate() {
            let words: Vec<&str> = block.lines().next().unwrap().split(' ').collect();
            assert_eq!(words[..3], ["#", &(k + 1).to_string(), "score"]);
            scores.push(words[3].parse::<f64>().unwrap());
            let margin: f64 = words[5].parse().unwrap();
            let other = if k == 0 { 1 } else { 0 };
            if k > 0 {
                assert!((margin - (scores[k] - scores[other])).abs() < 1e-9);
            }
            assert_eq!(words.len() > 6, has_probabilities);
            sum += words.get(7).map_or(0.0, |p| p.parse::<f64>().unwrap());
            assert_eq!(block.lines().count(), 3);
        }
        assert!(scores.is_sorted_by(|a, b| a >= b));
        assert!(!has_probabilities || (sum - 1.0).abs() < 1e-9, "{sum}");
        // The first is what is predicted.
        let best = feed(&desk, "predict model - --quiet", b"She\nruns\n\n").ok().stdout;
        let first: String = blocks[0].lines().skip(1).map(|line| format!("{line}\n")).collect();
        assert_eq!(first, best.trim_end_matches('\n').to_string() + "\n");
    }
    let desk = desk("");
    desk.run("predict model train.txt --nbest 0").refuses(&["from 1"]);
    desk.run("predict model train.txt --nbest 100000000").refuses(&["from 1"]);
    desk.write("two.svm", "1 1:1\n-1 1:-1\n");
    desk.train("binary two.svm -o binary");
    desk.run("predict binary two.svm --nbest 2").refuses(&["chains"]);
}

#[test]
fn text_columns_and_json_give_the_same_labels() {
    let desk = desk("");
    let labels =
        column(&feed(&desk, "predict model - -q", b"She\nsees\nhim\n.\n\n").ok().stdout, 1)[0]
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>();
    let text = feed(&desk, "tag model -q", b"She sees him.\n\n").ok().stdout;
    assert_eq!(text.lines().count(), 6, "an empty line has an empty answer");
    assert_eq!(column(&text, 1)[0], labels);
    let json = feed(&desk, "tag model - --output json -q", b"She sees him.\n").ok().stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json, json!({ "tokens": ["She", "sees", "him", "."], "labels": labels }));
    let lines = "{\"id\": 7, \"tokens\": [\"She\", [\"sees\", \"more\"], \"him\", \".\"]}\n{\"text\": \"\"}\n";
    let told = feed(&desk, "tag model --input json --output json -q", lines.as_bytes()).ok().stdout;
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        told[0],
        json!({ "id": 7, "tokens": ["She", "sees", "him", "."], "labels": labels })
    );
    assert_eq!(told[1], json!({ "tokens": [], "labels": [] }));
    let columns = feed(&desk, "tag model --input columns --output json -q", b"She\nsees\nhim\n.\n");
    assert_eq!(serde_json::from_str::<Value>(&columns.ok().stdout).unwrap(), json);
    let plain = feed(&desk, "tag model --input columns -q", b"She\nsees\nhim\n.\n").ok().stdout;
    assert_eq!(plain, feed(&desk, "predict model - -q", b"She\nsees\nhim\n.\n").ok().stdout);
}

#[test]
fn spans_are_places_in_the_text() {
    let desk = desk("");
    let text = "  Thé old dog sees him.";
    let told =
        feed(&desk, "tag model --output spans -q", format!("{text}\n").as_bytes()).ok().stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["text"], text);
    let spans = told["spans"].as_array().unwrap();
    assert!(!spans.is_empty());
    for span in spans {
        let at = |name: &str| span[name].as_u64().unwrap() as usize;
        let part: String = text.chars().skip(at("from")).take(at("to") - at("from")).collect();
        assert_eq!(span["text"], part);
        assert!(at("start") < at("end") && at("end") <= 6);
    }
    desk.write("tags.txt", "He PRON\nruns VERB\n\nShe PRON\nsees VERB\n");
    desk.train("chain tags.txt -o tags");
    feed(&desk, "tag tags --output spans", b"He runs\n").refuses(&["no spans"]);
}

#[test]
fn order_and_labels_do_not_depend_on_threads() {
    let desk = desk("");
    let text: String = (0..9000).map(|k| format!("The {k} dog{} sees him.\n", k % 7)).collect();
    let one = feed(&desk, "tag model --threads 1 --output json -q", text.as_bytes()).ok().stdout;
    let two = feed(&desk, "tag model --threads 2 --output json -q", text.as_bytes()).ok().stdout;
    assert_eq!(one, two);
    let places = one.lines().enumerate().map(|(k, line)| {
        let told: Value = serde_json::from_str(line).unwrap();
        told["tokens"][1] == k.to_string()
    });
    assert_eq!(places.filter(|right| *right).count(), 9000);
}

#[test]
fn what_cannot_be_tagged_is_refused() {
    let desk = desk("");
    for line in [
        "[]",
        "{}",
        "nonsense",
        "{\"tokens\": 5}",
        "{\"tokens\": [[]]}",
        "{\"text\": \"a\", \"tokens\": []}",
    ] {
        let run = feed(&desk, "tag model --input json", format!("{line}\n").as_bytes());
        run.fails(&["line 1"]);
    }
    desk.write("three.txt", "He PRP B-NP\nruns VBZ B-VP\n\nShe PRP B-NP\nruns VBZ B-VP\n");
    desk.train("chain three.txt -o three");
    feed(&desk, "tag three", b"He runs\n").refuses(&["2 columns", "words alone"]);
    feed(&desk, "tag three --input json", b"{\"tokens\": [\"He\"]}\n").fails(&["2 columns"]);
    feed(&desk, "tag three --input json -q", b"{\"tokens\": [[\"He\", \"PRP\"]]}\n").ok();
    desk.write("two.svm", "1 1:1\n-1 1:-1\n");
    desk.train("binary two.svm -o binary");
    feed(&desk, "tag binary", b"He runs\n").refuses(&["column file"]);
}
