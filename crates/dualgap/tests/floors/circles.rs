//! Files that import each other in a circle can only be read, moved and tested together. There are none.
//!
//! An import is a path that begins with `crate` or `super`, in a `use` or in the code. It leads to the file that defines what
//! it names, through the `pub use` of the rooms on the way. The `mod.rs` of a room is its face: it names its files, and is no
//! part of a circle.

use crate::source::{Token, files, is_test_module, modules, tokens, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A path from the crate's root.
pub type Names = Vec<String>;

/// The modules of a crate: what each imports, and what it hands on under a name.
#[derive(Default)]
struct House {
    imports: BTreeMap<Names, Vec<Names>>,
    handed_on: BTreeMap<Names, BTreeMap<String, Names>>,
    faces: BTreeSet<Names>,
}

/// All paths of a tree such as `a::{b, c::{self, d as e}}` from token k on, each with the name it gets.
pub fn tree(words: &[Token], k: &mut usize, before: &Names, found: &mut Vec<(Names, String)>) {
    let mut path = before.clone();
    loop {
        let Some(word) = words.get(*k).map(|word| word.text.clone()) else { return };
        *k += 1;
        if word == "{" {
            while words.get(*k).is_some_and(|word| word.text != "}") {
                tree(words, k, &path, found);
                if words.get(*k).is_some_and(|word| word.text == ",") {
                    *k += 1;
                }
            }
            *k += 1;
            return;
        }
        if word != "self" {
            path.push(word);
        }
        if words.get(*k).is_none_or(|word| word.text != "::") {
            break;
        }
        *k += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if words.get(*k).is_some_and(|word| word.text == "as") {
        name = words.get(*k + 1).map_or(name, |word| word.text.clone());
        *k += 2;
    }
    found.push((path, name));
}

/// A path from the root in the place of one that begins with `crate`, `super` or a module of its own.
fn from_root(path: &Names, own: &Names, known: &dyn Fn(&Names) -> bool) -> Option<Names> {
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let kept = own.len().checked_sub(up)?;
            Some(own[..kept].iter().chain(&path[up..]).cloned().collect())
        }
        first => {
            let child: Names = own.iter().cloned().chain([first.to_string()]).collect();
            known(&child).then(|| own.iter().chain(path).cloned().collect())
        }
    }
}

impl House {
    fn of(folder: &Path) -> Self {
        let sources: Vec<(PathBuf, String)> = files(folder)
            .into_iter()
            .filter(|path| !is_test_module(path))
            .map(|path| {
                let source = fs::read_to_string(&path).unwrap();
                (path.strip_prefix(folder).unwrap().to_path_buf(), source)
            })
            .collect();
        Self::new(&sources)
    }

    fn new(sources: &[(PathBuf, String)]) -> Self {
        let mut house = Self::default();
        let root = |file: &Path| ["lib.rs", "main.rs"].iter().any(|name| file == Path::new(name));
        let names = |file: &Path| if root(file) { Vec::new() } else { modules(file) };
        let all: BTreeSet<Names> = sources.iter().map(|(file, _)| names(file)).collect();
        let known = |name: &Names| all.contains(name);
        for (file, source) in sources {
            let own = names(file);
            if root(file) || file.file_name().is_some_and(|name| name == "mod.rs") {
                house.faces.insert(own.clone());
            }
            let words = without_tests(&tokens(source));
            let (mut imports, mut k) = (Vec::new(), 0);
            while k < words.len() {
                let text = words[k].text.as_str();
                let begins = k == 0 || words[k - 1].text != "::";
                let public = k > 0 && matches!(words[k - 1].text.as_str(), "pub" | ")");
                if text == "use" {
                    k += 1;
                    let mut found = Vec::new();
                    tree(&words, &mut k, &Vec::new(), &mut found);
                    for (path, name) in found {
                        let Some(path) = from_root(&path, &own, &known) else { continue };
                        if public {
                            let handed = house.handed_on.entry(own.clone()).or_default();
                            handed.insert(name, path.clone());
                        }
                        imports.push(path);
                    }
                } else if begins && (text == "crate" || text == "super") {
                    let (mut found, mut at) = (Vec::new(), k);
                    tree(&words, &mut at, &Vec::new(), &mut found);
                    imports.extend(found.iter().filter_map(|(p, _)| from_root(p, &own, &known)));
                    k += 1;
                } else {
                    k += 1;
                }
            }
            house.imports.insert(own, imports);
        }
        house
    }

    /// The file that defines what a path names.
    fn home(&self, path: &Names) -> Option<Names> {
        let mut path = path.clone();
        // A name may be handed on from room to room; more often than this would be a circle of its own.
        for _ in 0..8 {
            let depth = (0..=path.len()).rev().find(|&k| self.imports.contains_key(&path[..k]))?;
            let next = path.get(depth).and_then(|name| {
                let to = self.handed_on.get(&path[..depth])?.get(name)?;
                Some(to.iter().chain(&path[depth + 1..]).cloned().collect::<Names>())
            });
            match next {
                Some(next) if next != path => path = next,
                _ => return Some(path[..depth].to_vec()),
            }
        }
        None
    }

    /// Which files each file imports; faces are left out.
    fn arrows(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let arrow = |(own, imports): (&Names, &Vec<Names>)| {
            let to = imports.iter().filter_map(|path| self.home(path));
            let to = to.filter(|to| to != own && !self.faces.contains(to)).collect();
            (own.clone(), to)
        };
        self.imports.iter().filter(|(own, _)| !self.faces.contains(*own)).map(arrow).collect()
    }

    /// Files that can be reached from themselves, with one way round each.
    fn circles(&self) -> Vec<String> {
        let arrows = self.arrows();
        let mut circles = Vec::new();
        for start in arrows.keys() {
            let mut reached: BTreeMap<&Names, &Names> = BTreeMap::new();
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                for to in arrows.get(at).into_iter().flatten() {
                    if !reached.contains_key(to) {
                        reached.insert(to, at);
                        open.push(to);
                    }
                }
            }
            if let Some(mut at) = reached.get(start).copied() {
                let mut way = vec![start.join("/"), at.join("/")];
                while at != start {
                    at = reached[at];
                    way.push(at.join("/"));
                }
                way.reverse();
                circles.push(way.join(" → "));
            }
        }
        circles
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dualgap-cli/src");
    for folder in [library, program] {
        let house = House::of(&folder);
        let arrows: usize = house.arrows().values().map(BTreeSet::len).sum();
        assert!(arrows > 100, "only {arrows} imports were seen: is the scanner blind?");
        let circles = house.circles();
        assert!(circles.is_empty(), "{} has circles:\n{}", folder.display(), circles.join("\n"));
    }
}

#[test]
fn circles_are_seen_through_whatever_hands_names_on() {
    let house = |sources: &[(&str, &str)]| {
        let own = |&(file, source): &(&str, &str)| (PathBuf::from(file), source.to_string());
        House::new(&sources.iter().map(own).collect::<Vec<_>>())
    };
    let face = ("room/mod.rs", "mod a; mod b; pub use a::A; pub use b::{B, b as other};");
    let round = [
        ("lib.rs", "mod room; mod hall;"),
        face,
        ("room/a.rs", "use super::{B, c};\npub struct A;"),
        ("room/b.rs", "use crate::room::A; pub struct B; pub fn b() {}"),
    ];
    assert_eq!(house(&round).circles().len(), 2, "each of both files is on it");
    let straight =
        [face, ("room/a.rs", "pub struct A;"), ("room/b.rs", "use super::A; pub struct B;")];
    assert!(house(&straight).circles().is_empty());
    // By another name, in the code, and through three files.
    let renamed =
        [face, ("room/a.rs", "fn f() { super::other(); }"), ("room/b.rs", "use super::a;")];
    assert_eq!(house(&renamed).circles().len(), 2);
    let three = [
        ("hall.rs", "use crate::yard::{self, Y};"),
        ("yard.rs", "use crate::gate::G;"),
        ("gate.rs", "#[cfg(test)] mod tests { use crate::yard::Y; } fn f(h: crate::hall::H) {}"),
    ];
    assert_eq!(house(&three).circles().len(), 3);
    let of_tests =
        [("hall.rs", "use crate::yard::Y;"), ("yard.rs", "#[cfg(test)]\nuse crate::hall::H;")];
    assert!(house(&of_tests).circles().is_empty());
}
