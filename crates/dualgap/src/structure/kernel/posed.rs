//! The optimisation problem of a structure under a kernel.

use super::UnderKernel;
use crate::data::Factors;
use crate::dual::problem::PrimalValue;
use crate::dual::{self, Problem, Witness};
use crate::linalg::Measured;
use crate::run::{Reach, Report};
use crate::structure::posed::penalised::{begin, trained};
use crate::structure::posed::{Posing, Run, Sides, Solvable, SolverSettings, Trained, refused};
use crate::structure::{Choice, Fitted, Names, Structure};
use crate::term::{Gram, KernelLink, Penalty};
use crate::{Error, Result};

/// Blocks over one-hot inputs, and the kernel's matrix.
pub struct KernelProblem<'d, S: Structure> {
    of: &'d S,
    data: &'d S::Data,
    one_hot: S::Data,
    gram: Gram<'d>,
    names: Names,
    lambda: f64,
    weights: Option<Vec<f64>>,
    choice: Option<Choice>,
}

impl<'d, S: UnderKernel> KernelProblem<'d, S> {
    pub fn new(of: &'d S, data: &'d S::Data, gram: Gram<'d>, posing: &Posing<'_>) -> Result<Self> {
        let Penalty::Ridge { lambda, .. } = posing.penalty else {
            return Err(refused("the file names another penalty than a kernel has"));
        };
        Ok(Self {
            of,
            data,
            one_hot: S::one_hot(data),
            gram,
            names: of.names(data)?,
            lambda,
            weights: posing.weights.map(<[f64]>::to_vec),
            choice: posing.choice,
        })
    }

    fn columns(&self) -> usize {
        self.of.columns(&self.names)
    }

    fn link(&self) -> KernelLink<'_> {
        KernelLink::new(&self.gram, self.columns())
    }

    fn blocks(&self) -> Result<S::Blocks<'_>> {
        self.of.blocks(&self.one_hot, &self.gram, self.choice)
    }

    /// Returns the number of support vectors, and how many the paper's theorem allows: with line search, and once the
    /// dual is within 4R²/(λn) of its optimum, 16R²/(λε) steps suffice for an error of ε (Theorem 3, with the constants of
    /// its proof, 2n/ε·(4R²/(λn) + 4R²/(λn))), and a step adds one support vector at most.
    fn support_vectors(&self, weights: &[f64], gap: f64) -> (usize, f64) {
        let columns = self.columns();
        let beta = &weights[..self.gram.len() * columns];
        let some = beta.chunks_exact(columns).filter(|beta| beta.iter().any(|&b| b != 0.0));
        let largest = self.gram.diagonal().iter().copied().fold(0.0, f64::max);
        (some.count(), 16.0 * S::squared_radius(self.data, largest) / (self.lambda * gap))
    }
}

impl<S: UnderKernel> Solvable for KernelProblem<'_, S> {
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>> {
        let SolverSettings::Dual(settings) = &run.solver else {
            return Err(Error::setting("a kernel goes with the block-dual engine"));
        };
        let blocks = self.blocks()?;
        let begin = begin(&blocks, run.start)?;
        let (budget, observer, sink) = (run.budget, run.observer, run.sink);
        let report =
            dual::train_spread_from(&blocks, self.link(), settings, begin, budget, observer, sink);
        self.gram.check()?;
        let mut report = report?;
        let gap = report.certificate.gap();
        let (vectors, bound) = self.support_vectors(&report.model.weights, gap);
        let n = self.gram.len();
        let told =
            format!("{vectors} of {n} inputs are support vectors; 16R²/(λε) allows {bound:.1e}");
        report.tactics.push(told);
        report.counters.insert("support_vectors", vectors as u64);
        report.counters.insert("support_bound", bound as u64);
        Ok(trained(&blocks, report, run.factors))
    }

    fn sides(&self) -> Result<Box<dyn Sides + '_>> {
        Ok(Box::new(KernelSides(self)))
    }

    fn reach(&self, _: &[f64], _: &Witness) -> Result<Reach> {
        Err(Error::setting("a model under a kernel is for its own λ, and for no others"))
    }
}

struct KernelSides<'a, 'd, S: Structure>(&'a KernelProblem<'d, S>);

impl<S: UnderKernel> Sides for KernelSides<'_, '_, S> {
    fn primal(&self, fitted: Fitted<'_>, _: Option<&Witness>, _: &Factors) -> Result<PrimalValue> {
        let posed = self.0;
        let Some(support) = fitted.support else {
            return Err(refused("the file has no support vectors, and a model under a kernel has"));
        };
        let weights = support.expanded(fitted.weights, posed.columns(), S::inputs(posed.data))?;
        let (blocks, masses) = (posed.blocks()?, posed.weights.as_deref());
        let value = Problem::new(&blocks, posed.link(), posed.lambda, masses)?.primal(&weights)?;
        posed.gram.check().map(|()| value)
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        let posed = self.0;
        let (blocks, masses) = (posed.blocks()?, posed.weights.as_deref());
        let points = witness.points(&blocks)?;
        let value = Problem::new(&blocks, posed.link(), posed.lambda, masses)?.dual(&points)?.value;
        posed.gram.check().map(|()| value)
    }
}
