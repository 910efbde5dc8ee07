//! A concave quadratic over the simplex: the master problem of one slack.
//!
//! ```text
//! max ⟨ℓ, a⟩ − ½ aᵀQa      a ≥ 0, Σ a = 1,     Q the Gram matrix of a few planes
//!
//! slopes   s = ℓ − Qa
//! gap      max s − ⟨a, s⟩, an upper bound on what is missing
//! ```
//!
//! An active-set method. A pairwise Frank-Wolfe step moves weight from the worst plane that has some to the best one,
//! which brings the best into the support. Then Newton's method on the face of the support, which for a quadratic is one
//! solution of linear equations, moves to the optimum of the face, or as far as weights stay nonnegative; what has
//! lost its weight leaves the support, and the smaller face follows. Every step is one of line search, so that the value
//! never falls, and the pairwise steps alone would converge, whatever rounding does to the equations.

use crate::linalg::kernels::argmax;

/// The inner products of planes: the lower triangle, row after row.
#[derive(Clone, Debug, Default)]
pub(super) struct Gram {
    packed: Vec<f64>,
    size: usize,
}

impl Gram {
    /// Returns the product of two planes.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (row, column) = if i >= j { (i, j) } else { (j, i) };
        self.packed[row * (row + 1) / 2 + column]
    }

    /// Adds a plane by its products with those before it and, last, with itself.
    pub fn push(&mut self, products: impl IntoIterator<Item = f64>) {
        self.packed.extend(products);
        self.size += 1;
        debug_assert_eq!(self.packed.len(), self.size * (self.size + 1) / 2);
    }

    /// Removes the planes that are not to stay.
    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        let left: Vec<usize> = (0..self.size).filter(|&i| stays(i)).collect();
        let mut gram = Self::default();
        for (k, &i) in left.iter().enumerate() {
            gram.push(left[..=k].iter().map(|&j| self.get(i, j)));
        }
        *self = gram;
    }
}

/// The slopes cannot be computed more accurately than this share of their terms, so a gap below it is none.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// The search ends after this many rounds in which rounding has kept the value from rising: the first may be chance.
const FRUITLESS: usize = 3;

/// The diagonal of the equations grows by this share of its largest entry, a few times the rounding of a Gram matrix:
/// without it, planes that depend on each other would leave the equations without a solution. The length of the step is
/// that of the true quadratic all the same.
const RIDGE: f64 = 1e-14;

/// Maximises the quadratic from the given weights until the gap is at most the tolerance, or down to rounding.
pub(super) fn maximise(gram: &Gram, linear: &[f64], weights: &mut [f64], tolerance: f64) {
    let (mut slopes, mut before, mut fruitless) = (vec![0.0; linear.len()], f64::NEG_INFINITY, 0);
    // Each round brings at most one plane into the support, and few planes come twice; what is left to be done after
    // so many rounds is left to the next master.
    for _ in 0..20 + 10 * linear.len() {
        let size = slopes_at(gram, linear, weights, &mut slopes);
        let (best, top) = argmax(slopes.iter().copied());
        let mean = product(weights, &slopes);
        let value = product(weights, linear) + mean;
        fruitless += usize::from(value <= before);
        before = value;
        // Not a number is not above it either.
        let open = top - mean > tolerance.max(ROUNDING * size);
        if !open || fruitless >= FRUITLESS || !pairwise(gram, &slopes, best, weights) {
            break;
        }
        while step_on_face(gram, linear, weights, &mut slopes) {}
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Computes `ℓ − Qa`, and returns the size of the largest sum of terms in it.
fn slopes_at(gram: &Gram, linear: &[f64], weights: &[f64], slopes: &mut [f64]) -> f64 {
    let mut largest = 0.0_f64;
    for (i, slope) in slopes.iter_mut().enumerate() {
        let (mut sum, mut size) = (linear[i], linear[i].abs());
        for (j, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let term = weight * gram.get(i, j);
            sum -= term;
            size += term.abs();
        }
        *slope = sum;
        largest = largest.max(size);
    }
    largest
}

/// Moves weight from the worst plane that has some to the best; returns whether any was moved.
fn pairwise(gram: &Gram, slopes: &[f64], best: usize, weights: &mut [f64]) -> bool {
    let known = |i: usize| if weights[i] > 0.0 { -slopes[i] } else { f64::NEG_INFINITY };
    let (worst, _) = argmax((0..slopes.len()).map(known));
    let curvature = gram.get(best, best) - 2.0 * gram.get(best, worst) + gram.get(worst, worst);
    let free = if curvature > 0.0 { (slopes[best] - slopes[worst]) / curvature } else { f64::MAX };
    if best == worst || free.is_nan() || free <= 0.0 {
        return false;
    }
    let (amount, had) = (free.min(weights[worst]), weights[best]);
    weights[worst] -= amount;
    weights[best] += amount;
    weights[best] > had
}

/// Moves toward the optimum of the face of the support; returns whether the step has made the support smaller, so that
/// another one may follow.
fn step_on_face(gram: &Gram, linear: &[f64], weights: &mut [f64], slopes: &mut [f64]) -> bool {
    // The heaviest plane has its weight from the others, which are the variables.
    let (last, _) = argmax(weights.iter().copied());
    let face: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0 && i != last).collect();
    if face.is_empty() {
        return false;
    }
    slopes_at(gram, linear, weights, slopes);
    let apart = |i: usize, j: usize| {
        gram.get(i, j) - gram.get(i, last) - gram.get(j, last) + gram.get(last, last)
    };
    let size = face.len();
    let mut matrix = vec![0.0; size * size];
    for (k, &i) in face.iter().enumerate() {
        face[..=k].iter().enumerate().for_each(|(l, &j)| matrix[k * size + l] = apart(i, j));
    }
    let rise: Vec<f64> = face.iter().map(|&i| slopes[i] - slopes[last]).collect();
    let mut direction = rise.clone();
    let largest = (0..size).fold(0.0_f64, |most, k| most.max(matrix[k * size + k]));
    let mut factor = matrix.clone();
    (0..size).for_each(|k| factor[k * size + k] += RIDGE * largest);
    if !solve(&mut factor, &mut direction) {
        return false;
    }
    let slope = product(&rise, &direction);
    let mut curvature = 0.0;
    for k in 0..size {
        let row = &matrix[k * size..k * size + k];
        let before: f64 = product(row, &direction[..k]);
        curvature += direction[k] * (2.0 * before + matrix[k * size + k] * direction[k]);
    }
    if slope.is_nan() || slope <= 0.0 {
        return false;
    }
    let free = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
    let of_last: f64 = -direction.iter().sum::<f64>();
    let changes = || face.iter().copied().zip(direction.iter().copied()).chain([(last, of_last)]);
    let limit = |(i, change): (usize, f64)| {
        if change < 0.0 { (weights[i] / -change, i) } else { (f64::INFINITY, i) }
    };
    let nearest = changes()
        .map(limit)
        .fold((f64::INFINITY, last), |least, next| if next.0 < least.0 { next } else { least });
    let length = free.min(nearest.0);
    if !length.is_finite() {
        return false;
    }
    changes().for_each(|(i, change)| weights[i] = (weights[i] + length * change).max(0.0));
    if nearest.0 > free {
        return false;
    }
    weights[nearest.1] = 0.0;
    true
}

/// Solves the equations of a positive definite matrix, of which the lower triangle is given, by Cholesky's factors;
/// returns whether rounding has left it positive definite.
fn solve(matrix: &mut [f64], x: &mut [f64]) -> bool {
    let size = x.len();
    for k in 0..size {
        for l in 0..=k {
            let (above, below) = matrix.split_at_mut(k * size);
            let row = if l == k { &below[..l] } else { &above[l * size..l * size + l] };
            let sum = below[l] - product(&below[..l], row);
            if l < k {
                below[l] = sum / above[l * size + l];
            } else if sum > 0.0 {
                below[l] = sum.sqrt();
            } else {
                return false;
            }
        }
        let row = &matrix[k * size..=k * size + k];
        x[k] = (x[k] - product(&row[..k], &x[..k])) / row[k];
    }
    for k in (0..size).rev() {
        x[k] /= matrix[k * size + k];
        let done = x[k];
        (0..k).for_each(|l| x[l] -= matrix[k * size + l] * done);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};

    fn value(gram: &Gram, linear: &[f64], a: &[f64]) -> f64 {
        let mut slopes = vec![0.0; a.len()];
        slopes_at(gram, linear, a, &mut slopes);
        0.5 * (product(a, linear) + product(a, &slopes))
    }

    /// The optimal value by an interior-point method, from a feasible point of its own.
    fn judged(gram: &Gram, linear: &[f64]) -> f64 {
        let k = linear.len();
        let rows: Vec<Vec<f64>> = (0..k)
            .map(|i| (0..k).map(|j| if i <= j { gram.get(i, j) } else { 0.0 }).collect())
            .collect();
        let p = CscMatrix::from(&rows);
        let mut rows = vec![vec![1.0; k]];
        rows.extend((0..k).map(|i| (0..k).map(|j| if i == j { -1.0 } else { 0.0 }).collect()));
        let a = CscMatrix::from(&rows);
        let b: Vec<f64> = std::iter::once(1.0).chain(vec![0.0; k]).collect();
        let q: Vec<f64> = linear.iter().map(|x| -x).collect();
        let cones = [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(k)];
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-12,
            tol_gap_rel: 1e-12,
            tol_feas: 1e-12,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).unwrap();
        solver.solve();
        let mut x: Vec<f64> = solver.solution.x.iter().map(|x| x.max(0.0)).collect();
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= total);
        value(gram, linear, &x)
    }

    /// Planes in so many dimensions, some of them twice, with values between 0 and 1.
    fn planes(random: &mut Random, count: usize, dim: usize, size: f64) -> (Gram, Vec<f64>) {
        let mut planes: Vec<Vec<f64>> = Vec::new();
        let mut linear: Vec<f64> = Vec::new();
        for p in 0..count {
            if p > 2 && random.below(8) == 0 {
                let twin = random.below(p);
                planes.push(planes[twin].clone());
                linear.push(linear[twin]);
                continue;
            }
            planes.push((0..dim).map(|_| size * (random.unit() - 0.3)).collect());
            linear.push(random.unit());
        }
        let mut gram = Gram::default();
        for p in 0..count {
            gram.push((0..=p).map(|q| product(&planes[p], &planes[q])));
        }
        (gram, linear)
    }

    // More planes than dimensions, planes that are there twice, planes of no length: Gram matrices that are singular.
    #[test]
    fn the_master_finds_the_optimum_of_an_interior_point_method() {
        let mut random = Random::new(1);
        for case in 0..120 {
            let (count, dim) = (1 + random.below(40), 1 + random.below(30));
            let size = [1e-3, 0.1, 1.0, 10.0, 0.0][case % 5];
            let (gram, linear) = planes(&mut random, count, dim, size);
            let mut a = vec![0.0; count];
            a[random.below(count)] = 1.0;
            let start = value(&gram, &linear, &a);
            maximise(&gram, &linear, &mut a, 0.0);
            let (ours, theirs) = (value(&gram, &linear, &a), judged(&gram, &linear));
            let scale = 1.0 + gram.packed.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(ours >= theirs - 1e-13 * scale, "case {case}: {ours} below {theirs}");
            assert!(ours >= start - 1e-15 * scale, "case {case}: {ours} below {start}");
            assert!((a.iter().sum::<f64>() - 1.0).abs() < 1e-14 && a.iter().all(|a| *a >= 0.0));
            // The gap proves it without the other solver.
            let mut slopes = vec![0.0; count];
            let size = slopes_at(&gram, &linear, &a, &mut slopes);
            let (_, top) = argmax(slopes.iter().copied());
            let gap = top - product(&a, &slopes);
            assert!(gap <= 1e-12 * size, "case {case}: a gap of {gap:e}");
        }
    }

    #[test]
    fn a_tolerance_ends_the_search_earlier() {
        let (gram, linear) = planes(&mut Random::new(7), 30, 12, 1.0);
        let gap = |tolerance: f64| {
            let mut a = vec![0.0; 30];
            a[0] = 1.0;
            maximise(&gram, &linear, &mut a, tolerance);
            let mut slopes = vec![0.0; 30];
            slopes_at(&gram, &linear, &a, &mut slopes);
            argmax(slopes.iter().copied()).1 - product(&a, &slopes)
        };
        assert!(gap(0.1) <= 0.1 && gap(0.1) > gap(1e-9) && gap(1e-9) <= 1e-9);
        assert_eq!(gap(f64::INFINITY), gap(1e300));
    }

    #[test]
    fn removed_planes_leave_the_products_of_the_others() {
        let (mut gram, _) = planes(&mut Random::new(3), 9, 4, 1.0);
        let before = gram.clone();
        let left = [0, 3, 4, 8];
        gram.retain(|i| left.contains(&i));
        assert_eq!(gram.size, 4);
        for (k, &i) in left.iter().enumerate() {
            (0..4).for_each(|l| assert_eq!(gram.get(k, l), before.get(i, left[l])));
        }
    }

    #[test]
    fn numbers_that_are_none_end_the_search() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut gram = Gram::default();
            gram.push([1.0]);
            gram.push([bad, bad]);
            let mut a = vec![1.0, 0.0];
            maximise(&gram, &[0.0, 1.0], &mut a, 0.0);
            maximise(&gram, &[bad, 1.0], &mut a, 0.0);
        }
    }
}
