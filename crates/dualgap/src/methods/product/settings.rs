//! The settings of a run over a product.

use super::objective::Objective;
use super::problem::Product;
use super::set::Set;
use crate::dual::{Algorithm, Average, Sampling, Step};
use crate::{Error, Result};

/// What a step aims at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// The corner with the least `⟨s, ∇_i f(x)⟩`: Frank-Wolfe.
    #[default]
    Corner,
    /// The point with the least `⟨s, ∇_i f(x)⟩ + L_i/2 ‖s − x_i‖²`, which the step reaches: Nesterov's uniform coordinate
    /// descent, Algorithm C.1 of the paper. Needs [`Objective::lipschitz`] and [`Set::project`], and moves one block a step.
    Proximal,
}

/// The settings of a run over a product. The defaults need no thought.
///
/// ```
/// use dualgap::dual::{Algorithm, Step};
/// use dualgap::methods::product::ProductSettings;
/// // Algorithm 1 of the paper with predefined steps.
/// let settings = ProductSettings { method: Algorithm::Fw, step: Step::Predefined, ..ProductSettings::default() };
/// assert_eq!(settings.delta, 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProductSettings {
    /// One block a step (Algorithm 3), or all (Algorithm 1).
    pub method: Algorithm,
    /// What a step aims at.
    pub target: Target,
    /// The step length toward a corner.
    pub step: Step,
    /// The order of the blocks; by importance is not among the choices here.
    pub sampling: Sampling,
    /// Which average of the iterates is returned; a random iterate is not among the choices here.
    pub average: Average,
    /// δ of inequality (11): an approximate oracle may be off by `½ δ γ_k C_i` at step k. Needs
    /// [`Objective::curvature_constant`].
    pub delta: f64,
    /// The seed of the random order.
    pub seed: u64,
}

impl ProductSettings {
    /// Returns an error if the settings do not go with each other or with the problem.
    pub(super) fn check<F: Objective, S: Set>(&self, product: &Product<F, S>) -> Result<()> {
        if self.sampling == Sampling::Importance {
            return Err(Error::setting("blocks of a product have no importance to draw them by"));
        }
        if self.average.is_random() {
            return Err(Error::setting(
                "over a product, averages are weighted or of the suffix, not a random iterate",
            ));
        }
        if !(self.delta >= 0.0 && self.delta.is_finite()) {
            return Err(Error::setting(format!(
                "delta must be a number that is not negative, not {}",
                self.delta
            )));
        }
        if self.target == Target::Proximal {
            self.check_proximal(product)?;
        }
        let known = |block| {
            let constant = product.objective().curvature_constant(block);
            constant.is_some_and(|c| c >= 0.0 && c.is_finite())
        };
        let all_known = || match self.method {
            Algorithm::Bcfw => (0..product.blocks()).all(|i| known(Some(i))),
            Algorithm::Fw => known(None),
        };
        if self.delta > 0.0 && !all_known() {
            return Err(Error::setting(
                "delta is relative to the curvature constants: let the objective return them, or leave delta at zero",
            ));
        }
        Ok(())
    }

    fn check_proximal<F: Objective, S: Set>(&self, product: &Product<F, S>) -> Result<()> {
        if self.method != Algorithm::Bcfw {
            return Err(Error::setting("proximal steps move one block at a time"));
        }
        for (i, set) in product.sets().iter().enumerate() {
            if !product.objective().lipschitz(i).is_some_and(|l| l > 0.0 && l.is_finite()) {
                return Err(Error::setting(format!(
                    "proximal steps need a positive Lipschitz constant of the gradient, and the objective has none for block {i}"
                )));
            }
            let mut x = vec![0.0; set.dim()];
            set.start(&mut x);
            set.project(&mut x)?;
        }
        Ok(())
    }
}
