//! Numbers of about 32 digits, each the unevaluated sum of two floats: the judge of all rounding.
//!
//! A sum or a product of two is right to 2⁻¹⁰⁰ or better, so what these tests add up with them is
//! exact beside anything that was computed in single floats.

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, with `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Wide {
    high: f64,
    low: f64,
}

impl Wide {
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };
    pub const ONE: Self = Self { high: 1.0, low: 0.0 };

    /// The nearest float.
    pub fn float(self) -> f64 {
        self.high
    }

    pub fn abs(self) -> Self {
        if self < Self::ZERO { -self } else { self }
    }

    pub fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

/// a + b without an error.
fn two_sum(a: f64, b: f64) -> Wide {
    let high = a + b;
    let from_b = high - a;
    Wide { high, low: (a - (high - from_b)) + (b - from_b) }
}

/// a · b without an error.
fn two_product(a: f64, b: f64) -> Wide {
    let high = a * b;
    Wide { high, low: a.mul_add(b, -high) }
}

impl From<f64> for Wide {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Neg for Wide {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for Wide {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let once = two_sum(high.high, high.low + low.high);
        two_sum(once.high, once.low + low.low)
    }
}

impl Sub for Wide {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Wide {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = two_product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        two_sum(product.high, product.low + cross)
    }
}

impl Div for Wide {
    type Output = Self;
    /// Long division, three digits of one float each.
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        two_sum(first, second) + (rest.high / other.high).into()
    }
}

impl Sum for Wide {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::ZERO, Add::add)
    }
}

pub fn wide(x: f64) -> Wide {
    x.into()
}

/// By the series of a number halved until it is small, squared as often.
pub fn exp(x: Wide) -> Wide {
    let (mut small, mut halvings) = (x, 0);
    while small.abs().float() > 0.01 {
        small = small * wide(0.5);
        halvings += 1;
    }
    let (mut term, mut sum) = (Wide::ONE, Wide::ONE);
    for k in 1..20 {
        term = term * small / wide(f64::from(k));
        sum = sum + term;
    }
    (0..halvings).fold(sum, |e, _| e * e)
}

/// By Newton's method on e^y = x; of numbers too small for it, the float's digits are more than enough.
pub fn ln(x: Wide) -> Wide {
    let mut y = wide(x.float().ln());
    if x > wide(1e-290) {
        for _ in 0..2 {
            y = y + x * exp(-y) - Wide::ONE;
        }
    }
    y
}
