//! Problems under a penalty whose blocks can sum over their outputs: besides the solvers of all blocks they have
//! exponentiated gradient, which is compiled for no others.

use super::penalised::{Penalised, begin, regulariser, trained, weights_of};
use super::{Posed, Posing, Run, Sides, Solver, Trained};
use crate::Result;
use crate::dual::{Witness, Witnessed};
use crate::methods::exponentiated_gradient::{ExpectationBlocks, train_from};
use crate::run::{Reach, Report};

/// Poses a problem under a ridge, for the solvers of [`penalised`](super::penalised) and exponentiated gradient.
pub fn with_expectations<'d, B: Witnessed + ExpectationBlocks + 'd>(
    blocks: B,
    posing: &Posing<'_>,
) -> Box<dyn Posed + 'd> {
    let weights = weights_of(posing);
    Box::new(WithExpectations(Penalised { blocks, penalty: posing.penalty, weights }))
}

struct WithExpectations<B>(Penalised<B>);

impl<B: Witnessed + ExpectationBlocks> Posed for WithExpectations<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let Solver::ExponentiatedGradient(settings) = &run.solver else {
            return self.0.train(run);
        };
        let Penalised { blocks, penalty, weights } = &self.0;
        let (lambda, regulariser) = regulariser(*penalty, blocks)?;
        let report = train_from(
            blocks,
            lambda,
            regulariser,
            weights.as_deref(),
            settings,
            begin(blocks, run.start)?,
            run.budget,
            run.observer,
            run.sink,
        )?;
        Ok(trained(blocks, report, run.factors))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        self.0.sides()
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.0.reach(weights, witness)
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }
}
