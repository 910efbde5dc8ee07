//! What is made of the parts of all shards: v, the weights, the two sides of the certificate, and the share of a step.

use super::{Change, DualPart, LossPart};
use crate::dual::problem::{DualValue, Losses, MeanDual, PrimalValue};
use crate::term::{ElasticNet, L2, Link, Regulariser};
use crate::{Error, Result};

/// The problem of all shards, without their examples.
#[derive(Clone, Debug)]
pub struct Whole {
    lambda: f64,
    link: AnyLink,
}

#[derive(Clone, Debug)]
enum AnyLink {
    L2,
    ElasticNet(ElasticNet),
}

/// Calls a generic method with the link.
macro_rules! with_link {
    ($of:expr, $link:ident => $work:expr) => {
        match &$of.link {
            AnyLink::L2 => {
                let $link = &L2;
                $work
            }
            AnyLink::ElasticNet(link) => {
                let $link = link;
                $work
            }
        }
    };
}

/// Halvings of the segment that a step is searched on: γ is known to one part in a million, which costs less of the gain than
/// that.
const HALVINGS: usize = 20;

impl Whole {
    /// Returns the problem under `λ/2‖w‖² + …`, or an error for what shards do not support.
    pub fn new(lambda: f64, regulariser: Regulariser) -> Result<Self> {
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::setting(format!("lambda must be positive on shards, not {lambda}")));
        }
        if regulariser.q_norm || regulariser.free.is_some() {
            return Err(Error::setting(
                "neither the q-norm nor a weight without penalty goes with shards: take a penalised intercept",
            ));
        }
        let link = if regulariser.is_plain() {
            AnyLink::L2
        } else {
            AnyLink::ElasticNet(regulariser.link(lambda)?)
        };
        Ok(Self { lambda, link })
    }

    /// Returns λ.
    pub(super) fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Returns the problem of a round around a centre, where `share` is λ/λ': under λ' in the place of λ.
    pub(super) fn centred(&self, share: f64) -> Result<Self> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::setting(format!("λ/λ' is above 0 and at most 1, not {share}")));
        }
        let link = match &self.link {
            AnyLink::L2 => AnyLink::L2,
            AnyLink::ElasticNet(link) => {
                let kappa = self.lambda * (1.0 / share - 1.0);
                AnyLink::ElasticNet(link.strengthened(self.lambda, kappa).unwrap_or(*link))
            }
        };
        Ok(Self { lambda: self.lambda / share, link })
    }

    /// Returns the weights at this v.
    pub fn weights(&self, v: &[f64]) -> Vec<f64> {
        with_link!(self, link => link.weights(v))
    }

    /// Returns the dual value and v, of the sums of all shards.
    pub fn dual(&self, all: DualPart) -> DualValue {
        with_link!(self, link => MeanDual::of(all.0, link, &[]).conjugated(link, self.lambda))
    }

    /// Returns the primal value at these weights, of the losses of all shards.
    pub fn primal(&self, w: &[f64], all: LossPart) -> PrimalValue {
        with_link!(self, link => Losses::of(all.0).penalised(link, self.lambda, &[], w))
    }

    /// Returns a lower bound on the rise of the dual when all shards go this share of their changes.
    pub fn gain(&self, v: &[f64], change: &Change, gamma: f64) -> f64 {
        with_link!(self, link => {
            let after: Vec<f64> =
                v.iter().zip(&change.v).map(|(v, change)| v + gamma * change).collect();
            let conjugates = link.conjugate(&after).value - link.conjugate(v).value;
            gamma * change.rise - self.lambda * conjugates
        })
    }

    /// Returns which share of the changes of all shards raises the dual most; see the module's head.
    pub fn step(&self, v: &[f64], change: &Change) -> f64 {
        with_link!(self, link => step(link, self.lambda, v, change))
    }
}

fn step<L: Link>(link: &L, lambda: f64, v: &[f64], change: &Change) -> f64 {
    let slope = |gamma: f64| {
        let each = v.iter().zip(&change.v).enumerate();
        let product: f64 =
            each.map(|(j, (v, change))| link.weight(j, v + gamma * change) * change).sum();
        change.rise - lambda * product
    };
    if slope(1.0) >= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if slope(middle) >= 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
