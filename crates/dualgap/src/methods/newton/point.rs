//! What is known at a point: at the weights of a step, and along its direction.

use super::design::Derivatives;
use super::tangent::{At, Tangent};

/// P, its slope and its curvature at some weights.
pub struct Local {
    /// P, rounded; that of the smoothed losses if they have corners.
    pub value: f64,
    /// P of the losses themselves.
    pub exact: f64,
    /// What smoothing leaves of the gap.
    pub left: f64,
    pub a: Vec<f64>,
    /// `mass_i ∇φ_i`.
    pub slopes: Vec<f64>,
    pub gradient: Vec<f64>,
    /// What the blocks need to know of each a.
    pub curves: Vec<f64>,
    /// Of the step that led here.
    pub tangent: Option<Tangent>,
}

impl Local {
    pub fn at(&self) -> At<'_> {
        At { slopes: &self.slopes, curves: &self.curves }
    }
}

/// The direction of a step, the predictions along it, and the slope of P at its beginning.
pub struct Line<'a> {
    pub slope: f64,
    pub p: &'a [f64],
    pub ahead: &'a [f64],
}

/// What is t times as far as the direction of a step.
#[derive(Default)]
pub struct End {
    pub t: f64,
    /// P, rounded.
    pub value: f64,
    pub w: Vec<f64>,
    pub a: Vec<f64>,
    pub known: Derivatives,
}
