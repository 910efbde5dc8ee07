//! Models of ratings in other commands.

use crate::common::number;
use crate::completion::{Factors, desk, errors, triples};

#[test]
fn predictions_are_those_of_the_factors() {
    let desk = desk();
    for centre in ["none", "mean", "effects"] {
        desk.train(&format!("completion ratings.csv --radius 8 --centre {centre} -o model"));
        let factors = Factors::of(&desk, "model");
        assert_eq!(factors.effects.len(), if centre == "effects" { 12 + 9 } else { 0 });
        let text = desk.run("predict model others.csv").ok();
        let predicted: Vec<f64> = text.stdout.lines().map(|line| line.parse().unwrap()).collect();
        let others = triples(30, 2);
        assert_eq!(predicted.len(), 30);
        for (p, (user, item, _)) in predicted.iter().zip(&others) {
            assert!((p - factors.predict(user, item)).abs() < 1e-12);
        }
        assert_eq!(text.stderr, "");
        let json = desk.run("eval model others.csv --json").ok().json();
        let (rmse, mae) = errors(others.iter().zip(&predicted).map(|(t, p)| (t.2, *p)));
        assert!((number(&json, "rmse") - rmse).abs() < 1e-12);
        assert!((number(&json, "mae") - mae).abs() < 1e-12);
        let mean = others.iter().map(|t| t.2).sum::<f64>() / 30.0;
        let variance = others.iter().map(|t| (t.2 - mean).powi(2)).sum::<f64>() / 30.0;
        assert!((number(&json, "r2") - (1.0 - rmse * rmse / variance)).abs() < 1e-9);
        assert!(desk.run("eval model others.csv").ok().stdout.contains("root mean square"));
    }
}

#[test]
fn pairs_need_no_rating_and_names_may_be_new() {
    let desk = desk();
    desk.train("completion ratings.csv --radius 8 --centre effects -o model");
    let factors = Factors::of(&desk, "model");
    let pairs = [("u3", "film 2"), ("nobody", "film 2"), ("u3", "nothing"), ("nobody", "nothing")];
    let lines: String = pairs.iter().map(|(u, i)| format!("{u},{i}\n")).collect();
    // The header is that of the training file, or none.
    for head in ["user,film\n", ""] {
        desk.write("pairs.csv", format!("{head}{lines}"));
        let run = desk.run("predict model pairs.csv -o out").ok();
        let out = String::from_utf8(desk.read("out")).unwrap();
        let out: Vec<f64> = out.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(out.len(), 4);
        for (p, (user, item)) in out.iter().zip(pairs) {
            assert!((p - factors.predict(user, item)).abs() < 1e-12);
        }
        assert!((out[3] - factors.mean).abs() < 1e-12);
        assert!(run.stderr.contains("1 user and 1 item; 3 pairs"), "{run:?}");
        assert_eq!(desk.run("predict model pairs.csv -o out --quiet").ok().stderr, "");
    }
    desk.run("eval model pairs.csv").fails(&["pairs.csv:1", "no rating"]);
    desk.write("test.csv", "u3,film 2,4\nnobody,film 2,3\n");
    let json = desk.run("eval model test.csv --json").ok().json();
    assert_eq!((&json["unknown"]["pairs"], &json["unknown"]["users"]), (&1.into(), &1.into()));
}

#[test]
fn inspect_tells_of_factors_and_centre() {
    let desk = desk();
    let trained = desk.train("completion ratings.csv --radius 8 --witness -o model");
    let told = desk.run("inspect model --top 2").ok().stdout;
    for word in [
        "12 users and 9 items",
        "squared",
        "the mean, ",
        "trace, radius 8",
        "film ",
        "ratings file",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    let json = desk.run("inspect model --top 2 --json").ok().json();
    assert_eq!((&json["task"], &json["users"]), (&"completion".into(), &12.into()));
    assert_eq!((&json["items"], &json["dim"]), (&9.into(), &108.into()));
    assert_eq!((&json["rank"], &json["has_witness"]), (&trained["ball"]["rank"], &true.into()));
    assert_eq!(json["certificate"]["primal"], trained["primal"]);
    let rank = json["rank"].as_u64().unwrap() as usize;
    assert_eq!(json["singular_values"].as_array().unwrap().len(), rank);
    assert_eq!(json["largest"].as_array().unwrap().len(), 2 * rank);
    desk.run("inspect model --weights table").ok();
    assert!(desk.files().contains(&"table".to_string()));
}

#[test]
fn what_other_models_have_is_refused() {
    let desk = desk();
    desk.train("completion ratings.csv --radius 8 -o model");
    desk.run("predict model others.csv --scores").refuses(&["--scores"]);
    desk.run("predict model others.csv --probabilities").refuses(&["--probabilities"]);
    desk.run("predict model others.csv --folds 1").fails(&["others.csv", "has no folds"]);
    desk.run("eval model others.csv --folds 1").fails(&["others.csv", "has no folds"]);
    desk.run("predict model ratings.csv -o model").fails(&["is read here"]);
    let told = desk.run("certify model ratings.csv").exits(1).stdout;
    assert!(told.contains("the word of the training run"), "{told}");
}
