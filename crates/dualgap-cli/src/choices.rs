//! The values of options with a fixed set of choices, and the library's values for them.

use clap::ValueEnum;
use dualgap::methods::subgradient;
use dualgap::{dual, structure};

/// An option's values, and the library's values they stand for.
macro_rules! choices {
    ($name:ident => $target:ty { $($(#[$meta:meta])* $variant:ident => $value:ident),+ $(,)? }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum $name {
            $($(#[$meta])* $variant),+
        }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice {
                    $($name::$variant => Self::$value),+
                }
            }
        }
    };
}

/// A file format by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One token a line, columns between white space or tabs, the label last
    Columns,
    /// label index:value index:value …
    Libsvm,
    /// A table with a label column
    Csv,
    /// Taskar's letter.data
    Letters,
    /// row column mark name:value name:value …, a blank line between graphs
    Edges,
    /// CRFsuite's attributes: a label, then name or name:value, between tabs
    Crfsuite,
}

choices!(Encoding => dualgap::data::Encoding {
    /// UTF-8
    #[value(alias = "utf-8")]
    Utf8 => Utf8,
    /// Latin-1, ISO 8859-1
    #[value(aliases = ["latin-1", "iso-8859-1"])]
    Latin1 => Latin1,
});

choices!(InputName => dualgap::task::InputForm {
    /// A sentence a line, which is split into words
    Text => Text,
    /// A token a line, its columns as in training, an empty line after each sentence
    Columns => Columns,
    /// An object a line with "tokens", words or lists of columns, or with "text"; an "id" comes back
    #[value(alias = "jsonl")]
    Json => Json,
});

choices!(OutputName => dualgap::task::OutputForm {
    /// A token a line, its label last, an empty line after each sentence
    Columns => Columns,
    /// An object a line with tokens and labels
    #[value(alias = "jsonl")]
    Json => Json,
    /// An object a line with the chunks that the labels make
    Spans => Spans,
});

choices!(SdcaOption => dualgap::structure::Choice {
    /// What is best: i
    Auto => I,
    /// The best dual variable there is
    I => I,
    /// The best on the way to where the loss's slope points
    Ii => II,
    /// A closed form on that way
    Iii => III,
    /// The same for the longest example
    Iv => IV,
    /// The same with 4L² for the square of that way, for losses that are not smooth
    IvLipschitz => IVLipschitz,
    /// A constant share of that way, for smooth losses
    V => V,
});

choices!(Scale => dualgap::data::Scaling {
    /// Columns as they are
    None => None,
    /// Divided by their largest magnitude
    Max => Max,
    /// Divided by their root mean square, zeros included
    Rms => Rms,
});

/// A loss of two classes by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BinaryLoss {
    /// max(0, 1 − m), with m the score times the class
    Hinge,
    /// The hinge with its corner rounded off
    SmoothHinge,
    /// max(0, 1 − m)²
    SquaredHinge,
    /// log(1 + e^−m), with probabilities
    Logistic,
}

/// A loss of several scores by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClassesLoss {
    /// The largest of cost plus score, less the score of the truth
    Hinge,
    /// The hinge with its corners rounded off
    SmoothHinge,
    /// The logarithm of the sum of e^score, less the score of the truth; with probabilities
    Softmax,
}

/// A loss of numbers by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RegressionLoss {
    /// Half the square of the difference
    Squared,
    /// The size of the difference
    Absolute,
    /// The size of the difference beyond epsilon
    EpsilonInsensitive,
    /// Squared near the target, absolute far from it
    Huber,
}

choices!(OverName => dualgap::task::Over {
    /// λ, of the squared norm
    Lambda => Lambda,
    /// σ, of the l1 norm
    L1 => L1,
    /// The radius of a ball
    Radius => Radius,
});

/// A ball by its norm, or the simplex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BallName {
    /// The sum of the sizes of all weights: few of them are not zero
    L1,
    /// Nonnegative weights that add up to the radius: mixtures
    Simplex,
    /// The sum of the singular values: weights of low rank
    Trace,
}

choices!(CentreName => dualgap::structure::Centring {
    /// Nothing
    None => None,
    /// The mean of the ratings
    Mean => Mean,
    /// The mean, and what each user and each item is beyond it
    Effects => Effects,
});

/// The loss of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChainLoss {
    /// The structural hinge
    Hinge,
    /// The log-loss: a conditional random field, whose models have probabilities
    #[value(alias = "crf")]
    Log,
}

/// Which labelings are no outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Forbid {
    /// Nothing
    Nothing,
    /// What is illegal in the scheme of the labels
    Illegal,
}

choices!(Hamming => structure::Hamming {
    /// The number of wrong labels
    Plain => Plain,
    /// The fraction of wrong labels
    Normalized => Normalized,
});

/// Whether something is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes
    On,
    /// No
    Off,
}

choices!(Rescale => structure::Rescaling {
    /// A margin as large as the loss: loss − margin
    Margin => Margin,
    /// A margin of one, and what is missing weighed by the loss: loss × (1 − margin)
    Slack => Slack,
});

/// A method by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Solver {
    /// What suits the problem, chosen as the run goes on; nothing to tune
    Auto,
    /// One example a step as in the papers (Algorithm 4), but for the options given
    Bcfw,
    /// Frank-Wolfe: all examples a step (Algorithm 2); also in a ball
    #[value(alias = "frank-wolfe")]
    Fw,
    /// Newton's method, for every loss of rows: binary, regression and classes
    Newton,
    /// The same, its equations by Cholesky
    NewtonCholesky,
    /// The same, its equations by conjugate gradients
    NewtonCg,
    /// Coordinate descent, for smooth losses under --l1: binary, regression and classes
    Coordinates,
    /// Stochastic subgradients, with the steps of Pegasos
    Ssg,
    /// Subgradients of all examples
    Subgradient,
    /// Cutting planes with one slack variable, the bundle method BMRM
    #[value(alias = "bmrm")]
    CuttingPlane,
    /// Cutting planes with a slack variable for every example
    NSlack,
    /// Online exponentiated gradient: classes and chains
    Eg,
    /// In a ball: primal-dual block Frank-Wolfe as in its paper
    Pdbfw,
    /// In a ball: accelerated projected gradient with restarts
    Apg,
    /// In the l1 ball and the simplex: Frank-Wolfe with steps away from corners
    Away,
    /// In the l1 ball and the simplex: Frank-Wolfe from corner to corner
    Pairwise,
    /// In a ball: projected stochastic variance reduced gradient
    Svrg,
    /// In a ball: stochastic conditional gradient sliding
    Scgs,
    /// In a ball: the same with variance reduction
    Storc,
    /// In a ball: Frank-Wolfe toward several corners at once
    BlockFrankWolfe,
    /// In the trace ball: Frank-Wolfe with gradients of growing samples
    StochasticFrankWolfe,
}

impl Solver {
    /// Returns its name.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }
}

choices!(Direction => dual::Direction {
    /// Pairwise, where the task is structural and nothing is averaged
    Auto => Auto,
    /// From all corners alike to the best one: Frank-Wolfe
    Toward => Toward,
    /// Toward the best corner, or away from the worst that has weight
    Away => Away,
    /// From the worst corner that has weight to the best one
    Pairwise => Pairwise,
});

choices!(Cache => dual::Cache {
    /// As long as that pays by counted work
    Auto => Auto,
    /// After every pass with the oracle, once at least
    On => On,
    /// Never
    Off => Off,
});

choices!(Step => dual::Step {
    /// To the top of the dual along the segment
    LineSearch => LineSearch,
    /// 2n/(k + 2n)
    Predefined => Predefined,
});

choices!(Sampling => dual::Sampling {
    /// A new random order for every pass; with shrinking, large data are chunked
    Permuted => Permuted,
    /// Each step draws an example
    Uniform => Uniform,
    /// In the order of the file
    Cyclic => Cyclic,
    /// Each step draws an example, half of them by their length
    Importance => Importance,
    /// Between permuted passes, in proportion to the gaps as they were last seen
    Gap => Gap,
    /// Runs of neighbours in a new random order for every pass
    Chunked => Chunked,
});

choices!(Acceleration => dual::Acceleration {
    /// Where the problem is badly conditioned, and as long as it pays
    Auto => Auto,
    /// From the start, unless the problem is too well conditioned to gain
    On => On,
    /// Never
    Off => Off,
});

/// An intercept's kind by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Intercept {
    /// Without penalty: binary and regression
    Free,
    /// Penalised like any other weight
    Penalised,
}

/// An average by its name. Which there are depends on the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Average {
    /// The last iterates themselves
    None,
    /// The mean of all of them, or of those after --average-after
    Uniform,
    /// Weight t on iterate t
    Weighted,
    /// The mean since the last step that was a power of two
    Doubling,
    /// The mean of the last iterates, this share of all
    Suffix(f64),
    /// One of the iterates since the last step that was a power of two, or of those after --average-after, each as likely
    Random,
}

impl Average {
    /// Returns the average of the engine, given the number of steps that are left out, or `None` if it does not have it.
    pub fn of_engine(self, after: Option<u64>) -> Option<dual::Average> {
        match (self, after) {
            (Self::None, _) => Some(dual::Average::None),
            (Self::Uniform, after) => Some(dual::Average::After(after.unwrap_or(0))),
            (Self::Weighted, _) => Some(dual::Average::Weighted),
            (Self::Doubling, _) => Some(dual::Average::Suffix),
            (Self::Random, None) => Some(dual::Average::Random),
            (Self::Random, Some(steps)) => Some(dual::Average::RandomAfter(steps)),
            (Self::Suffix(_), _) => None,
        }
    }

    /// Returns its name.
    pub fn name(self) -> String {
        match self {
            Self::None => "none".into(),
            Self::Uniform => "uniform".into(),
            Self::Weighted => "weighted".into(),
            Self::Doubling => "suffix".into(),
            Self::Suffix(fraction) => format!("suffix:{fraction}"),
            Self::Random => "random".into(),
        }
    }

    /// Returns the average of the subgradient methods, or `None` if they do not have it.
    pub fn of_subgradient(self) -> Option<subgradient::SubgradientAverage> {
        match self {
            Self::None => Some(subgradient::SubgradientAverage::None),
            Self::Uniform => Some(subgradient::SubgradientAverage::Uniform),
            Self::Weighted => Some(subgradient::SubgradientAverage::Weighted),
            Self::Doubling => Some(subgradient::SubgradientAverage::Doubling),
            Self::Suffix(fraction) => Some(subgradient::SubgradientAverage::Suffix { fraction }),
            Self::Random => None,
        }
    }
}
