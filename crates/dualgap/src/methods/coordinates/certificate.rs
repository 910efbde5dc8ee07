//! The certificate: that of the l1 norm alone, or of an elastic net.

use crate::Result;
use crate::dual::proximal_point::OuterProblem;
use crate::dual::pure_l1::L1Certificate;
use crate::dual::{Best, Blocks, Settings};
use crate::linalg::Measured;
use crate::run::Certificate;
use crate::term::{ElasticNet, Free};

/// The problem that is certified.
pub enum Certifier<'a, B: Blocks> {
    /// λ = 0: dual points are scaled until they are feasible.
    Lasso(L1Certificate<'a, B>),
    /// λ > 0: every dual point is feasible.
    Net(OuterProblem<'a, B, ElasticNet>),
}

impl<'a, B: Blocks> Certifier<'a, B> {
    pub fn new(blocks: &'a B, problem: &Settings) -> Result<Self> {
        if problem.lambda == 0.0 {
            return Ok(Self::Lasso(L1Certificate::new(blocks, problem)?));
        }
        let link = problem.regulariser.link(problem.lambda)?;
        Ok(Self::Net(OuterProblem::new(blocks, link, problem.lambda, problem)?))
    }

    /// Returns the best pair before the first certification, whose dual value is not worth a pass over the data.
    pub fn start(&self, blocks: &B) -> Result<Best<B::Point>> {
        let start: Vec<B::Point> = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        let start = match self {
            Self::Lasso(_) => start,
            Self::Net(outer) => outer.balanced(&start)?.unwrap_or(start),
        };
        let unknown = Measured { value: f64::NEG_INFINITY, error: 0.0 };
        Ok(Best::new(unknown, Some(start)))
    }

    pub fn free(&self) -> Option<Free> {
        match self {
            Self::Lasso(certificate) => certificate.free(),
            Self::Net(outer) => outer.free(),
        }
    }

    /// Returns the weights of dual points, if they have any.
    pub fn weights(&self, points: &[B::Point]) -> Option<Vec<f64>> {
        match self {
            Self::Lasso(_) => None,
            Self::Net(outer) => Some(outer.weights(&outer.image(points))),
        }
    }

    /// Whether a certificate needs the largest slope of the losses along a weight at the dual point.
    pub fn is_scaled(&self) -> bool {
        matches!(self, Self::Lasso(certificate) if certificate.free().is_none())
    }

    /// Offers these weights and points to the best pair, and returns their own certificate. `reach` is the largest slope in
    /// units of σ, if it is asked for.
    pub fn certify(
        &self,
        w: Vec<f64>,
        points: Vec<B::Point>,
        reach: f64,
        best: &mut Best<B::Point>,
    ) -> Result<Certificate> {
        let outer = match self {
            Self::Lasso(certificate) if self.is_scaled() => {
                return certificate.certify_within(w, &points, reach, best);
            }
            Self::Lasso(certificate) => return certificate.certify(w, &points, best),
            Self::Net(outer) => outer,
        };
        let w = outer.bounded(w);
        let points = outer.balanced(&points)?.unwrap_or(points);
        let (primal, dual) = (outer.primal(&w)?, outer.dual(&points)?.value);
        let iterate = primal.certificate(dual)?;
        best.offer_primal(primal, || w);
        best.offer_dual(dual, &points);
        Ok(iterate)
    }

    /// Recomputes the values of a best pair.
    pub fn prove(&self, best: &mut Best<B::Point>) -> Result<()> {
        match self {
            Self::Lasso(certificate) => certificate.prove(best),
            Self::Net(outer) => outer.prove(best),
        }
    }
}
