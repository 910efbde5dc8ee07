//! The losses at some predictions: their sum, slopes and curvatures, computed once for many steps.

use super::design::Design;
use crate::methods::newton::CurvedBlocks;

pub struct Local {
    pub a: Vec<f64>,
    /// mass_i ∇φ_i(a_i).
    pub slopes: Vec<f64>,
    /// What the blocks need to know of each a for the curvature, without masses.
    pub curves: Vec<f64>,
    /// Σ mass_i φ_i(a_i).
    pub losses: f64,
}

impl Local {
    pub fn at<B: CurvedBlocks>(blocks: &B, design: &Design, a: Vec<f64>) -> Self {
        let (k, count) = (design.outputs, a.len());
        let (mut slopes, mut curves) = (vec![0.0; count], vec![0.0; count]);
        let mut losses = 0.0;
        let parts = a.chunks_exact(k).zip(slopes.chunks_exact_mut(k));
        for (i, ((a, slope), curve)) in parts.zip(curves.chunks_exact_mut(k)).enumerate() {
            let mass = design.masses[i];
            losses += mass * blocks.second_order(i, a, slope, curve);
            slope.iter_mut().for_each(|slope| *slope *= mass);
        }
        Self { a, slopes, curves, losses }
    }
}
