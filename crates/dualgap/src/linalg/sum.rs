//! Sums with a bound on their error.
//!
//! A gap is a difference of two nearly equal numbers, so its rounding has to be bounded, not guessed. In the
//! standard model of floating point every operation is exact up to a factor 1 + δ with |δ| ≤ u = 2⁻⁵³, and m
//! operations in a row up to γ_m = m·u/(1 − m·u). Products that underflow add an absolute error:
//! [`underflow`](super::underflow).

use super::underflow::{UNDERFLOW, UNIT_ROUNDOFF, product_above, vanished};
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

/// Returns γ_m, the relative error bound of `operations` roundings in a row.
pub fn gamma(operations: usize) -> f64 {
    let m = operations as f64 * UNIT_ROUNDOFF;
    // The factor covers the rounding of the bound itself.
    m / (1.0 - m) * (1.0 + 8.0 * UNIT_ROUNDOFF)
}

/// A computed number and a bound on its distance from the exact one.
///
/// ```
/// # use dualgap::linalg::Measured;
/// let third = Measured { value: 1.0 / 3.0, error: 1e-16 };
/// assert!(third.scaled(3.0).error >= 3e-16);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The computed number.
    pub value: f64,
    /// The exact number lies within `value ± error`.
    pub error: f64,
}

impl Measured {
    /// Returns the result of `operations` rounded operations in a row. Their intermediate results must be of about
    /// its size or, where they underflow, must not be multiplied by more than one afterwards.
    ///
    /// ```
    /// # use dualgap::linalg::Measured;
    /// let product = Measured::rounded(1e-200 * 1e-200, 1);
    /// assert!(product.value == 0.0 && product.error > 0.0);
    /// ```
    #[must_use]
    pub fn rounded(value: f64, operations: usize) -> Self {
        let vanished = vanished(operations + 1);
        Self { value, error: product_above(gamma(operations), value.abs()) + vanished }
    }

    /// Returns `factor · self`, with the rounding of that product.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let value = self.value * factor;
        let exact = self.value == 0.0 || factor == 0.0;
        Self::made(value, exact, product_above(self.error, factor.abs()))
    }

    /// Returns `self / divisor`, with the rounding of that quotient.
    #[must_use]
    pub fn divided(self, divisor: f64) -> Self {
        let value = self.value / divisor;
        let carried = if self.error == 0.0 { 0.0 } else { self.error / divisor.abs() + UNDERFLOW };
        Self::made(value, self.value == 0.0, carried)
    }

    /// Returns a product or quotient whose error is `carried` from its factor plus its own rounding.
    fn made(value: f64, exact: bool, carried: f64) -> Self {
        let own = if exact { 0.0 } else { value.abs() * UNIT_ROUNDOFF + 2.0 * UNDERFLOW };
        Self { value, error: carried * 1.000_001 + own }
    }
}

/// A compensated sum with a running error bound.
///
/// ```
/// # use dualgap::linalg::Sum;
/// let sum: Sum = [1e16, 1.0, -1e16].into_iter().collect();
/// assert_eq!(sum.total().value, 1.0); // a plain sum gives 0
/// ```
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Sum {
    high: f64,
    low: f64,
    magnitude: f64,
    terms: f64,
    error: f64,
}

impl Sum {
    /// Adds an exact term.
    pub fn add(&mut self, term: f64) {
        two_sum(&mut self.high, &mut self.low, term);
        self.magnitude += term.abs();
        self.terms += 1.0;
    }

    /// Adds a term that has an error bound of its own.
    pub fn add_measured(&mut self, term: Measured) {
        self.add(term.value);
        self.error += term.error;
    }

    /// Adds the products of measured numbers with nonnegative factors, as [`add_measured`](Self::add_measured) adds what
    /// [`Measured::scaled`] returns, several at once. Returns the sum of the sizes of the products, or more.
    pub(crate) fn add_products(&mut self, values: &[f64], errors: &[f64], factors: &[f64]) -> f64 {
        let Lanes { high, low, sizes, errors: carried } = products(values, errors, factors);
        if sizes == 0.0 && values.iter().chain(errors).all(|&x| x == 0.0) {
            self.terms += values.len() as f64;
            return 0.0;
        }
        for lane in 0..LANES {
            two_sum(&mut self.high, &mut self.low, high[lane]);
            self.low += low[lane];
        }
        // One product for what all of these lose by underflow, instead of a small number for each.
        let vanished = vanished(4 * values.len());
        self.magnitude += sizes;
        self.terms += (values.len() + 2 * LANES) as f64;
        self.error += (carried + sizes * UNIT_ROUNDOFF) * 1.000_001 + vanished;
        sizes * (1.0 + 2.0 * f64::EPSILON) + vanished
    }

    /// Adds the terms of another sum.
    pub fn add_sum(&mut self, other: &Self) {
        two_sum(&mut self.high, &mut self.low, other.high);
        self.low += other.low;
        self.magnitude += other.magnitude;
        // Two more additions, of the high parts and of the low ones.
        self.terms += other.terms + 2.0;
        self.error += other.error;
    }

    /// Returns the sum. Its own rounding is that of one final addition, plus a term of second order in the number of
    /// terms.
    pub fn total(&self) -> Measured {
        let value = self.high + self.low;
        let second_order = (self.terms * UNIT_ROUNDOFF).powi(2) * self.magnitude;
        // The factor covers the plain additions in `error` itself.
        let carried = self.error * (1.0 + self.terms * f64::EPSILON);
        // Additions do not underflow, but the products in this bound may.
        let vanished = if self.magnitude > 0.0 { 2.0 * UNDERFLOW } else { 0.0 };
        let own = 2.0 * UNIT_ROUNDOFF * value.abs() + second_order;
        Measured { value, error: own + carried + vanished }
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

/// Sums are split into so many, of which no addition waits for that of another.
const LANES: usize = 8;

/// Sums of products, compensated and in lanes, with the sizes of their terms and the errors of the first factors times the second.
struct Lanes {
    high: [f64; LANES],
    low: [f64; LANES],
    sizes: f64,
    errors: f64,
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn products(values: &[f64], errors: &[f64], factors: &[f64]) -> Lanes {
    let (mut high, mut low) = ([0.0; LANES], [0.0; LANES]);
    let (mut sizes, mut carried) = ([0.0; LANES], [0.0; LANES]);
    let (values, last_values) = values.as_chunks::<LANES>();
    let (errors, last_errors) = errors.as_chunks::<LANES>();
    let (factors, last_factors) = factors.as_chunks::<LANES>();
    for ((values, errors), factors) in values.iter().zip(errors).zip(factors) {
        for lane in 0..LANES {
            let term = values[lane] * factors[lane];
            two_sum(&mut high[lane], &mut low[lane], term);
            sizes[lane] += term.abs();
            carried[lane] += errors[lane] * factors[lane];
        }
    }
    let last = last_values.iter().zip(last_errors).zip(last_factors);
    for (lane, ((value, error), factor)) in last.enumerate() {
        let term = value * factor;
        two_sum(&mut high[lane], &mut low[lane], term);
        sizes[lane] += term.abs();
        carried[lane] += error * factor;
    }
    Lanes { high, low, sizes: sizes.iter().sum(), errors: carried.iter().sum() }
}

/// Adds a term so that `high + low` is the running sum: `low` collects exactly what `high` rounds away, in Knuth's
/// form without a branch.
#[inline]
pub fn two_sum(high: &mut f64, low: &mut f64, term: f64) {
    let sum = *high + term;
    let back = sum - *high;
    *low += (*high - (sum - back)) + (term - back);
    *high = sum;
}

/// Returns `Σ x²`, compensated; the bound includes the rounding of the squares and what they lose by underflow.
///
/// The loop has eight interleaved sums and runs at memory speed: certificates take the norms of long vectors.
///
/// ```
/// # use dualgap::linalg::squared_norm;
/// assert_eq!(squared_norm(&[3.0, 4.0]).value, 25.0);
/// ```
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn squared_norm(x: &[f64]) -> Measured {
    let (mut high, mut low) = ([0.0; 8], [0.0; 8]);
    let chunks = x.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..8 {
            two_sum(&mut high[lane], &mut low[lane], chunk[lane] * chunk[lane]);
        }
    }
    let squares = rest.iter().map(|x| x * x);
    let total = high.into_iter().chain(low).chain(squares).collect::<Sum>().total();
    // Each square is rounded once, and the low parts are plain sums with their own rounding.
    let second_order = (x.len() as f64 * UNIT_ROUNDOFF).powi(2) * total.value;
    let vanished = if x.iter().any(|&x| x != 0.0) { (x.len() + 2) as f64 * UNDERFLOW } else { 0.0 };
    Measured {
        value: total.value,
        error: total.error + 2.0 * UNIT_ROUNDOFF * total.value + second_order + vanished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // The reference: integers scaled by powers of two are summed exactly in 128 bits.
        #[test]
        fn the_error_bound_holds(terms in prop::collection::vec((-1_000_000_i64..1_000_000, 0_u32..40), 0..60)) {
            let exact: i128 = terms.iter().map(|&(m, e)| i128::from(m) << e).sum();
            let sum: Sum = terms.iter().map(|&(m, e)| m as f64 * f64::from(e).exp2()).collect();
            let total = sum.total();
            prop_assert!((total.value - exact as f64).abs() <= total.error + exact.unsigned_abs() as f64 * UNIT_ROUNDOFF);
            // A sum in two parts has its own rounding, and a bound that holds as well.
            for cut in [0, terms.len() / 3, terms.len()] {
                let part = |terms: &[(i64, u32)]| -> Sum { terms.iter().map(|&(m, e)| m as f64 * f64::from(e).exp2()).collect() };
                let mut both = part(&terms[..cut]);
                both.add_sum(&part(&terms[cut..]));
                let total = both.total();
                prop_assert!((total.value - exact as f64).abs() <= total.error + exact.unsigned_abs() as f64 * UNIT_ROUNDOFF);
            }
        }
    }

    proptest! {
        // The reference: squares of integers below 2^26 are exact, and so is their sum in 128 bits.
        #[test]
        fn the_squared_norm_is_within_its_bound(x in prop::collection::vec(-60_000_000_i64..60_000_000, 0..40)) {
            let exact: i128 = x.iter().map(|&x| i128::from(x) * i128::from(x)).sum();
            let floats: Vec<f64> = x.iter().map(|&x| x as f64).collect();
            let norm = squared_norm(&floats);
            prop_assert!((norm.value - exact as f64).abs() <= norm.error);
            prop_assert!(norm.error <= 1e-15 * norm.value);
        }
    }

    proptest! {
        // The reference: integers times powers of two are summed exactly in 128 bits; their errors and the factors as well.
        #[test]
        fn products_in_lanes_are_within_their_bound(
            terms in prop::collection::vec((-1_000_000_i64..1_000_000, 0_i64..1000, 0_i64..1_000_000, 0_u32..30), 0..60),
        ) {
            let shifted = |e: u32| f64::from(e).exp2();
            let values: Vec<f64> = terms.iter().map(|t| t.0 as f64 * shifted(t.3)).collect();
            let errors: Vec<f64> = terms.iter().map(|t| t.1 as f64 * 1e-9).collect();
            let factors: Vec<f64> = terms.iter().map(|t| t.2 as f64).collect();
            let exact: i128 = terms.iter().map(|t| (i128::from(t.0) * i128::from(t.2)) << t.3).sum();
            let carried: f64 = terms.iter().map(|t| t.1 as f64 * 1e-9 * t.2 as f64).sum();
            let sizes: f64 = values.iter().zip(&factors).map(|(value, factor)| (value * factor).abs()).sum();
            let mut sum = Sum::default();
            let size = sum.add_products(&values, &errors, &factors);
            let total = sum.total();
            let off = (total.value - exact as f64).abs() - exact.unsigned_abs() as f64 * UNIT_ROUNDOFF;
            prop_assert!(off + carried * (1.0 - 1e-12) <= total.error);
            prop_assert!(total.error <= carried * 1.001 + sizes * 1e-12 + 1e-300);
            prop_assert!(size >= sizes * (1.0 - 1e-14) && size <= sizes * 1.001 + 1e-300);
        }
    }

    #[test]
    fn products_that_vanish_are_counted_and_zeros_are_exact() {
        let of = |value: f64, error: f64, factor: f64| {
            let mut sum = Sum::default();
            let size = sum.add_products(&[value; 9], &[error; 9], &[factor; 9]);
            (sum.total(), size)
        };
        let (total, size) = of(1e-200, 0.0, 1e-200);
        assert!(total.error > 0.0 && size > 0.0);
        assert!(of(0.0, 1e-200, 1e-200).0.error > 0.0);
        assert_eq!(of(0.0, 0.0, 0.5), (Measured::default(), 0.0));
    }

    // The bound includes what vanished, even if it is multiplied afterwards; zeros are exact.
    #[test]
    fn squares_that_vanish_are_within_the_bound() {
        for scale in [1e-170, 1e-160, 3e-162] {
            let x = [3.0 * scale, 4.0 * scale];
            let norm = squared_norm(&x);
            // 25 scale², times 1e300 on either side.
            let (scaled, exact) = (norm.scaled(1e300), 25.0 * (scale * 1e150) * (scale * 1e150));
            assert!((scaled.value - exact).abs() <= scaled.error, "{scaled:?} {exact:e}");
            let again = norm.scaled(0.5).scaled(2e300).divided(1e10).scaled(1e10);
            assert!((again.value - exact).abs() <= again.error, "{again:?} {exact:e}");
        }
        assert_eq!(squared_norm(&[0.0; 9]).scaled(1e300), Measured::default());
        assert_eq!(Sum::default().total(), Measured::default());
    }

    #[test]
    fn errors_do_not_vanish() {
        let measured = Measured { value: 0.0, error: 1e-200 };
        let once = measured.scaled(1e-200);
        assert!(once.error > 0.0 && once.scaled(1e300).error >= 1e-100);
        assert!(measured.divided(1e200).error > 0.0);
    }

    #[test]
    fn cancellation_does_not_lose_the_small_terms() {
        let sum: Sum = [1.0, 1e100, 1.0, -1e100].into_iter().collect();
        assert_eq!(sum.total().value, 2.0);
    }

    #[test]
    fn a_few_operations_round_by_a_little_more_than_each() {
        assert_eq!(gamma(0), 0.0);
        assert!(gamma(10) > 10.0 * UNIT_ROUNDOFF);
    }
}
