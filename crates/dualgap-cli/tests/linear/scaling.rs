//! `--scale`: columns are divided before the run, and the model is one for the data as they are.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Run, Table, number};
use crate::linear::numbers::{Numbers, weights};
use serde_json::Value;

/// The first column is large and the last one small.
fn uneven(task: &str, seed: u64) -> Numbers {
    let mut data = Numbers::of(task, seed);
    data.rows.iter_mut().for_each(|x| *x = vec![800.0 * x[0], x[1], x[2] / 64.0]);
    data
}

/// What columns are divided by, by the formulas.
fn factors(scale: &str, rows: &[Vec<f64>]) -> Vec<f64> {
    let column = |j: usize| rows.iter().map(move |x| x[j]);
    let size = |j: usize| match scale {
        "max" => column(j).fold(0.0_f64, |size, x| size.max(x.abs())),
        _ => (column(j).map(|x| x * x).sum::<f64>() / rows.len() as f64).sqrt(),
    };
    (0..rows[0].len()).map(size).collect()
}

fn divided(data: &Numbers, by: &[f64]) -> Numbers {
    let divide = |x: &Vec<f64>| x.iter().zip(by).map(|(x, s)| x / s).collect();
    Numbers { rows: data.rows.iter().map(divide).collect(), ..data.clone() }
}

/// Every task, loss and regulariser that has columns to scale.
const LINES: [&str; 7] = [
    "binary --loss hinge --lambda 0.05",
    "binary --loss logistic --l1 0.01 --lambda 0.05 --intercept",
    "binary --loss logistic --l1 0.02 --lambda 0",
    "regression --loss squared --nonnegative --lambda 0.05",
    "regression --loss absolute --lambda 0 --l1 0.02",
    "multiclass --loss hinge --lambda 0.05",
    "multiclass --loss softmax --lambda 0.05",
];

#[test]
fn a_scaled_run_is_a_run_on_a_scaled_file() {
    let desk = Desk::new();
    for line in LINES {
        let (task, options) = line.split_once(' ').unwrap();
        let data = uneven(if task == "regression" { task } else { "binary" }, 4);
        desk.write("data.svm", data.text());
        for scale in ["max", "rms"] {
            let by = factors(scale, &data.rows);
            desk.write("scaled.svm", divided(&data, &by).text());
            let limit = "--passes 4 --witness";
            let train = |file: &str, more: &str| {
                desk.train_on(&format!("{task} {file} {options} {limit} {more}"))
            };
            let one = train("data.svm", &format!("--scale {scale} -o model"));
            let other = train("scaled.svm", "-o other");
            assert_eq!((&one["scale"], &other["scale"]), (&scale.into(), &"none".into()));
            for name in ["primal", "dual"] {
                let (a, b) = (number(&one, name), number(&other, name));
                assert!((a - b).abs() <= 1e-9 * b.abs(), "{line} {scale} {name}: {a} {b}");
            }
            let of = |model: &str| ModelFile::parse(&desk.read(model)).weights();
            let (raw, scaled) = (of("model"), of("other"));
            let classes = if task == "multiclass" { 2 } else { 1 };
            for (k, (w, scaled)) in raw.iter().zip(&scaled).enumerate() {
                // Behind the columns of the file is the constant one.
                let expected = scaled / by.get(k / classes).unwrap_or(&1.0);
                assert!((w - expected).abs() <= 1e-9 * expected.abs(), "{line}: {w} {expected}");
            }
            let checked = desk.certify("model", "data.svm");
            assert_eq!(checked["dual_proved"], true, "{line}");
            // The same predictions, each from its own file.
            let predict = |model: &str, file: &str| {
                desk.run(&format!("predict {model} {file} --quiet")).ok().stdout
            };
            if task != "regression" {
                assert_eq!(predict("model", "data.svm"), predict("other", "scaled.svm"), "{line}");
            }
        }
    }
}

/// λ/2‖s∘w‖² + σ‖s∘w‖₁, written out for the weights that `inspect` shows.
#[test]
fn the_certificate_is_that_of_the_scaled_problem() {
    let desk = Desk::new();
    for (task, loss) in [("binary", "--loss hinge"), ("regression", "--loss huber")] {
        let data = uneven(task, 6);
        desk.write("data.svm", data.text());
        for scale in ["max", "rms"] {
            let options = format!("{loss} --scale {scale} --lambda 0.02 --l1 0.01");
            let json = desk.train(&format!("{task} data.svm {options} --tolerance 1e-6 -o model"));
            let w = weights(&desk, "model", 3);
            let by = factors(scale, &data.rows);
            let scaled: Vec<f64> = w.iter().zip(&by).map(|(w, s)| w * s).collect();
            // The losses are those of the data and weights as they are.
            let own = data.objective(loss, 0.0, 0.0, &w)
                + divided(&data, &by).objective(loss, 0.02, 0.01, &scaled)
                - divided(&data, &by).objective(loss, 0.0, 0.0, &scaled);
            let primal = number(&json, "primal");
            assert!((own - primal).abs() < 1e-9, "{options}: {own} {primal}");
            // Without a witness the primal value is verified all the same.
            assert_eq!(desk.certify("model", "data.svm")["dual_proved"], false);
        }
    }
}

#[test]
fn a_file_that_claims_another_scale_is_refused() {
    let desk = Desk::new();
    desk.write("data.svm", uneven("binary", 5).text());
    desk.write("classes.svm", Table::new(20, 4, 3, 2).text());
    for (task, file) in [("binary", "data.svm"), ("multiclass", "classes.svm")] {
        for scale in ["none", "max", "rms"] {
            let options =
                format!("--scale {scale} --lambda 0.1 --passes 3 --tolerance 0 --witness");
            desk.train(&format!("{task} {file} {options} -o model"));
            let honest = ModelFile::parse(&desk.read("model"));
            let claim = |claimed: Value| -> Run {
                let forged = honest.with_header(|header| header["task"]["scaling"] = claimed);
                desk.write("forged", forged.sealed());
                desk.run(&format!("certify forged {file}"))
            };
            for claimed in ["none", "max", "rms"] {
                if claimed == scale {
                    claim(claimed.into()).ok();
                } else {
                    claim(claimed.into()).fails(&["refused", "primal"]);
                }
            }
            claim("median".into()).fails(&["forged", "task"]);
            claim(serde_json::json!({"max": [1.0, 2.0]})).fails(&["forged", "task"]);
        }
    }
}

#[test]
fn the_report_and_inspect_say_that_columns_were_scaled() {
    let desk = Desk::new();
    desk.write("data.svm", uneven("binary", 5).text());
    for (scale, words) in [("max", "largest magnitude"), ("rms", "root mean square")] {
        let train =
            desk.run(&format!("train binary data.svm --scale {scale} --witness -o model")).ok();
        for told in [train, desk.run("inspect model").ok(), desk.run("certify model data.svm").ok()]
        {
            assert!(told.stdout.contains(words), "{told:#?}");
        }
        assert_eq!(desk.run("inspect model --json").ok().json()["problem"]["scale"], scale);
    }
    let plain = desk.run("train binary data.svm --scale none --witness -o model").ok();
    for told in [plain, desk.run("inspect model").ok(), desk.run("certify model data.svm").ok()] {
        assert!(!told.stdout.contains("columns"), "{told:#?}");
    }
}

#[test]
fn the_watched_test_error_is_that_of_the_model() {
    let desk = Desk::new();
    for (task, error) in [("binary", "error"), ("regression", "rmse"), ("multiclass", "error")] {
        let kind = if task == "regression" { task } else { "binary" };
        desk.write("data.svm", uneven(kind, 7).text());
        desk.write("test.svm", uneven(kind, 8).text());
        let options = "--scale rms --test test.svm --watch-test --trace trace -o model";
        let json = desk
            .train(&format!("{task} data.svm {options} --solver bcfw --passes 6 --tolerance 0"));
        let trace = String::from_utf8(desk.read("trace")).unwrap();
        let last: Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
        assert_eq!(last["test_error"], json["test"][error], "{task}");
        let later = desk.run("eval model test.svm --json").ok().json();
        assert_eq!(later[error], json["test"][error], "{task}");
    }
}

#[test]
fn a_run_goes_on_at_its_own_scale_only_and_begins_at_any() {
    let desk = Desk::new();
    desk.write("data.svm", uneven("binary", 9).text());
    let line = "train binary data.svm --lambda 0.01 --tolerance 0";
    desk.run(&format!("{line} --scale max --passes 2 --checkpoint run --witness -o old")).ok();
    for other in ["", "--scale rms"] {
        let resumed = desk.run(&format!("{line} {other} --passes 9 --resume run"));
        resumed.fails(&["run", "its scale is \"max\""]);
        desk.run(&format!("{line} {other} --passes 3 --warm-start old --witness -o new")).ok();
        assert_eq!(desk.certify("new", "data.svm")["dual_proved"], true);
    }
    desk.run(&format!("{line} --scale max --passes 3 --resume run")).ok();
}

#[test]
fn numbers_of_any_size_are_scaled() {
    let desk = Desk::new();
    let line = |i: usize| {
        let (side, noise) = (if i.is_multiple_of(2) { "-" } else { "" }, i % 5);
        format!("{side}1 1:{side}3e300 2:{noise}e-300 3:{noise}e-323 4:{noise}\n")
    };
    desk.write("data.svm", (0..20).map(line).collect::<String>());
    for task in ["binary", "multiclass"] {
        for scale in ["max", "rms"] {
            let json = desk.train(&format!("{task} data.svm --scale {scale} --witness -o model"));
            assert_eq!(json["stop"], "gap_reached");
            assert_eq!(desk.certify("model", "data.svm")["dual_proved"], true);
            let eval = desk.run("eval model data.svm --json").ok().json();
            assert_eq!(number(&eval, "error"), 0.0);
        }
    }
}

#[test]
fn chains_and_unknown_scales_are_refused() {
    let desk = Desk::new();
    desk.write("data.svm", uneven("binary", 5).text());
    desk.write("columns.txt", "a b X\nb c Y\n\na c X\n\n");
    desk.run("train binary data.svm --scale median").refuses(&["--scale", "max", "rms"]);
    desk.run("train chain columns.txt --scale max").refuses(&["--scale"]);
}
