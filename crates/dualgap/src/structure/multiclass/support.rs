//! The curvature of a hinge of K scores that is rounded off over a width γ.
//!
//! Its β is a projection onto the simplex, so that with S the support of β, the classes with weight, ∇²φ = (I_S − 1_S 1_S'/|S|)/γ. What is
//! kept of it are K numbers: γ for the classes of the support, and zero for the others.

/// Returns how many classes the support has.
fn size(support: &[f64]) -> f64 {
    support.iter().filter(|width| **width > 0.0).count() as f64
}

/// Writes γ where β has weight.
pub(super) fn keep(beta: &[f64], width: f64, support: &mut [f64]) {
    let kept = |(kept, b): (&mut f64, &f64)| *kept = if *b > 0.0 { width } else { 0.0 };
    support.iter_mut().zip(beta).for_each(kept);
}

/// Returns an entry of ∇²φ.
pub(super) fn entry(support: &[f64], (j, l): (usize, usize)) -> f64 {
    let own = if j == l { 1.0 } else { 0.0 };
    let inside = support[j] > 0.0 && support[l] > 0.0;
    if inside { (own - 1.0 / size(support)) / support[j] } else { 0.0 }
}

/// Writes ∇²φ·u.
pub(super) fn bend(support: &[f64], u: &[f64], out: &mut [f64]) {
    let inside = support.iter().zip(u).filter(|(width, _)| **width > 0.0);
    let (count, sum) = inside.fold((0.0, 0.0), |(n, sum), (_, u)| (n + 1.0, sum + u));
    for ((out, width), u) in out.iter_mut().zip(support).zip(u) {
        *out = if *width > 0.0 { (u - sum / count) / width } else { 0.0 };
    }
}

/// Writes δ and r with ∇²φ = diag δ − rr'.
pub(super) fn split(support: &[f64], diagonal: &mut [f64], rank_one: &mut [f64]) {
    let size = size(support);
    for ((diagonal, rank_one), &width) in diagonal.iter_mut().zip(rank_one).zip(support) {
        let inside = width > 0.0;
        *diagonal = if inside { 1.0 / width } else { 0.0 };
        *rank_one = if inside { 1.0 / (size * width).sqrt() } else { 0.0 };
    }
}

/// Moves a slope to the next one β − e_y with β a distribution.
pub(super) fn confine(truth: usize, s: &mut [f64]) {
    s[truth] += 1.0;
    s.iter_mut().for_each(|b| *b = b.clamp(0.0, 1.0));
    if s.iter().all(|b| *b == 0.0) {
        s[truth] = 1.0;
    }
    let sum: f64 = s.iter().sum();
    s.iter_mut().for_each(|b| *b /= sum);
    s[truth] -= 1.0;
}
