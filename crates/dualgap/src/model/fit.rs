//! Training: from data to a certified model.

use super::checkpoint::{self, CheckpointFile, Checkpoints};
use super::scaled::{self, Unscaled, recertify};
use super::sides::sides;
use super::{Model, Provenance, Structure};
use crate::data::{Alphabet, Examples, Factors, Scaling, Sequences, Vocabulary, fingerprint};
use crate::dual::{self, Begin, Blocks, Settings, Solution, Witness, Witnessed};
use crate::run::{Budget, Certificate, CheckpointSink, Observer, Progress, Report, Stop};
use crate::structure::chain::edges;
use crate::structure::{
    ChainBlocks, Choice, Hamming, LinearBlocks, MulticlassBlocks, ScoreBlocks, train_pure_l1_from,
};
use crate::term::{Costs, Loss, MulticlassLoss, ScalarLoss};
use crate::{Error, Result, Setting};
use std::path::Path;

/// Trains a multiclass model.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{fit_multiclass, verify_examples};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::term::Costs;
///
/// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![0.9, 0.0], vec![0.0, 0.7]];
/// let data = Examples::from_dense(&rows, &["left", "right", "left", "right"])?;
/// let budget = Budget::relative(1e-4);
/// let report = fit_multiclass(&data, &Costs::ZeroOne, &Settings::default(), &budget, &mut ())?;
/// assert_eq!(report.model.predict_row(data.rows().row(1)), 1);
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
    fit_multiclass_with(data, costs, Plan::new(settings, budget, observer))
}

/// [`fit_multiclass`] with all options of a run.
pub fn fit_multiclass_with(
    data: &Examples,
    costs: &Costs,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let (factors, scaled) = scaled::apply(plan.scale, data)?;
    let blocks = MulticlassBlocks::new(&scaled, costs)?;
    fit_classes(&blocks, data, &factors, costs, MulticlassLoss::Hinge, None, plan)
}

/// Trains a multiclass model under any loss of its scores by Prox-SDCA. For the hinge, [`fit_multiclass_with`]
/// solves the same problem by block-coordinate Frank-Wolfe.
pub fn fit_vector_with(
    data: &Examples,
    costs: &Costs,
    loss: MulticlassLoss,
    choice: Choice,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let (factors, scaled) = scaled::apply(plan.scale, data)?;
    let blocks = ScoreBlocks::new(&scaled, costs, loss, choice)?;
    fit_classes(&blocks, data, &factors, costs, loss, Some(choice), plan)
}

fn fit_classes<B: Witnessed>(
    blocks: &B,
    data: &Examples,
    factors: &Factors,
    costs: &Costs,
    loss: MulticlassLoss,
    choice: Option<Choice>,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    let untrained = classes_untrained(data, costs, loss, choice, &plan);
    // A point is a distribution over classes; their numbers may differ between the two models.
    let point = |old: &Model, _: usize, entries: &[(u64, f64)]| {
        let alphabet = data.vocabulary().alphabet;
        let class = |key: u64| alphabet.index(old.alphabet.names().get(key as usize)?);
        let mut entries: Vec<(u64, f64)> = entries
            .iter()
            .map(|&(key, weight)| Some((class(key)? as u64, weight)))
            .collect::<Option<_>>()?;
        entries.sort_unstable_by_key(|&(key, _)| key);
        Some(entries)
    };
    let (settings, budget) = (plan.settings, plan.budget);
    fit(blocks, untrained, factors, plan, wrong_labels, point, |begin, observer, sink| {
        dual::train_from(blocks, settings, begin, budget, observer, sink)
    })
}

/// Returns a multiclass model with everything that is known before training.
pub(super) fn classes_untrained(
    data: &Examples,
    costs: &Costs,
    loss: MulticlassLoss,
    choice: Option<Choice>,
    plan: &Plan<'_, Examples>,
) -> Model {
    let costs = match costs {
        Costs::ZeroOne => None,
        Costs::Matrix(costs) => Some(costs.clone()),
    };
    let (structure, alphabet) = (Structure::Multiclass { costs, loss }, data.vocabulary().alphabet);
    let mut untrained = examples_untrained(data, structure, alphabet, plan);
    untrained.provenance.option = choice;
    untrained
}

/// Returns the fraction of wrong labels.
pub(super) fn wrong_labels(model: &Model, test: &Examples) -> f64 {
    model.evaluate_examples(test).map_or(f64::NAN, |evaluation| evaluation.error())
}

/// Trains a chain model.
pub fn fit_chain(
    data: &Sequences,
    hamming: Hamming,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Model>> {
    fit_chain_with(data, hamming, Plan::new(settings, budget, observer))
}

/// [`fit_chain`] with all options of a run.
pub fn fit_chain_with(
    data: &Sequences,
    hamming: Hamming,
    plan: Plan<'_, Sequences>,
) -> Result<Report<Model>> {
    if !plan.scale.is_none() {
        return Err(Error::setting("the columns of sequences cannot be scaled"));
    }
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let blocks = ChainBlocks::new(data, hamming)?;
    let untrained = untrained(
        Structure::Chain { hamming },
        data.vocabulary(),
        data.edge_features(),
        data.len(),
        fingerprint(data),
        plan.settings,
    );
    // The point of a sequence depends on its positions and labels, and not on the features.
    let point = |old: &Model, i: usize, entries: &[(u64, f64)]| {
        let length = data.truth(i).len();
        let fits = entries.last().is_some_and(|&(key, _)| edges::position_of(key) + 1 == length);
        let label = |y: usize| data.alphabet().index(old.alphabet.names().get(y)?);
        fits.then(|| edges::relabelled(entries, label)).flatten()
    };
    let error = |model: &Model, test: &Sequences| model.evaluate_sequences(test).error();
    let (settings, budget) = (plan.settings, plan.budget);
    fit(&blocks, untrained, &Factors::default(), plan, error, point, |begin, observer, sink| {
        dual::train_from(&blocks, settings, begin, budget, observer, sink)
    })
}

/// Trains a linear model: it predicts a number for each example, whose sign is the class under losses of two
/// classes.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{fit_linear, verify_linear};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::structure::Choice;
/// use dualgap::term::ScalarLoss;
///
/// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 6.0])?;
/// let settings = Settings { lambda: 1e-6, ..Settings::default() };
/// let budget = Budget { absolute: Some(1e-9), ..Budget::relative(0.0) };
/// let report = fit_linear(&data, ScalarLoss::Squared, Choice::I, &settings, &budget, &mut ())?;
/// assert!((report.model.weights[0] - 2.0).abs() < 1e-3);
/// verify_linear(&report.model, &data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn fit_linear(
    data: &Examples,
    loss: ScalarLoss,
    choice: Choice,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Model>> {
    fit_linear_with(data, loss, choice, Plan::new(settings, budget, observer))
}

/// [`fit_linear`] with all options of a run.
pub fn fit_linear_with(
    data: &Examples,
    loss: ScalarLoss,
    choice: Choice,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let (factors, scaled) = scaled::apply(plan.scale, data)?;
    let blocks = LinearBlocks::new(scaled.rows(), linear_targets(data, loss)?, loss, choice)?;
    let untrained = linear_untrained(data, loss, Some(choice), &plan);
    let alphabet = untrained.alphabet.clone();
    // The nearest dual variable that is feasible under this loss; nothing carries over from a model of other classes.
    let point = |old: &Model, i: usize, entries: &[(u64, f64)]| match entries {
        [(0, alpha)] if old.alphabet == alphabet => {
            let (low, high) = loss.domain(blocks.targets()[i]);
            Some(vec![(0, alpha.clamp(low, high))])
        }
        _ => None,
    };
    let (settings, budget) = (plan.settings, plan.budget);
    fit(&blocks, untrained, &factors, plan, linear_error, point, |begin, observer, sink| {
        if settings.lambda > 0.0 && settings.regulariser.q_norm {
            return dual::train_q_norm_from(&blocks, settings, begin, budget, observer, sink);
        }
        if settings.lambda > 0.0 {
            return dual::train_from(&blocks, settings, begin, budget, observer, sink);
        }
        let from = match begin {
            Begin::Fresh => None,
            Begin::At(checkpoint) => Some(checkpoint),
            Begin::Points(_) => {
                return Err(Error::setting(
                    "without lambda a run cannot begin with the dual point of another model",
                ));
            }
        };
        train_pure_l1_from(&blocks, settings, from, budget, observer, sink)
    })
}

/// Returns the targets of a linear model: −1 and 1 for the first and the second of two classes, or numbers.
pub(super) fn linear_targets(data: &Examples, loss: ScalarLoss) -> Result<Vec<f64>> {
    if loss.is_binary() { data.signs() } else { data.numbers().map(<[f64]>::to_vec) }
}

/// Returns a linear model with everything that is known before training.
pub(super) fn linear_untrained(
    data: &Examples,
    loss: ScalarLoss,
    choice: Option<Choice>,
    plan: &Plan<'_, Examples>,
) -> Model {
    let alphabet = if loss.is_binary() { data.vocabulary().alphabet } else { Alphabet::none() };
    let mut untrained = examples_untrained(data, Structure::Linear { loss }, alphabet, plan);
    untrained.provenance.option = choice;
    untrained
}

/// Returns a model of independent examples with everything that is known before training.
pub(super) fn examples_untrained(
    data: &Examples,
    structure: Structure,
    alphabet: &Alphabet,
    plan: &Plan<'_, Examples>,
) -> Model {
    let vocabulary = Vocabulary { alphabet, ..data.vocabulary() };
    let mut untrained =
        untrained(structure, vocabulary, 0, data.len(), fingerprint(data), plan.settings);
    untrained.provenance.scale = plan.scale;
    untrained
}

/// Returns the fraction of wrong classes, or the root mean squared error of numbers.
pub(super) fn linear_error(model: &Model, test: &Examples) -> f64 {
    match model.structure {
        Structure::Linear { loss } if !loss.is_binary() => {
            model.evaluate_numbers(test).map_or(f64::NAN, |errors| errors.rmse)
        }
        _ => wrong_labels(model, test),
    }
}

/// How to fit a model: the settings, the budget, and the options of a run.
pub struct Plan<'a, D> {
    /// The settings of the engine. Their sample weights, if any, replace those of the data.
    pub settings: &'a Settings,
    /// When to stop.
    pub budget: &'a Budget,
    /// The observer that receives the progress of the run.
    pub observer: &'a mut dyn Observer,
    /// What the columns are divided by before the run; the weights of the model are for the unscaled data
    /// nevertheless. The columns of sequences cannot be scaled.
    pub scale: Scaling,
    /// Test data whose error (the fraction of wrong labels, or the root mean squared error) the observer receives
    /// with every certification.
    pub watch: Option<&'a D>,
    /// Where checkpoints go, and how often.
    pub checkpoints: Option<Checkpoints>,
    /// A checkpoint to resume from.
    pub resume: Option<&'a Path>,
    /// A model whose witness the run starts from. It may have been trained on the same data or on more or fewer
    /// examples, under any λ.
    pub warm_start: Option<&'a Model>,
}

impl<'a, D> Plan<'a, D> {
    /// Plans a run from the default start, without scaling, test data or checkpoints.
    pub fn new(settings: &'a Settings, budget: &'a Budget, observer: &'a mut dyn Observer) -> Self {
        let (scale, watch) = (Scaling::None, None);
        let (checkpoints, resume, warm_start) = (None, None, None);
        Self { settings, budget, observer, scale, watch, checkpoints, resume, warm_start }
    }
}

/// Returns the plan with the sample weights of the data, unless the settings have their own.
pub(super) fn weighed<'p, 'a: 'p, D>(
    plan: Plan<'a, D>,
    weights: Option<&[f64]>,
    own: &'p mut Option<Settings>,
) -> Plan<'p, D> {
    let Plan { settings, budget, observer, scale, watch, checkpoints, resume, warm_start } = plan;
    let settings = match (&settings.sample_weights, weights) {
        (None, Some(weights)) => {
            let sample_weights = Some(weights.to_vec());
            &*own.insert(Settings { sample_weights, ..settings.clone() })
        }
        _ => settings,
    };
    Plan { settings, budget, observer, scale, watch, checkpoints, resume, warm_start }
}

/// Returns a model with everything that is known before training.
pub(super) fn untrained(
    structure: Structure,
    vocabulary: Vocabulary<'_>,
    pair_features: usize,
    examples: usize,
    fingerprint: String,
    settings: &Settings,
) -> Model {
    Model {
        structure,
        alphabet: vocabulary.alphabet.clone(),
        features: vocabulary.features,
        pair_features,
        dictionary: vocabulary.dictionary.clone(),
        weights: Vec::new(),
        low_rank: None,
        certificate: Certificate { primal: 0.0, dual: 0.0, rounding_error: 0.0, certified: false },
        provenance: Provenance {
            program: concat!("dualgap ", env!("CARGO_PKG_VERSION")).into(),
            lambda: settings.lambda,
            regulariser: settings.regulariser,
            solver: settings.method,
            step: settings.step,
            direction: settings.direction,
            cache: settings.cache,
            sampling: settings.sampling,
            shrinking: settings.shrinking,
            acceleration: settings.acceleration,
            average: settings.average,
            batch: settings.batch,
            seed: settings.seed,
            stop: Stop::Interrupted,
            passes: 0.0,
            oracle_calls: 0,
            examples,
            ball: None,
            option: None,
            scale: Scaling::None,
            recipe: None,
            fingerprint,
        },
        sample_weights: settings.sample_weights.clone(),
        witness: None,
    }
}

type Trained<B> = Result<Report<Solution<<B as Blocks>::Point>>>;

fn fit<B: Witnessed, D: Sync>(
    blocks: &B,
    untrained: Model,
    factors: &Factors,
    plan: Plan<'_, D>,
    error: impl Fn(&Model, &D) -> f64 + Send,
    point: impl Fn(&Model, usize, &[(u64, f64)]) -> Option<Vec<(u64, f64)>>,
    train: impl FnOnce(
        Begin<B::Point>,
        &mut dyn Observer,
        Option<&mut dyn CheckpointSink>,
    ) -> Trained<B>,
) -> Result<Report<Model>> {
    let Plan { settings, budget, observer, scale: _, watch, checkpoints, resume, warm_start } =
        plan;
    let identity = checkpoint::identity(&untrained, settings, budget);
    let begin = match (resume, warm_start) {
        (Some(path), _) => Begin::At(checkpoint::load(path, &identity)?),
        (None, Some(old)) => {
            check_kin(old, &untrained)?;
            Begin::Points(warm_points(blocks, old, point)?)
        }
        (None, None) => Begin::Fresh,
    };
    let file = checkpoints.map(|checkpoints| CheckpointFile::new(checkpoints, identity));
    let mut file = file.transpose()?;
    let sink = file.as_mut().map(|file| file as &mut dyn CheckpointSink);
    let report = watched(watch, &untrained, factors, error, observer, |observer| {
        train(begin, observer, sink)
    })?;
    finished(report, untrained, blocks, factors, budget)
}

/// Runs a training whose observer receives weights for the unscaled data and, if there are test data, the error on
/// them.
pub(super) fn watched<D: Sync, R>(
    test: Option<&D>,
    untrained: &Model,
    factors: &Factors,
    error: impl Fn(&Model, &D) -> f64 + Send,
    observer: &mut dyn Observer,
    train: impl FnOnce(&mut dyn Observer) -> R,
) -> R {
    match test {
        Some(data) => {
            let observer = &mut Watched { model: untrained.clone(), data, error, observer };
            train(&mut Unscaled { factors, observer })
        }
        None => train(&mut Unscaled { factors, observer }),
    }
}

/// Returns the model of a finished run.
fn finished<B: Witnessed>(
    report: Report<Solution<B::Point>>,
    untrained: Model,
    blocks: &B,
    factors: &Factors,
    budget: &Budget,
) -> Result<Report<Model>> {
    let witness = Witness::of(blocks, &report.model.points);
    let mut report =
        named(report, untrained, |solution| factors.raw(solution.weights).into_owned());
    if !factors.are_none() {
        let sides = sides(&report.model, blocks)?;
        recertify(&mut report, &witness, &*sides, factors, budget)?;
    }
    report.model.witness = Some(witness);
    Ok(report)
}

/// Returns the report with a model that has these weights.
pub(super) fn named<S>(
    report: Report<S>,
    untrained: Model,
    weights: impl FnOnce(S) -> Vec<f64>,
) -> Report<Model> {
    let Report { certificate, stop, passes, work, .. } = report;
    let oracle_calls = work.oracle_calls;
    report.map(|solution| Model {
        weights: weights(solution),
        certificate,
        provenance: Provenance { stop, passes, oracle_calls, ..untrained.provenance },
        ..untrained
    })
}

/// Checks that the old model, whose witness is to be the start, has the same task as the new one.
fn check_kin(old: &Model, new: &Model) -> Result<()> {
    let kind = |model: &Model| match model.structure {
        Structure::MultiLabel { .. } => (3, false),
        Structure::Completion { .. } => (4, false),
        Structure::MultiOutput { .. } => (5, false),
        Structure::Linear { loss } => (2, loss.is_binary()),
        Structure::Chain { .. } => (1, false),
        Structure::Multiclass { .. } => (0, false),
    };
    if kind(old) == kind(new) {
        return Ok(());
    }
    Err(Error::setting("a warm start needs a model of the same task"))
}

/// Returns the points that a warm start begins with: those of the old model's witness where they fit, and the
/// default start of the block elsewhere. The engine proves them feasible, like any other points.
fn warm_points<B: Witnessed>(
    blocks: &B,
    old: &Model,
    point: impl Fn(&Model, usize, &[(u64, f64)]) -> Option<Vec<(u64, f64)>>,
) -> Result<Vec<B::Point>> {
    let Some(witness) = &old.witness else {
        return Err(Error::setting(format!(
            "a warm start needs a model with its witness: train that one with {}",
            Setting::Witness
        )));
    };
    (0..blocks.len())
        .map(|i| match witness.entries(i).and_then(|entries| point(old, i, &entries)) {
            Some(entries) => blocks.point(i, entries),
            None => Ok(blocks.start(i)),
        })
        .collect()
}

/// An observer that adds the error on test data to the progress that it passes on.
struct Watched<'a, D, F> {
    model: Model,
    data: &'a D,
    error: F,
    observer: &'a mut dyn Observer,
}

impl<D: Sync, F: Fn(&Model, &D) -> f64 + Send> Observer for Watched<'_, D, F> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        let mut progress = *progress;
        if !weights.is_empty() {
            self.model.weights.clear();
            self.model.weights.extend_from_slice(weights);
            progress.test_error = Some((self.error)(&self.model, self.data));
        }
        self.observer.certified(&progress, weights)
    }

    fn advanced(&mut self, passes: f64) {
        self.observer.advanced(passes);
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.observer.checkpoint_failed(error)
    }
}
