//! `dualgap appraise` and `certify --weights`: the objective is the formula's, the interval contains the distance to the
//! optimum of a much tighter run, and files that are none are refused by line.

use crate::common::{Desk, Table, interval, number};
use crate::linear::numbers::{BINARY, Numbers, REGRESSION};

fn lines(weights: &[f64]) -> String {
    weights.iter().map(|w| format!("{w}\n")).collect()
}

#[test]
fn the_interval_contains_the_distance_to_the_optimum() {
    let desk = Desk::new();
    let weights = [0.5, -0.25, 0.1];
    desk.write("w.txt", lines(&weights));
    for (task, losses) in [("binary", &BINARY[..]), ("regression", &REGRESSION)] {
        let data = Numbers::of(task, 3);
        desk.write("d.svm", data.text());
        for loss in losses {
            for (penalty, lambda, l1) in
                [("--lambda 0.1 --l1 0.01", 0.1, 0.01), ("--lambda 0 --l1 0.05", 0.0, 0.05)]
            {
                let options = format!("{task} d.svm {loss} {penalty}");
                let run = desk.run(&format!("appraise {options} --weights w.txt --json"));
                let found = run.json();
                let primal = data.objective(loss, lambda, l1, &weights);
                assert!((number(&found, "primal") - primal).abs() < 1e-12, "{options}");
                let tight =
                    desk.run(&format!("train {options} --tolerance 1e-7 --passes 5000 --json"));
                let (low, high) = interval(&tight.json());
                let (least, most) = (number(&found, "at_least"), number(&found, "at_most"));
                assert!(least <= primal - low && primal - high <= most, "{options} {found:#}");
                assert!(
                    found["close"] != true || most - least <= 0.11 * most,
                    "{options} {found:#}"
                );
                assert_eq!(run.code, Some(i32::from(found["close"] != true)), "{options}");
            }
        }
    }
}

#[test]
fn both_spellings_say_the_same() {
    let desk = Desk::new();
    desk.write(
        "d.svm",
        Numbers::binary(40, 2, ["no", "yes"]).text().replace("no", "-1").replace("yes", "1"),
    );
    desk.write("w.txt", "0.1\n0.2\n0.3\n0.4\n");
    let one =
        desk.run("appraise binary d.svm --weights w.txt --loss logistic --c 1 --intercept").ok();
    for other in [
        "certify --weights w.txt --task binary --loss logistic --c 1 --intercept d.svm",
        "certify --task=binary --weights=w.txt d.svm --loss logistic --c 1 --intercept",
    ] {
        assert_eq!(desk.run(other).ok().stdout, one.stdout);
    }
    let task = "binary --loss logistic --c 1 --intercept";
    let joined = desk.run_with(&["certify", "--weights", "w.txt", "--task", task, "d.svm"]).ok();
    assert_eq!(joined.stdout, one.stdout);
    assert!(one.stdout.contains("Proved: the objective at these weights is at most "), "{one:?}");
    assert!(one.stdout.contains("and at least "), "{one:?}");
    desk.run("certify --weights w.txt d.svm m").exits(2);
}

#[test]
fn weights_of_liblinear_are_those_of_its_first_label() {
    let desk = Desk::new();
    let data = Numbers::of("binary", 4);
    desk.write("d.svm", data.text());
    let weights = [0.5, -0.25, 0.1, 0.3];
    let expected = data.objective("--loss squared-hinge", 0.1, 0.0, &weights);
    for (labels, sign) in [("1 -1", 1.0), ("-1 1", -1.0)] {
        let own: Vec<f64> = weights.iter().map(|w| sign * w).collect();
        let head = format!(
            "solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel {labels}\nnr_feature 3\nbias 1\nw\n"
        );
        desk.write("m", head + &lines(&own));
        let options = "--loss squared-hinge --lambda 0.1 --weights m --json";
        let found =
            desk.run(&format!("appraise binary d.svm {options} --intercept=penalised")).ok().json();
        assert!((number(&found, "primal") - expected).abs() < 1e-12, "{found:#}");
        desk.run(&format!("appraise binary d.svm {options}")).fails(&[
            "m: ",
            "-B 1",
            "--intercept=penalised",
        ]);
    }
}

#[test]
fn classes_have_a_column_each() {
    let desk = Desk::new();
    desk.write("d.svm", Table::new(30, 4, 3, 1).text());
    let report =
        desk.train("multiclass d.svm --lambda 0.1 --tolerance 1e-9 --loss softmax -o best");
    let zeros = "0 0 0\n".repeat(4);
    desk.write("w.txt", &zeros);
    let options = "multiclass d.svm --lambda 0.1 --loss softmax --weights";
    let found = desk.run(&format!("appraise {options} w.txt --json")).ok().json();
    let (low, high) = interval(&report);
    let zero = 3.0_f64.ln(); // softmax at zero
    assert!(number(&found, "at_least") <= zero - low && zero - high <= number(&found, "at_most"));
    let head = "solver_type MCSVM_CS\nnr_class 3\nlabel 3 1 2\nnr_feature 3\nbias -1\nw\n";
    // The columns in the order of 3, 1, 2; the fourth feature was not met.
    desk.write("m", format!("{head}3 1 2\n0 0 0\n0 0 0\n"));
    desk.write("w.txt", "1 2 3\n0 0 0\n0 0 0\n0 0 0\n");
    let primal = |file: &str| {
        number(&desk.run(&format!("appraise {options} {file} --json")).ok().json(), "primal")
    };
    assert_eq!(primal("m"), primal("w.txt"));
    desk.write("m", format!("{head}3 1 2\n").replace("MCSVM_CS", "L2R_LR"));
    desk.run(&format!("appraise {options} m")).fails(&["m: ", "L2R_LR"]);
}

#[test]
fn files_that_are_no_weights_are_refused() {
    let desk = Desk::new();
    desk.write("d.svm", Numbers::of("binary", 4).text());
    for (file, words) in [
        ("1\n2\nx\n", "w:3: `x` are no weights"),
        ("1\n2\nnan\n", "w:3: "),
        ("1\n2 3\n4\n", "w:2: "),
        ("", "w: has no weights"),
        ("1\n2\n", "w: has 2 lines of 1, and the problem has 3 features of 1"),
        ("solver_type X\nlabel 1 -1\n", "w: has the header"),
        ("solver_type X\nlabel 5 7\nw\n1\n2\n3\n", "w: has the labels 5 7, and the data have -1 1"),
        ("solver_type X\nbias 2\nw\n1\n2\n3\n4\n", "w: was trained with -B 2"),
    ] {
        desk.write("w", file);
        desk.run("appraise binary d.svm --weights w").fails(&[words]);
    }
    desk.run("appraise binary d.svm --weights missing").fails(&["missing"]);
    desk.write("w", "-1\n2\n3\n");
    let refused = ["weight 1 is -1e0", "no gap"];
    desk.run("appraise binary d.svm --weights w --nonnegative").refuses(&refused);
    let ball = "--ball l1 --radius 2 --mu 0.1 --loss logistic";
    desk.run(&format!("appraise binary d.svm --weights w {ball}"))
        .refuses(&["6e0", "2e0", "no gap"]);
    desk.write("inside", "-1\n0.5\n0\n");
    desk.run(&format!("appraise binary d.svm --weights inside {ball}")).ok();
    desk.run("appraise binary d.svm --weights w --kernel rbf").refuses(&["under a kernel"]);
    desk.run("appraise binary d.svm --weights w --test d.svm").refuses(&["--test"]);
    desk.run("appraise chain d.svm --weights w").exits(2);
}
