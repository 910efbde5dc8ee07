//! `--beam`: what a run rests on is said wherever it is spoken of.

use crate::common::{Desk, Words, interval, overlap};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("words.data", Words::new(15, 4).text());
    desk
}

#[test]
fn a_beam_with_bounds_is_certified_by_them() {
    let desk = desk();
    let exact = desk.train("chain words.data --lambda 0.1 --tolerance 1e-5");
    assert_eq!(exact["basis"], "exact");
    let line = "train chain words.data --lambda 0.1 --beam 2 --passes 60 --tolerance 1e-5 --witness -o model";
    let run = desk.run(&format!("{line} --json"));
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    let run = run.json();
    assert_eq!((&run["certified"], &run["basis"]), (&true.into(), &"bounds".into()));
    assert!(overlap(interval(&run), interval(&exact)), "{run} {exact}");
    let proved = desk.certify("model", "words.data");
    assert_eq!((&proved["certified"], &proved["basis"]), (&true.into(), &"bounds".into()));
    assert_eq!(proved["problem"]["beam"]["width"], 2);
    let told = desk.run("certify model words.data").ok().stdout;
    assert!(told.contains("bounds on what the oracle may have missed"), "{told}");
    assert!(told.contains("a beam of 2 labels, with a bound"), "{told}");
    // A beam that drops nothing is exact.
    let wide = desk.train("chain words.data --lambda 0.1 --tolerance 1e-5 --beam 1000");
    assert_eq!((&wide["basis"], &wide["primal"]), (&"exact".into(), &exact["primal"]));
}

#[test]
fn a_beam_without_bounds_is_called_uncertified_everywhere() {
    let desk = desk();
    let line = "train chain words.data --lambda 0.1 --beam 2 --beam-bound off --passes 10 --tolerance 0.5 --witness -o model";
    let run = desk.run(line);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stdout.contains("Not certified"), "{run:#?}");
    // Nor is anything reached where no tolerance was asked for.
    let free = desk.run(&line.replace("--tolerance 0.5", ""));
    assert_eq!(free.code, Some(1), "{free:#?}");
    let run = desk.run(&format!("{line} --json"));
    assert_eq!(run.code, Some(1));
    let run = run.json();
    assert_eq!(run["certified"], false);
    assert!(run["gap"].is_null() && run["basis"].is_null(), "{run}");
    assert!(run["remarks"].to_string().contains("uncertified"), "{run}");
    let inspected = desk.run("inspect model").ok().stdout;
    assert!(inspected.contains("Not certified"), "{inspected}");
    assert_eq!(desk.run("inspect model --json").ok().json()["certificate"]["certified"], false);
    let certified = desk.run("certify model words.data");
    assert_eq!(certified.code, Some(1), "{certified:#?}");
    assert!(certified.stdout.contains("Not certified"), "{certified:#?}");
    let certified = desk.run("certify model words.data --json");
    assert_eq!((certified.code, &certified.json()["certified"]), (Some(1), &false.into()));
}

#[test]
fn beams_and_options_that_do_not_go_together_are_refused() {
    let desk = desk();
    for (line, about) in [
        ("--beam 0", "--beam"),
        ("--beam -1", "--beam"),
        ("--beam-bound off", "--beam"),
        ("--beam 2 --rescale slack", "--beam"),
        ("--option i", "--option"),
        ("--option v", "--option"),
        ("--option iv --rescale slack", "--option"),
        ("--option iv --solver fw", "--option"),
        ("--option iv --step predefined", "--option"),
    ] {
        let run = desk.run(&format!("train chain words.data {line}"));
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(about), "{run:#?}");
    }
    for line in ["--option iv", "--option iii --solver bcfw", "--option ii", "--option iv --beam 2"]
    {
        let run = desk.run(&format!("train chain words.data {line} --passes 3 --tolerance 0"));
        assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    }
}
