//! Errors about files that need a Cargo feature which this build lacks.

use crate::Error;

/// Returns the error: what the file is, the feature, and what can be done without it.
pub(super) fn lacking(file: &str, what: &str, feature: &str, otherwise: &str) -> Error {
    Error::File {
        file: file.into(),
        message: format!("{what}, and this build of dualgap lacks the feature `{feature}`"),
        remedy: format!("build dualgap with its Cargo feature `{feature}`, or {otherwise}"),
        source: None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Error;

    #[track_caller]
    fn names(error: Option<Error>, file: &str, feature: &str) {
        let error = error.expect("an error");
        let (message, remedy) = (error.to_string(), error.remedy().unwrap_or_default());
        assert!(message.starts_with(file), "{message}");
        assert!(message.contains(&format!("`{feature}`")), "{message}");
        assert!(remedy.contains(&format!("feature `{feature}`")), "{remedy}");
    }

    #[cfg(not(feature = "bzip2"))]
    #[test]
    fn a_bzip2_file_asks_for_the_feature() {
        use crate::data::{Sink, Source};
        names(Source::from_bytes("a.svm", b"BZh91AY").err(), "a.svm", "bzip2");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.bz2");
        names(Sink::create_named(&path).err(), path.to_str().unwrap(), "bzip2");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(not(feature = "zstd"))]
    #[test]
    fn a_zstd_file_asks_for_the_feature() {
        use crate::data::{Sink, Source};
        names(Source::from_bytes("a.svm", b"\x28\xb5\x2f\xfd").err(), "a.svm", "zstd");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.zst");
        names(Sink::create_named(&path).err(), path.to_str().unwrap(), "zstd");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(not(feature = "csv"))]
    #[test]
    fn a_csv_file_asks_for_the_feature() {
        use crate::data::csv::{read_known_as, read_training_as};
        use crate::data::{CsvRecipe, Examples, Source, TargetKind};
        let source = || Source::from_bytes("a.csv", b"x,y\n1,a\n").unwrap();
        let (recipe, kind) = (CsvRecipe::default(), TargetKind::Class);
        names(read_training_as(source(), &recipe, kind).err(), "a.csv", "csv");
        let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["a", "b"]).unwrap();
        let known = data.vocabulary();
        names(read_known_as(source(), &recipe, known, kind).err(), "a.csv", "csv");
    }
}
