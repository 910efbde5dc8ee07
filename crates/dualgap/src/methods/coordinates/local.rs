//! The losses at some predictions: their sum, slopes and curvatures, computed once for many steps.

use crate::dual::problem::Masses;
use crate::methods::newton::{CurvedBlocks, second_orders};

pub struct Local {
    pub a: Vec<f64>,
    /// mass_i ∇φ_i(a_i).
    pub slopes: Vec<f64>,
    /// What the blocks need to know of each a for the curvature, without masses.
    pub curves: Vec<f64>,
    /// Σ mass_i φ_i(a_i).
    pub losses: f64,
    /// The slopes of the losses along all weights, if they are known, ...
    pub along: Vec<f64>,
    /// ... and about how far they may be off, beside the rounding of a sum.
    pub off: f64,
}

impl Local {
    pub fn at<B: CurvedBlocks>(blocks: &B, masses: &Masses, a: Vec<f64>) -> Self {
        let (mut slopes, mut curves) = (vec![0.0; a.len()], vec![0.0; a.len()]);
        let losses = second_orders(blocks, 0, masses, &a, &mut slopes, &mut curves);
        Self { a, slopes, curves, losses, along: Vec::new(), off: 0.0 }
    }
}
