//! Examples of a data file with the targets that are wanted, and with the names that a model knows.
//!
//! Where a model numbers features as the file does, its rows stay where they are. Rows whose features have other numbers, or are
//! more than the model knows, are copied.

use crate::data::{
    Classes, Dictionary, Examples, TargetKind, Targets, Unseen, Vocabulary, one_print::OnePrint,
};
use crate::linalg::Rows;
use crate::{Error, Result};

/// Returns the examples for training, or with the names of a model; whether they have targets, and what the model does not know.
pub fn fitted(
    data: Examples,
    known: Option<Vocabulary<'_>>,
    kind: TargetKind,
) -> Result<(Examples, bool, Unseen)> {
    let Examples { rows, targets, dictionary, print, .. } = data;
    let labelled = !targets.are_none();
    if !labelled && known.is_none() {
        return Err(Error::setting("has no labels to train with"));
    }
    let targets = of_kind(targets, kind)?;
    let Some(known) = known else {
        let data = Examples { rows, targets, dictionary, weights: None, print };
        return Ok((data, labelled, Unseen::default()));
    };
    let mut unseen = Unseen { met: rows.stored() as u64, ..Unseen::default() };
    let (before, width) = (rows.stored(), rows.width());
    let rows = known_rows(rows, &dictionary, known)?;
    unseen.features = (before - rows.stored()) as u64;
    let same = rows.are_mapped() && rows.width() == width;
    let targets = match targets {
        Targets::Classes(classes) => {
            let (all, new) = known.beside(classes.alphabet().names().iter().cloned());
            unseen.labels = new;
            let number = |name: &String| all.index(name).unwrap_or_default() as u32;
            let numbers: Vec<u32> = classes.alphabet().names().iter().map(number).collect();
            let of = classes.numbers().iter().map(|&k| numbers[k as usize]).collect();
            Classes::new(of, all)?.into()
        }
        other => other,
    };
    let dictionary = known.dictionary.clone();
    let print = if same { print } else { OnePrint::default() };
    Ok((Examples { rows, targets, dictionary, weights: None, print }, labelled, unseen))
}

/// Returns targets of the kind that is wanted. Numbers have the fingerprint of their normal spelling, so that it stays the same.
fn of_kind(targets: Targets, kind: TargetKind) -> Result<Targets> {
    match (targets, kind) {
        (_, TargetKind::Set | TargetKind::Outputs) => {
            Err(Error::setting("has one class or number for each example, and several are needed"))
        }
        (Targets::Classes(classes), TargetKind::Number) => Ok(classes.to_numbers()?.into()),
        (Targets::Numbers(numbers), TargetKind::Class) => {
            let names: Vec<String> = numbers.values().iter().map(ToString::to_string).collect();
            Ok(Classes::named(&names).into())
        }
        (targets, _) => Ok(targets),
    }
}

/// Returns the rows with the features of a model, without those that it does not know.
fn known_rows(mut rows: Rows, names: &Dictionary, known: Vocabulary<'_>) -> Result<Rows> {
    let features = known.features;
    if names.is_empty() != known.dictionary.is_empty() {
        return Err(Error::setting(if names.is_empty() {
            "has features without names, and the model knows them by name"
        } else {
            "has features with names, and the model knows them by number"
        }));
    }
    let own = || names.names().take(rows.width());
    let same = |(j, name): (usize, &str)| known.dictionary.name(j) == Some(name);
    if own().enumerate().all(same) {
        rows.fit_width(features);
        return Ok(rows);
    }
    let number = |name: &str| known.dictionary.index(name).filter(|&j| (j as usize) < features);
    let numbers: Vec<Option<u32>> = own().map(number).collect();
    rows.renumbered(&numbers, features)
}
