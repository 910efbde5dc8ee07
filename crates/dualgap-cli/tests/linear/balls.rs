//! `--ball l1`: weights in a ball, from training to the proof of the gap, and what does not go with it.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, interval, number, overlap};
use crate::linear::numbers::Numbers;

/// The three tasks that know balls, each with its data.
const TASKS: [&str; 3] = ["binary binary.svm", "regression numbers.svm", "multiclass three.svm"];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("binary.svm", Numbers::of("binary", 1).text());
    desk.write("numbers.svm", Numbers::of("regression", 1).text());
    desk.write("three.svm", Table::new(40, 6, 3, 2).text());
    desk
}

fn data(task: &str) -> &str {
    task.split_once(' ').unwrap().1
}

#[test]
fn a_model_is_trained_applied_and_proved_again() {
    let desk = desk();
    for task in TASKS {
        let json =
            desk.train(&format!("{task} --ball l1 --radius 0.8 --mu 0.01 --witness -o model"));
        let ball = &json["ball"];
        assert_eq!((&ball["name"], &json["solver"]), (&"l1".into(), &"auto".into()), "{json:#}");
        assert_eq!((number(ball, "radius"), number(ball, "mu")), (0.8, 0.01));
        // A step looks at the entries of a row at least once; what is told in words is the same number.
        let touched = json["counters"]["entries_touched"].as_u64().unwrap();
        assert!(touched >= json["oracle_calls"].as_u64().unwrap(), "{json:#}");
        assert!(json["counters"]["numbers_selected"].as_u64().unwrap() > 0, "{json:#}");
        assert!(json["tactics"].to_string().contains(&format!("{touched} entries")), "{json:#}");
        let weights = ModelFile::parse(&desk.read("model")).weights();
        assert!(weights.iter().map(|w| w.abs()).sum::<f64>() <= 0.8);
        let nonzero = weights.iter().filter(|&&w| w != 0.0).count();
        assert_eq!(number(&json, "nonzero_weights"), nonzero as f64);
        let proved = desk.certify("model", data(task));
        assert_eq!((&proved["dual_proved"], &proved["ball"]), (&true.into(), ball));
        assert_eq!(interval(&proved), interval(&json), "{task}");
        for command in ["predict", "eval"] {
            desk.run(&format!("{command} model {}", data(task))).ok();
        }
        let told = desk.run("inspect model").ok().stdout;
        assert!(told.contains("l1, radius 0.8") && told.contains("(auto)"), "{told}");
        let table = desk.run(&format!("train {task} --ball l1 --radius 0.8")).ok().stdout;
        for words in ["l1, radius 0.8", "not zero", "entries of the data touched"] {
            assert!(table.contains(words), "{table}");
        }
    }
}

/// Nonnegative weights of a given sum, stored, proved again, and refused when they are others.
#[test]
fn a_model_in_the_simplex_is_proved_from_its_data() {
    let desk = desk();
    for (task, mu) in TASKS.into_iter().zip(["0", "0.05", "0.01"]) {
        let line = format!("{task} --ball simplex --radius 1.5 --mu {mu} --tolerance 1e-4");
        let json = desk.train(&format!("{line} --witness -o model"));
        assert_eq!(json["ball"]["name"], "simplex", "{json:#}");
        let file = ModelFile::parse(&desk.read("model"));
        let weights = file.weights();
        assert!(weights.iter().all(|&w| w >= 0.0), "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.5).abs() < 1e-9);
        let proved = desk.certify("model", data(task));
        assert_eq!((&proved["dual_proved"], &proved["ball"]), (&true.into(), &json["ball"]));
        assert_eq!(interval(&proved), interval(&json), "{task}");
        for command in ["predict", "eval"] {
            desk.run(&format!("{command} model {}", data(task))).ok();
        }
        assert!(desk.run("inspect model").ok().stdout.contains("simplex, radius 1.5"));
        let other = desk.train(&format!("{line} --solver pairwise --scale none"));
        assert!(overlap(interval(&json), interval(&other)), "{json:#} {other:#}");
        // Scaled columns are another simplex, whose weights are stored for the columns as they are.
        desk.train(&format!("{line} --scale max --witness -o scaled"));
        desk.certify("scaled", data(task));
        let refuses = |forged: &ModelFile| {
            desk.write("forged", forged.sealed());
            desk.run(&format!("certify forged {}", data(task))).refuses(&["not in the ball"]);
        };
        let mut shrunk = file.clone();
        let halves: Vec<f64> = file.floats("weights").iter().map(|w| 0.5 * w).collect();
        shrunk.set_floats("weights", &halves);
        refuses(&shrunk);
        let mut signed = file.clone();
        let mut numbers = file.floats("weights");
        numbers[0] -= 2.0;
        numbers[1] += 2.0;
        signed.set_floats("weights", &numbers);
        refuses(&signed);
    }
    // A run that is stored goes on as if it had never ended.
    let line = "train binary binary.svm --ball simplex --radius 2 --tolerance 0 -q";
    desk.run(&format!("{line} --passes 12 --witness -o whole")).ok();
    desk.run(&format!("{line} --passes 5 --checkpoint run")).ok();
    desk.run(&format!("{line} --passes 12 --resume run --witness -o resumed")).ok();
    assert_eq!(desk.read("whole"), desk.read("resumed"));
}

/// μ/2‖w‖² is λ/2‖w‖², and a ball without an edge in sight is no ball.
#[test]
fn in_a_large_ball_the_optimum_is_that_of_lambda() {
    let desk = desk();
    for (task, loss) in TASKS.into_iter().zip(["logistic", "huber", "softmax"]) {
        let line = format!("{task} --loss {loss} --tolerance 1e-6");
        let inside = desk.train(&format!("{line} --ball l1 --radius 1000 --mu 0.05"));
        let free = desk.train(&format!("{line} --lambda 0.05"));
        assert!(overlap(interval(&inside), interval(&free)), "{inside:#} {free:#}");
    }
}

#[test]
fn every_method_is_about_the_same_optimum() {
    let desk = desk();
    let line = "binary binary.svm --ball l1 --radius 0.5 --mu 0.1 --passes 3000";
    let best = desk.train(&format!("{line} --tolerance 1e-8"));
    let methods =
        ["apg", "frank-wolfe", "block-frank-wolfe", "away", "pairwise", "svrg", "scgs", "storc"];
    let methods = methods.map(|method| format!("--solver {method}"));
    let printed = ["--solver block-frank-wolfe --constants s=3,eta=0.1".to_string()];
    let papers =
        ["pdbfw", "pdbfw --constants s=2,k=3,eta=0.4"].map(|way| format!("--solver {way}"));
    for way in methods.iter().chain(&papers).chain(&printed) {
        let json = desk.train(&format!("{line} {way}"));
        assert!(overlap(interval(&json), interval(&best)), "{way}: {json:#}");
    }
}

#[test]
fn a_kept_run_goes_on_as_if_it_had_never_ended() {
    let desk = desk();
    let line = "train multiclass three.svm --ball l1 --radius 3 --mu 1e-4 --tolerance 0 -q";
    desk.run(&format!("{line} --passes 12 --witness -o whole")).ok();
    desk.run(&format!("{line} --passes 5 --checkpoint run")).ok();
    desk.run(&format!("{line} --passes 12 --resume run --witness -o resumed")).ok();
    assert_eq!(desk.read("whole"), desk.read("resumed"));
    desk.run("train multiclass three.svm --ball l1 --radius 2 --resume run")
        .fails(&["another run"]);
    desk.run("train multiclass three.svm --resume run").fails(&["another run"]);
}

#[test]
fn forged_models_are_refused() {
    let desk = desk();
    for task in TASKS {
        desk.train(&format!(
            "{task} --ball l1 --radius 0.8 --mu 0.01 --passes 2 --witness -o model"
        ));
        let file = ModelFile::parse(&desk.read("model"));
        let refuses = |forged: &ModelFile, words: &[&str]| {
            desk.write("forged", forged.sealed());
            desk.run(&format!("certify forged {}", data(task))).refuses(words);
        };
        refuses(
            &file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = 0.7.into()),
            &["ball"],
        );
        refuses(
            &file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = 0.9.into()),
            &["dual"],
        );
        refuses(
            &file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = (-1).into()),
            &["radius"],
        );
        refuses(&file.with_header(|h| h["task"]["penalty"]["mu"] = 0.02.into()), &[]);
        for forged in file.with_other_penalties() {
            refuses(&forged, &[]);
        }
        let mut outside = file.clone();
        let doubled: Vec<f64> = file.floats("weights").iter().map(|w| 2.0 * w).collect();
        outside.set_floats("weights", &doubled);
        refuses(&outside, &["not in the ball"]);
        let mut infeasible = file.clone();
        let mut witness = file.floats("witness.weights");
        witness[0] = 1e9;
        infeasible.set_floats("witness.weights", &witness);
        refuses(&infeasible, &[]);
    }
}

#[test]
fn what_makes_no_ball_is_refused() {
    let desk = desk();
    for (options, words) in [
        ("--ball l1", &["--radius"][..]),
        ("--radius 1", &["--ball"]),
        ("--mu 1", &["--ball"]),
        ("--solver apg", &["--ball"]),
        ("--solver pdbfw", &["--ball"]),
        ("--ball l1 --radius 0", &["--radius", "positive"]),
        ("--ball l1 --radius -1", &["--radius", "positive"]),
        ("--ball l1 --radius nan", &["--radius", "positive"]),
        ("--ball l1 --radius inf", &["--radius", "positive"]),
        ("--ball l1 --radius 1 --mu -1", &["--mu"]),
        ("--ball l1 --radius 1 --mu nan", &["--mu"]),
        ("--ball l2 --radius 1", &["--ball", "l1"]),
        ("--ball trace --radius 1", &["--ball trace", "multiclass", "l1"]),
        ("--ball l1 --radius 1 --solver stochastic-frank-wolfe", &["--solver", "pairwise"]),
        (
            "--ball l1 --radius 1 --solver block-frank-wolfe --constants k=3",
            &["--constants", "s and eta"],
        ),
        ("--ball simplex", &["--radius"]),
        ("--ball simplex --radius 0", &["--radius", "positive"]),
        ("--ball simplex --radius 1 --solver stochastic-frank-wolfe", &["--solver", "pairwise"]),
        ("--ball simplex --radius 1 --loss hinge", &["a ball", "smooth", "--loss"]),
        ("--ball simplex --radius 1 --intercept", &["--intercept"]),
        ("--ball l1 --radius 1 --solver quickly", &["--solver", "pdbfw"]),
        ("--ball l1 --radius 1 --solver pdbfw --constants k=0", &["--constants"]),
        ("--ball l1 --radius 1 --solver bcfw", &["solver `bcfw`", "--solver auto, pdbfw"]),
        ("--constants k=3", &["--ball"]),
        ("--ball l1 --radius 1 --solver apg --constants k=3", &["--constants", "pdbfw"]),
        ("--ball l1 --radius 1 --loss logistic --solver pdbfw", &["--constants delta="]),
        (
            "--ball l1 --radius 1 --loss logistic --solver pdbfw --constants k=3,eta=0.4",
            &["--constants delta="],
        ),
        ("--ball l1 --radius 1 --threads 2", &["--threads", "leave it out"]),
    ] {
        desk.run(&format!("train binary binary.svm {options}")).refuses(words);
    }
    desk.train("binary binary.svm --ball l1 --radius 1 --mu 0");
    desk.train("binary binary.svm --ball l1 --radius 1 --threads 1");
    for ball in ["l1", "trace"] {
        let line =
            format!("multiclass three.svm --ball {ball} --radius 1 --loss softmax --passes 3");
        desk.run(&format!("train {line} --solver pdbfw")).refuses(&["--constants delta="]);
        desk.train(&format!("{line} --solver pdbfw --constants delta=0.1"));
    }
    desk.run("cv binary binary.svm --ball l1 --radius 1").refuses(&["--radius"]);
    desk.run("path binary binary.svm --ball l1 --radius 1 -o folder").refuses(&["--radius"]);
    desk.write("words.txt", "a X\nb Y\n\na X\n\n");
    desk.run("train chain words.txt --ball l1 --radius 1").refuses(&["--ball", "multiclass"]);
}

#[test]
fn only_smooth_losses_go_with_a_ball() {
    let desk = desk();
    for (task, losses, smooth) in [
        ("binary binary.svm", &["hinge"][..], "smooth-hinge, squared-hinge or logistic"),
        ("regression numbers.svm", &["absolute", "epsilon-insensitive"], "squared or huber"),
        ("multiclass three.svm", &["hinge"], "smooth-hinge or softmax"),
    ] {
        for loss in losses {
            let line = format!("train {task} --ball l1 --radius 1 --loss {loss}");
            desk.run(&line).refuses(&["smooth", &format!("--loss {smooth}")]);
        }
    }
}

#[test]
fn options_of_penalties_and_their_solvers_are_refused_in_a_ball() {
    let desk = desk();
    desk.train("binary binary.svm --witness -o old");
    for option in [
        "--lambda 0.1",
        "--c 1",
        "--l1 0.1",
        "--q-norm",
        "--nonnegative",
        "--step predefined",
        "--direction pairwise",
        "--cache on",
        "--sampling cyclic",
        "--acceleration on",
        "--shrinking",
        "--no-shrinking",
        "--average weighted",
        "--batch 2",
        "--option ii",
        "--warm-start old",
    ] {
        let name = option.split(' ').next().unwrap();
        let line = format!("train binary binary.svm --ball l1 --radius 1 {option}");
        desk.run(&line).refuses(&[&format!("{name} does not go with --ball: ")]);
    }
    desk.run("train binary binary.svm --ball l1 --radius 1 --intercept")
        .refuses(&["does not go with a ball", "--intercept=penalised"]);
    desk.train("binary binary.svm --ball l1 --radius 1 --intercept=penalised");
    desk.run("train binary binary.svm --ball l1 --radius 1 --solver svrg --checkpoint run")
        .refuses(&["pdbfw"]);
}
