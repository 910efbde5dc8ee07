//! Small random problems, their features written down by hand from the documentation, and judges.
//!
//! A [`Small`] problem has few enough outputs to look at all of them. It can be given to the library
//! as chain or multiclass blocks, and written out as an [`Explicit`] problem that shares no code with
//! the library.

// Every test file is a program of its own and uses its own part of this room.
#![allow(dead_code, unused_imports, unused_macros)]

pub mod explicit;
pub mod far;
pub mod fits;
pub mod losses;
pub mod memory;
pub mod quadratic;
pub mod structural;
pub mod wide;

use dualgap::data::{Alphabet, Classes, Examples, Sequences};
use dualgap::dual::{
    Acceleration, Algorithm, Average, Cache, Direction, Mixture, Sampling, Settings, Step,
};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, Report, Solution};
use dualgap::structure::Hamming;
use dualgap::term::Costs;
use explicit::{Corner, Explicit};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use wide::Wide;

/// Which structure a problem has.
#[derive(Clone, Debug)]
pub enum Kind {
    Chain(Hamming),
    Multiclass(Costs),
}

impl Kind {
    /// One of each, with a cost matrix without symmetry for this many labels.
    pub fn all(labels: usize) -> [Self; 4] {
        let cost = |k: usize| {
            let (truth, y) = (k / labels, k % labels);
            if truth == y { 0.0 } else { 0.5 + truth as f64 / 3.0 + y as f64 / 7.0 }
        };
        [
            Self::Chain(Hamming::Plain),
            Self::Chain(Hamming::Normalized),
            Self::Multiclass(Costs::ZeroOne),
            Self::Multiclass(Costs::Matrix((0..labels * labels).map(cost).collect())),
        ]
    }
}

/// A problem with few outputs.
#[derive(Clone, Debug)]
pub struct Small {
    pub kind: Kind,
    pub labels: usize,
    /// Example, position, feature. A multiclass example has one position.
    pub inputs: Vec<Vec<Vec<f64>>>,
    /// Example, position, feature of the pair with the label before; empty where pairs have none.
    pub edges: Vec<Vec<Vec<f64>>>,
    pub truths: Vec<Vec<u16>>,
    /// Whether the library is given sparse rows.
    pub sparse: bool,
    pub weights: Option<Vec<f64>>,
    pub lambda: f64,
}

/// Makes the blocks of a [`Small`] problem, whichever they are, and evaluates an expression with them.
macro_rules! with_blocks {
    ($small:expr, |$blocks:ident| $body:expr) => {
        match &$small.kind {
            $crate::common::Kind::Chain(hamming) => {
                let data = $small.sequences();
                let $blocks = ::dualgap::structure::ChainBlocks::new(&data, *hamming).unwrap();
                $body
            }
            $crate::common::Kind::Multiclass(costs) => {
                let data = $small.examples();
                let $blocks = ::dualgap::structure::MulticlassBlocks::new(&data, costs).unwrap();
                $body
            }
        }
    };
}
pub(crate) use with_blocks;

/// Makes the oracle of a [`Small`] problem and its examples, and evaluates an expression with them.
macro_rules! with_oracle {
    ($small:expr, |$oracle:ident, $examples:ident| $body:expr) => {
        match &$small.kind {
            $crate::common::Kind::Chain(hamming) => {
                let data = $small.sequences();
                let layout =
                    ::dualgap::structure::ChainLayout::new($small.width(), $small.labels).unwrap();
                let layout = layout.with_pairs($small.pairs());
                let $oracle = ::dualgap::structure::ChainOracle::new(layout, *hamming);
                let $examples: Vec<_> =
                    (0..data.len()).map(|i| (data.sequence(i), data.truth(i).to_vec())).collect();
                $body
            }
            $crate::common::Kind::Multiclass(costs) => {
                let data = $small.examples();
                let $oracle = ::dualgap::structure::MulticlassOracle::new(
                    $small.width(),
                    $small.labels,
                    costs,
                )
                .unwrap();
                let labels = data.classes().unwrap().numbers();
                let $examples: Vec<_> =
                    (0..data.len()).map(|i| (data.rows().row(i), labels[i])).collect();
                $body
            }
        }
    };
}
pub(crate) use with_oracle;

impl Small {
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    pub fn width(&self) -> usize {
        self.inputs[0][0].len()
    }

    /// E, how many features a pair of labels has.
    pub fn pairs(&self) -> usize {
        match self.kind {
            Kind::Chain(_) => self.edges.first().map_or(0, |rows| rows[0].len()),
            Kind::Multiclass(_) => 0,
        }
    }

    pub fn dim(&self) -> usize {
        let emissions = self.width() * self.labels;
        match self.kind {
            Kind::Chain(_) => {
                emissions + 2 * self.labels + (1 + self.pairs()) * self.labels * self.labels
            }
            Kind::Multiclass(_) => emissions,
        }
    }

    /// The same problem with only the given examples, some perhaps more than once.
    pub fn select(&self, chosen: &[usize]) -> Self {
        Self {
            inputs: chosen.iter().map(|&i| self.inputs[i].clone()).collect(),
            edges: match &self.edges[..] {
                [] => Vec::new(),
                edges => chosen.iter().map(|&i| edges[i].clone()).collect(),
            },
            truths: chosen.iter().map(|&i| self.truths[i].clone()).collect(),
            weights: self.weights.as_ref().map(|c| chosen.iter().map(|&i| c[i]).collect()),
            ..self.clone()
        }
    }

    /// The same problem with all features multiplied by a factor.
    pub fn scaled(mut self, factor: f64) -> Self {
        let rows = self.inputs.iter_mut().chain(&mut self.edges);
        rows.flatten().flatten().for_each(|x| *x *= factor);
        self
    }

    /// A problem that only its seed decides, with features that are nowhere zero: no two outputs tie
    /// but at w = 0. Chains are one to `longest` positions long.
    pub fn random(seed: u64, kind: Kind, n: usize, labels: usize, longest: usize) -> Self {
        let mut random = Random::new(seed);
        let (mut inputs, mut truths) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let length = match kind {
                Kind::Chain(_) => 1 + random.below(longest),
                Kind::Multiclass(_) => 1,
            };
            let truth: Vec<u16> = (0..length).map(|_| random.below(labels) as u16).collect();
            // A feature that tells something of the label, and two that do not.
            let input = truth.iter().map(|&y| {
                let noise = [(); 3].map(|()| 2.0 * random.unit() - 1.0);
                vec![noise[0] + 0.7 * f64::from(y), noise[1], noise[2]]
            });
            inputs.push(input.collect());
            truths.push(truth);
        }
        let (edges, sparse) = (Vec::new(), seed % 2 == 1);
        Self { kind, labels, inputs, edges, truths, sparse, weights: None, lambda: 0.1 }
    }

    /// With so many features of label pairs, nowhere zero; the first tells something of the pair.
    pub fn with_pairs(mut self, seed: u64, pairs: usize) -> Self {
        let mut random = Random::new(seed);
        let mut row = |truth: &[u16], t: usize| -> Vec<f64> {
            let told = if t > 0 && truth[t] == truth[t - 1] { 0.7 } else { 0.0 };
            let mut row: Vec<f64> = (0..pairs).map(|_| 2.0 * random.unit() - 1.0).collect();
            row[0] += told;
            row
        };
        let rows = |truth: &Vec<u16>| (0..truth.len()).map(|t| row(truth, t)).collect();
        self.edges = self.truths.iter().map(rows).collect();
        self
    }

    fn rows(&self, of: &[Vec<Vec<f64>>], width: usize) -> Rows {
        let all: Vec<Vec<f64>> = of.concat();
        if !self.sparse {
            return Rows::dense(&all).unwrap();
        }
        let mut rows = Rows::sparse();
        for row in all {
            let entries = row.into_iter().enumerate().map(|(j, x)| (j as u32, x));
            rows.push_sparse(&entries.filter(|&(_, x)| x != 0.0).collect::<Vec<_>>());
        }
        rows.fit_width(width);
        rows
    }

    fn alphabet(&self) -> Alphabet {
        Alphabet::from((0..self.labels).map(|y| format!("label {y}")).collect::<Vec<_>>())
    }

    pub fn sequences(&self) -> Sequences {
        let mut starts = vec![0];
        self.truths.iter().for_each(|truth| starts.push(starts[starts.len() - 1] + truth.len()));
        let rows = self.rows(&self.inputs, self.width());
        let data = Sequences::new(rows, self.truths.concat(), starts, self.alphabet()).unwrap();
        match self.pairs() {
            0 => data,
            pairs => data.with_edges(self.rows(&self.edges, pairs)).unwrap(),
        }
    }

    pub fn examples(&self) -> Examples {
        let labels = self.truths.iter().map(|truth| u32::from(truth[0])).collect();
        let classes = Classes::new(labels, self.alphabet()).unwrap();
        Examples::new(self.rows(&self.inputs, self.width()), classes).unwrap()
    }

    /// All outputs of example i. The last position changes slowest, so that the first of several tied
    /// outputs is the one that Viterbi's algorithm comes to from the end.
    pub fn outputs(&self, i: usize) -> impl Iterator<Item = Vec<u16>> + use<> {
        let (labels, length) = (self.labels, self.truths[i].len());
        (0..labels.pow(length as u32)).map(move |code| {
            (0..length).map(|t| (code / labels.pow(t as u32) % labels) as u16).collect()
        })
    }

    /// φ(x_i, y): emissions by feature, then start, end and transitions, then pairs by feature.
    pub fn phi(&self, i: usize, y: &[u16]) -> Vec<Wide> {
        let mut phi = vec![Wide::ZERO; self.dim()];
        let mut count = |index: usize, x: f64| phi[index] = phi[index] + x.into();
        for (x, &y) in self.inputs[i].iter().zip(y) {
            for (f, &x) in x.iter().enumerate() {
                count(f * self.labels + usize::from(y), x);
            }
        }
        if let Kind::Chain(_) = self.kind {
            let start = self.width() * self.labels;
            let (end, transitions) = (start + self.labels, start + 2 * self.labels);
            count(start + usize::from(y[0]), 1.0);
            count(end + usize::from(y[y.len() - 1]), 1.0);
            for (t, pair) in y.windows(2).enumerate() {
                let place = usize::from(pair[0]) * self.labels + usize::from(pair[1]);
                count(transitions + place, 1.0);
                for f in 0..self.pairs() {
                    let table = transitions + (1 + f) * self.labels * self.labels;
                    count(table + place, self.edges[i][t + 1][f]);
                }
            }
        }
        phi
    }

    /// L(y_i, y).
    pub fn loss(&self, i: usize, y: &[u16]) -> Wide {
        let truth = &self.truths[i];
        let wrong = truth.iter().zip(y).filter(|(truth, y)| truth != y).count() as f64;
        match &self.kind {
            Kind::Chain(Hamming::Normalized) => Wide::from(wrong) / Wide::from(y.len() as f64),
            Kind::Chain(_) | Kind::Multiclass(Costs::ZeroOne) => wrong.into(),
            Kind::Multiclass(Costs::Matrix(costs)) => {
                costs[usize::from(truth[0]) * self.labels + usize::from(y[0])].into()
            }
        }
    }

    /// The problem written out.
    pub fn explicit(&self) -> Explicit {
        let corner = |i: usize, output: Vec<u16>| {
            let truth = self.phi(i, &self.truths[i]);
            let exact_psi: Vec<Wide> =
                truth.into_iter().zip(self.phi(i, &output)).map(|(a, b)| a - b).collect();
            let exact_loss = self.loss(i, &output);
            let psi = exact_psi.iter().map(|psi| psi.float()).collect();
            Corner { loss: exact_loss.float(), psi, output, exact_loss, exact_psi }
        };
        let counts = self.weights.clone().unwrap_or(vec![1.0; self.len()]);
        let total: Wide = counts.iter().map(|&c| Wide::from(c)).sum();
        Explicit {
            lambda: self.lambda,
            l1: 0.0,
            nonnegative: false,
            dim: self.dim(),
            masses: counts.into_iter().map(|c| Wide::from(c) / total).collect(),
            examples: (0..self.len())
                .map(|i| self.outputs(i).map(|output| corner(i, output)).collect())
                .collect(),
        }
    }

    /// A distribution over the outputs of example i that has the marginals of a block's point: for
    /// classes the point itself, for chains first labels and then next labels given the last one.
    /// It is feasible whatever the point is, so its dual value is a true lower bound.
    pub fn distribution(&self, i: usize, point: &Mixture) -> Vec<Wide> {
        // weight[t][y][y'], the mark for the end of a sequence beside the labels
        let end = self.labels;
        let mut weight = vec![vec![vec![Wide::ZERO; end + 1]; end]; self.truths[i].len()];
        for (key, x) in point.iter() {
            let (t, y, next) = match self.kind {
                Kind::Chain(_) => (key >> 32, key >> 16 & 0xffff, key & 0xffff),
                Kind::Multiclass(_) => (0, key, 0xffff),
            };
            weight[t as usize][y as usize][end.min(next as usize)] = x.into();
        }
        let total = |row: &[Wide]| -> Wide { row.iter().copied().sum() };
        let all: Wide = weight[0].iter().map(|row| total(row)).sum();
        self.outputs(i)
            .map(|y| {
                let first = total(&weight[0][usize::from(y[0])]) / all;
                y.windows(2).enumerate().fold(first, |alpha, (t, pair)| {
                    let row = &weight[t][usize::from(pair[0])];
                    let sum = total(row);
                    if sum > Wide::ZERO {
                        alpha * row[usize::from(pair[1])] / sum
                    } else {
                        // Rounding has left a trace on a label that nothing leaves: any next label will do.
                        alpha * f64::from(u8::from(pair[1] == 0)).into()
                    }
                })
            })
            .collect()
    }

    /// The distributions of all examples.
    pub fn distributions(&self, points: &[Mixture]) -> Vec<Vec<Wide>> {
        points.iter().enumerate().map(|(i, point)| self.distribution(i, point)).collect()
    }

    /// One thread, and whatever the problem asks for.
    pub fn settings(&self) -> Settings {
        Settings {
            lambda: self.lambda,
            sample_weights: self.weights.clone(),
            threads: 1,
            ..Settings::plain()
        }
    }

    pub fn train(&self, settings: &Settings, budget: &Budget) -> Report<Solution<Mixture>> {
        with_blocks!(self, |blocks| dualgap::dual::train(&blocks, settings, budget, &mut ())
            .unwrap())
    }
}

/// So many oracle calls and one certification, after the last of them: what a run returns is then
/// its last iterate (or average) and not an earlier one that happened to be better.
pub fn calls(calls: u64) -> Budget {
    Budget { oracle_calls: Some(calls), certify_share: 1e-12, ..Budget::passes(u64::MAX) }
}

/// The largest difference of two vectors, relative to the largest entry beyond one.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = a.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

/// The same cases in every run; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more and for others.
pub fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { default.cases } else { cases },
        rng_seed: match default.rng_seed {
            RngSeed::Random => RngSeed::Fixed(1),
            fixed @ RngSeed::Fixed(_) => fixed,
        },
        failure_persistence: None,
        ..default
    }
}

const MOST_EXAMPLES: usize = 5;
const LONGEST: usize = 4;
const MOST_FEATURES: usize = 3;
const MOST_LABELS: usize = 3;
const MOST_PAIRS: usize = 2;

/// No small problem has more weights than this.
pub const MOST_WEIGHTS: usize =
    MOST_FEATURES * MOST_LABELS + 2 * MOST_LABELS + (1 + MOST_PAIRS) * MOST_LABELS * MOST_LABELS;

/// Every kind of small problem. `value` draws the features; zeros among them are left out of sparse
/// rows and make outputs tie.
pub fn small_with(value: impl Strategy<Value = f64>) -> impl Strategy<Value = Small> {
    let kind = (0..4_u8, prop::collection::vec(0.0..2.0_f64, MOST_LABELS * MOST_LABELS));
    let sizes = (1..=MOST_EXAMPLES, 1..=MOST_FEATURES, 2..=MOST_LABELS);
    let lengths = prop::collection::vec(1..=LONGEST, MOST_EXAMPLES);
    let numbers = MOST_EXAMPLES * LONGEST * (MOST_FEATURES + MOST_PAIRS);
    let values = (prop::collection::vec(value, numbers), 0..=MOST_PAIRS);
    let truths = prop::collection::vec(0..6_u16, MOST_EXAMPLES * LONGEST);
    let counts = prop::collection::vec(0.0..3.0_f64, MOST_EXAMPLES);
    let rest = (prop::option::of(counts), -3.0..0.0_f64, any::<bool>());
    (kind, sizes, lengths, values, truths, rest).prop_map(
        |((kind, mut costs), (n, width, labels), lengths, (values, pairs), truths, rest)| {
            let (weights, exponent, sparse) = rest;
            costs.truncate(labels * labels);
            (0..labels).for_each(|y| costs[y * labels + y] = 0.0);
            let kind = match kind {
                0 => Kind::Chain(Hamming::Plain),
                1 => Kind::Chain(Hamming::Normalized),
                2 => Kind::Multiclass(Costs::ZeroOne),
                _ => Kind::Multiclass(Costs::Matrix(costs)),
            };
            let length = |i: usize| if let Kind::Chain(_) = kind { lengths[i] } else { 1 };
            let position = |i: usize, t: usize| i * LONGEST + t;
            let row = |i, t| {
                let first = position(i, t) * MOST_FEATURES;
                values[first..first + width].to_vec()
            };
            let edge = |i, t| {
                let first = MOST_EXAMPLES * LONGEST * MOST_FEATURES + position(i, t) * MOST_PAIRS;
                values[first..first + pairs].to_vec()
            };
            let label = |i, t| truths[position(i, t)] % labels as u16;
            Small {
                labels,
                inputs: (0..n).map(|i| (0..length(i)).map(|t| row(i, t)).collect()).collect(),
                edges: match pairs {
                    0 => Vec::new(),
                    _ => (0..n).map(|i| (0..length(i)).map(|t| edge(i, t)).collect()).collect(),
                },
                truths: (0..n).map(|i| (0..length(i)).map(|t| label(i, t)).collect()).collect(),
                sparse,
                // A sum of zero is refused, and rightly so.
                weights: weights.map(|counts| {
                    let mut counts = counts[..n].to_vec();
                    counts[0] += 0.5;
                    counts
                }),
                lambda: 10_f64.powf(exponent),
                kind,
            }
        },
    )
}

/// Every kind of small problem, with zeros among the features.
pub fn small() -> impl Strategy<Value = Small> {
    small_with(prop_oneof![1 => Just(0.0), 3 => -1.0..1.0_f64])
}

/// Every kind of small problem, with features that are nowhere zero: outputs tie at w = 0 only.
pub fn generic() -> impl Strategy<Value = Small> {
    small_with(prop_oneof![0.1..1.0_f64, -1.0..-0.1_f64])
}

/// Every way to run, to be given λ and weights by [`of`].
pub fn ways() -> impl Strategy<Value = Settings> {
    let method = prop_oneof![Just(Algorithm::Bcfw), Just(Algorithm::Fw)];
    let step = prop_oneof![Just(Step::LineSearch), Just(Step::Predefined)];
    let sampling = prop_oneof![
        Just(Sampling::Permuted),
        Just(Sampling::Uniform),
        Just(Sampling::Cyclic),
        Just(Sampling::Importance),
        Just(Sampling::Gap)
    ];
    let average = prop_oneof![Just(Average::None), Just(Average::Weighted), Just(Average::Suffix)];
    let direction = prop_oneof![
        Just(Direction::Auto),
        Just(Direction::Toward),
        Just(Direction::Away),
        Just(Direction::Pairwise)
    ];
    let cache = prop_oneof![Just(Cache::Auto), Just(Cache::On), Just(Cache::Off)];
    let acceleration =
        prop_oneof![Just(Acceleration::Auto), Just(Acceleration::On), Just(Acceleration::Off)];
    let beyond = (direction, cache, acceleration, any::<bool>());
    (method, step, sampling, average, 1..=4_usize, 0..100_u64, beyond).prop_map(
        |(method, step, sampling, average, batch, seed, beyond)| {
            let (direction, cache, acceleration, shrinking) = beyond;
            let way =
                Settings { method, step, sampling, average, batch, seed, ..Settings::plain() };
            let way = Settings { shrinking, ..way };
            if method == Algorithm::Fw || step == Step::Predefined {
                return way; // all else would be refused
            }
            Settings { direction, cache, acceleration, ..way }
        },
    )
}

/// These settings for this problem.
pub fn of(way: &Settings, small: &Small) -> Settings {
    let Settings { lambda, sample_weights, threads, .. } = small.settings();
    Settings { lambda, sample_weights, threads, ..way.clone() }
}
