//! The sums and the step of softmax, four classes at a time.
//!
//! A step of the dual goes to the β that maximises ⟨β, s⟩ − Σ β log β − (q/2)‖β − at‖². There, for every class,
//!
//! ```text
//! log β_j + qβ_j = s_j + q·at_j − μ        with μ such that the β_j add up to one
//! ```
//!
//! Newton's method goes for all of these equations at once, in t = log β and μ. It has no safeguard; where it fails, a safeguarded
//! one in μ alone takes over.

use crate::linalg::elementary::{exp_of_negative, ln};
use crate::linalg::kernels::{argmax, exp_below};
use multiversion::multiversion;

/// The classes that are computed at once: a vector register has four numbers.
const LANES: usize = 4;

/// Newton's method squares its error: after a step of this size, far less is left than the next visit changes. To go on to 1e-8 takes
/// half a round more, of four to five.
const CLOSE: f64 = 1e-5;

/// For steps of at most this size a short series is the exponential of their weights' change.
const SHORT: f64 = 0.125;

/// Classes whose scores are this and q below the highest fill up the last lanes. Because μ is at most q below the highest score, they have
/// a weight of at most 1e-44: nothing beside one, and a normal number where q is not large. Products of others take a hundred cycles.
const FAR: f64 = 100.0;

/// Weights below this one are zero: the smallest exponentials are not exact.
const LEAST: f64 = 1e-300;

/// Replaces β by the maximiser.
pub fn step(scores: &[f64], at: &[f64], q: f64, beta: &mut Vec<f64>) {
    if !newton(scores, at, q, beta) {
        bounded(scores, at, q, beta);
    }
    let sum: f64 = beta.iter().sum();
    beta.iter_mut().for_each(|b| *b = if *b < LEAST { 0.0 } else { *b / sum });
}

/// Replaces the scores by the distribution that is proportional to their exponentials; returns the logarithm of the sum of these.
pub fn distribution(scores: &mut [f64]) -> f64 {
    let (_, top) = argmax(scores.iter().copied());
    exp_below(top, scores);
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|b| *b = if *b < LEAST { 0.0 } else { *b / sum });
    top + sum.ln()
}

/// Returns Σ e^(s − top), for scores of at most `top`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn sum_below(top: f64, scores: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for chunk in scores.chunks(2 * LANES) {
        let mut powers = [0.0; 2 * LANES];
        powers.fill(-FAR);
        powers.iter_mut().zip(chunk).for_each(|(power, s)| *power = s - top);
        powers.iter_mut().for_each(|power| *power = exp_of_negative(*power));
        let (low, high) = powers.split_at(LANES);
        sums.iter_mut().zip(low).zip(high).for_each(|((sum, low), high)| *sum += low + high);
    }
    sums.iter().sum()
}

/// Returns Σ β log β and Σ |β log β|; weights that are no normal numbers count as zero.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn entropy(beta: &[[f64; LANES]]) -> (f64, f64) {
    let (mut values, mut magnitudes) = ([0.0; LANES], [0.0; LANES]);
    for chunk in beta {
        for ((value, magnitude), &b) in values.iter_mut().zip(&mut magnitudes).zip(chunk) {
            let normal = if b >= f64::MIN_POSITIVE { b } else { 1.0 };
            let term = b * ln(normal);
            *value += term;
            *magnitude += term.abs();
        }
    }
    (values.iter().sum(), magnitudes.iter().sum())
}

/// Folds numbers, whose count is a multiple of the lanes, from zero: each lane for itself, then the lanes.
#[inline(always)]
#[allow(clippy::inline_always)]
fn in_lanes(numbers: &[f64], with: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    for chunk in numbers.as_chunks::<LANES>().0 {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane = with(*lane, *number);
        }
    }
    lanes.iter().fold(0.0, |all, lane| with(all, *lane))
}

/// Returns e^x for |x| ≤ `SHORT`, to 2e−14 of it.
#[inline(always)]
#[allow(clippy::inline_always)]
fn short_exp(x: f64) -> f64 {
    let mut sum = 1.0;
    for k in [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        sum = 1.0 + sum * x * (1.0 / k);
    }
    sum
}

/// Newton's method on all equations, from the solution for q = 0; returns whether it converged.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn newton(scores: &[f64], at: &[f64], q: f64, beta: &mut Vec<f64>) -> bool {
    let (_, top) = argmax(scores.iter().copied());
    let size = scores.len().next_multiple_of(LANES);
    // The buffer has β, s, at, t, residuals and slopes while this lasts.
    beta.clear();
    beta.resize(size, 0.0);
    beta.extend_from_slice(scores);
    beta.resize(2 * size, top - q - FAR);
    beta.extend_from_slice(at);
    beta.resize(6 * size, 0.0);
    let (b, rest) = beta.split_at_mut(size);
    let (s, rest) = rest.split_at_mut(size);
    let (at, rest) = rest.split_at_mut(size);
    let (t, rest) = rest.split_at_mut(size);
    let (left, share) = rest.split_at_mut(size);
    // Loops over all classes become vector instructions if they add nothing up.
    b.iter_mut().zip(&*s).for_each(|(b, s)| *b = exp_of_negative(s - top));
    let sum = in_lanes(b, |sum, b| sum + b);
    let mut mu = top + sum.ln();
    b.iter_mut().for_each(|b| *b /= sum);
    t.iter_mut().zip(&*s).for_each(|(t, s)| *t = s - mu);
    for _ in 0..12 {
        // The residual of class j is s_j + q·at_j − μ − t_j − qβ_j; the slope of the left side in t_j is 1 + qβ_j.
        for ((((left, b), t), s), at) in left.iter_mut().zip(&*b).zip(&*t).zip(&*s).zip(&*at) {
            *left = s + q * (at - b) - mu - t;
        }
        share.iter_mut().zip(&*b).for_each(|(share, b)| *share = 1.0 / (1.0 + q * b));
        let (mut sums, mut towards, mut slopes) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let lanes = b.chunks_exact(LANES).zip(left.chunks_exact(LANES));
        for ((b, left), share) in lanes.zip(share.chunks_exact(LANES)) {
            for lane in 0..LANES {
                let part = b[lane] * share[lane];
                sums[lane] += b[lane];
                towards[lane] += part * left[lane];
                slopes[lane] += part;
            }
        }
        let [sum, toward, slope] =
            [sums, towards, slopes].map(|lanes: [f64; LANES]| lanes.iter().sum::<f64>());
        let up = (toward + sum - 1.0) / slope;
        if up.is_nan() {
            return false;
        }
        mu += up;
        left.iter_mut().zip(&*share).for_each(|(left, share)| *left = (*left - up) * share);
        let steps = &*left;
        let moved = in_lanes(steps, |most, step| if step.abs() > most { step.abs() } else { most });
        let moved = moved.max(up.abs());
        if moved <= SHORT {
            t.iter_mut().zip(steps).for_each(|(t, step)| *t += step);
            b.iter_mut().zip(steps).for_each(|(b, step)| *b *= short_exp(*step));
        } else {
            for ((b, t), step) in b.iter_mut().zip(&mut *t).zip(steps) {
                // No weight is above one.
                let next = *t + step;
                *t = if next < 0.0 { next } else { 0.0 };
                *b = exp_of_negative(*t);
            }
        }
        if moved <= CLOSE {
            beta.truncate(scores.len());
            return true;
        }
        if moved > 1e3 {
            return false;
        }
    }
    false
}

/// Safeguarded Newton on μ alone. In t = log β the left side t + qe^t increases with a slope of at least 1, so an inner
/// Newton's method (`rooted`) inverts it; Σβ decreases in μ, so bisection bounds keep μ safe.
fn bounded(scores: &[f64], at: &[f64], q: f64, beta: &mut Vec<f64>) {
    let right = || scores.iter().zip(at).map(|(s, at)| s + q * at);
    let top = right().fold(f64::NEG_INFINITY, f64::max);
    // At the upper bound of μ every β_j is at most 1/K; at the lower bound the largest is at least 1.
    let (mut low, mut high) = (top - q, top + (scores.len() as f64).ln());
    let mut mu = low + (high - low) / 2.0;
    for _ in 0..200 {
        let (mut sum, mut slope) = (0.0, 0.0);
        beta.clear();
        for r in right() {
            let b = rooted(r - mu, q);
            sum += b;
            slope += b / (1.0 + q * b);
            beta.push(b);
        }
        if sum > 1.0 {
            low = mu;
        } else {
            high = mu;
        }
        let newton = mu + (sum - 1.0) / slope;
        let next = if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
        let moved = (next - mu).abs();
        mu = next;
        if (sum - 1.0).abs() <= 1e-15 || moved <= 1e-15 * (1.0 + mu.abs()) {
            break;
        }
    }
}

/// Returns the b with log b + qb = r.
fn rooted(r: f64, q: f64) -> f64 {
    // t + qe^t is convex in t, so Newton's method from the right of the root decreases to it.
    let mut t = if q > 1.0 && r > 0.0 { r.min((1.0 + r / q).ln()) } else { r };
    for _ in 0..60 {
        let rise = q * t.exp();
        let step = (t + rise - r) / (1.0 + rise);
        t -= step;
        if step.abs() <= 1e-15 * (1.0 + t.abs()) {
            break;
        }
    }
    t.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(count: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(prop_oneof![-3.0..3.0_f64, -800.0..800.0_f64], count)
    }

    proptest! {
        // One equation for each class, and one for their sum, in logarithms of the standard library.
        #[test]
        fn a_step_solves_its_equations(
            (scores, at) in (1_usize..40).prop_flat_map(|k| (prop::collection::vec(-5.0..5.0_f64, k), prop::collection::vec(0.01..1.0_f64, k))),
            q in prop_oneof![1e-6..1.0_f64, 1.0..1e3_f64],
        ) {
            let sum: f64 = at.iter().sum();
            let at: Vec<f64> = at.iter().map(|a| a / sum).collect();
            let mut beta = Vec::new();
            step(&scores, &at, q, &mut beta);
            prop_assert_eq!(beta.len(), scores.len());
            prop_assert!((beta.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let mus: Vec<f64> = (0..beta.len()).map(|j| scores[j] + q * (at[j] - beta[j]) - beta[j].ln()).collect();
            prop_assert!(mus.iter().all(|mu| (mu - mus[0]).abs() < 1e-9 * (1.0 + q)), "{mus:?}");
        }

        // Both ways to the same point, whatever the number of classes leaves of the last lanes.
        #[test]
        fn newton_finds_what_the_safeguarded_search_finds(
            (scores, at) in (1_usize..12).prop_flat_map(|k| (numbers(k), 0..k)),
            q in prop_oneof![1e-6..1.0_f64, 1.0..1e3_f64],
        ) {
            let at: Vec<f64> = (0..scores.len()).map(|j| f64::from(u8::from(j == at))).collect();
            let (mut quick, mut safe) = (Vec::new(), Vec::new());
            if newton(&scores, &at, q, &mut quick) {
                bounded(&scores, &at, q, &mut safe);
                let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
                prop_assert!(quick.iter().zip(&safe).all(near), "{quick:?} {safe:?}");
            }
        }

        #[test]
        fn sums_are_those_of_the_standard_library(scores in (1_usize..40).prop_flat_map(numbers)) {
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let exact: f64 = scores.iter().map(|s| (s - top).exp()).sum();
            prop_assert!((sum_below(top, &scores) - exact).abs() < 1e-13 * exact);
            let mut beta = scores.clone();
            distribution(&mut beta);
            for (b, s) in beta.iter().zip(&scores) {
                prop_assert!((b - (s - top).exp() / exact).abs() < 1e-14);
            }
            beta.resize(beta.len().next_multiple_of(LANES), 0.0);
            let terms = beta.iter().filter(|b| **b > 0.0).map(|b| b * b.ln());
            let (value, magnitude) = entropy(beta.as_chunks().0);
            prop_assert!((value - terms.sum::<f64>()).abs() < 1e-13);
            prop_assert_eq!(magnitude, value.abs());
        }
    }

    #[test]
    fn what_is_no_number_does_not_converge() {
        let mut beta = Vec::new();
        for scores in [[f64::NAN, 0.0], [f64::INFINITY, 0.0], [f64::NAN, f64::NAN]] {
            assert!(!newton(&scores, &[0.5, 0.5], 1.0, &mut beta));
        }
    }

    #[test]
    fn weights_that_are_next_to_nothing_are_zero() {
        let mut beta = vec![0.0, -1000.0];
        distribution(&mut beta);
        assert_eq!(beta, [1.0, 0.0]);
        step(&[0.0, -1000.0], &[1.0, 0.0], 1.0, &mut beta);
        assert_eq!(beta, [1.0, 0.0]);
        assert_eq!(entropy(&[[0.0, 1e-310, 1.0, 0.0]]), (0.0, 0.0));
    }
}
