//! The Markov chain nearest to observed transitions that has a given stationary distribution.
//!
//! ```text
//! min ½‖X − M‖² + κ/2 ‖X'π − π‖²     every row of X a distribution
//! ```
//!
//! Each row is a block, a simplex that is ready to use; the image of a point is X'π, so that a step on one row reads no
//! other. f is quadratic, so that the line search is a quotient.
//!
//! Run it: `cargo run --release --package dualgap --example markov_chain`

use dualgap::Result;
use dualgap::linalg::{Measured, Random, gamma};
use dualgap::methods::product::{
    BlockDirection, Objective, Point, Product, ProductSettings, Simplex, minimise,
};
use dualgap::run::Budget;

struct Chain {
    observed: Vec<Vec<f64>>,
    stationary: Vec<f64>,
    kappa: f64,
}

impl Objective for Chain {
    fn value(&self, at: &Point) -> Measured {
        let apart = at.coordinates().iter().zip(self.observed.iter().flatten());
        let near: f64 = apart.map(|(x, m)| (x - m) * (x - m)).sum();
        let drift = at.image().iter().zip(&self.stationary);
        let still: f64 = drift.map(|(mass, pi)| (mass - pi) * (mass - pi)).sum();
        let states = self.stationary.len();
        // The entries of X'π are below one, so that γ bounds their rounding. It moves κ/2‖drift‖² by at most
        // κγ Σ|drift|, which is below 4κγ‖drift‖ for sixteen states or fewer.
        let drifted = self.kappa * gamma(states + 4) * 4.0 * (still.sqrt() + 1e-9);
        let sums = Measured::rounded(0.5 * near + 0.5 * self.kappa * still, states * states + 8);
        Measured { error: sums.error + drifted, ..sums }
    }

    fn gradient(&self, at: &Point, row: usize, out: &mut [f64]) -> f64 {
        let pi = self.stationary[row];
        let drift = at.image().iter().zip(&self.stationary).map(|(mass, pi)| mass - pi);
        let near = at.block(row).iter().zip(&self.observed[row]).map(|(x, m)| x - m);
        out.iter_mut().zip(near.zip(drift)).for_each(|(g, (near, drift))| {
            *g = near + self.kappa * pi * drift;
        });
        // All of these are below one, but for κ.
        (1.0 + self.kappa) * gamma(self.stationary.len() + 8)
    }

    fn image_len(&self) -> usize {
        self.stationary.len()
    }

    fn add_image(&self, row: usize, x: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(x).for_each(|(mass, x)| *mass += self.stationary[row] * x);
    }

    fn curvature(&self, direction: &BlockDirection<'_>) -> Option<f64> {
        let squares = |d: &[f64]| d.iter().map(|d| d * d).sum::<f64>();
        let near: f64 = direction.parts().map(|(_, d)| squares(d)).sum();
        Some(near + self.kappa * squares(direction.image()))
    }
}

/// The distribution nearest to y: what exceeds a threshold, which a sorted copy of y tells.
fn nearest_distribution(y: &[f64]) -> Vec<f64> {
    let mut sorted = y.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (k, &top) in sorted.iter().enumerate() {
        sum += top;
        let candidate = (sum - 1.0) / (k as f64 + 1.0);
        if top > candidate {
            threshold = candidate;
        }
    }
    y.iter().map(|y| (y - threshold).max(0.0)).collect()
}

/// The minimum by another method, projected gradient: f is 1-strongly convex and its gradient (1 + κ‖π‖²)-Lipschitz.
fn projected_gradient(problem: &Product<Chain, Simplex>) -> Result<f64> {
    let chain = problem.objective();
    let steepness = 1.0 + chain.kappa * chain.stationary.iter().map(|pi| pi * pi).sum::<f64>();
    let mut at = problem.start()?;
    for _ in 0..500 {
        let mut next = Vec::new();
        for row in 0..at.blocks() {
            let mut gradient = vec![0.0; at.block(row).len()];
            chain.gradient(&at, row, &mut gradient);
            let moved = at.block(row).iter().zip(&gradient).map(|(x, g)| x - g / steepness);
            next.extend(nearest_distribution(&moved.collect::<Vec<_>>()));
        }
        at = problem.point(next)?;
    }
    Ok(chain.value(&at).value)
}

fn main() -> Result<()> {
    let (states, kappa, mut random) = (8, 100.0, Random::new(2));
    let mut distribution =
        || nearest_distribution(&(0..states).map(|_| random.unit()).collect::<Vec<_>>());
    let observed: Vec<Vec<f64>> = (0..states).map(|_| distribution()).collect();
    let stationary: Vec<f64> = vec![1.0 / states as f64; states];

    let chain = Chain { observed, stationary: stationary.clone(), kappa };
    let problem = Product::new(chain, vec![Simplex::new(states, 1.0)?; states])?;
    let budget = Budget { absolute: Some(1e-3), ..Budget::passes(20_000) };
    let report = minimise(&problem, &ProductSettings::default(), &budget, &mut ())?;
    let certificate = report.certificate;
    println!(
        "f = {:.5}, at most {:.1e} above the minimum, after steps on {} rows",
        certificate.primal,
        certificate.gap_bound(),
        report.work.steps
    );
    assert!(certificate.gap_bound() <= 1e-3);

    let next = report.model.image();
    let drift = next.iter().zip(&stationary).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("one step of the chain changes no state's share of 0.125 by more than {drift:.4}");

    let minimum = projected_gradient(&problem)?;
    println!("projected gradient ends at {minimum:.5}");
    assert!(certificate.dual <= minimum && minimum <= certificate.primal);
    Ok(())
}
