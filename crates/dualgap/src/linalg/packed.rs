//! The weights of features by label without their zeros: what predictions need of a model that is mostly zeros.
//!
//! The dense matrix of a tagger has tens of megabytes, which the system has to clear and the program to fill before the first
//! prediction. Here a feature has a short run of labels and weights. The weights of a label are added in the same order as
//! by [`add_scores`](super::kernels::add_scores), and the zeros in between add nothing: the scores are the same.

use super::Row;

/// Weights by feature and label, of which zeros are not stored.
#[derive(Clone, Debug)]
pub struct PackedRows {
    features: usize,
    labels: usize,
    /// Where the run of each feature begins, and, once finished, the end of the last.
    starts: Vec<u32>,
    /// The labels of the weights, ascending within a run.
    places: Vec<u16>,
    weights: Numbers,
    /// The label after the last weight, while weights are pushed.
    next: usize,
}

#[derive(Clone, Debug)]
enum Numbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl PackedRows {
    /// Returns the matrix of zeros, with room for so many weights (2³² − 1 at most, and as many labels as 16 bits count), which
    /// have 32 bits if they are `single`.
    pub fn new(features: usize, labels: usize, weights: usize, single: bool) -> Self {
        let mut starts = Vec::with_capacity(features + 1);
        starts.push(0);
        let numbers = if single {
            Numbers::Single(Vec::with_capacity(weights))
        } else {
            Numbers::Double(Vec::with_capacity(weights))
        };
        let places = Vec::with_capacity(weights);
        Self { features, labels, starts, places, weights: numbers, next: 0 }
    }

    /// Appends so many zeros and then a weight, feature by feature. Returns false if there is no room for it in the matrix, which
    /// must not be used then.
    #[inline]
    pub fn push(&mut self, zeros: usize, weight: f64) -> bool {
        let Some(mut place) = self.next.checked_add(zeros) else { return false };
        while place >= self.labels {
            if self.starts.len() >= self.features {
                return false;
            }
            self.starts.push(self.places.len() as u32);
            place -= self.labels;
        }
        self.places.push(place as u16);
        match &mut self.weights {
            Numbers::Single(all) => all.push(weight as f32),
            Numbers::Double(all) => all.push(weight),
        }
        self.next = place + 1;
        true
    }

    /// Ends the last runs; to be called when all weights were pushed.
    pub fn finish(&mut self) {
        self.starts.resize(self.features + 1, self.places.len() as u32);
    }

    /// `scores[y] += Σ_f x_f · w[f, y]` for every label, as [`add_scores`](super::kernels::add_scores) does it.
    #[inline]
    pub fn add_scores(&self, row: Row<'_>, scores: &mut [f64]) {
        match &self.weights {
            Numbers::Single(weights) => self.add(row, weights, scores),
            Numbers::Double(weights) => self.add(row, weights, scores),
        }
    }

    #[inline]
    fn add<W: Copy + Into<f64>>(&self, row: Row<'_>, weights: &[W], scores: &mut [f64]) {
        row.for_each(|f, x| {
            let run = self.starts[f] as usize..self.starts[f + 1] as usize;
            for (&place, &weight) in self.places[run.clone()].iter().zip(&weights[run]) {
                scores[usize::from(place)] += x * weight.into();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;
    use crate::linalg::kernels::add_scores;

    // The judge is the dense kernel, bit for bit.
    #[test]
    fn scores_are_those_of_the_dense_matrix() {
        let mut random = Random::new(3);
        for (features, labels) in [(1, 1), (5, 3), (40, 22), (7, 33)] {
            for single in [false, true] {
                let mut dense = vec![0.0; features * labels];
                for w in &mut dense {
                    let x = random.unit() - 0.5;
                    let kept = random.unit() < 0.2;
                    *w = if !kept {
                        0.0
                    } else if single {
                        f64::from(x as f32)
                    } else {
                        x
                    };
                }
                let (mut packed, mut zeros) = (PackedRows::new(features, labels, 0, single), 0);
                for &w in &dense {
                    if w == 0.0 {
                        zeros += 1;
                    } else {
                        assert!(packed.push(std::mem::take(&mut zeros), w));
                    }
                }
                packed.finish();
                let values: Vec<f64> = (0..features).map(|_| random.unit()).collect();
                let some: Vec<u32> = (0..features as u32).step_by(3).collect();
                let of_some: Vec<f64> = some.iter().map(|&f| values[f as usize]).collect();
                for row in [Row::Dense(&values), Row::Sparse { indices: &some, values: &of_some }] {
                    let start: Vec<f64> = (0..labels).map(|_| random.unit()).collect();
                    let (mut one, mut other) = (start.clone(), start);
                    add_scores(row, &dense, &mut one);
                    packed.add_scores(row, &mut other);
                    assert!(one.iter().zip(&other).all(|(a, b)| a.to_bits() == b.to_bits()));
                }
            }
        }
    }

    #[test]
    fn weights_beyond_the_matrix_are_refused() {
        for zeros in [6, 7, usize::MAX] {
            assert!(!PackedRows::new(2, 3, 1, false).push(zeros, 1.0), "{zeros}");
        }
        let mut full = PackedRows::new(2, 3, 1, false);
        assert!(full.push(5, 1.0) && !full.push(0, 1.0));
        assert!(!PackedRows::new(0, 3, 0, false).push(3, 1.0));
    }

    #[test]
    fn packed_rows_score_as_the_whole_ones() {
        let mut packed = PackedRows::new(2, 3, 2, false); // two features, three labels, room for two weights of 64 bits
        assert!(packed.push(1, 0.5)); // a zero, and a weight
        assert!(packed.push(2, 2.0));
        assert!(!packed.push(1, 2.0), "beyond the last label of the last feature");
        packed.finish();
        let mut scores = [0.0; 3];
        packed.add_scores(Row::Dense(&[1.0, 10.0]), &mut scores);
        assert_eq!(scores, [0.0, 20.5, 0.0]);
    }
}
