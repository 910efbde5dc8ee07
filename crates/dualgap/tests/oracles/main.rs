//! Oracles beyond the exact argmax of loss plus score: slack rescaling, promises, bounds, beams; and the steps of Prox-SDCA.

mod approximate;
mod batches;
mod beams;
mod boxes;
mod slack;
mod slack_models;
mod weak;

use crate::common::Small;
use crate::common::explicit::Explicit;

/// The problem of the rescaled slack written out: the loss L (1 − ⟨w, ψ⟩) is that of the vector Lψ.
pub fn rescaled(small: &Small) -> Explicit {
    let mut problem = small.explicit();
    for corner in problem.examples.iter_mut().flatten() {
        let loss = corner.exact_loss;
        corner.exact_psi.iter_mut().for_each(|psi| *psi = *psi * loss);
        corner.psi = corner.exact_psi.iter().map(|psi| psi.float()).collect();
    }
    problem
}
