//! Runs, and what is said of them.

use crate::common::{Desk, gzip, interval, number, overlap};
use crate::completion::{Factors, Triples, csv, desk, errors, triples};

fn mean(triples: &Triples) -> f64 {
    triples.iter().map(|t| t.2).sum::<f64>() / triples.len() as f64
}

#[test]
fn the_objective_is_what_it_is_said_to_be() {
    let desk = desk();
    for (options, huber) in [("", None), ("--loss huber --width 0.5", Some(0.5))] {
        let line =
            format!("completion ratings.csv --radius 8 --mu 0.01 --tolerance 1e-6 {options}");
        let json = desk.train(&format!("{line} --witness -o model"));
        assert_eq!((&json["task"], &json["solver"]), (&"completion".into(), &"auto".into()));
        assert_eq!((&json["n"], &json["dim"]), (&70.into(), &(12 * 9).into()));
        assert_eq!(
            (&json["ball"]["name"], number(&json["ball"], "radius")),
            (&"trace".into(), 8.0)
        );
        let ratings = &json["ratings"];
        assert_eq!((&ratings["users"], &ratings["items"]), (&12.into(), &9.into()));
        assert_eq!((&ratings["centre"], &ratings["held_out"]), (&"effects".into(), &().into()));
        let all = triples(70, 1);
        assert!((number(ratings, "mean") - mean(&all)).abs() < 1e-12);

        let factors = Factors::of(&desk, "model");
        let loss = |off: f64| match huber {
            Some(width) if off.abs() > width => width * (off.abs() - width / 2.0),
            _ => off * off / 2.0,
        };
        let losses = all.iter().map(|(u, i, y)| loss(y - factors.predict(u, i)));
        let square: f64 = factors.singular.iter().map(|s| s * s).sum();
        let primal = losses.sum::<f64>() / 70.0 + 0.01 / 2.0 * square;
        assert!((number(&json, "primal") - primal).abs() < 1e-9 * primal, "{json:#}");
        assert!(factors.singular.iter().sum::<f64>() <= 8.0 * (1.0 + 1e-12));
        assert_eq!(json["ball"]["rank"], factors.singular.len());
        let proved = desk.certify("model", "ratings.csv");
        assert_eq!(proved["dual_proved"], true);
        assert!(overlap(interval(&proved), interval(&json)));
    }
}

#[test]
fn test_ratings_are_judged_beside_their_mean() {
    let desk = desk();
    let line = "completion ratings.csv --radius 8 --test others.csv -o model";
    let json = desk.train(line);
    let (factors, others) = (Factors::of(&desk, "model"), triples(30, 2));
    let (rmse, mae) = errors(others.iter().map(|(u, i, y)| (*y, factors.predict(u, i))));
    let of_mean = mean(&triples(70, 1));
    let (mean_rmse, mean_mae) = errors(others.iter().map(|t| (t.2, of_mean)));
    let test = &json["test"];
    for (name, expected) in
        [("rmse", rmse), ("mae", mae), ("mean_rmse", mean_rmse), ("mean_mae", mean_mae)]
    {
        assert!((number(test, name) - expected).abs() < 1e-12, "{name} {json:#}");
    }
    assert!(rmse < 0.8 * mean_rmse, "{rmse} {mean_rmse}");
    assert_eq!((&test["examples"], &test["unknown"]["pairs"]), (&30.into(), &0.into()));
    let told = desk.run(&format!("train {line}")).ok().stdout;
    for word in ["12 users and 9 items", "the mean, ", "of rank ", "if the mean were predicted"] {
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn held_out_ratings_are_drawn_by_the_seed_and_known_to_certify() {
    let desk = desk();
    let line = "completion ratings.csv --radius 8 --holdout 0.2";
    let json = desk.train(&format!("{line} --seed 5 --witness -o model"));
    assert_eq!((&json["n"], &json["test"]["examples"]), (&56.into(), &14.into()));
    assert_eq!(json["ratings"]["held_out"]["count"], 14);
    assert_eq!(desk.certify("model", "ratings.csv")["n"], 56);
    let again = desk.train(&format!("{line} --seed 5"));
    assert_eq!((&again["primal"], &again["test"]), (&json["primal"], &json["test"]));
    let other = desk.train(&format!("{line} --seed 6"));
    assert_ne!(other["fingerprint"], json["fingerprint"]);
    // The error on those that were held out, from all and from those that were trained on: sums of squares add up.
    let part = number(&json["test"], "rmse").powi(2) * 14.0;
    let whole = desk.run("eval model ratings.csv --json").ok().json();
    assert!(number(&whole, "rmse").powi(2) * 70.0 > part);
}

#[test]
fn threads_and_spellings_of_a_file_make_no_difference() {
    let desk = desk();
    let line = "--radius 8 --passes 5 --tolerance 0";
    let first = desk.train(&format!("completion ratings.csv {line}"));
    let all = triples(70, 1);
    let with = |between: &str, head: &str, tail: &str| -> String {
        let lines = all.iter().map(|(u, i, y)| format!("{u}{between}{i}{between}{y}{tail}\n"));
        head.to_string() + &lines.collect::<String>()
    };
    desk.write("tabs", with("\t", "", "\t881250949"));
    desk.write("colons", with("::", "", "::978300760\r"));
    desk.write("quoted", csv(&all).replace("film 3", "\"film 3\""));
    desk.write("packed.gz", gzip(with("\t", "a\tb\tc\n", "").as_bytes()));
    for file in ["tabs", "colons", "quoted", "packed.gz"] {
        for threads in [0, 1] {
            let json = desk.train(&format!("completion {file} {line} --threads {threads}"));
            assert_eq!(
                (&json["primal"], &json["dual"], &json["fingerprint"]),
                (&first["primal"], &first["dual"], &first["fingerprint"]),
                "{file}"
            );
        }
    }
}

#[test]
fn every_method_and_centre_finds_the_same_optimum() {
    let desk = desk();
    for centre in ["none", "mean", "effects"] {
        let line = format!("completion ratings.csv --radius 6 --mu 0.02 --centre {centre}");
        let best = desk.train(&format!("{line} --tolerance 1e-7"));
        for method in [
            "apg",
            "frank-wolfe",
            "block-frank-wolfe",
            "stochastic-frank-wolfe",
            "svrg",
            "scgs",
            "storc",
        ] {
            let json = desk.train(&format!("{line} --passes 50 --solver {method}"));
            assert!(overlap(interval(&json), interval(&best)), "{method}: {json:#}");
        }
        let theorem = desk.train(&format!("{line} --passes 50 --solver pdbfw --ball trace"));
        assert!(overlap(interval(&theorem), interval(&best)));
    }
}

#[test]
fn ratings_that_are_all_the_same_leave_nothing_to_learn() {
    let desk = desk();
    desk.write("same", "a b 3\na c 3\nd b 3\n");
    let run = desk.run("train completion same --radius 1 --witness -o model");
    assert!(!run.stdout.contains("NaN") && run.stdout.contains("of rank 0"), "{run:?}");
    desk.certify("model", "same");
    assert_eq!(desk.run("predict model same").ok().stdout, "3\n3\n3\n");
}

#[test]
fn runs_end_where_they_are_told_to() {
    let desk: Desk = desk();
    let line = "train completion ratings.csv --radius 8 --mu 0 --json --trace log";
    desk.run(&format!("{line} --passes 1 --tolerance 1e-12")).exits(1);
    let json = desk.run(&format!("{line} --passes 3")).ok().json();
    assert_eq!(json["stop"], "pass_limit");
    let log = String::from_utf8(desk.read("log")).unwrap();
    assert!(log.lines().count() >= 1 && log.lines().all(|line| line.starts_with('{')));
    let json = desk.run(&format!("{line} --passes 3 --quiet")).ok().json();
    assert_eq!(number(&json["ball"], "mu"), 0.0);
}
