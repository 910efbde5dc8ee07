//! `dualgap train completion`, and what can be done with its models.
//!
//! Objectives, predictions and errors are computed here again, from the factors that `inspect` writes.

mod forgeries;
mod interrupt;
mod kept;
mod models;
mod refusals;
mod training;

use crate::common::{Desk, Dice};
use std::collections::HashMap;
use std::fmt::Write;

/// User, item, rating.
type Triples = Vec<(String, String, f64)>;

/// Ratings of 12 users and 9 items that two tastes explain in part; every name is met in the first lines.
fn triples(count: usize, seed: u64) -> Triples {
    let mut dice = Dice(seed);
    (0..count)
        .map(|k| {
            let (i, j) = if k < 12 { (k, k % 9) } else { (dice.below(12), dice.below(9)) };
            let taste = if (i % 2 == 0) == (j % 3 == 0) { 1.5 } else { -0.5 };
            (format!("u{i}"), format!("film {j}"), 3.0 + taste + dice.signed() / 2.0)
        })
        .collect()
}

/// As a csv file with a header.
fn csv(triples: &Triples) -> String {
    let mut text = String::from("user,film,points\n");
    for (user, item, rating) in triples {
        let _ = writeln!(text, "{user},{item},{rating}");
    }
    text
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("ratings.csv", csv(&triples(70, 1)));
    desk.write("others.csv", csv(&triples(30, 2)));
    desk
}

/// What `inspect --weights` says of a model of ratings.
#[derive(Default)]
struct Factors {
    mean: f64,
    singular: Vec<f64>,
    rows: HashMap<(String, String), Vec<f64>>,
    effects: HashMap<(String, String), f64>,
}

impl Factors {
    fn of(desk: &Desk, model: &str) -> Self {
        let text = desk.run(&format!("inspect {model} --weights -")).ok().stdout;
        let mut factors = Self::default();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let (kind, name, weight) = (cells[0], cells[1], cells[4].parse().unwrap());
            match kind {
                "mean" => factors.mean = weight,
                "singular" => factors.singular.push(weight),
                "user" | "item" => {
                    factors.rows.entry((kind.into(), name.into())).or_default().push(weight);
                }
                _ => {
                    factors.effects.insert((kind.into(), name.into()), weight);
                }
            }
        }
        factors
    }

    /// The centre and Σ u s v, as far as the names are known.
    fn predict(&self, user: &str, item: &str) -> f64 {
        let row = |kind: &str, name: &str| self.rows.get(&(kind.into(), name.into()));
        let effect = |kind: &str, name: &str| {
            self.effects.get(&(kind.into(), name.into())).copied().unwrap_or(0.0)
        };
        let mut sum = self.mean + effect("user_effect", user) + effect("item_effect", item);
        if let (Some(u), Some(v)) = (row("user", user), row("item", item)) {
            sum += u.iter().zip(v).zip(&self.singular).map(|((u, v), s)| u * v * s).sum::<f64>();
        }
        sum
    }
}

/// Root mean square, mean size.
fn errors(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let off: Vec<f64> = pairs.map(|(truth, predicted)| truth - predicted).collect();
    let n = off.len() as f64;
    let square = off.iter().map(|x| x * x).sum::<f64>() / n;
    (square.sqrt(), off.iter().map(|x| x.abs()).sum::<f64>() / n)
}
