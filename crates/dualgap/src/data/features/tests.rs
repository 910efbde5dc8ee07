use super::*;
use std::collections::{BTreeMap, BTreeSet};

const TEXT: &str = "The DT B\ndog NN I\nruns VB O\n\nthe DT B\ncat NN I\n\nRun VB O\n";

fn read_training(source: Source<'_>, recipe: &ColumnRecipe) -> Result<(Sequences, ColumnRecipe)> {
    recipe.read_training(source)
}

fn source(text: &str) -> Source<'_> {
    Source::from_bytes("columns", text.as_bytes()).unwrap()
}

fn recipe(min_count: u32) -> ColumnRecipe {
    let templates = "U0:%lower[0,0]\nU1:%x[-1,1]|%x[0,1]\nU2:\n".into();
    ColumnRecipe { templates, pad: Pad::One, min_count, ..ColumnRecipe::default() }
}

/// The features of every token, written out by hand for the templates above.
fn by_hand() -> Vec<[String; 3]> {
    let mut all = Vec::new();
    for sentence in TEXT.split("\n\n") {
        let mut before = "_PAD";
        for line in sentence.lines() {
            let cells: Vec<&str> = line.split(' ').collect();
            all.push([
                format!("U0:{}", cells[0].to_lowercase()),
                format!("U1:{before}|{}", cells[1]),
                "U2:".to_string(),
            ]);
            before = cells[1];
        }
    }
    all
}

#[test]
fn rows_have_the_features_that_occur_often_enough() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    by_hand().into_iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
    for min_count in 1..4 {
        let (sequences, _) = read_training(source(TEXT), &recipe(min_count)).unwrap();
        let dictionary = &sequences.dictionary;
        let frequent: BTreeSet<&str> =
            counts.iter().filter(|(_, n)| **n >= min_count).map(|(name, _)| &name[..]).collect();
        assert_eq!(dictionary.names().collect::<BTreeSet<_>>(), frequent);
        assert_eq!(sequences.rows.width(), frequent.len());
        for (t, expected) in by_hand().iter().enumerate() {
            let found: BTreeSet<&str> = sequences
                .rows
                .row(t)
                .iter()
                .map(|(j, x)| {
                    assert_eq!(x, 1.0);
                    dictionary.name(j).unwrap()
                })
                .collect();
            let kept =
                expected.iter().map(|name| &name[..]).filter(|n| frequent.contains(n)).collect();
            assert_eq!(found, kept);
        }
    }
}

#[test]
fn known_features_keep_their_numbers_and_new_labels_come_last() {
    let (data, recipe) = read_training(source(TEXT), &recipe(1)).unwrap();
    let extractor = Extractor::new(&recipe, data.vocabulary()).unwrap();
    let (again, labelled, unseen) = extractor.read(source(TEXT)).unwrap();
    assert_eq!((again, labelled), (data.clone(), true));
    assert_eq!(unseen, Unseen { met: 18, ..Unseen::default() });
    let (other, _, unseen) = extractor.read(source("A XX NEW\n")).unwrap();
    assert_eq!(other.alphabet().names()[other.labels()[0] as usize], "NEW");
    assert_eq!(other.alphabet().names()[..3], *data.alphabet().names());
    let row: Vec<_> = other.rows.row(0).iter().map(|(j, _)| data.dictionary.name(j)).collect();
    assert_eq!(row, [Some("U2:")]);
    assert_eq!(unseen, Unseen { met: 3, features: 2, labels: vec!["NEW".into()] });
}

#[test]
fn a_single_column_is_separated_as_the_training_data_were() {
    let (data, recipe) =
        read_training(source("New York\tN\nruns\tV\n"), &ColumnRecipe::default()).unwrap();
    let extractor = Extractor::new(&recipe, data.vocabulary()).unwrap();
    let (other, labelled, _) = extractor.read(source("New York\nruns\n")).unwrap();
    assert!(!labelled);
    assert_eq!(other.rows, data.rows);
}

#[test]
fn a_file_may_go_without_labels_and_nothing_else() {
    let (data, recipe) = read_training(source(TEXT), &recipe(1)).unwrap();
    let extractor = Extractor::new(&recipe, data.vocabulary()).unwrap();
    let bare: String = TEXT
        .lines()
        .map(|line| line.rsplit_once(' ').map_or("", |x| x.0).to_owned() + "\n")
        .collect();
    let (without, labelled, _) = extractor.read(source(&bare)).unwrap();
    assert!(!labelled);
    assert_eq!(without.rows, data.rows);
    for wrong in ["a\n", "a b c d\n"] {
        let error = extractor.read(source(wrong)).unwrap_err().to_string();
        assert!(error.contains("and the training data had 3"), "{error}");
    }
}

#[test]
fn recipes_that_contradict_themselves_are_refused() {
    let (data, recipe) = read_training(source(TEXT), &recipe(1)).unwrap();
    let nameless = data.clone().with_dictionary(Dictionary::default()).unwrap();
    assert!(Extractor::new(&recipe, nameless.vocabulary()).is_err());
    for columns in 0..3 {
        let narrow = ColumnRecipe { columns, ..recipe.clone() };
        assert!(Extractor::new(&narrow, data.vocabulary()).is_err(), "{columns}");
    }
}

#[test]
fn columns_can_be_picked_from_any_place() {
    let (data, _) = read_training(source(TEXT), &recipe(1)).unwrap();
    // id, label, tag, something, word
    let other: String = TEXT
        .lines()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [word, tag, label] => format!("7 {label} {tag} x {word}\n"),
            _ => "\n".into(),
        })
        .collect();
    let picked = ColumnRecipe { pick: vec![4, 2, 1], ..recipe(1) };
    let (again, recipe) = read_training(source(&other), &picked).unwrap();
    assert_eq!(again, data);
    let extractor = Extractor::new(&recipe, again.vocabulary()).unwrap();
    assert_eq!(extractor.read(source(&other)).unwrap().0, data);
    assert!(read_training(source(TEXT), &picked).is_err(), "there is no column 4");
}

#[test]
fn pairs_of_labels_have_rows_of_their_own() {
    let templates = "U0:%x[0,0]\nB1:%x[-1,1]/%x[0,1]\nB\n";
    let recipe = ColumnRecipe { templates: templates.into(), ..recipe(1) };
    let (data, recipe) = read_training(source(TEXT), &recipe).unwrap();
    assert_eq!((data.rows.width(), data.edge_features()), (6, 2));
    let edges = data.edges.as_ref().unwrap();
    let names: Vec<Option<&str>> = (0..6)
        .map(|t| edges.row(t).iter().next().and_then(|(j, _)| data.dictionary.name(6 + j)))
        .collect();
    let (dog, runs) = (Some("B1:DT/NN"), Some("B1:NN/VB"));
    assert_eq!(names, [None, dog, runs, None, dog, None]);
    let extractor = Extractor::new(&recipe, data.vocabulary()).unwrap();
    assert_eq!(extractor.read(source(TEXT)).unwrap().0, data);
}

#[test]
fn too_few_columns_and_bad_templates_are_told() {
    let error = read_training(source("a b\n"), &recipe(1)).unwrap_err().to_string();
    assert!(error.contains("name column 1") && error.contains("there are 1 beside"), "{error}");
    let error = read_training(source("a\n"), &recipe(1)).unwrap_err().to_string();
    assert!(error.contains("has 1 column, and 2 are needed"), "{error}");
    let bad = ColumnRecipe { templates: "U0:%z[0,0]".into(), ..recipe(1) };
    assert!(read_training(source(TEXT), &bad).unwrap_err().to_string().contains("%z[0,0]"));
    assert!(read_training(source("\n"), &recipe(1)).is_err());
    let error = read_training(source(TEXT), &recipe(1000)).unwrap_err().to_string();
    assert!(error.contains("no feature occurs 1000 times"), "{error}");
    let error = read_training(source("a\tb\tO\nc\td\t\n"), &recipe(1)).unwrap_err();
    assert!(error.to_string().starts_with("columns:2: the label is empty"), "{error}");
}

#[test]
fn of_several_faults_the_first_of_the_file_is_told() {
    let text = "a\tb\tO\n\nc\td\t\n\ne\tf\tO\n\ng\th\n";
    let good_labels = text.replace("d\t", "d\tO");
    let (data, trained) = read_training(source(TEXT), &recipe(1)).unwrap();
    let extractor = Extractor::new(&trained, data.vocabulary()).unwrap();
    let training = |text: &str| read_training(source(text), &recipe(1)).err().unwrap().to_string();
    let known = |text: &str| extractor.read(source(text)).err().unwrap().to_string();
    for told in [&training as &dyn Fn(&str) -> String, &known] {
        assert!(told(text).starts_with("columns:3: the label is empty"), "{}", told(text));
        assert!(told(&good_labels).starts_with("columns:7: 2 columns"), "{}", told(&good_labels));
    }
}
