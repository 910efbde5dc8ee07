//! The fingerprint of data, computed once.

use std::sync::OnceLock;

/// A fingerprint that is computed when it is first needed. Data that change get a new one.
#[derive(Clone, Debug, Default)]
pub(super) struct OnePrint(OnceLock<String>);

impl OnePrint {
    /// Returns the fingerprint, by `compute` if it is not known yet.
    pub fn or(&self, compute: impl FnOnce() -> String) -> String {
        self.0.get_or_init(compute).clone()
    }
}

/// Equal data have equal fingerprints, computed or not.
impl PartialEq for OnePrint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
