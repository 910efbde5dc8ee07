//! Files and options that cannot be meant.

use crate::completion::{csv, desk, triples};

#[test]
fn broken_ratings_are_named_with_file_and_line() {
    let desk = desk();
    for (text, words) in [
        ("", ["bad: has no ratings", "user item rating"]),
        ("user,item,rating\n", ["bad: has no ratings", "user item rating"]),
        ("a b 1\na b x\n", ["bad:2: has no number", "user item rating"]),
        ("a b 1\na b nan\n", ["bad:2: the rating `nan`", "user item rating"]),
        ("a b 1\na b -inf\n", ["bad:2: the rating `-inf`", "user item rating"]),
        ("a b 1\n\na b\n", ["bad:3: has no rating", "user item rating"]),
        ("a,b,1\n,b,2\n", ["bad:2: a user or an item has no name", "user item rating"]),
        ("a,\"b,1\n", ["bad:1: a double quote", "close it"]),
    ] {
        desk.write("bad", text);
        desk.run("train completion bad --radius 1").fails(&words);
        desk.run("train completion ratings.csv --radius 1 --test bad").fails(&words);
    }
    desk.write("bad", [b'a', b' ', 0xff, b' ', b'1', b'\n']);
    desk.run("train completion bad --radius 1").fails(&["bad:1: is not UTF-8"]);
    desk.run("train completion nowhere --radius 1").fails(&["nowhere: cannot be read"]);
    desk.run("train completion . --radius 1").fails(&["is a folder"]);
    desk.write("huge", "a b 1e308\na c 1e308\n");
    desk.run("train completion huge --radius 1").refuses(&["too large"]);
    desk.run("train completion huge --radius 1 --centre none").refuses(&[]);
}

#[test]
fn a_missing_radius_is_told_what_would_do() {
    let desk = desk();
    let line = "train completion ratings.csv --centre mean";
    let run = desk.run(line).fails(&["--radius", "--radius auto"]);
    // √(12 · 9) times the root mean square of what the mean leaves.
    let all = triples(70, 1);
    let mean = all.iter().map(|t| t.2).sum::<f64>() / 70.0;
    let square = all.iter().map(|t| (t.2 - mean).powi(2)).sum::<f64>() / 70.0;
    let expected = (108.0 * square).sqrt();
    let told = run.stderr.split("by hand, ").nth(1).unwrap().split(' ').next().unwrap();
    assert!((told.parse::<f64>().unwrap() / expected - 1.0).abs() < 1e-3, "{told} {expected}");
}

#[test]
fn options_of_other_tasks_are_refused_with_a_way_out() {
    let desk = desk();
    let line = "train completion ratings.csv --radius 1";
    for option in [
        "--lambda 1",
        "--c 1",
        "--l1 1",
        "--q-norm",
        "--nonnegative",
        "--epsilon 1",
        "--intercept",
        "--scale rms",
        "--class-weights balanced",
        "--sample-weights w",
        "--costs c",
        "--hamming plain",
        "--format csv",
        "--features f",
        "--columns 1",
        "--min-count 2",
        "--lowercase",
        "--label x",
        "--categorical y",
        "--train-folds 1",
        "--test-folds 2",
        "--watch-test",
        "--step predefined",
        "--direction away",
        "--cache on",
        "--sampling gap",
        "--acceleration on",
        "--average weighted",
        "--batch 2",
        "--option i",
        "--threads 2",
        "--warm-start model",
    ] {
        let name = option.split(' ').next().unwrap();
        let words = format!("{name} does not go with completion: ");
        desk.run(&format!("{line} {option}")).refuses(&[&words]);
    }
    desk.run(&format!("{line} --ball l1")).refuses(&["--ball trace"]);
    for loss in ["absolute", "epsilon-insensitive"] {
        desk.run(&format!("{line} --loss {loss}")).refuses(&["smooth", "--loss squared or huber"]);
    }
    desk.run(&format!("{line} --width 2")).refuses(&["--width is for the loss huber"]);
    for method in ["away", "pairwise"] {
        desk.run(&format!("{line} --solver {method}")).refuses(&["--solver", "block-frank-wolfe"]);
    }
    desk.run(&format!("{line} --solver apg --constants k=2")).refuses(&["--constants is for"]);
}

#[test]
fn values_and_files_that_make_no_sense_are_refused() {
    let desk = desk();
    let line = "train completion ratings.csv --radius 1";
    for option in [
        "--holdout 0",
        "--holdout 1",
        "--holdout -0.5",
        "--holdout x",
        "--holdout nan",
        "--mu -1",
        "--holdout 0.1 --test others.csv",
        "--width 0 --loss huber",
        "--centre median",
    ] {
        desk.run(&format!("{line} {option}")).refuses(&[]);
    }
    for radius in ["0", "-1", "nan", "inf", "x"] {
        desk.run(&format!("train completion ratings.csv --radius {radius}")).refuses(&["--radius"]);
    }
    desk.write("one", "a b 1\n");
    desk.run("train completion one --radius 1 --holdout 0.1").fails(&["--holdout 0.1 leaves none"]);
    desk.run("train completion one --radius 1 --holdout 0.9").fails(&["--holdout 0.9 leaves none"]);
    desk.run("train completion - --test - --radius 1").refuses(&["standard input"]);
    desk.run(&format!("{line} -o ratings.csv")).fails(&["is read here"]);
    desk.run(&format!("{line} --test others.csv --trace others.csv")).fails(&["is read here"]);
    desk.run(&format!("{line} -o no/such/model")).fails(&["cannot be written"]);
    desk.run(&format!("{line} --witness")).refuses(&["--output"]);
}

#[test]
fn other_commands_know_ratings_by_their_radii() {
    let desk = desk();
    desk.run("cv completion ratings.csv --lambdas 1,2").refuses(&["lambda"]);
    desk.run("path completion ratings.csv --over l1 -o x").refuses(&["l1"]);
    desk.run("cv completion ratings.csv --radius 3").refuses(&["the radius is varied"]);
    let found = desk.run("cv completion ratings.csv --radii 2,8 --folds 3 --json").ok().json();
    assert_eq!((&found["over"], &found["metric"]), (&"radius".into(), &"rmse".into()));
    assert!(desk.run("help train completion").ok().stdout.contains("--holdout"));
}

#[test]
fn models_and_data_of_other_tasks_do_not_meet() {
    let desk = desk();
    desk.write("two.svm", "1 1:1\n-1 2:1\n1 1:2\n-1 2:3\n");
    desk.train("binary two.svm --witness -o binary");
    desk.train("completion ratings.csv --radius 8 --witness -o model");
    desk.run("certify binary ratings.csv").fails(&["ratings.csv:1"]);
    desk.run("certify model two.svm").fails(&["two.svm:1"]);
    desk.run("predict model two.svm").ok(); // two names a line, none of them known
    desk.run("train binary two.svm --warm-start model").refuses(&["same task"]);
    desk.write("other.csv", csv(&triples(70, 3)));
    desk.run("certify model other.csv").fails(&["not the data"]);
}
