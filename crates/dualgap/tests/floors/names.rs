//! The program does not know structures by their names: what is different about one, its room says, by the trait or by its type.
//! A comparison with a name holds for nobody's own structure, and is wrong in silence when a structure is added.

use crate::source::{files, strings};
use crate::source_folder;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The strings of a source that are constants of one of these names, in quotes.
fn constants(source: &str, names: &[&str]) -> Vec<String> {
    let of = |line: &str| {
        let (name, value) =
            line.trim().strip_prefix("const ")?.split_once(": &'static str = \"")?;
        names.contains(&name).then(|| format!("\"{}\"", value.trim_end_matches("\";")))
    };
    source.lines().filter_map(of).collect()
}

#[test]
fn the_program_compares_no_structure_by_its_name() {
    let program = source_folder().join("../../dualgap-cli/src");
    let of = |folder: &Path, names: &[&str]| -> Vec<String> {
        let sources = files(folder).into_iter().map(|path| fs::read_to_string(path).unwrap());
        sources.flat_map(|source| constants(&source, names)).collect()
    };
    let mut names: BTreeSet<String> = BTreeSet::new();
    names.extend(of(&source_folder().join("structure"), &["NAME", "KERNEL_NAME"]));
    names.extend(of(&program.join("problem"), &["COMMAND"]));
    for known in ["\"chain\"", "\"kernel_linear\"", "\"binary\"", "\"phase-retrieval\""] {
        assert!(names.contains(known), "{known} is not in {names:?}: is the scanner blind?");
    }
    let (mut seen, mut found) = (0, Vec::new());
    for path in files(&program) {
        if path.starts_with(program.join("problem")) {
            continue; // where the options of each task are
        }
        for string in strings(&fs::read_to_string(&path).unwrap()) {
            seen += 1;
            if names.contains(&string.text) {
                found.push(format!("{}:{}: {}", path.display(), string.line, string.text));
            }
        }
    }
    assert!(seen > 500, "only {seen} strings were seen: is the scanner blind?");
    assert!(found.is_empty(), "let the structure say it:\n{}", found.join("\n"));
}

#[test]
fn names_are_seen_where_they_are_declared() {
    let source = "    const NAME: &'static str = \"a\";\nconst OTHER: &'static str = \"b\";\n\
                  const NAME: &'static str = O::NAME;\n// const NAME: &'static str = \"c\";\n";
    assert_eq!(constants(source, &["NAME"]), ["\"a\""]);
}
