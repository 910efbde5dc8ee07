//! A ball as gradient methods see it: the projection onto it, the corner where a linear function is largest, and
//! Frank-Wolfe steps toward such corners.

use super::l1;
use crate::linalg::Halted;

/// An extreme point of a ball, `left ⊗ right` of features and outputs: one entry for the l1 norm, rank one for the
/// trace norm. It includes the radius as a factor.
///
/// ```
/// # use dualgap::term::ball::region::Corner;
/// let corner = Corner { left: vec![(1, 1.0)], right: vec![(0, -2.0)] };
/// let mut x = vec![1.0; 4]; // two features, two outputs
/// corner.add_to(&mut x, 2, 0.5);
/// assert_eq!(x, [1.0, 1.0, 0.0, 1.0]);
/// assert_eq!((corner.dot(&x, 2), corner.squared_norm()), (0.0, 4.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corner {
    /// The feature and the value of each nonzero entry.
    pub left: Vec<(u32, f64)>,
    /// The output and the value of each nonzero entry.
    pub right: Vec<(u32, f64)>,
}

impl Corner {
    fn entries(&self, outputs: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.left.iter().flat_map(move |&(j, u)| {
            self.right.iter().map(move |&(k, v)| (j as usize * outputs + k as usize, u * v))
        })
    }

    /// `x += factor · corner`.
    pub fn add_to(&self, x: &mut [f64], outputs: usize, factor: f64) {
        self.entries(outputs).for_each(|(place, value)| x[place] += factor * value);
    }

    /// Returns the inner product with v.
    pub fn dot(&self, v: &[f64], outputs: usize) -> f64 {
        self.entries(outputs).map(|(place, value)| value * v[place]).sum()
    }

    /// Returns the squared Euclidean norm.
    pub fn squared_norm(&self) -> f64 {
        let square = |side: &[(u32, f64)]| side.iter().map(|(_, x)| x * x).sum::<f64>();
        square(&self.left) * square(&self.right)
    }
}

/// A ball; see the module's head. `self` holds what the next call can use, such as a threshold to start from.
pub trait Region: Send {
    /// r.
    fn radius(&self) -> f64;

    /// Replaces x by the nearest point of the ball.
    fn project(&mut self, x: &mut [f64], outputs: usize);

    /// Finds the corner with the largest inner product with v.
    fn corner(&mut self, v: &[f64], outputs: usize, to: &mut Corner);

    /// Scales x, which is in the ball up to rounding, until it is proved to be inside.
    fn bring_inside(&mut self, x: &mut [f64], outputs: usize);

    /// Runs Frank-Wolfe with exact steps from x, at rates (β, η), until ⟨base, x⟩ − (β/2)‖x‖² is within η of its
    /// maximum: an approximate projection of base/β that needs corners only. Returns how many corners it took. It
    /// checks the halt flag at every corner, and ends at once if that is set.
    fn slide(
        &mut self,
        base: &[f64],
        rates: (f64, f64),
        x: &mut [f64],
        outputs: usize,
        halted: Halted<'_>,
    ) -> u64;
}

/// Returns the exact step toward a corner, for this Frank-Wolfe gap and this squared distance of the corner; none if
/// the gap is at most η, or only rounding is left of it.
pub fn slide_step(gap: f64, eta: f64, own: f64, beta: f64, far: f64) -> Option<f64> {
    let rounding = 1e-15 * (own.abs() + gap.abs());
    (gap > eta.max(rounding) && far > 0.0).then(|| (gap / (beta * far)).min(1.0))
}

/// The l1 ball.
///
/// ```
/// # use dualgap::term::ball::region::{Corner, L1, Region};
/// let (mut ball, mut corner) = (L1::new(3.0), Corner::default());
/// ball.corner(&[0.5, -2.0, 1.0, 0.0], 2, &mut corner);
/// assert_eq!(corner, Corner { left: vec![(0, 1.0)], right: vec![(1, -3.0)] });
/// ```
#[derive(Clone, Debug)]
pub struct L1 {
    radius: f64,
    /// The soft threshold of the last projection: the next one is often near it.
    threshold: f64,
    memory: Vec<f64>,
    /// The nonzero entries of x, and the others, sorted by descending |base| as far as needed.
    support: Vec<u32>,
    others: Vec<u32>,
}

impl L1 {
    /// The l1 ball of this radius.
    pub fn new(radius: f64) -> Self {
        let (memory, support, others) = (Vec::new(), Vec::new(), Vec::new());
        Self { radius, threshold: 0.0, memory, support, others }
    }
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

impl Region for L1 {
    fn radius(&self) -> f64 {
        self.radius
    }

    fn project(&mut self, x: &mut [f64], _: usize) {
        (self.threshold, _) = l1::threshold_near(x, self.radius, self.threshold, &mut self.memory);
        let theta = self.threshold;
        if theta > 0.0 {
            x.iter_mut().for_each(|x| *x = l1::soft(*x, theta));
        }
    }

    fn corner(&mut self, v: &[f64], outputs: usize, to: &mut Corner) {
        let place = largest(v);
        to.left.clear();
        to.left.push(((place / outputs) as u32, 1.0));
        to.right.clear();
        let value = if v[place] < 0.0 { -self.radius } else { self.radius };
        to.right.push(((place % outputs) as u32, value));
    }

    fn bring_inside(&mut self, x: &mut [f64], _: usize) {
        l1::bring_inside(x, self.radius);
    }

    /// The gradient does not change where x is zero, so only the largest of those entries matters: a step costs the
    /// number of nonzero entries of x, and not d.
    fn slide(
        &mut self,
        base: &[f64],
        (beta, eta): (f64, f64),
        x: &mut [f64],
        _: usize,
        halted: Halted<'_>,
    ) -> u64 {
        const FIRST: usize = 16;
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
            L1::new(50.0).slide(&base, (0.01, 1e-9), &mut vec![0.0; 40], 1, &halted)
        };
        assert!(slide(1000) > 500);
        assert_eq!((slide(0), slide(7)), (1, 8));
    }

    proptest! {
        #[test]
        fn no_point_of_the_ball_is_further_along_than_the_corner(
            v in prop::collection::vec(-3.0..3.0_f64, 24),
            x in prop::collection::vec(-3.0..3.0_f64, 24),
            outputs in 1..4_usize,
            radius in 0.1..5.0_f64,
        ) {
            let (mut ball, mut corner) = (L1::new(radius), Corner::default());
            ball.corner(&v, outputs, &mut corner);
            let mut x = x;
            ball.project(&mut x, outputs);
            let along: f64 = x.iter().zip(&v).map(|(x, v)| x * v).sum();
            prop_assert!(corner.dot(&v, outputs) >= along - 1e-12);
            let mut at = vec![0.0; 24];
            corner.add_to(&mut at, outputs, 1.0);
            let norm: f64 = at.iter().map(|x| x.abs()).sum();
            prop_assert_eq!(norm, radius);
            let square: f64 = at.iter().map(|x| x * x).sum();
            prop_assert!((square - corner.squared_norm()).abs() < 1e-12);
        }

        // There are more entries than are sorted at first, so that the others are sorted again.
        #[test]
        fn sliding_ends_near_the_projection(
            base in prop::collection::vec(-3.0..3.0_f64, 60),
            x in prop::collection::vec(-1.0..1.0_f64, 60),
            beta in 0.1..3.0_f64,
            radius in 0.1..40.0_f64,
        ) {
            let mut ball = L1::new(radius);
            let (mut x, mut best) = (x, base.iter().map(|v| v / beta).collect::<Vec<_>>());
            x.iter_mut().step_by(2).for_each(|x| *x = 0.0);
            ball.project(&mut x, 1);
            ball.project(&mut best, 1);
            let value = |x: &[f64]| -> f64 {
                x.iter().zip(&base).map(|(x, v)| v * x - beta / 2.0 * x * x).sum()
            };
            let eta = 1e-3 * beta * radius * radius;
            ball.slide(&base, (beta, eta), &mut x, 1, &|| false);
            prop_assert!(x.iter().map(|x| x.abs()).sum::<f64>() <= radius * (1.0 + 1e-9));
            prop_assert!(value(&best) - value(&x) <= eta * (1.0 + 1e-9), "{} {}", value(&best), value(&x));
        }
    }
}
