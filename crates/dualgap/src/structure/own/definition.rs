//! A user's own structure: an oracle whose outputs have a byte form has everything that a built-in structure has.

use super::{Oracle, OracleBlocks};
use crate::container::Digest;
use crate::data::fingerprint::Fingerprint;
use crate::data::{DataSet, Format, Loaded, Recipe, Source};
use crate::linalg::parallel;
use crate::structure::evaluation::Evaluation;
use crate::structure::{Fitted, Names, Purpose, Structure, Visitor, Words};
use crate::term::Penalty;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::Debug;

/// An oracle that can be a structure of its own: its parameters, inputs and outputs have a byte form through serde.
///
/// [`OwnStructure`] makes a [`Structure`] of it: witnesses, checkpoints, warm starts, model files, verification, paths
/// and cross-validation, in the library and in a program. `examples/own_structure.rs` has one.
pub trait OwnOracle:
    Oracle<Input: Clone + Debug + Serialize + Send, Output: Debug + Serialize + DeserializeOwned>
    + Clone
    + Debug
    + PartialEq
    + Serialize
    + DeserializeOwned
    + Send
    + 'static
{
    /// The name of the structure in model files.
    const NAME: &'static str;

    /// Whether `y` is one of the outputs of `x`. A witness comes from a file, which may say anything: the other methods
    /// are called only with outputs that this one admits.
    fn admits(&self, x: &Self::Input, y: &Self::Output) -> bool;

    /// Returns an output as text.
    fn spell(&self, y: &Self::Output) -> String {
        format!("{y:?}")
    }

    /// Reads inputs and their outputs, or inputs alone, from a file.
    fn read(&self, source: Source<'_>) -> Result<OwnExamples<Self::Input, Self::Output>> {
        Err(source
            .file_error("cannot be read: this structure has no file format", "use the library"))
    }
}

/// Inputs of a user's own structure with their outputs, or inputs to predict.
///
/// ```
/// use dualgap::data::DataSet;
/// use dualgap::structure::OwnExamples;
/// let data = OwnExamples::new(vec![(1.5, true), (-2.0, false)]).with_weights(vec![1.0, 3.0])?;
/// assert_eq!((data.len(), data.subset(&[1]).weights()), (2, Some(&[3.0][..])));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OwnExamples<X, Y> {
    labelled: Vec<(X, Y)>,
    inputs: Vec<X>,
    weights: Option<Vec<f64>>,
}

impl<X, Y> OwnExamples<X, Y> {
    /// Returns inputs with their outputs.
    pub fn new(examples: Vec<(X, Y)>) -> Self {
        Self { labelled: examples, inputs: Vec::new(), weights: None }
    }

    /// Returns inputs to predict.
    pub fn unlabelled(inputs: Vec<X>) -> Self {
        Self { labelled: Vec::new(), inputs, weights: None }
    }

    /// Sets the training weight of each example, a nonnegative number.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        crate::data::check_weights(&weights, self.labelled.len() + self.inputs.len())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The inputs with their outputs; empty without outputs.
    pub fn examples(&self) -> &[(X, Y)] {
        &self.labelled
    }

    fn input(&self, i: usize) -> &X {
        match self.labelled.get(i) {
            Some((x, _)) => x,
            None => &self.inputs[i - self.labelled.len()],
        }
    }
}

impl<X: Serialize, Y: Serialize> Fingerprint for OwnExamples<X, Y> {
    fn digest(&self, digest: &mut Digest) {
        digest.text("own examples");
        let mut put = |bytes: Result<Vec<u8>, postcard::Error>| {
            // What cannot be written has no bytes; serde's own types all can.
            let bytes = bytes.unwrap_or_default();
            digest.bytes(&(bytes.len() as u64).to_le_bytes());
            digest.bytes(&bytes);
        };
        self.labelled.iter().for_each(|example| put(postcard::to_stdvec(example)));
        self.inputs.iter().for_each(|input| put(postcard::to_stdvec(input)));
    }
}

impl<X: Clone + Serialize, Y: Clone + Serialize> DataSet for OwnExamples<X, Y> {
    fn len(&self) -> usize {
        self.labelled.len() + self.inputs.len()
    }

    fn subset(&self, chosen: &[usize]) -> Self {
        let (with, without): (Vec<usize>, Vec<usize>) =
            chosen.iter().partition(|&&i| i < self.labelled.len());
        Self {
            labelled: with.iter().map(|&i| self.labelled[i].clone()).collect(),
            inputs: without.iter().map(|&i| self.input(i).clone()).collect(),
            weights: self.weights.as_ref().map(|all| chosen.iter().map(|&i| all[i]).collect()),
        }
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        self.with_weights(weights)
    }
}

/// The structure of an oracle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "O: OwnOracle")]
pub struct OwnStructure<O> {
    /// The oracle, with its parameters.
    pub oracle: O,
}

impl<O: OwnOracle> OwnStructure<O> {
    /// Returns the structure of an oracle.
    pub fn new(oracle: O) -> Self {
        Self { oracle }
    }
}

impl<O: OwnOracle> Structure for OwnStructure<O> {
    const NAME: &'static str = O::NAME;
    type Data = OwnExamples<O::Input, O::Output>;
    type Output = O::Output;

    fn names(&self, _: &Self::Data) -> Result<Names> {
        Ok(Names::none(self.oracle.dim()))
    }

    fn pose<V: Visitor>(
        &self,
        _: &Names,
        data: &Self::Data,
        _: &Penalty,
        visitor: V,
    ) -> Result<V::Output> {
        if data.labelled.is_empty() {
            return Err(Error::setting("the examples have no outputs to train on"));
        }
        let not_its_own = |(x, y): &(O::Input, O::Output)| !self.oracle.admits(x, y);
        if let Some(example) = data.labelled.iter().position(not_its_own) {
            let message = "the truth is none of its outputs".into();
            return Err(Error::Oracle { example, message });
        }
        visitor.blocks(&OracleBlocks::new(&self.oracle, &data.labelled)?)
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Self::Data) -> Result<Vec<O::Output>> {
        parallel::map(data.len(), O::Scratch::default, |scratch, i| {
            Ok(self.oracle.decode(fitted.weights, data.input(i), None, scratch)?.output)
        })
    }

    /// The mean loss, by which models are compared, and the fraction of wrong outputs.
    fn evaluate(&self, fitted: Fitted<'_>, data: &Self::Data) -> Result<Evaluation> {
        if !data.inputs.is_empty() || data.is_empty() {
            return Err(Error::setting("the examples have no outputs to compare with"));
        }
        let (mut loss, mut wrong, mut total) = (0.0, 0.0, 0.0);
        for (i, y) in self.predict(fitted, data)?.iter().enumerate() {
            let (x, truth) = &data.labelled[i];
            let weight = data.weights.as_ref().map_or(1.0, |weights| weights[i]);
            loss += weight * self.oracle.loss(x, truth, y);
            wrong += weight * f64::from(u8::from(truth != y));
            total += weight;
        }
        let figures = vec![("loss".into(), loss / total), ("wrong".into(), wrong / total)];
        Ok(Evaluation::Own { error: loss / total, figures })
    }

    fn describe(&self, _: &Names) -> Words {
        Words { task: O::NAME, loss: "structural hinge".into(), ..Words::default() }
            .with("loss", json!({ "name": "structural_hinge" }))
            .with("oracle", json!(self.oracle))
    }

    fn spell(&self, _: &Names, output: &O::Output) -> Vec<String> {
        vec![self.oracle.spell(output)]
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        _: Purpose<'_>,
    ) -> Result<Loaded<Self::Data>> {
        if !matches!(recipe.format, Format::Own) {
            return Err(source.file_error("has a format of its own", "leave the format out"));
        }
        let data = self.oracle.read(source)?;
        let labelled = data.inputs.is_empty();
        Ok(Loaded::all(data, Format::Own, labelled))
    }
}
