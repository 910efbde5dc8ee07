//! Chain: a label for each position of a sequence.

use super::{Problem, check_labels};
use crate::args::{ChainArgs, Common};
use crate::report::Outcomes;
use dualgap::data::{Folds, Sequences};
use dualgap::model::{Model, Plan, fit_chain_with};
use dualgap::run::Report;
use dualgap::structure::Hamming;
use dualgap::term::Free;
use dualgap::{Error, Result};
use std::path::Path;

/// How wrong labels are counted is all there is to choose.
#[derive(Clone, Debug)]
pub struct ChainProblem {
    hamming: Hamming,
}

impl ChainProblem {
    pub fn new(args: &ChainArgs, common: Common<'_>) -> Result<Self> {
        if common.within()?.is_some() {
            return Err(Error::setting(
                "--ball is for binary, regression, multiclass, multilabel and multioutput",
            ));
        }
        Ok(Self { hamming: args.hamming.into() })
    }
}

impl Problem for ChainProblem {
    type Data = Sequences;
    const PURE_L1: bool = false;

    fn task(&self) -> &'static str {
        "chain"
    }

    fn constant(&self) -> bool {
        false
    }

    fn meet(&mut self, file: &Path, data: &Sequences) -> Result<()> {
        check_labels(file, data.alphabet(), "labels")
    }

    fn free(&self, _: &Sequences) -> Result<Option<Free>> {
        Ok(None)
    }

    fn fit(&self, data: &Sequences, plan: Plan<'_, Sequences>) -> Result<Report<Model>> {
        fit_chain_with(data, self.hamming, plan)
    }

    fn folds(&self, data: &Sequences, count: usize, seed: u64) -> Result<Folds> {
        Folds::plain(data.len(), count, seed)
    }

    fn evaluate(&self, model: &Model, data: &Sequences) -> Result<Outcomes> {
        Ok(model.evaluate_sequences(data).into())
    }
}
