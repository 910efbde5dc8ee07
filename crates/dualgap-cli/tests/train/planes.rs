//! Cutting planes in the program: by their names, certified as any other solver, and refused where they have no meaning.

use crate::common::{Desk, Table, Words, interval, overlap};

#[test]
fn cutting_planes_come_to_the_optimum_by_every_name() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 4, 3, 2).text());
    desk.write("words.data", Words::new(20, 2).text());
    for task in ["multiclass data.svm", "chain words.data", "chain words.data --rescale slack"] {
        let data = task.split(' ').nth(1).unwrap();
        let bracket = interval(&desk.train(&format!("{task} --tolerance 1e-6")));
        for solver in ["cutting-plane", "n-slack"] {
            let line = format!("{task} --solver {solver} --tolerance 1e-5");
            let run = desk.train(&format!("{line} --witness -o model"));
            assert_eq!(run["solver"], solver);
            assert!(run["tactics"][0].as_str().unwrap().contains("planes"), "{run}");
            assert!(overlap(interval(&run), bracket), "{task} {solver}: {run}");
            assert!(overlap(interval(&desk.certify("model", data)), bracket), "{task} {solver}");
            let warm = format!("{task} --solver {solver} --passes 1");
            let warm = desk.train(&format!("{warm} --warm-start model"));
            assert!(warm["dual"].as_f64() >= run["dual"].as_f64().map(|dual| dual - 1e-12));
        }
        let [a, b] = ["cutting-plane", "bmrm"]
            .map(|solver| desk.train(&format!("{task} --solver {solver} --passes 6")));
        assert_eq!((&a["solver"], &a["primal"]), (&b["solver"], &b["primal"]));
    }
}

#[test]
fn a_stopped_run_of_cutting_planes_resumes() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(20, 2).text());
    desk.resumes("chain words.data --lambda 0.001 --tolerance 0 --solver cutting-plane", "one");
    desk.resumes("chain words.data --lambda 1e-6 --tolerance 0 --solver n-slack", "each");
}

#[test]
fn what_cutting_planes_do_not_have_is_refused() {
    let desk = Desk::new();
    desk.write("two.svm", Table::new(40, 4, 2, 2).text());
    for (rest, word) in [
        ("--l1 0.1", "λ/2‖w‖²"),
        ("--nonnegative", "λ/2‖w‖²"),
        ("--intercept", "λ/2‖w‖²"),
        ("--batch 4", "--batch"),
        ("--direction away", "--direction"),
        ("--ball l1 --radius 1", "ball"),
    ] {
        for solver in ["cutting-plane", "n-slack"] {
            let line = format!("train binary two.svm --lambda 0.1 --solver {solver} {rest}");
            desk.run(&line).refuses(&[word]);
        }
    }
}
