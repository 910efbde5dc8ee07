//! `--ball trace`: weights of low rank, from training to the proof of the gap, and what does not go with them.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, interval, number, overlap};

const LINE: &str = "multiclass four.svm --ball trace --radius 1.5 --mu 0.01 --loss softmax";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("four.svm", Table::new(60, 6, 4, 2).text());
    desk
}

#[test]
fn a_model_is_trained_applied_and_proved_again() {
    let desk = desk();
    for scale in ["", "--scale rms"] {
        let json = desk.train(&format!("{LINE} {scale} --witness -o model"));
        let ball = &json["ball"];
        assert_eq!((&ball["name"], &json["solver"]), (&"trace".into(), &"auto".into()), "{json:#}");
        let file = ModelFile::parse(&desk.read("model"));
        assert!(!file.tensors.contains_key("weights"));
        let values = file.floats("low_rank.s");
        assert_eq!(number(ball, "rank"), values.len() as f64);
        assert!(!scale.is_empty() || values.iter().sum::<f64>() <= 1.5);
        let proved = desk.certify("model", "four.svm");
        assert_eq!((&proved["dual_proved"], &proved["ball"]), (&true.into(), ball));
        assert_eq!(interval(&proved), interval(&json));
    }
    for command in ["predict", "eval", "predict --probabilities"] {
        desk.run(&format!("{command} model four.svm")).ok();
    }
    let told = desk.run("inspect model").ok().stdout;
    assert!(told.contains("trace, radius 1.5") && told.contains("of rank"), "{told}");
    let told = desk.run(&format!("train {LINE}")).ok().stdout;
    assert!(told.contains("of rank"), "{told}");
}

/// μ/2‖w‖² is λ/2‖w‖², and a ball without an edge in sight is no ball.
#[test]
fn in_a_large_ball_the_optimum_is_that_of_lambda() {
    let desk = desk();
    let line = "multiclass four.svm --loss softmax --tolerance 1e-6";
    let inside = desk.train(&format!("{line} --ball trace --radius 1000 --mu 0.05"));
    let free = desk.train(&format!("{line} --lambda 0.05"));
    assert!(overlap(interval(&inside), interval(&free)), "{inside:#} {free:#}");
}

#[test]
fn every_method_is_about_the_same_optimum() {
    let desk = desk();
    let best = desk.train(&format!("{LINE} --tolerance 1e-8"));
    let one_corner = ["frank-wolfe", "block-frank-wolfe", "stochastic-frank-wolfe"];
    for method in one_corner.into_iter().chain(["apg", "svrg", "scgs", "storc"]) {
        let json = desk.train(&format!("{LINE} --passes 100 --solver {method}"));
        assert!(overlap(interval(&json), interval(&best)), "{method}: {json:#}");
    }
    for method in ["away", "pairwise"] {
        desk.run(&format!("train {LINE} --solver {method}"))
            .refuses(&["--solver", "block-frank-wolfe"]);
    }
}

#[test]
fn forged_models_are_refused() {
    let desk = desk();
    desk.train(&format!("{LINE} --passes 2 --witness -o model"));
    let file = ModelFile::parse(&desk.read("model"));
    let refuses = |forged: &ModelFile, words: &[&str]| {
        desk.write("forged", forged.sealed());
        desk.run("certify forged four.svm").refuses(words);
    };
    refuses(&file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = 0.1.into()), &["ball"]);
    refuses(&file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = 3.into()), &["dual"]);
    refuses(
        &file.with_header(|h| h["task"]["penalty"]["ball"]["name"] = "l1".into()),
        &["weights"],
    );
    for forged in file.with_other_penalties() {
        refuses(&forged, &["weights"]);
    }
    for tensor in ["low_rank.u", "low_rank.s", "low_rank.v"] {
        let numbers = file.floats(tensor);
        let with = |change: &dyn Fn(&f64) -> f64| {
            let mut forged = file.clone();
            forged.set_floats(tensor, &numbers.iter().map(change).collect::<Vec<_>>());
            forged
        };
        refuses(&with(&|x| 4.0 * x), &["not in the ball"]);
        refuses(&with(&|_| f64::NAN), &["low_rank"]);
        let mut without = file.clone();
        without.tensors.remove(tensor);
        refuses(&without, &["low_rank"]);
        let mut shape = file.clone();
        shape.tensors.get_mut(tensor).unwrap().shape.insert(0, 1);
        refuses(&shape, &["low_rank"]);
    }
    // A rank and a size that no memory has: of rank zero, any matrix takes none.
    let shaped = |features: u64, rank: usize| {
        let mut forged = file.with_header(|h| h["features"] = features.into());
        for (name, shape) in [
            ("low_rank.u", vec![features as usize, rank]),
            ("low_rank.s", vec![rank]),
            ("low_rank.v", vec![4, rank]),
        ] {
            let tensor = forged.tensors.get_mut(name).unwrap();
            (tensor.shape, tensor.bytes) = (shape, Vec::new());
        }
        forged
    };
    refuses(&shaped(6, 1 << 40), &["safetensors"]);
    refuses(&shaped(6, usize::MAX), &["safetensors"]);
    refuses(&shaped(1 << 50, 0), &["features"]);
    desk.run("inspect forged").refuses(&["more weights than can be written out"]);
}

#[test]
fn a_kept_run_goes_on_as_if_it_had_never_ended() {
    let desk = desk();
    desk.write("many.svm", Table::new(400, 6, 3, 5).text());
    let many = "multiclass many.svm --ball trace --radius 4 --loss softmax";
    let lines = [
        LINE.to_string(),
        format!("{LINE} --solver pdbfw --constants delta=0.5 --scale rms"),
        format!("{many} --mu 0"),
        format!("{many} --mu 1e-5"),
    ];
    for (k, line) in lines.iter().enumerate() {
        let line = format!("train {line} --tolerance 0 -q");
        desk.run(&format!("{line} --passes 30 --witness -o whole")).ok();
        desk.run(&format!("{line} --passes 7 --checkpoint {k}.ck --checkpoint-every 0.5")).ok();
        desk.run(&format!("{line} --passes 16 --checkpoint {k}.ck --resume {k}.ck")).ok();
        desk.run(&format!("{line} --passes 30 --resume {k}.ck --witness -o resumed")).ok();
        assert_eq!(desk.read("whole"), desk.read("resumed"), "{line}");
    }
    let other = "train multiclass four.svm --loss softmax --resume 0.ck";
    for (ball, word) in [
        ("--ball trace --radius 2 --mu 0.01", "ball"),
        ("--ball l1 --radius 1.5 --mu 0.01", "ball"),
        ("--lambda 0.01", "penalty"),
        ("--ball trace --radius 1.5 --mu 0.02", "mu"),
        ("--ball trace --radius 1.5 --mu 0.01 --solver apg", "method"),
        ("--ball trace --radius 1.5 --mu 0.01 --solver pdbfw --constants delta=0.5", "constants"),
        ("--ball trace --radius 1.5 --mu 0.01 --seed 1", "seed"),
    ] {
        let words = format!("its {word} is");
        desk.run(&format!("{other} {ball}")).fails(&["0.ck", "another run", &words]);
    }
}

#[test]
fn what_does_not_go_with_low_rank_is_refused() {
    let desk = desk();
    desk.run(&format!("train {LINE} --watch-test --test four.svm"))
        .refuses(&["--watch-test does not go with --ball: "]);
    desk.run(&format!("train {LINE} --solver apg --checkpoint run")).refuses(&["pdbfw"]);
}
