//! Matchings, held against all matchings of small graphs.
//!
//! - `problems`: the oracle, the loss, optima, sample weights, empty graphs, numbers at the edge of their range.
//! - `blocks`: the marginals beside corners of an oracle; steps between known matchings.
//! - `witnesses`: what is refused.
//! - `models`: fitted models: files, checkpoints, warm starts, paths, cross-validation.

mod blocks;
mod models;
mod problems;
mod witnesses;

use crate::common::explicit::{Corner, Explicit};
use crate::common::wide::Wide;
use dualgap::data::{Graph, Mark, Matchings};
use dualgap::dual::Settings;
use dualgap::linalg::{Random, Rows};
use dualgap::structure::LinkLoss;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A matching as a set of edges.
pub type Pairs = Vec<(usize, usize)>;

/// A small problem with everything in plain vectors.
#[derive(Clone, Debug)]
pub struct Case {
    pub graphs: Vec<Graph>,
    /// Those of all edges, graph by graph, in ascending order of rows and columns.
    pub features: Vec<Vec<f64>>,
    pub marks: Vec<Mark>,
    pub loss: LinkLoss,
    pub lambda: f64,
    pub weights: Option<Vec<f64>>,
}

/// Every matching of a graph, the empty one first.
pub fn matchings(graph: &Graph) -> Vec<Pairs> {
    let mut all: Vec<Pairs> = vec![Vec::new()];
    for &(r, c) in &graph.edges {
        let (r, c) = (r as usize, c as usize);
        let apart =
            |matching: &&Pairs| matching.iter().all(|&(row, column)| row != r && column != c);
        let with = |matching: &Pairs| [&matching[..], &[(r, c)]].concat();
        let more: Vec<Pairs> = all.iter().filter(apart).map(with).collect();
        all.extend(more);
    }
    all
}

impl Case {
    pub fn data(&self) -> Matchings {
        let width = self.features.first().map_or(2, Vec::len);
        let rows = Rows::from_dense(self.features.concat(), width).unwrap();
        let data = Matchings::new(rows, &self.graphs, self.marks.clone()).unwrap();
        match &self.weights {
            Some(weights) => data.with_weights(weights.clone()).unwrap(),
            None => data,
        }
    }

    pub fn width(&self) -> usize {
        self.features.first().map_or(2, Vec::len)
    }

    pub fn len(&self) -> usize {
        self.graphs.len()
    }

    /// The number of the first edge of a graph.
    fn first(&self, i: usize) -> usize {
        self.graphs[..i].iter().map(|graph| graph.edges.len()).sum()
    }

    fn place(&self, i: usize, (r, c): (usize, usize)) -> usize {
        let edges = &self.graphs[i].edges;
        self.first(i) + edges.iter().position(|&edge| edge == (r as u32, c as u32)).unwrap()
    }

    /// The links of a graph with one of these marks.
    pub fn links(&self, i: usize, of: &[Mark]) -> BTreeSet<(usize, usize)> {
        let edges = self.graphs[i].edges.iter().map(|&(r, c)| (r as usize, c as usize));
        edges.filter(|&edge| of.contains(&self.marks[self.place(i, edge)])).collect()
    }

    /// The truth, which the data choose.
    pub fn truth(&self, i: usize) -> Pairs {
        self.data().graph(i).truth().collect()
    }

    /// a·FP + b·FN, counted by sets.
    pub fn loss_of(&self, i: usize, truth: &Pairs, y: &Pairs) -> Wide {
        let possible = self.links(i, &[Mark::Possible, Mark::Sure]);
        let wrong = y.iter().filter(|edge| !possible.contains(edge)).count();
        let missing = truth.iter().filter(|edge| !y.contains(edge)).count();
        let LinkLoss { false_positive, false_negative } = self.loss;
        let times = |count: usize, cost: f64| Wide::from(count as f64) * Wide::from(cost);
        times(wrong, false_positive) + times(missing, false_negative)
    }

    pub fn phi(&self, i: usize, y: &Pairs) -> Vec<Wide> {
        let mut phi = vec![Wide::ZERO; self.width()];
        for &edge in y {
            let features = &self.features[self.place(i, edge)];
            phi.iter_mut().zip(features).for_each(|(sum, &x)| *sum = *sum + x.into());
        }
        phi
    }

    /// The problem with all matchings written out; the outputs are numbers of `matchings`.
    pub fn explicit(&self) -> Explicit {
        let total: Wide = match &self.weights {
            Some(weights) => weights.iter().map(|&weight| Wide::from(weight)).sum(),
            None => Wide::from(self.len() as f64),
        };
        let mass = |i: usize| {
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[i]);
            Wide::from(weight) / total
        };
        let corner = |i: usize, truth: &Pairs, number: usize, y: &Pairs| {
            let right = self.phi(i, truth);
            let psi: Vec<Wide> = right.iter().zip(self.phi(i, y)).map(|(&a, b)| a - b).collect();
            let loss = self.loss_of(i, truth, y);
            Corner {
                output: vec![number as u16],
                exact_loss: loss,
                loss: loss.float(),
                psi: psi.iter().map(|psi| psi.float()).collect(),
                exact_psi: psi,
            }
        };
        let corners = |i: usize| {
            let truth = self.truth(i);
            let all = matchings(&self.graphs[i]);
            all.iter().enumerate().map(|(number, y)| corner(i, &truth, number, y)).collect()
        };
        Explicit {
            lambda: self.lambda,
            l1: 0.0,
            nonnegative: false,
            dim: self.width(),
            masses: (0..self.len()).map(mass).collect(),
            examples: (0..self.len()).map(corners).collect(),
        }
    }

    /// The algorithm of the paper on one thread.
    pub fn plain(&self) -> Settings {
        Settings {
            lambda: self.lambda,
            sample_weights: self.weights.clone(),
            threads: 1,
            ..Settings::plain()
        }
    }

    /// Whatever a run chooses by itself, on one thread.
    pub fn auto(&self) -> Settings {
        let plain = self.plain();
        Settings {
            lambda: plain.lambda,
            sample_weights: plain.sample_weights,
            threads: 1,
            ..Settings::default()
        }
    }

    /// Full grids with features that say something about the links, and noise.
    pub fn random(seed: u64, n: usize, side: usize, width: usize) -> Self {
        let mut random = Random::new(seed);
        let (mut graphs, mut features, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..n {
            let (rows, columns) = (1 + random.below(side), 1 + random.below(side));
            let graph = Graph::full(rows, columns);
            for &(r, c) in &graph.edges {
                let mark = match (r == c, random.below(8)) {
                    (true, 0) | (false, 1) => Mark::Possible,
                    (true, _) | (false, 2) => Mark::Sure,
                    _ => Mark::None,
                };
                let hint = if mark == Mark::Sure { 0.5 } else { 0.0 };
                features.push(
                    (0..width).map(|f| random.unit() + if f == 0 { hint } else { -0.3 }).collect(),
                );
                marks.push(mark);
            }
            graphs.push(graph);
        }
        let loss = LinkLoss::default();
        Self { graphs, features, marks, loss, lambda: 0.1, weights: None }
    }
}

/// A graph of at most this size with some edges missing, or with all.
fn graph(side: usize) -> impl Strategy<Value = Graph> {
    (0..=side, 0..=side, any::<bool>(), any::<u32>()).prop_map(|(rows, columns, full, bits)| {
        let mut graph = Graph::full(rows, columns);
        let mut k = 0;
        graph.edges.retain(|_| {
            k += 1;
            full || bits >> k & 1 == 1
        });
        graph
    })
}

/// Small problems whose features have these values.
pub fn case_with(
    value: impl Strategy<Value = f64> + Clone + 'static,
) -> impl Strategy<Value = Case> {
    let mark = prop::sample::select(vec![Mark::None, Mark::None, Mark::Possible, Mark::Sure]);
    let loss = (0.0..3.0_f64, 0.1..4.0_f64)
        .prop_map(|(false_positive, false_negative)| LinkLoss { false_positive, false_negative });
    let loss = prop_oneof![Just(LinkLoss::default()), loss];
    (prop::collection::vec(graph(3), 1..4), 1_usize..4, loss, 0.02..2.0_f64).prop_flat_map(
        move |(graphs, width, loss, lambda)| {
            let edges: usize = graphs.iter().map(|graph| graph.edges.len()).sum();
            let weights = prop::option::of(prop::collection::vec(0.25..3.0_f64, graphs.len()));
            let features =
                prop::collection::vec(prop::collection::vec(value.clone(), width), edges);
            let marks = prop::collection::vec(mark.clone(), edges);
            (features, marks, weights).prop_map(move |(features, marks, weights)| {
                let graphs = graphs.clone();
                Case { graphs, features, marks, loss, lambda, weights }
            })
        },
    )
}

/// Small problems in which scores hardly ever tie.
pub fn generic() -> impl Strategy<Value = Case> {
    case_with(-1.0..1.0_f64)
}

/// Small problems in which many scores tie.
pub fn tied() -> impl Strategy<Value = Case> {
    case_with((-1_i32..2).prop_map(f64::from))
}
