//! Models of numbers from programs whose recipes did not say so: their files have no `numbers` in them.

use crate::common::Desk;
use crate::common::forge::ModelFile;

/// The file as an older program wrote it.
fn older(desk: &Desk, model: &str) {
    let file = ModelFile::parse(&desk.read(model)).with_header(|header| {
        let recipe = header["provenance"]["recipe"].as_object_mut().unwrap();
        assert_eq!(recipe.remove("numbers"), Some(true.into()));
        let mut fields: Vec<&str> = recipe.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["constant", "folds", "format"]);
    });
    desk.write(&format!("old-{model}"), file.sealed());
}

#[test]
fn older_models_of_numbers_predict_and_are_certified() {
    let desk = Desk::new();
    desk.write("n.svm", "2.50 1:1\n+4 1:2\n-0 1:3\n");
    desk.write("n.csv", "x,y\n1,2.50\n2,+4\n3,-0\n");
    desk.write("n.txt", "a 2.5\nb 4\n\nc 0\n");
    for (kind, more) in [("svm", ""), ("csv", ""), ("txt", " --format columns")] {
        let line = format!("regression n.{kind} --lambda 0.1 --tolerance 1e-6 --witness -o {kind}");
        desk.train(&(line + more));
        older(&desk, kind);
        for command in ["certify", "predict", "eval"] {
            let of = |model: &str| desk.run(&format!("{command} {model} n.{kind}")).ok().stdout;
            let old = of(&format!("old-{kind}")).replace(&format!("old-{kind}"), kind);
            assert_eq!(of(kind), old, "{command} {kind}");
        }
    }
}

/// A fingerprint is of what the data are: numbers by their value.
#[test]
fn the_fingerprint_of_numbers_does_not_depend_on_their_spelling() {
    let desk = Desk::new();
    desk.write("n.svm", "2.50 1:1\n+4 1:2\n-0 1:3\n");
    desk.write("same.svm", "2.5 1:1\n4.0 1:2\n0 1:3\n");
    desk.write("other.svm", "2.5 1:1\n4.5 1:2\n0 1:3\n");
    desk.train("regression n.svm --lambda 0.1 --tolerance 1e-6 --witness -o model");
    desk.certify("model", "same.svm");
    desk.run("certify model other.svm").fails(&["not the data"]);
}

#[test]
fn what_is_no_number_is_refused_with_its_line() {
    let desk = Desk::new();
    for (file, text, words) in [
        ("n.svm", "2 1:1\nmany 1:2\n", ["n.svm:2", "`many`"]),
        ("n.csv", "x,y\n1,2\n2,4\n3,many\n", ["n.csv:4", "`many`"]),
        ("n.txt", "a 2\n\nb many\n", ["n.txt:3", "`many`"]),
    ] {
        desk.write(file, text);
        let format = if file == "n.txt" { " --format columns" } else { "" };
        desk.run(&format!("train regression {file} --lambda 0.1{format}")).fails(&words);
    }
}
