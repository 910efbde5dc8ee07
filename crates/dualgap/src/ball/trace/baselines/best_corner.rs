//! The corner of the ball that a gradient points to, and the smoothness of the losses, which the power method finds by such
//! corners.

use crate::Result;
use crate::ball::schedule::{BEYOND, POWERS};
use crate::ball::trace::Map;
use crate::ball::{BallProblem, Losses};
use crate::linalg::low_rank::singular::top_singular_until;
use crate::linalg::{Halted, LowRank, Operator, Search};

/// Returns the corner of the ball with the largest inner product with this matrix, and the number of products that the
/// search took. The result is unusable if the search was halted.
pub(super) fn corner(
    matrix: &dyn Operator,
    radius: f64,
    warm: Option<&LowRank>,
    tolerance: f64,
    halted: Halted<'_>,
) -> Result<(LowRank, usize)> {
    let search = Search { tolerance, ..Search::default() };
    let all = |_: &[f64]| f64::NEG_INFINITY;
    let found = top_singular_until(matrix, 1, warm, &search, &all, halted)?;
    let one =
        if found.found.rank() == 0 { found.found } else { found.found.with_values(&[radius]) };
    Ok((one, found.applications))
}

/// Estimates the smoothness of the mean loss: the largest eigenvalue of Σ m_i 𝒜_i*𝒜_i among matrices of rank one,
/// divided by γ. The result is unusable if the search was halted.
pub(super) fn smoothness<M: Map, L: Losses>(
    problem: &BallProblem<M, L>,
    halted: Halted<'_>,
) -> Result<f64> {
    let (map, (rows, columns)) = (problem.map(), problem.map().shape());
    if let Some(known) = map.steepness(problem.masses()) {
        return Ok(known / problem.losses().smoothness());
    }
    let each = problem.masses().iter().enumerate().map(|(i, m)| m * map.squared_norm(i));
    let (all, largest) = each.fold((0.0, 0.0_f64), |(all, most), s| (all + s, most.max(s)));
    let mut random = crate::linalg::Random::new(0);
    let mut numbers =
        |count: usize| -> Vec<f64> { (0..count).map(|_| random.unit() - 0.5).collect() };
    let start = LowRank::new(rows, columns, numbers(rows), vec![1.0], numbers(columns))?;
    let mut x = LowRank::combined(1.0, &start, 0.0, &start)?.with_values(&[1.0]);
    let (mut a, mut y) = (vec![0.0; problem.numbers()], vec![0.0; problem.numbers()]);
    let mut found = 0.0_f64;
    for _ in 0..POWERS {
        map.predict(&x, &mut a);
        problem.weigh(&a, &mut y);
        found = found.max(a.iter().zip(&y).map(|(a, y)| a * y).sum());
        let (next, _) = corner(&*map.image(&y, 64), 1.0, Some(&x), 1e-2, halted)?;
        if next.rank() == 0 || halted() {
            break;
        }
        x = next;
    }
    Ok((BEYOND * found).clamp(largest, all.max(largest)) / problem.losses().smoothness())
}
