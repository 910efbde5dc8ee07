//! Numbers of about 30 digits at any scale: a [`Wide`] number times a power of two that is kept apart, so that nothing overflows
//! or vanishes. The judge of what underflow takes.

use super::wide::Wide;
use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `part · 2^exponent`, with `part` between 1 and 2 in magnitude, or zero.
#[derive(Clone, Copy, Debug)]
pub struct Far {
    part: Wide,
    exponent: i64,
}

/// The exponent of a float that is not zero: |x| is in [2^e, 2^(e+1)).
fn exponent_of(x: f64) -> i64 {
    let bits = |x: f64| i64::try_from(x.abs().to_bits() >> 52).unwrap();
    if bits(x) > 0 { bits(x) - 1023 } else { bits(x * 2.0_f64.powi(100)) - 1123 }
}

/// x · 2^k, by factors that are floats themselves.
fn shifted(mut x: Wide, mut k: i64) -> Wide {
    while k != 0 {
        let step = i32::try_from(k.clamp(-1000, 1000)).unwrap();
        let factor = Wide::from(2.0_f64.powi(step));
        x = x * factor;
        k -= i64::from(step);
    }
    x
}

impl Far {
    pub const ZERO: Self = Self { part: Wide::ZERO, exponent: 0 };

    /// Of a sum of two floats.
    fn of(part: Wide, exponent: i64) -> Self {
        assert!(part.float().is_finite(), "the judge is given what is no number");
        if part == Wide::ZERO {
            return Self::ZERO;
        }
        let own = exponent_of(part.float());
        Self { part: shifted(part, -own), exponent: exponent + own }
    }

    pub fn abs(self) -> Self {
        Self { part: self.part.abs(), ..self }
    }

    pub fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    pub fn square(self) -> Self {
        self * self
    }

    /// Of a number that is not negative, by Newton's method.
    pub fn sqrt(self) -> Self {
        if self.part == Wide::ZERO {
            return Self::ZERO;
        }
        let odd = self.exponent.rem_euclid(2);
        let x = shifted(self.part, odd);
        let mut root = Wide::from(x.float().sqrt());
        for _ in 0..2 {
            root = root + (x - root * root) / (root + root);
        }
        Self::of(root, (self.exponent - odd) / 2)
    }
}

/// The exact number.
pub fn far(x: f64) -> Far {
    if x == 0.0 {
        return Far::ZERO;
    }
    // Subnormal numbers have few digits, and are whole ones after this.
    let lifted = if x.abs() < 1e-290 { (x * 2.0_f64.powi(500), -500) } else { (x, 0) };
    Far::of(lifted.0.into(), lifted.1)
}

impl From<Wide> for Far {
    fn from(x: Wide) -> Self {
        Self::of(x, 0)
    }
}

impl Neg for Far {
    type Output = Self;
    fn neg(self) -> Self {
        Self { part: -self.part, ..self }
    }
}

impl Add for Far {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        if self.part == Wide::ZERO || other.part == Wide::ZERO {
            return if self.part == Wide::ZERO { other } else { self };
        }
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let apart = large.exponent - small.exponent;
        // What is 2^300 times smaller is beyond all digits.
        if apart > 300 {
            return large;
        }
        Self::of(large.part + shifted(small.part, -apart), large.exponent)
    }
}

impl Sub for Far {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Far {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::of(self.part * other.part, self.exponent + other.exponent)
    }
}

impl Div for Far {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::of(self.part / other.part, self.exponent - other.exponent)
    }
}

impl Sum for Far {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::ZERO, Add::add)
    }
}

impl PartialEq for Far {
    fn eq(&self, other: &Self) -> bool {
        (*self - *other).part == Wide::ZERO
    }
}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (*self - *other).part.partial_cmp(&Wide::ZERO)
    }
}
