//! `dualgap train matching`, and what can be done with its models: bitext of a made-up language, and edge files.

mod drawings;
mod edges;
mod refusals;
mod training;

use crate::common::{Desk, Dice};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The three files of a bitext.
#[derive(Default)]
pub struct Toy {
    pub e: String,
    pub f: String,
    pub a: String,
}

/// Sentences whose translation has every word the other way round, and adjectives behind their nouns. Articles may be
/// linked to nouns.
pub fn toy(pairs: usize, seed: u64) -> Toy {
    let mut dice = Dice(seed);
    let mut toy = Toy::default();
    for _ in 0..pairs {
        let (mut e, mut f): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut links = Vec::new();
        for half in 0..2 {
            let (at, to) = (e.len(), f.len());
            let noun = ["river", "stone", "garden", "window", "market"][dice.below(5)];
            let adjective = ["blue", "quiet", "heavy"][dice.below(3)];
            if dice.below(2) == 0 {
                e.extend(["the", adjective, noun]);
                f.extend(["the", noun, adjective]);
                links.push(format!("{at}-{to} {}-{} {}-{}", at + 1, to + 2, at + 2, to + 1));
            } else {
                e.extend(["the", noun]);
                f.extend(["the", noun]);
                links.push(format!("{at}-{to} {at}?{} {}-{}", to + 1, at + 1, to + 1));
            }
            let last = if half == 0 { ["holds", "follows", "meets"][dice.below(3)] } else { "." };
            links.push(format!("{}-{}", e.len(), f.len()));
            e.push(last);
            f.push(last);
        }
        let turned: Vec<String> = f.iter().map(|word| word.chars().rev().collect()).collect();
        let _ = writeln!(toy.e, "{}", e.join(" "));
        let _ = writeln!(toy.f, "{}", turned.join(" "));
        let _ = writeln!(toy.a, "{}", links.join(" "));
    }
    toy
}

impl Toy {
    /// Writes the files under a prefix.
    pub fn write(&self, desk: &Desk, prefix: &str) {
        for (ending, text) in [("e", &self.e), ("f", &self.f), ("a", &self.a)] {
            desk.write(&format!("{prefix}.{ending}"), text);
        }
    }
}

/// A folder with labelled pairs, and with more text that has no links.
fn desk() -> Desk {
    let desk = Desk::new();
    toy(40, 1).write(&desk, "pairs");
    let more = toy(60, 2);
    desk.write("more.e", more.e);
    desk.write("more.f", more.f);
    desk
}

type Links = BTreeSet<(usize, usize)>;

/// The sure and the possible links of a line.
fn links(line: &str) -> (Links, Links) {
    let (mut sure, mut possible) = (Links::new(), Links::new());
    for word in line.split_whitespace() {
        let (e, f) = word.split_once(['-', '?']).unwrap();
        let link = (e.parse().unwrap(), f.parse().unwrap());
        possible.insert(link);
        if word.contains('-') {
            sure.insert(link);
        }
    }
    (sure, possible)
}

/// The alignment error rate, precision and recall of predicted lines, counted by sets.
fn rates(predicted: &str, truth: &str) -> [f64; 3] {
    let (mut a, mut s, mut a_s, mut a_p) = (0, 0, 0, 0);
    assert_eq!(predicted.lines().count(), truth.lines().count());
    for (said, line) in predicted.lines().zip(truth.lines()) {
        let (said, (sure, possible)) = (links(said).0, links(line));
        a += said.len();
        s += sure.len();
        a_s += said.intersection(&sure).count();
        a_p += said.intersection(&possible).count();
    }
    let share = |part: usize, all: usize| part as f64 / all as f64;
    [1.0 - share(a_s + a_p, a + s), share(a_p, a), share(a_s, s)]
}
