//! Lemmas A.1 and A.2: the curvature constants of the structural dual, and their definitions (7) and (8).

use crate::common::explicit::dot;
use crate::theorems::Case;
use dualgap::linalg::Random;
use dualgap::methods::product::{Objective, Point};
use std::ops::Range;

/// A random point of the product: a mixture of corners, or a corner.
fn draw(case: &Case, random: &mut Random) -> Vec<f64> {
    let corner = random.below(2) == 0;
    let block = |size: usize, random: &mut Random| -> Vec<f64> {
        let best = random.below(size);
        let unit = |j: usize| f64::from(u8::from(j == best));
        let weights: Vec<f64> =
            (0..size).map(|j| if corner { unit(j) } else { random.unit() }).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    };
    (0..case.n()).flat_map(|_| block(3, random)).collect()
}

/// 2/γ² (f(y) − f(x) − ⟨y − x, ∇f(x)⟩) for y = x + γ(s − x) with s = x but in these blocks.
fn deviation(case: &Case, x: &Point, s: &[f64], gamma: f64, blocks: Range<usize>) -> f64 {
    let (f, mut y, mut linear) = (case.product.objective(), x.coordinates().to_vec(), 0.0);
    for i in blocks {
        let mut gradient = vec![0.0; x.block(i).len()];
        f.gradient(x, i, &mut gradient);
        let change: Vec<f64> =
            s[x.span(i)].iter().zip(x.block(i)).map(|(s, x)| gamma * (s - x)).collect();
        linear += dot(&change, &gradient);
        y[x.span(i)].iter_mut().zip(&change).for_each(|(y, change)| *y += change);
    }
    let y = case.product.point(y).unwrap();
    2.0 / (gamma * gamma) * (f.value(&y).value - f.value(x).value - linear)
}

/// 4R²/λ.
fn lemma(case: &Case) -> f64 {
    let explicit = case.small.explicit();
    let squares = explicit.examples.iter().flatten().map(|corner| dot(&corner.psi, &corner.psi));
    4.0 / explicit.lambda * squares.fold(0.0, f64::max)
}

#[test]
fn no_sample_exceeds_the_constants_and_corners_attain_them() {
    for case in Case::both() {
        let (n, mut random) = (case.n(), Random::new(1));
        let constant = |block| case.product.objective().curvature_constant(block).unwrap();
        let mut largest = vec![0.0_f64; n + 1]; // of each block, and of all together
        for _ in 0..4000 {
            let x = case.product.point(draw(&case, &mut random)).unwrap();
            let s = draw(&case, &mut random);
            let gamma = 0.05 + 0.95 * random.unit();
            for (i, largest) in largest.iter_mut().enumerate() {
                let blocks = if i < n { i..i + 1 } else { 0..n };
                *largest = largest.max(deviation(&case, &x, &s, gamma, blocks));
            }
        }
        for (i, &sampled) in largest.iter().enumerate() {
            let exact = constant((i < n).then_some(i));
            assert!(sampled <= exact * (1.0 + 1e-8), "block {i}: {sampled} {exact}");
            // Nine pairs of corners in a block are met by four thousand samples; of all blocks there are 6,561.
            assert!(
                sampled >= if i < n { 0.999 } else { 0.7 } * exact,
                "block {i}: {sampled} {exact}"
            );
        }
        assert!((0..n).map(|i| constant(Some(i))).sum::<f64>() == case.c_blocks);
    }
}

#[test]
fn the_constants_are_within_the_lemmas() {
    for case in Case::both() {
        let bound = lemma(&case);
        assert!(case.c_whole <= bound * (1.0 + 1e-12), "A.1: {} {bound}", case.c_whole);
        assert!(case.c_blocks <= bound / case.n() as f64 * (1.0 + 1e-12), "A.2");
        // C⊗ is at least C/n, because ‖Σ d_i‖² ≤ n Σ ‖d_i‖².
        assert!(case.c_whole <= case.n() as f64 * case.c_blocks * (1.0 + 1e-12));
    }
}

// Two outputs of every example with ψ = ±r for the same r: both lemmas hold with equality.
#[test]
fn opposite_features_make_the_lemmas_tight() {
    let mut case = Case::new(3, 0.5, 1.0);
    let r = [0.6, -0.8, 1.2];
    let mut dual = case.product.objective().clone();
    for block in &mut dual.columns {
        for (y, (column, _)) in block.iter_mut().enumerate() {
            let sign = [0.0, 1.0, -1.0][y];
            column.iter_mut().enumerate().for_each(|(j, a)| {
                *a = if j < 3 { sign * r[j] / (0.5 * 3.0) } else { 0.0 };
            });
        }
    }
    dual.forget_constant();
    case.product = dual.product_of(|simplex| super::Lazy { simplex, nu: 1.0 });
    let constant = |block| case.product.objective().curvature_constant(block).unwrap();
    let bound = 4.0 * dot(&r, &r) / 0.5;
    let sum: f64 = (0..3).map(|i| constant(Some(i))).sum();
    assert!((constant(None) - bound).abs() < 1e-12 * bound);
    assert!((sum - bound / 3.0).abs() < 1e-12 * bound);
}
