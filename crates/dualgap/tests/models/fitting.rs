//! Small problems fitted with everything that a run can be given, and what is compared of such runs.

use crate::common::wide::Wide;
use crate::common::{Kind, Small, with_blocks};
use dualgap::dual::{Settings, Witness};
use dualgap::model::{
    Checkpoints, DualEvidence, Model, Plan, fit_chain_with, fit_multiclass_with, verify_examples,
    verify_sequences,
};
use dualgap::run::{Budget, Observer, Report, Stop, Work};
use dualgap::{Error, Result};
use std::path::Path;

/// A fit and what it is given beside the problem.
pub struct Fit<'a> {
    pub settings: Settings,
    pub budget: Budget,
    /// Where it is kept, and after how many passes.
    pub keep: Option<(&'a Path, f64)>,
    pub resume: Option<&'a Path>,
    pub warm_start: Option<&'a Model>,
}

impl<'a> Fit<'a> {
    pub fn new(settings: &Settings, budget: Budget) -> Self {
        Self { settings: settings.clone(), budget, keep: None, resume: None, warm_start: None }
    }

    pub fn kept(self, file: &'a Path, every: f64) -> Self {
        Self { keep: Some((file, every)), ..self }
    }

    pub fn resumed(self, file: &'a Path) -> Self {
        Self { resume: Some(file), ..self }
    }

    pub fn warm(self, model: &'a Model) -> Self {
        Self { warm_start: Some(model), ..self }
    }

    pub fn run(&self, small: &Small) -> Result<Report<Model>> {
        self.watched(small, &mut ())
    }

    pub fn watched(&self, small: &Small, observer: &mut dyn Observer) -> Result<Report<Model>> {
        match &small.kind {
            Kind::Chain(hamming) => {
                fit_chain_with(&small.sequences(), *hamming, self.plan(observer))
            }
            Kind::Multiclass(costs) => {
                fit_multiclass_with(&small.examples(), costs, self.plan(observer))
            }
        }
    }

    pub fn plan<'p, D>(&'p self, observer: &'p mut dyn Observer) -> Plan<'p, D> {
        Plan {
            checkpoints: self.keep.map(|(file, every)| Checkpoints { file: file.into(), every }),
            resume: self.resume,
            warm_start: self.warm_start,
            ..Plan::new(&self.settings, &self.budget, observer)
        }
    }
}

/// Everything of a run but the seconds it took, as bits.
#[derive(Debug, PartialEq)]
pub struct Trace {
    weights: Vec<u64>,
    witness: (Vec<u64>, Vec<u64>, Vec<u64>),
    pub stop: Stop,
    pub work: Work,
    certificate: [u64; 3],
    history: Vec<(Work, bool, [u64; 7])>,
}

impl Trace {
    pub fn of(report: &Report<Model>) -> Self {
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let Witness { starts, keys, weights } = report.model.witness.clone().unwrap();
        let c = report.certificate;
        assert_eq!(report.model.certificate, c);
        assert_eq!(report.model.provenance.stop, report.stop);
        assert_eq!(report.model.provenance.oracle_calls, report.work.oracle_calls);
        let history = report.history.iter().map(|at| {
            let c = at.certificate;
            let values = [c.primal, c.dual, c.rounding_error, at.iterate_primal, at.iterate_dual];
            let [a, b, c1, d, e] = values.map(f64::to_bits);
            let gap = at.gap.map_or(0, f64::to_bits);
            (at.work, c.certified, [a, b, c1, d, e, gap, at.passes.to_bits()])
        });
        Self {
            weights: bits(&report.model.weights),
            witness: (starts, keys, bits(&weights)),
            stop: report.stop,
            work: report.work,
            certificate: [c.primal, c.dual, c.rounding_error].map(f64::to_bits),
            history: history.collect(),
        }
    }
}

/// The certificate holds: to 32 digits for the weights and the witness of the model, over all outputs, and for
/// whoever verifies the model.
pub fn assert_true(small: &Small, model: &Model) {
    let (c, problem) = (model.certificate, small.explicit());
    let primal = problem.primal(&model.weights);
    let off = (primal - Wide::from(c.primal)).abs().float();
    assert!(c.certified && off <= c.rounding_error, "{off:e} {c:?}");
    let off = (exact_dual(small, model) - Wide::from(c.dual)).abs().float();
    assert!(off <= c.rounding_error, "{off:e} {c:?}");
    let verified = match small.kind {
        Kind::Chain(_) => verify_sequences(model, &small.sequences()),
        Kind::Multiclass(_) => verify_examples(model, &small.examples()),
    };
    assert_eq!(verified.unwrap().evidence, DualEvidence::Witness);
}

/// The dual value of a model's witness on a problem, to 32 digits.
pub fn exact_dual(small: &Small, model: &Model) -> Wide {
    with_blocks!(small, |blocks| {
        let points = model.witness.as_ref().unwrap().points(&blocks).unwrap();
        small.explicit().dual(&small.distributions(&points))
    })
}

/// The message of a refusal.
pub fn refusal<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error @ Error::File { .. }) => error.to_string(),
        Err(error) => panic!("not a complaint about the file: {error}"),
    }
}
