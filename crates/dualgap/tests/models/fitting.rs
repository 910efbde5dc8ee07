//! Small problems fitted with everything that a run can be given, and what is compared of such runs.

use crate::common::wide::Wide;
use crate::common::{Kind, Small, fits, with_blocks};
use dualgap::data::{Examples, Sequences};
use dualgap::dual::{Settings, Witness};
use dualgap::run::{Budget, Certificate, Observer, Report, Stop, Work};
use dualgap::structure::evaluation::Evaluation;
use dualgap::structure::{Chain, Hamming, Multiclass, Names, Structure};
use dualgap::task::{DualEvidence, Model, Provenance, Verified};
use dualgap::term::Costs;
use dualgap::{Error, Result};
use std::path::Path;

/// A model of either structure that a small problem can have.
#[derive(Clone, Debug)]
pub enum Fitted {
    Chain(Model<Chain>),
    Classes(Model<Multiclass>),
}

/// Evaluates an expression with the model of a [`Fitted`], whichever it is.
macro_rules! with_model {
    ($fitted:expr, |$model:ident| $body:expr) => {
        match $fitted {
            $crate::models::fitting::Fitted::Chain($model) => $body,
            $crate::models::fitting::Fitted::Classes($model) => $body,
        }
    };
}

impl Fitted {
    pub fn weights(&self) -> &[f64] {
        with_model!(self, |model| &model.weights)
    }

    pub fn certificate(&self) -> Certificate {
        with_model!(self, |model| model.certificate)
    }

    pub fn provenance(&self) -> &Provenance {
        with_model!(self, |model| &model.provenance)
    }

    pub fn witness(&self) -> &Witness {
        with_model!(self, |model| model.witness.as_ref().unwrap())
    }

    pub fn witness_mut(&mut self) -> &mut Option<Witness> {
        with_model!(self, |model| &mut model.witness)
    }

    pub fn names_mut(&mut self) -> &mut Names {
        with_model!(self, |model| &mut model.names)
    }

    pub fn certify(&self, small: &Small) -> Result<Verified> {
        match self {
            Self::Chain(model) => model.certify(&small.sequences()),
            Self::Classes(model) => model.certify(&small.examples()),
        }
    }

    pub fn evaluate(&self, small: &Small) -> Evaluation {
        match self {
            Self::Chain(model) => model.evaluate(&small.sequences()).unwrap(),
            Self::Classes(model) => model.evaluate(&small.examples()).unwrap(),
        }
    }

    fn chain(&self) -> &Model<Chain> {
        match self {
            Self::Chain(model) => model,
            Self::Classes(_) => panic!("not a chain"),
        }
    }

    fn classes(&self) -> &Model<Multiclass> {
        match self {
            Self::Classes(model) => model,
            Self::Chain(_) => panic!("a chain"),
        }
    }
}

/// A fit and what it is given beside the problem.
pub struct Fit<'a> {
    pub settings: Settings,
    pub budget: Budget,
    /// Where it is kept, and after how many passes.
    pub keep: Option<(&'a Path, f64)>,
    pub resume: Option<&'a Path>,
    pub warm_start: Option<&'a Fitted>,
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

    pub fn warm(self, model: &'a Fitted) -> Self {
        Self { warm_start: Some(model), ..self }
    }

    pub fn run(&self, small: &Small) -> Result<Report<Fitted>> {
        self.watched(small, &mut ())
    }

    pub fn watched(&self, small: &Small, observer: &mut dyn Observer) -> Result<Report<Fitted>> {
        match &small.kind {
            Kind::Chain(hamming) => self.chain(&small.sequences(), *hamming, observer),
            Kind::Multiclass(costs) => self.classes(&small.examples(), costs, observer),
        }
    }

    pub fn chain(
        &self,
        data: &Sequences,
        hamming: Hamming,
        observer: &mut dyn Observer,
    ) -> Result<Report<Fitted>> {
        let fit = self.of(Chain::new(hamming)).warm(self.warm_start.map(Fitted::chain));
        Ok(fit.observed(observer).run(data)?.map(Fitted::Chain))
    }

    pub fn classes(
        &self,
        data: &Examples,
        costs: &Costs,
        observer: &mut dyn Observer,
    ) -> Result<Report<Fitted>> {
        let fit = self.of(Multiclass::with_costs(costs.clone()));
        let fit = fit.warm(self.warm_start.map(Fitted::classes));
        Ok(fit.observed(observer).run(data)?.map(Fitted::Classes))
    }

    fn of<'f, S: Structure>(&self, structure: S) -> fits::Fit<'f, S>
    where
        'a: 'f,
    {
        let fit = fits::Fit::new(structure, &self.settings, &self.budget).resumed(self.resume);
        match self.keep {
            Some((file, every)) => fit.kept(Some(file), every),
            None => fit,
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
    pub fn of(report: &Report<Fitted>) -> Self {
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let Witness { starts, keys, weights, outputs } = report.model.witness().clone();
        assert!(outputs.is_empty(), "numbers name their corners");
        let c = report.certificate;
        assert_eq!(report.model.certificate(), c);
        assert_eq!(report.model.provenance().stop, report.stop);
        assert_eq!(report.model.provenance().oracle_calls, report.work.oracle_calls);
        let history = report.history.iter().map(|at| {
            let c = at.certificate;
            let values = [c.primal, c.dual, c.rounding_error, at.iterate_primal, at.iterate_dual];
            let [a, b, c1, d, e] = values.map(f64::to_bits);
            let gap = at.gap.map_or(0, f64::to_bits);
            (at.work, c.certified, [a, b, c1, d, e, gap, at.passes.to_bits()])
        });
        Self {
            weights: bits(report.model.weights()),
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
pub fn assert_true(small: &Small, model: &Fitted) {
    let (c, problem) = (model.certificate(), small.explicit());
    let primal = problem.primal(model.weights());
    let off = (primal - Wide::from(c.primal)).abs().float();
    assert!(c.certified && off <= c.rounding_error, "{off:e} {c:?}");
    let off = (exact_dual(small, model) - Wide::from(c.dual)).abs().float();
    assert!(off <= c.rounding_error, "{off:e} {c:?}");
    assert_eq!(model.certify(small).unwrap().evidence, DualEvidence::Witness);
}

/// The dual value of a model's witness on a problem, to 32 digits.
pub fn exact_dual(small: &Small, model: &Fitted) -> Wide {
    with_blocks!(small, |blocks| {
        let points = model.witness().points(&blocks).unwrap();
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
