//! What a grid is over: λ, σ, or the radius of a ball.

use crate::term::{Ball, Penalty};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The number of a problem that a grid, a path or a choice is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// λ, of the squared norm.
    #[default]
    Lambda,
    /// σ, of the l1 norm.
    L1,
    /// The radius of a ball.
    Radius,
}

impl Over {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lambda => "lambda",
            Self::L1 => "l1",
            Self::Radius => "radius",
        }
    }

    /// Returns the penalty with this number in the place of its own, or an error for a penalty that has none.
    pub fn replaced(self, penalty: Penalty, value: f64) -> Result<Penalty> {
        match (self, penalty) {
            (Self::Lambda, penalty) => penalty.at_lambda(value),
            (Self::L1, Penalty::Ridge { lambda, nonnegative, free, .. }) => {
                Ok(Penalty::Ridge { lambda, l1: value, nonnegative, free })
            }
            (Self::L1, Penalty::Lasso { nonnegative, free, .. }) => {
                Ok(Penalty::Lasso { sigma: value, nonnegative, free })
            }
            (Self::L1, Penalty::QNorm { lambda, .. }) => Ok(Penalty::QNorm { lambda, l1: value }),
            (Self::L1, Penalty::Ball { .. }) => {
                Err(Error::setting("weights in a ball have a radius and mu, and no l1 penalty"))
            }
            (Self::Radius, Penalty::Ball { ball, mu }) => {
                Ok(Penalty::Ball { ball: ball.at(value), mu })
            }
            (Self::Radius, _) => {
                Err(Error::setting("a radius is that of a ball, and the weights are in none"))
            }
        }
    }

    /// Returns the number that a penalty has.
    pub fn of(self, penalty: Penalty) -> Option<f64> {
        match (self, penalty) {
            (Self::Lambda, penalty) => penalty.lambda(),
            (Self::L1, Penalty::Ridge { l1, .. } | Penalty::QNorm { l1, .. }) => Some(l1),
            (Self::L1, Penalty::Lasso { sigma, .. }) => Some(sigma),
            (Self::L1, Penalty::Ball { .. }) => None,
            (Self::Radius, penalty) => penalty.ball().map(Ball::radius),
        }
    }

    /// Checks the numbers of a grid, sorts them so that the simplest model comes first (the largest λ and σ, the smallest
    /// radius), and removes duplicates.
    pub(super) fn sorted(self, values: &[f64]) -> Result<Vec<f64>> {
        let name = self.name();
        let fits = |x: f64| x.is_finite() && (x > 0.0 || (x == 0.0 && self == Self::Lambda));
        if let Some(bad) = values.iter().find(|value| !fits(**value)) {
            let what = if self == Self::Lambda {
                "number that is not negative"
            } else {
                "positive number"
            };
            return Err(Error::setting(format!("{name} must be a {what}, not {bad}")));
        }
        let mut values = values.to_vec();
        match self {
            Self::Lambda | Self::L1 => values.sort_by(|a, b| b.total_cmp(a)),
            Self::Radius => values.sort_by(f64::total_cmp),
        }
        values.dedup();
        if values.is_empty() {
            return Err(Error::setting(format!("there is no {name} to try")));
        }
        Ok(values)
    }
}

/// The numbers that a grid has, and what they are numbers of. A list of numbers is one of λ.
///
/// ```
/// # use dualgap::task::{Grid, Over};
/// assert_eq!(Grid::from(&[0.1, 1.0]), Grid { over: Over::Lambda, values: vec![0.1, 1.0] });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What it is over.
    pub over: Over,
    /// The numbers, in any order.
    pub values: Vec<f64>,
}

impl From<&[f64]> for Grid {
    fn from(lambdas: &[f64]) -> Self {
        Self { over: Over::Lambda, values: lambdas.to_vec() }
    }
}

impl<const N: usize> From<&[f64; N]> for Grid {
    fn from(lambdas: &[f64; N]) -> Self {
        Self::from(&lambdas[..])
    }
}

impl From<&Vec<f64>> for Grid {
    fn from(lambdas: &Vec<f64>) -> Self {
        Self::from(&lambdas[..])
    }
}

impl Grid {
    /// Returns `count` numbers in equal ratios from one end to the other, both of them included exactly as they are.
    ///
    /// ```
    /// # use dualgap::task::Grid;
    /// let lambdas = Grid::spaced(1.0, 0.01, 3)?;
    /// assert_eq!((lambdas[0], lambdas[2]), (1.0, 0.01));
    /// assert!((lambdas[1] - 0.1).abs() < 1e-12);
    /// assert!(Grid::spaced(1.0, 0.0, 3).is_err(), "the scale is logarithmic");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn spaced(from: f64, to: f64, count: usize) -> Result<Vec<f64>> {
        if count < 2 || !(from > 0.0 && to > 0.0) {
            return Err(Error::setting(
                "a grid has at least two numbers, and none is 0, since its scale is logarithmic: a list may have it",
            ));
        }
        let last = count - 1;
        let between = |k: usize| {
            let share = k as f64 / last as f64;
            (from.ln() + share * (to.ln() - from.ln())).exp()
        };
        let inner = (1..last).map(between);
        Ok(std::iter::once(from).chain(inner).chain([to]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_comes_first_and_each_number_once() {
        assert_eq!(Over::Lambda.sorted(&[0.1, 3.0, 0.1, 0.0]).unwrap(), [3.0, 0.1, 0.0]);
        assert_eq!(Over::L1.sorted(&[0.1, 3.0, 0.1]).unwrap(), [3.0, 0.1]);
        assert_eq!(Over::Radius.sorted(&[3.0, 0.1, 3.0]).unwrap(), [0.1, 3.0]);
        for over in [Over::Lambda, Over::L1, Over::Radius] {
            for bad in [&[][..], &[-1.0], &[f64::NAN], &[1.0, f64::INFINITY]] {
                assert!(over.sorted(bad).is_err(), "{over:?} {bad:?}");
            }
        }
        assert!(Over::L1.sorted(&[0.0]).is_err() && Over::Radius.sorted(&[0.0]).is_err());
    }

    #[test]
    fn a_penalty_has_the_number_that_was_put_there() {
        for (over, penalty) in [
            (Over::Lambda, Penalty::elastic_net(1.0, 0.2)),
            (Over::L1, Penalty::elastic_net(1.0, 0.2)),
            (Over::L1, Penalty::lasso(0.2)),
            (Over::Radius, Penalty::trace_ball(3.0, 0.1)),
        ] {
            let replaced = over.replaced(penalty, 0.7).unwrap();
            assert_eq!(over.of(replaced), Some(0.7));
            assert_eq!(over.replaced(replaced, over.of(penalty).unwrap()).unwrap(), penalty);
        }
        assert!(Over::L1.replaced(Penalty::l1_ball(1.0, 0.0), 0.1).is_err());
        assert!(Over::Radius.replaced(Penalty::ridge(1.0), 0.1).is_err());
    }
}
