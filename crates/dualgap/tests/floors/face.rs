//! The public face of the library: every item by one path, a name for one thing, and not more of them than are counted here. This
//! reads the source as rustdoc would: from `lib.rs` along `pub mod` and `pub use`.

use crate::circles::tree;
use crate::source::{files, is_test_module, modules, tokens, without_tests};
use crate::source_folder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The most items that may be public. Whoever adds one takes another away, or says here why there are more. `Workload` and `Locality` of
/// `dual` came for eight methods of `Blocks`.
const MOST: usize = 379;

/// Names that two rooms have, each for the reason beside it.
const TWICE: [(&str, &str); 0] = [];

/// What a module declares.
#[derive(Debug, Default)]
struct Module {
    /// Its own items, with whether each is public.
    items: BTreeMap<String, bool>,
    /// Its modules, with whether each is public.
    modules: BTreeMap<String, bool>,
    /// What it uses from elsewhere: the name here, the path as written, and whether that is public.
    uses: Vec<(String, Vec<String>, bool)>,
}

/// Where an item is declared: the module's path and the name.
type Place = (Vec<String>, String);

/// The words before the name of an item.
const KINDS: [&str; 7] = ["struct", "enum", "trait", "fn", "type", "const", "static"];

/// What the source of a module declares, outside of all braces.
fn declared(source: &str) -> Module {
    let tokens = without_tests(&tokens(source));
    let text = |k: usize| tokens.get(k).map_or("", |t| t.text.as_str());
    let (mut module, mut k) = (Module::default(), 0);
    let mut public = false;
    while k < tokens.len() {
        match text(k) {
            "pub" => {
                // `pub(crate)` and its like are not public.
                public = text(k + 1) != "(";
                k += if public { 1 } else { 4 };
                while !public && text(k - 1) != ")" {
                    k += 1; // `pub(in crate::room)`
                }
                continue;
            }
            "use" => {
                let mut found = Vec::new();
                k += 1;
                tree(&tokens, &mut k, &Vec::new(), &mut found);
                let uses = found.into_iter().map(|(path, name)| (name, path, public));
                module.uses.extend(uses);
            }
            "mod" => {
                let seen = module.modules.entry(text(k + 1).to_string()).or_default();
                *seen |= public;
                k += 1;
            }
            "const" if KINDS.contains(&text(k + 1)) => {
                k += 1; // a `const fn`
                continue;
            }
            kind if KINDS.contains(&kind) => {
                let seen = module.items.entry(text(k + 1).to_string()).or_default();
                *seen |= public;
                k += 1;
            }
            "{" => {
                let mut depth = 0_i32;
                while k < tokens.len() {
                    depth += i32::from(text(k) == "{") - i32::from(text(k) == "}");
                    if depth == 0 {
                        break;
                    }
                    k += 1;
                }
            }
            _ => {}
        }
        public = false;
        k += 1;
    }
    module
}

/// The modules of a library by their paths.
struct Library(BTreeMap<Vec<String>, Module>);

impl Library {
    /// A library of these files.
    fn of<'a>(sources: impl IntoIterator<Item = (&'a Path, String)>) -> Self {
        let module = |(file, source): (&Path, String)| {
            let path = if file == Path::new("lib.rs") { Vec::new() } else { modules(file) };
            (path, declared(&source))
        };
        Self(sources.into_iter().map(module).collect())
    }

    /// The absolute path of one that is written in a module.
    fn absolute(&self, module: &[String], written: &[String]) -> Vec<String> {
        let mut path = module.to_vec();
        for (k, name) in written.iter().enumerate() {
            match name.as_str() {
                "crate" => path.clear(),
                "self" => {}
                "super" => _ = path.pop(),
                name => {
                    // The first name of a path may be one that the module uses itself.
                    let here = self.0.get(&path);
                    let used = here.filter(|m| k == 0 && !m.modules.contains_key(name));
                    let other =
                        used.and_then(|m| m.uses.iter().find(|(as_name, ..)| as_name == name));
                    match other {
                        Some((_, other, _)) if other[..] != written[..1] => {
                            path = self.absolute(module, other);
                        }
                        _ => path.push(name.to_string()),
                    }
                }
            }
        }
        path
    }

    /// Where the item at this absolute path is declared; nothing for what is another crate's.
    fn place(&self, path: &[String]) -> Option<Place> {
        let (name, module) = path.split_last()?;
        let here = self.0.get(module)?;
        if here.items.contains_key(name) {
            return Some((module.to_vec(), name.clone()));
        }
        let (_, written, _) = here.uses.iter().find(|(as_name, ..)| as_name == name)?;
        self.place(&self.absolute(module, written))
    }

    /// Adds what a module offers under a public path.
    fn offer(&self, module: &[String], path: &str, found: &mut BTreeMap<Place, BTreeSet<String>>) {
        let Some(here) = self.0.get(module) else { return };
        for (item, _) in here.items.iter().filter(|(_, public)| **public) {
            let place = (module.to_vec(), item.clone());
            found.entry(place).or_default().insert(format!("{path}::{item}"));
        }
        for (name, _) in here.modules.iter().filter(|(_, public)| **public) {
            let inner = [module, std::slice::from_ref(name)].concat();
            self.offer(&inner, &format!("{path}::{name}"), found);
        }
        for (name, written, _) in here.uses.iter().filter(|(_, _, public)| *public) {
            let target = self.absolute(module, written);
            let path = format!("{path}::{name}");
            match self.place(&target) {
                Some(place) => _ = found.entry(place).or_default().insert(path),
                None if self.0.contains_key(&target) => self.offer(&target, &path, found),
                None => panic!("{path} leads nowhere: {}", target.join("::")),
            }
        }
    }

    /// Every public item, with the paths that lead to it.
    fn face(&self) -> BTreeMap<Place, BTreeSet<String>> {
        let mut found = BTreeMap::new();
        self.offer(&[], "dualgap", &mut found);
        found
    }
}

/// The items to which two paths lead.
fn by_two_paths(face: &BTreeMap<Place, BTreeSet<String>>) -> Vec<String> {
    let twice = face.values().filter(|paths| paths.len() > 1);
    twice.map(|paths| paths.iter().cloned().collect::<Vec<_>>().join(" = ")).collect()
}

/// The paths of types and traits whose name another room gives to something else. Functions are called by the names of their
/// rooms, `newton::train`.
fn of_one_name(face: &BTreeMap<Place, BTreeSet<String>>) -> Vec<String> {
    let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in face.values().flatten() {
        let name = path.rsplit("::").next().unwrap_or_default();
        if name.starts_with(char::is_uppercase) && !TWICE.iter().any(|(twice, _)| *twice == name) {
            named.entry(name).or_default().insert(path);
        }
    }
    let several = named.into_values().filter(|paths| paths.len() > 1);
    several.map(|paths| paths.into_iter().collect::<Vec<_>>().join(" and ")).collect()
}

fn face() -> BTreeMap<Place, BTreeSet<String>> {
    let folder = source_folder();
    let files: Vec<_> = files(&folder).into_iter().filter(|path| !is_test_module(path)).collect();
    let source = |path: &Path| fs::read_to_string(path).unwrap();
    Library::of(files.iter().map(|path| (path.strip_prefix(&folder).unwrap(), source(path)))).face()
}

#[test]
fn one_path_leads_to_each_public_item() {
    let found = by_two_paths(&face());
    assert!(found.is_empty(), "leave one of the paths out:\n{}", found.join("\n"));
}

#[test]
fn a_public_name_stands_for_one_thing() {
    let found = of_one_name(&face());
    assert!(found.is_empty(), "give one of them a name of its own:\n{}", found.join("\n"));
}

#[test]
fn the_face_does_not_grow() {
    let face = face();
    let paths: BTreeSet<&str> = face.values().flatten().map(String::as_str).collect();
    for known in [
        "dualgap::Error",
        "dualgap::task::Task",
        "dualgap::dual::train",
        "dualgap::data::tables::read_costs",
    ] {
        assert!(paths.contains(known), "{known} is not seen: is the scanner blind?");
    }
    assert!(face.len() <= MOST, "{} public items, and {MOST} are enough", face.len());
}

/// The public items of a small library, as `path` or `path = path`.
fn seen(sources: &[(&str, &str)]) -> Vec<String> {
    let library =
        Library::of(sources.iter().map(|(file, source)| (Path::new(*file), (*source).to_string())));
    let paths = library.face().into_values();
    paths.map(|paths| paths.into_iter().collect::<Vec<_>>().join(" = ")).collect()
}

#[test]
fn the_scanner_follows_modules_and_uses() {
    let lib = (
        "lib.rs",
        "pub mod a;\nmod b;\npub(crate) mod c;\npub use b::{Two, inner::Three as Third};",
    );
    let a = (
        "a/mod.rs",
        "mod one;\npub use one::One;\npub use crate::c::four;\npub(crate) use one::Hidden;",
    );
    let one =
        ("a/one.rs", "pub struct One; pub struct Hidden; struct Own; pub(super) enum Near {}");
    let b = ("b.rs", "pub enum Two { A }\npub mod inner;\npub trait Unseen {}");
    let inner =
        ("b/inner.rs", "pub trait Three { fn of(&self); }\nimpl Three for u8 { fn of(&self) {} }");
    let c = ("c.rs", "pub const fn four() -> u8 { pub const INSIDE: u8 = 4; INSIDE }");
    let expected = ["dualgap::a::One", "dualgap::Two", "dualgap::Third", "dualgap::a::four"];
    assert_eq!(seen(&[lib, a, one, b, inner, c]), expected);
}

#[test]
fn the_scanner_sees_a_second_path() {
    let a = ("a.rs", "pub mod b;\npub use b::One;\npub use self::b::Two as Other;");
    let b = ("a/b.rs", "pub struct One;\npub struct Two;");
    let face =
        Library::of([("lib.rs", "pub mod a;"), a, b].map(|(f, s)| (Path::new(f), s.to_string())))
            .face();
    let twice = ["dualgap::a::One = dualgap::a::b::One", "dualgap::a::Other = dualgap::a::b::Two"];
    assert_eq!(by_two_paths(&face), twice);
    assert!(of_one_name(&face).contains(&"dualgap::a::One and dualgap::a::b::One".to_string()));
}

#[test]
fn the_scanner_sees_a_name_that_stands_for_two_things() {
    let a = ("a.rs", "pub struct Settings; pub fn train() {}");
    let b = (
        "b.rs",
        "mod own;\npub use own::Settings; pub fn train() {} #[cfg(test)] pub struct Other;",
    );
    let own = ("b/own.rs", "pub struct Settings { pub seed: u64 }");
    let lib = ("lib.rs", "pub mod a; pub mod b;");
    let face = Library::of([lib, a, b, own].map(|(f, s)| (Path::new(f), s.to_string()))).face();
    assert_eq!(of_one_name(&face), ["dualgap::a::Settings and dualgap::b::Settings"]);
    assert_eq!((face.len(), by_two_paths(&face).len()), (4, 0));
}
