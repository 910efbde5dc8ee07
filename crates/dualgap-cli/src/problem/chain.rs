//! Chain: a label for each position of a sequence.

use super::{KernelArgs, OF_BALLS, OF_ROWS};
use crate::Outcome;
use crate::args::Common;
use crate::choices::{ChainLoss, Forbid, Hamming, Rescale, SdcaOption, Step, Switch};
use crate::options::{TaskOptions, Verb, Work};
use clap::Args;
use dualgap::data::{Format, Scheme, SchemeUse, Sequences};
use dualgap::structure::{self, Beam, Chain, Choice, Structure};
use dualgap::task::TaskSpec;
use dualgap::{Error, Result};
use std::num::NonZeroUsize;
use std::path::Path;

/// The passes of a tagger if nothing is said about when to stop: the weighted average changes little after them.
const PASSES: u64 = 10;

/// Whether a file has the tokens of sentences.
fn is_of_tokens(format: &Format) -> bool {
    matches!(format, Format::Columns(_) | Format::Attributes)
}

/// How wrong labels are counted and weighed against scores, and how labelings are searched for.
#[derive(Args, Debug)]
pub struct ChainArgs {
    /// The structural hinge of a support vector machine, or the log-loss of a conditional random field.
    #[arg(long, value_enum, default_value = "hinge", help_heading = "Problem")]
    pub loss: ChainLoss,
    /// Count the wrong labels of a sequence, or their fraction [default: plain for column files, normalized for letters
    /// and under a kernel].
    #[arg(long, value_enum, help_heading = "Problem")]
    pub hamming: Option<Hamming>,
    /// How the loss of a labeling is weighed against its score.
    #[arg(long, value_enum, default_value = "margin", help_heading = "Problem")]
    pub rescale: Rescale,
    /// How far a step goes: an option of the Prox-SDCA paper, ii, iii, iv or iv-lipschitz; auto is block-coordinate Frank-Wolfe.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
    pub option: SdcaOption,
    /// Search by a beam that follows so many labels of every position, not by Viterbi's algorithm.
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Problem")]
    pub beam: Option<NonZeroUsize>,
    /// Whether the beam bounds the labelings that it does not look at. Without these bounds nothing is certified.
    #[arg(long, value_enum, default_value = "on", requires = "beam", help_heading = "Problem")]
    pub beam_bound: Switch,
    /// Column files: train on the labels of this scheme, bio, iob1, bilou or iobes; predictions have that of the file.
    #[arg(long, value_name = "SCHEME", value_parser = str::parse::<Scheme>, help_heading = "Problem")]
    pub scheme: Option<Scheme>,
    /// Forbid labelings that are illegal in the scheme of the labels, such as I-X after O: neither training nor a prediction
    /// considers them.
    #[arg(long, value_enum, default_value = "nothing", help_heading = "Problem")]
    pub forbid: Forbid,
    #[command(flatten)]
    pub kernel: KernelArgs,
}

impl TaskOptions for ChainArgs {
    type Structure = Chain;
    const COMMAND: &'static str = "chain";
    const ALIASES: &'static [&'static str] = &["tagger"];
    // A run takes long, and errors change little from one λ to its half.
    const GRID: usize = 4;
    const PATIENCE: Option<usize> = Some(1);
    const ABOUT: &'static str = "A label for each position of a sequence, by a first-order chain.";
    const REFUSES: &'static [(&'static str, &'static str)] = {
        const BALL: &str =
            "weights in a ball are for binary, regression, multiclass, multilabel and multioutput";
        const CSV: &str = "it is for csv files, and those have no sequences";
        &[
            ("ball", BALL),
            ("radius", BALL),
            ("mu", BALL),
            ("constants", BALL),
            ("q-norm", "it is for binary and regression"),
            ("categorical", CSV),
        ]
    };
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] =
        &[OF_ROWS, OF_BALLS, ("option", &["i", "v"]), ("format", &["libsvm", "csv", "edges"])];

    fn examples(verb: Verb) -> &'static str {
        match verb {
            Verb::Train => {
                "\
Examples:
  dualgap train tagger TRAIN.txt --test TEST.txt -o tagger.dualgap
  dualgap train tagger TRAIN.conllu --label upos -o tagger.dualgap
  dualgap train tagger TRAIN.txt --scheme bilou --forbid illegal -o tagger.dualgap
  dualgap train chain TRAIN.txt --features TEMPLATES --min-count 2 --tolerance 0.05 -o tagger.dualgap
  dualgap train chain TRAIN.txt --loss log --test TEST.txt -o crf.dualgap
  dualgap train chain letter.data.gz --train-folds 1-9 --test-folds 0 --witness -o m.dualgap"
            }
            Verb::Cv => {
                "\
Examples:
  dualgap cv chain TRAIN.txt --test TEST.txt -o tagger.dualgap
  dualgap cv chain letter.data.gz --given-folds --train-folds 1-9 --test-folds 0"
            }
            Verb::Path => {
                "\
Examples:
  dualgap path chain TRAIN.txt --from 100/n --to 10/n --tolerance 0.05 --test TEST.txt -o FOLDER"
            }
            Verb::Appraise => "",
        }
    }

    /// Returns the problem, or an error for options that no problem or method could have together.
    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Chain>> {
        // What is illegal is known when the labels are, and that would be late.
        if self.kernel.kernel.is_some() {
            let given = [
                (self.scheme.is_some(), "--scheme"),
                (self.forbid == Forbid::Illegal, "--forbid illegal"),
            ];
            if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
                return Err(Error::setting(format!(
                    "{option} does not go with --kernel: leave one out"
                )));
            }
        }
        if self.option != SdcaOption::Auto {
            common.method.check_option()?;
            if common.method.step == Step::Predefined {
                return Err(Error::setting("--step predefined goes without --option"));
            }
        }
        Ok(TaskSpec::new(self.structure()?, common.penalty(Self::DEFAULT_MU)?))
    }

    fn option(&self) -> Option<Choice> {
        (self.option != SdcaOption::Auto).then(|| self.option.into())
    }

    fn run<W: Work>(&self, work: &W) -> Result<Outcome> {
        self.kernel.run(work, self)
    }

    fn structure(&self) -> Result<Chain> {
        let bound = self.beam_bound == Switch::On;
        let beam = self.beam.map(|width| Beam { width: width.get(), bound });
        let chain = match self.loss {
            ChainLoss::Hinge => Chain::new(self.hamming.unwrap_or(Hamming::Normalized).into()),
            ChainLoss::Log => Chain::crf(),
        };
        Ok(chain.rescaled(self.rescale.into()).searched(beam))
    }

    fn read_as(&self, format: &mut Format) -> Result<()> {
        match (self.scheme, format) {
            (Some(model), Format::Columns(recipe)) => {
                recipe.scheme = Some(SchemeUse { model, file: None });
            }
            (Some(_), other) => {
                let name = other.name();
                return Err(Error::setting(format!(
                    "--scheme is for column files, and this is read as a {name} file"
                )));
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// Forbids what the scheme of the labels does not have.
    fn meet(&self, spec: &mut TaskSpec<Chain>, file: &Path, data: &Sequences) -> Result<()> {
        if self.forbid == Forbid::Nothing {
            return Ok(());
        }
        // Labels that were converted are of that scheme, even if they fit another one, too.
        let found = self.scheme.or_else(|| Scheme::recognise(data).map(|found| found.scheme));
        let Some(scheme) = found else {
            return Err(Error::file(
                file,
                "has labels of no scheme, so that nothing is illegal",
                "labels of chunks are O, and B-NAME, I-NAME or their like; leave out --forbid",
            ));
        };
        spec.structure.forbid = Some(scheme);
        match spec.structure.complaint(data) {
            Some((message, _)) => Err(Error::file(
                file,
                message,
                "mend the labels (`dualgap convert --labels` writes the chunks that they mean), or leave out --forbid",
            )),
            None => Ok(()),
        }
    }

    /// Sentences of a column file differ in length far more than words of letters do. The fraction of wrong labels makes a
    /// mistake in a long sentence count less; measured on CoNLL-2000 and UD English, that costs accuracy.
    fn suit(&self, structure: &mut Chain, format: &Format) {
        let open = self.loss == ChainLoss::Hinge && self.hamming.is_none();
        if open && is_of_tokens(format) {
            structure.hamming = structure::Hamming::Plain;
        }
    }

    /// A tagger needs few passes, and hardly any of its accuracy comes from a small gap.
    fn bare(&self, format: &Format) -> Option<u64> {
        let few = self.loss == ChainLoss::Hinge && is_of_tokens(format);
        few.then_some(PASSES)
    }
}
