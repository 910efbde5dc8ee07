//! The house has floors: a lower room never imports a higher one. This reads the library's source and
//! names every path that leads upward.
//!
//! A path is `crate::room`, also in the braces of a `use`, or a chain of `super::` that climbs out of its
//! own room. Comments, strings and `#[cfg(test)]` items do not count. Files that import each other in a circle are no better:
//! see `circles`. What the library offers is counted, by its paths and its names: see `face`.

mod circles;
mod face;
mod flags;
mod names;
mod source;

use source::{Token, files, is_test_module, modules, tokens, without_tests};
use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up. A room may import itself and whatever stands before it.
const FLOORS: [&str; 11] = [
    "error",
    "linalg",
    "container",
    "data",
    "term",
    "run",
    "dual",
    "ball",
    "methods",
    "structure",
    "task",
];

/// What the crate's root offers under another name, and the room it comes from.
const AT_THE_ROOT: [(&str, &str); 4] =
    [("Error", "error"), ("Result", "error"), ("Setting", "error"), ("Source", "error")];

/// A path that leads upward.
#[derive(Debug, PartialEq)]
struct Violation {
    file: String,
    line: usize,
    from: String,
    to: String,
}

/// The names that directly follow `crate::` from token k on: one, or several in braces.
fn first_names(tokens: &[Token], k: usize) -> Vec<&Token> {
    let Some(first) = tokens.get(k) else { return Vec::new() };
    if first.text != "{" {
        return vec![first];
    }
    let (mut names, mut depth, mut expected) = (Vec::new(), 0_i32, false);
    for token in &tokens[k..] {
        match token.text.as_str() {
            "{" => (depth, expected) = (depth + 1, depth == 0),
            "}" => depth -= 1,
            "," => expected = depth == 1,
            _ if expected => {
                names.push(token);
                expected = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// Every path of this source, as a file of the library, that leads upward.
fn violations(file: &Path, source: &str) -> Vec<Violation> {
    let tokens = without_tests(&tokens(source));
    let modules = modules(file);
    let from = modules[0].clone();
    let floor = |room: &str| FLOORS.iter().position(|floor| *floor == room);
    let own = floor(&from).unwrap_or_else(|| panic!("{from} has no floor"));
    let mut found = Vec::new();
    for k in 0..tokens.len() {
        let begins = k == 0 || tokens[k - 1].text != "::";
        // How many modules the path goes up, and where the names begin.
        let (up, names) = match tokens[k].text.as_str() {
            "crate" if begins && tokens.get(k + 1).is_some_and(|t| t.text == "::") => {
                (modules.len(), k + 2)
            }
            "super" if begins => {
                let supers = tokens[k..]
                    .chunks(2)
                    .take_while(|pair| {
                        pair[0].text == "super" && pair.get(1).is_some_and(|t| t.text == "::")
                    })
                    .count();
                (supers, k + 2 * supers)
            }
            _ => continue,
        };
        if up < modules.len() {
            continue; // still within the room
        }
        for name in first_names(&tokens, names) {
            let alias = AT_THE_ROOT.iter().find(|(alias, _)| *alias == name.text);
            let to = alias.map_or(name.text.as_str(), |(_, room)| room);
            // What is on no floor is a new name at the root: it must be given one above.
            if floor(to).is_none_or(|floor| floor > own) {
                found.push(Violation {
                    file: file.display().to_string(),
                    line: name.line,
                    from: from.clone(),
                    to: to.to_string(),
                });
            }
        }
    }
    found
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")
}

#[test]
fn no_room_imports_a_higher_one() {
    let folder = source_folder();
    let mut found = Vec::new();
    let mut downward = 0;
    for path in files(&folder) {
        let file = path.strip_prefix(&folder).unwrap();
        if file == Path::new("lib.rs") {
            continue; // the roof: it names every room
        }
        if is_test_module(&path) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        downward += without_tests(&tokens(&source)).iter().filter(|t| t.text == "crate").count();
        found.extend(violations(file, &source));
    }
    assert!(downward > 50, "only {downward} paths were seen: is the scanner blind?");
    let list: Vec<String> = found
        .iter()
        .map(|v| format!("src/{}:{}: {} imports {}", v.file, v.line, v.from, v.to))
        .collect();
    assert!(found.is_empty(), "a lower floor imports a higher one:\n{}", list.join("\n"));
}

#[test]
fn every_room_has_a_floor() {
    let folder = source_folder();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let room = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(room == "lib" || FLOORS.contains(&room.as_str()), "{room} is on no floor");
    }
    // And lib.rs declares no room that the folder does not have.
    let lib = tokens(&fs::read_to_string(folder.join("lib.rs")).unwrap());
    for pair in without_tests(&lib).windows(2).filter(|pair| pair[0].text == "mod") {
        let room = pair[1].text.as_str();
        assert!(FLOORS.contains(&room), "{room} is on no floor");
    }
}

#[test]
fn the_scanner_sees_every_form_of_a_path_that_leads_upward() {
    let seen = |file: &str, source: &str| -> Vec<(usize, String)> {
        violations(Path::new(file), source).into_iter().map(|v| (v.line, v.to)).collect()
    };
    let upward = |line: usize, to: &str| vec![(line, to.to_string())];
    assert_eq!(seen("linalg/rows.rs", "use crate::data::Examples;"), upward(1, "data"));
    assert_eq!(seen("linalg/rows.rs", "\nuse crate::{Error, run::Budget};"), upward(2, "run"));
    assert_eq!(
        seen("run/mod.rs", "use crate::{\n  data::{self, structure},\n  structure};"),
        upward(3, "structure")
    );
    assert_eq!(seen("term/link.rs", "fn f() { let x = crate :: run::best(); }"), upward(1, "run"));
    assert_eq!(seen("run/train.rs", "use super::super::dual::Blocks;"), upward(1, "dual"));
    assert_eq!(seen("run/mod.rs", "use super::{data, task::Model};"), upward(1, "task"));
    assert_eq!(seen("error.rs", "use super::linalg::Sum;"), upward(1, "linalg"));
    assert_eq!(
        seen("dual/engine.rs", "pub(in crate::dual) fn f() -> crate::ball::X {}"),
        upward(1, "ball")
    );
    assert_eq!(seen("dual/mod.rs", "use crate::attic::Box;"), upward(1, "attic"));
    let after_a_string =
        "const A: &str = \"a \\\" //\"; const B: char = '\"'; use crate::task::Model;";
    assert_eq!(seen("run/train.rs", after_a_string), upward(1, "task"));
    let after_tests = "#[cfg(test)]\nmod tests { use crate::task::A; }\nuse crate::task::B;";
    assert_eq!(seen("run/train.rs", after_tests), upward(3, "task"));
}

#[test]
fn the_scanner_lets_pass_what_leads_downward_or_is_no_code() {
    let fine = [
        ("structure/chain.rs", "use crate::{Error, Result, dual::{Blocks, task}, linalg::sum};"),
        (
            "structure/chain.rs",
            "use super::witness::{task, Witness}; use super::super::linalg::rows;",
        ),
        (
            "structure/mod.rs",
            "use self::chain::Chain; use structure::task; use crate::structure::chain;",
        ),
        ("linalg/sum.rs", "//! use crate::task::Model;\n/// [`crate::run`]\n// crate::dual"),
        ("linalg/sum.rs", "/* crate::task /* nested */ crate::run */ fn f<'a>(x: &'a str) {}"),
        ("linalg/sum.rs", "const A: &str = \"crate::task\"; const B: &str = r#\"\"crate::run\"#;"),
        ("linalg/sum.rs", "#[cfg(test)]\nmod tests { fn f() { use crate::data::Examples; } }"),
        ("linalg/sum.rs", "#[cfg(test)]\nuse crate::data::Examples;\nuse crate::Result;"),
        ("data/mod.rs", "pub(crate) fn f() {} pub(super) fn g() {}"),
        ("data/mod.rs", "fn f() { other::crate_name::task(); let supers = 1; }"),
    ];
    for (file, source) in fine {
        assert_eq!(violations(Path::new(file), source), [], "{source}");
    }
}
