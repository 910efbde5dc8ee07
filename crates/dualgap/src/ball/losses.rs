//! The losses of all examples, each a function of its example's c predictions: one trait for one output, several, and
//! classes.
//!
//! The dual variable of an example also has c numbers, with −α ∈ ∂f(a):
//!
//! ```text
//! f*(−α) = max_a [−⟨α, a⟩ − f(a)],        f(a) + f*(−α) + ⟨α, a⟩ ≥ 0, and = 0 at the corner of a
//! ```
//!
//! - [`PerOutput`]: the sum of a loss of one number over the outputs; one output is the plain binary or regression
//!   problem.
//! - [`ClassLosses`]: a loss of the scores of all classes; with β the distribution of `term::loss::multiclass`,
//!   α = e_y − β and f*(−α) = R(β) − ⟨β, c⟩.

use crate::dual::witness::{DEFECT, distribution};
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNIT_ROUNDOFF, gamma};
use crate::term::{CheckedCosts, Costs, Loss, MulticlassLoss};
use crate::{Error, Result};

/// The conjugate at a dual point that is proved feasible up to rounding.
#[derive(Clone, Copy, Debug)]
pub struct Audited {
    /// f*(−α) at the nearby feasible point that stands for the numbers given.
    pub conjugate: Measured,
    /// The distance of that point from the numbers given, in the Euclidean norm.
    pub off: f64,
}

/// Losses of the predictions of n examples, c for each; see the module's head.
pub trait Losses: Send + Sync {
    /// The workspace of calls, so that none allocates.
    type Scratch: Default + Send;

    /// n, the number of examples.
    fn len(&self) -> usize;

    /// Whether there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// c, the number of outputs.
    fn outputs(&self) -> usize;

    /// γ, where every f is (1/γ)-smooth in the Euclidean norm.
    fn smoothness(&self) -> f64;

    /// β/α, where every f is β-smooth and its conjugate (1/α)-smooth on its domain; none if there is no such α, in
    /// which case the paper's theorem has no step for the dual.
    fn conditioning(&self) -> Option<f64> {
        None
    }

    /// Returns f at these predictions, each of which may be off by its entry of `off`.
    fn value(&self, i: usize, a: &[f64], off: &[f64], scratch: &mut Self::Scratch) -> Measured;

    /// Returns f*(−α) for a feasible α, without a bound on its rounding: for steps.
    fn conjugate(&self, i: usize, alpha: &[f64]) -> f64;

    /// Proves that α is feasible up to rounding, and returns its conjugate; an error if α is not.
    fn audit(&self, i: usize, alpha: &[f64]) -> Result<Audited>;

    /// Computes the α with −α ∈ ∂f(a) at these predictions.
    fn corner(&self, i: usize, a: &[f64], to: &mut [f64], scratch: &mut Self::Scratch);

    /// Computes the β that maximises −f*(−β) − ⟨a, β⟩ − (q/2)‖β − α‖², for q ≥ 0.
    fn maximizer(
        &self,
        i: usize,
        a: &[f64],
        alpha: &[f64],
        q: f64,
        to: &mut [f64],
        scratch: &mut Self::Scratch,
    );
}

/// A reference to losses has the same losses.
impl<L: Losses> Losses for &L {
    type Scratch = L::Scratch;

    fn len(&self) -> usize {
        (**self).len()
    }

    fn outputs(&self) -> usize {
        (**self).outputs()
    }

    fn smoothness(&self) -> f64 {
        (**self).smoothness()
    }

    fn conditioning(&self) -> Option<f64> {
        (**self).conditioning()
    }

    fn value(&self, i: usize, a: &[f64], off: &[f64], scratch: &mut Self::Scratch) -> Measured {
        (**self).value(i, a, off, scratch)
    }

    fn conjugate(&self, i: usize, alpha: &[f64]) -> f64 {
        (**self).conjugate(i, alpha)
    }

    fn audit(&self, i: usize, alpha: &[f64]) -> Result<Audited> {
        (**self).audit(i, alpha)
    }

    fn corner(&self, i: usize, a: &[f64], to: &mut [f64], scratch: &mut Self::Scratch) {
        (**self).corner(i, a, to, scratch);
    }

    fn maximizer(
        &self,
        i: usize,
        a: &[f64],
        alpha: &[f64],
        q: f64,
        to: &mut [f64],
        scratch: &mut Self::Scratch,
    ) {
        (**self).maximizer(i, a, alpha, q, to, scratch);
    }
}

/// The error for a loss that is not smooth.
fn not_smooth() -> Error {
    Error::setting(
        "a ball needs a smooth loss, and this one has corners; take its smooth relative: \
         smooth_hinge for hinge, huber for absolute or epsilon_insensitive",
    )
}

/// The same loss in every output, added up.
///
/// ```
/// use dualgap::ball::{Losses, PerOutput};
/// use dualgap::term::ScalarLoss;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 2.0, 3.0, 4.0], 2)?;
/// assert_eq!((losses.len(), losses.outputs()), (2, 2));
/// assert_eq!(losses.value(1, &[3.0, 2.0], &[0.0, 0.0], &mut ()).value, 2.0);
/// assert!(PerOutput::new(ScalarLoss::Hinge, vec![1.0], 1).is_err(), "it is not smooth");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PerOutput<L> {
    loss: L,
    targets: Vec<f64>,
    outputs: usize,
}

impl<L: Loss> PerOutput<L> {
    /// `targets` has the targets example after example, `outputs` for each.
    pub fn new(loss: L, targets: Vec<f64>, outputs: usize) -> Result<Self> {
        if outputs == 0 || !targets.len().is_multiple_of(outputs) {
            let targets = targets.len();
            return Err(Error::setting(format!(
                "{targets} targets cannot be shared among examples of {outputs} outputs each"
            )));
        }
        if let Some(y) = targets.iter().find(|y| !y.is_finite()) {
            return Err(Error::setting(format!("a target is {y}")));
        }
        loss.check(&targets)?;
        if loss.smoothness() <= 0.0 {
            return Err(not_smooth());
        }
        Ok(Self { loss, targets, outputs })
    }

    /// The loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// The targets, example after example.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    #[inline]
    fn of(&self, i: usize) -> &[f64] {
        &self.targets[i * self.outputs..][..self.outputs]
    }
}

impl<L: Loss> Losses for PerOutput<L> {
    type Scratch = ();

    fn len(&self) -> usize {
        self.targets.len() / self.outputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn smoothness(&self) -> f64 {
        self.loss.smoothness()
    }

    fn conditioning(&self) -> Option<f64> {
        self.loss.conditioning()
    }

    fn value(&self, i: usize, a: &[f64], off: &[f64], (): &mut ()) -> Measured {
        let mut sum = Sum::default();
        for ((&a, &off), &y) in a.iter().zip(off).zip(self.of(i)) {
            let mut value = self.loss.value(a, y);
            // The rounding of the prediction times the steepest slope.
            let steepness = self.loss.steepness(a.abs() + off, y);
            value.error += product_above(steepness, off) * (1.0 + 1e-9);
            sum.add_measured(value);
        }
        sum.total()
    }

    #[inline]
    fn conjugate(&self, i: usize, alpha: &[f64]) -> f64 {
        alpha.iter().zip(self.of(i)).map(|(&alpha, &y)| self.loss.conjugate(alpha, y).value).sum()
    }

    /// A mean of feasible numbers can lie outside the interval by rounding; the nearest feasible number stands for it.
    fn audit(&self, i: usize, alpha: &[f64]) -> Result<Audited> {
        let (mut conjugate, mut off) = (Sum::default(), 0.0);
        for (&alpha, &y) in alpha.iter().zip(self.of(i)) {
            let (low, high) = self.loss.domain(y);
            let near = alpha.clamp(low, high);
            let miss = (alpha - near).abs();
            if !alpha.is_finite() || miss > DEFECT {
                let message =
                    format!("its dual variable is {alpha}, and it lies within {low} to {high}");
                return Err(Error::Witness { example: i, message });
            }
            off += miss;
            conjugate.add_measured(self.loss.conjugate(near, y));
        }
        Ok(Audited { conjugate: conjugate.total(), off })
    }

    #[inline]
    fn corner(&self, i: usize, a: &[f64], to: &mut [f64], (): &mut ()) {
        for ((to, &a), &y) in to.iter_mut().zip(a).zip(self.of(i)) {
            *to = self.loss.corner(a, y);
        }
    }

    #[inline]
    fn maximizer(&self, i: usize, a: &[f64], alpha: &[f64], q: f64, to: &mut [f64], (): &mut ()) {
        for (((to, &a), &alpha), &y) in to.iter_mut().zip(a).zip(alpha).zip(self.of(i)) {
            *to = self.loss.maximizer(a, y, alpha, q);
        }
    }
}

/// A loss of the scores of all classes.
///
/// ```
/// use dualgap::term::Costs;
/// use dualgap::ball::{ClassLosses, Losses};
/// use dualgap::term::MulticlassLoss;
/// let losses = ClassLosses::new(MulticlassLoss::Softmax, &[0, 2, 1], 3, &Costs::ZeroOne)?;
/// let value = losses.value(1, &[0.0; 3], &[0.0; 3], &mut Default::default());
/// assert!((value.value - 3_f64.ln()).abs() < 1e-15);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClassLosses {
    loss: MulticlassLoss,
    labels: Vec<u32>,
    outputs: usize,
    costs: CheckedCosts,
}

/// The workspace of [`ClassLosses`].
#[derive(Debug, Default)]
pub struct ClassesScratch {
    /// The scores, with the costs added.
    scores: Vec<f64>,
    at: Vec<f64>,
    beta: Vec<f64>,
}

impl ClassLosses {
    /// Checks the labels and the costs. Softmax has no costs: it accepts the default ones only, and ignores them.
    pub fn new(
        loss: MulticlassLoss,
        labels: &[u32],
        classes: usize,
        costs: &Costs,
    ) -> Result<Self> {
        loss.check()?;
        if loss.smoothness() <= 0.0 {
            return Err(not_smooth());
        }
        if classes < 2 {
            return Err(Error::setting(format!(
                "there must be at least two classes to tell apart, and the data have {classes}"
            )));
        }
        if labels.iter().any(|&label| label as usize >= classes) {
            return Err(Error::setting("a label is not in the alphabet"));
        }
        let costs = match (loss, costs) {
            (MulticlassLoss::Softmax, Costs::ZeroOne) => {
                Costs::Matrix(vec![0.0; classes * classes]).check(classes)?
            }
            (MulticlassLoss::Softmax, Costs::Matrix(_)) => {
                return Err(Error::setting("softmax does not know costs of mistakes"));
            }
            (_, costs) => costs.check(classes)?,
        };
        Ok(Self { loss, labels: labels.to_vec(), outputs: classes, costs })
    }

    /// The class of example i.
    pub fn truth(&self, i: usize) -> usize {
        self.labels[i] as usize
    }

    fn score(&self, i: usize, a: &[f64], scores: &mut Vec<f64>) {
        self.costs.fill(self.truth(i), scores);
        scores.iter_mut().zip(a).for_each(|(s, a)| *s += a);
    }

    /// β = e_y − α.
    fn distribution<'a>(&self, i: usize, alpha: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let truth = self.truth(i);
        alpha.iter().enumerate().map(move |(y, &alpha)| f64::from(u8::from(y == truth)) - alpha)
    }

    fn to_alpha(&self, i: usize, beta: &[f64], to: &mut [f64]) {
        to.iter_mut().zip(beta).for_each(|(to, beta)| *to = -beta);
        to[self.truth(i)] += 1.0;
    }
}

impl Losses for ClassLosses {
    type Scratch = ClassesScratch;

    fn len(&self) -> usize {
        self.labels.len()
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn smoothness(&self) -> f64 {
        self.loss.smoothness()
    }

    fn conditioning(&self) -> Option<f64> {
        self.loss.conditioning()
    }

    fn value(&self, i: usize, a: &[f64], off: &[f64], scratch: &mut ClassesScratch) -> Measured {
        self.score(i, a, &mut scratch.scores);
        let mut value = self.loss.value(&scratch.scores, self.truth(i), &mut scratch.beta);
        // Every score is off by at most this much and one rounding, and the loss changes by at most twice that.
        let largest = off.iter().copied().fold(0.0, f64::max);
        let size = scratch.scores.iter().fold(0.0_f64, |size, s| size.max(s.abs()));
        value.error += 2.0 * (largest + UNIT_ROUNDOFF * size) * (1.0 + 1e-9);
        value
    }

    fn conjugate(&self, i: usize, alpha: &[f64]) -> f64 {
        let costs = self.distribution(i, alpha).enumerate();
        let costs: f64 = costs.map(|(y, beta)| beta * self.costs.of(self.truth(i), y)).sum();
        self.loss.penalty(self.distribution(i, alpha)).value - costs
    }

    fn audit(&self, i: usize, alpha: &[f64]) -> Result<Audited> {
        // The largest entry of e_y − α may have been rounded.
        let defect = distribution(i, self.distribution(i, alpha))? + UNIT_ROUNDOFF;
        let mut conjugate = Sum::default();
        for (y, beta) in self.distribution(i, alpha).enumerate() {
            let term = -beta * self.costs.of(self.truth(i), y);
            conjugate.add_measured(Measured::rounded(term, 1));
        }
        let penalty = self.loss.penalty(self.distribution(i, alpha));
        conjugate.add_measured(penalty);
        let mut conjugate = conjugate.total();
        // The feasible point is this distribution divided by its sum, 1 ± defect. Costs and the square are
        // Lipschitz in that factor; Σ β log β of β/(1 ± d) changes by at most d(1 + |Σ β log β|).
        conjugate.error += 4.0 * defect * (self.costs.largest() + penalty.value.abs() + 1.0);
        Ok(Audited { conjugate, off: defect * (1.0 + gamma(4)) })
    }

    fn corner(&self, i: usize, a: &[f64], to: &mut [f64], scratch: &mut ClassesScratch) {
        self.score(i, a, &mut scratch.scores);
        self.loss.corner(&scratch.scores, &mut scratch.beta);
        self.to_alpha(i, &scratch.beta, to);
    }

    fn maximizer(
        &self,
        i: usize,
        a: &[f64],
        alpha: &[f64],
        q: f64,
        to: &mut [f64],
        scratch: &mut ClassesScratch,
    ) {
        let ClassesScratch { scores, at, beta } = scratch;
        self.score(i, a, scores);
        at.clear();
        at.extend(self.distribution(i, alpha));
        self.loss.maximizer(scores, at, q, beta);
        self.to_alpha(i, beta, to);
    }
}
