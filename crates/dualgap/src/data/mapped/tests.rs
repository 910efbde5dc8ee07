//! A data file has the examples of the text that it was made from, to the last bit, or it is refused.

use super::*;
use crate::container::MappedWriter;
use crate::data::{DataSet, Examples, Format, Loaded, Recipe, Source, TargetKind};
use crate::{Error, Result};
use proptest::prelude::*;
use serde_json::json;
use std::path::PathBuf;

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("data.mapped")
    }

    /// The data file of a text, opened for training.
    fn mapped(&self, text: &str) -> Examples {
        DataFile::from_libsvm(source(text), &self.path()).unwrap();
        self.read(&Recipe::whole(Format::Libsvm)).unwrap().data
    }

    fn read(&self, recipe: &Recipe) -> Result<Loaded<Examples>> {
        recipe.examples(Source::open(&self.path())?, None)
    }
}

fn source(text: &str) -> Source<'_> {
    Source::from_bytes("t.svm", text.as_bytes()).unwrap()
}

fn libsvm() -> Recipe {
    Recipe::whole(Format::Libsvm)
}

const TEXT: &str = "2 1:1 4:-2.5\n\n-1\n3 2:0 3:7\n-1 4:1\n";

proptest! {
    #[test]
    fn a_text_and_its_data_file_are_the_same_data(
        rows in prop::collection::vec((0_u8..3, prop::collection::btree_map(1_u32..9, prop_oneof![Just(0.0), Just(0.1), -4.0..4.0, Just(0.5)], 0..5)), 1..9),
        single: bool,
    ) {
        let text: String = rows.iter().map(|(label, row)| {
            let value = |x: f64| if single { f64::from(x as f32) } else { x };
            let row: Vec<String> = row.iter().map(|(j, &x)| format!("{j}:{}", value(x))).collect();
            format!("{label} {}\n", row.join(" "))
        }).collect();
        let (desk, plain) = (Desk::new(), Examples::read_libsvm(source(&text), TargetKind::Class).unwrap());
        let mapped = desk.mapped(&text);
        prop_assert!(mapped.rows().are_mapped() && !plain.rows().are_mapped());
        prop_assert_eq!(&mapped, &plain);
        prop_assert_eq!(crate::data::fingerprint::fingerprint(&mapped), plain.fingerprint());
        prop_assert_eq!(mapped.rows().stored(), plain.rows().stored());
        // What is made of the rows in place is what is made of rows in memory.
        let picked: Vec<usize> = (0..plain.len()).rev().step_by(2).collect();
        let twice = |data: &Examples| data.subset(&picked).with_constant().subset(&[0, 0]);
        prop_assert!(twice(&mapped).rows().are_mapped());
        prop_assert_eq!(twice(&mapped), twice(&plain));
        prop_assert_eq!(twice(&mapped).rows().stored(), twice(&plain).rows().stored());
        prop_assert_eq!(mapped.clone().with_constant(), plain.clone().with_constant());
        // And again by a data file, from rows in memory and from mapped ones.
        let again = Desk::new();
        for data in [plain, mapped] {
            DataFile::write(&Loaded::all(data.clone(), Format::Libsvm, true), &again.path()).unwrap();
            prop_assert_eq!(again.read(&libsvm()).unwrap().data, data);
        }
    }
}

#[test]
fn rows_that_have_to_change_are_copied() {
    let (desk, plain) =
        (Desk::new(), Examples::read_libsvm(source(TEXT), TargetKind::Class).unwrap());
    let mapped = desk.mapped(TEXT);
    let factors = [2.0, 3.0, 5.0, 7.0];
    let (mut narrow, mut divided) = (mapped.rows().clone(), mapped.rows().divided(&factors));
    assert_eq!(divided, plain.rows().divided(&factors));
    assert_eq!(narrow.fit_width(3), 2);
    let mut other = plain.rows().clone();
    other.fit_width(3);
    assert_eq!(narrow, other);
    divided.push_sparse(&[(5, 0.1)]);
    assert_eq!((divided.len(), divided.width()), (5, 6));
    let mut longer = mapped.rows().clone();
    longer.push_sparse(&[(5, 0.1)]);
    assert_eq!((longer.row(4).get(5), longer.row(0).get(3)), (0.1, -2.5));
    // A wider matrix stays in place until it needs a constant.
    let mut wide = mapped.rows().clone();
    wide.fit_width(9);
    assert!(wide.are_mapped() && wide.width() == 9);
    wide.append_constant();
    assert_eq!(wide.row(1).iter().collect::<Vec<_>>(), [(9, 1.0)]);
    assert!(!wide.are_mapped());
    let mut twice = mapped.rows().clone();
    twice.append_constant();
    twice.append_constant();
    assert_eq!(twice.row(1).iter().collect::<Vec<_>>(), [(4, 1.0), (5, 1.0)]);
}

#[test]
fn a_model_reads_it_as_it_reads_the_text() {
    let desk = Desk::new();
    for model in ["1 1:1\n5 2:1\n", "-1 9:1\n2 1:1\n3 1:1", "-1 4:1\n2 1:1\n", "7 3:1\n8 1:1\n"] {
        let model = Examples::read_libsvm(source(model), TargetKind::Class).unwrap();
        desk.mapped(TEXT);
        for constant in [false, true] {
            let model = if constant { model.clone().with_constant() } else { model.clone() };
            let recipe = Recipe { constant, ..libsvm() };
            let known = Some(model.vocabulary());
            let text = recipe.examples(source(TEXT), known).unwrap();
            let mapped = recipe.examples(Source::open(&desk.path()).unwrap(), known).unwrap();
            assert_eq!((&mapped.data, &mapped.unseen), (&text.data, &text.unseen));
            assert_eq!((mapped.labelled, &mapped.recipe), (true, &text.recipe));
            assert_eq!(mapped.data.fingerprint(), text.data.fingerprint());
            let fits = model.rows().width() - usize::from(constant) >= 4;
            let in_place = fits && (!constant || model.rows().width() == 5);
            assert_eq!(mapped.data.rows().are_mapped(), in_place);
        }
    }
}

#[cfg(feature = "csv")]
#[test]
fn features_with_names_are_known_by_them() {
    let table = |text: &'static str| Source::from_bytes("t.csv", text.as_bytes()).unwrap();
    let recipe = Recipe::whole(Format::guess_examples("a,b,y"));
    let train = recipe.examples(table("a,b,y\n1,red,no\n0.1,blue,yes\n"), None).unwrap();
    let desk = Desk::new();
    DataFile::write(&train, &desk.path()).unwrap();
    let again = desk.read(&recipe).unwrap();
    assert_eq!((&again.data, &again.recipe), (&train.data, &train.recipe));
    let read = |known: &Examples| {
        recipe.examples(Source::open(&desk.path()).unwrap(), Some(known.vocabulary()))
    };
    assert_eq!(read(&train.data).unwrap().data, train.data);
    assert!(read(&train.data).unwrap().data.rows().are_mapped());
    // Blue came first there, and nobody was red.
    let other = recipe.examples(table("b,a,y\nblue,3,yes\ngreen,1,maybe\n"), None).unwrap();
    let met = read(&other.data).unwrap();
    let text = other
        .recipe
        .examples(table("a,b,y\n1,red,no\n0.1,blue,yes\n"), Some(other.data.vocabulary()));
    assert_eq!(met.data, text.unwrap().data);
    assert_eq!((met.unseen.features, met.unseen.labels), (1, vec!["no".to_string()]));
    let numbered = Examples::read_libsvm(source(TEXT), TargetKind::Class).unwrap();
    assert!(read(&numbered).unwrap_err().to_string().contains("by number"));
}

#[test]
fn labels_are_classes_or_numbers_as_they_are_wanted() {
    let desk = Desk::new();
    let number = Recipe { target: TargetKind::Number, ..libsvm() };
    // Few different labels are stored by name, and many by number.
    let text = "2.5 1:1\n-0 2:1\n1e-320\n2.50 1:1\n".to_string();
    let many: String = (0..70_000).map(|i| format!("{} 1:1\n", f64::from(i) / 64.0)).collect();
    for text in [text, many] {
        let classes = desk.mapped(&text);
        assert_eq!(classes, Examples::read_libsvm(source(&text), TargetKind::Class).unwrap());
        let numbers = desk.read(&number).unwrap();
        assert_eq!(numbers.data, Examples::read_libsvm(source(&text), TargetKind::Number).unwrap());
        assert_eq!(numbers.data.fingerprint(), classes.fingerprint());
        assert_eq!(numbers.recipe, number);
    }
    for target in [TargetKind::Set, TargetKind::Outputs] {
        let error = desk.read(&Recipe { target, ..libsvm() }).unwrap_err();
        assert!(error.to_string().contains("one class or number"), "{error}");
        assert!(error.remedy().is_some());
    }
}

#[test]
fn what_is_no_data_file_is_not_read_as_one() {
    let desk = Desk::new();
    desk.mapped(TEXT);
    let bytes = std::fs::read(desk.path()).unwrap();
    // In memory it has no path, and nothing that could be mapped.
    let source = || Source::from_bytes("the data", &bytes).unwrap();
    let error = libsvm().examples(source(), None).unwrap_err();
    assert!(error.to_string().contains("not a file that can be mapped"), "{error}");
    assert!(source().next_line().unwrap_err().to_string().contains("no lines"));
    let sequences = libsvm().sequences(Source::open(&desk.path()).unwrap(), None);
    assert!(sequences.is_err());
    let folds = Recipe { folds: Some(vec![1]), ..libsvm() };
    assert!(desk.read(&folds).unwrap_err().to_string().contains("folds"));
    let newer = String::from_utf8_lossy(&bytes[..64]).replace("file 1", "file 2");
    std::fs::write(desk.path(), newer.as_bytes()).unwrap();
    let error = desk.read(&libsvm()).unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
    assert!(matches!(error, Error::File { .. }) && error.remedy().is_some());
}

/// The arrays of a file of two rows, {0: 1, 1: 2} and {1: 3}, of two features.
struct Forged {
    indices: Vec<u32>,
    values: Vec<f32>,
    starts: Vec<u64>,
    classes: Vec<u32>,
    header: serde_json::Value,
}

impl Forged {
    fn honest() -> Self {
        let fingerprint = Examples::read_libsvm(source("5 1:1 2:2\n6 2:3\n"), TargetKind::Class)
            .unwrap()
            .fingerprint();
        Self {
            indices: vec![0, 1, 2, 1, 2],
            values: vec![1.0, 2.0, 1.0, 3.0, 1.0],
            starts: vec![0, 3, 5],
            classes: vec![0, 1],
            header: json!({
                "recipe": libsvm(), "features": 2, "names": [], "fingerprint": fingerprint,
                "targets": { "classes": { "labels": ["5", "6"] } },
            }),
        }
    }

    fn open(&self) -> Result<Loaded<Examples>> {
        let desk = Desk::new();
        let mut writer = MappedWriter::create(&desk.path(), &DATA_FILE).unwrap();
        writer.array::<u32>("indices").unwrap();
        self.indices.iter().for_each(|x| writer.bytes(&x.to_le_bytes()).unwrap());
        writer.array::<f32>("values").unwrap();
        self.values.iter().for_each(|x| writer.bytes(&x.to_le_bytes()).unwrap());
        writer.array::<u64>("starts").unwrap();
        self.starts.iter().for_each(|x| writer.bytes(&x.to_le_bytes()).unwrap());
        writer.array::<u32>("classes").unwrap();
        self.classes.iter().for_each(|x| writer.bytes(&x.to_le_bytes()).unwrap());
        writer.finish(&self.header).unwrap();
        desk.read(&libsvm())
    }
}

/// Files with digests that fit, of examples that are none or others than their fingerprint says.
#[test]
fn forged_files_are_refused() {
    type Change = fn(&mut Forged);
    assert!(Forged::honest().open().is_ok());
    let changes: [Change; 19] = [
        |f| f.indices[0] = 1,
        |f| f.indices[1] = 7,
        |f| f.indices[2] = 3,
        |f| f.indices[2] = 1,
        |f| f.values[0] = f32::NAN,
        |f| f.values[0] = 1.5,
        |f| f.values[2] = 2.0,
        |f| f.starts[0] = 1,
        |f| f.starts[1] = 2,
        |f| f.starts[1] = 9,
        |f| f.starts[2] = u64::MAX,
        |f| f.starts = vec![],
        |f| f.starts = vec![0, 3, 3, 5],
        |f| f.classes[1] = 2,
        |f| f.classes = vec![0],
        |f| f.classes = vec![1, 0],
        |f| f.header["features"] = json!(3),
        |f| f.header["targets"]["classes"]["labels"] = json!(["5", "7"]),
        |f| f.header["fingerprint"] = json!("0"),
    ];
    for (k, change) in changes.into_iter().enumerate() {
        let mut forged = Forged::honest();
        change(&mut forged);
        let Err(error) = forged.open() else { panic!("change {k} is not noticed") };
        assert!(error.remedy().is_some(), "{error}");
    }
    for field in ["recipe", "features", "names", "fingerprint", "targets"] {
        let mut forged = Forged::honest();
        forged.header[field] = json!({ "none": 1 });
        assert!(forged.open().is_err(), "{field}");
    }
}
