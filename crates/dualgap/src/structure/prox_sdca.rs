//! Prox-SDCA for structured output, section 3.3 of the paper: steps whose length is a closed form.
//!
//! A step goes toward the corner y that the oracle finds, as in block-coordinate Frank-Wolfe. With gap_i the gap of the
//! block there, β the weight that its point has on y already, R_i ≥ ‖φ(x_i, ·)‖ and R the largest of them, its share of
//! the segment is
//!
//! ```text
//! II    the best one: the line search
//! III   min(1, gap_i / (4(1 − β)² R_i² mass_i/λ))
//! IV    min(1, gap_i / (4R² mass_i/λ))                the box of the paper: 2 bounds ‖z‖₁ there
//! IV-lipschitz   min(1, gap_i / (16R² mass_i/λ))      4L² in the place of ‖z‖₁², for L = 2, as in its theorem
//! ```
//!
//! The box has P_i + D_i + λn⟨w, w_i⟩ for gap_i and 1/n for mass_i, and as printed no minimum: its share can exceed one.
//! ‖φ(x_i, y) − φ(x_i, y')‖ is at most 2R_i, and the point differs from the corner by 1 − β of such a difference at most,
//! so no step is longer than the best one.

use super::linear::Choice;
use super::posed::{Posed, Posing};
use crate::dual::{
    ActiveSetBlocks, Audit, Blocks, Found, NoIntercept, Plain, Quality, View, Witnessed,
};
use crate::linalg::Accumulate;
use crate::{Error, Result, Setting};

/// Blocks that know how long their feature vectors can be.
pub trait Radius: ActiveSetBlocks {
    /// Returns R_i: no two corners of the block are further apart than twice this. `None` if nothing is known.
    fn radius(&self, i: usize) -> Option<f64>;
}

/// The blocks of a structure with the steps of Prox-SDCA.
///
/// ```
/// use dualgap::data::Sequences;
/// use dualgap::dual::{self, Settings};
/// use dualgap::run::Budget;
/// use dualgap::structure::{ChainBlocks, Choice, Hamming, ProxSdca};
/// let names = ["a", "b"].map(String::from);
/// let words = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
/// let data = Sequences::from_dense(&[words], &[vec![0, 1]], &names)?;
/// let blocks = ProxSdca::new(ChainBlocks::new(&data, Hamming::Plain)?, Choice::IV)?;
/// let settings = Settings { lambda: 0.5, ..Settings::default() };
/// let report = dual::train(&blocks, &settings, &Budget::relative(0.01), &mut ())?;
/// assert!(report.certificate.relative_gap() <= 0.01);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct ProxSdca<B> {
    blocks: B,
    choice: Choice,
    /// 4R_i² of every block, and the largest of them.
    spans: Vec<f64>,
    largest: f64,
}

/// Returns an error for options that structures do not have.
pub(crate) fn check_choice(choice: Choice) -> Result<()> {
    if matches!(choice, Choice::II | Choice::III | Choice::IV | Choice::IVLipschitz) {
        return Ok(());
    }
    Err(Error::setting(format!(
        "structures have the options II, III and IV (also with 4L²) of Prox-SDCA: take {} ii, iii, iv or iv-lipschitz; option I is for one \
         number or a few scores, and option V for smooth losses",
        Setting::Option
    )))
}

impl<B: Radius> ProxSdca<B> {
    /// Returns an error for options that are not of this section, and for blocks that do not know their radius.
    pub fn new(blocks: B, choice: Choice) -> Result<Self> {
        check_choice(choice)?;
        let unknown = "this oracle does not know how long its features can be: it needs a radius or an extent";
        let span = |i: usize| match blocks.radius(i) {
            Some(radius) if radius >= 0.0 && radius.is_finite() => Ok(4.0 * radius * radius),
            Some(radius) => {
                Err(Error::Oracle { example: i, message: format!("a radius of {radius}") })
            }
            None if choice == Choice::II => Ok(0.0),
            None => Err(Error::setting(unknown)),
        };
        let spans: Vec<f64> = (0..blocks.len()).map(span).collect::<Result<_>>()?;
        let largest = spans.iter().copied().fold(0.0, f64::max);
        Ok(Self { blocks, choice, spans, largest })
    }
}

impl<B: Radius> Blocks for ProxSdca<B> {
    type Visits = Plain;
    type Intercept = NoIntercept;
    type Corner = B::Corner;
    type Point = B::Point;
    type Scratch = B::Scratch;

    fn step_length(
        &self,
        i: usize,
        at: &B::Point,
        to: &B::Corner,
        view: &View<'_>,
        scratch: &mut B::Scratch,
    ) -> f64 {
        let rise = self.blocks.difference(i, at, to, scratch);
        if !view.fresh {
            self.blocks.rescore(i, view.w, scratch);
        }
        let gap = rise - self.blocks.slope(i, view.w, scratch);
        if gap.is_nan() {
            return gap;
        }
        if gap <= 0.0 {
            return 0.0;
        }
        let curvature = match self.choice {
            Choice::III => {
                let rest = 1.0 - self.blocks.weight(i, at, to);
                rest * rest * self.spans[i]
            }
            Choice::IV => self.largest,
            Choice::IVLipschitz => 4.0 * self.largest,
            _ => self.blocks.curvature(i, scratch),
        };
        if curvature > 0.0 { (gap / (view.scale * curvature)).min(1.0) } else { 1.0 }
    }

    // All else is that of the blocks.

    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn dim(&self) -> usize {
        self.blocks.dim()
    }

    fn numbers(&self) -> usize {
        self.blocks.numbers()
    }

    fn scratch(&self) -> B::Scratch {
        self.blocks.scratch()
    }

    fn calls_per_step(&self) -> u64 {
        self.blocks.calls_per_step()
    }

    fn importance(&self, i: usize) -> f64 {
        self.blocks.importance(i)
    }

    fn smoothness(&self) -> f64 {
        self.blocks.smoothness()
    }

    fn quality(&self) -> Quality {
        self.blocks.quality()
    }

    fn challenge(
        &self,
        i: usize,
        at: &B::Point,
        w: &[f64],
        corner: &B::Corner,
        found: &Found,
    ) -> Result<()> {
        self.blocks.challenge(i, at, w, corner, found)
    }

    fn search_ahead(&self, blocks: &mut dyn Iterator<Item = usize>, w: &[f64]) -> Result<()> {
        self.blocks.search_ahead(blocks, w)
    }

    fn start(&self, i: usize) -> B::Point {
        self.blocks.start(i)
    }

    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut B::Corner,
        scratch: &mut B::Scratch,
    ) -> Result<Found> {
        self.blocks.best_corner(i, w, corner, scratch)
    }

    fn corner_at_quotient(
        &self,
        i: usize,
        w: &[f64],
        divisor: f64,
        corner: &mut B::Corner,
        scratch: &mut B::Scratch,
    ) -> Result<bool> {
        self.blocks.corner_at_quotient(i, w, divisor, corner, scratch)
    }

    fn aim(
        &self,
        i: usize,
        at: &B::Point,
        view: &View<'_>,
        corner: &mut B::Corner,
        scratch: &mut B::Scratch,
    ) -> Result<()> {
        self.blocks.aim(i, at, view, corner, scratch)
    }

    fn rescore(&self, i: usize, w: &[f64], scratch: &mut B::Scratch) {
        self.blocks.rescore(i, w, scratch);
    }

    fn difference(&self, i: usize, at: &B::Point, to: &B::Corner, scratch: &mut B::Scratch) -> f64 {
        self.blocks.difference(i, at, to, scratch)
    }

    fn slope(&self, i: usize, w: &[f64], scratch: &mut B::Scratch) -> f64 {
        self.blocks.slope(i, w, scratch)
    }

    fn curvature(&self, i: usize, scratch: &mut B::Scratch) -> f64 {
        self.blocks.curvature(i, scratch)
    }

    fn displace(&self, i: usize, factor: f64, out: &mut impl Accumulate, scratch: &mut B::Scratch) {
        self.blocks.displace(i, factor, out, scratch);
    }

    fn gap(
        &self,
        i: usize,
        at: &B::Point,
        w: &[f64],
        corner: &B::Corner,
        scratch: &mut B::Scratch,
    ) -> f64 {
        self.blocks.gap(i, at, w, corner, scratch)
    }

    fn mix(&self, i: usize, gamma: f64, at: &mut B::Point, to: &B::Corner) {
        self.blocks.mix(i, gamma, at, to);
    }

    fn blend(&self, i: usize, share: f64, into: &mut B::Point, from: &B::Point) {
        self.blocks.blend(i, share, into, from);
    }

    fn add(
        &self,
        i: usize,
        at: &B::Point,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut B::Scratch,
    ) {
        self.blocks.add(i, at, factor, out, scratch);
    }

    fn audit(&self, i: usize, at: &B::Point, scratch: &mut B::Scratch) -> Result<Audit> {
        self.blocks.audit(i, at, scratch)
    }

    fn rounding(&self, i: usize, w: &[f64], largest_weight: f64) -> f64 {
        self.blocks.rounding(i, w, largest_weight)
    }
}

impl<B: Radius + Witnessed> Witnessed for ProxSdca<B> {
    const REBUILT: bool = B::REBUILT;

    fn entries(&self, at: &B::Point, outputs: &mut Vec<u8>) -> Vec<(u64, f64)> {
        self.blocks.entries(at, outputs)
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, outputs: &[u8]) -> Result<B::Point> {
        self.blocks.point(i, entries, outputs)
    }
}

/// Poses a problem under a ridge, with the steps of Prox-SDCA if an option of it was asked for.
pub(crate) fn stepped<'d, B: Radius + Witnessed + 'd>(
    blocks: B,
    posing: &Posing<'_>,
) -> Result<Posed<'d>> {
    match posing.choice {
        None => Ok(Posed::penalised(blocks, posing)),
        Some(choice) => Ok(Posed::penalised(ProxSdca::new(blocks, choice)?, posing)),
    }
}
