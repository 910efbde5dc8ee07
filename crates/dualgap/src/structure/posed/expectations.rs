//! Problems under a penalty whose blocks can sum over their outputs: besides the solvers of all blocks they have
//! exponentiated gradient, which is compiled for no others.

use super::curved::{by_newton, handover, with_handover};
use super::penalised::{Penalised, begin, regulariser, trained, weights_of};
use super::{AtZero, Posed, Posing, Run, Sides, Solvable, SolverSettings, Trained};
use crate::Result;
use crate::dual::shard::Rounds;
use crate::dual::{Settings, Witness, Witnessed};
use crate::methods::exponentiated_gradient::{ExpectationBlocks, train_from};
use crate::methods::newton::CurvedBlocks;
use crate::run::{Reach, Report};
use crate::term::Penalty;

impl<'d> Posed<'d> {
    /// Poses a problem as [`Posed::penalised_or_l1`] does, for its solvers and, under a ridge, exponentiated gradient.
    pub fn with_expectations<B: Witnessed + ExpectationBlocks + 'd>(
        blocks: B,
        posing: &Posing<'_>,
    ) -> Posed<'d> {
        with_others(blocks, posing, Penalised::train)
    }

    /// Poses a problem as [`Posed::with_expectations`] does, for its solvers and, under a ridge, Newton's method on smoothed losses.
    pub fn with_corners<B: Witnessed + ExpectationBlocks + CurvedBlocks + 'd>(
        blocks: B,
        posing: &Posing<'_>,
    ) -> Posed<'d> {
        with_others(blocks, posing, with_newton)
    }
}

/// Poses a problem with these other solvers, or under the l1 norm alone.
fn with_others<'d, B: Witnessed + ExpectationBlocks + 'd>(
    blocks: B,
    posing: &Posing<'_>,
    others: Train<B>,
) -> Posed<'d> {
    if let Penalty::Lasso { .. } = posing.penalty {
        return Posed::penalised_or_l1(blocks, posing);
    }
    let weights = weights_of(posing);
    let problem = Penalised { blocks, penalty: posing.penalty, weights };
    Posed::new(WithExpectations { problem, others })
}

/// Trains with a solver that is not exponentiated gradient.
type Train<B> = fn(&Penalised<B>, Run<'_>) -> Result<Report<Trained>>;

struct WithExpectations<B> {
    problem: Penalised<B>,
    others: Train<B>,
}

/// Trains by Newton's method where that was asked for, or seems faster.
fn with_newton<B: Witnessed + CurvedBlocks>(
    problem: &Penalised<B>,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let Penalised { blocks, penalty, weights } = problem;
    match &run.solver {
        SolverSettings::Newton(settings) => {
            let settings = *settings;
            by_newton(blocks, *penalty, weights.as_deref(), settings, run)
        }
        SolverSettings::Dual(settings) => match handover(blocks, settings) {
            Some(pace) => with_handover(blocks, &settings.clone(), &pace, run),
            None => problem.train(run),
        },
        _ => problem.train(run),
    }
}

impl<B: Witnessed + ExpectationBlocks> Solvable for WithExpectations<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let SolverSettings::ExponentiatedGradient(settings) = &run.solver else {
            return (self.others)(&self.problem, run);
        };
        let Penalised { blocks, penalty, weights } = &self.problem;
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
        self.problem.sides()
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.problem.reach(weights, witness)
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        self.problem.subgradients(weights)
    }

    fn at_zero(&self) -> Result<AtZero> {
        self.problem.at_zero()
    }

    fn is_recertified(&self) -> bool {
        self.problem.is_recertified()
    }

    fn shard(&self, settings: &Settings, total: f64) -> Result<Box<dyn Rounds + '_>> {
        self.problem.shard(settings, total)
    }
}
