//! A loss of your own in one file: quantile regression.
//!
//! ```text
//! φ(a) = τ(y − a) if a ≤ y, else (1 − τ)(a − y)          the τ-quantile of the target is its best prediction
//! ```
//!
//! Its slopes are −τ and 1 − τ, so −α ∈ [−τ, 1 − τ], that is τ − 1 ≤ α ≤ τ; there φ*(−α) = max_a −αa − φ(a) is attained
//! at a = y and is −αy. The best step without bounds is the one of the absolute loss, brought to the interval.
//!
//! Run it: `cargo run --release --package dualgap --example own_loss`

use dualgap::dual::Settings;
use dualgap::linalg::{Measured, Random, Rows};
use dualgap::run::Budget;
use dualgap::structure::{self, Choice, LinearBlocks};
use dualgap::term::Loss;

#[derive(Clone, Copy)]
struct Quantile {
    tau: f64,
}

/// A number that was rounded a few times.
fn rounded(value: f64, magnitude: f64) -> Measured {
    Measured { value, error: 8.0 * f64::EPSILON * magnitude }
}

impl Loss for Quantile {
    fn value(&self, a: f64, y: f64) -> Measured {
        let r = y - a;
        let value = if r >= 0.0 { self.tau * r } else { (self.tau - 1.0) * r };
        rounded(value, value)
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        rounded(-alpha * y, (alpha * y).abs())
    }

    fn domain(&self, _: f64) -> (f64, f64) {
        (self.tau - 1.0, self.tau)
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        if a <= y { self.tau } else { self.tau - 1.0 }
    }

    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        let pull = y - a;
        if pull == 0.0 {
            return alpha;
        }
        (alpha + pull / q).clamp(self.tau - 1.0, self.tau)
    }

    fn smoothness(&self) -> f64 {
        0.0 // it has a corner
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        self.tau.max(1.0 - self.tau)
    }
}

fn main() -> dualgap::Result<()> {
    // y = 2x plus noise between 0 and 1: the 0.9-quantile is 2x + 0.9.
    let mut random = Random::new(1);
    let x: Vec<f64> = (0..2000).map(|_| random.unit()).collect();
    let targets: Vec<f64> = x.iter().map(|x| 2.0 * x + random.unit()).collect();
    let rows = Rows::dense(&x.iter().map(|&x| vec![x, 1.0]).collect::<Vec<_>>())?;

    let blocks = LinearBlocks::new(&rows, targets.clone(), Quantile { tau: 0.9 }, Choice::I)?;
    let settings = Settings { lambda: 1e-5, ..Settings::default() };
    let budget = Budget { passes: Some(5000), ..Budget::relative(0.002) };
    let report = structure::train_linear(&blocks, &settings, &budget, &mut ())?;

    let w = &report.model.weights;
    println!("slope {:.3}, offset {:.3}", w[0], w[1]);
    println!("certified gap: {:.2e} of the primal value", report.certificate.relative_gap());
    let below = x.iter().zip(&targets).filter(|(x, y)| **y <= w[0] * **x + w[1]).count();
    let share = below as f64 / x.len() as f64;
    println!("{:.1} % of the targets are below the line", 100.0 * share);
    assert!((share - 0.9).abs() < 0.02 && (w[0] - 2.0).abs() < 0.1 && (w[1] - 0.9).abs() < 0.1);
    Ok(())
}
