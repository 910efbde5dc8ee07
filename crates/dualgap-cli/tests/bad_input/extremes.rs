//! Legal, but at the edge: the answer is a certificate that holds or a clean error, never a panic and
//! never a number that is none.

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, Words, interval, number};

/// The problem for a λ.
type Exact = dyn Fn(f64) -> Problem;

/// Trains for a while and judges the outcome; returns whether there was a certificate.
#[track_caller]
fn sound_or_refused(desk: &Desk, line: &str, data: &str, exact: Option<&Exact>) -> bool {
    let run = desk.run(&format!("train {line} --passes 50 --json --witness -o new"));
    assert!(!run.stdout.to_lowercase().contains("nan"), "{run:#?}");
    if run.code == Some(2) {
        run.refuses(&[]);
        assert!(!desk.path("new").exists(), "an error leaves no model");
        return false;
    }
    // Where rounding swallows everything, nothing moves, and no tolerance is reached.
    let json = run.json();
    assert_eq!(run.code, Some(i32::from(json["stop"] == "stalled")), "{run:#?}");
    for field in ["primal", "dual", "gap", "rounding_error"] {
        assert!(number(&json, field).is_finite(), "{field}: {json:#}");
    }
    assert!(number(&json, "gap") >= -number(&json, "rounding_error"), "{json:#}");
    let checked = desk.certify("new", data);
    assert_eq!(checked["dual_proved"], true);
    if let Some(exact) = exact {
        let lambda = number(&json, "lambda");
        let (primal, dual) = exact(lambda).values(&ModelFile::parse(&desk.read("new")));
        // The test rounds, too, and by no more than the program says that it may have done.
        let error = 2.0 * number(&json, "rounding_error");
        for (name, value) in [("primal", primal), ("dual", dual)] {
            let allowed = error + 1e-12 * value.abs();
            assert!((number(&json, name) - value).abs() <= allowed, "{name} {value}: {json:#}");
        }
    }
    std::fs::remove_file(desk.path("new")).unwrap();
    true
}

#[test]
fn any_positive_lambda_is_certified_or_refused() {
    let (desk, data, words) = (Desk::new(), Table::new(20, 4, 3, 1), Words::new(12, 1));
    desk.write("data.svm", data.text());
    desk.write("words.data", words.text());
    let multiclass = move |lambda| Problem::multiclass(&data, None, None, lambda);
    let chain = move |lambda| Problem::chain(&words, true, None, lambda);
    for lambda in ["5e-324", "1e-308", "1e-300", "1e-150", "1e-30", "1e30", "1e150", "1e300"] {
        for solver in [
            "bcfw",
            "fw",
            "bcfw --step predefined",
            "bcfw --average weighted",
            "ssg --average weighted",
        ] {
            let options = format!("--lambda {lambda} --solver {solver}");
            let line = format!("multiclass data.svm {options}");
            sound_or_refused(&desk, &line, "data.svm", Some(&multiclass));
            let line = format!("chain words.data {options}");
            sound_or_refused(&desk, &line, "words.data", Some(&chain));
        }
    }
    // Where nothing overflows there is no excuse.
    for lambda in ["1e-8", "1e-4", "1e4", "1e8", "1e100"] {
        let line = format!("multiclass data.svm --lambda {lambda}");
        assert!(sound_or_refused(&desk, &line, "data.svm", Some(&multiclass)), "{lambda}");
    }
}

#[test]
fn any_finite_features_are_certified_or_refused() {
    let desk = Desk::new();
    for scale in ["1e-320", "1e-200", "1e-100", "1e-8", "1e8", "1e100", "1e150", "1e200", "1e307"] {
        let mut scaled = Table::new(20, 4, 3, 2);
        for x in scaled.rows.iter_mut().flatten() {
            *x *= scale.parse::<f64>().unwrap();
        }
        desk.write("data.svm", scaled.text());
        let exact = move |lambda| Problem::multiclass(&scaled, None, None, lambda);
        for lambda in ["1/n", "1e-300", "1e300", "1e-12"] {
            let line = format!("multiclass data.svm --lambda {lambda}");
            let certified = sound_or_refused(&desk, &line, "data.svm", Some(&exact));
            let tame = ["1e-8", "1e8"].contains(&scale) && lambda == "1/n";
            assert!(certified || !tame, "{scale} {lambda}");
        }
    }
}

#[test]
fn huge_and_tiny_features_together_are_certified_or_refused() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1:1e200\n2 2:1e-200\n1 1:1e-200 2:1e200\n2 1:-1e200\n3 3:1\n");
    for lambda in ["1/n", "1e-100", "1e100"] {
        let line = format!("multiclass data.svm --lambda {lambda}");
        sound_or_refused(&desk, &line, "data.svm", None);
    }
}

#[test]
fn extreme_costs_and_weights_are_certified_or_refused() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(12, 3, 2, 3).text());
    for cost in ["5e-324", "1e-200", "1e200", "1e308"] {
        desk.write("costs", format!("1 2\n1 0 {cost}\n2 1 0\n"));
        sound_or_refused(&desk, "multiclass data.svm --costs costs", "data.svm", None);
    }
    for weight in ["5e-324", "1e-200", "1e200", "1e308"] {
        desk.write("counts", format!("{weight}\n{}", "1\n".repeat(11)));
        for lambda in ["0.1", "1/n"] {
            let line = format!("multiclass data.svm --sample-weights counts --lambda {lambda}");
            sound_or_refused(&desk, &line, "data.svm", None);
        }
    }
}

#[test]
fn costs_that_are_all_zero_are_solved_at_once() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(12, 3, 2, 4).text());
    desk.write("costs", "1 2\n1 0 0\n2 0 0\n");
    let run = desk.run("train multiclass data.svm --costs costs --absolute-tolerance 1e-12 --json");
    let json = run.ok().json();
    assert_eq!((number(&json, "primal"), number(&json, "dual")), (0.0, 0.0));
    assert_eq!(number(&json, "relative_gap"), 0.0);
}

#[test]
fn a_single_example_is_enough() {
    let desk = Desk::new();
    // The other class lives in an example that counts for nothing.
    desk.write("data.svm", "1 1:1 2:-0.5\n2 1:0\n");
    desk.write("counts", "1\n0\n");
    let json =
        desk.train("multiclass data.svm --sample-weights counts --lambda 0.5 --tolerance 1e-9");
    // One hinge: w = ±c·x with c = min(1/(2‖x‖²), 1/λ), so P = (λ/4)/‖x‖² for ‖x‖² = 1.25.
    let optimum = 0.5 / 4.0 / 1.25;
    let (low, high) = interval(&json);
    assert!(low <= optimum && optimum <= high, "{optimum}: {json:#}");

    let mut word = Words::new(4, 5);
    word.0.drain(..3);
    desk.write("words.data", word.text());
    let json = desk.train("chain words.data --lambda 0.5 --witness -o new");
    assert_eq!(json["n"], 1);
}

#[test]
fn examples_without_features_can_only_be_guessed() {
    let desk = Desk::new();
    for text in ["1\n2\n1\n", "1 1:0\n2 1:0\n1 2:0\n", "1 7:0\n2\n1\n"] {
        desk.write("data.svm", text);
        let line =
            "train multiclass data.svm --lambda 0.5 --tolerance 1e-6 --json --witness -o new";
        let json = desk.run(line).ok().json();
        // All scores are zero, so each example has a loss of one whatever the weights are.
        let (low, high) = interval(&json);
        assert!(low <= 1.0 && 1.0 <= high, "{text}: {json:#}");
        desk.certify("new", "data.svm");
    }
}

#[test]
fn an_example_without_features_among_others_costs_what_it_must() {
    let (desk, mut data) = (Desk::new(), Table::new(20, 4, 3, 6));
    data.rows[3].fill(0.0);
    data.rows[7].fill(0.0);
    desk.write("data.svm", data.text());
    // The passes are more than enough; without them a program that cannot do it would never end.
    let options = "--lambda 0.1 --tolerance 0.01 --passes 1000";
    let json = desk.train(&format!("multiclass data.svm {options} --witness -o new"));
    let exact = Problem::multiclass(&data, None, None, 0.1);
    exact.confirms(&json, &ModelFile::parse(&desk.read("new")));
}

#[test]
fn letters_without_a_single_pixel_are_told_by_their_neighbours() {
    let (desk, mut words) = (Desk::new(), Words::new(12, 7));
    for word in &mut words.0 {
        word.pixels.iter_mut().for_each(Vec::clear);
    }
    desk.write("words.data", words.text());
    let json = desk.train("chain words.data --lambda 0.1 --witness -o new");
    let exact = Problem::chain(&words, true, None, 0.1);
    exact.confirms(&json, &ModelFile::parse(&desk.read("new")));
}

#[test]
fn a_tolerance_of_zero_ends_where_rounding_does() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1:1\n2 1:-1\n");
    let json = desk.run("train multiclass data.svm --lambda 0.5 --tolerance 0 --json").json();
    assert!(number(&json, "gap") <= number(&json, "rounding_error").max(1e-12), "{json:#}");
    assert!(["stalled", "gap_reached"].contains(&json["stop"].as_str().unwrap()), "{json:#}");
}
