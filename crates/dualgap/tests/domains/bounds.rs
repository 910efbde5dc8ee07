//! What a certificate says is true to the last bit, and oracles that are wrong are caught or named.

use crate::common::cases;
use crate::domains::quadratics::Quadratic;
use dualgap::linalg::Measured;
use dualgap::methods::product::{
    FrankWolfe, Minimum, Objective, Point, Product, ProductSettings, Query, Set, Simplex, minimise,
};
use dualgap::run::{Basis, Budget, Solver, Stop};
use dualgap::{Error, Result};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(64))]

    // f and the lower bound in numbers of 32 digits are within the rounding error of the certificate, whatever the sizes
    // of the numbers are.
    #[test]
    fn certificates_hold_in_32_digits(
        seed in 0..1000_u64,
        weights in prop::collection::vec(1e-3..1.0_f64, 9),
        exponent in -8..8_i32,
    ) {
        let sizes = [3; 3];
        let mut quadratic = Quadratic::random(seed, 9, 4);
        let scale = 10_f64.powi(exponent);
        quadratic.linear.iter_mut().for_each(|q| *q *= scale);
        let x: Vec<f64> = weights.chunks(3).flat_map(|block| {
            let total: f64 = block.iter().sum();
            block.iter().map(move |x| x / total).collect::<Vec<f64>>()
        }).collect();
        let (value, lower) = quadratic.exact(&x, &sizes);
        let problem = quadratic.over(&sizes);
        let certificate = problem.certificate(x).unwrap();
        let error = certificate.rounding_error;
        prop_assert!((certificate.primal - value.float()).abs() <= error);
        prop_assert!((certificate.dual - lower.float()).abs() <= error);
        prop_assert!(error <= 1e-12 * (1.0 + scale), "{error:e}");
    }
}

/// A simplex whose oracle answers as it is told.
struct Told {
    simplex: Simplex,
    /// How many coordinates the oracle looks at.
    looks: usize,
    bound: fn(&Query<'_>, f64) -> Minimum,
    nu: f64,
}

impl Set for Told {
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
        let mut seen = query.gradient.to_vec();
        seen[self.looks..].fill(f64::INFINITY);
        self.simplex.minimise(&Query { gradient: &seen, ..*query }, corner)?;
        let found = corner.iter().zip(query.gradient).map(|(s, g)| s * g).sum();
        Ok((self.bound)(query, found))
    }

    fn nu(&self) -> f64 {
        self.nu
    }

    fn defect(&self, x: &[f64]) -> f64 {
        self.simplex.defect(x)
    }
}

fn told(looks: usize, nu: f64, bound: fn(&Query<'_>, f64) -> Minimum) -> Product<Quadratic, Told> {
    let set = || Told { simplex: Simplex::new(3, 1.0).unwrap(), looks, bound, nu };
    Product::new(Quadratic::random(7, 9, 4), vec![set(), set(), set()]).unwrap()
}

#[test]
fn a_lower_bound_serves_as_well_as_an_exact_oracle() {
    let least = |query: &Query<'_>, _| {
        Minimum::AtLeast(query.gradient.iter().copied().fold(f64::INFINITY, f64::min))
    };
    let budget = Budget { absolute: Some(1e-3), ..Budget::passes(5000) };
    for looks in [3, 2] {
        // With two of three coordinates the oracle never finds some corners, and the bound says so.
        let problem = told(looks, 1.0, least);
        let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ()).unwrap();
        let optimum = problem.objective().minimum(&[3; 3]);
        assert!(report.certificate.certified && report.certificate.dual <= optimum + 1e-8);
        assert_eq!(report.certificate.basis, Basis::Bounds);
        assert_eq!(report.stop == Stop::GapReached, looks == 3, "{:?}", report.certificate);
    }
}

#[test]
fn an_oracle_that_knows_nothing_makes_a_run_uncertified() {
    let problem = told(3, 1.0, |_, _| Minimum::Unknown);
    let budget = Budget { absolute: Some(1.0), ..Budget::passes(200) };
    let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ()).unwrap();
    assert!(!report.certificate.certified && report.certificate.gap_bound() == f64::INFINITY);
    assert_eq!(report.stop, Stop::PassLimit, "no tolerance is reached without a certificate");
    assert!(report.history.iter().all(|progress| progress.gap.is_none()));
    // It steps all the same.
    let optimum = problem.objective().minimum(&[3; 3]);
    assert!(report.certificate.primal < optimum + 0.05);
}

#[test]
fn a_promised_share_loosens_the_certificate_by_that_share() {
    let exact = told(3, 1.0, |_, _| Minimum::Exact);
    let promised = told(3, 0.25, |_, _| Minimum::Approximate);
    let x = vec![0.2, 0.3, 0.5, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5];
    let (exact, promised) =
        (exact.certificate(x.clone()).unwrap(), promised.certificate(x).unwrap());
    assert_eq!(exact.primal, promised.primal);
    assert!((promised.gap() - 4.0 * exact.gap()).abs() < 1e-12);
    assert!(promised.certified);
    assert_eq!((exact.basis, promised.basis), (Basis::Exact, Basis::Multiplicative(0.25)));
}

#[test]
fn what_an_oracle_cannot_have_found_is_an_error() {
    let failure = |problem: Product<Quadratic, Told>| -> String {
        let budget = Budget { absolute: Some(1e-6), ..Budget::passes(300) };
        let error = minimise(&problem, &ProductSettings::default(), &budget, &mut ()).unwrap_err();
        assert!(matches!(error, Error::Unsound { .. }));
        error.to_string()
    };
    // A bound that is larger than what was found.
    let message = failure(told(3, 1.0, |_, found| Minimum::AtLeast(found + 0.1)));
    assert!(message.contains("no inner product is below"), "{message}");
    // Exact, it says, and looks at the first coordinate only; the start of another oracle was better.
    let problem = told(1, 1.0, |_, _| Minimum::Exact);
    let mut best = vec![0.0; 9];
    let gradients = Quadratic::random(7, 9, 4).linear;
    for block in 0..3 {
        let of = |j: &usize| gradients[3 * block + j];
        let least = (0..3).min_by(|a, b| of(a).total_cmp(&of(b))).unwrap();
        best[3 * block + least] = 1.0;
    }
    let mut caught = false;
    for x in [best, vec![0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]] {
        match problem.certificate(x) {
            Err(error) => caught |= error.to_string().contains("is not the best of its set"),
            Ok(certificate) => assert!(certificate.gap() >= 0.0),
        }
    }
    assert!(caught);
}

/// A set whose oracle returns corners of another size.
struct Escaping(Simplex, f64);

impl Set for Escaping {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn radius(&self) -> f64 {
        self.0.radius()
    }

    fn start(&self, x: &mut [f64]) {
        self.0.start(x);
    }

    fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum> {
        let bound = self.0.minimise(query, corner);
        corner.iter_mut().for_each(|s| *s *= self.1);
        bound
    }

    fn defect(&self, x: &[f64]) -> f64 {
        self.0.defect(x)
    }
}

/// A function that returns no numbers.
struct Lost {
    value: f64,
    slope: f64,
    error: f64,
}

impl Objective for Lost {
    fn value(&self, _: &Point) -> Measured {
        Measured { value: self.value, error: 0.0 }
    }

    fn gradient(&self, _: &Point, _: usize, out: &mut [f64]) -> f64 {
        out.fill(0.0);
        out[1] = self.slope;
        self.error
    }
}

#[test]
fn points_outside_and_numbers_that_are_none_are_errors() {
    let simplex = Simplex::new(3, 1.0).unwrap();
    let budget = Budget::passes(20);
    for (factor, expected) in [(1.001, "outside of its set"), (f64::NAN, "no number")] {
        let sets = vec![Escaping(simplex, factor)];
        let problem = Product::new(Quadratic::random(1, 3, 3), sets).unwrap();
        let error = minimise(&problem, &ProductSettings::default(), &budget, &mut ()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let fine = Lost { value: 1.0, slope: -1.0, error: 0.0 };
    for (lost, works) in [
        (Lost { value: f64::NAN, ..fine }, false),
        (Lost { value: f64::INFINITY, ..fine }, false),
        (Lost { slope: f64::NAN, ..fine }, false),
        (Lost { slope: f64::NEG_INFINITY, ..fine }, false),
        (Lost { error: f64::NAN, ..fine }, false),
        (Lost { error: -1.0, ..fine }, false),
        (fine, true),
    ] {
        let problem = Product::new(lost, vec![simplex]).unwrap();
        let run = minimise(&problem, &ProductSettings::default(), &budget, &mut ());
        assert_eq!(run.is_ok(), works, "{run:?}");
    }
}

// The rounding that a user states for a gradient widens the gap by its product with the size of the set.
#[test]
fn the_stated_rounding_of_a_gradient_is_part_of_the_certificate() {
    let simplex = Simplex::new(3, 2.0).unwrap();
    let error = |error: f64| {
        let problem = Product::new(Lost { value: 1.0, slope: -1.0, error }, vec![simplex]).unwrap();
        let mut solver = FrankWolfe::new(&problem, &ProductSettings::default()).unwrap();
        solver.certify().unwrap().model.rounding_error
    };
    // ‖x‖₁ + R = 4
    assert!((error(0.01) - error(0.0) - 0.04).abs() < 1e-9);
}
