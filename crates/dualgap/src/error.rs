//! What can go wrong, from the user's side: one type for the whole project.

use std::path::Path;

/// What every fallible function of the library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error behind an [`Error`]: of the system, of a parser, of a file format.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong, and, through [`Error::remedy`], what to do about it.
///
/// A message contains the words of the error behind it, which [`source`](std::error::Error::source) returns for those who
/// look for more than words, such as its kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a data file is not what its format asks for.
    #[error("{file}:{line}: {message}")]
    #[non_exhaustive]
    Line {
        /// The file as the user named it.
        file: String,
        /// Counted from one.
        line: u64,
        /// What is wrong there.
        message: String,
        /// What to do about it.
        remedy: String,
        /// The error behind it, if there is one.
        source: Option<Source>,
    },
    /// A file as a whole cannot be used.
    #[error("{file}: {message}")]
    #[non_exhaustive]
    File {
        /// The file as the user named it.
        file: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        remedy: String,
        /// The error behind it, if there is one.
        source: Option<Source>,
    },
    /// A model file is of a structure that is not registered.
    #[error("{file}: is a model of the structure `{structure}`, which this program does not know")]
    UnknownStructure {
        /// The file as the user named it.
        file: String,
        /// The name of the structure.
        structure: String,
    },
    /// A setting is out of range, or two settings contradict each other.
    #[error("{message}")]
    #[non_exhaustive]
    Setting {
        /// Which setting, and what it must be.
        message: String,
        /// The error behind it, if there is one.
        source: Option<Source>,
    },
    /// More memory is needed than there is.
    #[error("not enough memory: {message}")]
    #[non_exhaustive]
    Memory {
        /// What needs it, and how much.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// This build was made without a Cargo feature that is needed.
    #[error("{message}")]
    #[non_exhaustive]
    Lacking {
        /// What it does not have.
        message: String,
        /// The feature to build with.
        remedy: String,
    },
    /// An oracle broke its contract.
    #[error("example {example}: the oracle contradicts itself: {message}")]
    Oracle {
        /// Which example, counted from zero.
        example: usize,
        /// How.
        message: String,
    },
    /// A dual point that claims to be a witness is not feasible.
    #[error("example {example}: the witness is not feasible: {message}")]
    Witness {
        /// Which example, counted from zero.
        example: usize,
        /// How it fails.
        message: String,
    },
    /// A model file's certificate does not hold for the data at hand.
    #[error("refused: {message}")]
    #[non_exhaustive]
    Refused {
        /// What does not agree.
        message: String,
        /// What to do about it.
        remedy: String,
        /// The error behind it, if there is one.
        source: Option<Source>,
    },
    /// The certificate cannot be true: a negative gap beyond rounding, or a number that is none.
    #[error("no certificate: {message}")]
    Unsound {
        /// What was found.
        message: String,
    },
}

/// A setting that messages of the library name. Each interface to the library has a spelling of its own for it: a field
/// here, an option of the program. Where an interface shows a message, it puts its spelling in the place of this one.
///
/// ```
/// # use dualgap::Setting;
/// assert_eq!(Setting::MinCount.to_string(), "the setting `min_count`");
/// let message = format!("lower {}", Setting::MinCount);
/// let spelt = message.replace(&Setting::MinCount.to_string(), "--min-count");
/// assert_eq!(spelt, "lower --min-count");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Which ball the weights are in.
    Ball,
    /// How many labels of every position a beam follows.
    Beam,
    /// The columns of a csv file whose cells are names.
    Categorical,
    /// The columns of a column file that are meant.
    Columns,
    /// The constants of primal-dual block Frank-Wolfe.
    Constants,
    /// How the bytes of a column file become characters.
    Encoding,
    /// The format of a data file.
    Format,
    /// Whether predictions have a constant term.
    Intercept,
    /// The kernel on the inputs.
    Kernel,
    /// The strength of the l1 penalty, σ.
    L1,
    /// The column of a csv file that is to be predicted, or several of them.
    Label,
    /// The strength of the regularisation, λ.
    Lambda,
    /// What a wrong or narrow prediction costs.
    Loss,
    /// How often a feature must occur.
    MinCount,
    /// Which option of the Prox-SDCA paper chooses steps.
    Option,
    /// Whether probabilities are written behind predictions.
    Probabilities,
    /// The radius of the ball.
    Radius,
    /// How the loss of an output is weighed against its score.
    Rescale,
    /// The checkpoint that a run goes on from.
    Resume,
    /// Where a conversion is saved.
    SaveMap,
    /// What columns are divided by.
    Scale,
    /// Whether scores are written behind predictions.
    Scores,
    /// The method that trains.
    Solver,
    /// Whether a model is saved with its dual point.
    Witness,
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::Ball,
        Self::Beam,
        Self::Categorical,
        Self::Columns,
        Self::Constants,
        Self::Encoding,
        Self::Format,
        Self::Intercept,
        Self::Kernel,
        Self::L1,
        Self::Label,
        Self::Lambda,
        Self::Loss,
        Self::MinCount,
        Self::Option,
        Self::Probabilities,
        Self::Radius,
        Self::Rescale,
        Self::Resume,
        Self::SaveMap,
        Self::Scale,
        Self::Scores,
        Self::Solver,
        Self::Witness,
    ];

    /// Its name, in lower case with underscores.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ball => "ball",
            Self::Beam => "beam",
            Self::Categorical => "categorical",
            Self::Columns => "columns",
            Self::Constants => "constants",
            Self::Encoding => "encoding",
            Self::Format => "format",
            Self::Intercept => "intercept",
            Self::Kernel => "kernel",
            Self::L1 => "l1",
            Self::Label => "label",
            Self::Lambda => "lambda",
            Self::Loss => "loss",
            Self::MinCount => "min_count",
            Self::Option => "option",
            Self::Probabilities => "probabilities",
            Self::Radius => "radius",
            Self::Rescale => "rescale",
            Self::Resume => "resume",
            Self::SaveMap => "save_map",
            Self::Scale => "scale",
            Self::Scores => "scores",
            Self::Solver => "solver",
            Self::Witness => "witness",
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the setting `{}`", self.name())
    }
}

/// A number of things, as a person would say it.
pub(crate) fn count_of(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

impl Error {
    /// A bad setting.
    pub fn setting(message: impl Into<String>) -> Self {
        Self::Setting { message: message.into(), source: None }
    }

    /// A file that cannot be used.
    pub fn file(file: &Path, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::in_file(file.display().to_string(), message, remedy)
    }

    /// [`file`](Self::file) for one that is known by a name, such as standard input.
    pub(crate) fn in_file(
        file: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::File {
            file: file.into(),
            message: message.into(),
            remedy: remedy.into(),
            source: None,
        }
    }

    /// A line of a file that is not what it should be.
    pub(crate) fn line(
        file: impl Into<String>,
        line: u64,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Line {
            file: file.into(),
            line,
            message: message.into(),
            remedy: remedy.into(),
            source: None,
        }
    }

    /// Adds the error behind this one, where it is one of a line, a file or a setting, or refuses a model.
    ///
    /// ```
    /// # use dualgap::Error;
    /// # use std::error::Error as _;
    /// let missing = std::fs::read("no/such/file").unwrap_err();
    /// let error = Error::file("a.svm".as_ref(), "cannot be read", "check the path").caused_by(missing);
    /// let source = error.source().unwrap().downcast_ref::<std::io::Error>().unwrap();
    /// assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    /// ```
    #[must_use]
    pub fn caused_by(mut self, error: impl Into<Source>) -> Self {
        if let Self::Line { source, .. }
        | Self::File { source, .. }
        | Self::Setting { source, .. }
        | Self::Refused { source, .. } = &mut self
        {
            *source = Some(error.into());
        }
        self
    }

    /// What the user can do about it, where there is more to say than the message does.
    ///
    /// ```
    /// # use dualgap::Error;
    /// let error = Error::file("a.svm".as_ref(), "no such file", "check the path");
    /// assert_eq!(error.to_string(), "a.svm: no such file");
    /// assert_eq!(error.remedy(), Some("check the path"));
    /// ```
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Line { remedy, .. }
            | Self::File { remedy, .. }
            | Self::Memory { remedy, .. }
            | Self::Lacking { remedy, .. }
            | Self::Refused { remedy, .. } => Some(remedy),
            Self::Oracle { .. } => Some(
                "an oracle's bound must never be below the score of any output, \
                 and its loss must be 0 at the truth and nowhere negative",
            ),
            Self::UnknownStructure { .. } => {
                Some("use the program that trained it, or register its structure")
            }
            Self::Setting { .. } | Self::Witness { .. } | Self::Unsound { .. } => None,
        }
    }
}
