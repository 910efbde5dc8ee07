//! The structure under a kernel.

use super::posed::KernelProblem;
use super::{Support, UnderKernel};
use crate::container::{Fault, Reader, Tensor};
use crate::data::{Classes, Format, Loaded, Recipe, Sequences, Source, TargetKind};
use crate::linalg::kernels::add_scaled;
use crate::linalg::parallel;
use crate::structure::evaluation::{ErrorKind, Evaluation};
use crate::structure::posed::{Posed, Posing};
use crate::structure::{Choice, Fitted, Names, Purpose, Structure, Table, WeightOf, Words};
use crate::term::{Gram, Kernel, KernelFunction, Penalty};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A structure under a kernel on its inputs.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::Budget;
/// use dualgap::structure::{Kernelised, Multiclass};
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{KernelFunction, Penalty};
///
/// // No line separates the classes.
/// let rows = [vec![0.0, 0.0], vec![1.0, 1.0], vec![0.0, 1.0], vec![1.0, 0.0]];
/// let data = Examples::from_dense(&rows, &["even", "even", "odd", "odd"])?;
/// let kernel = KernelFunction::Rbf { gamma: Some(2.0) };
/// let task = Task::new(Kernelised::new(Multiclass::default(), kernel), Penalty::ridge(0.01));
/// let model = task.fit(&data, Plan::new(Budget::relative(1e-3)))?.model;
/// assert_eq!(model.predict(&data)?, [0, 0, 1, 1]);
/// assert_eq!(model.support.as_ref().unwrap().len(), 4);
/// assert!(model.certify(&data)?.certificate.relative_gap() <= 1e-3);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernelised<S, K = KernelFunction> {
    /// The structure.
    pub of: S,
    /// The kernel.
    pub kernel: K,
    /// How many bytes of kernel values a run keeps. The result does not depend on it, nor does equality of tasks.
    #[serde(skip, default = "default_cache")]
    pub cache_bytes: usize,
}

fn default_cache() -> usize {
    CACHE_BYTES
}

/// Kernel values of 1 GiB are kept unless a task says otherwise: all of 11,000 examples. That is five times as much as
/// scikit-learn keeps by default, for numbers that are twice as long.
const CACHE_BYTES: usize = 1 << 30;

impl<S: PartialEq, K: PartialEq> PartialEq for Kernelised<S, K> {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of && self.kernel == other.kernel
    }
}

impl<S: UnderKernel, K: Kernel> Kernelised<S, K> {
    /// Returns a structure under a kernel.
    pub fn new(of: S, kernel: K) -> Self {
        Self { of, kernel, cache_bytes: CACHE_BYTES }
    }

    /// Returns the structure with this bound on the bytes of kernel values that a run keeps.
    #[must_use]
    pub fn with_cache(self, cache_bytes: usize) -> Self {
        Self { cache_bytes, ..self }
    }

    /// Calls `with` with data whose inputs are one-hot, and with the values of the model's functions at the inputs as
    /// their weights.
    fn at_inputs<R>(
        &self,
        fitted: Fitted<'_>,
        data: &S::Data,
        with: impl FnOnce(Fitted<'_>, &S::Data) -> Result<R>,
    ) -> Result<R> {
        let Some(support) = fitted.support else {
            return Err(Error::setting("a model under a kernel predicts with its support vectors"));
        };
        let inputs = S::inputs(data);
        let mut narrow = None;
        if inputs.width() > fitted.names.features {
            narrow.insert(inputs.clone()).fit_width(fitted.names.features);
        }
        let inputs = narrow.as_ref().unwrap_or(inputs);
        let columns = self.of.columns(fitted.names);
        let Some((beta, rest)) = fitted.weights.split_at_checked(support.len() * columns) else {
            return Err(Error::setting("there are fewer coefficients than support vectors"));
        };
        let gram = Gram::new(support.rows(), &self.kernel, 0)?;
        let buffer = || vec![0.0; support.len()];
        let values = parallel::map(inputs.len(), buffer, |values, i| {
            gram.values(inputs.row(i), 0..support.len(), values);
            let mut scores = vec![0.0; columns];
            for (beta, value) in beta.chunks_exact(columns).zip(&*values) {
                add_scaled(beta, *value, &mut scores);
            }
            Ok(scores)
        })?;
        let mut weights = values.concat();
        weights.extend_from_slice(rest);
        let names = Names { features: inputs.len(), ..fitted.names.clone() };
        let fitted = Fitted {
            names: &names,
            weights: &weights,
            low_rank: None,
            support: None,
            packed: None,
        };
        with(fitted, &S::one_hot(data))
    }
}

impl<S: UnderKernel, K: Kernel> Structure for Kernelised<S, K> {
    const NAME: &'static str = S::KERNEL_NAME;
    const SEQUENCES: bool = S::SEQUENCES;
    type Data = S::Data;
    type Output = S::Output;

    fn names(&self, data: &S::Data) -> Result<Names> {
        self.of.names(data)
    }

    fn resolve(self, data: &S::Data) -> Result<Self> {
        let kernel = self.kernel.resolve(S::inputs(data))?;
        Ok(Self { of: self.of.resolve(data)?, kernel, ..self })
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.kernel.check()?;
        if self.kernel.function().is_some_and(|function| !function.is_definite()) {
            return Err(Error::setting("the kernel has no gamma: only training data decide it"));
        }
        self.of.check_kernel()?;
        self.of.check(names)
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        match penalty {
            Penalty::Ridge { l1, nonnegative: false, free: None, .. } if *l1 == 0.0 => {
                self.of.check_kernel()
            }
            Penalty::Ridge { free: Some(_), .. } | Penalty::Lasso { free: Some(_), .. } => {
                Err(Error::setting(format!(
                    "an intercept without penalty does not go with {}: {}=penalised adds a constant to the inputs",
                    Setting::Kernel,
                    Setting::Intercept
                )))
            }
            _ => Err(Error::setting(
                "a model under a kernel has the penalty λ/2‖f‖² and no other: no l1 norm, no ball, no signs, and no weight \
                 without penalty",
            )),
        }
    }

    fn allows_option(&self, choice: Choice, penalty: &Penalty) -> Result<()> {
        if S::HAS_OPTIONS {
            return self.of.allows_option(choice, penalty);
        }
        Err(Error::setting(format!(
            "the options of Prox-SDCA are for linear models under a kernel: leave {} or {} out",
            Setting::Option,
            Setting::Kernel
        )))
    }

    fn allows_scaling(&self) -> bool {
        false
    }

    fn pose<'d>(&'d self, data: &'d S::Data, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let gram = Gram::new(S::inputs(data), &self.kernel, self.cache_bytes)?;
        Ok(Posed::new(KernelProblem::new(&self.of, data, gram, posing)?))
    }

    fn is_akin(&self, other: &Self) -> bool {
        self.of.is_akin(&other.of)
    }

    fn relabel(
        &self,
        names: &Names,
        data: &S::Data,
        i: usize,
        old: &Names,
        entries: &[(u64, f64)],
    ) -> Option<Vec<(u64, f64)>> {
        self.of.relabel(names, data, i, old, entries)
    }

    fn support(&self, data: &S::Data) -> Option<Support> {
        Some(Support::all(S::inputs(data)))
    }

    /// The tensors of the weights without a kernel. The first of a structure are those of the inputs, and these are
    /// coefficients.
    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        self.of.layout(names).split_off(1)
    }

    fn columns(&self, names: &Names) -> usize {
        self.of.columns(names)
    }

    fn put(&self, put: &mut dyn FnMut(&str, Tensor)) {
        self.of.put(put);
    }

    fn take(self, file: &Reader<'_>, names: &Names) -> Result<Self, Fault> {
        Ok(Self { of: self.of.take(file, names)?, ..self })
    }

    fn predict(&self, fitted: Fitted<'_>, data: &S::Data) -> Result<Vec<S::Output>> {
        self.at_inputs(fitted, data, |fitted, data| self.of.predict(fitted, data))
    }

    fn check_scores(&self) -> Result<()> {
        self.of.check_scores()
    }

    fn check_probabilities(&self) -> Result<()> {
        self.of.check_probabilities()
    }

    fn scores(&self, fitted: Fitted<'_>, data: &S::Data) -> Result<Table> {
        self.at_inputs(fitted, data, |fitted, data| self.of.scores(fitted, data))
    }

    fn probabilities(&self, fitted: Fitted<'_>, data: &S::Data) -> Result<Table> {
        self.at_inputs(fitted, data, |fitted, data| self.of.probabilities(fitted, data))
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &S::Data) -> Result<Evaluation> {
        self.at_inputs(fitted, data, |fitted, data| self.of.evaluate(fitted, data))
    }

    fn error_kind(&self) -> ErrorKind {
        self.of.error_kind()
    }

    fn describe(&self, names: &Names) -> Words {
        let mut words = self.of.describe(names).with("kernel", json!(self.kernel));
        words.lines.push(("kernel", self.kernel.describe()));
        words
    }

    fn spell(&self, names: &Names, output: &S::Output) -> Vec<String> {
        self.of.spell(names, output)
    }

    fn weight(&self, names: &Names, place: usize) -> WeightOf {
        self.of.weight(names, place)
    }

    fn weighted(&self, names: &Names) -> Vec<String> {
        self.of.weighted(names)
    }

    fn guess(head: &str) -> Format {
        S::guess(head)
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<S::Data>> {
        self.of.read(recipe, source, purpose)
    }

    fn of_sequences(sequences: Sequences) -> Option<S::Data> {
        S::of_sequences(sequences)
    }

    fn target(&self) -> TargetKind {
        self.of.target()
    }

    fn complaint(&self, data: &S::Data) -> Option<(String, String)> {
        self.of.complaint(data)
    }

    fn classes<'d>(&self, data: &'d S::Data) -> Option<&'d Classes> {
        self.of.classes(data)
    }

    fn labels(&self, data: &S::Data, example: usize) -> Option<Vec<usize>> {
        self.of.labels(data, example)
    }
}
