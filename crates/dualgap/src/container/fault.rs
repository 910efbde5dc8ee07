//! What is wrong with the bytes of a sealed file.

use crate::{Error, Source};
use std::path::Path;

/// What is wrong with the bytes of a file, as the rest of a sentence that begins with its name, and the error behind it
/// if there is one.
///
/// ```
/// # use dualgap::container::Fault;
/// let fault = Fault::from("has no tensor `weights`");
/// let error = fault.in_file("a.model".as_ref(), "train it again");
/// assert_eq!(error.to_string(), "a.model: has no tensor `weights`");
/// ```
#[derive(Debug)]
pub struct Fault {
    message: String,
    source: Option<Source>,
}

impl Fault {
    /// A fault that another error has caused, whose words come at the end of the message.
    pub fn caused(message: &str, source: impl Into<Source>) -> Self {
        let source = source.into();
        Self { message: format!("{message}: {source}"), source: Some(source) }
    }

    /// Turns it into an error that names the file and what to do about it: what the error behind it says, if that has a
    /// remedy of its own.
    pub fn in_file(self, path: &Path, remedy: impl Into<String>) -> Error {
        let behind = self.source.as_ref().and_then(|source| source.downcast_ref::<Error>());
        let remedy = behind.and_then(Error::remedy).map_or_else(|| remedy.into(), String::from);
        let error = Error::file(path, self.message, remedy);
        match self.source {
            Some(source) => error.caused_by(source),
            None => error,
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self { message, source: None }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::from(message.to_string())
    }
}

/// Settings in a file are checked as those of a run are.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { message: error.to_string(), source: Some(Box::new(error)) }
    }
}
