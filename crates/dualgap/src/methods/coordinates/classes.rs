//! The model of K outputs. With `D_i = diag δ_i − r_i r_i'`, masses included, the slope at its end is
//!
//! ```text
//! t_i = s_i + D_i u_i = s_i + δ_i u_i − r_i m_i,     m_i = r_i'u_i
//! ```
//!
//! so that a step of one weight changes two numbers of an example, and not K. The numbers of an output are neighbours: a step
//! looks at one output of all examples.

use super::column;
use super::design::Design;
use super::gram::Curve;
use super::model::Model;
use super::terms::Terms;
use crate::linalg::Row;
use multiversion::multiversion;

pub struct Classes<'m> {
    design: &'m Design,
    terms: &'m Terms,
    /// s, δ and r, output by output.
    slopes: Vec<f64>,
    diagonal: Vec<f64>,
    rank_one: Vec<f64>,
    /// u and m, at first zero.
    along: Vec<f64>,
    means: Vec<f64>,
}

/// The numbers of one output.
#[derive(Clone, Copy)]
struct Output<'m> {
    slopes: &'m [f64],
    diagonal: &'m [f64],
    rank_one: &'m [f64],
    along: &'m [f64],
    means: &'m [f64],
}

impl Output<'_> {
    #[inline]
    fn slope(&self, i: usize) -> f64 {
        self.slopes[i] + self.diagonal[i] * self.along[i] - self.rank_one[i] * self.means[i]
    }
}

impl<'m> Classes<'m> {
    /// Returns the model at s, δ and r, example by example.
    pub fn new(
        design: &'m Design,
        terms: &'m Terms,
        slopes: &[f64],
        diagonal: &[f64],
        rank_one: &[f64],
    ) -> Self {
        let (n, k) = (design.masses.len(), design.outputs);
        let by_output = |from: &[f64]| -> Vec<f64> {
            let mut to = vec![0.0; from.len()];
            for (i, from) in from.chunks_exact(k).enumerate() {
                from.iter().enumerate().for_each(|(k, x)| to[k * n + i] = *x);
            }
            to
        };
        let [slopes, diagonal, rank_one] = [slopes, diagonal, rank_one].map(by_output);
        let (along, means) = (vec![0.0; n * k], vec![0.0; n]);
        Self { design, terms, slopes, diagonal, rank_one, along, means }
    }

    /// Returns the column of a weight, and the numbers of its output.
    #[inline]
    fn of(&self, c: usize) -> (Row<'_>, Output<'_>) {
        let (n, k) = (self.design.masses.len(), self.design.outputs);
        let own = (c % k) * n..(c % k + 1) * n;
        let output = Output {
            slopes: &self.slopes[own.clone()],
            diagonal: &self.diagonal[own.clone()],
            rank_one: &self.rank_one[own.clone()],
            along: &self.along[own],
            means: &self.means,
        };
        (self.design.columns.column(c / k), output)
    }

    #[inline]
    fn shift(&mut self, c: usize, change: f64) {
        let (n, k) = (self.design.masses.len(), self.design.outputs);
        let own = (c % k) * n..(c % k + 1) * n;
        let column = self.design.columns.column(c / k);
        column::add(column, change, &mut self.along[own.clone()]);
        column::add_weighted(column, change, &self.rank_one[own], &mut self.means);
    }
}

impl Model for Classes<'_> {
    fn design(&self) -> &Design {
        self.design
    }

    fn terms(&self) -> &Terms {
        self.terms
    }

    fn curve(&self) -> Option<Curve<'_>> {
        None
    }

    fn is_lasting(&self) -> bool {
        false
    }

    fn slope(&self, c: usize) -> f64 {
        let (column, output) = self.of(c);
        match column {
            Row::Dense(values) => slope_of_dense(values, output),
            sparse => {
                let mut sum = 0.0;
                sparse.for_each(|i, x| sum += x * output.slope(i));
                sum
            }
        }
    }

    fn curvature(&self, c: usize) -> f64 {
        let (column, output) = self.of(c);
        let mut sum = 0.0;
        column.for_each(|i, x| {
            sum += x * x * (output.diagonal[i] - output.rank_one[i] * output.rank_one[i]);
        });
        sum
    }

    fn cycle(&mut self, set: &[u32], curvatures: &[f64], w: &mut [f64]) -> f64 {
        let mut most = 0.0_f64;
        for (&c, &h) in set.iter().zip(curvatures) {
            if h <= 0.0 {
                continue;
            }
            let c = c as usize;
            let change = self.terms.step(c, w[c], self.slope(c), h) - w[c];
            if change != 0.0 {
                w[c] += change;
                self.shift(c, change);
                most = most.max((h + self.terms.lambda) * change * change);
            }
        }
        most
    }

    fn jump(&mut self, set: &[u32], w: &mut [f64], to: &[f64]) -> bool {
        let (n, k) = (self.design.masses.len(), self.design.outputs);
        let (mut ahead, mut means) = (vec![0.0; n * k], vec![0.0; n]);
        let mut change = 0.0;
        for (&c, to) in set.iter().zip(to) {
            let c = c as usize;
            if *to != w[c] {
                let (own, column) =
                    ((c % k) * n..(c % k + 1) * n, self.design.columns.column(c / k));
                column::add(column, to - w[c], &mut ahead[own.clone()]);
                column::add_weighted(column, to - w[c], &self.rank_one[own], &mut means);
                change += self.terms.of(c, *to) - self.terms.of(c, w[c]);
            }
        }
        for (k, ahead) in ahead.chunks_exact(n).enumerate() {
            let (_, output) = self.of(k);
            for (i, ahead) in ahead.iter().enumerate() {
                let bent = output.diagonal[i] * ahead - output.rank_one[i] * means[i];
                change += (output.slope(i) + 0.5 * bent) * ahead;
            }
        }
        let lower = change < 0.0;
        if !lower {
            return false;
        }
        self.along.iter_mut().zip(&ahead).for_each(|(u, ahead)| *u += ahead);
        self.means.iter_mut().zip(&means).for_each(|(m, ahead)| *m += ahead);
        set.iter().zip(to).for_each(|(&c, to)| w[c as usize] = *to);
        true
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn slope_of_dense(values: &[f64], output: Output<'_>) -> f64 {
    let (n, mut sums) = (values.len(), [0.0; 4]);
    // Slices of one length, so that no index is checked.
    let Output { slopes, diagonal, rank_one, along, means } = output;
    let (s, d, r) = (&slopes[..n], &diagonal[..n], &rank_one[..n]);
    let (u, m) = (&along[..n], &means[..n]);
    for first in (0..n / 4 * 4).step_by(4) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let i = first + lane;
            *sum += values[i] * (s[i] + d[i] * u[i] - r[i] * m[i]);
        }
    }
    let rest: f64 = (n / 4 * 4..n).map(|i| values[i] * output.slope(i)).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
