//! Files that import each other in a circle can only be read, moved and tested together. There are none.
//!
//! An import is a path that begins with `crate`, `super`, a module of the file's own or one that it has imported, in a `use` or in
//! the code. It leads to the file that defines what it names, through the `use` of the rooms on the way. The `mod.rs` of a room is
//! a file like others, with what it defines and what it uses; but to name its files, or to hand on what they define, is no import.

use crate::source::{Token, files, is_test_module, modules, tokens, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A path from the crate's root.
pub type Names = Vec<String>;

/// Imports that are not followed, of files that are two halves of one thing.
///
/// `Blocks` names by two types how its blocks are visited and whether a weight of theirs may be free, and the traits of these types
/// are about blocks and their problem: whoever knows that a type is `Blocks` knows by that how the engine visits it.
const HALVES: [(&str, &str); 3] = [
    ("dual/blocks", "dual/intercept"),
    ("dual/blocks", "dual/visit/active_set"),
    ("dual/blocks", "dual/visit/definition"),
];

/// The modules of a crate: what each imports, and what others find in it under a name.
#[derive(Default)]
struct House {
    imports: BTreeMap<Names, Vec<Names>>,
    names: BTreeMap<Names, BTreeMap<String, Names>>,
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
            let face = root(file) || file.file_name().is_some_and(|name| name == "mod.rs");
            if face {
                house.faces.insert(own.clone());
            }
            house.read(&own, face, &without_tests(&tokens(source)), &known);
        }
        house
    }

    /// Notes what a file imports, and what it hands on.
    fn read(&mut self, own: &Names, face: bool, words: &[Token], known: &dyn Fn(&Names) -> bool) {
        // The words of the code with the module that they are in, which is another one within `mod name { … }`.
        let (mut code, mut place, mut braces, mut k) = (Vec::new(), own.clone(), Vec::new(), 0);
        let (mut imports, mut imported, mut handed_on) =
            (Vec::new(), BTreeMap::new(), BTreeMap::new());
        while k < words.len() {
            let text = words[k].text.as_str();
            k += 1;
            if text != "use" {
                code.push((words[k - 1].clone(), place.clone()));
                if text == "{" {
                    let begins = k > 2 && words[k - 3].text == "mod";
                    braces.push(begins);
                    place.extend(begins.then(|| words[k - 2].text.clone()));
                } else if text == "}" && braces.pop() == Some(true) {
                    place.pop();
                }
                continue;
            }
            let public = k > 1 && matches!(words[k - 2].text.as_str(), "pub" | ")");
            let mut found = Vec::new();
            tree(words, &mut k, &Vec::new(), &mut found);
            for (path, name) in found {
                let Some(path) = from_root(&path, &place, known) else { continue };
                if place == *own {
                    imported.insert(name.clone(), path.clone());
                }
                if public && face {
                    handed_on.insert(name, path);
                } else {
                    imports.push(path);
                }
            }
        }
        let (code, places): (Vec<Token>, Vec<Names>) = code.into_iter().unzip();
        for (k, place) in places.iter().enumerate() {
            let text = code[k].text.as_str();
            let before = k.checked_sub(1).map_or("", |k| code[k].text.as_str());
            if matches!(before, "::" | "." | "mod") {
                continue;
            }
            // A face needs what it hands on if it has the name in its own code.
            imports.extend(handed_on.get(text).cloned());
            if text == "super" || code.get(k + 1).is_some_and(|next| next.text == "::") {
                let mut found = Vec::new();
                tree(&code, &mut { k }, &Vec::new(), &mut found);
                for (path, _) in found {
                    let module = path.first().and_then(|first| imported.get(first));
                    imports.extend(match module.filter(|module| known(module)) {
                        Some(module) => Some(module.iter().chain(&path[1..]).cloned().collect()),
                        None => from_root(&path, place, known),
                    });
                }
            }
        }
        self.names.entry(own.clone()).or_default().extend(imported);
        self.imports.entry(own.clone()).or_default().extend(imports);
    }

    /// The file that defines what a path names; none where it names no more than a room.
    fn home(&self, path: &Names) -> Option<Names> {
        let mut path = path.clone();
        // A name may be handed on from room to room; more often than this would be a circle of its own.
        for _ in 0..8 {
            let depth = (0..=path.len()).rev().find(|&k| self.imports.contains_key(&path[..k]))?;
            let next = path.get(depth).and_then(|name| {
                let to = self.names.get(&path[..depth])?.get(name)?;
                Some(to.iter().chain(&path[depth + 1..]).cloned().collect::<Names>())
            });
            match next {
                Some(next) if next != path => path = next,
                _ => {
                    let room = path.len() == depth && self.faces.contains(&path);
                    return (!room).then(|| path[..depth].to_vec());
                }
            }
        }
        None
    }

    /// Which files each file imports.
    fn arrows(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let arrow = |(own, imports): (&Names, &Vec<Names>)| {
            let to = imports.iter().filter_map(|path| self.home(path));
            (own.clone(), to.filter(|to| to != own).collect())
        };
        self.imports.iter().map(arrow).collect()
    }

    /// Files that can be reached from themselves by other imports than these, with one way round each.
    fn circles(&self, but: &[(&str, &str)]) -> Vec<String> {
        let mut arrows = self.arrows();
        for (from, to) in &mut arrows {
            to.retain(|to| !but.contains(&(&from.join("/"), &to.join("/"))));
        }
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
    for folder in [&library, &program] {
        let house = House::of(folder);
        let arrows: usize = house.arrows().values().map(BTreeSet::len).sum();
        assert!(arrows > 100, "only {arrows} imports were seen: is the scanner blind?");
        let circles = house.circles(&HALVES);
        assert!(circles.is_empty(), "{} has circles:\n{}", folder.display(), circles.join("\n"));
    }
    let house = House::of(&library);
    for half in HALVES {
        let others: Vec<_> = HALVES.into_iter().filter(|other| *other != half).collect();
        assert!(
            !house.circles(&others).is_empty(),
            "{half:?} is on no circle: take it off the list"
        );
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
    assert_eq!(house(&round).circles(&[]).len(), 2, "each of both files is on it");
    let straight =
        [face, ("room/a.rs", "pub struct A;"), ("room/b.rs", "use super::A; pub struct B;")];
    assert!(house(&straight).circles(&[]).is_empty());
    // By another name, in the code, and through three files.
    let renamed =
        [face, ("room/a.rs", "fn f() { super::other(); }"), ("room/b.rs", "use super::a;")];
    assert_eq!(house(&renamed).circles(&[]).len(), 2);
    let three = [
        ("hall.rs", "use crate::yard::{self, Y};"),
        ("yard.rs", "use crate::gate::G;"),
        ("gate.rs", "#[cfg(test)] mod tests { use crate::yard::Y; } fn f(h: crate::hall::H) {}"),
    ];
    assert_eq!(house(&three).circles(&[]).len(), 3);
    // A face that defines what its file needs and needs what that defines, by a name, by its module, or by what it hands on.
    for uses in ["use a::A; fn f(_: A) {}", "fn f(_: a::A) {}", "pub use a::A; fn f(_: A) {}"] {
        let face = format!("mod a; pub struct Shared; {uses}");
        let shared =
            [("room/mod.rs", face.as_str()), ("room/a.rs", "use super::Shared; pub struct A;")];
        assert_eq!(house(&shared).circles(&[]).len(), 2, "{uses}");
        assert!(house(&shared).circles(&[("room/a", "room")]).is_empty());
    }
    let by_module = [
        ("room/mod.rs", "mod a; mod b; pub fn f() { a::g() }"),
        ("room/a.rs", "use crate::room; pub fn g() { room::f() }"),
    ];
    assert_eq!(house(&by_module).circles(&[]).len(), 2);
    // One that only names its file and hands on what that defines is on no circle, and what it imports is no definition of its own.
    for face in ["mod a; mod b; pub use a::A;", "mod a; mod b; use a::A; pub struct Other;"] {
        let handed_on = [
            ("room/mod.rs", face),
            ("room/a.rs", "pub struct A; impl A { fn f(x: u8) { x.A() } }"),
            ("room/b.rs", "use super::A; use crate::room; fn f(_: room::A) {}"),
        ];
        assert!(house(&handed_on).circles(&[]).is_empty(), "{face}");
    }
    // What is above a module within a file is the file.
    let within = [
        ("room/mod.rs", "mod a; pub fn f() { a::g() }"),
        ("room/a.rs", "mod inner { use super::B; fn f() { super::h() } } struct B; pub fn g() {}"),
    ];
    assert!(house(&within).circles(&[]).is_empty());
    let of_tests =
        [("hall.rs", "use crate::yard::Y;"), ("yard.rs", "#[cfg(test)]\nuse crate::hall::H;")];
    assert!(house(&of_tests).circles(&[]).is_empty());
}
