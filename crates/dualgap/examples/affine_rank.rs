//! Affine rank minimisation: a matrix of rank two, recovered from inner products with random matrices.
//!
//! `cargo run --release --example affine_rank`

use dualgap::ball::trace::Matrices;
use dualgap::ball::{self, BallProblem, BallSettings, PerOutput};
use dualgap::linalg::{LowRank, Random, Rows};
use dualgap::run::Budget;
use dualgap::term::ScalarLoss;

fn main() -> dualgap::Result<()> {
    let (rows, columns, rank, count) = (20, 15, 2, 220);
    let mut random = Random::new(1);
    let mut numbers =
        |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * random.unit() - 1.0).collect() };

    // The planted matrix, and what is measured of it: fewer numbers than it has entries.
    let (u, v) = (numbers(rows * rank), numbers(columns * rank));
    let planted = LowRank::new(rows, columns, u, vec![1.0; rank], v)?;
    // Recompressed, its singular values are in the factors.
    let planted = LowRank::combined(1.0, &planted, 0.0, &planted)?;
    let truth = planted.to_dense();
    let matrices: Vec<Vec<f64>> = (0..count).map(|_| numbers(rows * columns)).collect();
    let targets = matrices.iter().map(|m| m.iter().zip(&truth).map(|(m, x)| m * x).sum()).collect();

    // No μ is needed: the loss alone is smallest at the planted matrix.
    let measured = Rows::dense(&matrices)?;
    let losses = PerOutput::new(ScalarLoss::Squared, targets, 1)?;
    let radius = planted.nuclear_norm().value;
    let map = Matrices::new(&measured, columns)?;
    let problem = BallProblem::new(map, losses, 0.0, radius, None)?;
    let budget = Budget { relative: None, absolute: Some(1e-8), ..Budget::relative(1e-8) };
    let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ())?;

    let found = report.model.weights.to_dense();
    let apart: f64 = found.iter().zip(&truth).map(|(x, y)| (x - y) * (x - y)).sum();
    let size: f64 = truth.iter().map(|x| x * x).sum();
    println!(
        "{count} measurements of {} entries: gap {:.1e}, relative distance to the planted matrix {:.1e}",
        rows * columns,
        report.certificate.gap(),
        (apart / size).sqrt()
    );
    assert!((apart / size).sqrt() < 1e-2);
    Ok(())
}
