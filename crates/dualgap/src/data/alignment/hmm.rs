//! Posteriors of the links of a sentence pair: each word of the target sentence comes from one word of the source
//! sentence, or from none.
//!
//! Vogel's model: the places a_1 … a_J of the source words are a Markov chain that depends on jumps only,
//!
//! ```text
//! p(t, a | s) = Π_j (1 − p₀) p(a_j − a_{j−1}) p(t_j | s_{a_j}),      or p₀ p(t_j | nothing), and then the place stays
//! ```
//!
//! In IBM Model 1 places are independent; here they are drawn with odds that fall with the distance from the diagonal.

use std::array::from_fn;

/// Jumps farther than this share one probability: text for more is not there.
const WIDEST: usize = 6;

/// The number of different jumps, from −WIDEST to WIDEST.
pub(super) const JUMPS: usize = 2 * WIDEST + 1;

/// The number of different first places.
pub(super) const STARTS: usize = WIDEST + 1;

/// About so many different jumps share the probability of the farthest in sentences of common length.
const SHARED: f64 = 4.0;

/// p₀, the probability that a word has no partner. Of 0.1, 0.2 and 0.3 the first gave the fewest errors in
/// cross-validation on the labelled Hansard pairs that are not for testing, by a few tenths of a percent.
const UNLINKED: f64 = 0.1;

/// How fast the odds of a place fall with its relative distance from the diagonal in Model 1: at a quarter of the
/// sentence they are a half.
const SPREAD: f64 = 4.0;

/// The odds of jumps and of first places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Jumps {
    pub moves: [f64; JUMPS],
    pub starts: [f64; STARTS],
}

impl Default for Jumps {
    /// Before anything is known the next place is the likeliest.
    fn default() -> Self {
        let odds = |distance: f64| 1.0 / (1.0 + distance * distance);
        Self {
            moves: from_fn(|d| odds(d as f64 - WIDEST as f64 - 1.0)),
            starts: from_fn(|d| odds(d as f64)),
        }
    }
}

fn jump(from: usize, to: usize) -> usize {
    (to + WIDEST).saturating_sub(from).min(2 * WIDEST)
}

impl Jumps {
    /// Returns jumps that were counted so often, each as if it had been met a little more often than it was.
    pub(super) fn counted(counts: &Self) -> Self {
        // A jump that the text happens not to have stays possible; beside counts that grow with the text a tenth soon weighs nothing.
        const MORE: f64 = 0.1;
        let mut jumps = counts.clone();
        jumps.moves.iter_mut().chain(&mut jumps.starts).for_each(|count| *count += MORE);
        for end in [0, JUMPS - 1] {
            jumps.moves[end] /= SHARED;
        }
        jumps.starts[STARTS - 1] /= SHARED;
        jumps
    }

    /// No jumps at all, to count them.
    pub(super) fn none() -> Self {
        Self { moves: [0.0; JUMPS], starts: [0.0; STARTS] }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let pairs = self.moves.iter_mut().zip(&other.moves);
        pairs.chain(self.starts.iter_mut().zip(&other.starts)).for_each(|(sum, x)| *sum += x);
    }

    /// Returns the probabilities of the first place, and of each place after each other, row by row.
    fn within(&self, places: usize) -> (Vec<f64>, Vec<f64>) {
        let normalised = |mut odds: Vec<f64>| {
            let total: f64 = odds.iter().sum();
            odds.iter_mut().for_each(|x| *x /= total);
            odds
        };
        let starts = normalised((0..places).map(|i| self.starts[i.min(WIDEST)]).collect());
        let row = |from| normalised((0..places).map(|to| self.moves[jump(from, to)]).collect());
        (starts, (0..places).flat_map(row).collect())
    }
}

/// The probabilities of target words: of each, given each source word, and given none.
#[derive(Debug, Default)]
pub(super) struct Emissions {
    /// The number of source words.
    pub sources: usize,
    /// Target by target; all of them positive.
    pub linked: Vec<f64>,
    pub unlinked: Vec<f64>,
}

/// The posterior of every link, target by target, and that of having none.
#[derive(Debug, Default)]
pub(super) struct Posterior {
    pub links: Vec<f64>,
    pub unlinked: Vec<f64>,
}

/// Returns the posteriors of Vogel's model, by the forward-backward algorithm, and adds the expected jumps to `counts`.
pub(super) fn chain(jumps: &Jumps, given: &Emissions, counts: Option<&mut Jumps>) -> Posterior {
    let (n, targets) = (given.sources, given.unlinked.len());
    if n == 0 {
        return Posterior { links: Vec::new(), unlinked: vec![1.0; targets] };
    }
    let (starts, moves) = jumps.within(n);
    let linked = |j: usize, i: usize| (1.0 - UNLINKED) * given.linked[j * n + i];
    let unlinked = |j: usize| UNLINKED * given.unlinked[j];
    // Forward, scaled to a sum of one at every target: the chain is at i, and has emitted there or nowhere.
    let (mut there, mut nowhere) = (vec![0.0; targets * n], vec![0.0; targets * n]);
    let mut scales = vec![0.0; targets];
    let mut before = starts;
    for j in 0..targets {
        let (there, nowhere) = (&mut there[j * n..][..n], &mut nowhere[j * n..][..n]);
        if j == 0 {
            there.copy_from_slice(&before);
        } else {
            for (&mass, row) in before.iter().zip(moves.chunks_exact(n)) {
                there.iter_mut().zip(row).for_each(|(sum, p)| *sum += mass * p);
            }
        }
        let mut scale = 0.0;
        for i in 0..n {
            there[i] *= linked(j, i);
            nowhere[i] = before[i] * unlinked(j);
            scale += there[i] + nowhere[i];
        }
        for i in 0..n {
            there[i] /= scale;
            nowhere[i] /= scale;
            before[i] = there[i] + nowhere[i];
        }
        scales[j] = scale;
    }
    backward(&moves, &there, &nowhere, &scales, given, counts)
}

/// The second half of [`chain`].
fn backward(
    moves: &[f64],
    there: &[f64],
    nowhere: &[f64],
    scales: &[f64],
    given: &Emissions,
    mut counts: Option<&mut Jumps>,
) -> Posterior {
    let (n, targets) = (given.sources, scales.len());
    let mut posterior = Posterior { links: vec![0.0; targets * n], unlinked: vec![0.0; targets] };
    // What follows a target, given where the chain is, relative to its probability by all that came before.
    let (mut after, mut arriving) = (vec![1.0; n], vec![0.0; n]);
    for j in (0..targets).rev() {
        for i in 0..n {
            posterior.links[j * n + i] = there[j * n + i] * after[i];
            posterior.unlinked[j] += nowhere[j * n + i] * after[i];
        }
        if j == 0 {
            break;
        }
        for i in 0..n {
            arriving[i] = (1.0 - UNLINKED) * given.linked[j * n + i] * after[i] / scales[j];
        }
        let staying = UNLINKED * given.unlinked[j] / scales[j];
        for (i, row) in moves.chunks_exact(n).enumerate() {
            let at = (j - 1) * n + i;
            let mass = there[at] + nowhere[at];
            let mut sum = 0.0;
            for (to, (p, x)) in row.iter().zip(&arriving).enumerate() {
                let step = p * x;
                sum += step;
                if let Some(counts) = counts.as_deref_mut() {
                    counts.moves[jump(i, to)] += mass * step;
                }
            }
            after[i] = sum + staying * after[i];
        }
    }
    if let Some(counts) = counts {
        let first = posterior.links.iter().take(n).enumerate();
        first.for_each(|(i, p)| counts.starts[i.min(WIDEST)] += p);
    }
    posterior
}

/// Returns the posteriors of Model 1 with odds that favour the diagonal.
pub(super) fn independent(given: &Emissions) -> Posterior {
    let (n, targets) = (given.sources, given.unlinked.len());
    let mut posterior = Posterior { links: vec![0.0; targets * n], unlinked: vec![1.0; targets] };
    let place = |i: usize, of: usize| (i as f64 + 0.5) / of as f64;
    for j in 0..targets {
        let links = &mut posterior.links[j * n..][..n];
        let mut odds = 0.0;
        for (i, link) in links.iter_mut().enumerate() {
            let far = SPREAD * (place(i, n) - place(j, targets));
            *link = 1.0 / (1.0 + far * far);
            odds += *link;
        }
        let nothing = UNLINKED * given.unlinked[j];
        let mut total = nothing;
        for (i, link) in links.iter_mut().enumerate() {
            *link *= (1.0 - UNLINKED) / odds * given.linked[j * n + i];
            total += *link;
        }
        links.iter_mut().for_each(|link| *link /= total);
        posterior.unlinked[j] = nothing / total;
    }
    posterior
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sums over all sequences of places, with and without a link at each.
    fn brute_force(jumps: &Jumps, given: &Emissions) -> (Posterior, Jumps) {
        let (n, targets) = (given.sources, given.unlinked.len());
        let (starts, moves) = jumps.within(n);
        let mut posterior =
            Posterior { links: vec![0.0; targets * n], unlinked: vec![0.0; targets] };
        let (mut counts, mut total) = (Jumps::none(), 0.0);
        for code in 0..(2 * n).pow(targets as u32) {
            let states: Vec<(usize, bool)> = (0..targets)
                .map(|j| code / (2 * n).pow(j as u32) % (2 * n))
                .map(|s| (s % n, s < n))
                .collect();
            let mut p = 1.0;
            for (j, &(i, is_linked)) in states.iter().enumerate() {
                let last = j.checked_sub(1).map(|j| states[j].0);
                p *= match (is_linked, last) {
                    (true, None) => starts[i] * (1.0 - UNLINKED) * given.linked[i],
                    (true, Some(last)) => {
                        moves[last * n + i] * (1.0 - UNLINKED) * given.linked[j * n + i]
                    }
                    (false, None) => starts[i] * UNLINKED * given.unlinked[0],
                    (false, Some(last)) => f64::from(last == i) * UNLINKED * given.unlinked[j],
                };
            }
            total += p;
            for (j, &(i, is_linked)) in states.iter().enumerate() {
                if is_linked {
                    posterior.links[j * n + i] += p;
                    match j {
                        0 => counts.starts[i.min(WIDEST)] += p,
                        j => counts.moves[jump(states[j - 1].0, i)] += p,
                    }
                } else {
                    posterior.unlinked[j] += p;
                }
            }
        }
        let all = posterior.links.iter_mut().chain(&mut posterior.unlinked);
        all.chain(&mut counts.moves).chain(&mut counts.starts).for_each(|x| *x /= total);
        (posterior, counts)
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn posteriors_and_jumps_are_the_sums_over_all_alignments(
            sources in 1_usize..4, targets in 0_usize..5, numbers in prop::collection::vec(1e-6_f64..1.0, 20),
        ) {
            let linked = numbers[..sources * targets].to_vec();
            let given = Emissions { sources, linked, unlinked: numbers[15..15 + targets].to_vec() };
            let jumps = Jumps::default();
            let mut counts = Jumps::none();
            let found = chain(&jumps, &given, Some(&mut counts));
            let (expected, expected_counts) = brute_force(&jumps, &given);
            prop_assert!(close(&found.links, &expected.links));
            prop_assert!(close(&found.unlinked, &expected.unlinked));
            if targets > 0 {
                prop_assert!(close(&counts.moves, &expected_counts.moves));
                prop_assert!(close(&counts.starts, &expected_counts.starts));
            }
            let found = independent(&given);
            for j in 0..targets {
                let sum: f64 = found.links[j * sources..][..sources].iter().sum();
                prop_assert!((sum + found.unlinked[j] - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn far_jumps_are_one_kind_and_a_sentence_without_words_links_nothing() {
        assert_eq!(
            [jump(0, 0), jump(3, 4), jump(0, 40), jump(40, 0)],
            [WIDEST, WIDEST + 1, 2 * WIDEST, 0]
        );
        let given = Emissions { sources: 0, linked: Vec::new(), unlinked: vec![0.5; 2] };
        for found in [chain(&Jumps::default(), &given, None), independent(&given)] {
            assert_eq!((found.links.len(), found.unlinked), (0, vec![1.0; 2]));
        }
    }
}
