//! Both sides of a certificate are within their stated error of numbers of 32 digits.

use crate::common::cases;
use crate::common::losses::{dual_term, phi};
use crate::common::wide::{Wide, exp, ln, wide};
use crate::linear::case::{Case, LOSSES, REGULARISERS, is_binary};
use dualgap::dual::{Algorithm, Average, Problem, Settings};
use dualgap::run::Budget;
use dualgap::structure::{Choice, LinearBlocks};
use proptest::prelude::*;

pub fn masses(case: &Case) -> Vec<Wide> {
    let counts = case.weights.clone().unwrap_or(vec![1.0; case.len()]);
    let total: Wide = counts.iter().map(|&c| wide(c)).sum();
    counts.into_iter().map(|c| wide(c) / total).collect()
}

pub fn primal(case: &Case, w: &[f64]) -> Wide {
    let losses: Wide = (masses(case).into_iter().zip(&case.rows).zip(&case.targets))
        .map(|((mass, x), &y)| {
            let a: Wide = x.iter().zip(w).map(|(&x, &w)| wide(x) * wide(w)).sum();
            mass * phi(case.loss, a, y)
        })
        .sum();
    let penalised =
        || w.iter().enumerate().filter(|&(j, _)| !case.is_free(j)).map(|(_, &w)| wide(w));
    let squares: Wide = penalised().map(|w| w * w).sum();
    let absolutes: Wide = penalised().map(Wide::abs).sum();
    losses + wide(case.lambda / 2.0) * squares + wide(case.regulariser.l1) * absolutes
}

/// A free weight of bound B costs `B|λv|`; without λ no sum may be larger than σ.
pub fn dual(case: &Case, alpha: &[f64]) -> Wide {
    let mut sums = vec![Wide::ZERO; case.rows[0].len()]; // λv
    let mut losses = Wide::ZERO;
    for (i, mass) in masses(case).into_iter().enumerate() {
        losses = losses + mass * dual_term(case.loss, wide(alpha[i]), case.targets[i]);
        for (sum, &x) in sums.iter_mut().zip(&case.rows[i]) {
            *sum = *sum + mass * wide(alpha[i]) * wide(x);
        }
    }
    if let Some(free) = case.regulariser.free {
        let own = std::mem::replace(&mut sums[free.column], Wide::ZERO);
        losses = losses - wide(free.bound) * own.abs();
    }
    let squares: Wide = (sums.into_iter())
        .map(|v| {
            let size = if case.regulariser.nonnegative { v } else { v.abs() };
            let beyond = (size - wide(case.regulariser.l1)).max(Wide::ZERO);
            beyond * beyond
        })
        .sum();
    if case.lambda == 0.0 {
        assert!(squares == Wide::ZERO, "no dual point of a pure l1 problem");
        return losses;
    }
    losses - squares / wide(2.0 * case.lambda)
}

#[test]
fn logarithms_undo_exponentials_far_beyond_the_digits_of_floats() {
    for x in [1e-200, 1e-9, 0.3, 1.0, 2.0, 700.0] {
        let back = exp(ln(wide(x))) / wide(x) - Wide::ONE;
        assert!(back.abs() < wide(1e-26), "{x} {back:?}");
    }
    // e = 2.71828182845904523536028747135266249775724…
    let e = wide(std::f64::consts::E) + wide(1.445_646_891_729_250_2e-16);
    assert!((exp(Wide::ONE) - e).abs() < wide(1e-28));
}

proptest! {
    #![proptest_config(cases(400))]

    // Features of 1e4 and targets of 1e3, as in a table that nobody has scaled, and everything between.
    #[test]
    fn both_sides_are_within_their_stated_error_at_any_scale(
        seed in 0..10_000_u64,
        loss in 0..LOSSES.len(),
        regulariser in 0..REGULARISERS.len(),
        (of_rows, of_targets) in prop_oneof![
            Just((1e4, 1e3)),
            (-6.0..6.0_f64, -6.0..6.0_f64).prop_map(|(a, b)| (10_f64.powf(a), 10_f64.powf(b))),
        ],
        exponent in -6.0..3.0_f64,
        (n, d) in (1..12_usize, 1..5_usize),
        (weighted, averaged, fw) in any::<(bool, bool, bool)>(),
        passes in 0..30_u64,
    ) {
        let mut case = Case::random(seed, LOSSES[loss], n, d);
        case.rows.iter_mut().flatten().for_each(|x| *x *= of_rows);
        if !is_binary(case.loss) {
            case.targets.iter_mut().for_each(|y| *y *= of_targets);
        }
        case.regulariser = REGULARISERS[regulariser];
        case.lambda = 10_f64.powf(exponent);
        case.weights = weighted.then(|| (0..n).map(|i| 0.1 + (i * i) as f64 / 7.0).collect());
        let settings = Settings {
            average: if averaged { Average::Weighted } else { Average::None },
            method: if fw { Algorithm::Fw } else { Algorithm::Bcfw },
            ..case.settings()
        };
        let report = case.train(Choice::I, &settings, &Budget::passes(passes));
        let c = report.certificate;
        let off = (primal(&case, &report.model.weights) - wide(c.primal)).abs().float();
        let below = (dual(&case, &report.model.points) - wide(c.dual)).abs().float();
        prop_assert!(off + below <= c.rounding_error, "{off:e} {below:e} {c:?}");
        // Each side by itself, at the same weights and points.
        let rows = case.sparse_or_dense(false);
        let blocks = LinearBlocks::new(&rows, case.targets.clone(), case.loss, Choice::I).unwrap();
        let link = case.regulariser.link(case.lambda).unwrap();
        let problem = Problem::new(&blocks, link, case.lambda, case.weights.as_deref()).unwrap();
        let side = problem.primal(&report.model.weights).unwrap().value;
        let off = (primal(&case, &report.model.weights) - wide(side.value)).abs().float();
        prop_assert!(off <= side.error, "primal {off:e} {side:?}");
        let side = problem.dual(&report.model.points).unwrap().value;
        let off = (dual(&case, &report.model.points) - wide(side.value)).abs().float();
        prop_assert!(off <= side.error, "dual {off:e} {side:?}");
    }
}
