//! Marginals beside the corners of an oracle, and steps between known matchings beside all of them.

use crate::common::{calls, cases, distance};
use crate::matchings::{Case, Pairs, generic, matchings};
use dualgap::data::GraphRef;
use dualgap::dual::{self, ActiveSetBlocks, Average, Blocks, Mixture, Settings, Step};
use dualgap::linalg::Random;
use dualgap::run::Budget;
use dualgap::structure::{MatchingBlocks, MatchingOracle, OracleBlocks};
use proptest::prelude::*;

type Examples<'a> = Vec<(GraphRef<'a>, Pairs)>;

fn examples<'a>(case: &Case, data: &'a dualgap::data::Matchings) -> Examples<'a> {
    (0..case.len()).map(|i| (data.graph(i), case.truth(i))).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn steps_are_those_of_an_oracle_with_corners(case in generic(), predefined in any::<bool>()) {
        let data = case.data();
        let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
        let oracle = MatchingOracle::new(case.width(), case.loss);
        let examples = examples(&case, &data);
        let corners = OracleBlocks::new(&oracle, &examples).unwrap();
        let problem = case.explicit();
        let step = if predefined { Step::Predefined } else { Step::LineSearch };
        for settings in [
            Settings { step, ..case.plain() },
            Settings { step, batch: 2, average: Average::Weighted, ..case.plain() },
        ] {
            for k in 1..=4 * case.len() as u64 {
                let one = dual::train(&blocks, &settings, &calls(k), &mut ()).unwrap();
                let other = dual::train(&corners, &settings, &calls(k), &mut ()).unwrap();
                let apart = distance(&one.model.weights, &other.model.weights);
                prop_assert!(apart < 1e-9, "{k}: {apart:e}");
                let error = one.certificate.rounding_error + other.certificate.rounding_error + 1e-9;
                prop_assert!((one.certificate.dual - other.certificate.dual).abs() <= error);
                prop_assert!((one.certificate.primal - other.certificate.primal).abs() <= error);
                if problem.is_tied(&one.model.weights) {
                    break;
                }
            }
        }
    }

    #[test]
    fn both_reach_the_same_optimum(case in generic()) {
        let data = case.data();
        let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
        let oracle = MatchingOracle::new(case.width(), case.loss);
        let examples = examples(&case, &data);
        let corners = OracleBlocks::new(&oracle, &examples).unwrap();
        let budget = Budget { passes: Some(5000), ..Budget::relative(1e-6) };
        let one = dual::train(&blocks, &case.auto(), &budget, &mut ()).unwrap().certificate;
        let other = dual::train(&corners, &case.auto(), &budget, &mut ()).unwrap().certificate;
        prop_assert!(one.relative_gap() <= 1.1e-6 && other.relative_gap() <= 1.1e-6);
        let error = one.rounding_error + other.rounding_error;
        prop_assert!(one.dual <= other.primal + error && other.dual <= one.primal + error);
    }
}

/// The row and the column of a key; what stays free has neither.
fn edge(key: u64) -> Option<(usize, usize)> {
    let (row, column) = ((key >> 32) as u32, key as u32);
    (row != u32::MAX && column != u32::MAX).then_some((row as usize, column as usize))
}

fn pairs(corner: &[u64]) -> Pairs {
    corner.iter().filter_map(|&key| edge(key)).collect()
}

/// The marginals as a table, and how much of each row and column is left.
struct Table {
    weights: Vec<Vec<f64>>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Table {
    fn of(case: &Case, i: usize, at: &Mixture) -> Self {
        let (rows, columns) = (case.graphs[i].rows, case.graphs[i].columns);
        let mut weights = vec![vec![0.0; columns]; rows];
        for (key, weight) in at.iter() {
            if let Some((r, c)) = edge(key) {
                weights[r][c] += weight;
            }
        }
        let left = |sum: f64| 1.0 - sum;
        let of_column = |c: usize| left((0..rows).map(|r| weights[r][c]).sum());
        Self {
            rows: weights.iter().map(|row| left(row.iter().sum())).collect(),
            columns: (0..columns).map(of_column).collect(),
            weights,
        }
    }

    /// How much weight a matching can lose, by the definition.
    fn room(&self, matching: &Pairs) -> f64 {
        let edges = matching.iter().map(|&(r, c)| self.weights[r][c]);
        let rows = (0..self.rows.len()).filter(|&r| matching.iter().all(|edge| edge.0 != r));
        let columns = (0..self.columns.len()).filter(|&c| matching.iter().all(|edge| edge.1 != c));
        let free = rows.map(|r| self.rows[r]).chain(columns.map(|c| self.columns[c]));
        edges.chain(free).fold(f64::INFINITY, f64::min)
    }

    fn is_feasible(&self) -> bool {
        let weights = self.weights.iter().flatten();
        self.rows.iter().chain(&self.columns).chain(weights).all(|&left| left > -1e-12)
    }
}

/// A mixture of a few matchings, made by the steps of a run.
fn mixed(case: &Case, blocks: &MatchingBlocks<'_>, i: usize, random: &mut Random) -> Mixture {
    let (mut at, mut corner, mut scratch) = (blocks.start(i), Vec::new(), blocks.scratch());
    for _ in 0..random.below(5) {
        let w: Vec<f64> = (0..case.width()).map(|_| 6.0 * random.unit() - 3.0).collect();
        blocks.best_corner(i, &w, &mut corner, &mut scratch).unwrap();
        blocks.mix(i, 0.1 + 0.5 * random.unit(), &mut at, &corner);
    }
    at
}

#[test]
fn the_extremes_are_the_worst_and_the_best_of_all_that_the_point_is_made_of() {
    let mut random = Random::new(7);
    for seed in 0..60 {
        let case = Case::random(seed, 3, 4, 3);
        let (data, problem) = (case.data(), case.explicit());
        let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
        let mut scratch = blocks.scratch();
        for i in 0..case.len() {
            let at = mixed(&case, &blocks, i, &mut random);
            let w: Vec<f64> = (0..case.width()).map(|_| 4.0 * random.unit() - 2.0).collect();
            let table = Table::of(&case, i, &at);
            let all = matchings(&case.graphs[i]);
            let score = |y: &Pairs| {
                let k = all.iter().position(|other| other == y).unwrap();
                let corner = &problem.examples[i][k];
                corner.loss - corner.psi.iter().zip(&w).map(|(psi, w)| psi * w).sum::<f64>()
            };
            let (mut worst, mut best) = (Vec::new(), Vec::new());
            blocks.score_active_set(i, &at, &w, &mut scratch);
            blocks.extremes(i, &at, &w, &mut worst, &mut best, &mut scratch);
            let room = table.room(&pairs(&worst));
            assert!(room > 1e-9, "the worst has no weight");
            assert!((blocks.weight(i, &at, &worst) - room).abs() < 1e-12);
            let possible = || all.iter().filter(|y| table.room(y) > 1e-9);
            let lowest = possible().map(score).fold(f64::INFINITY, f64::min);
            assert!((score(&pairs(&worst)) - lowest).abs() < 1e-9);
            let known = |y: &&Pairs| y.iter().all(|&(r, c)| table.weights[r][c] > 1e-12);
            let highest = all.iter().filter(known).map(score).fold(f64::NEG_INFINITY, f64::max);
            assert!((score(&pairs(&best)) - highest).abs() < 1e-9);

            // A step from one to the other: what the scratch says of it, and where it ends.
            let rise = blocks.between(i, &worst, &best, &mut scratch);
            let gap = rise - blocks.slope(i, &w, &mut scratch);
            assert!((gap - (highest - lowest)).abs() < 1e-9);
            let curvature = blocks.curvature(i, &mut scratch);
            let (mut image, mut before, mut after) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; 3]);
            blocks.displace(i, 1.0, &mut image, &mut scratch);
            let squares: f64 = image.iter().map(|x| x * x).sum();
            assert!((curvature - squares).abs() < 1e-9);
            for amount in [room, 0.5 * room] {
                let mut moved = at.clone();
                blocks.shift(i, amount, &mut moved, &worst, &best);
                blocks.audit(i, &moved, &mut scratch).unwrap();
                assert!(Table::of(&case, i, &moved).is_feasible());
                before.fill(0.0);
                after.fill(0.0);
                blocks.add(i, &at, 1.0, &mut before, &mut scratch);
                blocks.add(i, &moved, 1.0, &mut after, &mut scratch);
                let step: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
                let expected: Vec<f64> = image.iter().map(|x| amount * x).collect();
                assert!(distance(&step, &expected) < 1e-12);
            }
            // All that can be taken away is taken: the worst has nothing left.
            if room < 0.5 {
                let mut away = at.clone();
                blocks.mix(i, -room / (1.0 - room), &mut away, &worst);
                blocks.tidy(i, &mut away);
                blocks.audit(i, &away, &mut scratch).unwrap();
                let table = Table::of(&case, i, &away);
                assert!(table.is_feasible() && table.room(&pairs(&worst)) < 1e-12);
            }
        }
    }
}

/// By how much a row or a column, with what stays free, misses one.
fn defect(at: &Mixture) -> f64 {
    let mut sums = std::collections::BTreeMap::new();
    for (key, weight) in at.iter() {
        for line in [(0, (key >> 32) as u32), (1, key as u32)] {
            if line.1 != u32::MAX {
                *sums.entry(line).or_insert(0.0) += weight;
            }
        }
    }
    sums.into_values().map(|sum: f64| (sum - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn tidying_restores_a_common_factor_and_bends_nothing() {
    let mut random = Random::new(11);
    for seed in 0..20 {
        let case = Case::random(seed, 2, 4, 2);
        let data = case.data();
        let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
        for i in 0..case.len() {
            let at = mixed(&case, &blocks, i, &mut random);
            assert!(defect(&at) < 1e-14);
            let mut bend = |size: f64, alike: bool| {
                let factor = random.unit();
                let mut factor = || 1.0 + size * if alike { factor } else { random.unit() };
                let bent = at.iter().map(|(key, weight)| (key, weight * factor()));
                Mixture::from_entries(bent.collect()).unwrap()
            };
            for (mut bent, alike) in [(bend(1e-6, true), true), (bend(1e-10, false), false)] {
                let before = defect(&bent);
                blocks.tidy(i, &mut bent);
                let after = defect(&bent);
                assert!(
                    after < if alike { 1e-14 } else { 2.0 * before + 1e-14 },
                    "{before:e} {after:e}"
                );
                let (one, other) = (Table::of(&case, i, &at), Table::of(&case, i, &bent));
                for (a, b) in one.weights.iter().flatten().zip(other.weights.iter().flatten()) {
                    assert!((a - b).abs() < 1e-9);
                }
                assert!(blocks.audit(i, &bent, &mut blocks.scratch()).is_ok());
            }
        }
    }
}

#[test]
fn known_matchings_save_oracle_calls() {
    let case = Case { lambda: 0.002, ..Case::random(2, 20, 6, 8) };
    let data = case.data();
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let calls = |settings: &Settings| {
        let budget = Budget { passes: Some(20_000), ..Budget::relative(0.01) };
        let report = dual::train(&blocks, settings, &budget, &mut ()).unwrap();
        assert!(report.certificate.relative_gap() <= 0.0101);
        report.work.oracle_calls
    };
    let (auto, plain) = (calls(&case.auto()), calls(&case.plain()));
    assert!(3 * auto < 2 * plain, "{auto} {plain}");
}
