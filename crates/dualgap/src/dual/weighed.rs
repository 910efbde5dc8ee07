//! The blocks and what each of them counts: the sums of a certificate over all of them, before the regulariser has its say.
//!
//! ```text
//! Σ mass_i max_y …(w),     Σ mass_i ℓ_i(α_i),     (1/λ) Σ mass_i X_i α_i
//! ```
//!
//! No link is needed here, so that searches and audits, which are most of a certificate, are compiled once for a kind of block.

use super::masses::Masses;
use super::partial::{Mean, SomeDual, SomeLosses};
use super::{Blocks, TOGETHER};
use crate::Result;
use crate::linalg::slices::{self, Terms};
use crate::linalg::underflow::product_above;
use crate::linalg::{Accumulate, CompensatedVec, Sum, UNDERFLOW, parallel};
use crate::term::Readable;
use std::borrow::Borrow;
use std::ops::Range;

/// Receives the corner that was found in a block, and may keep it.
pub(crate) type Take<'a, C> = &'a (dyn Fn(usize, &mut C) + Sync);

/// The most parts that searches are split into, of at most so many blocks each.
const SEARCH_PARTS: usize = 256;
const MOST_SEARCHES: usize = 1024;

/// About as many blocks are enough to know the order of a sum over all.
const SAMPLE: usize = 256;

/// Blocks with their masses.
#[derive(Debug)]
pub(super) struct Weighed<'a, B> {
    blocks: &'a B,
    pub masses: Masses,
    /// `mass_i / λ`: the factor of `X_i α_i` in v. A division saved in every step.
    pub scales: Masses,
}

impl<'a, B: Blocks> Weighed<'a, B> {
    pub fn new(blocks: &'a B, masses: Masses, lambda: f64) -> Self {
        let scales = masses.over(lambda);
        Self { blocks, masses, scales }
    }

    /// Replaces λ.
    pub fn rescale(&mut self, lambda: f64) {
        self.scales = self.masses.over(lambda);
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
        let least = n.div_ceil(self.blocks.workload().searches);
        let parts = n.div_ceil(MOST_SEARCHES).max(least.min(SEARCH_PARTS));
        let mut all = SomeLosses::default();
        let buffers = || (self.blocks.scratch(), B::Corner::default());
        // In parts of a fixed size, so that the sum does not depend on the number of threads.
        let mut ranges: Vec<Range<usize>> = parallel::ranges(n, parts).collect();
        let parts = parallel::map_mut(&mut ranges, buffers, |(scratch, corner), _, range| {
            let mut some = SomeLosses::default();
            if take.is_none() && self.exact_losses(range.clone(), w, off, &mut some) {
                return Ok(some);
            }
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
                some.add(found, error, self.masses.of(i));
            }
            Ok(some)
        })?;
        parts.iter().for_each(|some| all.add_losses(some));
        Ok(all)
    }

    /// Adds the losses of these blocks, if they are computed several at once; returns whether they are.
    fn exact_losses(
        &self,
        range: Range<usize>,
        w: &[f64],
        off: f64,
        some: &mut SomeLosses,
    ) -> bool {
        let (mut found, mut masses) = ([[0.0; TOGETHER]; 2], [0.0; TOGETHER]);
        for first in range.clone().step_by(TOGETHER) {
            let count = TOGETHER.min(range.end - first);
            let [values, errors] = found.each_mut().map(|numbers| &mut numbers[..count]);
            if !self.blocks.exact_losses(first, w, off, [values, errors]) {
                return false;
            }
            let masses = self.masses.of_all(first..first + count, &mut masses);
            some.add_all(values, errors, masses);
        }
        true
    }

    /// Returns v at these points, by a compensated sum.
    pub fn image(&self, points: &[B::Point]) -> CompensatedVec {
        let parts = self.blocks.workload().image_parts;
        if parts < 2 {
            let image = Image { weighed: self, points };
            return slices::sum(self.blocks.dim(), points.len(), &image);
        }
        let part = |range: Range<usize>| {
            let mut v = CompensatedVec::zeros(self.blocks.dim());
            Image { weighed: self, points }.add_to(&mut { range }, &mut v);
            Ok(v)
        };
        let parts = parallel::map_ranges(points.len(), parts, part);
        let all = parts.unwrap_or_default().into_iter().reduce(|mut all, part| {
            all.add_sum(&part);
            all
        });
        all.unwrap_or_else(|| CompensatedVec::zeros(self.blocks.dim()))
    }

    /// Returns the sum of the dual values and v, or an error if a point is infeasible.
    pub fn dual(&self, points: &[B::Point]) -> Result<SomeDual> {
        let parts = self.blocks.workload().image_parts;
        if parts < 2 && slices::shares(points.len()) {
            return self.dual_in_slices(points);
        }
        let mut parts = parallel::map_ranges(points.len(), parts, |range| {
            self.dual_of(range.clone(), points[range].iter())
        })?;
        let rest = parts.split_off(1);
        let mut all = parts.swap_remove(0);
        rest.iter().for_each(|part| all.add_dual(part));
        Ok(all)
    }

    /// [`dual_of`](Self::dual_of) all blocks, to the last bit, on all threads: audits come in parts, and v in
    /// [slices](slices::sum).
    fn dual_in_slices(&self, points: &[B::Point]) -> Result<SomeDual> {
        let runs: Vec<&[B::Point]> = points.chunks(TOGETHER).collect();
        let parts = parallel::map(
            runs.len(),
            || self.blocks.scratch(),
            |scratch, k| {
                let mut sums = DualSums::default();
                sums.audit(self, k * TOGETHER, runs[k], scratch).map(|()| sums)
            },
        )?;
        let mut sums = DualSums::default();
        parts.iter().for_each(|part| sums.add(part));
        Ok(sums.with(self.image(points)))
    }

    /// Returns `Σ mass_i dual_i(α_i)` without v and without bounds on its rounding.
    pub fn terms(&self, points: &[B::Point]) -> Result<f64> {
        let (mut scratch, mut sum) = (self.blocks.scratch(), Sum::default());
        for (i, (at, mass)) in points.iter().zip(self.masses.iter()).enumerate() {
            sum.add(mass * self.blocks.audit(i, at, &mut scratch)?.dual.value);
        }
        Ok(sum.total().value)
    }

    /// Estimates, from a sample of the blocks, how far v at these points is from its exact value.
    pub fn distance(&self, points: &[B::Point]) -> Result<f64> {
        let (mut scratch, mut sum, mut count) = (self.blocks.scratch(), 0.0, 0.0);
        for i in (0..points.len()).step_by((points.len() / SAMPLE).max(1)) {
            let audit = self.blocks.audit(i, &points[i], &mut scratch)?;
            (sum, count) = (sum + self.scales.of(i) * audit.reach, count + 1.0);
        }
        Ok(sum * points.len() as f64 / f64::max(count, 1.0))
    }

    /// Audits these blocks.
    pub fn dual_of<P: Borrow<B::Point>>(
        &self,
        range: Range<usize>,
        points: impl Iterator<Item = P>,
    ) -> Result<SomeDual> {
        let mut scratch = self.blocks.scratch();
        let mut v = CompensatedVec::zeros(self.blocks.dim());
        let (mut sums, mut run) = (DualSums::default(), Vec::with_capacity(TOGETHER));
        let mut points = points.fuse();
        for first in range.step_by(TOGETHER) {
            run.clear();
            run.extend(points.by_ref().take(TOGETHER));
            let mut part = DualSums::default();
            part.audit(self, first, &run, &mut scratch)?;
            sums.add(&part);
            for (i, at) in (first..).zip(&run) {
                self.blocks.add(i, at.borrow(), self.scales.of(i), &mut v, &mut scratch);
            }
        }
        Ok(sums.with(v))
    }
}

/// `(1/λ) Σ mass_i X_i α_i`, term by term.
struct Image<'w, 'a, B: Blocks> {
    weighed: &'w Weighed<'a, B>,
    points: &'w [B::Point],
}

impl<B: Blocks> Terms for Image<'_, '_, B> {
    fn add_to(&self, terms: &mut dyn Iterator<Item = usize>, out: &mut impl Accumulate) {
        let Weighed { blocks, scales, .. } = self.weighed;
        let mut scratch = blocks.scratch();
        for i in terms {
            blocks.add(i, &self.points[i], scales.of(i), out, &mut scratch);
        }
    }
}

/// The sums of a dual value over some of the blocks, without v.
#[derive(Default)]
struct DualSums {
    mean: Mean,
    reach: f64,
    spans: f64,
}

impl DualSums {
    /// Audits up to [`TOGETHER`] neighbouring blocks, of which this is the first.
    fn audit<B: Blocks, P: Borrow<B::Point>>(
        &mut self,
        weighed: &Weighed<'_, B>,
        first: usize,
        points: &[P],
        scratch: &mut B::Scratch,
    ) -> Result<()> {
        let (mut found, mut buffers) = ([[0.0; TOGETHER]; 4], [[0.0; TOGETHER]; 2]);
        let [values, errors, reaches, spans] =
            found.each_mut().map(|numbers| &mut numbers[..points.len()]);
        let out = [&mut *values, &mut *errors, &mut *reaches, &mut *spans];
        weighed.blocks.audits(first, points, out, scratch)?;
        let blocks = first..first + points.len();
        let [masses, scales] = &mut buffers;
        self.mean.add_all(values, errors, weighed.masses.of_all(blocks.clone(), masses));
        let scales = weighed.scales.of_all(blocks, scales);
        for ((reach, span), scale) in reaches.iter().zip(spans).zip(scales) {
            self.reach += product_above(*scale, *reach);
            self.spans += *span + reach;
        }
        Ok(())
    }

    fn add(&mut self, other: &Self) {
        self.mean.add_mean(&other.mean);
        self.reach += other.reach;
        self.spans += other.spans;
    }

    fn with(self, v: CompensatedVec) -> SomeDual {
        // mass/λ itself may have underflowed. One product for all examples: those with subnormal numbers are slow.
        let reach = self.reach + product_above(UNDERFLOW, self.spans * 1.000_001);
        SomeDual { mean: self.mean, reach, v }
    }
}
