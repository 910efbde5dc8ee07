//! Matching: which rows and columns of a graph belong together, and which words of a sentence and its translation.

use super::{OF_BALLS, OF_ROWS};
use crate::args::Common;
use crate::args::values::{Range, parse_range, parse_tolerance};
use crate::options::{TaskOptions, Verb};
use clap::Args;
use dualgap::data::{Aligner, Bitext, Loaded, Matchings, Recipe, Source};
use dualgap::linalg::on_threads;
use dualgap::structure::{LinkLoss, Matching};
use dualgap::task::TaskSpec;
use dualgap::{Error, Result};
use std::path::{Path, PathBuf};

/// What mistakes cost, where words and their translations come from, and which pairs are trained and tested on.
#[derive(Args, Debug)]
pub struct MatchingArgs {
    /// More text to learn from what translates what, without links: the PREFIX of files PREFIX.e and PREFIX.f. The text of
    /// the data and of --test always counts.
    #[arg(long, value_name = "PREFIX", num_args = 1.., help_heading = "Data")]
    pub bitext: Vec<PathBuf>,
    /// Train on these examples only, from the first number to before the second, such as 0..100.
    #[arg(long, value_name = "A..B", value_parser = parse_range, help_heading = "Data")]
    pub train_range: Option<Range>,
    /// Test on these examples of the same file.
    #[arg(long, value_name = "A..B", value_parser = parse_range, requires = "train_range", conflicts_with = "test", help_heading = "Data")]
    pub test_range: Option<Range>,
    /// What a wrong link costs.
    #[arg(long, value_name = "COST", default_value_t = 1.0, value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "Problem")]
    pub fp: f64,
    /// What a missing link costs.
    #[arg(long = "fn", value_name = "COST", default_value_t = 3.0, value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "Problem")]
    pub missing: f64,
}

impl TaskOptions for MatchingArgs {
    type Structure = Matching;
    const COMMAND: &'static str = "matching";
    const ABOUT: &'static str = "Links between rows and columns, at most one for each; between the words of a sentence and its translation.";
    const REFUSES: &'static [(&'static str, &'static str)] = {
        const BALL: &str =
            "weights in a ball are for binary, regression, multiclass, multilabel and multioutput";
        const CSV: &str = "it is for csv files, and those have no edges";
        const COLUMNS: &str = "it is for column files, and those have no edges";
        const FOLDS: &str = "--train-range and --test-range choose a part of the data";
        &[
            ("ball", BALL),
            ("radius", BALL),
            ("mu", BALL),
            ("constants", BALL),
            ("q-norm", "it is for binary and regression"),
            ("label", CSV),
            ("categorical", CSV),
            ("features", COLUMNS),
            ("columns", COLUMNS),
            ("encoding", COLUMNS),
            ("min-count", COLUMNS),
            ("lowercase", COLUMNS),
            ("hash", COLUMNS),
            ("train-folds", FOLDS),
            ("test-folds", FOLDS),
        ]
    };
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] = &[
        OF_ROWS,
        OF_BALLS,
        ("solver", &["eg"]),
        ("format", &["columns", "libsvm", "csv", "letters", "crfsuite"]),
    ];

    fn examples(verb: Verb) -> &'static str {
        match verb {
            Verb::Train => {
                "\
Examples:
  dualgap train matching EDGES.txt --test OTHERS.txt -o model.dualgap
  dualgap train matching PREFIX --bitext MORE --train-range 0..100 --test-range 100..447 -o model.dualgap
  dualgap predict model.dualgap PREFIX"
            }
            Verb::Cv => {
                "\
Examples:
  dualgap cv matching PREFIX --bitext MORE --train-range 0..100 -o model.dualgap"
            }
            Verb::Path => {
                "\
Examples:
  dualgap path matching EDGES.txt --from 10/n --to 1/n --tolerance 0.05 -o FOLDER"
            }
            Verb::Appraise => "",
        }
    }

    fn structure(&self) -> Result<Matching> {
        let loss = LinkLoss { false_positive: self.fp, false_negative: self.missing };
        loss.check()?;
        Ok(Matching::new(loss))
    }

    /// Lets an aligner learn from all text at hand, if the data are bitext.
    fn prepare(&self, spec: &mut TaskSpec<Matching>, common: &Common<'_>) -> Result<()> {
        let data = &common.data.data;
        if data.exists() || Source::with_ending(data, "e").is_none() {
            if self.bitext.is_empty() {
                return Ok(());
            }
            return Err(Error::file(
                data,
                "is not the PREFIX of files PREFIX.e, PREFIX.f and PREFIX.a, and --bitext is for such data",
                "name the PREFIX, or leave --bitext out",
            ));
        }
        let mut texts = Vec::new();
        let mut known: Vec<PathBuf> = Vec::new();
        for path in
            [Some(data), common.data.test.as_ref()].into_iter().flatten().chain(&self.bitext)
        {
            let first = Source::with_ending(path, "e").and_then(|first| first.canonicalize().ok());
            if first.as_ref().is_some_and(|first| known.contains(first)) {
                continue; // text that is named twice does not count twice
            }
            known.extend(first);
            texts.push(Bitext::read(Source::open(path)?)?);
        }
        let texts: Vec<&Bitext> = texts.iter().collect();
        let aligner = on_threads(common.method.threads, || Aligner::learn(&texts))?
            .map_err(|error| Error::file(data, error.to_string(), "are the files empty?"))?;
        spec.structure = spec.structure.clone().with_aligner(aligner);
        Ok(())
    }

    fn split(
        &self,
        all: Loaded<Matchings>,
        common: &Common<'_>,
    ) -> Result<(Loaded<Matchings>, Option<Loaded<Matchings>>)> {
        let Some(train) = self.train_range else { return Ok((all, None)) };
        let file = &common.data.data;
        if let Some(test) =
            self.test_range.filter(|test| test.begin < train.end && train.begin < test.end)
        {
            return Err(Error::setting(format!(
                "--train-range {train} and --test-range {test} overlap: what is trained on is no test"
            )));
        }
        let test =
            self.test_range.map(|test| part(&all, test, "--test-range", file)).transpose()?;
        Ok((part(&all, train, "--train-range", file)?, test))
    }
}

/// Returns a part of the data, in the order of the file.
fn part(
    all: &Loaded<Matchings>,
    range: Range,
    option: &str,
    file: &Path,
) -> Result<Loaded<Matchings>> {
    let Range { begin, end } = range;
    if end > all.of {
        return Err(Error::file(
            file,
            format!("has {} examples, from 0 on, and {option} {range} asks for more", all.of),
            format!("give {option} {begin}..{} or less", all.of.max(begin + 1)),
        ));
    }
    let chosen: Vec<usize> = (begin..end).collect();
    let recipe = Recipe { range: Some([begin, end]), ..all.recipe.clone() };
    Ok(Loaded {
        data: all.data.select(&chosen),
        chosen,
        of: all.of,
        recipe,
        labelled: all.labelled,
        unseen: all.unseen.clone(),
        folds: None,
    })
}
