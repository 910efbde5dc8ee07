//! The optimum by a projected gradient method on whole matrices, with momentum for the strong convexity that is known.

use faer::{Mat, MatRef};

/// Value and gradient at a matrix.
type Loss<'a> = dyn Fn(&Mat<f64>) -> (f64, Mat<f64>) + 'a;

/// What is minimised: value and gradient of the loss at X, and how smooth it is.
pub struct Judge<'a> {
    pub loss: &'a Loss<'a>,
    pub smoothness: f64,
    pub mu: f64,
    pub radius: f64,
    pub shape: (usize, usize),
}

/// The nearest matrix of the ball, by sorting all singular values.
pub fn project(x: MatRef<'_, f64>, radius: f64) -> Mat<f64> {
    let svd = x.thin_svd().unwrap();
    let values: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let mut theta = 0.0_f64;
    for k in 1..=values.len() {
        theta = theta.max((values[..k].iter().sum::<f64>() - radius) / k as f64);
    }
    let left = Mat::from_fn(x.nrows(), values.len(), |i, j| {
        svd.U()[(i, j)] * (values[j] - theta).max(0.0)
    });
    &left * svd.V().transpose()
}

impl Judge<'_> {
    /// P at a matrix.
    pub fn value(&self, x: &Mat<f64>) -> f64 {
        (self.loss)(x).0 + self.mu / 2.0 * x.squared_norm_l2()
    }

    /// The smallest P to about ten digits, and where.
    pub fn optimum(&self, steps: usize) -> (f64, Mat<f64>) {
        let ell = self.smoothness + self.mu;
        let root = (self.mu / ell).sqrt();
        let mut x = Mat::zeros(self.shape.0, self.shape.1);
        let (mut before, mut best) = (x.clone(), (self.value(&x), x.clone()));
        for step in 1..=steps {
            let k = step as f64;
            let beta =
                if self.mu > 0.0 { (1.0 - root) / (1.0 + root) } else { (k - 1.0) / (k + 2.0) };
            let y = Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
                x[(i, j)] + beta * (x[(i, j)] - before[(i, j)])
            });
            let (_, gradient) = (self.loss)(&y);
            let next = Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
                y[(i, j)] - (gradient[(i, j)] + self.mu * y[(i, j)]) / ell
            });
            before = std::mem::replace(&mut x, project(next.as_ref(), self.radius));
            let value = self.value(&x);
            if value < best.0 {
                best = (value, x.clone());
            }
        }
        best
    }
}
