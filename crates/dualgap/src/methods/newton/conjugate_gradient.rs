//! The Newton equations by preconditioned conjugate gradients.

use crate::linalg::kernels::{add_scaled, dot};

/// A positive definite matrix, by its products, and its preconditioner.
pub struct Equations<'a> {
    /// Writes Hu.
    pub product: &'a mut dyn FnMut(&[f64], &mut [f64]),
    /// Returns M⁻¹r for a positive definite M that is like H.
    pub precondition: &'a dyn Fn(&[f64]) -> Vec<f64>,
}

/// Solves Hp = b until the residual is at most `accuracy` of what it was at p = 0, or `most` products are used up, or
/// `halted`. Returns p, and the number of products. A solution that is cut short is a descent direction all the same.
pub fn solve(
    equations: &mut Equations<'_>,
    b: &[f64],
    accuracy: f64,
    most: usize,
    halted: &dyn Fn() -> bool,
) -> (Vec<f64>, usize) {
    let mut p = vec![0.0; b.len()];
    let mut residual = b.to_vec();
    let mut z = (equations.precondition)(&residual);
    let (mut direction, mut rz) = (z.clone(), dot(&residual, &z));
    let (enough, mut image) = (accuracy * accuracy * rz, vec![0.0; b.len()]);
    let mut products = 0;
    // The preconditioned norm: the unit of a column does not matter to it either.
    while products < most && rz > enough && !halted() {
        (equations.product)(&direction, &mut image);
        products += 1;
        let curvature = dot(&direction, &image);
        if !(curvature > 0.0 && curvature.is_finite()) {
            break;
        }
        let step = rz / curvature;
        add_scaled(&direction, step, &mut p);
        add_scaled(&image, -step, &mut residual);
        z = (equations.precondition)(&residual);
        let before = std::mem::replace(&mut rz, dot(&residual, &z));
        let share = rz / before;
        direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + share * *d);
    }
    (p, products)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // As many products as equations solve them exactly; the judge is the residual itself.
        #[test]
        fn the_equations_are_solved(n in 1..8_usize, numbers in prop::collection::vec(-1.0..1.0_f64, 64), b in prop::collection::vec(-1.0..1.0_f64, 8)) {
            let h = |i: usize, j: usize| -> f64 {
                let squares: f64 = (0..n).map(|k| numbers[k * 8 + i] * numbers[k * 8 + j]).sum();
                squares + if i == j { 0.5 } else { 0.0 }
            };
            let times = |u: &[f64], out: &mut [f64]| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = (0..n).map(|j| h(i, j) * u[j]).sum();
                }
            };
            let diagonal: Vec<f64> = (0..n).map(|i| h(i, i)).collect();
            let mut product = times;
            let precondition =
                |r: &[f64]| r.iter().zip(&diagonal).map(|(r, h)| r / h).collect::<Vec<_>>();
            let mut equations =
                Equations { product: &mut product, precondition: &precondition };
            let (p, _) = solve(&mut equations, &b[..n], 1e-10, 10 * n, &|| false);
            let mut image = vec![0.0; n];
            times(&p, &mut image);
            for (image, b) in image.iter().zip(&b) {
                prop_assert!((image - b).abs() < 1e-8);
            }
        }
    }
}
