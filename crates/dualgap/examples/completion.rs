//! Matrix completion: from some entries of a matrix of low rank, and noise in them, to the others.
//!
//! `cargo run --release --example completion -- [rows] [columns] [rank] [share of entries seen]`

use dualgap::ball::trace::{Map, Sampled};
use dualgap::ball::{self, BallProblem, BallSettings, PerOutput};
use dualgap::linalg::{LowRank, Random};
use dualgap::run::Budget;
use dualgap::term::ScalarLoss;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<f64> = std::env::args().skip(1).map(|x| x.parse()).collect::<Result<_, _>>()?;
    let number = |k: usize, default: f64| given.get(k).copied().unwrap_or(default);
    let (rows, columns) = (number(0, 120.0) as usize, number(1, 80.0) as usize);
    let (rank, share) = (number(2, 3.0) as usize, number(3, 0.3));
    let mut random = Random::new(1);
    let mut signed = || 2.0 * random.unit() - 1.0;
    let factors: Vec<f64> = (0..(rows + columns) * rank).map(|_| 1.5 * signed()).collect();
    let (u, v) = factors.split_at(rows * rank);
    let planted = LowRank::new(rows, columns, u.to_vec(), vec![1.0; rank], v.to_vec())?;
    let planted = LowRank::combined(1.0, &planted, 0.0, &planted)?;
    let truth = planted.to_dense();

    // Some of the others are held out.
    let (mut seen, mut ratings, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for (at, &x) in truth.iter().enumerate() {
        let place = ((at / columns) as u32, (at % columns) as u32);
        if signed() < 2.0 * share - 1.0 {
            seen.push(place);
            ratings.push(x + 0.1 * signed());
        } else if signed() < share - 1.0 {
            held.push(place);
        }
    }

    let count = seen.len();
    let map = Sampled::new(rows, columns, seen)?;
    let losses = PerOutput::new(ScalarLoss::Squared, ratings, 1)?;
    let mu = 1e-2 / count as f64;
    let problem = BallProblem::new(map, losses, mu, 0.95 * planted.nuclear_norm().value, None)?;
    let report = ball::train(&problem, &BallSettings::default(), &Budget::relative(1e-4), &mut ())?;
    let test = Sampled::new(rows, columns, held)?;
    let mut predictions = vec![0.0; test.len()];
    test.predict(&report.model.weights, &mut predictions);
    let places = test.places().iter().map(|&(i, j)| i as usize * columns + j as usize);
    let squares = predictions.iter().zip(places).map(|(p, at)| (p - truth[at]).powi(2));
    let error = (squares.sum::<f64>() / test.len() as f64).sqrt();
    println!(
        "{count} entries of {}: relative gap {:.1e} in {:.2} s and {:.2} s for certificates; rank {}; error on others {error:.3}; {:?}",
        rows * columns,
        report.certificate.relative_gap(),
        report.solve_seconds,
        report.certify_seconds,
        report.model.weights.rank(),
        report.tactics
    );
    assert!(error < 0.5);
    Ok(())
}
