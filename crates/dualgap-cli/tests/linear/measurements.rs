//! Phase retrieval and affine rank minimisation: what was planted is found, proved again, and refused when it was altered.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Dice, interval, number, overlap};
use std::fmt::Write;

const X: [f64; 4] = [1.5, -1.0, 0.5, 0.75];

/// Squares of products with a planted vector: as they are, and with every square written out as a matrix.
fn desk() -> Desk {
    let (desk, mut dice) = (Desk::new(), Dice(3));
    let (mut squares, mut matrices, mut table) =
        (String::new(), String::new(), String::from("a,b,c,d,value\n"));
    for _ in 0..40 {
        let a: Vec<f64> = (0..4).map(|_| dice.signed()).collect();
        let root: f64 = a.iter().zip(X).map(|(a, x)| a * x).sum();
        let value = root * root;
        let _ = writeln!(squares, "{value} 1:{} 2:{} 3:{} 4:{}", a[0], a[1], a[2], a[3]);
        let _ = writeln!(table, "{},{},{},{},{value}", a[0], a[1], a[2], a[3]);
        let _ = write!(matrices, "{value}");
        for k in 0..16 {
            let _ = write!(matrices, " {}:{}", k + 1, a[k / 4] * a[k % 4]);
        }
        matrices.push('\n');
    }
    desk.write("squares.svm", squares);
    desk.write("squares.csv", table);
    desk.write("matrices.svm", matrices);
    desk
}

const LIMITS: &str = "--radius 4.0625 --tolerance 0 --absolute-tolerance 1e-7 --witness -o model";

#[test]
fn a_planted_vector_is_found_up_to_its_sign_and_proved() {
    let desk = desk();
    for data in ["squares.svm", "squares.csv --label value"] {
        let json = desk.train(&format!("phase-retrieval {data} {LIMITS}"));
        assert_eq!(json["task"], "phase-retrieval", "{json:#}");
        let file = data.split(' ').next().unwrap();
        let proved = desk.certify("model", file);
        assert_eq!((&proved["dual_proved"], &proved["certified"]), (&true.into(), &true.into()));
        let told = desk.run(&format!("eval model {file} --json")).ok().json();
        assert!(number(&told, "rmse") < 1e-2, "{told:#}");
        desk.run("inspect model --weights out.tsv").ok();
        let text = String::from_utf8(desk.read("out.tsv")).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("vector"));
        let found: Vec<f64> =
            lines.map(|line| line.rsplit('\t').next().unwrap().parse().unwrap()).collect();
        let sign = 1_f64.copysign(found[0]);
        assert_eq!(found.len(), 4);
        for (found, x) in found.iter().zip(X) {
            assert!((sign * found - x).abs() < 2e-2, "{found} {x}");
        }
    }
}

#[test]
fn squares_that_are_written_out_are_the_same_problem() {
    let desk = desk();
    let squares = desk.train(&format!("phase-retrieval squares.svm {LIMITS}"));
    let one = desk.run("predict model squares.svm").ok().stdout;
    let matrices = desk.train(&format!("affine-rank matrices.svm --matrix-columns 4 {LIMITS}"));
    assert!(overlap(interval(&squares), interval(&matrices)), "{squares:#} {matrices:#}");
    let other = desk.run("predict model matrices.svm").ok().stdout;
    for (one, other) in one.lines().zip(other.lines()) {
        let [one, other] = [one, other].map(|line| line.parse::<f64>().unwrap());
        assert!((one - other).abs() < 1e-2, "{one} {other}");
    }
    let file = ModelFile::parse(&desk.read("model"));
    let refuses = |forged: &ModelFile| {
        desk.write("forged", forged.sealed());
        desk.run("certify forged matrices.svm").refuses(&[]);
    };
    refuses(&file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = 3.0.into()));
    refuses(&file.with_header(|h| h["task"]["structure"]["measured"]["columns"] = 3.into()));
    let mut altered = file.clone();
    let doubled: Vec<f64> = file.floats("low_rank.s").iter().map(|s| 0.5 * s).collect();
    altered.set_floats("low_rank.s", &doubled);
    refuses(&altered);
}

#[test]
fn what_is_missing_or_makes_no_matrix_is_said() {
    let desk = desk();
    for (line, words) in [
        ("phase-retrieval squares.svm", &["--radius"][..]),
        ("affine-rank matrices.svm --radius 1", &["--matrix-columns"]),
        ("affine-rank matrices.svm --radius 1 --matrix-columns 3", &["16", "3 columns"]),
        ("affine-rank matrices.svm --radius 1 --matrix-columns 0", &["--matrix-columns"]),
        ("phase-retrieval squares.svm --radius 1 --loss absolute", &["smooth", "huber"]),
        ("phase-retrieval squares.svm --radius 1 --ball l1", &["--ball"]),
        ("phase-retrieval squares.svm --radius 1 --lambda 1", &["--lambda", "--mu"]),
        ("phase-retrieval squares.svm --radius 1 --solver away", &["--solver"]),
        ("phase-retrieval nowhere.svm --radius 1", &["nowhere.svm"]),
    ] {
        desk.run(&format!("train {line}")).refuses(words);
    }
    desk.run("cv phase-retrieval squares.svm").refuses(&["radius"]);
    desk.write("words.svm", "yes 1:1\nno 1:2\n");
    desk.run("train phase-retrieval words.svm --radius 1").refuses(&["words.svm"]);
}
