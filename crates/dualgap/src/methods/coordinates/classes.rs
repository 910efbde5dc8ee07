//! The model of K outputs. With `D_i = diag δ_i − r_i r_i'`, masses included, the slope at its end is
//!
//! ```text
//! t_i = s_i + D_i u_i = s_i + δ_i u_i − r_i m_i,     m_i = r_i'u_i
//! ```
//!
//! so that a step of one weight changes two numbers of an example, and not K.

use super::design::Design;
use super::gram::Curve;
use super::model::Model;
use super::terms::Terms;

pub struct Classes<'m> {
    pub design: &'m Design,
    pub terms: &'m Terms,
    /// s, δ and r, with K numbers for every example.
    pub slopes: &'m [f64],
    pub diagonal: Vec<f64>,
    pub rank_one: Vec<f64>,
    /// u and m, at first zero.
    pub along: Vec<f64>,
    pub means: Vec<f64>,
}

impl Classes<'_> {
    #[inline]
    fn shift(&mut self, c: usize, change: f64) {
        let k = self.design.outputs;
        let (along, means, rank_one) = (&mut self.along, &mut self.means, &self.rank_one);
        self.design.columns.column(c / k).for_each(|i, x| {
            along[i * k + c % k] += change * x;
            means[i] += rank_one[i * k + c % k] * change * x;
        });
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

    fn slope(&self, c: usize) -> f64 {
        let k = self.design.outputs;
        let mut sum = 0.0;
        self.design.columns.column(c / k).for_each(|i, x| {
            let at = i * k + c % k;
            let bent = self.diagonal[at] * self.along[at] - self.rank_one[at] * self.means[i];
            sum += x * (self.slopes[at] + bent);
        });
        sum
    }

    fn curvature(&self, c: usize) -> f64 {
        let k = self.design.outputs;
        let mut sum = 0.0;
        self.design.columns.column(c / k).for_each(|i, x| {
            let at = i * k + c % k;
            sum += x * x * (self.diagonal[at] - self.rank_one[at] * self.rank_one[at]);
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
        let k = self.design.outputs;
        let mut ahead = vec![0.0; self.along.len()];
        let mut change = 0.0;
        for (&c, to) in set.iter().zip(to) {
            let c = c as usize;
            if *to != w[c] {
                self.design.add(c, to - w[c], &mut ahead);
                change += self.terms.of(c, *to) - self.terms.of(c, w[c]);
            }
        }
        let mut means = vec![0.0; self.means.len()];
        for (i, mean) in means.iter_mut().enumerate() {
            let own = i * k..(i + 1) * k;
            *mean = own.clone().map(|at| self.rank_one[at] * ahead[at]).sum();
            for at in own {
                let bent = self.diagonal[at] * self.along[at] - self.rank_one[at] * self.means[i];
                let ahead_bent = self.diagonal[at] * ahead[at] - self.rank_one[at] * *mean;
                change += (self.slopes[at] + bent + 0.5 * ahead_bent) * ahead[at];
            }
        }
        if !(change < 0.0) {
            return false;
        }
        self.along.iter_mut().zip(&ahead).for_each(|(u, ahead)| *u += ahead);
        self.means.iter_mut().zip(&means).for_each(|(m, ahead)| *m += ahead);
        set.iter().zip(to).for_each(|(&c, to)| w[c as usize] = *to);
        true
    }
}
