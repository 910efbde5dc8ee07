//! The library does not know the options of the program: its messages name settings, and each interface spells them.

use crate::source::{files, strings};
use crate::source_folder;
use std::fs;

/// Whether a string names an option such as `--label`.
fn names_an_option(string: &str) -> bool {
    string.match_indices("--").any(|(at, _)| {
        let before = string[..at].chars().next_back().unwrap_or(' ');
        let after = string[at + 2..].chars().next().unwrap_or(' ');
        !before.is_alphanumeric() && before != '-' && after.is_ascii_lowercase()
    })
}

#[test]
fn no_string_of_the_library_names_an_option_of_the_program() {
    let (mut seen, mut found) = (0, Vec::new());
    for path in files(&source_folder()) {
        for string in strings(&fs::read_to_string(&path).unwrap()) {
            seen += 1;
            if names_an_option(&string.text) {
                found.push(format!("{}:{}: {}", path.display(), string.line, string.text));
            }
        }
    }
    assert!(seen > 500, "only {seen} strings were seen: is the scanner blind?");
    assert!(found.is_empty(), "use `Setting` in their place:\n{}", found.join("\n"));
}

#[test]
#[allow(clippy::needless_raw_string_hashes)] // they are needed
fn options_are_seen_in_strings_alone() {
    let source = r##"
        // --label in a comment
        /// --label in a comment
        fn f() { let x = y --z; g("take\
            --min-count"); g(r#"say "--label""#, "a--b", "-- ", "---a", '-'); }
    "##;
    let found: Vec<usize> = strings(source)
        .iter()
        .filter(|string| names_an_option(&string.text))
        .map(|string| string.line)
        .collect();
    assert_eq!(found, [4, 5]);
}
