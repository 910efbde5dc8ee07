//! The model of one output. Of an example it keeps the slope at its end, `t_i = s_i + D_i u_i`, so that the slope along a
//! weight is one sum over its column.

use super::column;
use super::design::Design;
use super::gram::Curve;
use super::model::Model;
use super::terms::Terms;

pub struct Plain<'m> {
    pub design: &'m Design,
    pub terms: &'m Terms,
    pub curve: Curve<'m>,
    /// Whether D is the same in all models.
    pub lasting: bool,
    /// t, at first s.
    pub slopes: Vec<f64>,
}

impl Plain<'_> {
    #[inline]
    fn shift(&mut self, c: usize, change: f64) {
        let column = self.design.columns.column(c);
        match self.curve {
            Curve::Same(curve) => column::add(column, curve * change, &mut self.slopes),
            Curve::Each(curves) => column::add_weighted(column, change, curves, &mut self.slopes),
        }
    }
}

impl Model for Plain<'_> {
    fn design(&self) -> &Design {
        self.design
    }

    fn terms(&self) -> &Terms {
        self.terms
    }

    fn curve(&self) -> Option<Curve<'_>> {
        Some(self.curve)
    }

    fn is_lasting(&self) -> bool {
        self.lasting
    }

    fn slope(&self, c: usize) -> f64 {
        column::dot(self.design.columns.column(c), &self.slopes)
    }

    fn curvature(&self, c: usize) -> f64 {
        match self.curve {
            Curve::Same(curve) => {
                let column = self.design.columns.column(c);
                let mut sum = 0.0;
                column.for_each(|_, x| sum += x * x);
                curve * sum
            }
            Curve::Each(curves) => column::weighted_square(self.design.columns.column(c), curves),
        }
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
        let mut along = vec![0.0; self.slopes.len()];
        let mut change = 0.0;
        for (&c, to) in set.iter().zip(to) {
            let c = c as usize;
            if *to != w[c] {
                column::add(self.design.columns.column(c), to - w[c], &mut along);
                change += self.terms.of(c, *to) - self.terms.of(c, w[c]);
            }
        }
        let bent = |i: usize| match self.curve {
            Curve::Same(curve) => curve * along[i],
            Curve::Each(curves) => curves[i] * along[i],
        };
        let of_losses: f64 =
            (0..along.len()).map(|i| (self.slopes[i] + 0.5 * bent(i)) * along[i]).sum();
        let lower = of_losses + change < 0.0;
        if !lower {
            return false;
        }
        for (i, slope) in self.slopes.iter_mut().enumerate() {
            *slope += match self.curve {
                Curve::Same(curve) => curve * along[i],
                Curve::Each(curves) => curves[i] * along[i],
            };
        }
        set.iter().zip(to).for_each(|(&c, to)| w[c as usize] = *to);
        true
    }
}
