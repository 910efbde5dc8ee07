//! Conjugate gradients for the weights of all slacks together, on the face of those that are positive.
//!
//! Sweeps over the slacks find out which planes have weight, but where λ is small, the slacks depend on each other so
//! much that sweeps alone crawl. On the face, the master problem is a quadratic without inequalities,
//!
//! ```text
//! slopes       s_p = ℓ_p − ⟨w, g_p⟩, less their mean over the slack's planes of the face
//! direction    d ← s + (‖s‖²/‖s before‖²) d
//! length       of line search, or as far as weights stay nonnegative
//! ```
//!
//! and a plane that loses its weight leaves the face. No step lowers the dual. An iteration looks twice at the vector of
//! every plane that has weight, and solves no equations, of which there can be thousands.

use super::group::Group;
use crate::linalg::kernels::dot;

/// The iterations on a face end when the squared slopes have come to this share of what they were: sweeps may add
/// planes to the face, and its optimum is then another.
const SOLVED: f64 = 1e-6;

/// The planes with weight of the slacks that have more than one of them.
struct Face {
    /// Slack and plane.
    places: Vec<(usize, usize)>,
    /// Where the planes of a slack begin, and one more.
    starts: Vec<usize>,
}

impl Face {
    fn of(weights: &[Vec<f64>]) -> Self {
        let (mut places, mut starts) = (Vec::new(), vec![0]);
        for (slack, weights) in weights.iter().enumerate() {
            if weights.iter().filter(|weight| **weight > 0.0).count() > 1 {
                let positive = (0..weights.len()).filter(|&p| weights[p] > 0.0);
                places.extend(positive.map(|p| (slack, p)));
                starts.push(places.len());
            }
        }
        Self { places, starts }
    }

    /// Computes the slopes at w.
    fn slopes(&self, groups: &[Group], w: &[f64], slopes: &mut Vec<f64>) {
        slopes.clear();
        slopes.extend(self.places.iter().map(|&(slack, p)| groups[slack].cuts[p].value(w)));
        for range in self.starts.windows(2) {
            let slopes = &mut slopes[range[0]..range[1]];
            let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
            slopes.iter_mut().for_each(|slope| *slope -= mean);
        }
    }
}

/// Raises the dual over the face of the positive weights, and over the smaller faces that this leads to, by at most so
/// many iterations; w moves with the weights.
pub(super) fn ascend(
    groups: &[Group],
    weights: &mut [Vec<f64>],
    lambda: f64,
    w: &mut [f64],
    mut iterations: usize,
) {
    let (mut slopes, mut change) = (Vec::new(), vec![0.0; w.len()]);
    let mut smaller = true;
    while smaller {
        let face = Face::of(weights);
        face.slopes(groups, w, &mut slopes);
        let first = dot(&slopes, &slopes);
        let (mut direction, mut norm) = (slopes.clone(), first);
        smaller = false;
        while iterations > 0 && norm > SOLVED * first && !smaller {
            iterations -= 1;
            change.fill(0.0);
            for (&(slack, p), d) in face.places.iter().zip(&direction) {
                groups[slack].cuts[p].image.add_to(d / lambda, &mut change);
            }
            let (slope, curvature) = (dot(&slopes, &direction), lambda * dot(&change, &change));
            let free = if curvature > 0.0 { slope / curvature } else { f64::INFINITY };
            let (mut limit, mut nearest) = (f64::INFINITY, (0, 0));
            for (&(slack, p), d) in face.places.iter().zip(&direction) {
                if *d < 0.0 && weights[slack][p] / -d < limit {
                    (limit, nearest) = (weights[slack][p] / -d, (slack, p));
                }
            }
            let length = free.min(limit);
            if !(slope > 0.0 && length.is_finite()) {
                return;
            }
            for (&(slack, p), d) in face.places.iter().zip(&direction) {
                weights[slack][p] = (weights[slack][p] + length * d).max(0.0);
            }
            w.iter_mut().zip(&change).for_each(|(w, change)| *w += length * change);
            if limit <= free {
                weights[nearest.0][nearest.1] = 0.0;
                smaller = true;
                continue;
            }
            face.slopes(groups, w, &mut slopes);
            let before = std::mem::replace(&mut norm, dot(&slopes, &slopes));
            let further = norm / before;
            direction.iter_mut().zip(&slopes).for_each(|(d, s)| *d = s + further * *d);
        }
    }
}
