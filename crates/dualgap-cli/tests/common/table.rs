//! Small multiclass data, written as LIBSVM files.

use super::Dice;

/// Rows with a label each; the labels are 1 to K, and all of them occur.
#[derive(Clone)]
pub struct Table {
    pub rows: Vec<Vec<f64>>,
    /// Counted from zero; the file says one more.
    pub labels: Vec<usize>,
    pub classes: usize,
}

impl Table {
    /// Noisy clouds around the corners of a simplex: far from separable, so that the optimum is no
    /// round number. Every sixth value is zero and left out of the file.
    pub fn new(n: usize, features: usize, classes: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
        let rows = labels
            .iter()
            .enumerate()
            .map(|(i, &label)| {
                let value = |j: usize| {
                    let x = 1.2 * dice.signed() + f64::from(u8::from(j % classes == label));
                    // The last feature is always there: it gives the file its width.
                    let kept = j + 1 == features || !(i + j).is_multiple_of(6);
                    if kept { (1000.0 * x).round() / 1000.0 } else { 0.0 }
                };
                (0..features).map(value).collect()
            })
            .collect();
        Self { rows, labels, classes }
    }

    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn features(&self) -> usize {
        self.rows[0].len()
    }

    pub fn text(&self) -> String {
        (0..self.len()).map(|i| self.line(i)).collect()
    }

    pub fn line(&self, i: usize) -> String {
        let stored = self.rows[i].iter().enumerate().filter(|&(_, &x)| x != 0.0);
        let pairs: String = stored.map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
        format!("{}{pairs}\n", self.labels[i] + 1)
    }

    /// The examples of these numbers, repetitions and all.
    pub fn select(&self, chosen: &[usize]) -> Self {
        Self {
            rows: chosen.iter().map(|&i| self.rows[i].clone()).collect(),
            labels: chosen.iter().map(|&i| self.labels[i]).collect(),
            classes: self.classes,
        }
    }

    /// The best label of a row under weights laid out `[feature][class]`.
    pub fn predict(&self, i: usize, weights: &[f64]) -> usize {
        let score = |y: usize| -> f64 {
            let terms = self.rows[i].iter().enumerate();
            terms.map(|(j, x)| x * weights[j * self.classes + y]).sum()
        };
        (1..self.classes).fold(0, |best, y| if score(y) > score(best) { y } else { best })
    }
}
