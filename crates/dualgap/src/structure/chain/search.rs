//! The search for the best labeling of a block: Viterbi's algorithm, or a beam.

use super::beam::Beam;
use super::blocks::{ChainBlocks, ChainScratch};
use super::edges::keys_of;
use crate::dual::Found;
use crate::run::Basis;

impl ChainBlocks<'_> {
    /// Finds the best labeling at w, if a wrong label costs this much.
    #[inline]
    pub(super) fn search(
        &self,
        i: usize,
        w: &[f64],
        cost: f64,
        corner: &mut Vec<u64>,
        scratch: &mut ChainScratch,
    ) -> Found {
        let ChainScratch { viterbi, path, .. } = scratch;
        let truth = self.data.truth(i);
        viterbi.score(self.layout, w, self.sequence(i), Some((truth, cost)));
        let Some(Beam { width, bound }) = self.beam.filter(|beam| beam.width < self.layout.labels)
        else {
            let best = viterbi.decode(self.layout, w, path);
            corner.clear();
            corner.extend(keys_of(path));
            return Found::exact(best - viterbi.path_score(self.layout, w, truth));
        };
        let (best, most) = viterbi.decode_beam(self.layout, w, width, path);
        let right = viterbi.path_score(self.layout, w, truth);
        corner.clear();
        // The truth is an output too, which a narrow beam may miss.
        corner.extend(keys_of(if best < right { truth } else { path }));
        let bound = if bound { (most - right).max(0.0) } else { f64::INFINITY };
        Found { value: (best - right).max(0.0), bound, basis: Basis::Bounds }
    }
}
