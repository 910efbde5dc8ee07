//! The error for a file that claims what is not so.

use crate::Error;

/// Returns the error for a file with a false claim.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::Refused {
        message: message.into(),
        remedy: "the certificate is worth nothing for this file and these data".into(),
        source: None,
    }
}
