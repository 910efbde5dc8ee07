//! `--solver eg`: trained, stored, resumed, proved, and refused where it has no meaning.

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, Words, interval, overlap};

#[test]
fn exponentiated_gradient_certifies_the_optimum_of_every_solver() {
    let (desk, data) = (Desk::new(), Table::new(30, 5, 3, 2));
    desk.write("three.svm", data.text());
    desk.write("words.data", Words::new(15, 4).text());
    let exact = Problem::multiclass(&data, None, None, 0.25);
    for line in ["multiclass three.svm", "chain words.data"] {
        let data = line.split(' ').nth(1).unwrap();
        let line = format!("{line} --lambda 0.25");
        let bracket = interval(&desk.train(&format!("{line} --tolerance 1e-6")));
        let eg = format!("{line} --solver eg --sampling uniform --seed 3");
        let run = desk.train(&format!("{eg} --tolerance 1e-3 --passes 2000 --witness -o model"));
        assert_eq!((&run["solver"], &run["stop"]), (&"eg".into(), &"gap_reached".into()), "{run}");
        assert!(overlap(interval(&run), bracket), "{run}");
        assert!(run["counters"]["halvings"].is_u64(), "{run}");
        let proved = desk.certify("model", data);
        assert_eq!(proved["dual_proved"], true);
        if data == "three.svm" {
            exact.confirms(&run, &ModelFile::parse(&desk.read("model")));
        }
        let told = desk.run("inspect model").ok().stdout;
        assert!(told.contains("exponentiated gradient"), "{told}");

        let rest = "--tolerance 0 -q";
        desk.run(&format!("train {eg} {rest} --passes 9 -o whole")).ok();
        desk.run(&format!("train {eg} {rest} --passes 5 --checkpoint kept -o half")).ok();
        desk.run(&format!("train {eg} {rest} --passes 9 --resume kept -o more")).ok();
        assert_eq!(desk.read("whole"), desk.read("more"));
        desk.run(&format!("train {line} --warm-start model -q")).ok();
        let path = "--from 1 --to 0.5 --tolerance 0.1";
        desk.run(&format!(
            "path {} --solver eg {path} -o folder",
            line.split(" --").next().unwrap()
        ))
        .ok();
        std::fs::remove_dir_all(desk.path("folder")).unwrap();
        std::fs::remove_file(desk.path("kept")).unwrap();
    }
}

#[test]
fn what_exponentiated_gradient_does_not_have_is_refused() {
    let desk = Desk::new();
    desk.write("three.svm", Table::new(30, 5, 3, 2).text());
    desk.write("two.svm", Table::new(30, 5, 2, 2).text());
    desk.write("words.data", Words::new(15, 4).text());
    desk.run("train chain words.data --witness -q -o model").ok();
    for (line, named) in [
        ("multiclass three.svm --loss softmax", ""),
        ("multiclass three.svm --rescale slack", "margin rescaling"),
        ("chain words.data --rescale slack", "margin rescaling"),
        ("binary two.svm", ""),
        ("chain words.data --l1 0.1", "squared norm"),
        ("chain words.data --sampling gap", "permuted, uniform or cyclic"),
        ("chain words.data --warm-start model", "warm start"),
        ("chain words.data --step predefined", "--step"),
        ("chain words.data --direction pairwise", "--direction"),
        ("chain words.data --average weighted", "--average"),
        ("chain words.data --batch 4", "--batch"),
        ("chain words.data --option ii", "--option"),
        ("multiclass three.svm --loss softmax --ball l1 --radius 1", "no solver `eg` in a ball"),
    ] {
        let run = desk.run(&format!("train {line} --solver eg"));
        assert_eq!(run.code, Some(2), "{line}: {run:#?}");
        assert!(run.stderr.contains(named), "{line}: {}", run.stderr);
    }
}
