//! Phase retrieval: a vector x, up to its sign, from the squares ⟨a_i, x⟩² = ⟨a_i a_i', X⟩ of its products, X = xx'.
//!
//! X is positive semidefinite of trace r, and such matrices are a part of the trace ball. So the dual value of a run in
//! the whole ball is a lower bound for the smaller problem, too; the run's X, its symmetric part with the negative
//! eigenvalues cut off, is a point of it; and the difference certifies that point among the semidefinite ones.
//!
//! `cargo run --release --example phase_retrieval`

use dualgap::ball::trace::{Matrices, Proving};
use dualgap::ball::{self, BallProblem, BallSettings, PerOutput};
use dualgap::linalg::{LowRank, Measured, Random, Rows};
use dualgap::run::{Budget, Certificate};
use dualgap::term::ScalarLoss;
use dualgap_dense::{Mat, symmetric_eigen};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (d, count) = (16, 96);
    let mut random = Random::new(2);
    let mut numbers =
        |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * random.unit() - 1.0).collect() };
    let x = numbers(d);
    let vectors: Vec<Vec<f64>> = (0..count).map(|_| numbers(d)).collect();
    let product = |a: &[f64]| -> f64 { a.iter().zip(&x).map(|(a, x)| a * x).sum() };
    let targets = vectors.iter().map(|a| product(a).powi(2)).collect();
    let outer = |a: &Vec<f64>| a.iter().flat_map(|p| a.iter().map(move |q| p * q)).collect();
    let measured = Rows::dense(&vectors.iter().map(outer).collect::<Vec<Vec<f64>>>())?;

    let losses = PerOutput::new(ScalarLoss::Squared, targets, 1)?;
    let radius = x.iter().map(|x| x * x).sum();
    let problem = BallProblem::new(Matrices::new(&measured, d)?, losses, 0.0, radius, None)?;
    let budget = Budget { relative: None, absolute: Some(1e-8), ..Budget::relative(1e-8) };
    let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ())?;

    // The symmetric part without its negative eigenvalues: with one factor on both sides it is semidefinite as it stands.
    let found = report.model.weights.to_dense();
    let half = Mat::from_fn(d, d, |i, j| f64::midpoint(found[i * d + j], found[j * d + i]));
    let (vectors, values) = symmetric_eigen(half.as_ref()).ok_or("no eigenvalues")?;
    let values: Vec<f64> = values.into_iter().map(|l| l.max(0.0)).collect();
    let factor: Vec<f64> = (0..d * d).map(|k| vectors[(k / d, k % d)]).collect();
    let semidefinite = LowRank::new(d, d, factor.clone(), values.clone(), factor)?.within(radius);
    let primal: Measured = problem.primal(&semidefinite)?;
    let dual = problem.dual(&report.model.points, &Proving::default())?.value;
    let certificate = Certificate::new(primal, dual, true)?;

    // The top eigenvector is x, or −x.
    let top = (0..d).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
    let vector: Vec<f64> = (0..d).map(|i| vectors[(i, top)] * values[top].sqrt()).collect();
    let sign =
        if vector.iter().zip(&x).map(|(v, x)| v * x).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let apart: f64 = vector.iter().zip(&x).map(|(v, x)| (sign * v - x) * (sign * v - x)).sum();
    println!(
        "{count} squares of a vector of {d} numbers: gap among semidefinite matrices {:.1e}, relative distance {:.1e}",
        certificate.gap(),
        (apart / radius).sqrt()
    );
    assert!((apart / radius).sqrt() < 1e-2);
    Ok(())
}
