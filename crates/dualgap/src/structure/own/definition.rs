//! A user's own structure: an oracle whose outputs have a byte form has everything that a built-in structure has.

use super::ahead::batch;
use super::blocks::OracleBlocks;
use super::examples::OwnExamples;
use super::oracle::OwnOracle;
use super::rescaling::Rescaling;
use crate::data::{DataSet, Format, Loaded, Recipe, Source};
use crate::linalg::parallel;
use crate::structure::evaluation::{ErrorKind, Evaluation};
use crate::structure::posed::{Posed, Posing};
use crate::structure::prox_sdca::{check_choice, stepped};
use crate::structure::words::rescaled;
use crate::structure::{Choice, Fitted, Names, Purpose, Structure, Words};
use crate::term::Penalty;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The structure of an oracle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "O: OwnOracle")]
pub struct OwnStructure<O> {
    /// The oracle, with its parameters.
    pub oracle: O,
    /// How losses and scores make the hinge.
    #[serde(default, skip_serializing_if = "Rescaling::is_margin")]
    pub rescaling: Rescaling,
}

impl<O: OwnOracle> OwnStructure<O> {
    /// Returns the structure of an oracle.
    pub fn new(oracle: O) -> Self {
        Self { oracle, rescaling: Rescaling::Margin }
    }

    /// Returns the structure with the hinge in this form; [`Rescaling::Slack`] needs an oracle with
    /// [`decode_slack`](super::Oracle::decode_slack).
    #[must_use]
    pub fn rescaled(self, rescaling: Rescaling) -> Self {
        Self { rescaling, ..self }
    }
}

impl<O: OwnOracle> Structure for OwnStructure<O> {
    const NAME: &'static str = O::NAME;
    type Data = OwnExamples<O::Input, O::Output>;
    type Output = O::Output;

    fn names(&self, _: &Self::Data) -> Result<Names> {
        Ok(Names::none(self.oracle.dim()))
    }

    fn allows_option(&self, choice: Choice, _: &Penalty) -> Result<()> {
        check_choice(choice)
    }

    fn pose<'d>(&'d self, data: &'d Self::Data, posing: &Posing<'_>) -> Result<Posed<'d>> {
        if data.labelled.is_empty() {
            return Err(Error::setting("the examples have no outputs to train on"));
        }
        let not_its_own = |(x, y): &(O::Input, O::Output)| !self.oracle.admits(x, y);
        if let Some(example) = data.labelled.iter().position(not_its_own) {
            let message = "the truth is none of its outputs".into();
            return Err(Error::Oracle { example, message });
        }
        let blocks = OracleBlocks::new(&self.oracle, &data.labelled)?.rescaled(self.rescaling);
        stepped(blocks, posing)
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Self::Data) -> Result<Vec<O::Output>> {
        let inputs: Vec<_> = (0..data.len()).map(|i| data.input(i)).collect();
        if let Some(decoded) = batch(&self.oracle, fitted.weights, &inputs, None)? {
            return Ok(decoded.into_iter().map(|decoded| decoded.output).collect());
        }
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
        if total <= 0.0 {
            return Err(Error::setting("the examples to compare with weigh nothing"));
        }
        let figures = vec![("loss".into(), loss / total), ("wrong".into(), wrong / total)];
        Ok(Evaluation::Own { error: loss / total, figures })
    }

    fn error_kind(&self) -> ErrorKind {
        self.oracle.error_kind()
    }

    fn describe(&self, _: &Names) -> Words {
        let loss = format!("structural hinge{}", rescaled(self.rescaling));
        Words { task: O::NAME, loss, ..Words::default() }
            .with("loss", json!({ "name": "structural_hinge" }))
            .with("rescaling", json!(self.rescaling))
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
