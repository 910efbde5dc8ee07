//! Small models, with a proof of what that costs.
//!
//! The smallest weights become zero, and the others are rounded. The primal value is then computed again at the weights as
//! they will be stored, and the dual point is that of the model as it was trained:
//!
//! ```text
//! P(w') − min P ≤ P(w') − D(α)
//! ```
//!
//! so that what is claimed of the small model is as certain as what was claimed of the large one.

use super::Model;
use super::compact::{is_sparse, stored};
use super::prove::{own_witness, prove};
use super::quantised::{BLOCK, Width, rounded};
use crate::linalg::LowRank;
use crate::run::Certificate;
use crate::structure::{Fitted, Structure};
use crate::term::{Ball, Penalty};
use crate::{Error, Result, Setting};

/// How often numbers that would be rounded to zero are left out, after which they are kept as they are.
const ROUNDS: usize = 100;

/// How small a model is to become.
///
/// - [`bits`](Self::bits): 8 or 16 are integers with a scale for every 64 weights; 32 are floats; with 64 nothing is rounded.
///   Arrays of up to 64 numbers, and factors of low rank, stay as they are.
/// - [`keep`](Self::keep): the share of ‖w‖² that stays. The smallest weights are zero after that. Of weights in factors,
///   singular values and their vectors are left out in their place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compression {
    bits: u32,
    keep: f64,
    witness: bool,
}

impl Compression {
    /// Returns an error unless there are such integers or floats, and the share is above 0 and at most 1.
    ///
    /// ```
    /// use dualgap::task::Compression;
    /// assert!(Compression::new(8, 0.99).is_ok());
    /// assert!(Compression::new(7, 0.99).is_err() && Compression::new(8, 0.0).is_err());
    /// ```
    pub fn new(bits: u32, keep: f64) -> Result<Self> {
        if ![8, 16, 32, 64].contains(&bits) {
            return Err(Error::setting(format!("weights of {bits} bits: take 8, 16, 32 or 64")));
        }
        if !(keep > 0.0 && keep <= 1.0) {
            return Err(Error::setting(format!(
                "the share of the squared norm that stays is above 0 and at most 1, not {keep}"
            )));
        }
        Ok(Self { bits, keep, witness: false })
    }

    /// Whether the dual point stays in the model: its certificate is then proved by the model alone, and its file is larger.
    #[must_use]
    pub fn with_witness(self, witness: bool) -> Self {
        Self { witness, ..self }
    }

    /// The number of bits of a weight.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The share of the squared norm that stays.
    pub fn keep(&self) -> f64 {
        self.keep
    }
}

/// What compression has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compressed {
    /// The certificate before, proved again.
    pub before: Certificate,
    /// The certificate of the weights as they are now, against the dual point of the model as it was. It is that of the
    /// model too, unless the model has lost its dual point and is one by itself.
    pub after: Certificate,
    /// How many stored numbers were not zero before.
    pub weights_before: usize,
    /// How many are not zero now.
    pub weights_after: usize,
    /// Whether the model needs no witness to prove its certificate.
    pub proves_itself: bool,
}

impl<S: Structure> Model<S> {
    /// Makes the weights few and short, and proves from the training data what that costs. The model needs its witness,
    /// unless it proves itself, as a conditional random field does.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Multiclass;
    /// use dualgap::task::{Compression, Plan, Task};
    /// use dualgap::term::Penalty;
    ///
    /// let rows: Vec<Vec<f64>> =
    ///     (0..8).map(|i| (0..40).map(|j| f64::from(i * j % 7)).collect()).collect();
    /// let labels = ["cat", "dog", "cat", "dog", "dog", "cat", "dog", "cat"];
    /// let data = Examples::from_dense(&rows, &labels)?;
    /// let task = Task::new(Multiclass::default(), Penalty::ridge(0.1));
    /// let mut model = task.fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
    /// let how = Compression::new(8, 0.999)?.with_witness(true);
    /// let done = model.compress(&data, &how)?;
    /// assert!(done.after.primal >= done.before.primal - done.after.rounding_error);
    /// let proved = model.certify(&data)?.certificate;
    /// assert!((proved.gap() - done.after.gap()).abs() <= 2.0 * proved.rounding_error);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn compress(&mut self, data: &S::Data, how: &Compression) -> Result<Compressed> {
        let (weights, low_rank) = self.small(how)?;
        let this = &*self;
        let (before, after, witness, own) = prove(this, data, |posed, factors| {
            let sides = posed.sides()?;
            let witness = match &this.witness {
                Some(witness) => Some(witness.clone()),
                None => own_witness(this, posed, factors)?,
            };
            let Some(witness) = witness else {
                return Err(Error::setting(format!(
                    "without its witness nothing can be proved of a compressed model: train the model again with {}",
                    Setting::Witness
                )));
            };
            let dual = sides.dual(&witness)?;
            let fitted = Fitted { weights: &weights, low_rank: low_rank.as_ref(), ..this.fitted() };
            let certificate = |fitted: Fitted<'_>| {
                sides.primal(fitted, Some(&witness), factors)?.certificate(dual)
            };
            let (before, after) = (certificate(this.fitted())?, certificate(fitted)?);
            let own = if posed.proves_itself() {
                posed.subgradients(&factors.scaled(&weights))?
            } else {
                None
            };
            let own = own.map(|own| {
                sides.primal(fitted, Some(&own), factors)?.certificate(sides.dual(&own)?)
            });
            Ok((before, after, witness, own.transpose()?))
        })?;
        let done = Compressed {
            before,
            after,
            proves_itself: own.is_some(),
            weights_before: self.nonzero(),
            weights_after: weights.iter().filter(|x| **x != 0.0).count()
                + low_rank.as_ref().map_or(0, numbers),
        };
        (self.weights, self.low_rank) = (weights, low_rank);
        self.witness = how.witness.then_some(witness);
        self.certificate = own.filter(|_| !how.witness).unwrap_or(after);
        if let Some(support) = self.support.take() {
            let columns = self.task.structure.columns(&self.names);
            let (support, weights) = support.condensed(&self.weights, columns);
            (self.support, self.weights) = (Some(support), weights);
        }
        Ok(done)
    }

    /// Returns the number of weights that are not zero, or of the numbers of their factors.
    fn nonzero(&self) -> usize {
        match &self.low_rank {
            Some(x) => numbers(x),
            None => self.weights.iter().filter(|x| **x != 0.0).count(),
        }
    }

    /// Returns the weights, or the factors in their place, as they are to be stored.
    fn small(&self, how: &Compression) -> Result<(Vec<f64>, Option<LowRank>)> {
        if let Some(x) = &self.low_rank {
            return Ok((Vec::new(), Some(truncated(x, how.keep)?)));
        }
        let in_ball = match self.task.penalty {
            Penalty::Ball { ball: Ball::Simplex { .. }, .. } => {
                return Err(Error::setting(
                    "weights of a simplex add up to its radius, and rounded ones do not: such a model cannot be compressed",
                ));
            }
            Penalty::Ball { .. } => true,
            _ => false,
        };
        let mut weights = pruned(&self.weights, how.keep);
        let width = match how.bits {
            8 => Width::Eight,
            16 => Width::Sixteen,
            32 => {
                weights.iter_mut().for_each(|x| *x = single(*x, in_ball));
                return finite(weights);
            }
            _ => return Ok((weights, None)),
        };
        let sizes: Vec<usize> = self.arrays().iter().map(|(_, _, numbers)| numbers.len()).collect();
        let mut rest = &mut weights[..];
        for size in sizes {
            let array;
            (array, rest) = rest.split_at_mut(size);
            quantise(array, width, in_ball)?;
        }
        finite(weights)
    }
}

/// Sets the smallest numbers to zero as long as the others have this share of the squared norm. Of equal ones those that come
/// first stay.
fn pruned(weights: &[f64], keep: f64) -> Vec<f64> {
    let mut places: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] != 0.0).collect();
    places.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    let mut all = vec![0.0; weights.len()];
    // Largest first, so that what is added is never lost beside the sum; relative to the largest nothing overflows.
    let top = places.first().map_or(1.0, |&k| weights[k].abs());
    let square = |k: usize| (weights[k] / top).powi(2);
    let total: f64 = places.iter().map(|&k| square(k)).sum();
    let mut sum = 0.0;
    for k in places {
        if keep < 1.0 && sum >= keep * total {
            break;
        }
        sum += square(k);
        all[k] = weights[k];
    }
    all
}

/// Rounds an array to integers times scales. Of a sparse one the zeros have no part in blocks, so that numbers are left
/// out until no other would be rounded to zero.
fn quantise(array: &mut [f64], width: Width, toward_zero: bool) -> Result<()> {
    let too_large =
        || Error::setting("the model has weights that are too large for scales of 32 bits");
    if array.len() <= BLOCK {
        return Ok(());
    }
    if !is_sparse(array) {
        let values = rounded(array, width, toward_zero).ok_or_else(too_large)?;
        array.copy_from_slice(&values);
        return Ok(());
    }
    for _ in 0..ROUNDS {
        let values = rounded(&stored(array), width, toward_zero).ok_or_else(too_large)?;
        let zeros = values.contains(&0.0);
        let kept = array.iter_mut().filter(|x| x.to_bits() != 0).zip(&values);
        kept.filter(|(_, value)| !zeros || **value == 0.0).for_each(|(x, value)| *x = *value);
        if !zeros {
            break;
        }
    }
    Ok(())
}

/// Rounds to 32 bits.
fn single(x: f64, toward_zero: bool) -> f64 {
    let near = x as f32;
    let beyond = toward_zero && f64::from(near).abs() > x.abs();
    f64::from(if !beyond {
        near
    } else if near > 0.0 {
        near.next_down()
    } else {
        near.next_up()
    })
}

fn finite(weights: Vec<f64>) -> Result<(Vec<f64>, Option<LowRank>)> {
    if weights.iter().all(|x| x.is_finite()) {
        return Ok((weights, None));
    }
    Err(Error::setting("the model has weights that are too large for 32 bits: keep 64"))
}

/// Leaves out the smallest singular values as long as the others have this share of the sum of squares.
fn truncated(x: &LowRank, keep: f64) -> Result<LowRank> {
    let s = pruned(x.s(), keep);
    let chosen: Vec<usize> = (0..s.len()).filter(|&k| s[k] != 0.0).collect();
    let of = |factor: &[f64]| -> Vec<f64> {
        let rows = factor.chunks_exact(x.rank().max(1));
        rows.flat_map(|row| chosen.iter().map(|&k| row[k])).collect()
    };
    LowRank::new(
        x.rows(),
        x.columns(),
        of(x.u()),
        chosen.iter().map(|&k| s[k]).collect(),
        of(x.v()),
    )
}

fn numbers(x: &LowRank) -> usize {
    x.u().len() + x.s().len() + x.v().len()
}
