//! Certificates beside values in 32 digits, and optima beside those of a solver that shares nothing with ours.

use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::common::{Kind, Small};
use crate::kernels::judge::{Judge, POLYNOMIAL, RBF, Way, fit, gram, with_inputs};
use dualgap::run::Budget;
use dualgap::task::DualMethod;
use dualgap::term::KernelFunction;

fn problems() -> impl Iterator<Item = (Small, KernelFunction)> {
    let kinds = Kind::all(3).into_iter().enumerate();
    let small = |(k, kind)| Small::random(k as u64, kind, 7, 3, 3);
    kinds.map(small).enumerate().map(|(k, small)| {
        let small = if k == 1 { small.with_pairs(5, 2) } else { small };
        (small, [RBF, POLYNOMIAL][k % 2])
    })
}

#[test]
fn both_values_are_right_up_to_the_rounding_that_is_stated() {
    for (mut small, kernel) in problems() {
        for (lambda, scale) in [(0.1, 1.0), (1e-4, 1.0), (1e-3, 30.0)] {
            small.lambda = lambda;
            let small = small.clone().scaled(scale);
            let judge = Judge::new(&small, kernel);
            for (method, passes) in [(DualMethod::default(), 8), (DualMethod::plain(), 2)] {
                let fit = fit(&small, &kernel, &Way::new(method, Budget::passes(passes)));
                let c = fit.certificate;
                let alpha = small.distributions(&fit.points);
                let off = (c.primal - judge.primal(&fit.weights)).abs()
                    + (c.dual - judge.dual(&alpha)).abs();
                // The judge's values are floats, and so are the values of functions that it reads.
                assert!(off <= 1.1 * c.rounding_error, "{off:e} {c:?} {kernel:?}");
                let loose = c.rounding_error / c.primal.abs().max(1.0 / lambda);
                assert!(loose < 1e-9, "{c:?} {kernel:?}: a bound that says nothing");
            }
        }
    }
}

/// Rows of L with LLᵀ the kernel's matrix: inputs for which the linear kernel has the same values.
fn roots(gram: &[Vec<Wide>]) -> Vec<Vec<f64>> {
    let n = gram.len();
    let mut root = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
            let rest = gram[i][j].float() - known;
            root[i][j] = match i == j {
                true => rest.max(0.0).sqrt(),
                false if root[j][j] > 1e-6 => rest / root[j][j],
                false => 0.0,
            };
        }
    }
    root
}

#[test]
fn runs_come_to_the_optimum_of_the_quadratic_program() {
    for (small, kernel) in problems() {
        let rows = roots(&gram(&small, kernel));
        let bracket = optimum(&with_inputs(&small, |i| rows[i].clone()).explicit());
        assert!(bracket.is_within(1e-7), "{bracket:?}");
        let c = fit(&small, &kernel, &Way::default_to(1e-6)).certificate;
        // The factors of the matrix are rounded, and so is the program.
        let slack = 1e-8 * bracket.upper;
        assert!(c.relative_gap() <= 1e-6, "{c:?}");
        assert!(c.dual - c.rounding_error <= bracket.upper + slack, "{c:?} {bracket:?}");
        assert!(c.primal + c.rounding_error >= bracket.lower - slack, "{c:?} {bracket:?}");
    }
}
