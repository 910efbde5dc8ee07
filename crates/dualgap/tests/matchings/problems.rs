//! The oracle, the loss and the optimum, by looking at all matchings.

use crate::common::cases;
use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::matchings::{Case, generic, matchings, tied};
use dualgap::data::{Graph, Mark};
use dualgap::dual::{self, Blocks, Direction, Problem, Settings};
use dualgap::linalg::Assignment;
use dualgap::run::Budget;
use dualgap::structure::{LinkLoss, MatchingBlocks, MatchingOracle, Oracle};
use dualgap::term::L2;
use proptest::prelude::*;

fn weights(width: usize) -> impl Strategy<Value = Vec<f64>> {
    let some = prop_oneof![-2.0..2.0_f64, (-2_i32..3).prop_map(f64::from)];
    prop::collection::vec(some, width)
}

fn with_weights(case: impl Strategy<Value = Case>) -> impl Strategy<Value = (Case, Vec<f64>)> {
    case.prop_flat_map(|case| {
        let width = case.width();
        (Just(case), weights(width))
    })
}

/// The oracle's loss and bound at w, and its corner's loss, held against all matchings.
fn assert_best(case: &Case, w: &[f64]) {
    let (data, problem) = (case.data(), case.explicit());
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let (mut corner, mut scratch) = (Vec::new(), blocks.scratch());
    let largest = w.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
    for i in 0..case.len() {
        let exact = problem.hinge(i, w);
        let found = blocks.best_corner(i, w, &mut corner, &mut scratch).unwrap();
        let error = blocks.rounding(i, w, largest);
        assert!(error < 1e-12, "{error:e}");
        let off = |value: f64| (Wide::from(value) - exact).abs();
        assert!(off(found.value) <= Wide::from(error + 1e-14), "{found:?} {exact:?}");
        assert!(Wide::from(found.bound) + Wide::from(error) >= exact, "{found:?} {exact:?}");
        assert!(off(found.bound) <= Wide::from(2e-13), "{found:?} {exact:?}");
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_oracle_finds_the_worst_of_all_matchings((case, w) in with_weights(generic())) {
        assert_best(&case, &w);
    }

    #[test]
    fn scores_that_tie_make_no_difference((case, w) in with_weights(tied())) {
        assert_best(&case, &w);
        assert_best(&case, &vec![0.0; w.len()]);
    }

    #[test]
    fn a_prediction_scores_as_high_as_any_matching((case, w) in with_weights(prop_oneof![generic(), tied()])) {
        let data = case.data();
        let oracle = MatchingOracle::new(case.width(), case.loss);
        for i in 0..case.len() {
            let score = |y: &Vec<(usize, usize)>| -> f64 {
                case.phi(i, y).iter().zip(&w).map(|(phi, w)| phi.float() * w).sum()
            };
            let all = matchings(&case.graphs[i]);
            let best = all.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
            let found = oracle.decode(&w, &data.graph(i), None, &mut Assignment::default()).unwrap();
            prop_assert!((score(&found.output) - best).abs() < 1e-12);
            let truth = case.truth(i);
            for y in &all {
                let counted = oracle.loss(&data.graph(i), &truth, y);
                prop_assert!((counted - case.loss_of(i, &truth, y).float()).abs() < 1e-12);
                // Folded into the edges, with what all edges of the truth cost in front.
                let folded = y.iter().map(|&(r, c)| case.loss.of_edge(data.graph(i), data.graph(i).edge(r, c).unwrap()));
                let folded = truth.len() as f64 * case.loss.false_negative + folded.sum::<f64>();
                prop_assert!((counted - folded).abs() < 1e-12);
            }
        }
    }
}

/// Runs to a small gap and compares with the bracket of an interior point method.
fn assert_optimal(case: &Case, settings: &Settings) {
    let data = case.data();
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let budget = Budget { passes: Some(3000), ..Budget::relative(1e-4) };
    let report = dual::train(&blocks, settings, &budget, &mut ()).unwrap();
    let (found, bracket) = (report.certificate, optimum(&case.explicit()));
    assert!(bracket.is_within(1e-6), "{bracket:?}");
    let slack = 1e-9 + found.rounding_error;
    assert!(found.primal >= bracket.lower - slack, "{found:?} {bracket:?}");
    assert!(found.dual <= bracket.upper + slack, "{found:?} {bracket:?}");
    let exact = case.explicit().primal(&report.model.weights).float();
    assert!((found.primal - exact).abs() <= slack, "{found:?} {exact}");
    if settings.direction == Direction::Auto {
        assert!(found.relative_gap() <= 1.1e-4, "{found:?}");
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn optima_are_those_of_an_interior_point_method(case in prop_oneof![generic(), tied()]) {
        assert_optimal(&case, &case.auto());
        assert_optimal(&case, &Settings { direction: Direction::Away, ..case.plain() });
    }

    #[test]
    fn a_weight_of_two_is_a_duplicate(case in generic()) {
        let mut twice = Case { weights: None, ..case.clone() };
        twice.graphs.push(case.graphs[0].clone());
        let first = case.graphs[0].edges.len();
        twice.features.extend_from_slice(&case.features[..first]);
        twice.marks.extend_from_slice(&case.marks[..first]);
        let mut counts = vec![1.0; case.len()];
        counts[0] = 2.0;
        let weighted = Case { weights: Some(counts.clone()), ..case };
        let w: Vec<f64> = (0..twice.width()).map(|j| 0.3 * j as f64 - 0.4).collect();
        let primal = |case: &Case, weights: Option<&[f64]>| {
            let data = case.data();
            let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
            let problem = Problem::new(&blocks, L2, case.lambda, weights).unwrap();
            problem.primal(&w).unwrap().value
        };
        let (one, other) = (primal(&weighted, Some(&counts)), primal(&twice, None));
        prop_assert!((one.value - other.value).abs() <= one.error + other.error);
    }
}

#[test]
fn graphs_without_rows_columns_or_edges_are_examples_like_others() {
    let empty = |rows, columns| Graph { rows, columns, edges: Vec::new() };
    let mut case = Case::random(3, 3, 3, 2);
    case.graphs.extend([Graph::full(0, 0), empty(0, 3), empty(2, 0), empty(2, 3)]);
    assert_optimal(&case, &case.auto());
    assert_optimal(&case, &case.plain());
    let nothing = Case {
        graphs: vec![Graph::full(0, 0), empty(2, 3)],
        features: Vec::new(),
        marks: Vec::new(),
        ..case
    };
    let data = nothing.data();
    let blocks = MatchingBlocks::new(&data, nothing.loss).unwrap();
    let report = dual::train(&blocks, &nothing.auto(), &Budget::relative(1e-3), &mut ()).unwrap();
    assert!(report.certificate.gap_bound() < 1e-12, "{:?}", report.certificate);
}

// No sure link: to predict nothing is right, and w = 0 is optimal.
#[test]
fn without_sure_links_nothing_is_to_be_learned() {
    let mut case = Case::random(5, 4, 3, 2);
    case.marks.fill(Mark::Possible);
    let data = case.data();
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    let report = dual::train(&blocks, &case.auto(), &Budget::relative(1e-3), &mut ()).unwrap();
    assert_eq!(report.model.weights, [0.0, 0.0]);
    assert!(report.certificate.primal.abs() < 1e-12);
}

/// The certificate holds for the exact values where numbers are huge, tiny, or cancel.
#[test]
fn certificates_hold_at_the_edge_of_the_numbers() {
    for (scale, lambda) in
        [(1.0, 1e-12), (1.0, 1e12), (1e150, 1e300), (1e-150, 1e-300), (1e-160, 0.1), (1e8, 1e-8)]
    {
        for seed in 0..3 {
            let mut case = Case::random(seed, 4, 3, 3);
            case.features.iter_mut().flatten().for_each(|x| *x *= scale);
            case.lambda = lambda;
            case.loss = LinkLoss { false_positive: 0.3, false_negative: 1.7 };
            let data = case.data();
            let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
            for settings in [case.auto(), case.plain()] {
                let report = dual::train(&blocks, &settings, &Budget::passes(5), &mut ()).unwrap();
                let found = report.certificate;
                let exact = case.explicit().primal(&report.model.weights).float();
                let error = found.rounding_error * (1.0 + 1e-9);
                assert!(
                    (found.primal - exact).abs() <= error,
                    "{scale} {lambda}: {found:?} {exact}"
                );
                assert!(found.dual - error <= exact, "{scale} {lambda}: {found:?} {exact}");
            }
        }
    }
}

#[test]
fn costs_that_are_none_and_data_without_marks_are_refused() {
    let data = Case::random(1, 2, 2, 1).data();
    for (false_positive, false_negative) in
        [(-1.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (0.0, 0.0)]
    {
        assert!(MatchingBlocks::new(&data, LinkLoss { false_positive, false_negative }).is_err());
    }
    let bare = dualgap::data::Matchings::unlabelled(dualgap::linalg::Rows::sparse(), &[]).unwrap();
    assert!(MatchingBlocks::new(&bare, LinkLoss::default()).is_err());
}
