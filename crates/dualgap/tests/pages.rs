//! The pages of the book that show code show that of an example which is compiled and run.

use std::fs;
use std::path::Path;

/// What stands between ```` ```rust ```` and ```` ``` ````.
fn code(page: &str) -> Vec<&str> {
    page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn what_a_page_shows_is_in_the_example_of_its_name() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut shown = 0;
    for entry in fs::read_dir(root.join("../../docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().replace('-', "_");
        let Some(thing) = name.strip_prefix("own_") else { continue };
        let example = format!("examples/own_{thing}.rs");
        let source = fs::read_to_string(root.join(&example)).unwrap();
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.contains(&example), "{path:?} does not name {example}");
        for code in code(&page) {
            assert!(source.contains(code), "{path:?} shows what {example} does not have:\n{code}");
            shown += 1;
        }
    }
    assert!(shown > 0, "no page shows any code: is the scanner blind?");
}
