//! e^x for a slice of numbers that are not positive, the same bits on every machine.
//!
//! The exponential of the system's library has no stated error, and takes one number at a time. Here x = k·log 2 + r with
//! |r| ≤ 0.3467, and
//!
//! ```text
//! e^x = 2^k (1 + r + r²/2! + … + r¹³/13!)
//! ```
//!
//! Relative errors in units of u: the rest of the series is below r¹⁴/14!·e^|r| < 0.06, or 0.08 of e^r ≥ 0.707. The leading
//! part of log 2 has 32 bits, so that its product with k is exact, and so is its difference from x (they are within a
//! factor of two); what is left rounds r by 0.36. Horner's scheme rounds 1 + r·q, |r·q| < 0.42 with three roundings, by
//! 1 + 1.3/0.707. The sum is below 4; [`ERROR`] has twice as much.

use crate::linalg::UNIT_ROUNDOFF;
use multiversion::multiversion;

/// A bound on the relative error of [`exp_below`], unless the result underflows.
pub const ERROR: f64 = 8.0 * UNIT_ROUNDOFF;

/// The exponential of a smaller number counts as zero: it is below the smallest normal number.
const SMALLEST: f64 = -708.0;

/// A number of this size has no bits below one: adding it rounds to an integer, which its last bits then have.
const INTEGERS: f64 = 1.5 * (1_u64 << 52) as f64;

/// log 2 in two parts, the first with 32 significant bits.
const LOG_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// 1/m! for m = 13 down to 2.
const TERMS: [f64; 12] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
];

/// Replaces every number, none of which is positive, by its exponential. NaN stays NaN.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn exp_below(numbers: &mut [f64]) {
    for number in numbers {
        let x = *number;
        let near = x.max(SMALLEST);
        let shifted = near * std::f64::consts::LOG2_E + INTEGERS;
        let k = shifted - INTEGERS;
        let r = (near - k * LOG_2[0]) - k * LOG_2[1];
        let mut q = TERMS[0];
        for term in &TERMS[1..] {
            q = q * r + term;
        }
        let p = 1.0 + r * (1.0 + r * q);
        // The last bits of `shifted` are k; in the place of the exponent they multiply by 2^k.
        let scaled = f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52));
        *number = if x < SMALLEST { 0.0 } else { scaled };
        if x.is_nan() {
            *number = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// e^x by squaring a Taylor series in pairs of numbers, far more accurate than 64 bits.
    fn reference(x: f64) -> (f64, f64) {
        type Pair = (f64, f64);
        fn product(a: Pair, b: Pair) -> Pair {
            let high = a.0 * b.0;
            let low = a.0.mul_add(b.0, -high) + (a.0 * b.1 + a.1 * b.0);
            (high + low, low - ((high + low) - high))
        }
        fn sum(a: Pair, b: f64) -> Pair {
            let high = a.0 + b;
            let back = high - a.0;
            let low = (a.0 - (high - back)) + (b - back) + a.1;
            (high + low, low - ((high + low) - high))
        }
        fn quotient(a: Pair, m: f64) -> Pair {
            let high = a.0 / m;
            let low = (-high).mul_add(m, a.0) / m + a.1 / m;
            (high + low, low - ((high + low) - high))
        }
        let r = x / 1024.0;
        let mut value = (1.0, 0.0);
        for m in (1..=24).rev() {
            value = sum(quotient(product(value, (r, 0.0)), f64::from(m)), 1.0);
        }
        (0..10).fold(value, |value, _| product(value, value))
    }

    proptest! {
        #[test]
        fn the_error_is_within_its_bound(x in prop_oneof![-700.0..0.0_f64, -1.0..0.0_f64, -1e-3..0.0_f64]) {
            let mut numbers = [x];
            exp_below(&mut numbers);
            let (high, low) = reference(x);
            let error = ((numbers[0] - high) - low).abs();
            prop_assert!(error <= 0.5 * ERROR * high, "{x}: {error:e} of {high:e}");
        }
    }

    #[test]
    fn the_ends_are_right() {
        let mut numbers = [0.0, -0.0, -708.1, f64::NEG_INFINITY, -1e300, f64::NAN];
        exp_below(&mut numbers);
        assert_eq!(numbers[..5], [1.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(numbers[5].is_nan());
    }
}
