//! The l1 ball and the simplex as gradient methods see them: the projection onto it, the corner where a linear function is largest, and
//! Frank-Wolfe steps toward such corners.

use crate::ball::l1::sets::Corners;
use crate::ball::schedule::slide_step;
use crate::linalg::Halted;
use crate::term::ball::{l1, simplex};

/// A corner of the ball: the only entry that is not zero, and its value r or −r.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Corner {
    pub at: usize,
    pub value: f64,
}

/// The ball, and what the next call can use, such as a threshold to start from.
#[derive(Clone, Debug)]
pub(super) struct L1Ball {
    pub radius: f64,
    corners: Corners,
    /// The soft threshold of the last projection: the next one is often near it.
    threshold: f64,
    memory: Vec<f64>,
    /// The nonzero entries of x, and the others, sorted by descending |base| as far as needed.
    support: Vec<u32>,
    others: Vec<u32>,
}

/// Moves the `count` entries with the largest |base| to the front of `others`, in descending order.
fn put_in_order(others: &mut [u32], count: usize, base: &[f64]) {
    let order = |a: &u32, b: &u32| {
        let size = |j: u32| base[j as usize].abs();
        size(*b).total_cmp(&size(*a)).then(a.cmp(b))
    };
    if count < others.len() {
        others.select_nth_unstable_by(count, order);
    }
    let count = count.min(others.len());
    others[..count].sort_unstable_by(order);
}

impl L1Ball {
    /// The set with these corners and this radius.
    pub fn new(corners: Corners, radius: f64) -> Self {
        let (memory, support, others) = (Vec::new(), Vec::new(), Vec::new());
        Self { radius, corners, threshold: 0.0, memory, support, others }
    }

    /// Replaces x by the nearest point of the ball.
    pub fn project(&mut self, x: &mut [f64]) {
        if self.corners == Corners::Positive {
            return simplex::project(x, self.radius, &mut self.memory);
        }
        (self.threshold, _) = l1::threshold_near(x, self.radius, self.threshold, &mut self.memory);
        let theta = self.threshold;
        if theta > 0.0 {
            x.iter_mut().for_each(|x| *x = l1::soft(*x, theta));
        }
    }

    /// Returns the corner with the largest inner product with v.
    pub fn corner(&self, v: &[f64]) -> Corner {
        if self.corners == Corners::Positive {
            let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let at = v.iter().position(|&v| v >= top).unwrap_or(0);
            return Corner { at, value: self.radius };
        }
        let at = largest(v);
        Corner { at, value: if v[at] < 0.0 { -self.radius } else { self.radius } }
    }

    /// Runs Frank-Wolfe with exact steps from x, at rates (β, η), until ⟨base, x⟩ − (β/2)‖x‖² is within η of its
    /// maximum: an approximate projection of base/β that needs corners only. Returns how many corners it took. It
    /// checks the halt flag at every corner, and ends at once if that is set.
    ///
    /// The gradient does not change where x is zero, so only the largest of those entries matters: a step costs the
    /// number of nonzero entries of x, and not d.
    pub fn slide(
        &mut self,
        base: &[f64],
        (beta, eta): (f64, f64),
        x: &mut [f64],
        halted: Halted<'_>,
    ) -> u64 {
        // A call that takes few corners needs no more of the order than those. What is ordered is doubled whenever it is used up, so
        // that it matters little where it begins.
        const FIRST: usize = 16;
        if self.corners == Corners::Positive {
            return self.slide_positive(base, (beta, eta), x, halted);
        }
        let Self { radius, support, others, .. } = self;
        let radius = *radius;
        support.clear();
        others.clear();
        for (j, &x) in x.iter().enumerate() {
            if x == 0.0 { others.push(j as u32) } else { support.push(j as u32) }
        }
        let (mut taken, mut ordered) = (0, FIRST);
        put_in_order(others, ordered, base);
        let mut corners = 0;
        loop {
            let (mut own, mut square, mut best) = (0.0, 0.0, (0_usize, 0.0_f64));
            for &j in &*support {
                let (j, x) = (j as usize, x[j as usize]);
                let descent = base[j] - beta * x;
                own += x * descent;
                square += x * x;
                if descent.abs() > best.1.abs() {
                    best = (j, descent);
                }
            }
            let new = others.get(taken).map(|&j| j as usize);
            let new = new.filter(|&j| base[j].abs() > best.1.abs());
            if let Some(j) = new {
                best = (j, base[j]);
            }
            corners += 1;
            if halted() {
                return corners;
            }
            let value = if best.1 < 0.0 { -radius } else { radius };
            let gap = value * best.1 - own;
            let far = radius * radius - 2.0 * value * x[best.0] + square;
            let Some(step) = slide_step(gap, eta, own, beta, far) else {
                return corners;
            };
            if new.is_some() {
                support.push(best.0 as u32);
                taken += 1;
                if taken == ordered {
                    put_in_order(&mut others[taken..], ordered, base);
                    ordered *= 2;
                }
            }
            support.iter().for_each(|&j| x[j as usize] *= 1.0 - step);
            x[best.0] += step * value;
        }
    }
}

impl L1Ball {
    /// [`slide`](Self::slide) in the simplex, where a step costs d.
    fn slide_positive(
        &self,
        base: &[f64],
        (beta, eta): (f64, f64),
        x: &mut [f64],
        halted: Halted<'_>,
    ) -> u64 {
        let mut corners = 0;
        loop {
            let descent: Vec<f64> = base.iter().zip(&*x).map(|(base, x)| base - beta * x).collect();
            let Corner { at, value } = self.corner(&descent);
            let own: f64 = descent.iter().zip(&*x).map(|(d, x)| d * x).sum();
            let square: f64 = x.iter().map(|x| x * x).sum();
            corners += 1;
            if halted() {
                return corners;
            }
            let far = value * value - 2.0 * value * x[at] + square;
            let Some(step) = slide_step(value * descent[at] - own, eta, own, beta, far) else {
                return corners;
            };
            x.iter_mut().for_each(|x| *x *= 1.0 - step);
            x[at] += step * value;
        }
    }
}

/// Returns the index of the largest |v|, the first one if several are equal.
fn largest(v: &[f64]) -> usize {
    // The long loop has no branch: it finds the largest value, and a second loop its index.
    let mut lanes = [0.0_f64; 8];
    let chunks = v.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            let size = v.abs();
            *lane = if size > *lane { size } else { *lane };
        }
    }
    let top = lanes.iter().chain(rest).fold(0.0_f64, |top, v| top.max(v.abs()));
    v.iter().position(|v| v.abs() >= top).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // With β = 0.01 and an η near rounding, this takes thousands of corners if nothing halts it.
    #[test]
    fn sliding_ends_at_the_next_corner_once_it_is_halted() {
        use std::sync::atomic::{AtomicU64, Ordering};
        let base: Vec<f64> = (0..40).map(|j| 1.0 + 1e-3 * f64::from(j)).collect();
        let slide = |most: u64| {
            let looks = AtomicU64::new(0);
            let halted = || looks.fetch_add(1, Ordering::Relaxed) >= most;
            L1Ball::new(Corners::Signed, 50.0).slide(
                &base,
                (0.01, 1e-9),
                &mut vec![0.0; 40],
                &halted,
            )
        };
        assert!(slide(1000) > 500);
        assert_eq!((slide(0), slide(7)), (1, 8));
    }

    proptest! {
        #[test]
        fn no_point_of_the_ball_is_further_along_than_the_corner(
            v in prop::collection::vec(-3.0..3.0_f64, 24),
            x in prop::collection::vec(-3.0..3.0_f64, 24),
            radius in 0.1..5.0_f64,
        ) {
            let mut ball = L1Ball::new(Corners::Signed, radius);
            let Corner { at, value } = ball.corner(&v);
            let mut x = x;
            ball.project(&mut x);
            let along: f64 = x.iter().zip(&v).map(|(x, v)| x * v).sum();
            prop_assert!(value * v[at] >= along - 1e-12);
            prop_assert_eq!(value.abs(), radius);
        }

        // There are more entries than are sorted at first, so that the others are sorted again.
        #[test]
        fn sliding_ends_near_the_projection(
            base in prop::collection::vec(-3.0..3.0_f64, 60),
            x in prop::collection::vec(-1.0..1.0_f64, 60),
            beta in 0.1..3.0_f64,
            radius in 0.1..40.0_f64,
        ) {
            let mut ball = L1Ball::new(Corners::Signed, radius);
            let (mut x, mut best) = (x, base.iter().map(|v| v / beta).collect::<Vec<_>>());
            x.iter_mut().step_by(2).for_each(|x| *x = 0.0);
            ball.project(&mut x);
            ball.project(&mut best);
            let value = |x: &[f64]| -> f64 {
                x.iter().zip(&base).map(|(x, v)| v * x - beta / 2.0 * x * x).sum()
            };
            let eta = 1e-3 * beta * radius * radius;
            ball.slide(&base, (beta, eta), &mut x, &|| false);
            prop_assert!(x.iter().map(|x| x.abs()).sum::<f64>() <= radius * (1.0 + 1e-9));
            prop_assert!(value(&best) - value(&x) <= eta * (1.0 + 1e-9), "{} {}", value(&best), value(&x));
        }
    }
}
