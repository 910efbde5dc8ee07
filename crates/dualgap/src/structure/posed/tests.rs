use super::{Posing, Run, SolverSettings, Start};
use crate::Result;
use crate::data::{Examples, Factors};
use crate::dual::Settings;
use crate::methods::{coordinates::CoordinateSettings, newton::NewtonSettings};
use crate::run::Budget;
use crate::structure::{Linear, Structure};
use crate::term::{Penalty, ScalarLoss};

const ROWS: [[f64; 4]; 3] = [[1.0, -0.5, 0.2, 0.0], [-0.3, 0.8, 0.0, 1.5], [0.4, 0.1, -1.0, 0.7]];
const TARGETS: [f64; 3] = [1.0, -1.0, 1.0];

/// The primal value of a run of no passes from these weights.
fn begun(
    loss: ScalarLoss,
    solver: SolverSettings,
    penalty: Penalty,
    weights: &[f64],
) -> Result<f64> {
    let data = Examples::from_dense(&ROWS.map(Vec::from), &["1", "-1", "1"])?;
    let posing = Posing { penalty, weights: None, choice: None };
    let run = Run {
        solver,
        start: Start::Weights(weights),
        factors: &Factors::default(),
        budget: &Budget::passes(0),
        observer: &mut (),
        sink: None,
    };
    let structure = Linear::new(loss);
    Ok(structure.pose(&data, &posing)?.solvable().train(run)?.certificate.primal)
}

/// The mean logistic loss, and the ridge.
fn logistic(lambda: f64, w: &[f64]) -> f64 {
    let loss = |(row, y): (&[f64; 4], &f64)| {
        let a: f64 = row.iter().zip(w).map(|(x, w)| x * w).sum();
        (-y * a).exp().ln_1p() / 3.0
    };
    let square: f64 = w.iter().map(|w| w * w).sum();
    ROWS.iter().zip(&TARGETS).map(loss).sum::<f64>() + 0.5 * lambda * square
}

#[test]
fn a_run_begins_at_the_weights_that_it_is_given() {
    let w = [0.5_f64, 0.0, -0.25, 0.1];
    let ridge = Penalty::ridge(0.1);
    let Penalty::Ridge { lambda, nonnegative, free, .. } = ridge else { panic!("a ridge") };
    let net = Penalty::Ridge { lambda, l1: 0.02, nonnegative, free };
    let coordinates = || SolverSettings::Coordinates(CoordinateSettings::default());
    let newton = || SolverSettings::Newton(NewtonSettings::default());
    let smooth = ScalarLoss::Logistic;
    let l1: f64 = w.iter().map(|w| w.abs()).sum();
    let at_net = begun(smooth, coordinates(), net, &w).unwrap();
    assert!((at_net - logistic(0.1, &w) - 0.02 * l1).abs() < 1e-12);
    let at_ridge = begun(smooth, newton(), ridge, &w).unwrap();
    assert!((at_ridge - logistic(0.1, &w)).abs() < 1e-12);
    // Too few weights, or none that are numbers.
    assert!(begun(smooth, coordinates(), net, &w[..3]).is_err());
    assert!(begun(smooth, newton(), ridge, &[f64::NAN; 4]).is_err());
    // A loss without curvature has no dual point of its weights.
    let dual = SolverSettings::Dual(Settings { lambda: 0.1, ..Settings::default() });
    assert!(begun(ScalarLoss::Hinge, dual, ridge, &w).unwrap_err().to_string().contains("smooth"));
}
