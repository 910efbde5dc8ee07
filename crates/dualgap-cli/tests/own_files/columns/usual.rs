//! What a tagger does when nothing is said.

use crate::common::Desk;
use crate::own_files::sentences::Sentences;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("train.txt", Sentences::new(60, 1).labelled());
    desk
}

#[test]
fn a_bare_tagger_counts_mistakes_and_averages_ten_passes() {
    let desk = desk();
    let json = desk.train("chain train.txt -o bare");
    assert_eq!((&json["passes"], &json["stop"]), (&10.0.into(), &"pass_limit".into()));
    let said = "chain train.txt --hamming plain --average weighted --passes 10 -o said";
    desk.train(said);
    assert_eq!(desk.read("bare"), desk.read("said"));
}

#[test]
fn what_is_said_is_done_and_nothing_else() {
    let desk = desk();
    let told = |line: &str| {
        desk.train(&format!("chain train.txt {line} -o model"));
        let json = desk.run("inspect model --json").ok().json();
        let average = json["provenance"]["method"]["average"].clone();
        (json["problem"]["hamming"].clone(), average, json["provenance"]["passes"].clone())
    };
    let (hamming, average, _) = told("--tolerance 0.1");
    assert_eq!((hamming, average), ("plain".into(), "none".into()));
    let (hamming, average, passes) = told("--passes 3 --hamming normalized");
    assert_eq!((hamming, average, passes), ("normalized".into(), "none".into(), 3.0.into()));
    let (_, average, _) = told("--average none");
    assert_eq!(average, "none");
    let (_, average, _) = told("--l1 0.01");
    assert_eq!(average, "none");
}
