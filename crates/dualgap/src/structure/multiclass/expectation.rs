//! Expectations of multiclass blocks, for exponentiated gradient steps: the parts of an output are the classes, and the
//! distribution is the softmax of the parameters.

use super::blocks::{MulticlassBlocks, MulticlassScratch};
use crate::dual::{Blocks, Mixture};
use crate::methods::exponentiated_gradient::ExpectationBlocks;
use crate::structure::fitted::softmax;

impl ExpectationBlocks for MulticlassBlocks<'_> {
    fn parts(&self, _: usize) -> usize {
        self.classes
    }

    fn score_parts(
        &self,
        i: usize,
        w: &[f64],
        scores: &mut [f64],
        scratch: &mut MulticlassScratch,
    ) {
        self.rescore(i, w, scratch);
        scores.copy_from_slice(&scratch.scores);
    }

    fn expect(&self, _: usize, theta: &[f64], counts: &mut [f64], _: &mut MulticlassScratch) {
        counts.copy_from_slice(theta);
        softmax(counts);
    }

    fn prepare(&self, _: usize, at: &[f64], to: &[f64], scratch: &mut MulticlassScratch) {
        let difference = at.iter().zip(to).map(|(at, to)| at - to).enumerate();
        scratch.d.clear();
        scratch.d.extend(difference.filter(|&(_, d)| d != 0.0));
    }

    fn point_of(&self, i: usize, theta: &[f64], _: &mut MulticlassScratch) -> Mixture {
        let mut weights = theta.to_vec();
        softmax(&mut weights);
        let entries = weights.into_iter().enumerate().map(|(y, weight)| (y as u64, weight));
        let entries = entries.filter(|&(_, weight)| weight > 0.0).collect();
        // Keys ascend in this order, so that there is always a mixture of them.
        Mixture::from_entries(entries).unwrap_or_else(|| self.start(i))
    }

    fn point_entries(&self, _: usize) -> usize {
        self.classes
    }
}
