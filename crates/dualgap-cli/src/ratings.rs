//! The reports about models of ratings.

use crate::known;
use crate::words::{number, number_rows, thousands};
use dualgap::data::{Format, HeldOut};
use dualgap::structure::evaluation::{RatingErrors, Strangers};
use dualgap::structure::{Centring, Completion};
use dualgap::task::AnyModel;
use serde::Serialize;
use std::fmt::Write;

/// What only models of ratings have.
#[derive(Serialize)]
pub struct RatingsJson {
    users: usize,
    items: usize,
    centre: Centring,
    mean: f64,
    held_out: Option<HeldOut>,
}

/// Returns the structure of a model of ratings, or `None` for others.
pub fn completion(model: &dyn AnyModel) -> Option<&Completion> {
    known::of(model).map(|model| &model.task.structure)
}

impl RatingsJson {
    pub fn of(model: &dyn AnyModel) -> Option<Self> {
        let Completion { centre, items, .. } = completion(model)?;
        let held_out = match model.provenance().recipe.as_ref().map(|recipe| &recipe.format) {
            Some(Format::Ratings(recipe)) => recipe.held_out,
            _ => None,
        };
        let (users, items) = (model.names().features, items.len());
        Some(Self { users, items, centre: centre.centring, mean: centre.mean, held_out })
    }
}

/// Returns the row of a table about the centre of a model of ratings.
pub fn centre_row(model: &dyn AnyModel) -> Option<(&'static str, String)> {
    let centre = &completion(model)?.centre;
    let told = match centre.centring {
        Centring::None => "none".into(),
        Centring::Mean => format!("the mean, {}", number(centre.mean)),
        Centring::Effects => {
            format!("the mean, {}, and effects of users and items", number(centre.mean))
        }
    };
    Some(("centre", told))
}

/// Returns the rows of a table about predicted ratings, beside those of the mean alone.
pub fn rated_rows(rated: &RatingErrors) -> Vec<(&'static str, String)> {
    let RatingErrors { errors, of_mean, unknown } = rated;
    let mut rows = number_rows(errors);
    let of_mean = of_mean.iter().flat_map(|errors| [errors.rmse, errors.mae]);
    for ((_, told), mean) in rows.iter_mut().zip(of_mean) {
        let _ = write!(told, "; {} if the mean were predicted", number(mean));
    }
    rows.extend(strangers_row(*unknown));
    rows
}

/// Returns the row of a table about names that a model of ratings did not see in training, if there are any.
pub fn strangers_row(strangers: Strangers) -> Option<(&'static str, String)> {
    let Strangers { pairs, users, items } = strangers;
    let count = |n: usize, one: &str| {
        format!("{} {one}{}", thousands(n as u64), if n == 1 { "" } else { "s" })
    };
    (pairs > 0).then(|| {
        let (users, items) = (count(users, "user"), count(items, "item"));
        (
            "unseen",
            format!("{users} and {items}; {} predicted by the centre alone", count(pairs, "pair")),
        )
    })
}
