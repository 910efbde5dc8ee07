//! Problems under a penalty whose losses are smooth functions of linear predictions: besides the solvers of all blocks they
//! have Newton's method, which is compiled for no others.

use super::penalised::{Penalised, begin, penalised_or_l1, regulariser, trained, weights_of};
use super::{Posed, Posing, Run, Sides, Solver, Trained};
use crate::Result;
use crate::dual::{Settings, Witness, Witnessed};
use crate::methods::newton::{self, CurvedBlocks};
use crate::run::{Reach, Report};
use crate::term::Penalty;

/// Poses a problem as [`penalised_or_l1`] does, for its solvers and, under a ridge, Newton's method.
pub fn curved<'d, B: Witnessed + CurvedBlocks + 'd>(
    blocks: B,
    posing: &Posing<'_>,
) -> Box<dyn Posed + 'd> {
    if let Penalty::Lasso { .. } = posing.penalty {
        return penalised_or_l1(blocks, posing);
    }
    let weights = weights_of(posing);
    Box::new(Curved(Penalised { blocks, penalty: posing.penalty, weights }))
}

struct Curved<B>(Penalised<B>);

impl<B: Witnessed + CurvedBlocks> Posed for Curved<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let Solver::Newton(settings) = run.solver else { return self.0.train(run) };
        let Penalised { blocks, penalty, weights } = &self.0;
        by_newton(blocks, *penalty, weights.as_deref(), settings, run)
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

/// Trains by Newton's method.
pub(super) fn by_newton<B: Witnessed + CurvedBlocks>(
    blocks: &B,
    penalty: Penalty,
    weights: Option<&[f64]>,
    settings: newton::Settings,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    let (threads, sample_weights) = (settings.threads, weights.map(<[f64]>::to_vec));
    let problem = Settings { lambda, regulariser, threads, sample_weights, ..Settings::default() };
    let begin = begin(blocks, run.start)?;
    let (budget, observer, sink) = (run.budget, run.observer, run.sink);
    let report = newton::train_from(blocks, &problem, &settings, begin, budget, observer, sink)?;
    Ok(trained(blocks, report, run.factors))
}
