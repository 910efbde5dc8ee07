//! The problem of a conditional random field as others are posed: runs, both sides of a certificate, and the bound at every λ.
//!
//! Its witness is a vector of weights, stored as the entries of one block: those that are not zero, by their places.

use super::super::legal::Legal;
use super::super::oracle::ChainLayout;
use super::problem::{CrfProblem, primal_of};
use crate::data::{Factors, Sequences};
use crate::dual::problem::PrimalValue;
use crate::dual::{Average, Cache, Witness};
use crate::linalg::{Measured, Sum};
use crate::methods::quasi_newton::{self, train_from};
use crate::run::{Basis, Reach, Report};
use crate::structure::Fitted;
use crate::structure::posed::{
    AtZero, Posed, Posing, Run, Sides, Solvable, SolverSettings, Start, Trained, refused,
};
use crate::term::Penalty;
use crate::{Error, Result};
use std::sync::Arc;

/// Poses the problem of these sequences.
pub fn posed<'d>(
    data: &'d Sequences,
    layout: ChainLayout,
    legal: Option<Arc<Legal>>,
    posing: &Posing<'_>,
) -> Result<Posed<'d>> {
    let Penalty::Ridge { lambda, l1, nonnegative: false, free: None } = posing.penalty else {
        return Err(refused("the file names a penalty that the log-loss of chains has not"));
    };
    let problem = CrfProblem::new(data, layout, legal, (lambda, l1), posing.weights)?;
    Ok(Posed::new(Crf { problem }))
}

struct Crf<'d> {
    problem: CrfProblem<'d>,
}

impl Crf<'_> {
    fn dim(&self) -> usize {
        self.problem.layout.dim()
    }

    /// Returns the weights that entries stand for.
    fn weights_of(&self, entries: &[(u64, f64)]) -> Result<Vec<f64>> {
        let refuse = |message: &str| Error::Witness { example: 0, message: message.into() };
        let mut w = vec![0.0; self.dim()];
        let mut next = 0;
        for &(key, weight) in entries {
            let place = usize::try_from(key).ok().filter(|place| (next..w.len()).contains(place));
            let place = place.ok_or_else(|| refuse("it has a weight that is none"))?;
            if !weight.is_finite() {
                return Err(refuse("it has a weight that is not finite"));
            }
            (w[place], next) = (weight, place + 1);
        }
        Ok(w)
    }

    /// Returns the weights of a stored witness.
    fn witnessed(&self, witness: &Witness) -> Result<Vec<f64>> {
        witness.check(1)?;
        self.weights_of(&witness.entries(0).unwrap_or_default())
    }

    fn check(&self, w: &[f64]) -> Result<()> {
        if w.len() == self.dim() {
            return Ok(());
        }
        let (have, need) = (w.len(), self.dim());
        Err(Error::setting(format!("there are {have} weights and {need} are needed")))
    }
}

/// Returns the witness that stores these weights.
fn witness_of(w: &[f64]) -> Witness {
    let stored = || w.iter().enumerate().filter(|(_, w)| **w != 0.0);
    let keys: Vec<u64> = stored().map(|(place, _)| place as u64).collect();
    let weights = stored().map(|(_, &w)| w).collect();
    Witness { starts: vec![0, keys.len() as u64], keys, weights, outputs: Vec::new() }
}

impl Solvable for Crf<'_> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let SolverSettings::Dual(settings) = &run.solver else { return Err(one_solver()) };
        let auto = settings.handover
            && settings.average == Average::None
            && settings.cache != Cache::On
            && settings.batch == 1;
        if !auto {
            return Err(one_solver());
        }
        let start = match run.start {
            Start::Fresh => quasi_newton::Start::Fresh,
            Start::At(checkpoint) => quasi_newton::Start::At(checkpoint),
            Start::Weights(raw) => {
                self.check(raw)?;
                quasi_newton::Start::Weights(run.factors.scaled(raw).into_owned())
            }
            Start::Entries { of, .. } => match of.into_iter().next().flatten() {
                Some(entries) => quasi_newton::Start::Weights(self.weights_of(&entries)?),
                None => quasi_newton::Start::Fresh,
            },
        };
        let report =
            train_from(&self.problem, settings.threads, start, run.budget, run.observer, run.sink)?;
        let witness = witness_of(&report.model);
        Ok(report.map(|w| Trained {
            weights: run.factors.raw(w).into_owned(),
            low_rank: None,
            witness,
        }))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        Ok(Box::new(Both(self)))
    }

    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach> {
        self.check(weights)?;
        let at = self.problem.values(weights)?;
        let dual = self.problem.values(&self.witnessed(witness)?)?;
        let mut fixed = Sum::default();
        fixed.add_measured(at.loss);
        fixed.add_measured(at.norm);
        Ok(Reach {
            fixed: fixed.total(),
            square: at.square,
            dual: dual.entropy,
            conjugate: dual.conjugate,
            certified: true,
            basis: Basis::Exact,
        })
    }

    fn subgradients(&self, weights: &[f64]) -> Result<Option<Witness>> {
        self.check(weights)?;
        Ok(Some(witness_of(weights)))
    }

    fn at_zero(&self) -> Result<AtZero> {
        let values = self.problem.values(&vec![0.0; self.dim()])?;
        Ok(AtZero { loss: values.loss.value, slope: values.slope })
    }

    fn proves_itself(&self) -> bool {
        true
    }
}

struct Both<'a>(&'a Crf<'a>);

impl Sides for Both<'_> {
    fn primal(
        &self,
        fitted: Fitted<'_>,
        _: Option<&Witness>,
        factors: &Factors,
    ) -> Result<PrimalValue> {
        self.0.check(fitted.weights)?;
        let values = self.0.problem.values(&factors.scaled(fitted.weights))?;
        let value = primal_of(&values, self.0.problem.lambda);
        Ok(PrimalValue { value, certified: true, basis: Basis::Exact })
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.0.problem.values(&self.0.witnessed(witness)?)?.dual)
    }
}

/// Returns the error of a solver for other problems.
fn one_solver() -> Error {
    Error::setting(
        "the log-loss of chains has one solver, and options of others do not go with it: leave them out",
    )
}
