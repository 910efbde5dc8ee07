//! Probabilities by a model: of every label at every position, and of labelings.

use super::super::legal::Legal;
use super::super::oracle::{ChainLayout, Label};
use super::scaled::{Pairs, Scaled, Weights};
use crate::Result;
use crate::data::Sequences;
use crate::linalg::{PackedRows, parallel};

/// The weights of a model.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    pub layout: ChainLayout,
    pub weights: &'a [f64],
    /// Those of features, where the layout has none.
    pub packed: Option<&'a PackedRows>,
}

/// Returns `work` for every sequence, with its marginals and log Z less the score of its labels, if those are known.
fn each<T: Send>(
    held: Held<'_>,
    data: &Sequences,
    legal: Option<&Legal>,
    labels: impl Fn(usize) -> Option<Vec<Label>> + Sync,
    work: impl Fn(&[f64], f64) -> T + Sync,
) -> Result<Vec<T>> {
    let Held { layout, weights: w, packed } = held;
    let mut shared = Pairs::default();
    shared.set(&Legal::masked(legal, &w[layout.transitions()]), layout.labels, false);
    let weights = Weights { layout, w, packed, shared: &shared, sizes: None, legal, quick: false };
    parallel::map(data.len(), Scaled::default, |scaled, i| {
        let truth = labels(i).filter(|y| legal.is_none_or(|legal| legal.allows(y)));
        let found = scaled.run(&weights, data.sequence(i), truth.as_deref(), 1.0, None);
        let loss = if truth.is_some() { found.loss.value } else { f64::INFINITY };
        Ok(work(scaled.marginals(), loss))
    })
}

/// Returns the probability of every label at every position, sequence by sequence: `T × K` numbers each.
pub fn marginals(held: Held<'_>, data: &Sequences, legal: Option<&Legal>) -> Result<Vec<Vec<f64>>> {
    each(held, data, legal, |_| None, |marginals, _| marginals.to_vec())
}

/// Returns −log p(y|x) of every sequence for these labels of it; infinite where there are none, or forbidden ones.
pub fn log_losses(
    held: Held<'_>,
    data: &Sequences,
    legal: Option<&Legal>,
    labels: impl Fn(usize) -> Option<Vec<Label>> + Sync,
) -> Result<Vec<f64>> {
    each(held, data, legal, labels, |_, loss| loss)
}
