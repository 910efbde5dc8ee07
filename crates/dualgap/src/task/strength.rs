//! How strong a penalty is, as the user writes it: a number, or what only data can tell.

use crate::{Error, Result};
use serde::Deserialize;
use std::str::FromStr;

/// A λ, μ or σ: a number, a multiple of 1/n, or what another strength or the data make of it.
///
/// As text it is `0.01`, `10/n`, for σ also `0.1max`, and for λ also `0.1l1`; in JSON it may also be a number, or
/// `{"c": 1.0}` for 1/(C·n).
///
/// ```
/// # use dualgap::task::Strength;
/// assert_eq!("10/n".parse::<Strength>()?, Strength::PerExample(10.0));
/// assert_eq!("0.1max".parse::<Strength>()?, Strength::FractionOfMax(0.1));
/// assert!("1/m".parse::<Strength>().is_err());
/// assert!("1.5max".parse::<Strength>().is_err(), "beyond the maximum all weights are zero");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
#[non_exhaustive]
pub enum Strength {
    /// The number itself.
    Value(f64),
    /// So many times 1/n, with n the total weight of the examples.
    PerExample(f64),
    /// 1/(C·n), for this C.
    OneOver(f64),
    /// Of σ: this fraction of σ_max, above which all penalised weights are zero.
    FractionOfMax(f64),
    /// Of λ: so many times σ.
    TimesL1(f64),
}

impl Strength {
    /// No penalty.
    pub const NONE: Self = Self::Value(0.0);

    /// Returns the number, for this total weight of the examples, or an error if it depends on more than that.
    ///
    /// ```
    /// # use dualgap::task::Strength;
    /// assert_eq!(Strength::PerExample(2.0).resolve(8.0)?, 0.25);
    /// assert!(Strength::FractionOfMax(0.1).resolve(8.0).is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn resolve(self, total: f64) -> Result<f64> {
        match self {
            Self::Value(value) => Ok(value),
            Self::PerExample(times) => Ok(times / total),
            Self::OneOver(c) => Ok(1.0 / (c * total)),
            Self::FractionOfMax(_) => Err(Error::setting(
                "a fraction of the maximum, such as 0.1max, is for the l1 penalty: give a number or a multiple of 1/n",
            )),
            Self::TimesL1(_) => Err(Error::setting(
                "a multiple of the l1 penalty, such as 0.1l1, is for lambda: give a number or a multiple of 1/n",
            )),
        }
    }

    /// Whether it is zero, whatever the data.
    pub fn is_zero(self) -> bool {
        self == Self::NONE
    }
}

/// A suffix of text, and what it stands for.
type Form = (&'static str, fn(f64) -> Strength);

const FORMS: [Form; 3] =
    [("/n", Strength::PerExample), ("max", Strength::FractionOfMax), ("l1", Strength::TimesL1)];

impl FromStr for Strength {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let form =
            FORMS.iter().find_map(|(suffix, form)| Some((text.strip_suffix(suffix)?, *form)));
        let (number, form) = form.unwrap_or((text, Self::Value));
        let number = number.parse::<f64>().ok().filter(|x| x.is_finite());
        match number.map(form) {
            Some(Self::FractionOfMax(x)) if x > 0.0 && x <= 1.0 => Ok(Self::FractionOfMax(x)),
            Some(Self::FractionOfMax(_)) => Err(Error::setting(
                "a fraction of the maximum is above 0 and at most 1, such as 0.1max: at 1max all weights are zero",
            )),
            Some(Self::Value(x)) if x >= 0.0 => Ok(Self::Value(x)),
            Some(Self::PerExample(x) | Self::TimesL1(x)) if x > 0.0 => Ok(form(x)),
            _ => Err(Error::setting(
                "a positive number such as 0.01, or a multiple of 1/n such as 10/n",
            )),
        }
    }
}

/// The forms of a strength in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
    OneOver { c: f64 },
}

impl TryFrom<Written> for Strength {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self> {
        match written {
            Written::Number(value) => Ok(Self::Value(value)),
            Written::Text(text) => text.parse(),
            Written::OneOver { c } if c > 0.0 && c.is_finite() => Ok(Self::OneOver(c)),
            Written::OneOver { .. } => Err(Error::setting("C must be a positive number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_of_the_forms() {
        for (text, strength) in [
            ("0", Strength::NONE),
            ("1e-3", Strength::Value(1e-3)),
            ("2/n", Strength::PerExample(2.0)),
            ("1max", Strength::FractionOfMax(1.0)),
            ("0.1l1", Strength::TimesL1(0.1)),
        ] {
            assert_eq!(text.parse::<Strength>().unwrap(), strength, "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bad in ["max", "0max", "-0.1max", "1.5max", "nanmax", "infmax", "1e-400max"] {
            assert!(bad.parse::<Strength>().is_err(), "{bad}");
        }
        for bad in ["", "l1", "0l1", "/n", "0/n", "-1", "nan", "inf", "maxmax", "0.1 max"] {
            assert!(bad.parse::<Strength>().is_err(), "{bad}");
        }
    }
}
