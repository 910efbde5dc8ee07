//! All blocks as one block. A corner is a corner of every block, a point a point of every block.
//!
//! Block-coordinate Frank-Wolfe over one block is Frank-Wolfe, so the engine over [`Joined`] *is*
//! Algorithm 2 of the BCFW paper, with the same averages, certificates and witnesses as Algorithm 4.

use super::problem::masses;
use super::{Audit, Blocks, Found, NoIntercept, Plain, Quality};
use crate::linalg::kernels::dot;
use crate::linalg::underflow::product_above;
use crate::linalg::{Accumulate, Sum, UNDERFLOW, parallel};
use crate::run::Basis;
use crate::{Error, Result};

/// The blocks of `B` as one.
#[derive(Debug)]
pub struct Joined<'a, B> {
    blocks: &'a B,
    masses: Vec<f64>,
}

impl<'a, B: Blocks> Joined<'a, B> {
    /// Joins the blocks; their sample weights become part of the one block.
    pub fn new(blocks: &'a B, sample_weights: Option<&[f64]>) -> Result<Self> {
        Ok(Self { blocks, masses: masses(blocks.len(), sample_weights)? })
    }
}

/// The buffers of the one block.
pub struct JoinedScratch<S> {
    of_a_block: S,
    /// `Σ mass_i X_i (to_i − at_i)`.
    difference: Vec<f64>,
}

impl<B: Blocks> Blocks for Joined<'_, B> {
    type Visits = Plain;
    type Intercept = NoIntercept;
    type Corner = Vec<B::Corner>;
    type Point = Vec<B::Point>;
    type Scratch = JoinedScratch<B::Scratch>;

    fn len(&self) -> usize {
        usize::from(!self.blocks.is_empty())
    }

    fn dim(&self) -> usize {
        self.blocks.dim()
    }

    fn scratch(&self) -> Self::Scratch {
        JoinedScratch {
            of_a_block: self.blocks.scratch(),
            difference: vec![0.0; self.blocks.dim()],
        }
    }

    fn quality(&self) -> Quality {
        self.blocks.quality()
    }

    fn calls_per_step(&self) -> u64 {
        self.blocks.len() as u64 * self.blocks.calls_per_step()
    }

    fn start(&self, _: usize) -> Self::Point {
        (0..self.blocks.len()).map(|i| self.blocks.start(i)).collect()
    }

    fn best_corner(
        &self,
        _: usize,
        w: &[f64],
        corners: &mut Self::Corner,
        _: &mut Self::Scratch,
    ) -> Result<Found> {
        corners.resize_with(self.blocks.len(), B::Corner::default);
        self.blocks.search_ahead(&mut (0..corners.len()), w)?;
        let scratch = || self.blocks.scratch();
        let found: Vec<Found> = parallel::map_mut(corners, scratch, |scratch, i, corner| {
            self.blocks.best_corner(i, w, corner, scratch)
        })?;
        let total = |part: fn(&Found) -> f64| -> f64 {
            let terms = found.iter().zip(&self.masses).map(|(found, mass)| mass * part(found));
            terms.collect::<Sum>().total().value
        };
        // A compensated sum of infinities is NaN.
        let bounded = found.iter().all(|found| found.bound < f64::INFINITY);
        Ok(Found {
            value: total(|found| found.value),
            bound: if bounded { total(|found| found.bound) } else { f64::INFINITY },
            basis: found.iter().map(|found| found.basis).fold(Basis::Exact, Basis::weaker),
        })
    }

    fn rescore(&self, _: usize, _: &[f64], _: &mut Self::Scratch) {}

    fn difference(
        &self,
        _: usize,
        at: &Self::Point,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        scratch.difference.fill(0.0);
        let mut rise = Sum::default();
        for (i, (at, to)) in at.iter().zip(to).enumerate() {
            let mass = self.masses[i];
            rise.add(mass * self.blocks.difference(i, at, to, &mut scratch.of_a_block));
            self.blocks.displace(i, mass, &mut scratch.difference, &mut scratch.of_a_block);
        }
        rise.total().value
    }

    fn slope(&self, _: usize, w: &[f64], scratch: &mut Self::Scratch) -> f64 {
        dot(w, &scratch.difference)
    }

    fn curvature(&self, _: usize, scratch: &mut Self::Scratch) -> f64 {
        dot(&scratch.difference, &scratch.difference)
    }

    fn displace(
        &self,
        _: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut Self::Scratch,
    ) {
        out.add_run(0, &scratch.difference, factor);
    }

    fn mix(&self, _: usize, gamma: f64, at: &mut Self::Point, to: &Self::Corner) {
        for (i, (at, to)) in at.iter_mut().zip(to).enumerate() {
            self.blocks.mix(i, gamma, at, to);
        }
    }

    fn blend(&self, _: usize, share: f64, into: &mut Self::Point, from: &Self::Point) {
        for (i, (into, from)) in into.iter_mut().zip(from).enumerate() {
            self.blocks.blend(i, share, into, from);
        }
    }

    fn add(
        &self,
        _: usize,
        at: &Self::Point,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut Self::Scratch,
    ) {
        for (i, at) in at.iter().enumerate() {
            self.blocks.add(i, at, factor * self.masses[i], out, &mut scratch.of_a_block);
        }
    }

    fn audit(&self, _: usize, at: &Self::Point, scratch: &mut Self::Scratch) -> Result<Audit> {
        if at.len() != self.blocks.len() {
            let message = format!("it has {} points for {} blocks", at.len(), self.blocks.len());
            return Err(Error::Witness { example: 0, message });
        }
        let mut sum = Sum::default();
        let (mut reach, mut span) = (0.0, 0.0);
        for (i, at) in at.iter().enumerate() {
            let audit = self.blocks.audit(i, at, &mut scratch.of_a_block)?;
            sum.add_measured(audit.dual.scaled(self.masses[i]));
            // A block's own reach allows for one product with its factor; here there are two.
            reach += product_above(self.masses[i], audit.reach) * 2.0;
            span += audit.span * 2.0;
        }
        let mut dual = sum.total();
        // The masses themselves are rounded.
        dual.error += dual.value.abs() * 4.0 * f64::EPSILON;
        Ok(Audit { dual, reach, span })
    }

    fn rounding(&self, _: usize, w: &[f64], largest_weight: f64) -> f64 {
        let own: f64 = self
            .masses
            .iter()
            .enumerate()
            .map(|(i, &mass)| product_above(mass, self.blocks.rounding(i, w, largest_weight)))
            .sum();
        // The factor of two covers masses, products and their sum: the blocks' own rounding is far larger. Underflow is
        // added apart.
        let vanished = if own == 0.0 && largest_weight == 0.0 { 0.0 } else { UNDERFLOW };
        own * 2.0 + self.masses.len() as f64 * vanished
    }
}
