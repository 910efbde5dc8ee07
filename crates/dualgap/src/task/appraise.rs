//! Appraisal: how far from the optimum given weights are, whoever made them.
//!
//! Weak duality proves it for any weights w. With any dual point α that is feasible and any other weights u,
//!
//! ```text
//! P(w) − P(u)  ≤  P(w) − P*  ≤  P(w) − D(α)
//! ```
//!
//! Nothing has to be known of the solver behind w. The first α is made of subgradients of the losses at w, which close
//! the gap at once if w is optimal and the losses are smooth. A run of the library's own, which starts there, then
//! improves α and u until the two bounds are close to each other.

use super::{Description, Method, Model, Plan, Task};
use crate::data::DataSet;
use crate::dual::Witness;
use crate::dual::problem::PrimalValue;
use crate::linalg::{Measured, UNIT_ROUNDOFF};
use crate::run::{Basis, Budget, Certificate, Interrupt, Observer, Progress, Stop};
use crate::structure::Structure;
use crate::structure::posed::{Posing, Sides};
use crate::term::{Ball, Penalty};
use crate::{Error, Result};

/// The bounds are close enough when they differ by this share of the upper one: then they agree in about one digit,
/// which is what "at most 3.1e-2, at least 2.9e-2" tells, and a run closes the rest of the gap no faster than this part
/// of it.
const CLOSE: f64 = 0.1;

/// How far from the optimum weights are: an interval that contains `P(w) − P*`, whatever the rounding was.
#[derive(Clone, Debug)]
pub struct Appraisal {
    /// The certificate of the weights: P(w) at exactly these numbers, and the best dual value that was found.
    pub certificate: Certificate,
    /// The objective of the best other weights that were found and, as its error, all rounding of that run; `None` if no
    /// run was needed.
    pub reached: Option<Measured>,
    /// By how much the primal value in the certificate alone may be wrong.
    pub primal_error: f64,
    /// Passes over the data that the run took.
    pub passes: f64,
    /// Why the run ended: [`Stop::GapReached`] if the bounds are close to each other, or the weights within the
    /// tolerance.
    pub stop: Stop,
    /// The problem.
    pub problem: Description,
}

impl Appraisal {
    /// Returns the upper bound on `P(w) − P*`; infinite if nothing could be proved.
    pub fn at_most(&self) -> f64 {
        // The last factor covers the rounding of the bound itself.
        self.certificate.gap_bound() * (1.0 + 8.0 * UNIT_ROUNDOFF)
    }

    /// Returns the lower bound on `P(w) − P*`, zero if the run found no better weights.
    pub fn at_least(&self) -> f64 {
        let Certificate { primal, certified, basis, .. } = self.certificate;
        match self.reached {
            // A primal value that rests on bounds may be above the true one.
            Some(reached) if certified && basis == Basis::Exact => {
                let apart = primal - reached.value;
                // As above, for the rounding of the three differences.
                let slack = 8.0 * UNIT_ROUNDOFF * (primal.abs() + reached.value.abs());
                (apart - self.primal_error - reached.error - slack).max(0.0)
            }
            _ => 0.0,
        }
    }

    /// Returns the upper bound as a fraction of the objective at the weights.
    pub fn relative_at_most(&self) -> f64 {
        self.relative(self.at_most())
    }

    /// Returns the lower bound as a fraction of the objective at the weights.
    pub fn relative_at_least(&self) -> f64 {
        self.relative(self.at_least())
    }

    fn relative(&self, bound: f64) -> f64 {
        if bound == 0.0 { 0.0 } else { bound / self.certificate.primal.abs() }
    }
}

/// The two bounds as they are known while a run goes on.
#[derive(Clone, Copy)]
struct Known {
    primal: PrimalValue,
    /// The dual value of the subgradients, if they have one.
    dual: Option<Measured>,
}

impl Known {
    /// Returns the appraisal that follows, given the certificate of a run.
    fn appraisal(&self, run: Option<&Certificate>, problem: Description) -> Result<Appraisal> {
        let of_run = run.map(|run| Measured { value: run.dual, error: run.rounding_error });
        let floor = |dual: &Measured| dual.value - dual.error;
        let duals = [self.dual, of_run].into_iter().flatten();
        let dual = duals.max_by(|a, b| floor(a).total_cmp(&floor(b))).ok_or_else(|| {
            Error::setting("there is no dual point of these weights, and no run that has one")
        })?;
        let of_run = run.filter(|run| run.certified);
        Ok(Appraisal {
            certificate: self.primal.certificate(dual)?,
            reached: of_run.map(|run| Measured { value: run.primal, error: run.rounding_error }),
            primal_error: self.primal.value.error,
            passes: 0.0,
            stop: Stop::GapReached,
            problem,
        })
    }

    /// Whether the bounds that follow are within a tolerance, or close to each other.
    fn is_enough(&self, run: Option<&Certificate>, budget: &Budget) -> bool {
        let nothing = Description { lines: Vec::new(), json: ().into(), remarks: Vec::new() };
        self.appraisal(run, nothing).is_ok_and(|appraisal| {
            let (most, least) = (appraisal.at_most(), appraisal.at_least());
            budget.is_met(&appraisal.certificate) || most - least <= CLOSE * most
        })
    }
}

/// Ends a run as soon as the bounds are close enough.
struct Enough<'a> {
    known: Known,
    budget: Budget,
    interrupt: Interrupt,
    reached: bool,
    observer: Option<&'a mut dyn Observer>,
}

impl Observer for Enough<'_> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        if self.known.is_enough(Some(&progress.certificate), &self.budget) {
            self.reached = true;
            self.interrupt.raise();
        }
        match &mut self.observer {
            Some(observer) => observer.certified(progress, weights),
            None => Ok(()),
        }
    }

    fn advanced(&mut self, passes: f64) {
        if let Some(observer) = &mut self.observer {
            observer.advanced(passes);
        }
    }
}

impl<S: Structure> Task<S> {
    /// Proves how far from the optimum of this problem weights are, whoever made them.
    ///
    /// The weights are in the order of the structure: one for each feature, and where there are labels, a run of one for
    /// each label for every feature. The tolerances of the plan are those of the weights: as soon as they are met, or the
    /// lower bound comes close to the upper one, the run ends, by raising the interrupt of the plan's budget. Its limits
    /// are kept in any case, and whatever was proved until then holds. Its test data and checkpoints are not used.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// // P(w) = ½(w − 2)² + ½w² is least at 1, where it is 1.
    /// let data = Examples::from_dense_numbers(&[vec![1.0]], &[2.0])?;
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(1.0));
    /// let appraise = |w: f64| task.appraise(&data, &[w], Plan::new(Budget::relative(1e-9)));
    /// let zero = appraise(0.0)?;
    /// assert!(zero.at_least() <= 1.0 && 1.0 <= zero.at_most() && zero.at_most() < 1.2);
    /// assert!(appraise(1.0)?.at_most() < 1e-9);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn appraise(
        &self,
        data: &S::Data,
        weights: &[f64],
        plan: Plan<'_, S>,
    ) -> Result<Appraisal> {
        self.check()?;
        plan.budget.check()?;
        let Plan { method, budget, threads, observer, warm_start, .. } = plan;
        let (known, given, witness) = self.examine(data, weights, &method)?;
        let problem = given.describe(Some(data));
        if known.is_enough(None, &budget) {
            return known.appraisal(None, problem);
        }
        // The default start has a dual value of zero or more, so a lower one is no good start.
        let starts = self.allows_warm_start() && known.dual.is_some_and(|dual| dual.value > 0.0);
        let start = Model { witness, ..given };
        let interrupt = budget.interrupt.clone();
        let mut enough = Enough { known, budget, interrupt, reached: false, observer };
        let plan = Plan {
            method,
            // The tolerances are those of the given weights, not of the run's.
            budget: Budget { relative: Some(0.0), absolute: None, ..enough.budget.clone() },
            threads,
            observer: Some(&mut enough),
            watch: None,
            checkpoints: None,
            resume: None,
            warm_start: warm_start.or(starts.then_some(&start)),
        };
        let report = self.fit(data, plan)?;
        let mut appraisal = known.appraisal(Some(&report.certificate), problem)?;
        appraisal.passes = report.passes;
        appraisal.stop = if enough.reached { Stop::GapReached } else { report.stop };
        Ok(appraisal)
    }

    /// Computes what is known before a run: the primal value of the weights, the dual value of their subgradients and,
    /// if a run should start there, their witness.
    fn examine(
        &self,
        data: &S::Data,
        weights: &[f64],
        method: &Method,
    ) -> Result<(Known, Model<S>, Option<Witness>)> {
        let structure = self.structure.clone().resolve(data)?;
        let names = structure.names(data)?;
        structure.check(&names)?;
        if self.penalty.is_low_rank() || structure.support(data).is_some() {
            return Err(Error::setting(
                "weights in the trace ball and coefficients under a kernel are certified with their model only",
            ));
        }
        let layout = structure.layout(&names);
        let count = layout.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>();
        if weights.len() != count {
            return Err(Error::setting(format!(
                "there are {} weights, and the problem has {count}",
                weights.len()
            )));
        }
        if let Some(place) = weights.iter().position(|w| !w.is_finite()) {
            return Err(Error::setting(format!("weight {} is {}", place + 1, weights[place])));
        }
        let task = Self { structure, ..self.clone() };
        let masses = task.weigh(data, data.weights())?;
        let (factors, scaled) = data.scaled(self.scaling)?;
        let own = data.weights().map(<[f64]>::to_vec);
        let method = method.clone().for_penalty(&self.penalty)?;
        let fingerprint = data.fingerprint();
        let mut given = Model::untrained(task, names, data.len(), fingerprint, method, own);
        given.weights = weights.to_vec();

        let posing = Posing { penalty: self.penalty, weights: masses.as_deref(), choice: None };
        let posed = given.task.structure.pose(&scaled, &posing)?;
        let sides = posed.solvable().sides()?;
        let w = factors.scaled(weights);
        check_constraints(self.penalty, &w)?;
        let primal = match (sides.primal(given.fitted(), None, &factors), self.penalty.ball()) {
            (Err(Error::Refused { .. }), Some(ball)) => return Err(outside(ball, &w)),
            (primal, _) => primal?,
        };
        if !(primal.value.value.is_finite() && primal.value.error.is_finite()) {
            return Err(Error::setting(
                "the objective of these weights is larger than any number: are they of these data?",
            ));
        }
        let (witness, dual) = best_start(&*sides, posed.solvable().subgradients(&w).ok().flatten());
        drop(sides);
        drop(posed);
        Ok((Known { primal, dual }, given, witness))
    }

    /// Whether a run can start from the dual point of other weights.
    fn allows_warm_start(&self) -> bool {
        matches!(self.penalty, Penalty::Ridge { .. } | Penalty::QNorm { .. })
    }
}

/// Returns the witness with its dual value. Numbers beyond all measure can spoil a point of subgradients; there is none
/// then.
fn best_start(sides: &dyn Sides, witness: Option<Witness>) -> (Option<Witness>, Option<Measured>) {
    let dual = witness.as_ref().and_then(|witness| sides.dual(witness).ok());
    match dual.filter(|dual| dual.value.is_finite() && dual.error.is_finite()) {
        Some(dual) => (witness, Some(dual)),
        None => (None, None),
    }
}

/// Returns an error that says by how much the weights miss a constraint of the penalty.
fn check_constraints(penalty: Penalty, w: &[f64]) -> Result<()> {
    let free = penalty.free();
    if let Some(free) = free
        && w.get(free.column).is_some_and(|b| b.abs() > free.bound)
    {
        return Err(Error::setting(format!(
            "the intercept is {:e}, and the problem keeps it within ±{:e}: so they have no gap",
            w[free.column], free.bound
        )));
    }
    let (Penalty::Ridge { nonnegative, .. } | Penalty::Lasso { nonnegative, .. }) = penalty else {
        return Ok(());
    };
    let negative = |&(j, &w): &(usize, &f64)| w < 0.0 && free.is_none_or(|free| free.column != j);
    let least = w.iter().enumerate().filter(negative).min_by(|a, b| a.1.total_cmp(b.1));
    match least {
        Some((j, w)) if nonnegative => Err(Error::setting(format!(
            "weight {} is {w:e}, and no weight of the problem is negative: infeasible weights have no gap",
            j + 1
        ))),
        _ => Ok(()),
    }
}

/// Returns the error for weights that are not in the ball.
fn outside(ball: Ball, w: &[f64]) -> Error {
    let (norm, radius) = (w.iter().map(|w| w.abs()).sum::<f64>(), ball.radius());
    let what = match ball {
        Ball::Simplex { .. } => "they must be nonnegative and add up to",
        Ball::L1 { .. } | Ball::Trace { .. } => "it may be at most",
    };
    Error::setting(format!(
        "the weights are not in the ball: their l1 norm is {norm:e}, and {what} {radius:e}: infeasible weights have no gap"
    ))
}
