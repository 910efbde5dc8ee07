//! Several outputs for one input, the best first.

/// One of the best outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<O> {
    /// The output.
    pub output: O,
    /// ⟨w, φ(x, y)⟩.
    pub score: f64,
    /// p(y|x), if the loss has probabilities.
    pub probability: Option<f64>,
}

impl<O> Ranked<O> {
    /// Returns by how much an output is ahead of all others: its score less the best of the other scores, which is infinite if there is
    /// no other. The outputs are in order, and two or more wherever there are so many.
    ///
    /// ```
    /// use dualgap::structure::Ranked;
    /// let of = |score: f64| Ranked { output: (), score, probability: None };
    /// let ranked = [of(3.0), of(2.5), of(1.0)];
    /// assert_eq!([Ranked::margin(&ranked, 0), Ranked::margin(&ranked, 2)], [0.5, -2.0]);
    /// ```
    pub fn margin(ranked: &[Self], k: usize) -> f64 {
        let other = ranked.get(usize::from(k == 0));
        other.map_or(f64::INFINITY, |other| ranked[k].score - other.score)
    }
}
