//! The quadratic model of the losses, and its minimisation over a working set.
//!
//! ```text
//! Q(d) = Σ_i s_i'u_i + ½ u_i'D_i u_i + penalty(w + d),     u = Xd
//! ```
//!
//! Cyclic descent, weight by weight, is what all data can afford. Correlated columns make it slow, against which there are
//! two means: Anderson's extrapolation every few cycles, and once the cycles have taken as long as the matrix `X'DX` of the
//! weights would have, that matrix, with which a step no longer touches the data (`gram`).

use super::anderson::Anderson;
use super::design::Design;
use super::gram::{Curve, Gram};
use super::terms::Terms;

/// The most cycles before the solver checks all weights again.
const MOST_CYCLES: usize = 100;

/// The steps with the matrix are nearly free, so they reach this share of what is asked for.
const CLOSER: f64 = 1e-6;

/// A quadratic model, at the weights that its caller has.
pub trait Model {
    fn design(&self) -> &Design;

    fn terms(&self) -> &Terms;

    /// Returns D if there is one output.
    fn curve(&self) -> Option<Curve<'_>>;

    /// Whether D is the same in all models.
    fn is_lasting(&self) -> bool;

    /// Returns the slope of the losses along a weight.
    fn slope(&self, c: usize) -> f64;

    /// Returns their curvature along it.
    fn curvature(&self, c: usize) -> f64;

    /// Takes a step of every weight of the set, given their curvatures. Returns the largest h Δ², twice what a step gains.
    fn cycle(&mut self, set: &[u32], curvatures: &[f64], w: &mut [f64]) -> f64;

    /// Moves the weights of the set to these values if that lowers Q; returns whether it did.
    fn jump(&mut self, set: &[u32], w: &mut [f64], to: &[f64]) -> bool;
}

/// How well to minimise: until no step of a cycle gains more than this share of the most that one of the first cycle did,
/// or than this.
#[derive(Clone, Copy)]
pub struct Enough {
    pub share: f64,
    pub gain: f64,
}

/// What came of it.
pub struct Minimised {
    /// The largest gain of the first cycle.
    pub first: f64,
    /// The values of the set's weights that an extrapolation had, if the last one did not lower Q: their dual point may
    /// be a good one all the same.
    pub extrapolated: Option<Vec<f64>>,
    pub touched: u64,
}

/// Minimises Q over the weights of the set.
pub fn minimise(
    model: &mut dyn Model,
    set: &[u32],
    w: &mut [f64],
    enough: Enough,
    gram: &mut Gram,
    halted: &dyn Fn() -> bool,
) -> Minimised {
    let curvatures: Vec<f64> = set.iter().map(|&c| model.curvature(c as usize)).collect();
    let cycle: u64 = set.iter().map(|&c| model.design().entries(c as usize)).sum();
    let mut done = Minimised { first: 0.0, extrapolated: None, touched: cycle };
    let mut anderson = Anderson::default();
    let mut target = f64::NAN;
    for cycles in 0..MOST_CYCLES {
        let gain = model.cycle(set, &curvatures, w);
        done.touched += cycle;
        if cycles == 0 {
            (done.first, target) = (gain, enough.gain.max(enough.share * gain));
        }
        if gain <= target || halted() {
            break;
        }
        if let Some(whole) = by_gram(model, set, cycle, w, target, gram, &mut done.touched) {
            anderson.clear();
            if whole {
                break;
            }
            continue;
        }
        let iterate = set.iter().map(|&c| w[c as usize]).collect();
        if let Some(mut to) = anderson.push(iterate) {
            allow(model.terms(), set, &mut to);
            done.touched += cycle;
            let lower = model.jump(set, w, &to);
            done.extrapolated = (!lower).then_some(to);
        }
    }
    done
}

/// Brings values of the set's weights to where the penalty is finite.
fn allow(terms: &Terms, set: &[u32], to: &mut [f64]) {
    for (&c, to) in set.iter().zip(to) {
        match terms.free {
            Some(free) if free.column == c as usize => *to = to.clamp(-free.bound, free.bound),
            _ if terms.nonnegative => *to = to.max(0.0),
            _ => {}
        }
    }
}

/// Minimises with the matrix of the set, or of its weights that are not zero, if enough work has gone into cycles for it to
/// pay. Returns whether it was the whole set, or `None` if it did not.
fn by_gram(
    model: &mut dyn Model,
    set: &[u32],
    cycle: u64,
    w: &mut [f64],
    target: f64,
    gram: &mut Gram,
    touched: &mut u64,
) -> Option<bool> {
    model.curve()?;
    gram.spent += cycle;
    let whole = (set.len() * set.len()) as u64 <= 2 * cycle;
    let part: Vec<u32> = if whole {
        set.to_vec()
    } else {
        set.iter().copied().filter(|&c| w[c as usize] != 0.0).collect()
    };
    let price = gram.price(&part, model.design())?;
    if part.is_empty() || gram.spent < price {
        return None;
    }
    *touched += gram.include(&part, model.design(), model.curve()?);
    // Where D changes from model to model, the next one needs a matrix of its own, and will be as slow without it.
    gram.spent = if model.is_lasting() { 0 } else { price };
    let mut slopes: Vec<f64> = part.iter().map(|&c| model.slope(c as usize)).collect();
    *touched += 3 * part.iter().map(|&c| model.design().entries(c as usize)).sum::<u64>();
    let mut to: Vec<f64> = part.iter().map(|&c| w[c as usize]).collect();
    gram.descend(&part, &mut slopes, &mut to, model.terms(), CLOSER * target);
    model.jump(&part, w, &to);
    Some(whole)
}
