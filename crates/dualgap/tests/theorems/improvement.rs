//! Lemma C.2: what one step gains at least, for every block of every iterate, and in the mean over the blocks.
//!
//! ```text
//! f(x + γ(s − x)) ≤ f(x) − γν g_i(x) + ½(γ² + δγ̃γ) C_i            s from an oracle of quality ν and δ
//! ```

use crate::theorems::{Case, STEPS, Way, walk};
use dualgap::Result;
use dualgap::dual::{Sampling, Step};
use dualgap::methods::product::{
    FrankWolfe, Minimum, Objective, Point, ProductSettings, Query, Set, Simplex,
};
use std::cell::RefCell;

/// Above this share of the values' size a difference is no rounding.
const ROUNDING: f64 = 1e-13;

struct Quality {
    nu: f64,
    delta: f64,
}

/// The right side of the lemma for block i.
fn bound(case: &Case, at: &Point, i: usize, gamma: f64, default: f64, quality: &Quality) -> f64 {
    let constant = case.product.objective().curvature_constant(Some(i)).unwrap();
    let Quality { nu, delta } = *quality;
    let f = case.product.objective().value(at).value;
    f - gamma * nu * case.block_gap(at, i)
        + 0.5 * (gamma * gamma + delta * default * gamma) * constant
}

/// f after a step on block i from the k-th iterate of a run with these settings.
fn after(case: &Case, at: &Point, settings: &ProductSettings, i: usize, gamma: Option<f64>) -> f64 {
    let mut solver = FrankWolfe::at(&case.product, settings, at.clone()).unwrap();
    solver.step_on(i..i + 1, gamma).unwrap();
    case.product.objective().value(solver.point()).value
}

/// The steps of a run that break the lemma, out of all, if every step is `longer` times what it is said to be.
fn broken(case: &Case, step: Step, delta: f64, longer: f64) -> (usize, usize) {
    let way = Way { delta, ..Way::proper(step) };
    let quality = Quality { nu: case.nu, delta };
    let n = case.n();
    let settings = ProductSettings { step, delta, ..ProductSettings::default() };
    let (mut broken, mut all) = (0, 0);
    for (k, at) in walk(case, way, 150, 5).iter().enumerate() {
        let gamma = 2.0 * n as f64 / (case.nu * k as f64 + 2.0 * n as f64);
        let (mut mean, mut mean_bound) = (0.0, 0.0);
        for i in 0..n {
            // A solver that begins here asks for the tolerance of its own first step, where γ̃ = 1.
            let taken = match step {
                Step::Predefined => Some(longer * gamma),
                _ => None,
            };
            let value = after(case, at, &settings, i, taken);
            let limit = bound(case, at, i, gamma, 1.0, &quality);
            let rounding = ROUNDING * (1.0 + case.h0);
            broken += usize::from(value > limit + rounding);
            all += 1;
            (mean, mean_bound) = (mean + value / n as f64, mean_bound + limit / n as f64);
            if step == Step::LineSearch {
                // As good as a step of any length.
                for grid in 0..=10 {
                    let gamma = f64::from(grid) / 10.0;
                    let limit = bound(case, at, i, gamma, 1.0, &quality);
                    assert!(value <= limit + rounding, "step {k}, block {i}, γ = {gamma}");
                }
            }
        }
        // The lemma itself: in the mean over the blocks, with g/n and C⊗/n.
        let f = case.product.objective().value(at).value;
        let lemma = f - gamma * case.nu / n as f64 * case.gap(at)
            + (gamma * gamma + delta * gamma) * case.c_blocks / (2.0 * n as f64);
        assert!((lemma - mean_bound).abs() < 1e-9 * (1.0 + lemma.abs()));
        assert!(longer > 1.0 || mean <= lemma + ROUNDING * (1.0 + case.h0), "step {k}");
    }
    (broken, all)
}

#[test]
fn every_step_gains_what_the_lemma_says() {
    for case in Case::both() {
        for step in STEPS {
            assert_eq!(broken(&case, step, 0.0, 1.0).0, 0);
        }
    }
}

#[test]
fn with_oracles_of_quality_nu_and_delta_too() {
    for (nu, delta) in [(0.5, 0.0), (0.1, 0.0), (1.0, 1.0), (1.0, 5.0), (0.5, 1.0)] {
        for case in Case::both() {
            let case = case.with_nu(nu);
            for step in STEPS {
                assert_eq!(broken(&case, step, delta, 1.0).0, 0, "ν = {nu}, δ = {delta}");
            }
        }
    }
}

#[test]
fn steps_twice_as_long_are_caught() {
    let (broken, all) = broken(&Case::curved(), Step::Predefined, 0.0, 2.0);
    assert!(broken > all / 20, "{broken} of {all}");
}

// An oracle that is worse than it says: the lemma with ν = 1 does not hold of steps toward half of the gap.
#[test]
fn a_share_that_is_not_attained_is_caught() {
    let case = Case::flat().with_nu(0.5);
    let boasting = Quality { nu: 1.0, delta: 0.0 };
    let settings = ProductSettings { step: Step::Predefined, ..ProductSettings::default() };
    let mut caught = 0;
    for at in walk(&case, Way::proper(Step::Predefined), 30, 5) {
        for i in 0..case.n() {
            let value = after(&case, &at, &settings, i, Some(0.5));
            caught += usize::from(value > bound(&case, &at, i, 0.5, 0.0, &boasting) + ROUNDING);
        }
    }
    assert!(caught > 10, "{caught}");
}

/// A simplex that writes down the tolerances it is asked for.
struct Asked {
    simplex: Simplex,
    nu: f64,
    tolerances: RefCell<Vec<f64>>,
}

impl Set for Asked {
    fn dim(&self) -> usize {
        self.simplex.dim()
    }

    fn radius(&self) -> f64 {
        self.simplex.radius()
    }

    fn start(&self, x: &mut [f64]) {
        self.simplex.start(x);
    }

    fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum> {
        self.tolerances.borrow_mut().push(query.tolerance);
        self.simplex.minimise(query, corner)
    }

    fn nu(&self) -> f64 {
        self.nu
    }
}

// δ is relative to the default step, whatever the step, and to the constant of the block: ½ δ 2n/(νk + 2n) C_i.
#[test]
fn the_tolerance_of_step_k_is_that_of_inequality_13() {
    for (step, nu, delta) in
        [(Step::Predefined, 1.0, 0.5), (Step::LineSearch, 1.0, 2.0), (Step::LineSearch, 0.25, 1.0)]
    {
        let dual = Case::curved().product.objective().clone();
        let tolerances = RefCell::default();
        let product =
            dual.product_of(|simplex| Asked { simplex, nu, tolerances: tolerances.clone() });
        let settings = ProductSettings {
            step,
            delta,
            sampling: Sampling::Cyclic,
            ..ProductSettings::default()
        };
        let mut solver = FrankWolfe::new(&product, &settings).unwrap();
        let n = product.blocks();
        for k in 0..5 * n {
            solver.step().unwrap();
            let constant = product.objective().curvature_constant(Some(k % n)).unwrap();
            let gamma = 2.0 * n as f64 / (nu * k as f64 + 2.0 * n as f64);
            let asked = *product.sets()[k % n].tolerances.borrow().last().unwrap();
            assert!((asked - 0.5 * delta * gamma * constant).abs() <= 1e-15 * constant);
        }
    }
}
