//! `dualgap convert DATA -o DATA.mapped`: a data file, which is mapped in the place of being read.

use crate::args::ConvertArgs;
use crate::words::{aligned, thousands, to_json};
use crate::{Outcome, formats, print};
use dualgap::data::{DataFile, Format, Recipe, Source};
use dualgap::{Error, Result};
use serde::Serialize;
use std::path::Path;

/// Writes a data file: line by line where the data are a LIBSVM file, which may be larger than memory.
pub fn run(args: &ConvertArgs, output: &Path) -> Result<Outcome> {
    let mut source = Source::open(&args.data)?;
    let given = [
        (args.random_binning.is_some(), "--random-binning"),
        (args.degree.is_some(), "--degree"),
        (args.atoms.is_some(), "--atoms"),
        (args.map.is_some(), "--map"),
        (args.save_map.is_some(), "--save-map"),
        (args.save_names.is_some(), "--save-names"),
    ];
    if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
        return Err(Error::setting(format!(
            "{option} is for LIBSVM files: write one, and convert it to a data file"
        )));
    }
    formats::check_mapped(&args.layout, &source)?;
    let format = formats::format(&args.layout, Format::guess_examples(&source.head()?))?;
    let written = if format == Format::Libsvm && args.folds.is_none() {
        DataFile::from_libsvm(source, output)?
    } else {
        let folds = args.folds.as_ref().map(|folds| folds.0.clone());
        DataFile::write(&Recipe { folds, ..Recipe::whole(format) }.examples(source, None)?, output)?
    };
    if args.json {
        print(&to_json(&MappedJson {
            n: written.examples,
            features: written.features,
            entries: written.entries,
            value_bits: 8 * written.value_bytes,
            fingerprint: &written.fingerprint,
            version: env!("CARGO_PKG_VERSION"),
        }))?;
    } else if !args.quiet {
        let bits = 8 * written.value_bytes;
        print(&aligned(&[
            ("examples", thousands(written.examples as u64)),
            ("features", thousands(written.features as u64)),
            ("entries", format!("{}, values of {bits} bits", thousands(written.entries))),
            ("fingerprint", written.fingerprint),
            ("written", output.display().to_string()),
        ]))?;
    }
    Ok(Outcome::Reached)
}

#[derive(Serialize)]
struct MappedJson<'a> {
    n: usize,
    features: usize,
    entries: u64,
    value_bits: usize,
    fingerprint: &'a str,
    version: &'static str,
}
