//! What held-out data have chosen, in a row of the report and as JSON.

use crate::words::number;
use dualgap::task::{Chosen, Edge, Over};
use serde::Serialize;

/// The object `auto` of a run whose λ, σ or radius was chosen by held-out data.
#[derive(Serialize)]
pub struct AutoJson {
    over: Over,
    chosen: f64,
    /// Into how many folds the examples were dealt, by this seed, and how many of them were held out in turn.
    folds: usize,
    held_out: usize,
    seed: u64,
    candidates: Vec<Tried>,
    /// Whether the choice is the `largest` or the `smallest` of those tried.
    edge: Option<Edge>,
}

/// A number that was tried.
#[derive(Serialize)]
struct Tried {
    value: f64,
    /// On held-out examples, in the mean; null if it is not finite.
    error: Option<f64>,
    /// The F1 of chunks, by which they are judged; null for other labels.
    f1: Option<f64>,
    /// Of the mean; null if one fold was held out.
    standard_error: Option<f64>,
    reached: bool,
}

impl From<&Chosen> for AutoJson {
    fn from(chosen: &Chosen) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        let candidates = &chosen.found.candidates;
        let tried = candidates.iter().map(|candidate| Tried {
            value: candidate.value,
            error: finite(candidate.error()),
            f1: candidate.f1(),
            standard_error: finite(candidate.standard_error()),
            reached: candidate.is_reached(),
        });
        Self {
            over: chosen.found.over,
            chosen: chosen.value,
            folds: chosen.folds,
            held_out: candidates[0].trials.len(),
            seed: chosen.seed,
            candidates: tried.collect(),
            edge: chosen.found.edge(),
        }
    }
}

/// Returns the row of a report about the choice.
pub fn chosen_row(chosen: &Chosen) -> (&'static str, String) {
    let found = &chosen.found;
    let (first, last) = (&found.candidates[0], &found.candidates[found.candidates.len() - 1]);
    let best = &found.candidates[found.best()];
    let by = match first.trials.len() {
        1 => format!("a held-out part of {}", chosen.folds),
        _ => format!("{} folds", chosen.folds),
    };
    let beyond = match found.edge() {
        None => "",
        Some(Edge::Largest) => "; the largest of them, so a larger one may be better",
        Some(Edge::Smallest) => "; the smallest of them, so a smaller one may be better",
    };
    let judged = match best.f1() {
        Some(f1) => format!("F1 {:.2}", 100.0 * f1),
        None => format!("error {}", number(best.error())),
    };
    let told = format!(
        "{} {}, with {judged} on {by} the best of {} from {} to {}{beyond}",
        found.over.name(),
        number(chosen.value),
        found.candidates.len(),
        number(first.value),
        number(last.value)
    );
    ("auto", told)
}
