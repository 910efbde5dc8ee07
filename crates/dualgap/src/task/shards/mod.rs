//! A task whose examples are in several processes: what each of them holds, and the model of all of them.
//!
//! Every process has some of the examples and calls [`Task::with_shard`]; one process has none, and a [`Whole`] by
//! [`Task::whole`]. Between them go a few numbers for each weight and round ([`shard`](crate::dual::shard)). At the end
//! [`Task::assemble`] makes an ordinary model, which can be saved and certified like any other.

#[cfg(test)]
mod tests;

use super::{Method, Model, Task};
use crate::data::DataSet;
use crate::dual::Witness;
use crate::dual::shard::{Rounds, Whole};
use crate::run::{Certificate, Stop};
use crate::structure::Structure;
use crate::structure::posed::{Posing, SolverSettings};
use crate::{Error, Result};

/// What rounds on shards have ended with.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The weights.
    pub weights: Vec<f64>,
    /// The dual points of all examples, in the order of the shards.
    pub witness: Option<Witness>,
    /// The certificate of these weights and points.
    pub certificate: Certificate,
    /// The method of the shards.
    pub method: Method,
    /// Why the run ended.
    pub stop: Stop,
    /// The number of passes over the data.
    pub passes: f64,
    /// The number of examples.
    pub examples: usize,
    /// The fingerprint of all examples ([`PrintParts`](crate::data::PrintParts)).
    pub fingerprint: String,
    /// The weight of each example, unless all are the same.
    pub sample_weights: Option<Vec<f64>>,
}

impl<S: Structure> Task<S> {
    /// Returns the problem of all shards.
    pub fn whole(&self) -> Result<Whole> {
        self.check()?;
        if !self.scaling.is_none() {
            return Err(Error::setting("columns are not scaled on shards: scale the data before"));
        }
        match self.penalty.regulariser() {
            Some((lambda, regulariser)) => Whole::new(lambda, regulariser),
            None => Err(Error::setting("weights in a ball are not trained on shards")),
        }
    }

    /// Calls `work` with these examples as one of several shards. All shards have the same columns and names of labels; their
    /// examples weigh `total` together.
    ///
    /// ```
    /// use dualgap::data::{DataSet, Examples};
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Method, Task};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0]], &[1.0, 3.0])?;
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
    /// let (first, second) = (data.subset(&[0]), data.subset(&[1]));
    /// let round = |part: &Examples| {
    ///     task.with_shard(part, 2.0, &Method::Auto, 1, |shard| shard.round(&[0.0], 1.0, 2.0, 1))
    /// };
    /// let mut change = round(&first)?;
    /// change.add(&round(&second)?)?;
    /// assert!(task.whole()?.step(&[0.0], &change) > 0.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn with_shard<R>(
        &self,
        data: &S::Data,
        total: f64,
        method: &Method,
        threads: usize,
        work: impl FnOnce(&mut dyn Rounds) -> Result<R>,
    ) -> Result<R> {
        self.whole()?;
        self.allows(method)?;
        let method = method.clone().for_penalty(&self.penalty)?;
        let structure = self.structure.clone().resolve(data)?;
        structure.check(&structure.names(data)?)?;
        let weights = self.weigh(data, data.weights())?;
        let (solver, choice) = method.solver(self.penalty, weights.clone(), threads)?;
        let SolverSettings::Dual(settings) = solver else {
            return Err(Error::setting(
                "on shards there are dual steps only: leave the solver to choose itself",
            ));
        };
        let posing = Posing { penalty: self.penalty, weights: weights.as_deref(), choice };
        let posed = structure.pose(data, &posing)?;
        work(&mut *posed.solvable().shard(&settings, total)?)
    }

    /// Returns the model of what rounds on shards have ended with. Names and sizes are those of `any`, which may be any examples
    /// with the columns and labels of the shards.
    pub fn assemble(&self, any: &S::Data, outcome: Outcome) -> Result<Model<S>> {
        self.whole()?;
        let structure = self.structure.clone().resolve(any)?;
        let names = structure.names(any)?;
        structure.check(&names)?;
        let task = Self { structure, ..self.clone() };
        let Outcome { weights, witness, certificate, method, stop, passes, examples, .. } = outcome;
        if let Some(witness) = &witness {
            witness.check(examples)?;
        }
        let method = method.for_penalty(&self.penalty)?;
        let own = outcome.sample_weights;
        let mut model = Model::untrained(task, names, examples, outcome.fingerprint, method, own);
        model.provenance.stop = stop;
        model.provenance.passes = passes;
        model.provenance.oracle_calls = (passes * examples as f64) as u64;
        Ok(Model { weights, certificate, witness, ..model })
    }
}
