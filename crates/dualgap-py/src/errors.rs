//! Errors of the library as exceptions of Python.

use dualgap::{Error, Setting};
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::io;

/// Returns a message with keywords in the place of the settings that it names.
fn in_keywords(message: &str) -> String {
    Setting::ALL.into_iter().fold(message.to_string(), |message, setting| {
        let keyword = match setting {
            Setting::Lambda => "lam", // the other is a word of the language
            setting => setting.name(),
        };
        message.replace(&setting.to_string(), &format!("`{keyword}`"))
    })
}

/// Returns the exception of an error: what Python users expect of each kind, with the remedy in its message.
pub fn exception(error: Error) -> PyErr {
    let message = in_keywords(&match error.remedy() {
        Some(remedy) => format!("{error}: {remedy}"),
        None => error.to_string(),
    });
    match error {
        Error::File { source: Some(source), .. } if source.is::<io::Error>() => {
            match source.downcast_ref().map(io::Error::kind) {
                Some(io::ErrorKind::NotFound) => PyFileNotFoundError::new_err(message),
                Some(io::ErrorKind::PermissionDenied) => PyPermissionError::new_err(message),
                _ => PyOSError::new_err(message),
            }
        }
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Unsound { .. } | Error::Oracle { .. } | Error::Lacking { .. } => {
            PyRuntimeError::new_err(message)
        }
        _ => PyValueError::new_err(message),
    }
}

/// Results of the library as those of Python.
pub trait OrRaise<T> {
    /// Returns the value, or raises the exception of the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for dualgap::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(exception)
    }
}

impl<T> OrRaise<T> for Result<T, serde_json::Error> {
    fn or_raise(self) -> PyResult<T> {
        // Keywords become one line of JSON, which the user has not written: its columns say nothing.
        self.map_err(|error| {
            let message = error.to_string();
            let words = message.rsplit_once(" at line ").map_or(&*message, |(words, _)| words);
            PyValueError::new_err(words.to_string())
        })
    }
}
