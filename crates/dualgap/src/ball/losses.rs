//! The losses of all examples, each of the c predictions of its example: one face for one output, several, and classes.
//!
//! The dual variable of an example has c numbers, too, with −α ∈ ∂f(a):
//!
//! ```text
//! f*(−α) = max_a [−⟨α, a⟩ − f(a)],        f(a) + f*(−α) + ⟨α, a⟩ ≥ 0, and = 0 at the corner of a
//! ```
//!
//! - [`PerOutput`]: a loss of one number in every output, added up; with one output the plain binary or regression
//!   problem.
//! - [`Classes`]: a loss of the scores of all classes; with β the distribution of `term::loss::multiclass`,
//!   α = e_y − β and f*(−α) = R(β) − ⟨β, c⟩.

use crate::dual::witness::{DEFECT, distribution};
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNIT_ROUNDOFF, gamma};
use crate::term::{CheckedCosts, Costs, Loss, MulticlassLoss};
use crate::{Error, Result};

/// What a dual point is worth, proved.
#[derive(Clone, Copy, Debug)]
pub struct Audited {
    /// f*(−α), at the feasible point that is meant.
    pub conjugate: Measured,
    /// How far that point is from the numbers given, in the Euclidean norm.
    pub off: f64,
}

/// Losses of the predictions of n examples, c of each; see the module's head.
pub trait Losses: Send + Sync {
    /// Buffers, so that no call allocates.
    type Scratch: Default + Send;

    /// n.
    fn len(&self) -> usize;

    /// Whether there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// c.
    fn outputs(&self) -> usize;

    /// γ, where every f is (1/γ)-smooth in the Euclidean norm.
    fn smoothness(&self) -> f64;

    /// β/α, where every f is β-smooth and its conjugate (1/α)-smooth on its domain; none where there is no such α, and
    /// the paper's theorem has no step for the dual.
    fn conditioning(&self) -> Option<f64> {
        None
    }

    /// f at these predictions, if each of them may be off by as much as is said.
    fn value(&self, i: usize, a: &[f64], off: &[f64], scratch: &mut Self::Scratch) -> Measured;

    /// f*(−α) for a feasible α, for steps: without a bound on its rounding.
    fn conjugate(&self, i: usize, alpha: &[f64]) -> f64;

    /// Proves α feasible, but for rounding.
    fn audit(&self, i: usize, alpha: &[f64]) -> Result<Audited>;

    /// The α that these predictions ask for.
    fn corner(&self, i: usize, a: &[f64], to: &mut [f64], scratch: &mut Self::Scratch);

    /// The β that maximises −f*(−β) − ⟨a, β⟩ − (q/2)‖β − α‖², for q ≥ 0.
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

/// Losses that are borrowed.
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

/// What the losses that are not smooth are told.
fn not_smooth() -> Error {
    Error::setting(
        "a ball needs a smooth loss, and this one has corners; take its smooth relative: \
         smooth_hinge for hinge, huber for absolute or epsilon_insensitive",
    )
}

/// One loss in every output.
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
    /// Targets example after example, `outputs` of each.
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

    /// Example after example.
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
            // The prediction's rounding times the steepest slope.
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

    /// A mean of feasible numbers can miss the interval by rounding; the nearest feasible one is meant.
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
/// use dualgap::ball::{Classes, Losses};
/// use dualgap::term::MulticlassLoss;
/// let losses = Classes::new(MulticlassLoss::Softmax, &[0, 2, 1], 3, &Costs::ZeroOne)?;
/// let value = losses.value(1, &[0.0; 3], &[0.0; 3], &mut Default::default());
/// assert!((value.value - 3_f64.ln()).abs() < 1e-15);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Classes {
    loss: MulticlassLoss,
    labels: Vec<u32>,
    outputs: usize,
    costs: CheckedCosts,
}

/// The buffers of [`Classes`].
#[derive(Debug, Default)]
pub struct ClassesScratch {
    /// With the costs in them.
    scores: Vec<f64>,
    at: Vec<f64>,
    beta: Vec<f64>,
}

impl Classes {
    /// Softmax has no costs: those given must be the default ones, and are left out.
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

impl Losses for Classes {
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
        // Every score is off by this much and a rounding, and the loss changes by at most twice as much.
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
        // The largest entry of e_y − α may be rounded.
        let defect = distribution(i, self.distribution(i, alpha))? + UNIT_ROUNDOFF;
        let mut conjugate = Sum::default();
        for (y, beta) in self.distribution(i, alpha).enumerate() {
            let term = -beta * self.costs.of(self.truth(i), y);
            conjugate.add_measured(Measured::rounded(term, 1));
        }
        let penalty = self.loss.penalty(self.distribution(i, alpha));
        conjugate.add_measured(penalty);
        let mut conjugate = conjugate.total();
        // The distribution that is meant is this one divided by its sum, 1 ± defect. Costs and the square are
        // Lipschitz in that factor; Σ β log β of β/(1 ± d) moves by at most d(1 + |Σ β log β|).
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
