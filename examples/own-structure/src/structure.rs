//! Segments: a label for each position of a signal, where the labels change at most K − 1 times.
//!
//! ```text
//! score(x, y) = Σ_t ⟨w_{y_t}, x_t⟩,        loss = the fraction of wrong positions
//! ```

use dualgap::Result;
use dualgap::data::Source;
use dualgap::linalg::Accumulate;
use dualgap::structure::{Bound, Decoded, Extent, Oracle, OwnExamples, OwnOracle};
use serde::{Deserialize, Serialize};

/// One row of numbers a position.
type Signal = Vec<Vec<f64>>;

const REMEDY: &str = "a line is [[[0.5, 1], [0.1, 0]], [0, 1]], as wide as the options say and with their labels, or null";

/// Signals of `width` numbers a position, `labels` labels, at most `segments` segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segmentation {
    pub width: usize,
    pub labels: usize,
    pub segments: usize,
}

impl Segmentation {
    fn fits(&self, x: &Signal) -> bool {
        !x.is_empty() && x.iter().all(|row| row.len() == self.width)
    }
}

impl Oracle for Segmentation {
    type Input = Signal;
    type Output = Vec<u8>;
    type Scratch = ();

    fn dim(&self) -> usize {
        self.labels * self.width
    }

    fn features(&self, x: &Signal, y: &Vec<u8>, out: &mut impl Accumulate) {
        x.iter().zip(y).for_each(|(x, y)| out.add_run(usize::from(*y) * self.width, x, 1.0));
    }

    fn loss(&self, x: &Signal, truth: &Vec<u8>, y: &Vec<u8>) -> f64 {
        truth.iter().zip(y).filter(|(a, b)| a != b).count() as f64 / x.len() as f64
    }

    fn extent(&self, x: &Signal) -> Option<Extent> {
        let norm1 = x.iter().flatten().map(|x| x.abs()).sum();
        Some(Extent { terms: x.len() * self.width, norm1, loss: 1.0 })
    }

    /// Dynamic programming: the best way to each label in each segment, position by position, in O(T K L).
    fn decode(
        &self,
        w: &[f64],
        x: &Signal,
        against: Option<&Vec<u8>>,
        (): &mut (),
    ) -> Result<Decoded<Vec<u8>>> {
        let (labels, share) = (self.labels, 1.0 / x.len() as f64);
        let gain = |t: usize, y: usize| -> f64 {
            let wrong = against.is_some_and(|truth| usize::from(truth[t]) != y);
            let score = w[y * self.width..].iter().zip(&x[t]).map(|(w, x)| w * x).sum::<f64>();
            score + if wrong { share } else { 0.0 }
        };
        let top = |of: &[f64]| (0..of.len()).fold(0, |a, b| if of[b] > of[a] { b } else { a });
        // The place of label y in segment s is s · labels + y.
        let mut best = vec![f64::NEG_INFINITY; self.segments * labels];
        (0..labels).for_each(|y| best[y] = gain(0, y));
        let mut came_from = vec![(0..best.len()).collect::<Vec<_>>(); x.len()];
        for (t, from) in came_from.iter_mut().enumerate().skip(1) {
            for s in (1..self.segments).rev() {
                let before = (s - 1) * labels + top(&best[(s - 1) * labels..s * labels]);
                for at in s * labels..(s + 1) * labels {
                    if best[before] > best[at] {
                        (best[at], from[at]) = (best[before], before);
                    }
                }
            }
            (0..best.len()).for_each(|at| best[at] += gain(t, at % labels));
        }
        let (mut at, mut output) = (top(&best), vec![0; x.len()]);
        for t in (0..x.len()).rev() {
            output[t] = (at % labels) as u8;
            at = came_from[t][at];
        }
        Ok(Decoded { output, bound: Bound::Exact })
    }
}

impl OwnOracle for Segmentation {
    const NAME: &'static str = "segments";

    fn admits(&self, x: &Signal, y: &Vec<u8>) -> bool {
        let segments = y.chunk_by(|a, b| a == b).count();
        let known = y.iter().all(|&y| usize::from(y) < self.labels);
        known && y.len() == x.len() && segments <= self.segments
    }

    /// Reads a signal and its labels a line, `[[[number, …], …], [label, …]]`, or all without, `[[[number, …], …], null]`.
    fn read(&self, mut source: Source<'_>) -> Result<OwnExamples<Signal, Vec<u8>>> {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        while let Some(line) = source.next_line()? {
            match serde_json::from_str::<(Signal, Option<Vec<u8>>)>(line) {
                Ok((x, Some(y))) if self.fits(&x) && self.admits(&x, &y) => known.push((x, y)),
                Ok((x, None)) if self.fits(&x) => unknown.push(x),
                _ => return Err(source.error("is no signal", REMEDY)),
            }
        }
        match (known.is_empty(), unknown.is_empty()) {
            (false, true) => Ok(OwnExamples::new(known)),
            (true, false) => Ok(OwnExamples::unlabelled(unknown)),
            _ => Err(source.file_error("has no signals, or labels of some", REMEDY)),
        }
    }
}
