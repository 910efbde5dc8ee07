//! Models whose weights are constrained to a norm ball.
//!
//! ```text
//! P(w) = mean loss + μ/2‖w‖²      for ‖w‖ ≤ r,    μ in the place of λ
//! ```
//!
//! These are ordinary linear and multiclass models, with the same weights and the same witnesses. Only the problem
//! and its certificate differ. The loss must be smooth. Weights in the trace ball are stored as factors.

use super::checkpoint;
use super::fit::{
    Plan, classes_untrained, examples_untrained, linear_error, linear_targets, linear_untrained,
    named, watched, weighed, wrong_labels,
};
use super::scaled::{self, recertify};
use super::sides::{Sides, refused};
use super::{Model, Provenance, Structure, low_rank};
use crate::ball::{self, Classes, Losses, Method, PerOutput, Problem, Solution, Steps, Table};
use crate::data::{Alphabet, Examples, Factors};
use crate::dual::Witness;
use crate::dual::problem::PrimalValue;
use crate::linalg::{Measured, Rows};
use crate::run::{CheckpointSink, Report};
use crate::term::ball::l1;
use crate::term::{Ball, Costs, MulticlassLoss, Regulariser, ScalarLoss};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The ball that constrains the weights, and the method that solves the problem.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{InBall, Plan, fit_linear_in_ball, verify_linear};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::term::ScalarLoss;
///
/// let rows = [vec![1.0, 0.1], vec![2.0, -0.1], vec![3.0, 0.2]];
/// let data = Examples::from_dense_numbers(&rows, &[2.0, 4.0, 6.0])?;
/// let settings = Settings { lambda: 1e-3, ..Settings::default() }; // μ
/// let budget = Budget::relative(1e-6);
/// let nobody = &mut ();
/// let plan = Plan::new(&settings, &budget, nobody);
/// let report = fit_linear_in_ball(&data, ScalarLoss::Squared, InBall::l1(1.5), plan)?;
/// assert!(report.model.weights[0] > 1.49, "it would be 2, were there room");
/// verify_linear(&report.model, &data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InBall {
    /// The ball and its radius.
    #[serde(flatten)]
    pub ball: Ball,
    /// The solver.
    #[serde(default)]
    pub method: Method,
    /// The step rule of primal-dual block Frank-Wolfe.
    #[serde(default)]
    pub steps: Steps,
}

impl InBall {
    /// Constrains the weights to the l1 ball of this radius, with default method and steps.
    pub fn l1(radius: f64) -> Self {
        Self { ball: Ball::L1 { radius }, method: Method::default(), steps: Steps::default() }
    }

    /// Constrains the weights to the trace ball of this radius, with default method and steps: weights of low rank.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::model::{InBall, Plan, fit_classes_in_ball, verify_examples};
    /// use dualgap::run::Budget;
    /// use dualgap::dual::Settings;
    /// use dualgap::term::Costs;
    /// use dualgap::term::MulticlassLoss;
    ///
    /// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![0.9, 0.0], vec![0.0, 0.7]];
    /// let data = Examples::from_dense(&rows, &["left", "right", "left", "right"])?;
    /// let (settings, budget) = (Settings { lambda: 0.01, ..Settings::default() }, Budget::default());
    /// let nobody = &mut ();
    /// let plan = Plan::new(&settings, &budget, nobody);
    /// let loss = MulticlassLoss::Softmax;
    /// let model = fit_classes_in_ball(&data, &Costs::ZeroOne, loss, InBall::trace(2.0), plan)?.model;
    /// assert!(model.low_rank.as_ref().is_some_and(|x| x.nuclear_norm().value <= 2.0));
    /// verify_examples(&model, &data)?;
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn trace(radius: f64) -> Self {
        Self { ball: Ball::Trace { radius }, ..Self::l1(radius) }
    }

    /// Whether the weights are of low rank.
    pub(super) fn is_trace(self) -> bool {
        matches!(self.ball, Ball::Trace { .. })
    }
}

/// Trains a linear model in a ball. Of the settings it uses λ (as μ), the sample weights and the seed, and no
/// others.
///
/// Warm starts are not available, and only [`Method::Pdbfw`] has checkpoints. The trace ball needs several outputs.
pub fn fit_linear_in_ball(
    data: &Examples,
    loss: ScalarLoss,
    within: InBall,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let (factors, scaled) = scaled::apply(plan.scale, data)?;
    let losses = PerOutput::new(loss, linear_targets(data, loss)?, 1)?;
    let untrained = linear_untrained(data, loss, None, &plan);
    fit(scaled.rows(), losses, untrained, within, &factors, plan, linear_error)
}

/// Trains a multiclass model in a ball; it uses the same settings as [`fit_linear_in_ball`]. In the trace ball the
/// weights are stored as factors.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{InBall, Plan, fit_classes_in_ball};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::term::Costs;
/// use dualgap::term::MulticlassLoss;
///
/// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![0.9, 0.0], vec![0.0, 0.7]];
/// let data = Examples::from_dense(&rows, &["left", "right", "left", "right"])?;
/// let (settings, budget) = (Settings { lambda: 0.01, ..Settings::default() }, Budget::default());
/// let nobody = &mut ();
/// let plan = Plan::new(&settings, &budget, nobody);
/// let loss = MulticlassLoss::Softmax;
/// let report = fit_classes_in_ball(&data, &Costs::ZeroOne, loss, InBall::l1(2.0), plan)?;
/// assert!(report.model.weights.iter().map(|w| w.abs()).sum::<f64>() <= 2.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn fit_classes_in_ball(
    data: &Examples,
    costs: &Costs,
    loss: MulticlassLoss,
    within: InBall,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let (factors, scaled) = scaled::apply(plan.scale, data)?;
    let classes = data.classes()?;
    let losses = Classes::new(loss, classes.numbers(), classes.alphabet().len(), costs)?;
    let untrained = classes_untrained(data, costs, loss, None, &plan);
    fit(scaled.rows(), losses, untrained, within, &factors, plan, wrong_labels)
}

/// Trains a model of several outputs under one loss for each output; `alphabet` has their names.
pub(super) fn fit_each(
    data: &Examples,
    structure: Structure,
    losses: PerOutput<ScalarLoss>,
    alphabet: &Alphabet,
    within: InBall,
    plan: Plan<'_, Examples>,
    error: impl Fn(&Model, &Examples) -> f64 + Send,
) -> Result<Report<Model>> {
    let own = &mut None;
    let plan = weighed(plan, data.weights(), own);
    let (factors, scaled) = scaled::apply(plan.scale, data)?;
    let untrained = examples_untrained(data, structure, alphabet, &plan);
    fit(scaled.rows(), losses, untrained, within, &factors, plan, error)
}

/// Trains on losses of any number of outputs; `untrained` has everything that is known about the model beforehand.
pub(super) fn fit<L: Stored>(
    rows: &Rows,
    losses: L,
    mut untrained: Model,
    within: InBall,
    factors: &Factors,
    plan: Plan<'_, Examples>,
    error: impl Fn(&Model, &Examples) -> f64 + Send,
) -> Result<Report<Model>> {
    let Plan { settings, budget, observer, watch, checkpoints, resume, warm_start, .. } = plan;
    if settings.regulariser != Regulariser::PLAIN {
        return Err(Error::setting(
            "a ball takes the place of other regularisers: leave out the l1 norm, the q-norm, \
             nonnegative weights and the weight without penalty",
        ));
    }
    if warm_start.is_some() {
        return Err(Error::setting("a run in a ball has no warm start: begin it anew"));
    }
    untrained.provenance.ball = Some(within);
    if within.is_trace() {
        let plan = Plan { watch, checkpoints, resume, ..Plan::new(settings, budget, observer) };
        let sides = low_rank::sides(&untrained, within, rows, losses)?;
        return low_rank::fit(&sides, untrained, within, factors, plan);
    }
    let identity = checkpoint::identity(&untrained, settings, budget);
    let (from, mut file) = checkpoint::survival(identity, checkpoints, resume)?;
    let sink = file.as_mut().map(|file| file as &mut dyn CheckpointSink);
    let sides = l1_sides(&untrained, within, rows, losses)?;
    let InBall { method, steps, .. } = within;
    let solver = ball::Settings { method, steps, seed: settings.seed };
    let report = watched(watch, &untrained, factors, error, observer, |observer| {
        ball::train_from(&sides.problem, &solver, from, budget, observer, sink)
    })?;
    let witness = witness(sides.problem.losses(), &report.model.points);
    let weights = |solution: Solution| raw_inside(solution.weights, within.ball, factors);
    let mut report = named(report, untrained, weights);
    if !factors.are_none() {
        recertify(&mut report, &witness, &sides, factors, budget)?;
    }
    report.model.witness = Some(witness);
    Ok(report)
}

/// Returns the weights for the unscaled data. Scaling and unscaling round, so it shrinks them until they are in the
/// ball.
fn raw_inside(weights: Vec<f64>, ball: Ball, factors: &Factors) -> Vec<f64> {
    let mut raw = factors.raw(weights).into_owned();
    let mut margin = 2.0 * f64::EPSILON;
    while !factors.are_none() && !l1::contains(&factors.scaled(&raw), ball.radius()) {
        if margin > 1.0 {
            raw.fill(0.0); // numbers that are not finite: zero is in every ball
        }
        raw.iter_mut().for_each(|w| *w *= 1.0 - margin);
        margin *= 2.0;
    }
    raw
}

/// Returns the two sides of the certificate of a model whose file says that it was trained in this ball.
pub(super) fn sides<'a, L: Stored + 'a>(
    model: &Model,
    within: InBall,
    rows: &'a Rows,
    losses: L,
) -> Result<Box<dyn Sides + 'a>> {
    Ok(match within.ball {
        Ball::L1 { .. } => Box::new(l1_sides(model, within, rows, losses)?),
        Ball::Trace { .. } => Box::new(low_rank::sides(model, within, rows, losses)?),
    })
}

fn l1_sides<'a, L: Stored>(
    model: &Model,
    within: InBall,
    rows: &'a Rows,
    losses: L,
) -> Result<L1Sides<'a, L>> {
    let Provenance { lambda, regulariser, .. } = model.provenance;
    if regulariser != Regulariser::PLAIN {
        return Err(refused("the file names another regulariser beside a ball"));
    }
    let weights = model.sample_weights.as_deref();
    Ok(L1Sides { problem: Problem::l1(rows, losses, lambda, within.ball.radius(), weights)? })
}

struct L1Sides<'a, L> {
    problem: Problem<Table<'a>, L>,
}

impl<L: Stored> Sides for L1Sides<'_, L> {
    fn primal(&self, model: &Model, factors: &Factors) -> Result<PrimalValue> {
        let weights = factors.scaled(&model.weights).into_owned();
        let value = self.problem.primal(&weights)?;
        if value.value == f64::INFINITY && !l1::contains(&weights, self.problem.radius()) {
            return Err(refused("the weights are not in the ball that the file names"));
        }
        Ok(PrimalValue { value, certified: true })
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.problem.dual(&points(self.problem.losses(), witness)?)?.value)
    }
}

/// Returns the witness that stores these dual variables.
pub(super) fn witness<L: Stored>(losses: &L, alpha: &[f64]) -> Witness {
    let mut witness = Witness { starts: vec![0], ..Witness::default() };
    for (i, alpha) in alpha.chunks_exact(losses.outputs()).enumerate() {
        for (key, weight) in losses.entries(i, alpha) {
            witness.keys.push(key);
            witness.weights.push(weight);
        }
        witness.starts.push(witness.keys.len() as u64);
    }
    witness
}

/// Returns the dual variables of a stored witness.
pub(super) fn points<L: Stored>(losses: &L, witness: &Witness) -> Result<Vec<f64>> {
    let (n, c) = (losses.len(), losses.outputs());
    witness.check(n)?;
    let mut alpha = vec![0.0; n * c];
    for (i, alpha) in alpha.chunks_exact_mut(c).enumerate() {
        let entries = witness.entries(i).unwrap_or_default();
        losses.point(i, &entries, alpha)?;
    }
    Ok(alpha)
}

/// Losses whose dual variables are stored in the same format as those of the engine's blocks.
pub(super) trait Stored: Losses {
    /// Returns the entries to store for example `i`, with ascending keys.
    fn entries(&self, i: usize, alpha: &[f64]) -> Vec<(u64, f64)>;

    /// Writes the dual variables of stored entries into `alpha`, which is zero. It does not check that they are
    /// feasible: the computation of the dual value does.
    fn point(&self, i: usize, entries: &[(u64, f64)], alpha: &mut [f64]) -> Result<()>;
}

/// Stores the numbers themselves.
impl Stored for PerOutput<ScalarLoss> {
    fn entries(&self, _: usize, alpha: &[f64]) -> Vec<(u64, f64)> {
        alpha.iter().enumerate().map(|(k, &alpha)| (k as u64, alpha)).collect()
    }

    fn point(&self, i: usize, entries: &[(u64, f64)], alpha: &mut [f64]) -> Result<()> {
        let keys = entries.iter().map(|&(key, _)| key);
        if !keys.eq(0..alpha.len() as u64) {
            let message = "it has not one number an output".into();
            return Err(Error::Witness { example: i, message });
        }
        alpha.iter_mut().zip(entries).for_each(|(alpha, &(_, stored))| *alpha = stored);
        Ok(())
    }
}

/// Stores the distribution over classes: β = e_y − α.
impl Stored for Classes {
    fn entries(&self, i: usize, alpha: &[f64]) -> Vec<(u64, f64)> {
        let own = |k: usize| f64::from(u8::from(k == self.truth(i)));
        let entries = alpha.iter().enumerate().map(|(k, alpha)| (k as u64, own(k) - alpha));
        entries.filter(|&(_, weight)| weight != 0.0).collect()
    }

    fn point(&self, i: usize, entries: &[(u64, f64)], alpha: &mut [f64]) -> Result<()> {
        let refuse = |message: &str| Error::Witness { example: i, message: message.into() };
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(refuse("its classes do not ascend"));
        }
        alpha[self.truth(i)] = 1.0;
        for &(class, weight) in entries {
            let class = usize::try_from(class).ok().and_then(|class| alpha.get_mut(class));
            *class.ok_or_else(|| refuse("it has a class that is none"))? -= weight;
        }
        Ok(())
    }
}
