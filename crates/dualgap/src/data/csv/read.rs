//! Reading csv files as examples, to train and with the recipe of a training file.

use super::recipe::{CsvColumn, CsvKind, CsvRecipe};
use super::table::{Table, number};
use super::targets::TargetColumns;
use crate::Result;
use crate::data::labels::Labels;
use crate::data::sets::{self, Sets};
use crate::data::{
    Alphabet, Classes, Dictionary, Examples, Numbers, Outputs, Source, TargetKind, Targets, Unseen,
    Vocabulary,
};
use std::collections::HashSet;

/// The number of records that decide which columns are numbers and which are names.
pub(super) const BEGINNING: usize = 1000;

/// Reads training data and returns the recipe with everything that the file decided.
pub fn read_training_as(
    source: Source<'_>,
    recipe: &CsvRecipe,
    kind: TargetKind,
) -> Result<(Examples, CsvRecipe)> {
    let mut table = Table::open(source, None)?;
    if table.names.len() < 2 {
        return Err(table.file_error(
            "has a single column",
            "a label and something to tell it by are needed, with , ; | or a tab between them",
        ));
    }
    let wanted = TargetColumns::of_training(&table, recipe, kind)?;
    for name in &recipe.categorical {
        table.place(name)?;
    }
    table.look_ahead(BEGINNING)?;
    let is_feature = |place: &usize| !wanted.places.contains(place);
    let places: Vec<usize> = (0..table.names.len()).filter(is_feature).collect();
    let columns: Vec<CsvColumn> = places
        .iter()
        .map(|&place| CsvColumn {
            name: table.names[place].clone(),
            kind: table.kind(place, &recipe.categorical),
        })
        .collect();
    if let Some((short, long)) = clash(&columns) {
        return Err(table.file_error(
            format!("`{long}` is a column and may be a feature of the column `{short}`"),
            "give one of the two another name",
        ));
    }
    let mut dictionary = Dictionary::default();
    let number = |name: &str| Some(dictionary.number(name));
    let mut read = table.gather(wanted.wanted(), &places, &columns, number)?;
    if let Some((line, place)) = read.unlabelled {
        return Err(table.no_label(line, place));
    }
    read.rows.fit_width(dictionary.len());
    let label = Some(wanted.written());
    let targets: Targets = match kind {
        TargetKind::Class => {
            let names: Vec<String> = read.labels.names().collect();
            let labels = spelled(read.labels, &names, false);
            let alphabet = Alphabet::new(labels.names());
            Classes::new(labels.numbered(&alphabet), alphabet)?.into()
        }
        TargetKind::Set => {
            let names = sets::names(read.labels.names());
            let labels = spelled(read.labels, &names, true);
            let alphabet = Alphabet::new(sets::names(labels.names()));
            Sets::spelled(&labels, alphabet).map_err(|error| table.no_sets(&error))?.into()
        }
        TargetKind::Number => Numbers::new(read.numbers)?.into(),
        TargetKind::Outputs => Outputs::new(wanted.names, read.numbers)?.into(),
    };
    let data = Examples { dictionary, ..Examples::new(read.rows, targets)? };
    let recipe =
        CsvRecipe { label, categorical: recipe.categorical.clone(), columns, header: table.header };
    Ok((data, recipe))
}

/// Reads a file with the columns, features and labels of a training set. Returns the examples, whether they have
/// labels, and what the training set does not have. New labels come after the known ones.
///
/// With a header, the reader finds columns by name: they may be in any order and among others. Without one, the file
/// must have the columns of the training data, with or without the label.
pub fn read_known_as(
    source: Source<'_>,
    recipe: &CsvRecipe,
    known: Vocabulary<'_>,
    kind: TargetKind,
) -> Result<(Examples, bool, Unseen)> {
    let mut table = Table::open(source, Some(recipe.header))?;
    let wanted = TargetColumns::of_other(&mut table, recipe, kind)?;
    let places = recipe
        .columns
        .iter()
        .map(|column| table.place(&column.name))
        .collect::<Result<Vec<usize>>>()?;
    let mut read = table.gather(wanted.wanted(), &places, &recipe.columns, |name| {
        known.dictionary.index(name).filter(|&feature| (feature as usize) < known.features)
    })?;
    let labelled = read.labelled;
    if let (Some((line, place)), true) = (read.unlabelled, labelled) {
        return Err(table.no_label(line, place));
    }
    read.rows.fit_width(known.features);
    let targets = match kind {
        _ if !labelled => Targets::None,
        TargetKind::Class => {
            let labels = spelled(read.labels, known.alphabet.names(), false);
            let (alphabet, new) = known.beside(labels.names());
            read.unseen.labels = new;
            Classes::new(labels.numbered(&alphabet), alphabet)?.into()
        }
        TargetKind::Set => {
            let labels = spelled(read.labels, known.alphabet.names(), true);
            let (alphabet, new) = known.beside(sets::names(labels.names()));
            read.unseen.labels = new;
            Sets::spelled(&labels, alphabet).map_err(|error| table.no_sets(&error))?.into()
        }
        TargetKind::Number => Numbers::new(read.numbers)?.into(),
        TargetKind::Outputs => Outputs::new(wanted.names, read.numbers)?.into(),
    };
    let dictionary = known.dictionary.clone();
    let data = Examples { dictionary, ..Examples::new(read.rows, targets)? };
    Ok((data, labelled, read.unseen))
}

/// Returns the labels in their normal spelling: if all names are numbers, by their values.
fn spelled(labels: Labels, names: &[String], are_sets: bool) -> Labels {
    if !names.iter().all(|name| number(name).is_some()) {
        return labels;
    }
    labels.renamed(|name| if are_sets { sets::renamed(name, by_value) } else { by_value(name) })
}

/// Returns a number by its value, as [`crate::data::libsvm`] does: `1`, `+1` and `1.0` are one label.
fn by_value(name: &str) -> String {
    match number(name) {
        Some(value) => format!("{}", value + 0.0), // −0 becomes 0
        None => name.into(),
    }
}

/// Returns a column of names and another column whose name could be one of its features. If there are none, no two
/// columns share a feature.
fn clash(columns: &[CsvColumn]) -> Option<(&str, &str)> {
    let of_names: HashSet<&str> = columns
        .iter()
        .filter(|column| column.kind == CsvKind::Name)
        .map(|column| column.name.as_str())
        .collect();
    columns.iter().find_map(|column| {
        let long = column.name.as_str();
        let mut shorter = long.match_indices('=').map(|(end, _)| &long[..end]);
        shorter.find(|short| of_names.contains(short)).map(|short| (short, long))
    })
}
