//! The general solver reaches the optimum that clarabel gives, by every way to step.

use crate::domains::quadratics::Quadratic;
use dualgap::dual::{Algorithm, Average, Sampling, Step};
use dualgap::linalg::Measured;
use dualgap::methods::product::{
    Cuboid, L1Ball, Objective, Point, Product, ProductSettings, Set, Simplex, minimise,
};
use dualgap::run::{Budget, Stop};

#[test]
fn quadratics_over_products_of_simplices_end_at_clarabel_s_optimum() {
    let ways = [
        (Algorithm::Bcfw, Step::LineSearch, Sampling::Permuted, Average::None),
        (Algorithm::Bcfw, Step::LineSearch, Sampling::Gap, Average::None),
        (Algorithm::Bcfw, Step::Predefined, Sampling::Uniform, Average::Weighted),
        (Algorithm::Bcfw, Step::Predefined, Sampling::Cyclic, Average::Suffix),
        (Algorithm::Fw, Step::LineSearch, Sampling::Permuted, Average::None),
        (Algorithm::Fw, Step::Predefined, Sampling::Permuted, Average::Weighted),
    ];
    for seed in 0..4 {
        let sizes = [3; 4];
        for (k, &(method, step, sampling, average)) in ways.iter().enumerate() {
            let tells = (seed as usize + k).is_multiple_of(2);
            let quadratic = Quadratic { tells, ..Quadratic::random(seed, 12, 3 + seed as usize) };
            let optimum = quadratic.minimum(&sizes);
            let problem = quadratic.over(&sizes);
            let settings = ProductSettings {
                method,
                step,
                sampling,
                average,
                seed,
                ..ProductSettings::default()
            };
            let budget = Budget { absolute: Some(1e-3), ..Budget::passes(20_000) };
            let report = minimise(&problem, &settings, &budget, &mut ()).unwrap();
            let certificate = report.certificate;
            assert_eq!(report.stop, Stop::GapReached, "{settings:?}: {certificate:?}");
            assert!(certificate.certified && certificate.gap_bound() <= 1e-3);
            // Clarabel is right to about 1e-9.
            assert!(certificate.dual <= optimum + 1e-8, "{certificate:?} {optimum}");
            assert!(certificate.primal >= optimum - 1e-8, "{certificate:?} {optimum}");
            let (value, lower) = problem.objective().exact(report.model.coordinates(), &sizes);
            assert!((value.float() - certificate.primal).abs() <= certificate.rounding_error);
            assert!(lower.float() <= certificate.dual + certificate.rounding_error);
        }
    }
}

// In one of these four quadratics the optimum is inside a face, where Frank-Wolfe with line search is fast.
#[test]
fn with_a_line_search_the_optimum_is_found_to_many_digits() {
    let mut best = f64::INFINITY;
    for seed in 0..4 {
        let sizes = [3; 3];
        let quadratic = Quadratic::random(seed, 9, 9);
        let optimum = quadratic.minimum(&sizes);
        let budget = Budget { absolute: Some(1e-9), ..Budget::passes(3000) };
        let problem = quadratic.over(&sizes);
        let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ()).unwrap();
        assert!(
            (report.certificate.primal - optimum).abs() <= report.certificate.gap_bound() + 1e-8
        );
        best = best.min(report.certificate.gap_bound());
    }
    assert!(best <= 1e-9, "{best:e}");
}

/// Σ_j exp(c_j x_j) + ½(Σ_j x_j)²: no parabola along any segment.
struct Exponentials(Vec<f64>);

impl Objective for Exponentials {
    fn value(&self, at: &Point) -> Measured {
        let x = at.coordinates();
        let sum: f64 = x.iter().sum();
        let terms = x.iter().zip(&self.0).map(|(x, c)| (c * x).exp());
        Measured { value: terms.sum::<f64>() + 0.5 * sum * sum, error: 1e-13 }
    }

    fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
        let sum: f64 = at.coordinates().iter().sum();
        for (g, j) in out.iter_mut().zip(at.span(block)) {
            *g = self.0[j] * (self.0[j] * at.coordinates()[j]).exp() + sum;
        }
        1e-13
    }
}

// The judge is a projected gradient method of its own on the cuboid alone; the other factors are points where nothing
// can move, so that they change the sum and no more.
#[test]
fn factors_may_be_of_several_kinds_and_functions_need_not_be_quadratic() {
    let c = vec![1.0, -2.0, 0.5, 3.0, 1.5];
    let sets: Vec<Box<dyn Set>> = vec![
        Box::new(Cuboid::new(vec![-1.0, -1.0], vec![1.0, 2.0]).unwrap()),
        Box::new(Simplex::new(1, 0.5).unwrap()),
        Box::new(L1Ball::new(2, 1e-300).unwrap()),
    ];
    let problem = Product::new(Exponentials(c.clone()), sets).unwrap();
    let budget = Budget { absolute: Some(1e-3), ..Budget::passes(5000) };
    for method in [Algorithm::Bcfw, Algorithm::Fw] {
        let settings = ProductSettings { method, ..ProductSettings::default() };
        let report = minimise(&problem, &settings, &budget, &mut ()).unwrap();
        assert!(report.certificate.gap_bound() <= 1e-3, "{:?}", report.certificate);
        let mut x = [0.0_f64; 2];
        for _ in 0..5000 {
            let sum = x[0] + x[1] + 0.5;
            let step = |j: usize| x[j] - 0.02 * (c[j] * (c[j] * x[j]).exp() + sum);
            x = [step(0).clamp(-1.0, 1.0), step(1).clamp(-1.0, 2.0)];
        }
        let sum = x[0] + x[1] + 0.5;
        let value =
            (c[0] * x[0]).exp() + (c[1] * x[1]).exp() + 0.25_f64.exp() + 2.0 + 0.5 * sum * sum;
        let certificate = report.certificate;
        assert!(certificate.primal >= value - 1e-12 && certificate.dual <= value + 1e-12);
    }
}
