//! Exponentials and logarithms of many numbers at once.
//!
//! Those of the standard library are calls, one number at a time. These are polynomials without branches, which the compiler
//! turns into vector instructions inside of a loop:
//!
//! ```text
//! e^x      = 2^n e^r,            n the integer nearest to x/ln 2, |r| ≤ ln 2/2, e^r by its Taylor series
//! ln(1+u)  = 2 artanh(u/(2+u))   by its series, after a division by two where 1+u > √2
//! ln x     = k ln 2 + ln m,      x = 2^k m, √½ ≤ m < √2
//! ```
//!
//! With u = 2^−53 the relative error of `exp_of_negative` is at most 6u, from −708 on, that of `ln` at most 10u, and that of `ln_1p_of_share`
//! at most 16u; certificates rest on these bounds.
//!
//! ```text
//! e^r      Horner's rule: Σ_k (2k + 2)u |r|^k/k! = 2u(1 + |r|)e^|r|, which is 5.4u of e^r at r = −ln 2/2, where it is most
//!          r itself: x − n·high is exact, so that r is off by u|r| and, relative to e^r, adds 0.35u
//!          the terms that the series leaves out: 4e−18/e^r, which is 0.05u
//! ln m     s = (m − 1)/(m + 1) is off by 2u, and 5u in s² ≤ 0.03 matter little: 4.3u with Horner's rule and the last product
//! ln x     k ln 2 is off by 2u of it, which is at most twice |ln x|, and the sum by u: 4u + 4.3u + u
//! ln(1+u)  below √2 as ln m, with the same s; above, ln 2 is off by u/2, (u − 1)/2 by u/2, the series by 4.3u of at most 0.35 and the sum
//!          by 0.7u, of a result of at least 0.34: 9.5u
//! ```
//!
//! The one in 32 bits is for values that no certificate rests on. NaN stays NaN in all but `ln`.

#![expect(
    clippy::inline_always,
    reason = "only inside of the loop that calls them are they compiled for its instruction set"
)]

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// ln 2 in two parts; products of the first with integers below 2^21 are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// A number added to this one is rounded to an integer, which the last bits of the sum are.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0; // 1.5·2^52

/// Below this e^x is not a normal number, or nearly so.
const LEAST: f64 = -708.0;

/// The bits of √½, and of 1.
const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 1023 << 52;

/// 2^52 + 1023: what the exponent of a number is off by after its bits became the last bits of a number.
const BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;

/// Returns e^x for x ≤ 0, and e^−708 for all smaller ones.
#[inline(always)]
pub fn exp_of_negative(x: f64) -> f64 {
    let x = if x < LEAST { LEAST } else { x };
    let rounded = x * LOG2_E + TO_INTEGER;
    let n = rounded - TO_INTEGER;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for coefficient in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + coefficient;
    }
    f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52) * sum
}

/// [`exp_of_negative`] in 32 bits, to 1e-6 of it, and e^−41 for all smaller numbers.
#[inline(always)]
pub fn single_exp_of_negative(x: f32) -> f32 {
    let x = if x < -41.0 { -41.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + 12_582_912.0; // 1.5·2^23
    let n = rounded - 12_582_912.0;
    // ln 2 in two parts; products of the first with integers below 2^9 are exact.
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    let mut sum = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + coefficient;
    }
    f32::from_bits(rounded.to_bits().wrapping_add(127) << 23) * sum
}

/// Returns 2 artanh s for |s| ≤ 0.172.
#[inline(always)]
fn twice_artanh(s: f64) -> f64 {
    let z = s * s;
    let mut sum = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * z + 1.0 / odd;
    }
    2.0 * s * sum
}

/// Returns ln(1 + u) for 0 ≤ u ≤ 1.
#[inline(always)]
pub fn ln_1p_of_share(u: f64) -> f64 {
    let (u, more) = if u > SQRT_2 - 1.0 { (0.5 * (u - 1.0), LN_2) } else { (u, 0.0) };
    more + twice_artanh(u / (2.0 + u))
}

/// Returns ln x for a positive normal number.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = bits.wrapping_add(ONE - ROOT_OF_HALF) >> 52;
    let m = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(ONE));
    let k = f64::from_bits(exponent | 0x4330_0000_0000_0000) - BIAS;
    k * LN_2 + twice_artanh((m - 1.0) / (m + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_close(found: f64, exact: f64) -> bool {
        (found - exact).abs() <= 1e-15 * exact.abs()
    }

    proptest! {
        // The judge is the standard library.
        #[test]
        fn exponentials_and_logarithms_are_accurate(x in -708.0..0.0_f64, near in -1.0..0.0_f64, log in -50.0..50.0_f64) {
            prop_assert!(is_close(exp_of_negative(x), x.exp()));
            prop_assert!(is_close(exp_of_negative(near), near.exp()));
            for x in [near as f32, 41.0 * near as f32] {
                let exact = f64::from(x).exp();
                prop_assert!((f64::from(single_exp_of_negative(x)) - exact).abs() <= 1e-6 * exact);
            }
            for u in [-near, near.exp(), x.exp()] {
                prop_assert!(is_close(ln_1p_of_share(u), u.ln_1p()), "{u}");
            }
            prop_assert!((ln(log.exp()) - log).abs() < 1e-14);
            prop_assert!((ln(1.0 + near / 2.0) - (1.0 + near / 2.0).ln()).abs() < 1e-15);
        }
    }

    #[test]
    fn the_ends_are_exact_or_nearly() {
        assert_eq!([exp_of_negative(0.0), ln_1p_of_share(0.0), ln(1.0)], [1.0, 0.0, 0.0]);
        assert!(is_close(ln_1p_of_share(1.0), LN_2) && is_close(ln(0.5), -LN_2));
        assert!(exp_of_negative(f64::NEG_INFINITY) <= 1e-300 && exp_of_negative(f64::NAN).is_nan());
        assert!(ln_1p_of_share(f64::NAN).is_nan());
        assert_eq!(single_exp_of_negative(0.0), 1.0);
        assert!(
            single_exp_of_negative(f32::NEG_INFINITY) > 1e-18
                && single_exp_of_negative(f32::NAN).is_nan()
        );
    }
}
