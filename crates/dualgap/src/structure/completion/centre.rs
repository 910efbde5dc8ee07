//! The centre of ratings: the prediction for a pair without its entry of the matrix.

use crate::data::Ratings;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The terms that a [`Centre`] consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Centring {
    /// No term: the centre is zero.
    None,
    /// The mean of all ratings.
    Mean,
    /// The mean, and the deviation of each user and each item from it: the better prediction where users and items have several ratings.
    #[default]
    Effects,
}

/// The prediction for a pair without its entry of the matrix: the mean plus the effects of its user and its item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Centre {
    /// The terms that it consists of.
    pub centring: Centring,
    /// The mean of all ratings; zero without centring.
    pub mean: f64,
    /// The effect of each user; empty without effects.
    pub users: Vec<f64>,
    /// The effect of each item; empty without effects.
    pub items: Vec<f64>,
}

/// The ridge of the effects. It acts like this many additional ratings with a zero residual for every user and item: a
/// larger value pulls the effects of those with few ratings more strongly to zero.
const RIDGE: f64 = 10.0;

/// The number of alternations between the effects of users and those of items. More would change little; the number
/// is fixed so that everyone computes the same centre.
const TURNS: usize = 10;

impl Centre {
    /// Computes the centre of these ratings.
    ///
    /// ```
    /// use dualgap::data::Ratings;
    /// use dualgap::structure::{Centre, Centring};
    /// let ratings = Ratings::from_triples(&[("ann", "tea", 5.0), ("bob", "tea", 3.0)])?;
    /// let centre = Centre::of(Centring::Effects, &ratings)?;
    /// assert_eq!((centre.mean, centre.at(None, None)), (4.0, 4.0));
    /// assert!(centre.at(Some(0), Some(0)) > 4.0 && centre.at(Some(1), Some(0)) < 4.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn of(centring: Centring, data: &Ratings) -> Result<Self> {
        let mut centre = Self { centring, ..Self::default() };
        if centring != Centring::None {
            centre.mean = data.mean();
        }
        if centring == Centring::Effects {
            centre.users = vec![0.0; data.pairs.users.len()];
            centre.items = vec![0.0; data.pairs.items.len()];
            for _ in 0..TURNS {
                let Self { mean, users, items, .. } = &mut centre;
                effects(data, *mean, users, items, |(user, item)| (item, user));
                effects(data, *mean, items, users, |place| place);
            }
        }
        let all = centre.users.iter().chain(&centre.items).chain([&centre.mean]);
        if all.into_iter().any(|x| !x.is_finite()) {
            return Err(Error::setting(
                "the ratings are too large to be added up: scale them down",
            ));
        }
        Ok(centre)
    }

    /// Returns the centre of a pair; an unknown user or item has an effect of zero.
    pub fn at(&self, user: Option<u32>, item: Option<u32>) -> f64 {
        let effect =
            |of: &[f64], k: Option<u32>| k.and_then(|k| of.get(k as usize)).copied().unwrap_or(0.0);
        self.mean + effect(&self.users, user) + effect(&self.items, item)
    }

    /// Returns the residuals: the ratings minus their centre.
    pub fn left(&self, data: &Ratings) -> Vec<f64> {
        let places = data.pairs.places.iter();
        places.zip(&data.values).map(|(&(i, j), y)| y - self.at(Some(i), Some(j))).collect()
    }
}

/// Computes the best effects `own` given those of the other kind; `whose` maps a place to (own index, other index).
fn effects(
    data: &Ratings,
    mean: f64,
    given: &[f64],
    own: &mut [f64],
    whose: impl Fn((u32, u32)) -> (u32, u32),
) {
    let mut weights = vec![RIDGE; own.len()];
    own.fill(0.0);
    for (&place, y) in data.pairs.places.iter().zip(&data.values) {
        let (this, other) = whose(place);
        own[this as usize] += y - mean - given[other as usize];
        weights[this as usize] += 1.0;
    }
    own.iter_mut().zip(weights).for_each(|(own, weight)| *own /= weight);
}
