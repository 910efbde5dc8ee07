//! Ordered levels: one of K levels for each example, where a prediction that is further off costs more.
//!
//! ```text
//! score(x, y) = y·⟨u, x⟩ + b_y,        loss = |y − truth|,        weights (u, b)
//! ```
//!
//! This is all that a structure of one's own needs: an oracle, the byte forms that serde derives, and how a file is read.

use dualgap::data::Source;
use dualgap::linalg::Accumulate;
use dualgap::structure::{Bound, Decoded, Extent, Oracle, OwnExamples, OwnOracle};
use dualgap::{Error, Result};
use serde::{Deserialize, Serialize};

/// K levels of rows with this many numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ordinal {
    /// K.
    pub levels: u32,
    /// The numbers of a row.
    pub width: usize,
}

impl Oracle for Ordinal {
    type Input = Vec<f64>;
    type Output = u32;
    type Scratch = ();

    fn dim(&self) -> usize {
        self.width + self.levels as usize
    }

    fn features(&self, x: &Vec<f64>, y: &u32, out: &mut impl Accumulate) {
        x.iter().enumerate().for_each(|(j, x)| out.add(j, f64::from(*y) * x));
        out.add(self.width + *y as usize, 1.0);
    }

    fn loss(&self, _: &Vec<f64>, truth: &u32, y: &u32) -> f64 {
        f64::from(truth.abs_diff(*y))
    }

    fn extent(&self, x: &Vec<f64>) -> Option<Extent> {
        let largest = f64::from(self.levels - 1);
        let norm1 = largest * x.iter().map(|x| x.abs()).sum::<f64>() + 1.0;
        Some(Extent { terms: x.len() + 1, norm1, loss: largest })
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Vec<f64>,
        against: Option<&u32>,
        (): &mut (),
    ) -> Result<Decoded<u32>> {
        let along: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
        let score = |y: u32| {
            let loss = against.map_or(0.0, |truth| self.loss(x, truth, &y));
            f64::from(y) * along + w[self.width + y as usize] + loss
        };
        let better = |best: u32, y: u32| if score(y) > score(best) { y } else { best };
        Ok(Decoded { output: (1..self.levels).fold(0, better), bound: Bound::Exact })
    }
}

impl OwnOracle for Ordinal {
    const NAME: &'static str = "ordinal";

    fn admits(&self, x: &Vec<f64>, y: &u32) -> bool {
        x.len() == self.width && *y < self.levels
    }

    fn spell(&self, y: &u32) -> String {
        y.to_string()
    }

    /// Reads `level number number …` a line; a level of `?` is unknown.
    fn read(&self, mut source: Source<'_>) -> Result<OwnExamples<Vec<f64>, u32>> {
        let remedy =
            format!("a line is a level below {} or `?`, and {} numbers", self.levels, self.width);
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        while let Some(line) = source.next_line()? {
            let mut cells = line.split_whitespace();
            let Some(level) = cells.next() else { continue };
            let row: Option<Vec<f64>> =
                cells.map(|cell| cell.parse().ok().filter(|x: &f64| x.is_finite())).collect();
            let level: Option<Option<u32>> = match level {
                "?" => Some(None),
                level => level.parse().ok().filter(|&y| y < self.levels).map(Some),
            };
            match (level, row) {
                (Some(Some(y)), Some(row)) if row.len() == self.width => known.push((row, y)),
                (Some(None), Some(row)) if row.len() == self.width => unknown.push(row),
                _ => return Err(source.error("is no example", remedy)),
            }
        }
        match (known.is_empty(), unknown.is_empty()) {
            (false, true) => Ok(OwnExamples::new(known)),
            (true, false) => Ok(OwnExamples::unlabelled(unknown)),
            (true, true) => Err(source.file_error("has no examples", remedy)),
            (false, false) => Err(Error::setting("a file has levels in every line, or in none")),
        }
    }
}
