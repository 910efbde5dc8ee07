//! The target columns: one label, or several numbers.
//!
//! Several columns are a list of names in the form of a csv line, `price,weight`: a name with a comma is in double
//! quotes, `"height, in cm",weight`.

use super::recipe::CsvRecipe;
use super::table::{SHOWN, Table, Wanted};
use crate::data::TargetKind;
use crate::data::outputs::twice;
use crate::{Error, Result, Setting};
use ::csv::{ReaderBuilder, StringRecord, WriterBuilder};

/// The target columns by name, and their places in a file that has them.
pub(super) struct TargetColumns {
    pub names: Vec<String>,
    pub places: Vec<usize>,
    kind: TargetKind,
}

impl TargetColumns {
    /// Returns the target columns of a training file.
    pub fn of_training(table: &Table<'_>, recipe: &CsvRecipe, kind: TargetKind) -> Result<Self> {
        let names = match (&recipe.label, kind) {
            (Some(list), TargetKind::Outputs) => {
                let names = parsed(list);
                check(table, recipe, &names)?;
                names
            }
            (Some(name), _) => vec![name.clone()],
            (None, TargetKind::Outputs) => {
                return Err(table.file_error(
                    "has several columns, and it was not said which of them are to be predicted",
                    format!("name them with commas between them: {} price,weight", Setting::Label),
                ));
            }
            (None, _) => table.names.last().cloned().into_iter().collect(),
        };
        let places = names.iter().map(|name| table.place(name)).collect::<Result<Vec<_>>>()?;
        if places.len() == table.names.len() {
            return Err(table.file_error(
                "has no column to predict by: all are to be predicted",
                format!("leave some out of {}", Setting::Label),
            ));
        }
        Ok(Self { names, places, kind })
    }

    /// Returns the target columns of another file, which may not have them.
    pub fn of_other(table: &mut Table<'_>, recipe: &CsvRecipe, kind: TargetKind) -> Result<Self> {
        let Some(label) = &recipe.label else {
            return Err(Error::setting("the csv recipe must be that of a training file"));
        };
        let names = match kind {
            TargetKind::Outputs => parsed(label),
            TargetKind::Class | TargetKind::Number | TargetKind::Set => vec![label.clone()],
        };
        if !recipe.header {
            table.forgo_labels(&names, recipe.columns.len() + names.len())?;
        }
        let found = |name: &&String| table.names.contains(name);
        let (there, missing): (Vec<&String>, Vec<&String>) = names.iter().partition(found);
        if let ([one, ..], [other, ..]) = (&there[..], &missing[..]) {
            return Err(table.file_error(
                format!("has no column `{other}`, and has `{one}`, which is predicted with it"),
                "give it all columns that are to be predicted, or none of them",
            ));
        }
        let places = there.into_iter().map(|name| table.place(name)).collect::<Result<_>>()?;
        Ok(Self { names, places, kind })
    }

    /// Returns what to read from every record.
    pub fn wanted(&self) -> Wanted<'_> {
        match (self.kind, &self.places[..]) {
            (_, []) => Wanted::Nothing,
            (TargetKind::Number | TargetKind::Outputs, places) => Wanted::Numbers(places),
            (TargetKind::Set, &[place, ..]) => Wanted::Set(place),
            (TargetKind::Class, &[place, ..]) => Wanted::Label(place),
        }
    }

    /// Returns the columns in the form of a recipe.
    pub fn written(&self) -> String {
        match self.kind {
            TargetKind::Outputs => listed(&self.names),
            TargetKind::Class | TargetKind::Number | TargetKind::Set => self.names.concat(),
        }
    }
}

/// Returns an error unless these can be the columns of several numbers.
fn check(table: &Table<'_>, recipe: &CsvRecipe, names: &[String]) -> Result<()> {
    if let [only] = names {
        return Err(table.file_error(
            format!("is to predict a single number, `{only}`"),
            format!(
                "one number an example is for regression; \
                 several have commas between them: {} price,weight",
                Setting::Label
            ),
        ));
    }
    if let Some(name) = twice(names) {
        return Err(table.file_error(
            format!("is to predict `{name}` twice"),
            format!("name every column once in {}", Setting::Label),
        ));
    }
    if let Some(name) = names.iter().find(|name| recipe.categorical.contains(name)) {
        return Err(table.file_error(
            format!(
                "is to predict the numbers of `{name}`, and {} says that it has names",
                Setting::Categorical
            ),
            "leave the column out of one of the two",
        ));
    }
    let unknown = names.iter().find(|name| !table.names.contains(name));
    if let Some(name) = unknown
        && table.names.iter().any(|name| name.contains(','))
    {
        return Err(table.file_error(
            format!("has no column `{name}`"),
            format!(
                "a name that has a comma is in double quotes: the columns of the file are {}{}",
                listed(&table.names[..table.names.len().min(SHOWN)]),
                if table.names.len() > SHOWN { " and more" } else { "" }
            ),
        ));
    }
    // Reports have the names between tabs, one per line.
    if let Some(name) = names.iter().find(|name| name.contains(['\t', '\n', '\r'])) {
        return Err(table.file_error(
            format!("has a tab or a line end in the name of a column, {name:?}"),
            "give it another name in the header",
        ));
    }
    Ok(())
}

/// Parses a list of names.
fn parsed(list: &str) -> Vec<String> {
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(list.as_bytes());
    let mut record = StringRecord::new();
    // Reading from memory cannot fail; an empty list gives one empty name, which no column has.
    let _ = reader.read_record(&mut record);
    let names: Vec<String> = record.iter().map(|name| name.trim().to_string()).collect();
    if names.is_empty() { vec![String::new()] } else { names }
}

/// Returns the names as a list.
fn listed(names: &[String]) -> String {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let _ = writer.write_record(names); // into memory
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::csv::{read_known_as, read_training_as};
    use crate::data::{Examples, Source};
    use proptest::prelude::*;

    fn source(text: &[u8]) -> Source<'_> {
        Source::from_bytes("t.csv", text).unwrap()
    }

    fn numbers(text: &[u8], label: &str) -> Result<(Examples, CsvRecipe)> {
        let recipe = CsvRecipe { label: Some(label.into()), ..CsvRecipe::default() };
        read_training_as(source(text), &recipe, TargetKind::Outputs)
    }

    #[test]
    fn several_columns_may_be_numbers_to_predict() {
        let text = b"x,w,\"h, cm\",c\n1,2.5,-0,red\n0,1e-3,7,blue\n";
        let (data, recipe) = numbers(text, "\"h, cm\", w").unwrap();
        let outputs = data.outputs().unwrap();
        assert_eq!(outputs.names().names(), ["h, cm", "w"], "as they were named");
        assert_eq!(outputs.values(), [0.0, 2.5, 7.0, 1e-3]);
        assert_eq!(data.dictionary().names().collect::<Vec<_>>(), ["x", "c=red", "c=blue"]);
        assert_eq!(recipe.label.as_deref(), Some("\"h, cm\",w"));
        let read = |text: &'static [u8]| {
            read_known_as(source(text), &recipe, data.vocabulary(), TargetKind::Outputs)
        };
        let (more, labelled, _) = read(b"c;w;h, cm;x\nred;1;2;3\n").unwrap();
        assert_eq!((labelled, more.outputs().unwrap().of(0)), (true, &[2.0, 1.0][..]));
        for bare in [&b"x,c\n1,red\n"[..], b"x,w,\"h, cm\",c\n1,,NA,red\n"] {
            let (data, labelled, _) =
                read_known_as(source(bare), &recipe, data.vocabulary(), TargetKind::Outputs)
                    .unwrap();
            assert_eq!((data.len(), data.targets().are_none(), labelled), (1, true, false));
        }
        let error = read(b"x,c,w\n1,red,2\n").unwrap_err().to_string();
        assert!(error.contains("has no column `h, cm`, and has `w`"), "{error}");
        let error = read(b"w;h, cm;x;c\n1;2;3;red\n1;;3;red\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv:3: ") && error.contains("`h, cm`"), "{error}");
        // Without a header, a file has all columns or all except the targets.
        let (data, recipe) = numbers(b"1,2,3\n4,5,6\n", "c3,c1").unwrap();
        let known = data.vocabulary();
        assert_eq!(data.outputs().unwrap().of(1), [6.0, 4.0]);
        let read = |text| read_known_as(source(text), &recipe, known, TargetKind::Outputs);
        assert_eq!(read(b"7,8,9\n").unwrap().0.outputs().unwrap().of(0), [9.0, 7.0]);
        assert_eq!(read(b"8\n").unwrap().0.rows().row(0).iter().next(), Some((0, 8.0)));
        assert!(read(b"7,8\n").unwrap_err().to_string().contains("had 3"));
    }

    #[test]
    fn one_column_may_be_numbers_to_predict() {
        let read = |text: &'static [u8], label: Option<&str>| {
            let recipe = CsvRecipe { label: label.map(String::from), ..CsvRecipe::default() };
            read_training_as(source(text), &recipe, TargetKind::Number)
        };
        let (data, recipe) =
            read(b"\"h, cm\",x,c\n1.50,2,red\n-0,3,blue\n", Some("h, cm")).unwrap();
        assert_eq!(data.numbers().unwrap(), [1.5, 0.0]);
        assert_eq!(recipe.label.as_deref(), Some("h, cm"), "the name itself, and no list");
        let known = |text: &'static [u8]| {
            read_known_as(source(text), &recipe, data.vocabulary(), TargetKind::Number)
        };
        let (more, labelled, unseen) = known(b"c;x;h, cm\nred;1;7\n").unwrap();
        assert_eq!((labelled, more.numbers().unwrap()), (true, &[7.0][..]));
        assert!(unseen.labels.is_empty());
        for bare in [&b"x,c\n1,red\n"[..], b"\"h, cm\",x,c\nNA,1,red\n"] {
            let (bare, labelled, _) = known(bare).unwrap();
            assert_eq!((bare.len(), bare.targets().are_none(), labelled), (1, true, false));
        }
        for (text, words) in [
            (
                &b"x,y\n1,2\n1,many\n"[..],
                "t.csv:3: `many` in the column `y` is not a finite number",
            ),
            (b"x,y\n1,2\n\n1,inf\n", "t.csv:4: `inf` in the column `y`"),
            (b"x,y\n1,2\n1,\n", "t.csv:3: the label is missing"),
        ] {
            let error = read(text, None).unwrap_err();
            assert!(error.to_string().starts_with(words), "{error}");
            assert!(error.remedy().unwrap().contains(&Setting::Label.to_string()), "{error:?}");
        }
    }

    #[test]
    fn what_makes_no_numbers_to_predict_is_refused() {
        let text = b"x,a,b\n1,2,3\n";
        for (text, label, words) in [
            (&text[..], "a", "single number"),
            (text, "a,a", "twice"),
            (text, "a,z", "has no column `z`"),
            (text, "a,", "has no column ``"),
            (text, "x,a,b", "no column to predict by"),
            (b"x,a,b\n1,2,3\n1,,3\n", "a,b", "t.csv:3: "),
            (b"x,a,b\n1,2,3\n1,?,3\n", "a,b", "t.csv:3: "),
            (b"x,a,b\n1,2,inf\n", "a,b", "`inf` in the column `b` is not a finite number"),
            (b"x,a,b\n1,red,2\n", "a,b", "`red` in the column `a`"),
        ] {
            let error = numbers(text, label).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.remedy().is_some(), "{error}");
        }
        let error = numbers(b"x,\"h, cm\",b\n1,2,3\n", "h, cm,b").unwrap_err();
        assert!(error.remedy().unwrap().ends_with("x,\"h, cm\",b"), "{error:?}");
        let plain = CsvRecipe::default();
        let error = read_training_as(source(text), &plain, TargetKind::Outputs).unwrap_err();
        assert!(error.remedy().unwrap().contains(&Setting::Label.to_string()), "{error}");
        let categorical = vec!["b".into()];
        let recipe = CsvRecipe { label: Some("a,b".into()), categorical, ..plain };
        let error = read_training_as(source(text), &recipe, TargetKind::Outputs).unwrap_err();
        assert!(error.to_string().contains(&Setting::Categorical.to_string()), "{error}");
    }

    #[test]
    fn a_name_with_a_comma_is_quoted() {
        assert_eq!(parsed("a, b ,c"), ["a", "b", "c"]);
        assert_eq!(parsed("\"height, in cm\",weight"), ["height, in cm", "weight"]);
        assert_eq!(parsed("a,,b"), ["a", "", "b"]);
        assert_eq!(parsed(""), [""]);
        assert_eq!(listed(&["height, in cm".into(), "b".into()]), "\"height, in cm\",b");
    }

    proptest! {
        #[test]
        fn what_is_listed_is_parsed(names in prop::collection::vec("[ab,\"=é' ]{0,4}[ab\"]", 2..5)) {
            let names: Vec<String> = names.iter().map(|name| name.trim().to_string()).collect();
            prop_assert_eq!(parsed(&listed(&names)), names);
        }
    }
}
