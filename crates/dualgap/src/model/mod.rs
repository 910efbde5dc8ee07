//! Fitted models.
