//! Remarks: caveats about a certificate whose problem is trivial, or nearly so, or whose gap is smaller than its
//! rounding.
//!
//! A certificate of a problem whose mistakes cost nothing, or whose examples weigh nothing, is as valid as any other
//! and proves nothing of interest. A remark shows this without a look into the model file.
//!
//! After a run there are remarks on its problem, too: an intercept would lower the objective much, the columns want a
//! scale.

use super::Names;
use crate::Setting;
use crate::data::Scaling;
use crate::run::Certificate;
use crate::term::{Constants, MulticlassLoss};
use serde::Serialize;

/// A weight below this fraction of the mean, or a cost below this fraction of the largest, is negligible: what it
/// adds to the objective is far less than the gaps that runs end with.
const NEXT_TO_NOTHING: f64 = 1e-9;

/// The share of the objective that an intercept must gain to be worth a word.
const MUCH: f64 = 0.1;

/// The largest number of names in a sentence.
const LISTED: usize = 10;

/// The subject of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RemarkKind {
    /// No mistake costs anything.
    NoCosts,
    /// Some mistakes cost nothing or a negligible amount.
    ZeroCosts,
    /// All mistakes cost a negligible amount.
    SmallCosts,
    /// Some examples have no weight or a negligible one.
    LightExamples,
    /// Some classes have a negligible weight, all their examples together.
    LightClasses,
    /// The bound on the rounding is larger than the gap.
    Rounding,
    /// The oracle could not bound what it may have missed.
    Uncertified,
    /// The certificate holds if the oracle keeps a promise.
    Promise,
    /// The file has no witness, so the dual value is only the claim of the run.
    NoWitness,
    /// An intercept would lower the objective much.
    Intercept,
    /// The columns have very different sizes, and the run was slow.
    Scale,
    /// Labels break the scheme that most of them follow.
    Scheme,
}

/// A caveat, for machines and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// The subject.
    pub kind: RemarkKind,
    /// The text, without a full stop.
    pub text: String,
}

impl Remark {
    pub(crate) fn new(kind: RemarkKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Returns the remark on the numbers of a certificate, if there is one.
    ///
    /// ```
    /// # use dualgap::{linalg::Measured, run::Certificate, structure::Remark};
    /// let (primal, dual) = (Measured { value: 0.5, error: 1e-15 }, Measured { value: 0.5, error: 0.0 });
    /// let certificate = Certificate::new(primal, dual, true)?;
    /// let remark = Remark::on_certificate(&certificate).unwrap();
    /// assert_eq!(remark.text, "the rounding bound is larger than the gap itself");
    /// assert!(Remark::on_certificate(&Certificate { dual: 0.4, ..certificate }).is_none());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn on_certificate(certificate: &Certificate) -> Option<Self> {
        let text = "the rounding bound is larger than the gap itself";
        certificate.rounding_exceeds_gap().then(|| Self::new(RemarkKind::Rounding, text))
    }

    /// Returns the remark on what a certificate rests on, if it is less than exact searches or bounds.
    ///
    /// ```
    /// # use dualgap::{linalg::Measured, run::{Basis, Certificate}, structure::{Remark, RemarkKind}};
    /// let side = |value| Measured { value, error: 0.0 };
    /// let certificate = Certificate::new(side(0.5), side(0.4), true)?;
    /// assert!(Remark::on_basis(&certificate.resting_on(Basis::Bounds)).is_none());
    /// let promised = Remark::on_basis(&certificate.resting_on(Basis::Additive(0.1))).unwrap();
    /// assert_eq!(promised.kind, RemarkKind::Promise);
    /// let found = Remark::on_basis(&Certificate::new(side(0.5), side(0.4), false)?).unwrap();
    /// assert_eq!(found.kind, RemarkKind::Uncertified);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn on_basis(certificate: &Certificate) -> Option<Self> {
        if !certificate.certified {
            let text = "nothing is certified: the oracle could not bound what it may have missed, and the primal value \
                        is only the best that was found";
            return Some(Self::new(RemarkKind::Uncertified, text));
        }
        let text = format!("the certificate rests on {}", certificate.basis);
        certificate.basis.is_promise().then(|| Self::new(RemarkKind::Promise, text))
    }

    /// Returns the remark on a model without a witness.
    pub fn on_witness(stored: bool) -> Option<Self> {
        let text = "the file has no witness: the dual value is the word of the training run, and nobody has proved it here";
        (!stored).then(|| Self::new(RemarkKind::NoWitness, text))
    }

    /// Returns the remark on a path in which this many models have no witness.
    pub fn on_path(without_witness: usize) -> Option<Self> {
        let text = format!(
            "{without_witness} models have no witness: their intervals are the word of the training runs, and nobody has \
             proved them here"
        );
        (without_witness > 0).then(|| Self::new(RemarkKind::NoWitness, text))
    }
}

/// Returns the remark on the intercept that a model does not have, if it would lower the objective much: by at least
/// [`MUCH`] of it, and by more than the gap of the run, which the run itself could still gain.
pub(crate) fn on_intercept(certificate: &Certificate, found: &Constants) -> Option<Remark> {
    let primal = certificate.primal;
    let penalty = (primal - found.without).max(0.0);
    let (beside, alone) = (found.beside.loss + penalty, found.alone.loss);
    let (lowered, way) = if beside <= alone {
        (beside, format!("adding {} to every prediction", significant(found.beside.value)))
    } else {
        let value = significant(found.alone.value);
        (alone, format!("the prediction {value} for every example, without any feature,"))
    };
    let gain = primal - lowered;
    let text = format!(
        "{} would lower the objective by {:.0} % or more, from {} to at most {}: {way} is enough for that",
        Setting::Intercept,
        (100.0 * gain / primal).floor(),
        significant(primal),
        significant(rounded_up(lowered)),
    );
    (gain >= MUCH * primal && gain > certificate.gap_bound())
        .then(|| Remark::new(RemarkKind::Intercept, text))
}

/// Returns the remark on columns whose largest magnitudes differ by this factor.
pub(crate) fn on_scale(apart: f64, scale: Scaling) -> Remark {
    let name = if scale == Scaling::Rms { "rms" } else { "max" };
    let text = format!(
        "the largest magnitudes of the columns differ by a factor of {}, which makes a run slow: {}={name} divides the \
         columns before the run, and the penalty is then about the weights of the divided columns",
        significant(apart),
        Setting::Scale,
    );
    Remark::new(RemarkKind::Scale, text)
}

/// Returns the next larger number of four digits, so that "at most" stays true.
fn rounded_up(x: f64) -> f64 {
    if x < 1e-300 {
        return x; // zero, or next to it
    }
    let unit = 10.0_f64.powi(x.log10().floor() as i32 - 3);
    if unit.is_normal() { (x / unit).ceil() * unit } else { x }
}

/// Writes a number with four digits.
fn significant(x: f64) -> String {
    let digits = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    if (-4..6).contains(&digits) {
        let text = format!("{x:.*}", (3 - digits).max(0) as usize);
        let has_fraction = text.contains('.');
        let trimmed =
            if has_fraction { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        trimmed.into()
    } else {
        format!("{x:.3e}")
    }
}

/// Returns the remarks on the weights of examples; `labels` are those of the training examples, if known.
pub(crate) fn on_weights(weights: &[f64], labels: Option<&[u32]>, names: &Names) -> Vec<Remark> {
    let on_classes = labels.and_then(|labels| on_classes(weights, labels, names));
    on_examples(weights).into_iter().chain(on_classes).collect()
}

/// Returns the remark on a matrix of costs.
pub(crate) fn on_costs(costs: &[f64], classes: usize, loss: MulticlassLoss) -> Option<Remark> {
    let mistakes: Vec<f64> = mistakes(costs, classes).collect();
    let largest = mistakes.iter().copied().fold(0.0, f64::max);
    if mistakes.is_empty() {
        return None;
    }
    if largest == 0.0 {
        let optimal = match loss {
            MulticlassLoss::Hinge => ": weights of zero are optimal",
            _ => "",
        };
        let text = format!(
            "no mistake costs anything{optimal}, and a certificate of such a problem proves nothing of interest"
        );
        return Some(Remark::new(RemarkKind::NoCosts, text));
    }
    if largest < NEXT_TO_NOTHING {
        let text = format!(
            "no mistake costs more than {largest:e}: nearly nothing asks the model to be right"
        );
        return Some(Remark::new(RemarkKind::SmallCosts, text));
    }
    let few = mistakes.iter().filter(|&&cost| cost < NEXT_TO_NOTHING * largest).count();
    let of = mistakes.len();
    let text = format!(
        "{few} of {of} mistakes cost nothing, or less than {NEXT_TO_NOTHING:e} of the dearest one: nothing asks the model to \
         avoid them"
    );
    (few > 0).then(|| Remark::new(RemarkKind::ZeroCosts, text))
}

/// Returns the off-diagonal entries of a cost matrix.
pub(crate) fn mistakes(costs: &[f64], classes: usize) -> impl Iterator<Item = f64> + '_ {
    let right = move |k: usize| k / classes == k % classes;
    costs.iter().enumerate().filter(move |&(k, _)| !right(k)).map(|(_, &cost)| cost)
}

fn on_examples(weights: &[f64]) -> Option<Remark> {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    let light = weights.iter().filter(|&&weight| weight < NEXT_TO_NOTHING * mean).count();
    let zero = weights.iter().filter(|&&weight| weight == 0.0).count();
    let n = weights.len();
    let text = format!(
        "{light} of {n} examples weigh less than {NEXT_TO_NOTHING:e} of the mean ({zero} of them nothing): the certificate says \
         next to nothing about them"
    );
    (light > 0).then(|| Remark::new(RemarkKind::LightExamples, text))
}

/// Compares the weight of each class with the mean over classes that have examples.
fn on_classes(weights: &[f64], labels: &[u32], names: &Names) -> Option<Remark> {
    let names = names.alphabet.names();
    let mut sums = vec![None; names.len()];
    for (&weight, &label) in weights.iter().zip(labels) {
        if let Some(sum) = sums.get_mut(label as usize) {
            *sum = Some(sum.unwrap_or(0.0) + weight);
        }
    }
    let present: Vec<f64> = sums.iter().copied().flatten().collect();
    let mean = present.iter().sum::<f64>() / present.len() as f64;
    let is_light = |sum: &Option<f64>| sum.is_some_and(|sum| sum < NEXT_TO_NOTHING * mean);
    let light: Vec<&str> = names
        .iter()
        .zip(&sums)
        .filter(|(_, sum)| is_light(sum))
        .map(|(name, _)| &name[..])
        .collect();
    let more = light.len().saturating_sub(LISTED);
    let (subject, them) = match light[..] {
        [name] => (format!("the class {name} weighs"), "it"),
        _ if more == 0 => (format!("the classes {} weigh", light.join(", ")), "them"),
        _ => (format!("the classes {} and {more} more weigh", light[..LISTED].join(", ")), "them"),
    };
    let text = format!(
        "{subject} less than {NEXT_TO_NOTHING:e} of the mean class: the certificate says next to nothing about {them}"
    );
    (!light.is_empty()).then(|| Remark::new(RemarkKind::LightClasses, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(costs: &[f64]) -> Option<RemarkKind> {
        on_costs(costs, 2, MulticlassLoss::Hinge).map(|remark| remark.kind)
    }

    #[test]
    fn mistakes_that_cost_nothing_are_pointed_out() {
        assert_eq!(kind(&[0.0, 1.0, 1e-6, 0.0]), None);
        assert_eq!(kind(&[0.0, 1.0, 0.0, 0.0]), Some(RemarkKind::ZeroCosts));
        assert_eq!(kind(&[0.0, 1.0, 1e-10, 0.0]), Some(RemarkKind::ZeroCosts));
        assert_eq!(kind(&[0.0, 1e-10, 1e-10, 0.0]), Some(RemarkKind::SmallCosts));
        assert_eq!(kind(&[0.0; 4]), Some(RemarkKind::NoCosts));
    }

    #[test]
    fn numbers_of_four_digits_are_no_smaller() {
        for (x, text) in [
            (0.0, "0"),
            (1e-320, "1.000e-320"),
            (0.184_012, "0.1841"),
            (2.0, "2"),
            (123_456.0, "123500"),
            (1e200, "1.000e200"),
            (0.000_123_41, "0.0001235"),
        ] {
            assert_eq!(significant(rounded_up(x)), text);
        }
        assert_eq!(significant(-0.834_24), "-0.8342");
    }

    #[test]
    fn examples_that_weigh_nothing_are_counted() {
        assert!(on_examples(&[1.0, 2.0, 1e-6]).is_none());
        let remark = on_examples(&[1.0, 0.0, 1e-12, 2.0]).unwrap();
        assert!(remark.text.starts_with("2 of 4 examples"), "{remark:?}");
        assert!(remark.text.contains("(1 of them nothing)"), "{remark:?}");
    }
}
