//! What Newton's method asks of blocks.

use crate::Result;
use crate::dual::Blocks;
use crate::linalg::Rows;

/// Blocks whose loss is a function of K linear predictions `a = x'W`, smooth or with corners; the weights of an input are neighbours.
pub trait CurvedBlocks: Blocks {
    /// Returns the inputs.
    fn inputs(&self) -> &Rows;

    /// Returns K.
    fn outputs(&self) -> usize;

    /// Whether the loss is smooth: methods that speak of ∇φ_i or ∇²φ_i are called only if so, or with what a smoothed loss has kept.
    fn is_curved(&self) -> bool;

    /// Whether the loss has corners, and can be smoothed: then [`smoothed_orders`](Self::smoothed_orders) and
    /// [`slope_at`](Self::slope_at) are called.
    fn has_corners(&self) -> bool {
        false
    }

    /// Writes for neighbouring examples φ_i, and φ_i smoothed over a width γ around slopes c_i, `max_s ⟨a, s⟩ − φ_i*(s) −
    /// (γ/2)‖s − c_i‖²`, with its slope s and what is kept of its curvature.
    fn smoothed_orders(
        &self,
        _first: usize,
        _around: (f64, &[f64]),
        _a: &[f64],
        _out: [&mut [f64]; 4],
    ) {
    }

    /// Writes the slope of which a dual point is the opposite.
    fn slope_at(&self, _i: usize, _at: &Self::Point, _slope: &mut [f64]) {}

    /// Returns φ_i(a), to the accuracy of a comparison between two steps; writes ∇φ_i(a), and what the next two methods need
    /// to know of a: K numbers each.
    fn second_order(&self, i: usize, a: &[f64], slope: &mut [f64], curve: &mut [f64]) -> f64;

    /// [`second_order`](Self::second_order) of neighbouring examples, K numbers in `a` each: writes the losses, one number each,
    /// the slopes and what is kept of the curvatures.
    fn second_orders(&self, first: usize, a: &[f64], [losses, slopes, curves]: [&mut [f64]; 3]) {
        let k = self.outputs();
        let each = slopes.chunks_exact_mut(k).zip(curves.chunks_exact_mut(k));
        for (i, ((a, loss), (slope, curve))) in a.chunks_exact(k).zip(losses).zip(each).enumerate()
        {
            *loss = self.second_order(first + i, a, slope, curve);
        }
    }

    /// Writes the dual values of the losses, rounded, of neighbouring examples at their dual points −∇φ_i(a_i), which are scaled:
    /// mixed with the start.
    fn scaled_duals(&self, first: usize, a: &[f64], scale: f64, out: &mut [f64]) -> Result<()> {
        let mut scratch = self.scratch();
        for (i, (a, value)) in a.chunks_exact(self.outputs()).zip(out).enumerate() {
            let mut point = self.start(first + i);
            self.blend(first + i, scale, &mut point, &self.touching(first + i, a));
            *value = self.audit(first + i, &point, &mut scratch)?.dual.value;
        }
        Ok(())
    }

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

    /// Moves s to the next slope that φ_i has somewhere.
    fn confine(&self, i: usize, s: &mut [f64]);

    /// Returns the dual point −s, for a slope that φ_i has somewhere.
    fn opposite(&self, i: usize, s: &[f64]) -> Self::Point;
}
