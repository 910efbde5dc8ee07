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

mod centre;
#[cfg(not(feature = "low-rank"))]
#[path = "absent.rs"]
mod matrix;
#[cfg(feature = "low-rank")]
mod matrix;

pub use centre::{Centre, Centring};

use crate::ball::PerOutput;
use crate::container::{Fault, Reader, Tensor};
use crate::data::{Dictionary, Format, Loaded, Pairs, Ratings, RatingsRecipe, Recipe, Source};
use crate::structure::evaluation::{ErrorKind, Evaluation, NumberErrors, RatingErrors, Strangers};
use crate::structure::fitted::{no_probabilities, no_scores};
use crate::structure::names::{put_names, take_names};
use crate::structure::posed::{Posed, Posing};
use crate::structure::words::{exact, scalar_loss};
use crate::structure::{Fitted, Names, Purpose, Structure, Words};
use crate::term::{Loss, Penalty, ScalarLoss};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A rating for a user and an item: a matrix of low rank in the trace ball. The features of a model are its users.
///
/// ```
/// use dualgap::data::Ratings;
/// use dualgap::run::Budget;
/// use dualgap::structure::{Centring, Completion};
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let data = Ratings::from_triples(&[
///     ("ann", "tea", 5.0), ("ann", "milk", 1.0), ("bob", "tea", 1.0), ("bob", "milk", 5.0), ("eve", "tea", 5.0),
/// ])?;
/// let structure = Completion::new(ScalarLoss::Squared, Centring::Mean);
/// let task = Task::new(structure, Penalty::trace_ball(4.0, 0.01));
/// let model = task.fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
/// let pairs = Ratings::from_pairs(&[("eve", "milk"), ("joe", "milk")]);
/// let ratings = model.predict(&pairs)?;
/// assert!(ratings[0] < 3.0, "who likes tea as ann does has her taste in milk");
/// assert_eq!(ratings[1], 3.4, "who is not known gets the mean");
/// model.certify(&data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Completion {
    /// The loss of a rating: a smooth one of numbers.
    pub loss: ScalarLoss,
    /// The prediction for a pair without the weights. Before training only its [`Centring`] counts.
    pub centre: Centre,
    /// The names of the items, from the training data.
    pub items: Dictionary,
}

/// The structure in the header of a file: effects and names are tensors.
#[derive(Serialize, Deserialize)]
struct Stored {
    loss: ScalarLoss,
    centre: Centring,
    #[serde(default)]
    mean: f64,
}

impl From<Stored> for Completion {
    fn from(Stored { loss, centre, mean }: Stored) -> Self {
        let centre = Centre { centring: centre, mean, ..Centre::default() };
        Self { loss, centre, items: Dictionary::default() }
    }
}

impl From<Completion> for Stored {
    fn from(Completion { loss, centre, .. }: Completion) -> Self {
        Self { loss, centre: centre.centring, mean: centre.mean }
    }
}

impl Completion {
    /// Returns the structure with this loss, for ratings that are centred so.
    pub fn new(loss: ScalarLoss, centring: Centring) -> Self {
        Stored { loss, centre: centring, mean: 0.0 }.into()
    }

    /// Predicts the ratings of pairs, and counts the names that the model does not know. A pair with an unknown name
    /// gets its centre, in which an unknown name has no effect.
    pub fn predict_pairs(
        &self,
        fitted: Fitted<'_>,
        pairs: &Pairs,
    ) -> Result<(Vec<f64>, Strangers)> {
        let Some(x) = fitted.low_rank else {
            return Err(Error::setting("the model has no weights in factors"));
        };
        let (known, strangers) = self.known(fitted.names, pairs);
        let mut predictions = Vec::with_capacity(pairs.len());
        let (mut places, mut at) = (Vec::new(), Vec::new());
        for (k, (user, item)) in known.into_iter().enumerate() {
            predictions.push(self.centre.at(user, item));
            if let (Some(user), Some(item)) = (user, item) {
                places.push((user, item));
                at.push(k);
            }
        }
        at.into_iter()
            .zip(matrix::entries(x, places)?)
            .for_each(|(k, entry)| predictions[k] += entry);
        Ok((predictions, strangers))
    }

    /// Returns the numbers that the model has for the names of every pair, and counts those that it has none for.
    fn known(&self, names: &Names, pairs: &Pairs) -> (Vec<Numbered>, Strangers) {
        let known = |of: &Dictionary, names: &Dictionary| -> Vec<Option<u32>> {
            names.names().map(|name| of.index(name)).collect()
        };
        let (users, items) =
            (known(&names.dictionary, pairs.users()), known(&self.items, pairs.items()));
        let number = |of: &[Option<u32>], k: u32| of.get(k as usize).copied().flatten();
        let of_pair = |&(i, j): &(u32, u32)| (number(&users, i), number(&items, j));
        let pairs: Vec<Numbered> = pairs.places().iter().map(of_pair).collect();
        let strange = pairs.iter().filter(|(user, item)| user.is_none() || item.is_none()).count();
        let count = |of: &[Option<u32>]| of.iter().filter(|number| number.is_none()).count();
        let strangers = Strangers { pairs: strange, users: count(&users), items: count(&items) };
        (pairs, strangers)
    }

    /// Returns an error unless the loss is smooth, and of numbers.
    fn check_loss(&self) -> Result<()> {
        if self.loss.smoothness() > 0.0 && !self.loss.is_binary() {
            return Ok(());
        }
        Err(Error::setting(format!(
            "ratings are numbers under a smooth loss: take {} squared or huber",
            Setting::Loss
        )))
    }
}

/// The numbers of a user and an item, as far as a model knows them.
type Numbered = (Option<u32>, Option<u32>);

impl Structure for Completion {
    const NAME: &'static str = "completion";
    type Data = Ratings;
    type Output = f64;

    fn names(&self, data: &Ratings) -> Result<Names> {
        let users = data.pairs().users();
        Ok(Names { features: users.len(), dictionary: users.clone(), ..Names::default() })
    }

    fn resolve(self, data: &Ratings) -> Result<Self> {
        let centre = Centre::of(self.centre.centring, data)?;
        Ok(Self { centre, items: data.pairs().items().clone(), ..self })
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.check_loss()?;
        if names.dictionary.len() != names.features {
            return Err(Error::setting("every user must have a name"));
        }
        match names.alphabet.len() {
            0 => Ok(()),
            _ => Err(Error::setting("numbers have no names")),
        }
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        if penalty.is_low_rank() {
            return self.check_loss();
        }
        Err(Error::setting(format!(
            "ratings are completed in the trace ball, which takes the place of other regularisers: take {} trace",
            Setting::Ball
        )))
    }

    fn pose<'d>(&'d self, data: &'d Ratings, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let losses = PerOutput::new(self.loss, self.centre.left(data), 1)?;
        matrix::pose(data.pairs(), losses, posing)
    }

    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        vec![("weights", vec![names.features, self.items.len()])]
    }

    fn columns(&self, _: &Names) -> usize {
        self.items.len()
    }

    fn put(&self, put: &mut dyn FnMut(&str, Tensor)) {
        put_names(put, "items", &self.items);
        if self.centre.centring == Centring::Effects {
            let Centre { users, items, .. } = &self.centre;
            put("centre.users", Tensor::f64(&[users.len()], users));
            put("centre.items", Tensor::f64(&[items.len()], items));
        }
    }

    fn take(mut self, file: &Reader<'_>, names: &Names) -> Result<Self, Fault> {
        self.items = take_names(file, "items", None)?;
        if self.centre.centring == Centring::Effects {
            self.centre.users = file.f64("centre.users", &[names.features])?;
            self.centre.items = file.f64("centre.items", &[self.items.len()])?;
        }
        Ok(self)
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Ratings) -> Result<Vec<f64>> {
        Ok(self.predict_pairs(fitted, data.pairs())?.0)
    }

    fn check_scores(&self) -> Result<()> {
        Err(no_scores())
    }

    fn check_probabilities(&self) -> Result<()> {
        Err(no_probabilities())
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Ratings) -> Result<Evaluation> {
        let (predicted, unknown) = self.predict_pairs(fitted, data.pairs())?;
        if !data.are_rated() {
            return Err(Error::setting("the pairs have no ratings to compare with"));
        }
        let against =
            |predicted: &[f64]| NumberErrors::weighted(data.values(), predicted, data.weights());
        let errors = against(&predicted);
        let Centre { centring, mean, .. } = self.centre;
        let of_mean = (centring != Centring::None).then(|| against(&vec![mean; data.len()]));
        Ok(Evaluation::Ratings(RatingErrors { errors, of_mean, unknown }))
    }

    fn error_kind(&self) -> ErrorKind {
        ErrorKind::RootMeanSquare
    }

    fn describe(&self, names: &Names) -> Words {
        let Centre { centring, mean, .. } = self.centre;
        let (users, items) = (names.features, self.items.len());
        let centre = match centring {
            Centring::None => "not centred".into(),
            Centring::Mean => format!("less their mean, {}", exact(mean)),
            Centring::Effects => {
                format!("less their mean, {}, and effects of users and items", exact(mean))
            }
        };
        let features =
            format!("a weight for each of {users} users and {items} items; ratings {centre}");
        Words {
            task: "completion",
            predicts: format!("{users} users and {items} items"),
            loss: scalar_loss(self.loss),
            scalar_loss: Some(self.loss),
            features: Some(features),
            ..Words::default()
        }
        .with("loss", json!(self.loss))
        .with("centre", json!({ "name": centring, "mean": mean, "items": items }))
    }

    fn spell(&self, _: &Names, output: &f64) -> Vec<String> {
        vec![output.to_string()]
    }

    fn guess(_: &str) -> Format {
        Format::Ratings(RatingsRecipe::default())
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<Ratings>> {
        match purpose {
            Purpose::Train => recipe.ratings(source, true),
            Purpose::Test(_) => recipe.ratings(source, false),
            Purpose::Predict(_) => recipe.pairs(source),
        }
    }

    fn strangers(&self, fitted: Fitted<'_>, data: &Ratings) -> Strangers {
        self.known(fitted.names, data.pairs()).1
    }

    fn weighted(&self, _: &Names) -> Vec<String> {
        self.items.names().map(String::from).collect()
    }

    fn constants(&self, names: &Names) -> Vec<(&'static str, String, f64)> {
        let Centre { mean, users, items, .. } = &self.centre;
        let effects = |kind, of: &Dictionary, effects: &[f64]| -> Vec<_> {
            let effects = effects.iter().copied();
            of.names().zip(effects).map(|(name, effect)| (kind, name.to_string(), effect)).collect()
        };
        let mut all = vec![("mean", String::new(), *mean)];
        all.extend(effects("user_effect", &names.dictionary, users));
        all.extend(effects("item_effect", &self.items, items));
        all
    }
}
