//! How the loss of an output and its score make the hinge of an example.

use serde::{Deserialize, Serialize};

/// How the structural hinge weighs the loss of an output against its score. With ψ(y) = φ(x, truth) − φ(x, y),
///
/// ```text
/// margin   max_y  L(y) − ⟨w, ψ(y)⟩
/// slack    max_y  L(y) (1 − ⟨w, ψ(y)⟩)
/// ```
///
/// Margin rescaling asks for a margin as large as the loss, slack rescaling for a margin of one, and it weighs what is
/// missing by the loss: an output that costs little never dominates one that costs much. With losses of 0 and 1 both are
/// the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rescaling {
    /// The loss is the margin.
    #[default]
    Margin,
    /// The loss is the weight of what is missing of a margin of one.
    Slack,
}

impl Rescaling {
    /// Whether the loss is the margin; model files leave this default out.
    pub fn is_margin(&self) -> bool {
        *self == Self::Margin
    }
}
