//! Label schemes: recognised, checked, converted, and forbidden to be broken; `train tagger`.

use crate::common::{Desk, Dice};
use crate::own_files::column;
use dualgap::data::{Scheme, chunks};
use std::fmt::Write;

/// Sentences of words that tell the chunks, but for one in eight that is a word of something else.
fn sentences(count: usize, seed: u64, scheme: Scheme) -> String {
    let mut random = Dice(seed);
    let mut text = String::new();
    for _ in 0..count {
        let mut labels: Vec<String> = Vec::new();
        let length = 3 + random.below(6);
        while labels.len() < length {
            let kind = ["X", "Y"][random.below(2)];
            if random.below(3) == 0 {
                labels.push("O".into());
            } else {
                labels.push(format!("B-{kind}"));
                labels.extend((0..random.below(3)).map(|_| format!("I-{kind}")));
            }
        }
        for (old, label) in labels.iter().zip(scheme.convert(&labels)) {
            let word =
                if random.below(8) == 0 { ["B-X", "I-Y", "O"][random.below(3)] } else { old };
            let _ = writeln!(text, "w{word} {label}");
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_file_in_another_scheme_has_the_same_chunks_and_comes_back_the_same() {
    let desk = Desk::new();
    let text = sentences(30, 1, Scheme::Bio);
    desk.write("bio.txt", &text);
    for (name, marks) in [("bilou", "BILOU"), ("iobes", "IOBES"), ("iob1", "IOB1")] {
        let run = desk.run(&format!("convert bio.txt --labels {name} -o other.txt")).ok();
        assert!(run.stderr.contains(&format!("BIO to {marks}")), "{}", run.stderr);
        let other = String::from_utf8(desk.read("other.txt")).unwrap();
        assert_ne!(other, text);
        for (a, b) in column(&text, 1).iter().zip(&column(&other, 1)) {
            assert_eq!(chunks(a), chunks(b));
        }
        desk.run("convert other.txt --labels bio -o back.txt -q").ok();
        assert_eq!(desk.read("back.txt"), text.as_bytes(), "{name}");
    }
}

#[test]
fn a_malformed_file_gets_a_note_with_its_line_and_an_error_only_if_that_is_asked_for() {
    let desk = Desk::new();
    desk.write("odd.txt", format!("{}a O\nb I-X\n\n", sentences(20, 2, Scheme::Bio)));
    let lines = sentences(20, 2, Scheme::Bio).lines().count();
    let place = format!("line {}: I-X after O is not BIO", lines + 2);
    let told = desk.run("train tagger odd.txt --passes 2").ok();
    assert!(told.stdout.contains(&place), "{}", told.stdout);
    let told = desk.run("convert odd.txt --labels bilou -o out.txt").ok();
    assert!(told.stderr.contains(&format!("odd.txt:{}", lines + 2)), "{}", told.stderr);
    desk.run("train tagger odd.txt --passes 2 --forbid illegal").refuses(&[
        "odd.txt",
        &place,
        "convert --labels",
    ]);
}

#[test]
fn a_model_in_another_scheme_answers_in_that_of_its_file() {
    let desk = Desk::new();
    desk.write("train.txt", sentences(60, 3, Scheme::Bio));
    desk.write("test.txt", sentences(30, 4, Scheme::Bio));
    let trained = desk.train("tagger train.txt --test test.txt --scheme bilou --witness -o model");
    let told = desk.run("inspect model --json").ok().json();
    let labels = told["labels"].to_string();
    assert!(labels.contains("U-X") && labels.contains("L-Y"), "{labels}");
    desk.run("predict model test.txt -o labelled.txt").ok();
    let labelled = String::from_utf8(desk.read("labelled.txt")).unwrap();
    let predicted = column(&labelled, 2);
    assert!(predicted.iter().all(|y| Scheme::Bio.first_mistake(y).is_none()));
    let (mut right, mut all) = (0, 0);
    for (truth, predicted) in column(&labelled, 1).iter().zip(&predicted) {
        let (truth, predicted) = (chunks(truth), chunks(predicted));
        right += 2 * predicted.iter().filter(|chunk| truth.contains(chunk)).count();
        all += truth.len() + predicted.len();
    }
    let f1 = trained["test"]["chunks"]["f1"].as_f64().unwrap();
    assert!((f1 - f64::from(right as u32) / f64::from(all as u32)).abs() < 1e-12);
    assert_eq!(desk.certify("model", "train.txt")["certified"], true);
}

#[test]
fn what_is_forbidden_is_never_predicted() {
    let desk = Desk::new();
    desk.write("train.txt", sentences(60, 5, Scheme::Iobes));
    desk.write("test.txt", sentences(60, 6, Scheme::Iobes));
    let broken = |options: &str| {
        desk.train(&format!("tagger train.txt {options} --witness -o model"));
        desk.run("predict model test.txt -o labelled.txt").ok();
        let labelled = String::from_utf8(desk.read("labelled.txt")).unwrap();
        let predicted = column(&labelled, 2);
        assert_eq!(desk.certify("model", "train.txt")["certified"], true, "{options}");
        predicted.iter().filter(|y| Scheme::Iobes.first_mistake(y).is_some()).count()
    };
    // Without transitions that were learned, words decide, and break the scheme.
    assert!(broken("--passes 1 --lambda 100") > 0);
    for options in ["", "--loss log", "--beam 3", "--rescale slack", "--lambda 100", "--scheme bio"]
    {
        let limit = if options.contains("--beam") { "--passes 20" } else { "--passes 5" };
        assert_eq!(broken(&format!("--forbid illegal {limit} {options}")), 0, "{options}");
    }
    let told = desk.run("inspect model --json").ok().json();
    assert_eq!(told["problem"]["forbid"], "bio");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let desk = Desk::new();
    desk.write("tags.txt", "a NOUN\nb VERB\n\na NOUN\n");
    desk.write("chunks.txt", sentences(5, 7, Scheme::Bio));
    desk.run("train tagger tags.txt --forbid illegal").refuses(&["tags.txt", "no scheme"]);
    desk.run("train tagger tags.txt --scheme bilou").refuses(&["tags.txt", "no scheme"]);
    desk.run("train tagger chunks.txt --scheme bmes").refuses(&["bmes", "bilou"]);
    desk.run("convert tags.txt --labels bio").refuses(&["tags.txt:1", "NOUN"]);
    desk.run("train tagger chunks.txt --forbid illegal --kernel rbf").refuses(&["kernel"]);
    desk.run("train tagger chunks.txt --forbid illegal --solver eg").refuses(&[]);
    desk.write("chunks.crfsuite", "B-X\tw=a\tv=b\nI-X\tw=b\tv=c\n\n");
    desk.run("train tagger chunks.crfsuite --scheme bilou").refuses(&["--scheme", "column"]);
}

#[test]
fn a_tagger_is_a_chain() {
    let desk = Desk::new();
    desk.write("train.txt", sentences(20, 8, Scheme::Bio));
    desk.train("tagger train.txt -o one");
    desk.train("chain train.txt -o other");
    assert_eq!(desk.read("one"), desk.read("other"));
    desk.write("templates", "U0:%x[0,0]\nB\n");
    desk.train("tagger train.txt --templates templates -o one");
    desk.train("chain train.txt --features templates -o other");
    assert_eq!(desk.read("one"), desk.read("other"));
}

#[test]
fn columns_of_conllu_go_by_their_names() {
    let desk = Desk::new();
    let line = |id: usize, word: &str, tag: &str| {
        format!("{id}\t{word}\t{word}\t{tag}\tT{tag}\t_\t0\troot\t_\t_\n")
    };
    let text: String = (0..12)
        .map(|i| {
            [line(1, ["a", "b"][i % 2], ["N", "V"][i % 2]), line(2, "c", "P"), "\n".into()].concat()
        })
        .collect();
    desk.write("train.conllu", text);
    desk.train("tagger train.conllu --label xpos -o one");
    desk.train("tagger train.conllu --columns form,xpos -o other");
    assert_eq!(desk.read("one"), desk.read("other"));
    desk.train("tagger train.conllu --columns form,upos --label xpos -o one");
    desk.train("tagger train.conllu --columns form,upos,xpos -o other");
    assert_eq!(desk.read("one"), desk.read("other"));
    desk.run("train tagger train.conllu --label nothing").refuses(&["--label", "upos"]);
}

#[test]
fn lambda_of_a_tagger_is_chosen_by_f1_on_one_held_out_part() {
    let desk = Desk::new();
    desk.write("train.txt", sentences(40, 9, Scheme::Bio));
    let told = desk.train("tagger train.txt --lambda auto");
    let auto = &told["auto"];
    assert_eq!((&auto["held_out"], &auto["folds"]), (&1.into(), &5.into()));
    let candidates = auto["candidates"].as_array().unwrap();
    let f1 = |k: usize| candidates[k]["f1"].as_f64().unwrap();
    let best = (0..candidates.len()).fold(0, |best, k| if f1(k) > f1(best) { k } else { best });
    assert_eq!(auto["chosen"], candidates[best]["value"]);
    assert!(candidates.len() <= 4 && candidates[0]["value"] == 100.0 / 40.0);
    let told = desk.run("train tagger train.txt --lambda auto").ok();
    assert!(told.stdout.contains("with F1"), "{}", told.stdout);
}

#[test]
fn hashed_features_need_no_names() {
    let desk = Desk::new();
    desk.write("train.txt", sentences(60, 10, Scheme::Bio));
    desk.write("test.txt", sentences(30, 11, Scheme::Bio));
    let named = desk.train("tagger train.txt --test test.txt -o named");
    let hashed = desk.train("tagger train.txt --test test.txt --hash 16 --witness -o hashed");
    // With so many numbers hardly a feature shares its own, and the problem is nearly the same.
    let error = |told: &serde_json::Value| told["test"]["error"].as_f64().unwrap();
    assert!((error(&named) - error(&hashed)).abs() < 0.02, "{named} {hashed}");
    assert_eq!(desk.certify("hashed", "train.txt")["certified"], true);
    let told = desk.run("inspect hashed --json").ok().json();
    let hash = &told["problem"]["recipe"]["format"]["columns"]["hash"];
    assert_eq!(hash["bits"], 16);
    assert!(hash["features"].as_u64().unwrap() > 100 && hash["colliding"].is_u64(), "{hash}");
    let lines = |model: &str| {
        desk.run(&format!("predict {model} test.txt -o {model}.txt")).ok();
        String::from_utf8(desk.read(&format!("{model}.txt"))).unwrap()
    };
    let (named, hashed) = (lines("named"), lines("hashed"));
    let same = named.lines().zip(hashed.lines()).filter(|(a, b)| a == b).count();
    assert!(50 * same >= 49 * named.lines().count());
    let told = desk.run("train tagger train.txt --hash 4 --passes 1").ok();
    assert!(told.stdout.contains("100.0 % of them share"), "{}", told.stdout);
    desk.write("pairs", "U0:%x[0,0]\nB1:%x[0,0]\n");
    desk.run("train tagger train.txt --features pairs --hash 10").refuses(&["label pairs"]);
    desk.run("train tagger train.txt --hash 40").exits(2);
}
