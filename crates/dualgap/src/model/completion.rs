//! Matrix completion: predicts unknown ratings from known ones.
//!
//! ```text
//! P(X) = mean loss of X_ui at y_ui − c_ui + μ/2‖X‖²      for ‖X‖_* ≤ r,    a row for every user and a column for every item
//! prediction = c_ui + X_ui
//! ```
//!
//! c is the centre: the prediction for a pair without X. It is not trained with X but computed from the ratings
//! beforehand, by sums in the order of the ratings, so everyone with the same ratings computes the same numbers. It
//! is part of the targets, and the verification of a certificate recomputes it.

use super::evaluation::NumberErrors;
use super::fit::{Plan, untrained};
use super::low_rank::{self, LowRankSides};
use super::sides::refused;
use super::verify::{Verified, check_data, verify};
use super::{InBall, Model, Structure};
use crate::ball::PerOutput;
use crate::ball::trace::{Map, Sampled};
use crate::data::{
    Alphabet, Dictionary, Factors, Pairs, Ratings, Scaling, Vocabulary, fingerprint,
};
use crate::linalg::{LowRank, Operator};
use crate::run::Report;
use crate::term::{Regulariser, ScalarLoss};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The terms that a [`Centre`] consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Centring {
    /// No term: the centre is zero.
    None,
    /// The mean of all ratings.
    #[default]
    Mean,
    /// The mean, and the deviation of each user and each item from it.
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
    /// use dualgap::model::{Centre, Centring};
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

/// Trains a model of ratings in the trace ball. Of the settings it uses λ (as μ), the sample weights and the seed,
/// and no others.
///
/// The loss must be a smooth loss for numbers. Warm starts are not available, and only
/// [`Method::Pdbfw`](crate::ball::Method::Pdbfw) has checkpoints.
///
/// ```
/// use dualgap::data::Ratings;
/// use dualgap::model::{Centring, InBall, Plan, fit_completion, verify_completion};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::term::ScalarLoss;
///
/// let data = Ratings::from_triples(&[
///     ("ann", "tea", 5.0), ("ann", "milk", 1.0), ("bob", "tea", 1.0), ("bob", "milk", 5.0), ("eve", "tea", 5.0),
/// ])?;
/// let (settings, budget) = (Settings { lambda: 0.01, ..Settings::default() }, Budget::relative(1e-6));
/// let nobody = &mut ();
/// let plan = Plan::new(&settings, &budget, nobody);
/// let loss = ScalarLoss::Squared;
/// let model = fit_completion(&data, loss, Centring::Mean, InBall::trace(4.0), plan)?.model;
/// assert!(model.predict_rating("eve", "milk")? < 3.0, "who likes tea as ann does has her taste in milk");
/// assert_eq!(model.predict_rating("joe", "milk")?, 3.4, "who is not known gets the mean");
/// verify_completion(&model, &data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn fit_completion(
    data: &Ratings,
    loss: ScalarLoss,
    centring: Centring,
    within: InBall,
    plan: Plan<'_, Ratings>,
) -> Result<Report<Model>> {
    if plan.settings.regulariser != Regulariser::PLAIN || !within.is_trace() {
        return Err(Error::setting(
            "ratings are completed in the trace ball, which takes the place of other regularisers",
        ));
    }
    if plan.warm_start.is_some() {
        return Err(Error::setting("a run in a ball has no warm start: begin it anew"));
    }
    if plan.scale != Scaling::None {
        return Err(Error::setting("ratings have no columns to scale: leave that out"));
    }
    let centre = Centre::of(centring, data)?;
    let (map, losses) = problem(data, loss, &centre)?;
    let vocabulary = Vocabulary {
        alphabet: &Alphabet::from(Vec::new()),
        dictionary: &data.pairs.users,
        features: data.pairs.users.len(),
    };
    let items = data.pairs.items.clone();
    let structure = Structure::Completion { loss, items, centre };
    let mut untrained =
        untrained(structure, vocabulary, 0, data.len(), fingerprint(data), plan.settings);
    untrained.provenance.ball = Some(within);
    let sides = LowRankSides::new(&untrained, within, map, losses)?;
    low_rank::fit(&sides, untrained, within, &Factors::default(), plan)
}

/// Returns the map from the matrix to its rated entries, and the losses of these entries.
fn problem(
    data: &Ratings,
    loss: ScalarLoss,
    centre: &Centre,
) -> Result<(Sampled, PerOutput<ScalarLoss>)> {
    if loss.is_binary() {
        return Err(Error::setting("ratings are numbers: take the loss squared or huber"));
    }
    let Pairs { users, items, places } = &data.pairs;
    let map = Sampled::new(users.len(), items.len(), places.clone())?;
    Ok((map, PerOutput::new(loss, centre.left(data), 1)?))
}

/// Verifies the certificate of a model of ratings against its training data.
pub fn verify_completion(model: &Model, data: &Ratings) -> Result<Verified> {
    let Structure::Completion { loss, items, centre } = &model.structure else {
        return Err(refused("the model is not one of ratings"));
    };
    let Some(within) = model.provenance.ball.filter(|within| within.is_trace()) else {
        return Err(refused("the file names no trace ball, and ratings are completed in one"));
    };
    if !model.provenance.scale.is_none() {
        return Err(refused(
            "the file says that columns were scaled, and those of ratings never are",
        ));
    }
    let Pairs { users, items: of_data, .. } = &data.pairs;
    let (alphabet, dictionary, features) = (&model.alphabet, users, users.len());
    let names = Vocabulary { alphabet, dictionary, features };
    check_data(model, data, names, 0, data.len())?;
    if items != of_data {
        return Err(refused("the file has other items than the data"));
    }
    if *centre != Centre::of(centre.centring, data)? {
        return Err(refused("the file has another centre than the ratings give"));
    }
    let (map, losses) = problem(data, *loss, centre)?;
    verify(model, &LowRankSides::new(model, within, map, losses)?, &Factors::default())
}

/// Counts of the names that a model does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Strangers {
    /// Pairs with an unknown user, an unknown item, or both.
    pub pairs: usize,
    /// Unknown users.
    pub users: usize,
    /// Unknown items.
    pub items: usize,
}

impl Model {
    /// Returns the items, the centre and the factors of a model of ratings, or an error for any other model.
    fn of_ratings(&self) -> Result<(&Dictionary, &Centre, &LowRank)> {
        match (&self.structure, &self.low_rank) {
            (Structure::Completion { items, centre, .. }, Some(x)) => Ok((items, centre, x)),
            _ => Err(Error::setting("the model is not one of ratings")),
        }
    }

    /// Predicts the ratings of pairs. A pair with an unknown name gets its centre, in which an unknown name has no
    /// effect.
    pub fn predict_pairs(&self, pairs: &Pairs) -> Result<(Vec<f64>, Strangers)> {
        let (items, centre, x) = self.of_ratings()?;
        let known = |of: &Dictionary, names: &Dictionary| -> Vec<Option<u32>> {
            names.names().map(|name| of.index(name)).collect()
        };
        let (users, items) = (known(&self.dictionary, &pairs.users), known(items, &pairs.items));
        let count = |of: &[Option<u32>]| of.iter().filter(|number| number.is_none()).count();
        let mut strangers = Strangers { pairs: 0, users: count(&users), items: count(&items) };
        let mut predictions = Vec::with_capacity(pairs.len());
        let (mut places, mut at) = (Vec::new(), Vec::new());
        for (k, &(i, j)) in pairs.places.iter().enumerate() {
            let number = |of: &[Option<u32>], k: u32| of.get(k as usize).copied().flatten();
            let (user, item) = (number(&users, i), number(&items, j));
            predictions.push(centre.at(user, item));
            match (user, item) {
                (Some(user), Some(item)) => {
                    places.push((user, item));
                    at.push(k);
                }
                _ => strangers.pairs += 1,
            }
        }
        let map = Sampled::new(x.rows(), x.columns(), places)?;
        let mut entries = vec![0.0; map.len()];
        map.predict(x, &mut entries);
        at.into_iter().zip(entries).for_each(|(k, entry)| predictions[k] += entry);
        Ok((predictions, strangers))
    }

    /// Predicts the rating of one pair, as [`predict_pairs`](Self::predict_pairs) does.
    pub fn predict_rating(&self, user: &str, item: &str) -> Result<f64> {
        let one = |name: &str| std::iter::once(name).collect();
        let pairs = Pairs { users: one(user), items: one(item), places: vec![(0, 0)] };
        Ok(self.predict_pairs(&pairs)?.0[0])
    }

    /// Compares predicted ratings with the true ones.
    pub fn evaluate_ratings(&self, data: &Ratings) -> Result<(NumberErrors, Strangers)> {
        let (predicted, strangers) = self.predict_pairs(&data.pairs)?;
        Ok((NumberErrors::of(&data.values, &predicted), strangers))
    }
}
