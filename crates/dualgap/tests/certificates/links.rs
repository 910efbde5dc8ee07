//! A regulariser of one's own, here the elastic net: `P(w) = mean loss + λ(½‖w‖² + s‖w‖₁)`, written as
//! the documentation of `Link` says, and everything that holds for ½‖w‖² holds for it.

use crate::common::explicit::{Corner, Explicit};
use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::common::{Kind, Small, calls, cases, distance, small, with_blocks};
use dualgap::dual::{self, Algorithm, Average, Mixture, Problem, Settings, Step};
use dualgap::linalg::{Measured, Sum, squared_norm};
use dualgap::run::{Budget, Report, Solution, Stop};
use dualgap::term::Link;
use proptest::prelude::*;

#[derive(Clone)]
struct ElasticNet(f64);

impl Link for ElasticNet {
    fn weight(&self, _: usize, v: f64) -> f64 {
        v.signum() * (v.abs() - self.0).max(0.0)
    }

    fn value(&self, w: &[f64]) -> Measured {
        let l1: Sum = w.iter().map(|w| w.abs()).collect();
        let mut total = Sum::default();
        total.add_measured(squared_norm(w).scaled(0.5));
        total.add_measured(l1.total().scaled(self.0));
        total.total()
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        let w: Vec<f64> = v.iter().enumerate().map(|(j, &v)| self.weight(j, v)).collect();
        let value = squared_norm(&w).scaled(0.5);
        // each |v| − s is rounded once
        Measured { error: value.error + 4.0 * f64::EPSILON * value.value, ..value }
    }
}

fn train(small: &Small, s: f64, settings: &Settings, budget: &Budget) -> Report<Solution<Mixture>> {
    with_blocks!(small, |blocks| {
        dual::train_with(&blocks, ElasticNet(s), settings, budget, &mut ()).unwrap()
    })
}

fn explicit(small: &Small, s: f64) -> Explicit {
    Explicit { l1: s, ..small.explicit() }
}

/// v of a run's last dual point, rebuilt by the problem.
fn v_of(small: &Small, s: f64, points: &[Mixture]) -> Vec<f64> {
    with_blocks!(small, |blocks| {
        let weights = small.weights.as_deref();
        let problem = Problem::new(&blocks, ElasticNet(s), small.lambda, weights).unwrap();
        problem.dual(points).unwrap().v
    })
}

/// Every method, step and average.
fn ways(small: &Small) -> Vec<Settings> {
    let mut ways = Vec::new();
    for method in [Algorithm::Bcfw, Algorithm::Fw] {
        for step in [Step::LineSearch, Step::Predefined] {
            for average in [Average::None, Average::Weighted, Average::Suffix] {
                ways.push(Settings { method, step, average, ..small.settings() });
            }
        }
    }
    ways
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn the_optimum_lies_between_both_sides_of_every_certificate(small in small(), s in 0.01..2.0_f64) {
        let problem = explicit(&small, s);
        let bracket = optimum(&problem);
        prop_assert!(bracket.is_within(1e-6), "{bracket:?}");
        for settings in ways(&small) {
            let report = train(&small, s, &settings, &Budget::passes(12));
            for at in &report.history {
                let c = at.certificate;
                prop_assert!(c.dual - c.rounding_error <= bracket.upper, "{settings:?} {c:?}");
                prop_assert!(c.primal + c.rounding_error >= bracket.lower, "{settings:?} {c:?}");
            }
            let c = report.certificate;
            let primal = problem.primal(&report.model.weights);
            prop_assert!((primal - Wide::from(c.primal)).abs().float() <= c.rounding_error);
            let dual = problem.dual(&small.distributions(&report.model.points));
            prop_assert!((dual - Wide::from(c.dual)).abs().float() <= c.rounding_error);
        }
    }

    // g is 1-strongly convex, so the step that is exact for ½‖w‖² is safe for it.
    #[test]
    fn a_line_search_never_lowers_the_dual(small in small(), s in 0.01..2.0_f64) {
        for method in [Algorithm::Bcfw, Algorithm::Fw] {
            let settings = Settings { method, ..small.settings() };
            let per_step = if method == Algorithm::Fw { small.len() as u64 } else { 1 };
            let mut before = f64::NEG_INFINITY;
            for k in 0..20 {
                let c = train(&small, s, &settings, &calls(k * per_step)).certificate;
                prop_assert!(c.dual >= before - c.rounding_error, "{method:?}, step {k}");
                before = c.dual;
            }
        }
    }

    // v and the dual point are averaged, not w: the link is not linear.
    #[test]
    fn the_average_is_of_v_and_the_weights_are_its_image(small in small(), s in 0.01..1.0_f64) {
        let steps = 13_u64;
        let v = |t: u64| v_of(&small, s, &train(&small, s, &small.settings(), &calls(t)).model.points);
        let vs: Vec<Vec<f64>> = (1..=steps).map(v).collect();
        let settings = Settings { average: Average::Weighted, ..small.settings() };
        let report = train(&small, s, &settings, &calls(steps));
        let total = (steps * (steps + 1) / 2) as f64;
        let expected: Vec<f64> = (0..small.dim()).map(|j| {
            let mean: f64 = (1..).zip(&vs).map(|(t, v)| f64::from(t) / total * v[j]).sum();
            if mean.abs() <= s { 0.0 } else { mean - s * mean.signum() }
        }).collect();
        prop_assert!(distance(&expected, &report.model.weights) < 1e-10);
    }

    #[test]
    fn batch_and_block_steps_agree_on_the_optimum(small in small(), s in 0.01..2.0_f64) {
        let run = |method| {
            let settings = Settings { method, ..small.settings() };
            train(&small, s, &settings, &Budget::passes(300))
        };
        let (a, b) = (run(Algorithm::Bcfw), run(Algorithm::Fw));
        let error = a.certificate.rounding_error + b.certificate.rounding_error;
        prop_assert!(a.certificate.dual <= b.certificate.primal + error);
        prop_assert!(b.certificate.dual <= a.certificate.primal + error);
        let apart: f64 = a.model.weights.iter().zip(&b.model.weights)
            .map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let reach = |gap: f64| (2.0 * (gap + error).max(0.0) / small.lambda).sqrt();
        prop_assert!(apart <= reach(a.certificate.gap()) + reach(b.certificate.gap()));
    }
}

#[test]
fn a_gap_is_reached_and_weights_are_exactly_zero_where_the_l1_term_says_so() {
    for kind in Kind::all(3) {
        let small = Small::random(4, kind, 12, 3, 3);
        let report = train(&small, 0.05, &small.settings(), &Budget::relative(1e-3));
        assert_eq!(report.stop, Stop::GapReached);
        let zeros = report.model.weights.iter().filter(|w| **w == 0.0).count();
        assert!(0 < zeros && zeros < small.dim(), "{zeros} of {}", small.dim());
    }
}

// ‖v‖_∞ ≤ max ‖ψ‖_∞/λ, so that a threshold beyond it leaves nothing of w, and P(0) is the mean of the
// largest losses.
#[test]
fn an_l1_term_beyond_every_v_leaves_nothing() {
    for kind in Kind::all(3) {
        let small = Small::random(4, kind, 6, 3, 3);
        let problem = small.explicit();
        let psi = problem.examples.iter().flatten().flat_map(|corner| &corner.psi);
        let s = psi.fold(0.0_f64, |largest, psi| largest.max(psi.abs())) / small.lambda;
        let report = train(&small, s, &small.settings(), &Budget::relative(1e-9));
        assert_eq!(report.stop, Stop::GapReached);
        assert!(report.model.weights.iter().all(|&w| w == 0.0));
        let largest =
            |corners: &Vec<Corner>| corners.iter().map(|corner| corner.loss).fold(0.0, f64::max);
        let mean = problem.examples.iter().map(largest).sum::<f64>() / small.len() as f64;
        assert!((report.certificate.primal - mean).abs() < 1e-9);
    }
}
