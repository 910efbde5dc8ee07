//! Data in, certified model out.

use super::{Model, Provenance, Structure};
use crate::Result;
use crate::data::{Alphabet, Examples, Sequences, fingerprint};
use crate::run::{Budget, Observer, Report};
use crate::ssvm::{self, Chain, Costs, Hamming, Multiclass, Settings, Witness, Witnessed};

/// Trains a multiclass model.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{fit_multiclass, verify_examples};
/// use dualgap::run::Budget;
/// use dualgap::ssvm::{Costs, Settings};
///
/// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![0.9, 0.0], vec![0.0, 0.7]];
/// let data = Examples::from_dense(&rows, &["left", "right", "left", "right"])?;
/// let budget = Budget::relative(1e-4);
/// let report = fit_multiclass(&data, &Costs::ZeroOne, &Settings::default(), &budget, &mut ())?;
/// assert_eq!(report.model.predict_row(data.rows.row(1)), 1);
/// assert!(verify_examples(&report.model, &data)?.certificate.relative_gap() <= 1e-4);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn fit_multiclass(
    data: &Examples,
    costs: &Costs,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Model>> {
    let blocks = Multiclass::new(data, costs)?;
    let costs = match costs {
        Costs::ZeroOne => None,
        Costs::Matrix(costs) => Some(costs.clone()),
    };
    let kind = Kind {
        structure: Structure::Multiclass { costs },
        alphabet: &data.alphabet,
        features: data.rows.width(),
        fingerprint: fingerprint(data),
    };
    fit(&blocks, kind, settings, budget, observer)
}

/// Trains a chain model.
pub fn fit_chain(
    data: &Sequences,
    hamming: Hamming,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Model>> {
    let blocks = Chain::new(data, hamming)?;
    let kind = Kind {
        structure: Structure::Chain { hamming },
        alphabet: &data.alphabet,
        features: data.rows.width(),
        fingerprint: fingerprint(data),
    };
    fit(&blocks, kind, settings, budget, observer)
}

/// What is known of a model before it is trained.
struct Kind<'a> {
    structure: Structure,
    alphabet: &'a Alphabet,
    features: usize,
    fingerprint: String,
}

fn fit<B: Witnessed>(
    blocks: &B,
    kind: Kind<'_>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Model>> {
    let report = ssvm::train(blocks, settings, budget, observer)?;
    let provenance = Provenance {
        program: concat!("dualgap ", env!("CARGO_PKG_VERSION")).into(),
        lambda: settings.lambda,
        solver: settings.method,
        step: settings.step,
        sampling: settings.sampling,
        average: settings.average,
        batch: settings.batch,
        seed: settings.seed,
        stop: report.stop,
        passes: report.passes,
        oracle_calls: report.work.oracle_calls,
        examples: blocks.len(),
        recipe: None,
        fingerprint: kind.fingerprint,
    };
    let certificate = report.certificate;
    Ok(report.map(|solution| Model {
        structure: kind.structure,
        alphabet: kind.alphabet.clone(),
        features: kind.features,
        witness: Some(Witness::of(blocks, &solution.points)),
        weights: solution.weights,
        certificate,
        provenance,
        sample_weights: settings.sample_weights.clone(),
    }))
}
