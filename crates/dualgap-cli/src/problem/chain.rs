//! Chain: a label for each position of a sequence.

use crate::choices::{Hamming, Rescale};
use crate::options::{TaskOptions, Verb};
use clap::Args;
use dualgap::Result;
use dualgap::structure::Chain;

/// How wrong labels are counted, and how they are weighed against scores.
#[derive(Args, Debug)]
pub struct ChainArgs {
    /// Count the wrong labels of a sequence, or their fraction.
    #[arg(long, value_enum, default_value = "normalized", help_heading = "Problem")]
    pub hamming: Hamming,
    /// How the loss of a labeling is weighed against its score.
    #[arg(long, value_enum, default_value = "margin", help_heading = "Problem")]
    pub rescale: Rescale,
}

impl TaskOptions for ChainArgs {
    type Structure = Chain;
    const COMMAND: &'static str = "chain";
    const ABOUT: &'static str = "A label for each position of a sequence, by a first-order chain.";
    const REFUSES: &'static [(&'static str, &'static str)] = {
        const BALL: &str =
            "weights in a ball are for binary, regression, multiclass, multilabel and multioutput";
        const CSV: &str = "it is for csv files, and those have no sequences";
        &[
            ("ball", BALL),
            ("radius", BALL),
            ("mu", BALL),
            ("method", BALL),
            ("steps", BALL),
            ("q-norm", "it is for binary and regression"),
            ("label", CSV),
            ("categorical", CSV),
        ]
    };

    fn examples(verb: Verb) -> &'static str {
        match verb {
            Verb::Train => {
                "\
Examples:
  dualgap train chain TRAIN.txt --test TEST.txt -o tagger.dualgap
  dualgap train chain TRAIN.txt --features TEMPLATES --min-count 2 --average weighted --passes 10
  dualgap train chain letter.data.gz --train-folds 1-9 --test-folds 0 --witness -o m.dualgap"
            }
            Verb::Cv => {
                "\
Examples:
  dualgap cv chain TRAIN.txt --test TEST.txt --average weighted --passes 10 -o tagger.dualgap
  dualgap cv chain letter.data.gz --given-folds --train-folds 1-9 --test-folds 0"
            }
            Verb::Path => {
                "\
Examples:
  dualgap path chain TRAIN.txt --from 100/n --to 10/n --tolerance 0.05 --test TEST.txt -o FOLDER"
            }
        }
    }

    fn structure(&self) -> Result<Chain> {
        Ok(Chain::new(self.hamming.into()).rescaled(self.rescale.into()))
    }
}
