//! The blocks and what each of them counts: the sums of a certificate over all of them, before the regulariser has its say.
//!
//! ```text
//! Σ mass_i max_y …(w),     Σ mass_i ℓ_i(α_i),     (1/λ) Σ mass_i X_i α_i
//! ```
//!
//! No link is needed here, so that searches and audits, which are most of a certificate, are compiled once for a kind of block.

use super::Blocks;
use super::partial::{Mean, SomeDual, SomeLosses};
use crate::Result;
use crate::linalg::underflow::product_above;
use crate::linalg::{CompensatedVec, Sum, UNDERFLOW, parallel};
use crate::term::Readable;
use std::borrow::Borrow;
use std::ops::Range;

/// Receives the corner that was found in a block, and may keep it.
pub(crate) type Take<'a, C> = &'a (dyn Fn(usize, &mut C) + Sync);

/// The most parts that searches are split into, of at most so many blocks each.
const SEARCH_PARTS: usize = 256;
const MOST_SEARCHES: usize = 1024;

/// Blocks with their masses.
#[derive(Debug)]
pub(super) struct Weighed<'a, B> {
    blocks: &'a B,
    pub masses: Vec<f64>,
    /// `mass_i / λ`: the factor of `X_i α_i` in v. A division saved in every step.
    pub scales: Vec<f64>,
}

impl<'a, B: Blocks> Weighed<'a, B> {
    pub fn new(blocks: &'a B, masses: Vec<f64>, lambda: f64) -> Self {
        let scales = scales(&masses, lambda);
        Self { blocks, masses, scales }
    }

    /// Replaces λ.
    pub fn rescale(&mut self, lambda: f64) {
        self.scales = scales(&self.masses, lambda);
    }

    /// Returns the sum of the losses at w, with one search for a corner in every block.
    pub fn losses(
        &self,
        w: &Readable<'_>,
        points: Option<&[B::Point]>,
        take: Option<Take<'_, B::Corner>>,
    ) -> Result<SomeLosses> {
        let (w, off) = (&w.values[..], w.error);
        self.blocks.search_ahead(&mut (0..self.blocks.len()), w)?;
        let largest = w.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
        let near = (largest, off);
        let n = self.blocks.len();
        let least = n.div_ceil(self.blocks.least_searches());
        let parts = n.div_ceil(MOST_SEARCHES).max(least.min(SEARCH_PARTS));
        let mut all = SomeLosses::default();
        let buffers = || (self.blocks.scratch(), B::Corner::default());
        // In parts of a fixed size, so that the sum does not depend on the number of threads.
        let mut ranges: Vec<Range<usize>> = parallel::ranges(n, parts).collect();
        let parts = parallel::map_mut(&mut ranges, buffers, |(scratch, corner), _, range| {
            let mut some = SomeLosses::default();
            for i in range.clone() {
                let (found, error) = match take {
                    Some(_) => {
                        let found = self.blocks.best_corner(i, w, corner, scratch)?;
                        (found, self.blocks.rounding_near(i, w, near.0, near.1))
                    }
                    None => self.blocks.largest_loss(i, w, near, corner, scratch)?,
                };
                if let Some(at) = points.and_then(|points| points.get(i)) {
                    self.blocks.challenge(i, at, w, corner, &found)?;
                }
                if let Some(take) = take {
                    take(i, corner);
                }
                some.add(found, error, self.masses[i]);
            }
            Ok(some)
        })?;
        parts.iter().for_each(|some| all.add_losses(some));
        Ok(all)
    }

    /// Returns v at these points, by a compensated sum.
    pub fn image(&self, points: &[B::Point]) -> CompensatedVec {
        let part = |range: Range<usize>| {
            let mut scratch = self.blocks.scratch();
            let mut v = CompensatedVec::zeros(self.blocks.dim());
            for i in range {
                self.blocks.add(i, &points[i], self.scales[i], &mut v, &mut scratch);
            }
            Ok(v)
        };
        let parts = parallel::map_ranges(points.len(), self.blocks.image_parts(), part);
        let all = parts.unwrap_or_default().into_iter().reduce(|mut all, part| {
            all.add_sum(&part);
            all
        });
        all.unwrap_or_else(|| CompensatedVec::zeros(self.blocks.dim()))
    }

    /// Returns the sum of the dual values and v, or an error if a point is infeasible.
    pub fn dual(&self, points: &[B::Point]) -> Result<SomeDual> {
        let parts = self.blocks.image_parts();
        let mut parts = parallel::map_ranges(points.len(), parts, |range| {
            self.dual_of(range.clone(), points[range].iter())
        })?;
        let rest = parts.split_off(1);
        let mut all = parts.swap_remove(0);
        rest.iter().for_each(|part| all.add_dual(part));
        Ok(all)
    }

    /// Returns `Σ mass_i dual_i(α_i)` without v and without bounds on its rounding.
    pub fn terms(&self, points: &[B::Point]) -> Result<f64> {
        let (mut scratch, mut sum) = (self.blocks.scratch(), Sum::default());
        for (i, (at, mass)) in points.iter().zip(&self.masses).enumerate() {
            sum.add(mass * self.blocks.audit(i, at, &mut scratch)?.dual.value);
        }
        Ok(sum.total().value)
    }

    /// Audits these blocks.
    pub fn dual_of<P: Borrow<B::Point>>(
        &self,
        range: Range<usize>,
        points: impl Iterator<Item = P>,
    ) -> Result<SomeDual> {
        let mut scratch = self.blocks.scratch();
        let mut v = CompensatedVec::zeros(self.blocks.dim());
        let (mut mean, mut reach, mut spans) = (Mean::default(), 0.0, 0.0);
        for (i, at) in range.zip(points) {
            let at = at.borrow();
            let audit = self.blocks.audit(i, at, &mut scratch)?;
            mean.add(audit.dual, self.masses[i]);
            reach += product_above(self.scales[i], audit.reach);
            spans += audit.span + audit.reach;
            self.blocks.add(i, at, self.scales[i], &mut v, &mut scratch);
        }
        // mass/λ itself may have underflowed. One product for all examples: those with subnormal numbers are slow.
        reach += product_above(UNDERFLOW, spans * 1.000_001);
        Ok(SomeDual { mean, reach, v })
    }
}

fn scales(masses: &[f64], lambda: f64) -> Vec<f64> {
    masses.iter().map(|mass| mass / lambda).collect()
}
