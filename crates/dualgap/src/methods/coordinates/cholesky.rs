//! Small positive definite systems.

/// A pivot below this share of its diagonal entry is rounding: the matrix is singular in this arithmetic.
const SINGULAR: f64 = 1e-13;

/// Solves `Ax = b` for a positive definite A, row by row, of which the lower half is read and overwritten; b becomes x. Returns
/// false if A is not positive definite in this arithmetic.
pub fn solve(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for i in 0..n {
        let (above, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..n];
        let diagonal = row[i];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            let sum: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - sum) / other[j];
        }
        let pivot = diagonal - row[..i].iter().map(|x| x * x).sum::<f64>();
        if !(pivot > SINGULAR * diagonal && pivot.is_finite()) {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    for i in 0..n {
        let row = &a[i * n..=i * n + i];
        let sum: f64 = row[..i].iter().zip(&*b).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - sum) / row[i];
    }
    for i in (0..n).rev() {
        b[i] /= a[i * n + i];
        let (solved, row) = (b[i], &a[i * n..i * n + i]);
        b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * solved);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_system_is_solved(n in 1..8_usize, numbers in prop::collection::vec(-1.0..1.0_f64, 64), b in prop::collection::vec(-1.0..1.0_f64, 8)) {
            let entry = |i: usize, j: usize| {
                let squares: f64 = (0..n).map(|k| numbers[k * 8 + i] * numbers[k * 8 + j]).sum();
                squares + if i == j { 0.1 } else { 0.0 }
            };
            let mut a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            let mut x = b[..n].to_vec();
            prop_assert!(solve(&mut a, &mut x));
            for (i, b) in b[..n].iter().enumerate() {
                let product: f64 = (0..n).map(|j| entry(i, j) * x[j]).sum();
                prop_assert!((product - b).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_not_solved() {
        assert!(!solve(&mut [1.0, 1.0, 1.0, 1.0], &mut [1.0, 2.0]));
    }
}
