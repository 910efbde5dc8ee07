//! The multiclass hinge for Newton's method: it has corners, and is smoothed around a dual point.
//!
//! Around β_c the smoothed hinge is `max_β ⟨β, s⟩ − s_y − (γ/2)‖β − β_c‖²`, with the scores s that include the costs: its β is the
//! projection of `β_c + s/γ` onto the simplex. Slopes are β − e_y.

use super::{MulticlassBlocks, support};
use crate::dual::Mixture;
use crate::linalg::Rows;
use crate::linalg::kernels::argmax;
use crate::methods::newton::CurvedBlocks;
use crate::term::MulticlassLoss;

impl MulticlassBlocks<'_> {
    /// Writes scores with the costs added.
    fn add_costs(&self, i: usize, a: &[f64], scores: &mut Vec<f64>) {
        self.fill_costs(i, scores);
        scores.iter_mut().zip(a).for_each(|(score, a)| *score += a);
    }
}

impl CurvedBlocks for MulticlassBlocks<'_> {
    fn inputs(&self) -> &Rows {
        self.rows()
    }

    fn outputs(&self) -> usize {
        self.classes
    }

    fn is_curved(&self) -> bool {
        false
    }

    fn has_corners(&self) -> bool {
        true
    }

    fn smoothed_orders(
        &self,
        first: usize,
        (width, centres): (f64, &[f64]),
        a: &[f64],
        [exact, values, slopes, curves]: [&mut [f64]; 4],
    ) {
        let k = self.classes;
        let (mut scores, mut centre, mut beta) = (Vec::with_capacity(k), vec![0.0; k], Vec::new());
        let out = slopes.chunks_exact_mut(k).zip(curves.chunks_exact_mut(k));
        let each = a.chunks_exact(k).zip(centres.chunks_exact(k)).zip(out);
        for (place, ((a, around), (slope, curve))) in each.enumerate() {
            let (i, truth) = (first + place, self.truth(first + place));
            self.add_costs(i, a, &mut scores);
            centre.copy_from_slice(around);
            centre[truth] += 1.0;
            MulticlassLoss::Hinge.maximizer(&scores, &centre, width, &mut beta);
            let own = scores[truth];
            let (mut smoothed, mut inside) = (0.0, 0);
            for ((b, c), s) in beta.iter().zip(&centre).zip(&scores) {
                smoothed += b * (s - own) - 0.5 * width * (b - c) * (b - c);
                inside += usize::from(*b > 0.0);
            }
            exact[place] = argmax(scores.iter().copied()).1 - own;
            values[place] = smoothed;
            slope.copy_from_slice(&beta);
            slope[truth] -= 1.0;
            if inside > 1 {
                support::keep(&beta, width, curve);
            } else {
                curve.fill(0.0);
            }
        }
    }

    fn slope_at(&self, i: usize, at: &Mixture, slope: &mut [f64]) {
        slope.fill(0.0);
        at.iter().for_each(|(y, weight)| slope[y as usize] += weight);
        slope[self.truth(i)] -= 1.0;
    }

    /// Linear around almost every a.
    fn second_order(&self, i: usize, a: &[f64], slope: &mut [f64], curve: &mut [f64]) -> f64 {
        let (mut scores, truth) = (Vec::new(), self.truth(i));
        self.add_costs(i, a, &mut scores);
        let (best, top) = argmax(scores.iter().copied());
        slope.fill(0.0);
        curve.fill(0.0);
        slope[best] += 1.0;
        slope[truth] -= 1.0;
        top - scores[truth]
    }

    fn curvature_entry(&self, _: usize, curve: &[f64], place: (usize, usize)) -> f64 {
        support::entry(curve, place)
    }

    fn bend(&self, _: usize, curve: &[f64], u: &[f64], out: &mut [f64]) {
        support::bend(curve, u, out);
    }

    fn split_curve(&self, _: usize, curve: &[f64], diagonal: &mut [f64], rank_one: &mut [f64]) {
        support::split(curve, diagonal, rank_one);
    }

    fn touching(&self, i: usize, a: &[f64]) -> Mixture {
        let mut scores = Vec::new();
        self.add_costs(i, a, &mut scores);
        Mixture::corner(&[argmax(scores.iter().copied()).0 as u64])
    }

    fn confine(&self, i: usize, s: &mut [f64]) {
        support::confine(self.truth(i), s);
    }

    fn opposite(&self, i: usize, s: &[f64]) -> Mixture {
        let mut beta = s.to_vec();
        beta[self.truth(i)] += 1.0;
        let entries = beta.iter().enumerate().filter(|(_, b)| **b != 0.0);
        let entries = entries.map(|(y, &b)| (y as u64, b)).collect();
        Mixture::from_entries(entries).unwrap_or_else(|| Mixture::corner(&[self.truth(i) as u64]))
    }
}
