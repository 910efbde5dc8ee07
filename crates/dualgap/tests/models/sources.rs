//! An error keeps the one behind it, for programs that ask for more than words.

use dualgap::container::Digest;
use dualgap::data::{Conversion, CsvRecipe, Format, Recipe, Source};
use dualgap::structure::Multiclass;
use dualgap::task::Model;
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
fn an_error_of_its_own_has_nothing_behind_it() {
    let error = Error::setting("λ must be positive");
    assert!(std::error::Error::source(&error).is_none());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map");
    std::fs::write(&path, "dualgap map 1\n").unwrap();
    assert!(std::error::Error::source(&Conversion::load(&path).unwrap_err()).is_none());
}
