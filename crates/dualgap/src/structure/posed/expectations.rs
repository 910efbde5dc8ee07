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
        if let Penalty::Lasso { .. } = posing.penalty {
            return Self::penalised_or_l1(blocks, posing);
        }
        let weights = weights_of(posing);
        Posed::new(WithExpectations(Penalised { blocks, penalty: posing.penalty, weights }))
    }
}

impl<'d> Posed<'d> {
    /// Poses a problem as [`Posed::with_expectations`] does, for its solvers and, under a ridge, Newton's method on smoothed losses.
    pub fn with_corners<B: Witnessed + ExpectationBlocks + CurvedBlocks + 'd>(
        blocks: B,
        posing: &Posing<'_>,
    ) -> Posed<'d> {
        if let Penalty::Lasso { .. } = posing.penalty {
            return Self::penalised_or_l1(blocks, posing);
        }
        let weights = weights_of(posing);
        let penalised = Penalised { blocks, penalty: posing.penalty, weights };
        Posed::new(WithCorners(WithExpectations(penalised)))
    }
}

struct WithExpectations<B>(Penalised<B>);

struct WithCorners<B>(WithExpectations<B>);

impl<B: Witnessed + ExpectationBlocks + CurvedBlocks> Solvable for WithCorners<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let Penalised { blocks, penalty, weights } = &self.0.0;
        match &run.solver {
            SolverSettings::Newton(settings) => {
                let settings = *settings;
                by_newton(blocks, *penalty, weights.as_deref(), settings, run)
            }
            SolverSettings::Dual(settings) => match handover(blocks, settings) {
                Some(pace) => with_handover(blocks, &settings.clone(), &pace, run),
                None => self.0.train(run),
            },
            _ => self.0.train(run),
        }
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        self.0.sides()
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.0.reach(weights, witness)
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        self.0.subgradients(weights)
    }

    fn at_zero(&self) -> Result<AtZero> {
        self.0.at_zero()
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }

    fn shard(&self, settings: &Settings, total: f64) -> Result<Box<dyn Rounds + '_>> {
        self.0.shard(settings, total)
    }
}

impl<B: Witnessed + ExpectationBlocks> Solvable for WithExpectations<B> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let SolverSettings::ExponentiatedGradient(settings) = &run.solver else {
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

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        self.0.subgradients(weights)
    }

    fn at_zero(&self) -> Result<AtZero> {
        self.0.at_zero()
    }

    fn is_recertified(&self) -> bool {
        self.0.is_recertified()
    }

    fn shard(&self, settings: &Settings, total: f64) -> Result<Box<dyn Rounds + '_>> {
        self.0.shard(settings, total)
    }
}
