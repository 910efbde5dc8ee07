//! What Newton's method asks of blocks.

use crate::dual::Blocks;
use crate::linalg::Rows;

/// Blocks whose loss is a smooth function of K linear predictions `a = x'W`; the weights of an input are neighbours.
pub trait CurvedBlocks: Blocks {
    /// Returns the inputs.
    fn inputs(&self) -> &Rows;

    /// Returns K.
    fn outputs(&self) -> usize;

    /// Whether the loss is smooth: the other methods are called only if so.
    fn is_curved(&self) -> bool;

    /// Returns φ_i(a), to the accuracy of a comparison between two steps; writes ∇φ_i(a), and what the next two methods need
    /// to know of a: K numbers each.
    fn second_order(&self, i: usize, a: &[f64], slope: &mut [f64], curve: &mut [f64]) -> f64;

    /// Returns an entry of ∇²φ_i.
    fn curvature_entry(&self, i: usize, curve: &[f64], place: (usize, usize)) -> f64;

    /// Writes ∇²φ_i·u.
    fn bend(&self, i: usize, curve: &[f64], u: &[f64], out: &mut [f64]);

    /// Whether ∇²φ_i is the same at every a, so that one quadratic model is exact everywhere.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Writes δ and r with `∇²φ_i = diag δ − rr'`, K numbers each: every Hessian of the library has this form.
    fn split_curve(&self, i: usize, curve: &[f64], diagonal: &mut [f64], rank_one: &mut [f64]);

    /// Returns the dual point −∇φ_i(a).
    fn touching(&self, i: usize, a: &[f64]) -> Self::Point;
}
