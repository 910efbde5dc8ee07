//! The ball's part of a dual value, against closed forms and full decompositions.

use super::trace::{Known, Ranks, TraceDual, dual_until, threshold, top_until};
use crate::Result;
use crate::linalg::low_rank::tests::{by_rows, decomposed, dense, random, with_values};
use crate::linalg::{Dense, LowRank, Random, Search};
use faer::Mat;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A matrix that is known exactly.
fn exactly<'a>(entries: &'a Dense<'a>) -> Known<'a> {
    Known { entries, products: entries, error: 0.0 }
}

/// The ball's part of a dual value, by a search that is not halted.
fn dual(
    v: Known<'_>,
    mu: f64,
    radius: f64,
    ranks: Ranks,
    warm: Option<&LowRank>,
    search: &Search,
) -> Result<TraceDual> {
    dual_until(v, mu, radius, ranks, warm, search, &|| false)
}

/// h by a full decomposition: the maximum over the values of a diagonal problem.
fn exact(values: &[f64], mu: f64, radius: f64) -> f64 {
    if mu == 0.0 {
        return radius * values[0];
    }
    // Bisection on the threshold, for a judge that shares nothing with the sorted search.
    let spent = |theta: f64| values.iter().map(|s| (s - theta).max(0.0)).sum::<f64>();
    let (mut low, mut high) = (0.0, values[0]);
    if spent(0.0) > mu * radius {
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if spent(middle) > mu * radius { low = middle } else { high = middle }
        }
    }
    let theta = if spent(0.0) > mu * radius { high } else { 0.0 };
    values
        .iter()
        .map(|s| {
            let x = (s - theta).max(0.0) / mu;
            s * x - mu / 2.0 * x * x
        })
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_bound_is_the_maximum_up_to_rounding(
        rows in 1_usize..70, columns in 1_usize..70, seed in 0_u64..1000, mu in 0.01..2.0_f64, share in 0.01..1.3_f64,
    ) {
        let matrix = random(rows, columns, seed);
        let values = matrix.singular_values().unwrap();
        for mu in [mu, 0.0] {
            // From hardly any value beyond the threshold to all of them.
            let radius = share * values.iter().sum::<f64>() / mu.max(0.01);
            let v = by_rows(matrix.as_ref());
            let v = Dense::new(rows, columns, &v);
            let ranks = Ranks { first: 2, ..Ranks::default() };
            let found = dual(exactly(&v), mu, radius, ranks, None, &Search::default()).unwrap();
            let h = exact(&values, mu, radius);
            prop_assert!(found.value.value - found.value.error <= -h + 1e-13 * h);
            prop_assert!(found.value.value >= -h * (1.0 + 1e-11), "{} for {}", found.value.value, -h);
            prop_assert!(found.value.error <= 1e-14 * h);
        }
    }

    // ⟨V, X⟩ − μ/2‖X‖² at points of the ball is never above the bound: no decomposition is trusted.
    #[test]
    fn no_point_of_the_ball_is_above_the_bound(seed in 0_u64..1000, mu in 0.0..1.0_f64, radius in 0.1..5.0_f64, most in 1_usize..6) {
        let matrix = random(12, 9, seed);
        let v = by_rows(matrix.as_ref());
        let ranks = Ranks { first: 1, most };
        let found = dual(exactly(&Dense::new(12, 9, &v)), mu, radius, ranks, None, &Search::default()).unwrap();
        let value = |x: &Mat<f64>| {
            let inner: f64 = (0..9).map(|j| (0..12).map(|i| matrix[(i, j)] * x[(i, j)]).sum::<f64>()).sum();
            inner - mu / 2.0 * x.squared_norm_l2()
        };
        let best = -(found.value.value - found.value.error);
        for k in 0..20 {
            let mut random = Random::new(seed + k);
            let x = with_values(12, 9, &[random.unit(), random.unit(), random.unit()], seed + k);
            let x = decomposed(&x).first(3).scaled(1e3).within(radius);
            prop_assert!(value(&dense(&x, 12, 9)) <= best * (1.0 + 1e-13));
        }
        if mu > 0.0 {
            let x = found.part.scaled(1.0 / mu).within(radius);
            prop_assert!(value(&dense(&x, 12, 9)) <= best * (1.0 + 1e-13));
        }
    }
}

// The value next to the last one asked for lies just above or below the threshold of the others.
#[test]
fn values_next_to_the_threshold_are_neither_lost_nor_invented() {
    for delta in [-1e-6, -1e-12, 0.0, 1e-12, 1e-6] {
        // θ of the first three at μr = 3 is 1; the others are there or just beyond.
        let mut values = vec![3.0, 2.0, 1.0 + delta, 1.0 + delta];
        values.extend((0..56).map(|k| 0.9 * 0.98_f64.powi(k)));
        let matrix = with_values(100, 80, &values, 3);
        let v = by_rows(matrix.as_ref());
        let v = Dense::new(100, 80, &v);
        for first in [2, 3, 4, 5] {
            let ranks = Ranks { first, ..Ranks::default() };
            let found = dual(exactly(&v), 0.5, 6.0, ranks, None, &Search::default()).unwrap();
            let h = exact(&values, 0.5, 6.0);
            assert!(found.value.value - found.value.error <= -h * (1.0 - 1e-13), "{delta} {first}");
            // Without a gap the search's tolerance counts once, not by its square.
            assert!(
                found.value.value >= -h * (1.0 + 4e-12),
                "{} {delta} {first}",
                found.value.value / h + 1.0
            );
        }
    }
}

#[test]
fn two_by_two_by_hand() {
    // (2 1; 1 2): values 3 and 1. μ = 1/2, r = 6: μr = 3, θ = 1/2, R = (5/2, 1/2), h = 6.5/1 + 6·1/2.
    let v = Dense::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
    let found = dual(exactly(&v), 0.5, 6.0, Ranks::default(), None, &Search::default()).unwrap();
    assert!((found.value.value + 9.5).abs() < 1e-12);
    assert!((found.top.threshold - 0.5).abs() < 1e-14);
    // A radius of 10 holds all of V/μ: h = ‖V‖²/(2μ) = 10.
    let found = dual(exactly(&v), 0.5, 10.0, Ranks::default(), None, &Search::default()).unwrap();
    assert!((found.value.value + 10.0).abs() < 1e-12);
    // Nothing at all: h = 0.
    let zero = Dense::new(3, 2, &[0.0; 6]);
    for mu in [0.0, 1.0] {
        let found =
            dual(exactly(&zero), mu, 2.0, Ranks::default(), None, &Search::default()).unwrap();
        assert!(found.value.value <= 0.0 && found.value.value > -1e-290);
    }
}

#[test]
fn what_is_not_known_of_v_costs_radius_times_its_norm() {
    let v = Dense::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
    let found = dual(
        Known { error: 1e-3, ..exactly(&v) },
        0.5,
        6.0,
        Ranks::default(),
        None,
        &Search::default(),
    )
    .unwrap();
    assert!((found.value.value + 9.506).abs() < 1e-12);
}

#[test]
fn a_capped_rank_is_sound_and_says_so() {
    let matrix = random(60, 50, 1);
    let values = matrix.singular_values().unwrap();
    let v = by_rows(matrix.as_ref());
    let v = Dense::new(60, 50, &v);
    let ranks = Ranks { first: 2, most: 4 };
    let found =
        dual(exactly(&v), 1.0, values.iter().sum::<f64>() / 2.0, ranks, None, &Search::default());
    let found = found.unwrap();
    assert!(!found.top.complete && found.part.rank() <= 4);
    assert!(found.value.value <= -exact(&values, 1.0, values.iter().sum::<f64>() / 2.0));
}

proptest! {
    #[test]
    fn the_threshold_spends_the_radius(mut values in prop::collection::vec(0.0..5.0_f64, 1..30), radius in 0.0..20.0_f64) {
        values.sort_by(|a, b| b.total_cmp(a));
        let theta = threshold(&values, radius);
        let spent: f64 = values.iter().map(|s| (s - theta).max(0.0)).sum();
        prop_assert!(spent <= radius + 1e-12);
        prop_assert!(theta == 0.0 || spent >= radius - 1e-12);
    }
}

#[test]
fn the_projection_is_nearer_than_other_points_of_the_ball() {
    let matrix = random(30, 20, 4);
    let v = by_rows(matrix.as_ref());
    let ranks = Ranks { first: 3, ..Ranks::default() };
    let v = Dense::new(30, 20, &v);
    let found = top_until(&v, 1.5, ranks, None, &Search::default(), &|| false).unwrap();
    assert!(found.complete);
    let projected = dense(&found.beyond().within(1.5), 30, 20);
    let inner = |x: &Mat<f64>, y: &Mat<f64>| -> f64 {
        (0..20).map(|j| (0..30).map(|i| x[(i, j)] * y[(i, j)]).sum::<f64>()).sum()
    };
    // ⟨M − P, Y − P⟩ ≤ 0 for every Y of the ball is what makes P the projection.
    let away = &matrix - &projected;
    for seed in 0..50 {
        let y = dense(&decomposed(&random(30, 20, seed)).within(1.5), 30, 20);
        assert!(inner(&away, &(y - &projected)) <= 1e-10);
    }
}

#[test]
fn numbers_that_are_none_or_overflow_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, 1e308] {
        let mut values = by_rows(random(40, 30, 1).as_ref());
        values[17] = bad;
        let v = Dense::new(40, 30, &values);
        let found = dual(exactly(&v), 1e-3, 100.0, Ranks::default(), None, &Search::default());
        assert!(found.is_err(), "{bad}");
    }
}

// A search finds at most as many equal values as its block has vectors, and those that follow are below the threshold of
// the values that it has found.
#[test]
fn all_of_many_equal_singular_values_are_found() {
    // Five values on the diagonal, and nothing else: singular values in three clusters.
    let mut values = vec![0.0; 200 * 200];
    (0..200).for_each(|i| values[201 * i] = (i % 5) as f64 - 2.0);
    let matrix = Dense::new(200, 200, &values);
    for first in [1, 8, 22, 30, 60, 79, 80, 81, 200] {
        let ranks = Ranks { first, ..Ranks::default() };
        let search = Search::default();
        let found = top_until(&matrix, 10.0, ranks, None, &search, &|| false).unwrap();
        // 80 values of two: θ = 2 − 10/80.
        assert!(found.complete && (found.threshold - 1.875).abs() < 1e-12, "{first}: {found:?}");
        assert_eq!(found.beyond().rank(), 80, "{first}");
        // The values found are the warm start of the next search.
        let warm = found.found.with_values(&found.found.s()[..22.min(found.found.rank())]);
        let again = top_until(&matrix, 10.0, ranks, Some(&warm), &search, &|| false).unwrap();
        assert_eq!(again.beyond().rank(), 80, "{first}, from a warm start");
    }
}

// Who is halted later has found as much or more: also where a search has become a decomposition of the whole matrix, which finds
// nothing before its end.
#[test]
fn a_later_halt_leaves_no_fewer_singular_values() {
    const SIDE: usize = 400;
    let mut values = vec![0.0; SIDE * SIDE];
    (0..SIDE).for_each(|i| values[(SIDE + 1) * i] = (i % 5) as f64 - 2.0);
    let matrix = Dense::new(SIDE, SIDE, &values);
    let ranks = |looks: usize| {
        let seen = AtomicUsize::new(0);
        let halted = || seen.fetch_add(1, Ordering::Relaxed) >= looks;
        let search = Search::default();
        let top = top_until(&matrix, 10.0, Ranks::default(), None, &search, &halted).unwrap();
        (!top.whole && !top.complete).then(|| top.found.rank())
    };
    let found: Vec<usize> = (0..32).map_while(ranks).collect();
    assert!(found.is_sorted() && found.first() == Some(&0) && found.last() > Some(&0), "{found:?}");
}
