//! The reports about models of ratings.

use crate::report::{number, number_rows, thousands};
use dualgap::data::Format;
use dualgap::data::ratings::HeldOut;
use dualgap::model::evaluation::NumberErrors;
use dualgap::model::{Centring, Model, Strangers, Structure};
use serde::Serialize;
use std::fmt::Write;

/// How a model of ratings did on others, and how the mean alone would have done.
pub struct Rated {
    pub errors: NumberErrors,
    pub of_mean: NumberErrors,
    pub strangers: Strangers,
}

/// What only models of ratings have.
#[derive(Serialize)]
pub struct RatingsJson {
    users: usize,
    items: usize,
    centre: Centring,
    mean: f64,
    held_out: Option<HeldOut>,
}

impl RatingsJson {
    pub fn of(model: &Model) -> Option<Self> {
        let Structure::Completion { items, centre, .. } = &model.structure else { return None };
        let held_out = match model.provenance.recipe.as_ref().map(|recipe| &recipe.format) {
            Some(Format::Ratings(recipe)) => recipe.held_out,
            _ => None,
        };
        let (users, items) = (model.features, items.len());
        Some(Self { users, items, centre: centre.centring, mean: centre.mean, held_out })
    }
}

/// Returns the row of a table about the centre of a model of ratings.
pub fn centre_row(model: &Model) -> Option<(&'static str, String)> {
    let Structure::Completion { centre, .. } = &model.structure else { return None };
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
pub fn rated_rows(rated: &Rated) -> Vec<(&'static str, String)> {
    let Rated { errors, of_mean, strangers } = rated;
    let mut rows = number_rows(errors);
    for ((_, told), mean) in rows.iter_mut().zip([of_mean.rmse, of_mean.mae]) {
        let _ = write!(told, "; {} if the mean were predicted", number(mean));
    }
    rows.extend(strangers_row(*strangers));
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
