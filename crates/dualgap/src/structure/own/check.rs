//! A check of an oracle against its contract, on given data: brute force where outputs can be listed, samples elsewhere.
//!
//! The outputs of an example that the check knows are its truth, whatever the oracle returns for random weights, and what
//! the user lists; of an [`OwnOracle`], the truths of other examples too that it admits. None of them may contradict the
//! oracle.

use super::ahead::batch;
use super::contract::{Breach, Checked, Clause};
use super::oracle::{Bound, Decoded, Extent, Oracle, OwnOracle};
use super::rescaling::Rescaling;
use super::score::{Score, Scored};
use crate::dual::Quality;
use crate::linalg::underflow::product_above;
use crate::linalg::{Accumulate, Random, SparseVec, gamma};
use indexmap::IndexSet;
use std::collections::HashSet;

/// The scales of random weights, in turn: losses decide between outputs, then both do, then scores do.
const SCALES: [f64; 3] = [0.01, 1.0, 100.0];

/// So many truths of other examples are tried as outputs of an example: their number would else grow with its square.
const OTHER_TRUTHS: usize = 20;

/// A function that lists outputs of an input.
type Lists<'a, X, T> = &'a dyn Fn(&X) -> T;

/// How an oracle is checked.
///
/// ```
/// # use dualgap::structure::OracleCheck;
/// // Levels from 0 to 3, of any input; and twice as many weights as usual.
/// let all = |_: &Vec<f64>| Some((0..4).collect());
/// let check = OracleCheck { draws: 40, all: Some(&all), ..OracleCheck::default() };
/// # let _: OracleCheck<'_, Vec<f64>, u32> = check;
/// ```
pub struct OracleCheck<'a, X, Y> {
    /// How many weights are drawn for every example; zero weights come first.
    pub draws: usize,
    /// The seed of the weights.
    pub seed: u64,
    /// Lists all outputs of an input, or returns `None` for an input that has too many.
    pub all: Option<Lists<'a, X, Option<Vec<Y>>>>,
    /// Lists some outputs of an input, those that are likely to be wrong.
    pub some: Option<Lists<'a, X, Vec<Y>>>,
}

impl<X, Y> Default for OracleCheck<'_, X, Y> {
    fn default() -> Self {
        // Each of the three scales six or seven times: bugs that a seventh of the weights show are found nearly always.
        Self { draws: 20, seed: 0, all: None, some: None }
    }
}

/// Checks an oracle against its contract on these examples; see [`Clause`]. A check that finds nothing proves nothing, but
/// where it lists all outputs of small inputs, little is left to go wrong.
///
/// ```
/// use dualgap::linalg::Accumulate;
/// use dualgap::structure::{Bound, Clause, Decoded, Oracle, OracleCheck, check_oracle};
///
/// /// A sign, by an oracle that forgets the loss.
/// struct Sign;
///
/// impl Oracle for Sign {
///     type Input = f64;
///     type Output = i8;
///     type Scratch = ();
///
///     fn dim(&self) -> usize { 1 }
///
///     fn features(&self, x: &f64, y: &i8, out: &mut impl Accumulate) {
///         out.add(0, f64::from(*y) * x);
///     }
///
///     fn loss(&self, _: &f64, truth: &i8, y: &i8) -> f64 {
///         f64::from(u8::from(truth != y))
///     }
///
///     fn decode(&self, w: &[f64], x: &f64, _: Option<&i8>, _: &mut ())
///         -> dualgap::Result<Decoded<i8>>
///     {
///         Ok(Decoded { output: if w[0] * x >= 0.0 { 1 } else { -1 }, bound: Bound::Exact })
///     }
/// }
///
/// let all = |_: &f64| Some(vec![-1, 1]);
/// let check = OracleCheck { all: Some(&all), ..OracleCheck::default() };
/// let checked = check_oracle(&Sign, &[(0.5, 1), (-0.3, -1)], &check);
/// assert_eq!(checked.breaches[0].clause, Clause::Bound);
/// assert!(checked.passed().unwrap_err().to_string().starts_with("example 0: "));
/// ```
pub fn check_oracle<O: Oracle>(
    oracle: &O,
    examples: &[(O::Input, O::Output)],
    check: &OracleCheck<'_, O::Input, O::Output>,
) -> Checked {
    Checker::new(oracle, examples, check, |_, _| None, |_| None).run()
}

/// [`check_oracle`] for an oracle that is to be a structure of its own: what it admits and the bytes of its outputs are
/// checked too.
pub fn check_own_oracle<O: OwnOracle>(
    oracle: &O,
    examples: &[(O::Input, O::Output)],
    check: &OracleCheck<'_, O::Input, O::Output>,
) -> Checked {
    let reread = |y: &O::Output| {
        let bytes = match postcard::to_stdvec(y) {
            Ok(bytes) => bytes,
            Err(error) => return Some(format!("it cannot be written: {error}")),
        };
        match postcard::from_bytes::<O::Output>(&bytes) {
            Ok(read) if read == *y => None,
            Ok(read) => Some(format!("{y:?} is read as {read:?}")),
            Err(error) => Some(format!("{y:?} cannot be read again: {error}")),
        }
    };
    Checker::new(oracle, examples, check, |x, y| Some(oracle.admits(x, y)), reread).run()
}

/// What was decoded for an example at some weights: against the truth, and without it.
type Answers<Y> = [Option<Decoded<Y>>; 2];

/// A check that goes on. `admits` knows whether a pair is one, and `reread` what is wrong with the bytes of an output.
struct Checker<'a, O: Oracle, A, R> {
    oracle: &'a O,
    examples: &'a [(O::Input, O::Output)],
    check: &'a OracleCheck<'a, O::Input, O::Output>,
    admits: A,
    reread: R,
    /// The outputs of every example that are known.
    known: Vec<IndexSet<O::Output>>,
    found: Checked,
    seen: HashSet<(usize, Clause)>,
}

impl<'a, O, A, R> Checker<'a, O, A, R>
where
    O: Oracle,
    A: Fn(&O::Input, &O::Output) -> Option<bool>,
    R: Fn(&O::Output) -> Option<String>,
{
    fn new(
        oracle: &'a O,
        examples: &'a [(O::Input, O::Output)],
        check: &'a OracleCheck<'a, O::Input, O::Output>,
        admits: A,
        reread: R,
    ) -> Self {
        let (known, found, seen) = (Vec::new(), Checked::default(), HashSet::new());
        Self { oracle, examples, check, admits, reread, known, found, seen }
    }

    fn run(mut self) -> Checked {
        let answers = self.decode_all();
        self.known = (0..self.examples.len()).map(|i| self.outputs(i, &answers)).collect();
        for i in 0..self.examples.len() {
            self.check_pairs(i);
        }
        for (w, answers) in self.weights().zip(&answers) {
            for (k, answers) in answers.iter().enumerate() {
                self.compare(k % self.examples.len(), &w, answers);
            }
        }
        self.check_slack();
        self.found.breaches.sort_by_key(|breach| breach.example);
        self.found
    }

    fn breach(&mut self, example: usize, clause: Clause, message: impl Into<String>) {
        if self.seen.insert((example, clause)) {
            self.found.breaches.push(Breach { example, clause, message: message.into() });
        }
    }

    /// The weights of every draw, the same each time.
    fn weights(&self) -> impl Iterator<Item = Vec<f64>> + use<O, A, R> {
        let (dim, mut random) = (self.oracle.dim(), Random::new(self.check.seed));
        (0..=self.check.draws).map(move |draw| {
            let scale = if draw == 0 { 0.0 } else { SCALES[draw % SCALES.len()] };
            (0..dim).map(|_| scale * (2.0 * random.unit() - 1.0)).collect()
        })
    }

    /// Decodes all examples at the weights of every draw, one by one, and if the oracle decodes batches, all together again.
    fn decode_all(&mut self) -> Vec<Vec<Answers<O::Output>>> {
        let (mut scratch, mut all) = (O::Scratch::default(), Vec::new());
        for w in self.weights() {
            let mut answers = Vec::with_capacity(self.examples.len());
            for (i, (x, truth)) in self.examples.iter().enumerate() {
                answers.push([Some(truth), None].map(|against| {
                    match self.oracle.decode(&w, x, against, &mut scratch) {
                        Ok(decoded) => Some(decoded),
                        Err(error) => {
                            self.breach(i, Clause::Decodes, error.to_string());
                            None
                        }
                    }
                }));
            }
            answers.extend(self.decode_together(&w));
            all.push(answers);
        }
        all
    }

    /// Decodes all examples as a batch; nothing if the oracle has no way to do so.
    fn decode_together(&mut self, w: &[f64]) -> Vec<Answers<O::Output>> {
        let inputs: Vec<_> = self.examples.iter().map(|(x, _)| x).collect();
        let truths: Vec<_> = self.examples.iter().map(|(_, truth)| truth).collect();
        let [with, without] = [Some(&truths[..]), None].map(|against| {
            batch(self.oracle, w, &inputs, against).unwrap_or_else(|error| {
                self.breach(0, Clause::Decodes, error.to_string());
                None
            })
        });
        if with.is_none() && without.is_none() {
            return Vec::new();
        }
        let (mut with, mut without) = (with.into_iter().flatten(), without.into_iter().flatten());
        inputs.iter().map(|_| [with.next(), without.next()]).collect()
    }

    /// Collects the outputs of an example, each once, and checks that they are outputs. Those that are not admitted are
    /// left out.
    fn outputs(&mut self, i: usize, answers: &[Vec<Answers<O::Output>>]) -> IndexSet<O::Output> {
        let (x, truth) = &self.examples[i];
        // The answers of a batch follow those that were decoded one by one.
        let n = self.examples.len();
        let decoded = answers.iter().flat_map(|of_draw| of_draw[i..].iter().step_by(n));
        let decoded = decoded.flat_map(|answers| answers.iter().flatten());
        let decoded = decoded.map(|decoded| &decoded.output);
        let returned: IndexSet<&O::Output> = std::iter::once(truth).chain(decoded).collect();
        let all: Option<IndexSet<O::Output>> =
            self.check.all.and_then(|all| all(x)).map(|all| all.into_iter().collect());
        let strange = |y: &&O::Output| all.as_ref().is_some_and(|all| !all.contains(*y));
        if let Some(y) = returned.iter().copied().find(strange) {
            let which = if y == truth { "the truth" } else { "what is decoded" };
            self.breach(i, Clause::Output, format!("{which} is not among all outputs"));
        }
        let others = (1..n).map(|k| &self.examples[(i + k) % n].1);
        let others = others.filter(|y| (self.admits)(x, y) == Some(true)).take(OTHER_TRUTHS);
        let mut outputs: IndexSet<O::Output> =
            returned.into_iter().chain(others).cloned().collect();
        outputs.extend(self.check.some.map(|some| some(x)).unwrap_or_default());
        outputs.extend(all.unwrap_or_default());
        // The other methods are promised outputs that are admitted.
        let (count, admits) = (outputs.len(), &self.admits);
        outputs.retain(|y| admits(x, y) != Some(false));
        if outputs.len() < count {
            let which =
                if outputs.contains(truth) { "one that is decoded or listed" } else { "the truth" };
            self.breach(i, Clause::Output, format!("{which} is not admitted"));
        }
        outputs
    }

    /// Checks what holds for a pair whatever the weights are, and forgets outputs that have no score.
    fn check_pairs(&mut self, i: usize) {
        let (x, truth) = &self.examples[i];
        let at_truth = self.oracle.loss(x, truth, truth);
        if at_truth != 0.0 {
            self.breach(i, Clause::TruthCostsNothing, format!("it is {at_truth}"));
        }
        let extent = self.oracle.extent(x);
        let mut known = std::mem::take(&mut self.known[i]);
        self.found.pairs += known.len();
        known.retain(|y| {
            if let Some(message) = (self.reread)(y) {
                self.breach(i, Clause::ByteForm, message);
            }
            let loss = self.oracle.loss(x, truth, y);
            let sound = loss >= 0.0 && loss.is_finite();
            if !sound {
                self.breach(i, Clause::Loss, format!("there is a loss of {loss}"));
            }
            sound & self.check_features(i, y, loss, extent)
        });
        self.known[i] = known;
    }

    /// Checks the features of a pair; whether it has a score.
    fn check_features(
        &mut self,
        i: usize,
        y: &O::Output,
        loss: f64,
        extent: Option<Extent>,
    ) -> bool {
        let (dim, x) = (self.oracle.dim(), &self.examples[i].0);
        let collect = || {
            let mut terms = Terms::default();
            self.oracle.features(x, y, &mut terms);
            terms
        };
        let (mut terms, mut again) = (collect(), collect());
        let bad = terms.sum.entries().iter().find(|(j, v)| *j >= dim || !v.is_finite());
        if let Some(&(j, v)) = bad {
            let message = format!("there is a feature {v} at index {j} of {dim}");
            self.breach(i, Clause::Features, message);
            return false;
        }
        terms.sum.settle();
        again.sum.settle();
        if terms.sum != again.sum {
            let message = "two calls gave two different vectors";
            self.breach(i, Clause::SameFeatures, message);
        }
        // The two sums may be rounded, each in its own order.
        let beyond = |found: f64, most: f64| found > most * (1.0 + gamma(2 * terms.count + 8));
        let norm2 = terms.sum.squared_norm().sqrt();
        if let Some(radius) = self.oracle.radius(x).filter(|&radius| beyond(norm2, radius)) {
            let message =
                format!("an output has features of the length {norm2}, and the radius is {radius}");
            self.breach(i, Clause::Extent, message);
        }
        if let Some(extent) = extent {
            let over = [
                (terms.count as f64, extent.terms as f64, "terms"),
                (terms.norm1, extent.norm1, "as the sum of the features' sizes"),
                (loss, extent.loss, "as a loss"),
            ];
            for (found, most, what) in over {
                if beyond(found, most) {
                    let message = format!("an output has {found} {what}, and the extent {most}");
                    self.breach(i, Clause::Extent, message);
                }
            }
        }
        true
    }

    /// Checks the bounds of what was decoded at these weights against all known outputs.
    fn compare(&mut self, i: usize, w: &[f64], answers: &Answers<O::Output>) {
        let (x, truth) = &self.examples[i];
        for (answer, against) in answers.iter().zip([Some(truth), None]) {
            let Some(Decoded { output, bound }) = answer else { continue };
            self.found.decoded += 1;
            let value = |y: &O::Output| {
                let loss = against.map_or(0.0, |truth| self.oracle.loss(x, truth, y));
                let mut score = Score { w, value: loss, magnitude: loss.abs(), terms: 1 };
                self.oracle.features(x, y, &mut score);
                score
            };
            // An output without a score has a breach of its own.
            if !self.known[i].contains(output) {
                continue;
            }
            let own = value(output);
            let most = match (*bound, self.oracle.quality()) {
                (Bound::Exact, _) => Some(own.value),
                (Bound::AtMost(most), _) => Some(most),
                // A promise is one about training.
                (Bound::Unknown, _) if against.is_none() => None,
                (Bound::Unknown, Quality::Additive(delta)) => Some(own.value + delta),
                // The share is one of the largest gap from any point; the truth is one, and every gap is from there.
                (Bound::Unknown, Quality::Multiplicative(nu)) => {
                    let right = value(truth).value;
                    Some(right + (own.value - right) / nu)
                }
                (Bound::Unknown, Quality::Exact) => None,
            };
            let (mut best, mut worst, mut low) = (true, 0.0_f64, None);
            for other in self.known[i].iter().map(value) {
                // The oracle and these lines may round every term of either score.
                let terms = own.terms + other.terms + 4;
                let slack = product_above(4.0 * gamma(terms), own.magnitude + other.magnitude);
                let above = other.value - own.value;
                best &= above <= slack;
                let Some(most) = most else { continue };
                if most.is_nan() || other.value - most > slack.max(worst) {
                    (worst, low) = (other.value - most, Some((other.value, most)));
                }
            }
            self.found.best += usize::from(best);
            if let Some((value, most)) = low {
                let clause = match (*bound, against) {
                    (Bound::Unknown, _) => Clause::Promise,
                    (_, Some(_)) => Clause::Bound,
                    (_, None) => Clause::Prediction,
                };
                let message = format!("an output scores {value}, and the bound is {most}");
                self.breach(i, clause, message);
            }
        }
    }

    /// Checks what is decoded under slack rescaling, unless the oracle does not decode so.
    fn check_slack(&mut self) {
        let mut scratch = O::Scratch::default();
        for w in self.weights() {
            for (i, example) in self.examples.iter().enumerate() {
                let (x, truth) = example;
                // The default refuses; an oracle that cannot decode otherwise shows it in a run.
                let Ok(answer) = self.oracle.decode_slack(&w, x, truth, &mut scratch) else {
                    return;
                };
                let Decoded { output, bound } = answer;
                let loss_of = |y: &O::Output| {
                    let loss = self.oracle.loss(x, truth, y);
                    Scored::new(self.oracle, Rescaling::Slack, example, &w, (y, loss))
                };
                let own = loss_of(&output);
                let most = match bound {
                    Bound::Exact => own.value,
                    Bound::AtMost(most) => most,
                    Bound::Unknown => continue,
                };
                let beyond =
                    |other: &Scored| most.is_nan() || other.value - most > other.slack + own.slack;
                if let Some(other) = self.known[i].iter().map(loss_of).find(beyond) {
                    let message = format!("an output has {}, and the bound is {most}", other.value);
                    self.breach(i, Clause::Slack, message);
                }
            }
        }
    }
}

/// A feature vector, the number of its terms and the sum of their sizes.
#[derive(Default)]
struct Terms {
    sum: SparseVec,
    count: usize,
    norm1: f64,
}

impl Accumulate for Terms {
    fn add(&mut self, index: usize, value: f64) {
        self.sum.add(index, value);
        self.count += 1;
        self.norm1 += value.abs();
    }
}
