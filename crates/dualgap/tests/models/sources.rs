//! An error keeps the one behind it, for programs that ask for more than words.

use dualgap::container::Digest;
use dualgap::data::{ColumnRecipe, Conversion, CsvRecipe, Examples, Format, Recipe, Sink, Source};
use dualgap::dual::shard::Change;
use dualgap::run::Budget;
use dualgap::structure::{Chain, Hamming, Multiclass};
use dualgap::task::{AnyModel, InputForm, Method, Model, Plan, Tagging, Task};
use dualgap::term::Penalty;
use dualgap::{Error, Result};
use safetensors::tensor::TensorView;
use std::io::ErrorKind;
use std::path::Path;

/// How a table with one header and one label is read.
fn csv() -> Recipe {
    Recipe::whole(Format::Csv(CsvRecipe::default()))
}

/// The error behind the one that was returned.
#[track_caller]
fn behind<E: std::error::Error + 'static, T>(result: Result<T>, look: impl FnOnce(&E)) {
    let Some(error) = result.err() else { panic!("there is nothing wrong") };
    let source =
        std::error::Error::source(&error).unwrap_or_else(|| panic!("nothing behind {error}"));
    look(source.downcast_ref().unwrap_or_else(|| panic!("another error: {source:?}")));
}

#[test]
fn a_missing_file_is_one_of_the_system() {
    let missing = Path::new("no/such/file");
    let not_found = |error: &std::io::Error| assert_eq!(error.kind(), ErrorKind::NotFound);
    behind(Source::open(missing), not_found);
    behind(Model::<Multiclass>::load(missing), not_found);
    behind(Conversion::load(missing), not_found);
}

#[test]
fn a_file_that_cannot_be_written_is_one_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let name = "n".repeat(3000);
    let result = dualgap::container::write_atomically(&folder.path().join(name), b"");
    behind(result, |error: &std::io::Error| assert_ne!(error.kind(), ErrorKind::NotFound));
}

#[test]
fn text_that_is_none_is_one_of_its_decoder() {
    let mut source = Source::from_bytes("data", b"1 1:2\n1 \xff\n").unwrap();
    source.next_line().unwrap();
    let at = |error: &std::str::Utf8Error| assert_eq!(error.valid_up_to(), 2);
    behind(source.next_line().map(|_| ()), at);
    let source = Source::from_bytes("a.csv", b"a,b\n1,2\n3,\xff\n").unwrap();
    behind(csv().examples(source, None), |error: &csv::FromUtf8Error| {
        assert_eq!(error.utf8_error().field(), 1);
    });
}

#[test]
fn compressed_data_that_break_off_are_one_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    let mut sink = dualgap::data::Sink::create_named(&path).unwrap();
    (0..5000_u64).for_each(|k| sink.text(&format!("{},{}\n", k * k % 977, k % 2)).unwrap());
    sink.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let source = Source::from_bytes("cut", &bytes[..bytes.len() / 2]).unwrap();
    let cut = |error: &csv::Error| assert!(error.is_io_error());
    behind(csv().examples(source, None), cut);
}

#[test]
fn a_header_that_is_broken_is_one_of_its_parser() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    // The container is in order, and the header has nothing of a model.
    let header = serde_json::json!({ "format_version": 1, "task": 1, "digests": {} }).to_string();
    let seal = Digest::of(header.as_bytes());
    let sealed = format!("{{\"seal\":\"{seal}\",\"header\":{header}}}");
    let metadata = Some([("dualgap".to_string(), sealed)].into());
    let none: [(&str, TensorView<'_>); 0] = [];
    std::fs::write(&path, safetensors::serialize(none, metadata).unwrap()).unwrap();
    let of_data = |error: &serde_json::Error| assert!(error.is_data());
    behind(Model::<Multiclass>::load(&path), of_data);
    let fault = Model::<Multiclass>::from_bytes(&std::fs::read(&path).unwrap()).unwrap_err();
    assert!(std::error::Error::source(&fault).unwrap().is::<serde_json::Error>());
    // No container at all.
    std::fs::write(&path, [0xff; 64]).unwrap();
    behind(Model::<Multiclass>::load(&path), |_: &safetensors::SafeTensorError| ());
    // A map whose line of a header is no JSON.
    std::fs::write(&path, "dualgap map 1\n{\nbody").unwrap();
    behind(Conversion::load(&path), |error: &serde_json::Error| assert!(error.is_eof()));
}

#[test]
fn a_line_of_a_stream_that_is_no_object_is_one_of_its_parser() {
    let recipe = Recipe::whole(Format::Columns(ColumnRecipe::preset("paper-conll2000").unwrap()));
    let text = b"He PRP B-NP\nruns VBZ B-VP\n\nShe PRP B-NP\nsits VBZ B-VP\n\n";
    let loaded = recipe.sequences(Source::from_bytes("text", text).unwrap(), None).unwrap();
    let task = Task::new(Chain::new(Hamming::Plain), Penalty::ridge(0.1));
    let mut model = task.fit(&loaded.data, Plan::new(Budget::passes(1))).unwrap().model;
    model.provenance.recipe = Some(loaded.recipe);
    let folder = tempfile::tempdir().unwrap();
    let tag = |lines: &[u8]| {
        let source = Source::from_bytes("stream", lines)?;
        let tagging = Tagging { input: InputForm::Json, threads: 1, ..Tagging::default() };
        model.tag(source, &tagging, &mut Sink::create(&folder.path().join("tags"))?)
    };
    assert!(tag(b"{\"tokens\": [[\"He\", \"PRP\"]]}\n").is_ok());
    behind(tag(b"{\"tokens\": [\n"), |error: &serde_json::Error| assert!(error.is_eof()));
    // An object with nothing to label has no error behind it.
    assert!(std::error::Error::source(&tag(b"{}\n").err().unwrap()).is_none());
}

#[test]
fn a_setting_of_another_type_is_one_of_serde() {
    let seed = serde_json::json!({ "seed": "seven" });
    let method = Method::named("auto", false).unwrap().with(seed.as_object().unwrap());
    behind(method, |error: &serde_json::Error| assert!(error.is_data()));
}

#[test]
fn a_model_that_names_no_problem_is_refused_for_what_is_wrong_with_it() {
    let rows = [vec![1.0], vec![-1.0], vec![2.0]];
    let data = Examples::from_dense(&rows, &["a", "b", "a"]).unwrap();
    let task = Task::new(Multiclass::default(), Penalty::ridge(0.1));
    let mut model = task.fit(&data, Plan::new(Budget::passes(3))).unwrap().model;
    assert!(model.certify(&data).is_ok());
    model.task.penalty = Penalty::ridge(-0.1);
    let refused = model.certify(&data);
    assert!(matches!(refused, Err(Error::Refused { .. })));
    behind(refused, |error: &Error| assert!(matches!(error, Error::Setting { .. }), "{error}"));
}

#[test]
fn bytes_that_are_no_part_of_a_shard_are_one_of_their_decoder() {
    behind(Change::from_bytes(&[3]), |_: &postcard::Error| ());
}

#[test]
fn an_error_of_its_own_has_nothing_behind_it() {
    let error = Error::setting("λ must be positive");
    assert!(std::error::Error::source(&error).is_none());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map");
    std::fs::write(&path, "dualgap map 1\n").unwrap();
    assert!(std::error::Error::source(&Conversion::load(&path).unwrap_err()).is_none());
}
