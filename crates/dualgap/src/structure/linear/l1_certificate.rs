//! The certificate of a pure l1 problem, whichever solver moves the weights; see `pure_l1.rs`.

use super::LinearBlocks;
use crate::Result;
use crate::dual::proximal_point::OuterProblem;
use crate::dual::{Best, Settings};
use crate::run::Certificate;
use crate::term::{Free, Loss, PureL1};

/// A dual point is scaled down a little further than necessary, so that no rounding makes it infeasible.
const MARGIN: f64 = 1e-13;

/// The l1 problem, which certifies weights and points that any solver has found.
pub(super) struct L1Certificate<'a, 'b, L: Loss> {
    outer: OuterProblem<'a, LinearBlocks<'b, L>, PureL1>,
    sigma: f64,
}

impl<'a, 'b, L: Loss> L1Certificate<'a, 'b, L> {
    /// Returns the problem with the l1 norm of the settings' regulariser alone.
    pub fn new(blocks: &'a LinearBlocks<'b, L>, settings: &Settings) -> Result<Self> {
        let (sigma, nonnegative) = (settings.regulariser.l1, settings.regulariser.nonnegative);
        let outer = OuterProblem::new(blocks, PureL1 { nonnegative }, sigma, settings)?;
        Ok(Self { outer, sigma })
    }

    /// Returns the best pair before the first certification.
    pub fn start(&self) -> Result<Best<f64>> {
        let start = vec![0.0; self.outer.blocks().targets().len()];
        Ok(Best::new(self.outer.dual(&start)?.value, Some(start)))
    }

    /// Returns the soft threshold of a weight, and whether it may be negative.
    pub fn rule(&self, j: usize) -> (f64, bool) {
        match self.outer.free() {
            Some(free) if free.column == j => (0.0, true),
            _ => (self.sigma, !self.outer.link().nonnegative),
        }
    }

    /// Returns the weight that is not penalised, if there is one.
    pub fn free(&self) -> Option<Free> {
        self.outer.free()
    }

    /// Returns the weights with the free one within its bound.
    pub fn bounded(&self, w: Vec<f64>) -> Vec<f64> {
        self.outer.bounded(w)
    }

    /// Offers these weights and points to the best pair, and returns their own certificate.
    pub fn certify(
        &self,
        w: Vec<f64>,
        points: &[f64],
        best: &mut Best<f64>,
    ) -> Result<Certificate> {
        let w = self.outer.bounded(w);
        let primal = self.outer.primal(&w)?;
        let balanced = self.outer.balanced(points)?;
        let points = balanced.as_deref().unwrap_or(points);
        let mut image = self.outer.image(points);
        if let Some(free) = self.free() {
            image[free.column] = 0.0;
        }
        let reach = self.outer.link().reach(&image);
        let scaled = |margin: f64| -> Vec<f64> {
            let t = (1.0 / reach).min(1.0) * (1.0 - margin);
            points.iter().map(|alpha| t * alpha).collect()
        };
        // The larger the inputs are compared with σ, the more rounding the margin must cover.
        let mut margin = MARGIN;
        let (dual, scaled) = loop {
            let scaled = scaled(margin);
            let dual = self.outer.dual(&scaled)?.value;
            if dual.value.is_finite() || margin >= 1.0 {
                break (dual, scaled);
            }
            margin = (margin * 10.0).min(1.0);
        };
        let iterate = Certificate::new(primal.value, dual, primal.certified)?;
        best.offer_primal(primal, || w);
        best.offer_dual(dual, &scaled);
        Ok(iterate)
    }

    /// Recomputes the values of a best pair.
    pub fn prove(&self, best: &mut Best<f64>) -> Result<()> {
        self.outer.prove(best)
    }
}
