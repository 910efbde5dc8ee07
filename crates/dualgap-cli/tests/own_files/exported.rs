//! A model as `inspect MODEL --weights -` tells it, and nothing else of it.

use crate::common::Desk;
use std::collections::{BTreeSet, HashMap};

#[derive(Clone, Debug)]
pub struct Row {
    pub kind: String,
    pub feature: String,
    pub from: String,
    pub label: String,
    pub weight: f64,
}

pub struct Exported {
    pub rows: Vec<Row>,
    places: HashMap<[String; 4], f64>,
}

/// What is known of a position: its features with their values, and those of the pair that it makes
/// with the one before.
#[derive(Clone, Debug, Default)]
pub struct Position {
    pub features: Vec<(String, f64)>,
    pub pairs: Vec<String>,
}

impl Exported {
    pub fn of(desk: &Desk, model: &str) -> Self {
        Self::parse(&desk.run(&format!("inspect {model} --weights -")).ok().stdout)
    }

    pub fn parse(table: &str) -> Self {
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("kind\tfeature\tfrom\tlabel\tweight"));
        let rows: Vec<Row> = lines
            .map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                let [kind, feature, from, label, weight] = cells[..] else { panic!("{line}") };
                let [kind, feature, from, label] = [kind, feature, from, label].map(String::from);
                Row { kind, feature, from, label, weight: weight.parse().unwrap() }
            })
            .collect();
        let place = |row: &Row| {
            let Row { kind, feature, from, label, .. } = row.clone();
            ([kind, feature, from, label], row.weight)
        };
        let places: HashMap<_, _> = rows.iter().map(place).collect();
        assert_eq!(places.len(), rows.len(), "a weight that is told twice");
        Self { rows, places }
    }

    /// Zero where there is no row.
    pub fn weight(&self, kind: &str, feature: &str, from: &str, label: &str) -> f64 {
        let place = [kind, feature, from, label].map(String::from);
        self.places.get(&place).copied().unwrap_or(0.0)
    }

    /// The names of features that have rows of this kind.
    pub fn features(&self, kind: &str) -> BTreeSet<String> {
        let rows = self.rows.iter().filter(|row| row.kind == kind);
        rows.map(|row| row.feature.clone()).collect()
    }

    fn node(&self, position: &Position, label: &str) -> f64 {
        let terms = position.features.iter();
        terms.map(|(feature, x)| x * self.weight("feature", feature, "", label)).sum()
    }

    fn edge(&self, position: &Position, from: &str, label: &str) -> f64 {
        let pair = |feature: &String| self.weight("pair", feature, from, label);
        self.weight("transition", "", from, label) + position.pairs.iter().map(pair).sum::<f64>()
    }

    /// The score of a labeling.
    pub fn score(&self, positions: &[Position], labels: &[&str]) -> f64 {
        assert_eq!(positions.len(), labels.len());
        let nodes: f64 = positions.iter().zip(labels).map(|(x, label)| self.node(x, label)).sum();
        let edges: f64 =
            (1..labels.len()).map(|t| self.edge(&positions[t], labels[t - 1], labels[t])).sum();
        let (first, last) = (labels[0], labels[labels.len() - 1]);
        nodes + edges + self.weight("start", "", "", first) + self.weight("end", "", "", last)
    }

    /// The largest score of any labeling, with so much added for each label.
    fn best(
        &self,
        positions: &[Position],
        labels: &[&str],
        added: impl Fn(usize, &str) -> f64,
    ) -> f64 {
        let node = |t: usize, label: &str| self.node(&positions[t], label) + added(t, label);
        let start = |label: &&str| self.weight("start", "", "", label) + node(0, label);
        let mut best: Vec<f64> = labels.iter().map(start).collect();
        for (t, position) in positions.iter().enumerate().skip(1) {
            let reach = |label: &&str| {
                let edge = |from: &&str| self.edge(position, from, label);
                let arrivals = labels.iter().zip(&best).map(|(from, best)| best + edge(from));
                arrivals.fold(f64::NEG_INFINITY, f64::max) + node(t, label)
            };
            best = labels.iter().map(reach).collect();
        }
        let end = |label: &&str| self.weight("end", "", "", label);
        let scores = labels.iter().zip(&best).map(|(label, best)| best + end(label));
        scores.fold(f64::NEG_INFINITY, f64::max)
    }

    /// No labeling has a larger score than these; ties may be broken in any way.
    #[track_caller]
    pub fn confirms(&self, positions: &[Position], predicted: &[&str], labels: &[&str]) {
        let (score, best) =
            (self.score(positions, predicted), self.best(positions, labels, |_, _| 0.0));
        assert!((score - best).abs() <= 1e-9 * best.abs().max(1.0), "{score} {best} {predicted:?}");
    }

    /// The structured hinge loss of an example, by the fraction of wrong labels.
    pub fn hinge(&self, positions: &[Position], truth: &[&str], labels: &[&str]) -> f64 {
        let cost = |t: usize, label: &str| {
            if label == truth[t] { 0.0 } else { 1.0 / truth.len() as f64 }
        };
        self.best(positions, labels, cost) - self.score(positions, truth)
    }

    /// `λ/2·‖w‖²`.
    pub fn regulariser(&self, lambda: f64) -> f64 {
        lambda / 2.0 * self.rows.iter().map(|row| row.weight * row.weight).sum::<f64>()
    }
}
