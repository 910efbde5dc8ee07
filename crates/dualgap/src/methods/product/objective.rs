//! The function that is minimised, the point where it is evaluated, and the direction of a step.

use crate::linalg::Measured;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A point of the product: its coordinates block after block, and its image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub(super) x: Vec<f64>,
    /// Where each block begins, and the end of the last one.
    pub(super) starts: Vec<usize>,
    pub(super) image: Vec<f64>,
}

impl Point {
    /// Returns the coordinates of all blocks, one block after the other.
    pub fn coordinates(&self) -> &[f64] {
        &self.x
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the places of block i among all coordinates.
    pub fn span(&self, block: usize) -> Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// Returns the coordinates of block i.
    pub fn block(&self, block: usize) -> &[f64] {
        &self.x[self.span(block)]
    }

    /// Returns the image `Σ_i A_i x_i` (see [`Objective::add_image`]). During a run it is updated step by step; a
    /// certification rebuilds it from the coordinates first.
    pub fn image(&self) -> &[f64] {
        &self.image
    }
}

/// The direction of a step: `s_i − x_i` for one block, or for all of them.
#[derive(Clone, Copy, Debug)]
pub struct BlockDirection<'d> {
    /// Where the blocks begin, from the first one of the direction on.
    pub(super) starts: &'d [usize],
    pub(super) first: usize,
    pub(super) change: &'d [f64],
    pub(super) image: &'d [f64],
}

impl<'d> BlockDirection<'d> {
    /// Returns the blocks that the step moves, each with its part of the direction.
    pub fn parts(&self) -> impl Iterator<Item = (usize, &'d [f64])> + use<'d> {
        let Self { starts, first, change, .. } = *self;
        let span = move |ends: &[usize]| ends[0] - starts[0]..ends[1] - starts[0];
        starts.windows(2).enumerate().map(move |(k, ends)| (first + k, &change[span(ends)]))
    }

    /// Returns the image of the direction, which is what the image of the point changes by.
    pub fn image(&self) -> &'d [f64] {
        self.image
    }
}

/// A smooth convex function of a point of the product: all that a user writes for a function.
///
/// Contract: f is convex and differentiable on the product and, because points leave it by rounding, around it; `value`
/// and `gradient` are right within the error bounds that they return. The certificate rests on these two and on the
/// oracles of the sets, and on nothing else: a wrong [`curvature`](Self::curvature) costs steps and proves nothing
/// false.
pub trait Objective {
    /// Returns f(x), with a bound on its rounding.
    fn value(&self, at: &Point) -> Measured;

    /// Writes the partial gradient of this block to `out`, and returns a bound on the rounding of each of its entries.
    fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64;

    /// Returns the length of the image, zero without one.
    fn image_len(&self) -> usize {
        0
    }

    /// Adds `A_i x` to `out`, the part of the image that comes from coordinates x of this block. The image
    /// `z = Σ_i A_i x_i` is for functions of the form `h(z) + ⟨b, x⟩`: the solver keeps z up to date, so that neither
    /// a gradient nor a line search has to read all blocks. Its rounding is part of what `value` and `gradient` bound;
    /// where a certificate needs it, z has been added up anew from the coordinates.
    fn add_image(&self, block: usize, x: &[f64], out: &mut [f64]) {
        let _ = (block, x, out);
    }

    /// Returns `⟨d, ∇²f d⟩` if f is quadratic: the line search is then a quotient. Without it, the solver searches
    /// for the zero of the slope.
    fn curvature(&self, direction: &BlockDirection<'_>) -> Option<f64> {
        let _ = direction;
        None
    }

    /// Returns L_i, a Lipschitz constant of the partial gradient of this block with respect to this block, in the Euclidean
    /// norm. Only [`Target::Proximal`](super::Target::Proximal) needs it; one that is too small costs descent and proves
    /// nothing false.
    fn lipschitz(&self, block: usize) -> Option<f64> {
        let _ = block;
        None
    }

    /// Returns the curvature constant C of this block, definition (17) of the paper, or of the whole product, definition
    /// (7), or an upper bound. Only [`ProductSettings::delta`](super::ProductSettings::delta) needs it.
    fn curvature_constant(&self, block: Option<usize>) -> Option<f64> {
        let _ = block;
        None
    }
}

impl<F: Objective + ?Sized> Objective for &F {
    fn value(&self, at: &Point) -> Measured {
        (**self).value(at)
    }

    fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
        (**self).gradient(at, block, out)
    }

    fn image_len(&self) -> usize {
        (**self).image_len()
    }

    fn add_image(&self, block: usize, x: &[f64], out: &mut [f64]) {
        (**self).add_image(block, x, out);
    }

    fn curvature(&self, direction: &BlockDirection<'_>) -> Option<f64> {
        (**self).curvature(direction)
    }

    fn lipschitz(&self, block: usize) -> Option<f64> {
        (**self).lipschitz(block)
    }

    fn curvature_constant(&self, block: Option<usize>) -> Option<f64> {
        (**self).curvature_constant(block)
    }
}
