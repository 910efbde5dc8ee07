//! The data of a user's own structure.

use crate::container::Digest;
use crate::data::fingerprint::Fingerprint;
use crate::data::{DataSet, PrintParts};
use crate::{Error, Result};
use serde::Serialize;

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
    pub(super) labelled: Vec<(X, Y)>,
    pub(super) inputs: Vec<X>,
    pub(super) weights: Option<Vec<f64>>,
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

    pub(super) fn input(&self, i: usize) -> &X {
        match self.labelled.get(i) {
            Some((x, _)) => x,
            None => &self.inputs[i - self.labelled.len()],
        }
    }
}

/// What the fingerprint of such data begins with.
const KIND: &str = "own examples";

impl<X: Serialize, Y: Serialize> Fingerprint for OwnExamples<X, Y> {
    fn digest(&self, digest: &mut Digest) {
        digest.text(KIND);
        digest.section(0);
        self.labelled.iter().for_each(|example| put(digest, example));
        self.inputs.iter().for_each(|input| put(digest, input));
    }
}

fn put(digest: &mut Digest, example: &impl Serialize) {
    // What cannot be written has no bytes; serde's own types all can.
    let bytes = postcard::to_stdvec(example).unwrap_or_default();
    digest.bytes(&(bytes.len() as u64).to_le_bytes());
    digest.bytes(&bytes);
    digest.end_item();
}

impl<X: Clone + Serialize, Y: Clone + Serialize> PrintParts for OwnExamples<X, Y> {
    fn sizes(&self) -> Vec<u64> {
        vec![self.len() as u64]
    }

    fn print_part(&self, before: &[u64], _: &[u64]) -> Result<Vec<u8>> {
        let [before] = before else {
            return Err(Error::setting("the sizes of the shards are not those of such data"));
        };
        if !self.inputs.is_empty() {
            return Err(Error::setting("examples in shards have an output each"));
        }
        let mut digest = Digest::of_shard();
        if *before == 0 {
            digest.text(KIND);
        }
        digest.section(*before);
        self.labelled.iter().for_each(|example| put(&mut digest, example));
        Ok(digest.part())
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
