//! Rounding bounds that also hold where products underflow.
//!
//! A rounded operation is exact up to a factor 1 + δ only if its result is a normal number. Below that range a
//! product or quotient has an error of up to η = 2⁻¹⁰⁷⁵, whatever its size,
//!
//! ```text
//! fl(a·b) = a·b (1 + δ) + ε,     |δ| ≤ u,  |ε| ≤ η,     sums: ε = 0
//! ```
//!
//! and later factors magnify that error: with λ = 1e300, a square that underflows to zero can be worth more than
//! most objectives. So every bound has a term for underflow, and is itself computed with products that do not
//! underflow.

use super::kernels::dot;

/// u = 2⁻⁵³: the largest relative error of one rounded operation.
pub const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// The smallest positive number, twice η: underflow costs no product or quotient as much.
pub const UNDERFLOW: f64 = f64::from_bits(1);

/// The size that a smaller product counts as: u times this is [`UNDERFLOW`].
pub(super) const SMALLEST_SIZE: f64 = UNDERFLOW / UNIT_ROUNDOFF;

/// Returns [`UNDERFLOW`] times this number, which is below 2^52. Processors multiply by such small numbers in a hundred
/// cycles or more, and a bound is computed for every example; this is the same number, written down.
#[inline]
pub fn vanished(times: usize) -> f64 {
    f64::from_bits(times as u64)
}

/// Returns an upper bound on `a·b` for nonnegative numbers, zero only if one of them is.
#[inline]
pub fn product_above(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b * (1.0 + 2.0 * f64::EPSILON) + UNDERFLOW }
}

/// Returns the size `|a·b|` for a rounding bound that is relative to a sum of sizes: a product that loses more than
/// one rounding to underflow counts as large enough for that loss to be one rounding.
#[inline]
pub fn size_of_product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b).abs().max(SMALLEST_SIZE) }
}

/// Returns an upper bound on `√Σ x²`: zero for zeros, and infinite if a square overflows.
pub fn norm_above(x: &[f64]) -> f64 {
    let squares = dot(x, x);
    if squares == 0.0 && x.iter().all(|&x| x == 0.0) { 0.0 } else { root_above(squares, x.len()) }
}

/// Returns an upper bound on the root of a plain sum of this many squares, whose relative error is below 1e-7.
pub(crate) fn root_above(squares: f64, terms: usize) -> f64 {
    (squares + vanished(terms)).sqrt() * 1.000_000_1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_are_numbered_by_their_bits() {
        for n in [0, 1, 7, (1 << 52) - 1, 1 << 52, (1 << 52) + 1, 1 << 53] {
            assert_eq!(vanished(n), n as f64 * UNDERFLOW, "{n}");
        }
    }

    /// m·2^e for an integer m, so that the reference is exact in integers.
    fn number() -> impl Strategy<Value = (u64, i32)> {
        (1_u64..1 << 53, -1074..-400_i32)
    }

    fn float((m, e): (u64, i32)) -> f64 {
        m as f64 * 2.0_f64.powi(e.max(-1000)) * 2.0_f64.powi(e - e.max(-1000))
    }

    /// Whether a float of the form k·2^-1074 is at least m·2^e.
    fn at_least(float: f64, m: u128, e: i32) -> bool {
        // An integer number of units of 2^-1074, rounded up; larger floats do not occur here.
        let units = float / UNDERFLOW;
        let shift = -1074 - e;
        if shift <= 0 {
            let room = m.leading_zeros().cast_signed();
            return -shift < room && units >= (m << -shift) as f64 * (1.0 - 1e-15);
        }
        let needed = if shift >= 128 { 0 } else { m >> shift };
        let whole = shift >= 128 || (needed << shift) != m;
        units >= (needed + u128::from(whole)) as f64 * (1.0 - 1e-15)
    }

    proptest! {
        #[test]
        fn a_product_above_is_above_the_exact_one(a in number(), b in number()) {
            let (x, y) = (float(a), float(b));
            prop_assume!(x * y < 1e-290);
            let exact = u128::from(a.0) * u128::from(b.0);
            prop_assert!(at_least(product_above(x, y), exact, a.1 + b.1));
        }

        #[test]
        fn a_norm_above_is_above_the_largest_entry(x in prop::collection::vec(number(), 1..5)) {
            let floats: Vec<f64> = x.into_iter().map(float).collect();
            let largest = floats.iter().copied().fold(0.0, f64::max);
            prop_assert!(norm_above(&floats) >= largest);
        }
    }

    #[test]
    fn what_underflows_is_counted() {
        assert_eq!(vanished(12), 12.0 * UNDERFLOW);
    }

    #[test]
    fn a_product_that_vanishes_has_a_bound() {
        assert!(1e-200 * 1e-200 == 0.0 && product_above(1e-200, 1e-200) > 0.0);
        assert!(product_above(0.1, 0.1) >= 0.1 * 0.1);
        assert_eq!(product_above(0.0, 1e300), 0.0);
    }

    #[test]
    fn the_size_of_a_product_that_vanishes_is_known() {
        use crate::linalg::{gamma, underflow::size_of_product};
        assert_eq!(size_of_product(-2.0, 3.0), 6.0);
        assert!(gamma(2) * size_of_product(1e-200, 1e-200) > 0.0);
        assert_eq!(size_of_product(0.0, 3.0), 0.0);
    }

    #[test]
    fn a_norm_whose_squares_vanish_has_a_bound() {
        assert!(norm_above(&[3.0, 4.0]) >= 5.0);
        assert!(norm_above(&[1e-200]) >= 1e-200);
    }
}
