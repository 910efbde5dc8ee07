//! The max-oracle: all that a structure needs to provide.

use super::examples::OwnExamples;
use crate::data::Source;
use crate::dual::Quality;
use crate::linalg::Accumulate;
use crate::structure::evaluation::ErrorKind;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;

/// How good a decoded output is known to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// No output scores higher, up to the rounding of a plain sum of the score's terms. The certificate includes that
    /// rounding: of any output if the oracle knows its [`Extent`], else of the output that was found and the truth.
    Exact,
    /// No output scores higher than this, rounding included.
    AtMost(f64),
    /// Nothing is known. The solver can step with it, but a run is then reported as uncertified, unless the oracle
    /// promises something of all its outputs ([`Oracle::quality`]).
    Unknown,
}

/// How large scores can get, over all outputs of an input. It bounds the rounding of the outputs that the oracle
/// compared and did not choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The largest number of features in a sum.
    pub terms: usize,
    /// The largest sum of their absolute values.
    pub norm1: f64,
    /// The largest loss.
    pub loss: f64,
}

/// What an oracle found.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded<Y> {
    /// The output with the highest score that was found.
    pub output: Y,
    /// What is known about all other outputs.
    pub bound: Bound,
}

/// Decoding for one structure: all that a user has to write.
///
/// Contract: `loss(x, y, y) = 0` and `loss ≥ 0`; `features` is the same vector φ(x, y) for the same
/// pair; and the [`Bound`] of a decoded output is true. A broken contract that shows during a run is an
/// error, because a certificate would be worth nothing.
///
/// The smallest structure there is, a sign:
///
/// ```
/// use dualgap::dual;
/// use dualgap::linalg::Accumulate;
/// use dualgap::structure::{Bound, Decoded, Oracle};
///
/// struct Sign;
///
/// impl Oracle for Sign {
///     type Input = Vec<f64>;
///     type Output = i8; // +1 or −1
///     type Scratch = ();
///
///     fn dim(&self) -> usize { 2 }
///
///     fn features(&self, x: &Vec<f64>, y: &i8, out: &mut impl Accumulate) {
///         for (j, x) in x.iter().enumerate() {
///             out.add(j, 0.5 * f64::from(*y) * x);
///         }
///     }
///
///     fn loss(&self, _: &Vec<f64>, truth: &i8, y: &i8) -> f64 {
///         f64::from(u8::from(truth != y))
///     }
///
///     fn decode(&self, w: &[f64], x: &Vec<f64>, against: Option<&i8>, _: &mut ())
///         -> dualgap::Result<Decoded<i8>>
///     {
///         let score = |y: i8| {
///             let margin: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
///             0.5 * f64::from(y) * margin + against.map_or(0.0, |truth| self.loss(x, truth, &y))
///         };
///         let output = if score(1) >= score(-1) { 1 } else { -1 };
///         Ok(Decoded { output, bound: Bound::Exact })
///     }
/// }
///
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::structure::OracleBlocks;
/// let examples = vec![(vec![1.0, 0.2], 1), (vec![-0.7, 0.1], -1), (vec![0.4, 0.9], 1)];
/// let blocks = OracleBlocks::new(&Sign, &examples)?;
/// let report = dual::train(&blocks, &Settings::default(), &Budget::relative(1e-6), &mut ())?;
/// assert!(report.model.weights[0] > 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub trait Oracle: Sync {
    /// x.
    type Input: Sync;
    /// y, and by its equality the identity of a corner of the dual.
    type Output: Clone + Eq + Hash + Send + Sync;
    /// Buffers that calls reuse, one set per thread.
    type Scratch: Default + Send;

    /// Returns the dimension of φ and of the weights.
    fn dim(&self) -> usize;

    /// Adds φ(x, y) to `out`.
    fn features(&self, x: &Self::Input, y: &Self::Output, out: &mut impl Accumulate);

    /// Returns L(truth, y).
    fn loss(&self, x: &Self::Input, truth: &Self::Output, y: &Self::Output) -> f64;

    /// Returns an upper bound for all outputs of `x`, if one is known.
    fn extent(&self, _x: &Self::Input) -> Option<Extent> {
        None
    }

    /// Returns an upper bound on ‖φ(x, y)‖₂ for all outputs of `x`, if one is known: the steps of Prox-SDCA depend on it.
    fn radius(&self, x: &Self::Input) -> Option<f64> {
        self.extent(x).map(|extent| extent.norm1)
    }

    /// Returns what is promised of all outputs that are decoded: that their gap is at least a share of the largest, or that
    /// no output scores higher by more than an amount. Where an output's bound is [`Bound::Unknown`], certificates rest on
    /// that promise, and say so; outputs that were found before may refute it, which is an error.
    fn quality(&self) -> Quality {
        Quality::Exact
    }

    /// Returns the work of a call of [`decode`](Self::decode), in multiplications or what takes as long; a millisecond
    /// has about a million of them. The more expensive a call, the more steps the engine takes on outputs that it has
    /// found before.
    fn work(&self, _x: &Self::Input) -> f64 {
        1e5
    }

    /// Returns `argmax_y ⟨w, φ(x, y)⟩`, plus `L(against, y)` when a truth is given to decode against.
    fn decode(
        &self,
        w: &[f64],
        x: &Self::Input,
        against: Option<&Self::Output>,
        scratch: &mut Self::Scratch,
    ) -> Result<Decoded<Self::Output>>;

    /// Decodes several inputs at the same weights, each as [`decode`](Self::decode) does, or returns `None` if that is not
    /// faster than one by one. The engine asks for it where it searches several examples at once: a mini-batch, all examples
    /// of a certification, predictions.
    fn decode_batch(
        &self,
        _w: &[f64],
        _inputs: &[&Self::Input],
        _against: Option<&[&Self::Output]>,
    ) -> Result<Option<Vec<Decoded<Self::Output>>>> {
        Ok(None)
    }

    /// Returns `argmax_y L(truth, y) (1 + ⟨w, φ(x, y)⟩ − ⟨w, φ(x, truth)⟩)`, for
    /// [slack rescaling](super::Rescaling::Slack). [`Bound::AtMost`] then bounds this product for all outputs.
    fn decode_slack(
        &self,
        _w: &[f64],
        _x: &Self::Input,
        _truth: &Self::Output,
        _scratch: &mut Self::Scratch,
    ) -> Result<Decoded<Self::Output>> {
        Err(Error::setting("this oracle has no slack-rescaled decoding"))
    }
}

/// An oracle that can be a structure of its own: its parameters, inputs and outputs have a byte form through serde.
///
/// [`OwnStructure`](super::OwnStructure) makes a [`Structure`](crate::structure::Structure) of it: witnesses, checkpoints, warm starts, model files, verification, paths
/// and cross-validation, in the library and in a program. `examples/own_structure.rs` has one.
pub trait OwnOracle:
    Oracle<Input: Clone + Debug + Serialize + Send, Output: Debug + Serialize + DeserializeOwned>
    + Clone
    + Debug
    + PartialEq
    + Serialize
    + DeserializeOwned
    + Send
    + 'static
{
    /// The name of the structure in model files.
    const NAME: &'static str;

    /// Whether `y` is one of the outputs of `x`. A witness comes from a file, which may say anything: the other methods
    /// are called only with outputs that this one admits.
    fn admits(&self, x: &Self::Input, y: &Self::Output) -> bool;

    /// Returns what the mean loss is, by which models are compared. A loss that is never more than 1 may be told in percent:
    /// [`ErrorKind::Share`].
    fn error_kind(&self) -> ErrorKind {
        ErrorKind::Number
    }

    /// Returns an output as text.
    fn spell(&self, y: &Self::Output) -> String {
        format!("{y:?}")
    }

    /// Reads inputs and their outputs, or inputs alone, from a file.
    fn read(&self, source: Source<'_>) -> Result<OwnExamples<Self::Input, Self::Output>> {
        Err(source
            .file_error("cannot be read: this structure has no file format", "use the library"))
    }
}
