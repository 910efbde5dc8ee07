//! The certificate of a pure l1 problem, whichever solver moves the weights.

use super::super::proximal_point::OuterProblem;
use super::super::{Best, Blocks, Settings};
use crate::Result;
use crate::run::Certificate;
use crate::term::{Free, PureL1};

/// A dual point is scaled down a little further than necessary, so that no rounding makes it infeasible.
const MARGIN: f64 = 1e-13;

/// The l1 problem, which certifies weights and points that any solver has found.
pub(crate) struct L1Certificate<'a, B: Blocks> {
    outer: OuterProblem<'a, B, PureL1>,
}

impl<'a, B: Blocks> L1Certificate<'a, B> {
    /// Returns the problem with the l1 norm of the settings' regulariser alone.
    pub fn new(blocks: &'a B, settings: &Settings) -> Result<Self> {
        let (sigma, nonnegative) = (settings.regulariser.l1, settings.regulariser.nonnegative);
        let outer = OuterProblem::new(blocks, PureL1 { nonnegative }, sigma, settings)?;
        Ok(Self { outer })
    }

    /// Returns the best pair before the first certification.
    pub fn start(&self) -> Result<Best<B::Point>> {
        let blocks = self.outer.blocks();
        let start: Vec<B::Point> = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        Ok(Best::new(self.outer.dual(&start)?.value, Some(start)))
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
        points: &[B::Point],
        best: &mut Best<B::Point>,
    ) -> Result<Certificate> {
        let balanced = self.outer.balanced(points)?;
        let points = balanced.as_deref().unwrap_or(points);
        let mut image = self.outer.image(points);
        if let Some(free) = self.free() {
            image[free.column] = 0.0;
        }
        self.certify_within(w, points, self.outer.link().reach(&image), best)
    }

    /// [`certify`](Self::certify) for points whose largest |Σ mass_i X_i α_i|_j, in units of σ, is known up to rounding, and
    /// which are balanced if a weight is free.
    pub fn certify_within(
        &self,
        w: Vec<f64>,
        points: &[B::Point],
        reach: f64,
        best: &mut Best<B::Point>,
    ) -> Result<Certificate> {
        let (w, blocks) = (self.outer.bounded(w), self.outer.blocks());
        let primal = self.outer.primal(&w)?;
        // The starting point has the image zero, so the image of its mixture with a point is that of the point, scaled.
        let scaled = |margin: f64| -> Vec<B::Point> {
            let t = (1.0 / reach).min(1.0) * (1.0 - margin);
            let mixed = |(i, point)| {
                let mut mixed = blocks.start(i);
                blocks.blend(i, t, &mut mixed, point);
                mixed
            };
            points.iter().enumerate().map(mixed).collect()
        };
        // The larger the inputs are compared with σ, the more rounding the margin must cover. Twice what a sample says is nearly always
        // enough; another try takes another pass over the data. A point that the sample refuses is refused below, with its reason.
        let distance = self.outer.distance(points).unwrap_or(0.0) * (1.0 / reach).min(1.0);
        let mut margin = MARGIN.max(2.0 * distance).min(1.0);
        let (dual, scaled) = loop {
            let scaled = scaled(margin);
            let dual = self.outer.dual(&scaled)?.value;
            if dual.value.is_finite() || margin >= 1.0 {
                break (dual, scaled);
            }
            margin = (margin * 10.0).min(1.0);
        };
        let iterate = primal.certificate(dual)?;
        best.offer_primal(primal, || w);
        best.offer_dual(dual, &scaled);
        Ok(iterate)
    }

    /// Recomputes the values of a best pair.
    pub fn prove(&self, best: &mut Best<B::Point>) -> Result<()> {
        self.outer.prove(best)
    }
}
