//! Small problems under a kernel, fitted by the library, and their values by definition.

use crate::common::explicit::Explicit;
use crate::common::wide::{self, Wide, wide};
use crate::common::{Kind, Small};
use dualgap::dual::Mixture;
use dualgap::run::{Budget, Certificate, Checkpoint, InMemory};
use dualgap::structure::{Chain, Kernelised, Multiclass, UnderKernel};
use dualgap::task::{DualMethod, Keep, Plan, Resume, Task};
use dualgap::term::{Kernel, KernelFunction, Penalty};

pub const RBF: KernelFunction = KernelFunction::Rbf { gamma: Some(0.7) };
pub const POLYNOMIAL: KernelFunction =
    KernelFunction::Polynomial { degree: 3, gamma: Some(0.5), coef0: 1.0 };

/// How a problem is fitted.
#[derive(Clone)]
pub struct Way {
    pub method: DualMethod,
    pub budget: Budget,
    pub cache_bytes: usize,
    pub threads: usize,
    pub resume: Option<Checkpoint>,
}

impl Way {
    pub fn new(method: DualMethod, budget: Budget) -> Self {
        Self { method, budget, cache_bytes: 1 << 20, threads: 1, resume: None }
    }

    pub fn default_to(relative: f64) -> Self {
        Self::new(DualMethod::default(), Budget::relative(relative))
    }
}

/// What a fit ends with.
pub struct Fit {
    pub certificate: Certificate,
    /// A coefficient for every input and label, and the weights behind them.
    pub weights: Vec<f64>,
    pub points: Vec<Mixture>,
    pub checkpoint: Option<Checkpoint>,
}

/// Fits a problem under a kernel.
pub fn fit<K: Kernel>(small: &Small, kernel: &K, way: &Way) -> Fit {
    match &small.kind {
        Kind::Chain(hamming) => {
            fitted(Chain::new(*hamming), &small.sequences(), small, kernel, way)
        }
        Kind::Multiclass(costs) => {
            fitted(Multiclass::with_costs(costs.clone()), &small.examples(), small, kernel, way)
        }
    }
}

fn fitted<S: UnderKernel, K: Kernel>(
    of: S,
    data: &S::Data,
    small: &Small,
    kernel: &K,
    way: &Way,
) -> Fit {
    let structure = Kernelised::new(of, kernel.clone()).with_cache(way.cache_bytes);
    let mut memory = InMemory::default();
    let plan = Plan {
        method: way.method.clone().into(),
        threads: way.threads,
        checkpoints: Some(Keep::Sink(&mut memory)),
        resume: way.resume.clone().map(Resume::Checkpoint),
        ..Plan::new(way.budget.clone())
    };
    let model = Task::new(structure, Penalty::ridge(small.lambda)).fit(data, plan).unwrap().model;
    let verified = model.certify(data).unwrap().certificate;
    assert_eq!(
        (verified.primal, verified.dual),
        (model.certificate.primal, model.certificate.dual)
    );
    let support = model.support.as_ref().unwrap();
    let (inputs, labels) = (small.inputs.concat().len(), small.labels);
    let mut weights = vec![0.0; inputs * labels];
    for (k, &i) in support.examples().iter().enumerate() {
        let own = &model.weights[k * labels..(k + 1) * labels];
        weights[i as usize * labels..][..labels].copy_from_slice(own);
    }
    weights.extend_from_slice(&model.weights[support.len() * labels..]);
    let witness = model.witness.as_ref().unwrap();
    let point = |i| Mixture::from_entries(witness.entries(i).unwrap()).unwrap();
    Fit {
        certificate: model.certificate,
        weights,
        points: (0..small.len()).map(point).collect(),
        checkpoint: memory.last,
    }
}

/// k(x, z) in 32 digits.
pub fn value(kernel: KernelFunction, x: &[f64], z: &[f64]) -> Wide {
    let each = || x.iter().zip(z).map(|(&x, &z)| (wide(x), wide(z)));
    match kernel {
        KernelFunction::Rbf { gamma: Some(gamma) } => {
            let distance: Wide = each().map(|(x, z)| (x - z) * (x - z)).sum();
            wide::exp(-(wide(gamma) * distance))
        }
        KernelFunction::Polynomial { degree, gamma: Some(gamma), coef0 } => {
            let product: Wide = each().map(|(x, z)| x * z).sum();
            let base = wide(gamma) * product + wide(coef0);
            (0..degree).fold(Wide::ONE, |power, _| power * base)
        }
        _ => each().map(|(x, z)| x * z).sum(),
    }
}

/// The kernel's matrix at all inputs, those of the first example first.
pub fn gram(small: &Small, kernel: KernelFunction) -> Vec<Vec<Wide>> {
    let inputs = small.inputs.concat();
    inputs.iter().map(|x| inputs.iter().map(|z| value(kernel, x, z)).collect()).collect()
}

/// The same problem with other inputs, one for each.
pub fn with_inputs(small: &Small, mut input: impl FnMut(usize) -> Vec<f64>) -> Small {
    let mut place = 0;
    let mut next = |_: &Vec<f64>| {
        place += 1;
        input(place - 1)
    };
    let inputs = small.inputs.iter().map(|rows| rows.iter().map(&mut next).collect()).collect();
    Small { inputs, ..small.clone() }
}

/// A problem under a kernel, written out.
pub struct Judge {
    labels: usize,
    lambda: f64,
    gram: Vec<Vec<Wide>>,
    one_hot: Explicit,
}

impl Judge {
    pub fn new(small: &Small, kernel: KernelFunction) -> Self {
        let gram = gram(small, kernel);
        let n = gram.len();
        let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect();
        let one_hot = with_inputs(small, unit).explicit();
        Self { labels: small.labels, lambda: small.lambda, gram, one_hot }
    }

    /// The values of all functions at all inputs.
    fn values(&self, beta: &[Wide]) -> Vec<Wide> {
        let labels = self.labels;
        let value = |row: &Vec<Wide>, y: usize| -> Wide {
            row.iter().enumerate().map(|(j, &k)| k * beta[j * labels + y]).sum()
        };
        self.gram.iter().flat_map(|row| (0..labels).map(move |y| value(row, y))).collect()
    }

    fn half_square(&self, weights: &[Wide]) -> Wide {
        let (beta, rest) = weights.split_at(self.gram.len() * self.labels);
        let own: Wide = beta.iter().zip(self.values(beta)).map(|(&b, f)| b * f).sum();
        let others: Wide = rest.iter().map(|&u| u * u).sum();
        (own + others) * wide(0.5)
    }

    /// P of coefficients.
    pub fn primal(&self, weights: &[f64]) -> f64 {
        let exact: Vec<Wide> = weights.iter().map(|&w| wide(w)).collect();
        let coefficients = self.gram.len() * self.labels;
        let mut read: Vec<f64> = self.values(&exact).into_iter().map(Wide::float).collect();
        read.extend_from_slice(&weights[coefficients..]);
        let explicit = &self.one_hot;
        let losses: Wide =
            explicit.masses.iter().enumerate().map(|(i, &m)| m * explicit.hinge(i, &read)).sum();
        (losses + self.half_square(&exact) * wide(self.lambda)).float()
    }

    /// D of a distribution over outputs.
    pub fn dual(&self, alpha: &[Vec<Wide>]) -> f64 {
        let explicit = &self.one_hot;
        let term = |(i, &mass): (usize, &Wide)| {
            let corners = explicit.examples[i].iter().zip(&alpha[i]);
            mass * corners.map(|(corner, &alpha)| alpha * corner.exact_loss).sum::<Wide>()
        };
        let losses: Wide = explicit.masses.iter().enumerate().map(term).sum();
        (losses - self.half_square(&explicit.image(alpha)) * wide(self.lambda)).float()
    }
}
