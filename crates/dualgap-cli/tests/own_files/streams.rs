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
            if k > 0 {
                assert!((margin - (scores[k] - scores[0])).abs() < 1e-9);
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
        told["tokens"][1].as_str() == Some(&k.to_string()[..])
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
        run.fails(&["standard input:1"]);
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

#[test]
fn probabilities_are_compared_with_how_often_they_are_right() {
    let desk = desk("--loss log");
    let test = "She B-NP\nruns B-VP\nhim O\n\nHe B-NP\nsees O\n. O\n\n";
    desk.write("test.txt", test);
    let told = desk.run("eval model test.txt --json").ok().json();
    // By hand, from the marginals: of the label that was predicted.
    let names: Vec<String> = desk.run("inspect model --json").ok().json()["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_string())
        .collect();
    let predicted = desk.run("predict model test.txt --marginals -q").ok().stdout;
    let mut bins = [(0.0, 0.0, 0.0); 10];
    for line in predicted.lines().filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split([' ', '\t']).collect();
        let place = names.iter().position(|name| *name == cells[2]).unwrap();
        let p: f64 = cells[3 + place].parse().unwrap();
        let bin = &mut bins[((p * 10.0) as usize).min(9)];
        *bin = (bin.0 + 1.0, bin.1 + p, bin.2 + f64::from(u8::from(cells[1] == cells[2])));
    }
    let error: f64 = bins.iter().map(|(_, p, right): &(f64, f64, f64)| (p - right).abs()).sum();
    let labels = &told["calibration"]["labels"];
    assert!((labels["error"].as_f64().unwrap() - error / 6.0).abs() < 1e-9, "{told}");
    for (bin, (count, ..)) in labels["bins"].as_array().unwrap().iter().zip(bins) {
        assert_eq!(bin["count"].as_f64().unwrap(), count);
    }
    let sequences = told["calibration"]["sequences"]["bins"].as_array().unwrap();
    assert_eq!(sequences.iter().map(|bin| bin["count"].as_u64().unwrap()).sum::<u64>(), 2);
    let text = desk.run("eval model test.txt").ok().stdout;
    assert!(text.contains("expected calibration error"));
    desk.train("chain train.txt --loss hinge --lambda 0.01 -o hinge");
    assert!(desk.run("eval hinge test.txt").ok().stdout.contains("no probabilities"));
    let json = desk.run("eval hinge test.txt --json").ok().json();
    assert!(json.get("calibration").is_none());
}

#[test]
fn what_is_told_of_a_decision_adds_up_to_its_margin() {
    for loss in ["--loss hinge", "--loss log"] {
        let desk = desk(loss);
        // Of a single word there are no neighbours: the margin is the sum of all differences.
        let run =
            desk.run_with(&["inspect", "model", "--explain", "runs", "--top", "1000", "--json"]);
        let told: Vec<Value> = serde_json::from_str(&run.ok().stdout).unwrap();
        let margin = told[0]["margin"].as_f64().unwrap();
        let reasons = told[0]["reasons"].as_array().unwrap();
        let of = |reason: &Value, name: &str| reason[name].as_f64().unwrap();
        let sum: f64 = reasons.iter().map(|r| of(r, "for_label") - of(r, "for_runner_up")).sum();
        assert!((sum - margin).abs() < 1e-9 && margin > 0.0, "{told:?}");
        let text = desk
            .run_with(&["inspect", "model", "--explain", "She runs.", "--top", "99"])
            .ok()
            .stdout;
        assert!(text.contains("She  B-NP   rather than") && text.contains("after B-NP"), "{text}");
        let shades = desk.run("inspect model --transitions picture.svg").ok().stdout;
        assert!(shades.contains('█') && shades.contains("B-VP"));
        let svg = String::from_utf8(desk.read("picture.svg")).unwrap();
        assert_eq!(svg.matches("<title>").count(), 16);
        assert_eq!(desk.run("inspect model --transitions").ok().stdout, shades);
        desk.run("inspect model --transitions model").fails(&["overwritten"]);
    }
    let desk = Desk::new();
    desk.write("two.svm", "1 1:1\n-1 1:-1\n");
    desk.train("binary two.svm -o binary");
    desk.run("inspect binary --explain He").refuses(&["chains"]);
    desk.run("inspect binary --transitions").refuses(&["chains"]);
}
