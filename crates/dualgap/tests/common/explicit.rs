//! A structural SVM written out: every output of every example, its loss and its ψ. What the library
//! finds by decoding is found here by looking at everything, in numbers of 32 digits.
//!
//! ```text
//! P(w) = Σ mass_i max_y [L_i(y) − ⟨w, ψ_i(y)⟩] + λ(½‖w‖² + s‖w‖₁)
//! D(α) = Σ mass_i Σ_y α_i(y) L_i(y) − λ/2 ‖soft(v, s)‖²,    v = (1/λ) Σ mass_i Σ_y α_i(y) ψ_i(y)
//! ```
//!
//! Where weights must not be negative, soft(v, s) has its negative entries left out.

use super::wide::Wide;

/// One output of one example.
#[derive(Clone, Debug)]
pub struct Corner {
    /// A label for every position.
    pub output: Vec<u16>,
    pub exact_loss: Wide,
    pub exact_psi: Vec<Wide>,
    pub loss: f64,
    pub psi: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct Explicit {
    pub lambda: f64,
    /// s, zero for the plain ½‖w‖².
    pub l1: f64,
    /// Whether weights must not be negative.
    pub nonnegative: bool,
    pub dim: usize,
    pub masses: Vec<Wide>,
    pub examples: Vec<Vec<Corner>>,
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Explicit {
    /// L_i(y) − ⟨w, ψ_i(y)⟩ for the given corner.
    fn score(corner: &Corner, w: &[f64]) -> Wide {
        let product: Wide = corner.exact_psi.iter().zip(w).map(|(&psi, &w)| psi * w.into()).sum();
        corner.exact_loss - product
    }

    /// The largest loss of example i.
    pub fn hinge(&self, i: usize, w: &[f64]) -> Wide {
        let scores = self.examples[i].iter().map(|corner| Self::score(corner, w));
        scores.fold(Wide::from(f64::NEG_INFINITY), Wide::max)
    }

    /// The first of the outputs of example i with the largest loss, in plain floats.
    pub fn best(&self, i: usize, w: &[f64]) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (y, corner) in self.examples[i].iter().enumerate() {
            let score = corner.loss - dot(&corner.psi, w);
            if score > best.1 {
                best = (y, score);
            }
        }
        best.0
    }

    /// Whether rounding decides which output of some example is best. At w = 0 nothing is rounded, and
    /// of outputs that tie the first is taken on either side. A line search, though, can end exactly
    /// where two outputs tie.
    pub fn is_tied(&self, w: &[f64]) -> bool {
        let size = w.iter().fold(0.0_f64, |size, w| size.max(w.abs()));
        size > 0.0
            && (0..self.examples.len()).any(|i| {
                let best = self.best(i, w);
                let corners = &self.examples[i];
                let score = |y: usize| corners[y].loss - dot(&corners[y].psi, w);
                (0..corners.len())
                    .any(|y| y != best && score(best) - score(y) < 1e-9 * (1.0 + size))
            })
    }

    /// P(w).
    pub fn primal(&self, w: &[f64]) -> Wide {
        let losses: Wide =
            self.masses.iter().enumerate().map(|(i, &mass)| mass * self.hinge(i, w)).sum();
        let squares: Wide = w.iter().map(|&w| Wide::from(w) * w.into()).sum();
        let absolutes: Wide = w.iter().map(|&w| Wide::from(w).abs()).sum();
        let g = squares * Wide::from(0.5) + absolutes * self.l1.into();
        losses + g * self.lambda.into()
    }

    /// v of a distribution over the outputs of every example.
    pub fn image(&self, alpha: &[Vec<Wide>]) -> Vec<Wide> {
        let mut v = vec![Wide::ZERO; self.dim];
        for ((corners, alpha), &mass) in self.examples.iter().zip(alpha).zip(&self.masses) {
            for (corner, &alpha) in corners.iter().zip(alpha) {
                let factor = mass * alpha / self.lambda.into();
                for (v, &psi) in v.iter_mut().zip(&corner.exact_psi) {
                    *v = *v + factor * psi;
                }
            }
        }
        v
    }

    /// D(α).
    pub fn dual(&self, alpha: &[Vec<Wide>]) -> Wide {
        let losses: Wide = (0..self.examples.len())
            .map(|i| self.masses[i] * self.mean(i, &alpha[i], |corner| corner.exact_loss))
            .sum();
        let threshold = Wide::from(self.l1);
        let squares: Wide = (self.image(alpha).into_iter())
            .map(|v| if self.nonnegative { v } else { v.abs() })
            .map(|v| (v - threshold).max(Wide::ZERO))
            .map(|w| w * w)
            .sum();
        losses - squares * Wide::from(self.lambda / 2.0)
    }

    /// How far example i is from having all its weight on the best outputs at w: its block gap.
    pub fn block_gap(&self, i: usize, alpha: &[Wide], w: &[f64]) -> Wide {
        self.hinge(i, w) - self.mean(i, alpha, |corner| Self::score(corner, w))
    }

    fn mean(&self, i: usize, alpha: &[Wide], of: impl Fn(&Corner) -> Wide) -> Wide {
        self.examples[i].iter().zip(alpha).map(|(corner, &alpha)| alpha * of(corner)).sum()
    }
}
