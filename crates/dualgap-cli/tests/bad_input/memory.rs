//! More memory than there is: an error that says what to do, never an abort.

use crate::common::{Desk, Run, program};
use std::fmt::Write;
use std::process::Command;

/// Runs the program with so many kilobytes of memory.
fn limited(desk: &Desk, kilobytes: u64, line: &str) -> Run {
    let script = format!("ulimit -v {kilobytes}; exec {} {line}", program());
    let output =
        Command::new("sh").current_dir(desk.folder()).args(["-c", &script]).output().unwrap();
    Run {
        line: line.into(),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Kilobytes with room for reading and for a vector of 10^8 weights, but not for a model of them: runs leave out columns without entries,
/// and a model has all of them.
const SHORT: u64 = 2_400_000;

/// The index is legal, and a vector of so many weights has 0.8 GB.
#[test]
fn weights_that_have_no_room_are_refused_whatever_the_task_and_the_penalty() {
    let desk = Desk::new();
    desk.write("one.svm", "1 100000000:1\n");
    desk.write("two.svm", "1 1:1 100000000:1\n2 2:1\n");
    desk.write("sets.svm", "1,2 1:1 100000000:1\n2 2:1\n1 3:1\n");
    desk.write("numbers.svm", "1,2 1:1 100000000:1\n3,4 2:1\n");
    let before = desk.files();
    for line in [
        "regression one.svm",
        "regression one.svm --lambda 0 --l1 0.1",
        "regression one.svm --lambda 0 --l1 0.1 --loss absolute",
        "regression one.svm --ball l1 --radius 1",
        "binary two.svm",
        "binary two.svm --l1 0.1",
        "binary two.svm --q-norm",
        "binary two.svm --intercept",
        "binary two.svm --scale rms",
        "binary two.svm --solver fw",
        "binary two.svm --checkpoint run.ck",
        "binary two.svm --ball l1 --radius 1 --loss logistic",
        "binary two.svm --ball l1 --radius 1 --loss logistic --solver apg",
        "multiclass two.svm",
        "multiclass two.svm --loss softmax",
        "multiclass two.svm --loss softmax --ball l1 --radius 1",
        "multiclass two.svm --loss softmax --ball trace --radius 1",
        "multilabel sets.svm --ball l1 --radius 1 --loss logistic",
        "multilabel sets.svm --ball trace --radius 1 --loss logistic",
        "multioutput numbers.svm --ball trace --radius 1",
    ] {
        limited(&desk, SHORT, &format!("train {line} -o model")).fails(&[
            "not enough memory",
            "weights",
            "GB",
            "--min-count",
        ]);
        assert_eq!(desk.files(), before, "{line}");
    }
    desk.write("four.svm", "1 1:1 100000000:1\n2 2:1\n1 1:2\n2 2:3\n");
    let before = desk.files();
    limited(&desk, SHORT, "cv binary four.svm --folds 2 --threads 1").fails(&["not enough memory"]);
    limited(&desk, SHORT, "path binary two.svm -o out").fails(&["not enough memory"]);
    assert_eq!(desk.files(), before);
}

/// Without any limit: no vector of so many weights is ever asked for.
#[test]
fn absurdly_many_weights_are_refused_whatever_the_loss_and_the_penalty() {
    let desk = Desk::new();
    desk.write("data.svm", "1 200000000:1\n2 1:1\n");
    for options in
        ["", "--loss softmax", "--loss smooth-hinge", "--loss softmax --ball l1 --radius 1"]
    {
        desk.run(&format!("train multiclass data.svm {options} -o model")).fails(&[
            "not enough memory",
            "weights",
            "without gaps",
        ]);
        assert!(!desk.path("model").exists());
    }
}

#[test]
fn what_has_room_is_trained() {
    let desk = Desk::new();
    desk.write("data.svm", "1 1000000:1\n2 1:1\n");
    for options in ["", "--l1 0.01", "--ball l1 --radius 1 --loss logistic"] {
        let line = format!("train binary data.svm {options} --passes 2 --tolerance 0 --threads 1");
        limited(&desk, 1_000_000, &line).ok();
    }
}

#[test]
fn models_that_have_no_room_are_refused() {
    let desk = Desk::new();
    desk.write("data.svm", "1 5000000:1\n2 1:1\n");
    desk.run("train binary data.svm --passes 2 --tolerance 0 --witness -o model").ok();
    for line in [
        "predict model data.svm",
        "eval model data.svm",
        "certify model data.svm",
        "inspect model",
        "train binary data.svm --warm-start model",
    ] {
        limited(&desk, 90_000, line).fails(&["memory"]);
    }
}

#[test]
fn data_that_have_no_room_are_refused_where_it_ends() {
    let desk = Desk::new();
    let (mut svm, mut csv) = (String::new(), String::from("a,b,c,label\n"));
    for i in 0..300_000 {
        let _ = writeln!(svm, "{} 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9 10:10", 1 + i % 2);
        let _ = writeln!(csv, "{i}.5,{i}.25,name{i},{}", i % 2);
    }
    desk.write("data.svm", svm);
    desk.write("data.csv", csv);
    desk.write("line.svm", "1".repeat(60_000_000));
    for data in ["data.svm", "data.csv --label label", "line.svm"] {
        let run = limited(&desk, 100_000, &format!("train multiclass {data} -o model"));
        run.fails(&["memory"]);
        assert!(!desk.path("model").exists());
    }
}
