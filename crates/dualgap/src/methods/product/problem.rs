//! The function and the sets together, and what any point of the product proves.
//!
//! By convexity f(s) ≥ f(x) + ⟨∇f(x), s − x⟩ for all s, so that
//!
//! ```text
//! min f ≥ f(x) − Σ_i g_i,       g_i = max over s ∈ M_i of ⟨x_i − s, ∇_i f(x)⟩
//! ```
//!
//! whatever x is, also where rounding has moved it out of the product. Of block i, with the computed gradient within ε of
//! the exact one in every coordinate and R ≥ ‖s‖₁ on M_i,
//!
//! ```text
//! g_i ≤ ⟨x_i − s_i, ∇⟩ + ε(‖x_i‖₁ + R) + 2γ_m ‖∇‖_∞ R          the oracle compared plain sums of m products
//! g_i ≤ ⟨x_i, ∇⟩ − b + ε(‖x_i‖₁ + R)                            the oracle has a lower bound b
//! g_i ≤ (⟨x_i − s_i, ∇⟩ + tolerance)/ν + …                      the oracle keeps inequality (13)
//! ```
//!
//! A point at the l1 distance d from the product has a neighbour in it, whose value is larger by d‖∇‖_∞ to first order;
//! twice that is charged to the primal value.

use super::objective::{Objective, Point};
use super::set::{Minimum, Query, Set};
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, gamma};
use crate::run::{Basis, Certificate};
use crate::{Error, Result};

/// A point further from its set than this share of the radius is outside by more than rounding: k convex combinations
/// leave at most about k·1e-16, and no run takes 1e8 steps on one block.
const MOST_DEFECT: f64 = 1e-8;

/// Minimise `objective` over the product of `sets`, one for each block.
#[derive(Clone, Debug)]
pub struct Product<F, S> {
    objective: F,
    sets: Vec<S>,
    starts: Vec<usize>,
    nu: f64,
}

/// What a point proves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evaluated {
    pub value: Measured,
    /// `f(x) −` the gap, a lower bound of the minimum if it rests on anything.
    pub lower: Measured,
    /// What the lower bound rests on; nothing if an oracle could not tell what it may have missed.
    pub basis: Option<Basis>,
}

impl Evaluated {
    pub fn certificate(&self) -> Result<Certificate> {
        certificate(self.value, self.lower, self.basis)
    }
}

/// Pairs a value with a lower bound and what it rests on.
pub(super) fn certificate(
    value: Measured,
    lower: Measured,
    basis: Option<Basis>,
) -> Result<Certificate> {
    let pair = Certificate::new(value, lower, basis.is_some())?;
    Ok(pair.resting_on(basis.unwrap_or_default()))
}

impl<F: Objective, S: Set> Product<F, S> {
    /// Returns the problem, or an error if a set is empty or its numbers make no sense.
    pub fn new(objective: F, sets: Vec<S>) -> Result<Self> {
        if sets.is_empty() {
            return Err(Error::setting("a product has at least one set"));
        }
        let (mut starts, mut nu) = (vec![0_usize], 1.0_f64);
        for (i, set) in sets.iter().enumerate() {
            let (dim, radius, share) = (set.dim(), set.radius(), set.nu());
            if dim == 0 {
                return Err(Error::setting(format!("the set of block {i} has no coordinates")));
            }
            if !(radius >= 0.0 && radius.is_finite()) {
                return Err(Error::setting(format!(
                    "the radius of block {i} is {radius}: it must be a finite bound on the l1 norm of its points"
                )));
            }
            if !(share > 0.0 && share <= 1.0) {
                return Err(Error::setting(format!(
                    "the oracle of block {i} promises the share {share} of the gap: it must be above 0, and 1 at most"
                )));
            }
            nu = nu.min(share);
            let end = starts[i].checked_add(dim);
            starts.push(end.ok_or_else(|| Error::setting("there are too many coordinates"))?);
        }
        Ok(Self { objective, sets, starts, nu })
    }

    /// Returns the objective.
    pub fn objective(&self) -> &F {
        &self.objective
    }

    /// Returns the sets, one for each block.
    pub fn sets(&self) -> &[S] {
        &self.sets
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.sets.len()
    }

    /// Returns the number of coordinates of all blocks together.
    pub fn dim(&self) -> usize {
        self.starts[self.sets.len()]
    }

    /// Returns the least share of a gap that the oracles promise.
    pub(super) fn nu(&self) -> f64 {
        self.nu
    }

    /// Returns the point with these coordinates, block after block, or an error if their number is wrong.
    pub fn point(&self, x: Vec<f64>) -> Result<Point> {
        if x.len() != self.dim() {
            return Err(Error::setting(format!(
                "the point has {} coordinates, and the product {}",
                x.len(),
                self.dim()
            )));
        }
        let image = vec![0.0; self.objective.image_len()];
        let mut point = Point { x, starts: self.starts.clone(), image };
        self.rebuild_image(&mut point);
        Ok(point)
    }

    /// Returns the point where a run begins.
    pub fn start(&self) -> Result<Point> {
        let mut x = vec![0.0; self.dim()];
        for (set, ends) in self.sets.iter().zip(self.starts.windows(2)) {
            set.start(&mut x[ends[0]..ends[1]]);
        }
        self.point(x)
    }

    /// Returns an error if the point is one of another product, or outside of one of the sets.
    pub(super) fn check_inside(&self, at: &Point) -> Result<()> {
        let alike = at.starts == self.starts
            && at.x.len() == self.dim()
            && at.image.len() == self.objective.image_len();
        if !alike {
            return Err(Error::setting("the point is one of another product"));
        }
        (0..self.blocks()).try_for_each(|i| self.defect(at, i).map(|_| ()))
    }

    /// Returns how far block i is from its set, or an error if that is more than rounding.
    fn defect(&self, at: &Point, i: usize) -> Result<f64> {
        let (defect, radius) = (self.sets[i].defect(at.block(i)), self.sets[i].radius());
        if defect <= MOST_DEFECT * radius {
            return Ok(defect);
        }
        Err(Error::Unsound {
            message: format!(
                "block {i}: the point is outside of its set, at a distance of {defect:e}: was it given so, or did the \
                 oracle return a point outside?"
            ),
        })
    }

    /// Adds up the image from the coordinates.
    pub(super) fn rebuild_image(&self, point: &mut Point) {
        let Point { x, starts, image } = point;
        image.fill(0.0);
        for (i, ends) in starts.windows(2).enumerate() {
            self.objective.add_image(i, &x[ends[0]..ends[1]], image);
        }
    }

    /// Proves how far any point is from optimal: f at these coordinates, and a lower bound on the minimum. Whoever
    /// found the point need not be trusted.
    ///
    /// ```
    /// use dualgap::linalg::Measured;
    /// use dualgap::methods::product::{Cuboid, Objective, Point, Product};
    ///
    /// struct Square; // ½‖x‖²
    /// impl Objective for Square {
    ///     fn value(&self, at: &Point) -> Measured {
    ///         Measured::rounded(at.coordinates().iter().map(|x| 0.5 * x * x).sum(), 5)
    ///     }
    ///     fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
    ///         out.copy_from_slice(at.block(block));
    ///         0.0 // nothing is rounded
    ///     }
    /// }
    ///
    /// let problem = Product::new(Square, vec![Cuboid::new(vec![1.0, -1.0], vec![2.0, 1.0])?])?;
    /// assert!(problem.certificate(vec![1.0, 0.0])?.gap_bound() < 1e-14);
    /// assert_eq!(problem.certificate(vec![1.5, 0.0])?.gap(), 0.75);
    /// assert!(problem.certificate(vec![0.5, 0.0]).is_err(), "this point is outside");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn certificate(&self, x: Vec<f64>) -> Result<Certificate> {
        self.evaluate(&self.point(x)?, |_| 0.0)?.certificate()
    }

    /// Evaluates a point whose image is fresh; `tolerance` is that of each block's query.
    pub(super) fn evaluate(
        &self,
        at: &Point,
        tolerance: impl Fn(usize) -> f64,
    ) -> Result<Evaluated> {
        let value = self.objective.value(at);
        let largest = self.starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
        let (mut gradient, mut corner) = (vec![0.0; largest], vec![0.0; largest]);
        let (mut lower, mut outside, mut basis) = (Sum::default(), 0.0, Some(Basis::Exact));
        lower.add_measured(value);
        for i in 0..self.blocks() {
            let dim = at.span(i).len();
            let (gradient, corner) = (&mut gradient[..dim], &mut corner[..dim]);
            let block = self.block_gap(at, i, tolerance(i), gradient, corner)?;
            lower.add_measured(Measured { value: -block.gap.value, error: block.gap.error });
            outside += block.outside;
            basis = basis.zip(block.basis).map(|(all, block)| all.weaker(block));
        }
        let value = Measured { error: value.error + outside * 1.000_001, ..value };
        Ok(Evaluated { value, lower: lower.total(), basis })
    }

    /// Returns the gap of block i, with all that may be lost to rounding.
    fn block_gap(
        &self,
        at: &Point,
        i: usize,
        tolerance: f64,
        gradient: &mut [f64],
        corner: &mut [f64],
    ) -> Result<BlockGap> {
        let (set, x, dim) = (&self.sets[i], at.block(i), gradient.len());
        let wrong = |message: String| Error::Unsound { message: format!("block {i}: {message}") };
        let (radius, defect) = (set.radius(), self.defect(at, i)?);
        let error = self.objective.gradient(at, i, gradient);
        if !(error >= 0.0 && error.is_finite() && gradient.iter().all(|g| g.is_finite())) {
            return Err(wrong(
                "the gradient, or the bound on its rounding, is no finite number".into(),
            ));
        }
        let bound = set.minimise(&Query { gradient, at: x, tolerance }, corner)?;
        let steepest = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        let norm: f64 = x.iter().map(|x| x.abs()).sum::<f64>() * (1.0 + gamma(dim));
        let product = |a: &[f64]| -> Sum {
            let mut sum = Sum::default();
            a.iter().zip(&*gradient).for_each(|(a, g)| sum.add_measured(rounded_product(*a, *g)));
            sum
        };
        let (mut gap, found) = (product(x), product(corner).total());
        let plain_sums = product_above(2.0 * gamma(dim), product_above(steepest, radius));
        let slack = plain_sums + found.error;
        match bound {
            Minimum::AtLeast(least) if least.is_finite() && least <= found.value + found.error => {
                gap.add(-least);
            }
            Minimum::AtLeast(least) => {
                return Err(wrong(format!(
                    "the oracle says that no inner product is below {least}, and found {}",
                    found.value
                )));
            }
            _ => gap.add_measured(Measured { value: -found.value, error: slack }),
        }
        let mut gap = if bound == Minimum::Approximate {
            gap.add(tolerance);
            gap.total().divided(set.nu())
        } else {
            gap.total()
        };
        if !gap.value.is_finite() {
            return Err(wrong("an inner product with the gradient is no finite number".into()));
        }
        // Rounding may take a gap of zero below it, and what lies outside of the set too.
        let below = gap.error + product_above(2.0 * MOST_DEFECT * radius, steepest);
        if gap.value < -below && bound != Minimum::Unknown {
            return Err(wrong(format!(
                "the oracle's point is worse than the current one by {:e}, so it is not the best of its set",
                -gap.value
            )));
        }
        // A gap is never negative, and a larger one never proves too much.
        gap.value = gap.value.max(0.0);
        gap.error += product_above(error, norm + radius);
        let outside = product_above(2.0 * defect, steepest + error);
        let basis = match bound {
            Minimum::Exact => Some(Basis::Exact),
            Minimum::AtLeast(_) => Some(Basis::Bounds),
            Minimum::Approximate => Some(Basis::Multiplicative(set.nu())),
            Minimum::Unknown => None,
        };
        Ok(BlockGap { gap, outside, basis })
    }
}

/// The gap of one block.
struct BlockGap {
    gap: Measured,
    /// What it costs that the point is not exactly in its set.
    outside: f64,
    basis: Option<Basis>,
}

fn rounded_product(a: f64, b: f64) -> Measured {
    if a == 0.0 || b == 0.0 { Measured::default() } else { Measured::rounded(a * b, 1) }
}
