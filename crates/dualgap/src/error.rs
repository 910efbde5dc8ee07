//! What can go wrong, from the user's side: one type for the whole project.

use std::path::Path;

/// What every fallible function of the library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and, through [`Error::remedy`], what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A line of a data file is not what its format asks for.
    #[error("{file}:{line}: {message}")]
    Line {
        /// The file as the user named it.
        file: String,
        /// Counted from one.
        line: u64,
        /// What is wrong there.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// A file as a whole cannot be used.
    #[error("{file}: {message}")]
    File {
        /// The file as the user named it.
        file: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        remedy: String,
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
    Setting {
        /// Which setting, and what it must be.
        message: String,
    },
    /// More memory is needed than there is.
    #[error("not enough memory: {message}")]
    Memory {
        /// What needs it, and how much.
        message: String,
        /// What to do about it.
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
    Refused {
        /// What does not agree.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// The certificate cannot be true: a negative gap beyond rounding, or a number that is none.
    #[error("no certificate: {message}")]
    Unsound {
        /// What was found.
        message: String,
    },
}

/// A number of things, as a person would say it.
pub(crate) fn count_of(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

impl Error {
    /// A bad setting.
    pub fn setting(message: impl Into<String>) -> Self {
        Self::Setting { message: message.into() }
    }

    /// A file that cannot be used.
    pub fn file(file: &Path, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::File {
            file: file.display().to_string(),
            message: message.into(),
            remedy: remedy.into(),
        }
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
