//! What `eval` says is counted again here, in the file that `predict` writes.

mod case;
mod counting;
mod text;

use crate::common::{Desk, Dice, Table, number};
use case::{Case, confused};
use counting::{Tally, conlleval};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn the_cases_have_what_makes_counting_hard() {
    let case = Case::confused();
    for labels in case.labels() {
        let has = |a: &str, b: &str| {
            labels.iter().any(|sentence| sentence.windows(2).any(|pair| pair == [a, b]))
        };
        assert!(has("O", "I-NP") && has("O", "I-VP"), "inside without a beginning");
        assert!(has("B-NP", "I-VP") && has("I-VP", "I-NP"), "a change of type within");
        assert!(has("B-NP", "B-NP") && has("I-NP", "B-NP"), "one chunk after the other");
        let last = |label| labels.iter().any(|sentence| sentence.last() == Some(&label));
        assert!(last("I-NP") && last("B-VP"), "at the end of a sentence");
    }
    for case in [case, Case::hasty()] {
        let (wrong, all) =
            case.mistakes().iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!(
            20 * wrong > all && wrong < all / 2,
            "neither perfect nor useless: {wrong} of {all}"
        );
        let overall = case.overall();
        assert!(overall.right > 0 && overall.right < overall.truth.min(overall.predicted));
    }
}

#[test]
fn accuracy_and_hamming_losses_are_those_of_the_predictions() {
    for case in [Case::confused(), Case::hasty()] {
        let mistakes = case.mistakes();
        let n = mistakes.len() as f64;
        let wrong: usize = mistakes.iter().map(|&(wrong, _)| wrong).sum();
        let labels: usize = mistakes.iter().map(|&(_, length)| length).sum();
        let fractions = mistakes.iter().map(|&(wrong, length)| wrong as f64 / length as f64);
        let flawed = mistakes.iter().filter(|&&(wrong, _)| wrong > 0).count();
        assert_eq!(case.told["examples"], mistakes.len());
        assert_eq!(case.told["labels"], labels);
        for (field, expected) in [
            ("error", wrong as f64 / labels as f64),
            ("accuracy", (labels - wrong) as f64 / labels as f64),
            ("hamming", wrong as f64 / n),
            ("normalized_hamming", fractions.sum::<f64>() / n),
            ("sequence_error", flawed as f64 / n),
        ] {
            assert!((number(&case.told, field) - expected).abs() < 1e-12, "{field} {expected}");
        }
    }
}

#[test]
fn the_scores_of_labels_are_those_of_the_predictions() {
    for case in [Case::confused(), Case::hasty()] {
        let (counted, told) = (case.by_label(), &case.told["labels_by_name"]);
        assert_eq!(told.as_object().unwrap().len(), counted.len());
        counted.iter().for_each(|(label, tally)| tally.confirms(&told[label]));
    }
}

#[test]
fn the_confusion_matrix_is_that_of_the_predictions() {
    for case in [Case::confused(), Case::hasty()] {
        let counted = case
            .confusions()
            .into_iter()
            .map(|((truth, predicted), n)| json!([truth, predicted, n]));
        assert_eq!(case.told["confusion"], counted.collect::<Value>());
    }
}

#[test]
fn chunks_are_counted_as_in_the_shared_tasks() {
    for case in [Case::confused(), Case::hasty()] {
        let [truth, predicted] = case.labels();
        let told = &case.told["chunks"];
        case.overall().confirms(told);
        let counted = conlleval(&truth, &predicted);
        assert_eq!(told["by_type"].as_object().unwrap().len(), counted.len());
        counted.iter().for_each(|(kind, tally)| tally.confirms(&told["by_type"][kind]));
    }
}

#[test]
fn training_with_a_test_file_tells_the_same_figures() {
    let case = Case::confused();
    let line = "chain train.txt --test test.txt --passes 20";
    let test = case.desk.train(line)["test"].clone();
    for (field, told) in test.as_object().unwrap() {
        if field == "chunks" {
            told.as_object().unwrap().iter().for_each(|(name, told)| {
                assert_eq!(*told, case.told["chunks"][name], "{name}");
            });
        } else {
            assert_eq!(*told, case.told[field], "{field}");
        }
    }
}

#[test]
fn labels_that_were_never_trained_on_are_named_and_count_as_mistakes() {
    let case = Case::confused();
    assert_eq!(case.told["unseen_labels"], json!(["B-PP", "I-PP"]));
    assert_eq!(Case::hasty().told["unseen_labels"], json!([]));
    let counted = case.by_label();
    for label in ["B-PP", "I-PP"] {
        let Tally { truth, predicted, right } = counted[label];
        assert!(truth > 0 && predicted == 0 && right == 0);
        let told = &case.told["labels_by_name"][label];
        assert_eq!((number(told, "precision"), number(told, "recall")), (0.0, 0.0));
    }
    let text = case.desk.run("eval model test.txt").ok().stdout;
    assert!(text.contains("the labels B-PP, I-PP, which are never predicted"), "{text}");
}

#[test]
fn features_that_were_never_trained_on_are_counted() {
    let desk = Desk::new();
    desk.write("train.txt", confused(30, 1, false));
    desk.write("templates", "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\n");
    desk.train("chain train.txt --features templates --passes 5 -o model");
    // Of six features three: n, _B-1/n and n/o.
    desk.write("test.txt", "n O\no O\n\nb B-NP\n");
    let told = desk.run("eval model test.txt --json").ok().json();
    assert_eq!((&told["features_met"], &told["unseen_features"]), (&6.into(), &3.into()));
    let text = desk.run("eval model test.txt").ok().stdout;
    assert!(text.contains("50 % of the features met, which are left out"), "{text}");
}

#[test]
fn examples_on_their_own_are_counted_like_sequences_of_one() {
    let (desk, unseen) = (Desk::new(), Table::new(60, 4, 3, 9));
    desk.write("train.svm", Table::new(30, 4, 3, 1).text());
    desk.write("test.svm", unseen.text());
    desk.train("multiclass train.svm --passes 20 -o model");
    let told = desk.run("eval model test.svm --json").ok().json();
    let output = desk.run("predict model test.svm").ok().stdout;
    let predicted: Vec<&str> = output.lines().collect();
    assert_eq!(predicted.len(), 60);
    let truth: Vec<String> = unseen.labels.iter().map(|label| (label + 1).to_string()).collect();
    let wrong = truth.iter().zip(&predicted).filter(|(a, b)| a != b).count();
    assert!(wrong > 0 && wrong < 50);
    for field in ["error", "hamming", "normalized_hamming", "sequence_error"] {
        assert!((number(&told, field) - wrong as f64 / 60.0).abs() < 1e-12, "{field}");
    }
    let labels: BTreeSet<&str> = truth.iter().map(String::as_str).collect();
    for label in labels {
        let count = |labels: &mut dyn Iterator<Item = bool>| labels.filter(|&hit| hit).count();
        let tally = Tally {
            truth: count(&mut truth.iter().map(|a| a == label)),
            predicted: count(&mut predicted.iter().map(|&b| b == label)),
            right: count(&mut truth.iter().zip(&predicted).map(|(a, &b)| a == b && b == label)),
        };
        tally.confirms(&told["labels_by_name"][label]);
    }
}

#[test]
fn data_without_labels_are_for_predict() {
    let desk = Desk::new();
    desk.write("train.txt", confused(20, 1, false));
    desk.train("chain train.txt --passes 2 --tolerance 0 -o chain");
    desk.write("bare.txt", "b\ni\n\no\n");
    desk.run("eval chain bare.txt").fails(&["bare.txt", "no labels", "dualgap predict"]);
    desk.run("predict chain bare.txt").ok();
    desk.write("train.svm", Table::new(12, 3, 2, 1).text());
    desk.train("multiclass train.svm --passes 2 --tolerance 0 -o table");
    desk.write("bare.svm", "1:1 2:0.5\n3:1\n");
    desk.run("eval table bare.svm --json").fails(&["bare.svm", "no labels", "dualgap predict"]);
    desk.run("predict table bare.svm").ok();
}

#[test]
fn chunks_with_marks_for_their_end_and_for_one_token_are_counted_too() {
    let mut dice = Dice(5);
    let words = [("b", "B-X"), ("i", "I-X"), ("e", "E-X"), ("s", "S-X"), ("o", "O")];
    let train: String = (0..200)
        .map(|_| {
            let (word, label) = words[dice.below(5)];
            let end = if dice.below(6) == 0 { "\n" } else { "" };
            format!("{word} {label}\n{end}")
        })
        .collect();
    // Three chunks are true, of tokens 1 and 2, 3, and 4; those that are predicted are 1 to 3, and 4.
    let test = "b B-X\ni E-X\ne S-X\ns S-X\no O\n".to_string();
    let case = Case::new(train, test, "--passes 20");
    assert_eq!(case.labels()[1], [["B-X", "I-X", "E-X", "S-X", "O"]]);
    Tally { truth: 3, predicted: 2, right: 1 }.confirms(&case.told["chunks"]);
}
