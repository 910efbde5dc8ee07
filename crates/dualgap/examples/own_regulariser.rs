//! A regulariser of your own in one file: weights within bounds, feature by feature.
//!
//! ```text
//! g(w) = ½‖w‖² + [low_j ≤ w_j ≤ high_j for all j]        0 or ∞ in brackets
//! ```
//!
//! The maximum over w_j in g*(v) = max_w ⟨v, w⟩ − g(w) is attained where a parabola with its top at v_j is highest within
//! the bounds: w_j = clamp(v_j). That is the link, and g*(v) = Σ v_j w_j − ½w_j² there.
//!
//! The use of it: effects whose signs and caps are known beforehand. Here are the rents of flats: more space never makes
//! one cheaper, more years never dearer, a balcony is worth at most a hundred, and the heating is paid as it is.
//!
//! Run it: `cargo run --release --package dualgap --example own_regulariser`

use dualgap::dual;
use dualgap::dual::Settings;
use dualgap::linalg::{Measured, Random, Rows, Sum, squared_norm};
use dualgap::run::Budget;
use dualgap::structure::{Choice, LinearBlocks};
use dualgap::term::{Link, ScalarLoss};

/// A lowest and a highest value for every weight; either may be infinite, and both may be the same.
#[derive(Clone, Debug)]
pub struct Bounds(pub Vec<(f64, f64)>);

impl Link for Bounds {
    fn weight(&self, j: usize, v: f64) -> f64 {
        let (low, high) = self.0[j];
        v.clamp(low, high)
    }

    fn value(&self, w: &[f64]) -> Measured {
        if w.iter().zip(&self.0).all(|(w, (low, high))| low <= w && w <= high) {
            squared_norm(w).scaled(0.5)
        } else {
            Measured { value: f64::INFINITY, error: 0.0 }
        }
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        let mut sum = Sum::default();
        for (j, &v) in v.iter().enumerate() {
            let w = self.weight(j, v);
            let term = w * (v - w / 2.0);
            // Halving is exact, and the difference and the product are rounded once each.
            sum.add_measured(Measured::rounded(term, 2));
        }
        sum.total()
    }
}

/// What is known of space, years, balcony, noise and heating before any flat was looked at.
const KNOWN: [(f64, f64); 5] = [
    (0.0, f64::INFINITY),
    (f64::NEG_INFINITY, 0.0),
    (0.0, 1.0),
    (f64::NEG_INFINITY, f64::INFINITY),
    (1.0, 1.0),
];

/// The rents, in hundreds. Half of the oldest flats are beautiful, so that years alone seem to make them dearer.
fn flats() -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = Random::new(1);
    let mut flat = || {
        let [space, years, balcony, noise, heating] = [(); 5].map(|()| random.unit());
        let balcony = f64::from(balcony < 0.5);
        let beauty = if years > 0.7 && random.unit() < 0.5 { 2.0 } else { 0.0 };
        let rent = 5.0 * space + beauty + 1.5 * balcony - noise + heating + random.unit();
        (vec![space, years, balcony, noise, heating], rent)
    };
    (0..1000).map(|_| flat()).unzip()
}

/// The slope of `(1/n) Σ ½(⟨x_i, w⟩ − y_i)² + λ/2‖w‖²`.
fn gradient(rows: &[Vec<f64>], targets: &[f64], w: &[f64], lambda: f64) -> Vec<f64> {
    let mut slope: Vec<f64> = w.iter().map(|w| lambda * w).collect();
    for (x, y) in rows.iter().zip(targets) {
        let residual = x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() - y;
        slope.iter_mut().zip(x).for_each(|(s, x)| *s += residual * x / rows.len() as f64);
    }
    slope
}

fn main() -> dualgap::Result<()> {
    let (flats, rents) = flats();
    let (rows, lambda) = (Rows::dense(&flats)?, 1e-3);
    let blocks = LinearBlocks::new(&rows, rents.clone(), ScalarLoss::Squared, Choice::I)?;
    let settings = Settings { lambda, ..Settings::default() };
    let bounds = Bounds(KNOWN.to_vec());
    let report = dual::train_with(&blocks, bounds, &settings, &Budget::relative(1e-10), &mut ())?;

    let w = &report.model.weights;
    for (name, w) in ["space", "years", "balcony", "noise", "heating"].iter().zip(w) {
        println!("{name:>8} {w:>7.3}");
    }
    println!("certified gap: {:.1e} of the primal value", report.certificate.relative_gap());

    // Nobody has to believe the link: w is optimal if and only if a step down the slope, brought back to the bounds,
    // leads nowhere.
    for (j, slope) in gradient(&flats, &rents, w, lambda).into_iter().enumerate() {
        let (low, high) = KNOWN[j];
        assert!((w[j] - (w[j] - slope).clamp(low, high)).abs() < 1e-4, "weight {j} is {}", w[j]);
    }
    assert_eq!((w[1], w[2], w[4]), (0.0, 1.0, 1.0), "three of the bounds are met");
    Ok(())
}
