//! Ascent on the dual in blocks of examples, for X with few columns; it has nothing to tune.
//!
//! With U = V + κz of d × c entries (`centre.rs`; κ may be zero) and the c × c matrix U'U = Q diag(σ²) Q',
//!
//! ```text
//! X = Proj(U/(μ + κ)) = U W,     W = Q diag(max(1 − θ/σ, 0)) Q'/(μ + κ),      X'x_i = W U'x_i
//! ```
//!
//! so a projection costs c³, independent of d. The α of a block move to the maximum of the losses' part and a square of
//! curvature q,
//!
//! ```text
//! α̃_i ← argmax −f_i*(−β) − ⟨X'x_i, β⟩ − q_i/2‖β − α_i‖²,      q_i = ς m_i‖x_i‖²/(μ + κ)
//! ```
//!
//! and ς adapts. Along the step, the derivative D' decreases by S, the losses' part, and by K = ⟨X_next − X, ΔU⟩. The
//! step ends at D' = 0 if K equals the prediction of the squares, Q = Σ m_i q_i‖Δ_i‖². So ς follows K/Q from block to
//! block: it grows where examples pull in the same direction, and falls below one where the ball restricts X. If K is
//! far larger than Q, the step is shortened to the zero of a linear D', (Q + S)/(K + S).

mod place;

use super::Map;
use crate::Result;
use crate::ball::solver::{Looked, Moves, Resumes, Told};
use crate::ball::{BallProblem, Losses, Touched};
use crate::linalg::low_rank::dense::{add_product, by_rows, product, symmetric_eigen, thin_svd};
use crate::linalg::memory::MOST_ENTRIES;
use crate::linalg::{Halted, LowRank, Rows, kernels};
use crate::term::ball::trace::threshold;
use dualgap_dense::{MatMut, MatRef};
use place::Place;

/// The cost of an eigendecomposition of a c × c matrix is about this many times c³ operations.
const DECOMPOSITION: usize = 20;

/// A pass has at least this many blocks. With larger blocks, steps on all examples at once are better, because they
/// start from known singular vectors.
const FEWEST_BLOCKS: usize = 16;

/// The ascent takes a centre if the gap is still more than this share of the gap at the last certification.
const SLOW: f64 = 0.1;

/// A step is shortened if K exceeds this many times Q, plus S. Shortening costs one more loop over the rows of the
/// block.
const FAR: f64 = 1.5;

/// The largest number of passes in a round around one centre.
const LONGEST: u64 = 4;

/// If the longest squared row is above this or below its inverse, U'U may overflow or underflow. Then the run takes all
/// examples at once, which computes singular values without squaring.
const LONGEST_SQUARED: f64 = 1e120;

/// The smallest ς, so that q stays positive. Any small number will do: ς follows what blocks meet, and this only stops it.
const WEAKEST: f64 = 1e-3;

/// U is summed anew after this many passes, to remove the accumulated rounding of their steps. The sum reads all of the data as a pass
/// does, so this adds about a sixteenth; not tuned.
const REFRESH: u64 = 16;

/// The method; see the module's head.
pub(super) struct Blocks<S> {
    size: usize,
    at: Place,
    /// The workspace of a block: its examples, their U'x before and after the step, their predictions, α̃ − α, and that
    /// times the mass.
    which: Vec<usize>,
    before: Vec<f64>,
    after: Vec<f64>,
    a: Vec<f64>,
    moves: Vec<f64>,
    weighed: Vec<f64>,
    scratch: S,
}

/// Returns the block size at which the visits cost as much as the projection, or none if blocks do not suit the
/// problem.
pub(super) fn block_size<M: Map, L: Losses>(problem: &BallProblem<M, L>) -> Option<usize> {
    let rows = problem.map().features()?;
    let (n, c) = (rows.len(), problem.map().outputs());
    let entries = rows.width().checked_mul(c)?;
    let longest = (0..n).map(|i| problem.map().squared_norm(i)).fold(0.0, f64::max);
    let squares = LONGEST_SQUARED.recip()..LONGEST_SQUARED;
    // A visit loops three times over a row, and twice over a c × c matrix.
    let visit = 3 * rows.stored() / n.max(1) * c + 2 * c * c;
    let size = (DECOMPOSITION * c).checked_mul(c * c)?.div_ceil(visit.max(1));
    (entries <= MOST_ENTRIES && squares.contains(&longest) && size <= n / FEWEST_BLOCKS)
        .then_some(size)
}

impl<S: Default> Blocks<S> {
    /// Starts from α = 0, with blocks of this size.
    pub fn new<M: Map, L: Losses>(
        problem: &BallProblem<M, L>,
        size: usize,
        seed: u64,
    ) -> Result<Self> {
        let ((d, c), n) = (problem.map().shape(), problem.map().len());
        let numbers = vec![0.0; size * c];
        let mut blocks = Self {
            size,
            at: Place::new((n, d, c), problem.mu(), seed),
            which: Vec::with_capacity(size),
            before: numbers.clone(),
            after: numbers.clone(),
            a: numbers.clone(),
            moves: numbers.clone(),
            weighed: numbers,
            scratch: S::default(),
        };
        if problem.mu() == 0.0 {
            let masses = problem.masses().iter().enumerate();
            let all: f64 = masses.map(|(i, mass)| mass * problem.map().squared_norm(i)).sum();
            blocks.recentre(problem, all / n as f64)?;
        }
        Ok(blocks)
    }

    /// Sets a centre, if by this mean curvature of the examples it helps.
    fn recentre<M: Map, L: Losses>(
        &mut self,
        problem: &BallProblem<M, L>,
        curvature: f64,
    ) -> Result<()> {
        let x = self.written();
        self.at.centre.begin(
            curvature / problem.losses().smoothness(),
            &mut self.at.u,
            |at, _, _| x[at],
        );
        self.project_anew(problem)
    }

    /// Returns X = U W, row after row.
    fn written(&self) -> Vec<f64> {
        let c = self.at.spread.nrows();
        let d = self.at.u.len() / c;
        let mut x = vec![0.0; self.at.u.len()];
        let out = MatMut::from_row_major_slice_mut(&mut x, d, c);
        add_product(out, 1.0, by_rows(&self.at.u, d, c), self.at.spread.as_ref());
        x
    }

    /// Computes W from U'U.
    fn project<M: Map, L: Losses>(&mut self, problem: &BallProblem<M, L>) -> Result<()> {
        let strength = self.at.centre.strength();
        let (vectors, squares) = symmetric_eigen(self.at.square.as_ref())?;
        let sizes: Vec<f64> = squares.iter().map(|square| square.max(0.0).sqrt()).collect();
        let theta = threshold(&sizes, strength * problem.radius());
        self.at.rank = sizes.iter().take_while(|&&size| size > theta).count();
        let top = vectors.subcols(0, self.at.rank);
        let mut scaled = top.to_owned();
        for (j, size) in sizes[..self.at.rank].iter().enumerate() {
            let factor = (1.0 - theta / size) / strength;
            scaled.col_as_slice_mut(j).iter_mut().for_each(|x| *x *= factor);
        }
        self.at.spread = product(scaled.as_ref(), top.transpose());
        self.at.touched.add(0, self.at.square.nrows() * self.at.square.ncols());
        Ok(())
    }

    /// Computes U'U from U, and W from that.
    fn project_anew<M: Map, L: Losses>(&mut self, problem: &BallProblem<M, L>) -> Result<()> {
        let c = self.at.spread.nrows();
        let u = by_rows(&self.at.u, self.at.u.len() / c, c);
        self.at.square = product(u.transpose(), u);
        self.at.touched.add(0, self.at.u.len());
        self.project(problem)
    }

    /// Ends a pass and begins the next: refreshes U, moves the centre, and projects.
    fn begin_pass<M: Map, L: Losses>(&mut self, problem: &BallProblem<M, L>) -> Result<()> {
        let visited = self.at.shrinking.begin_pass();
        self.at.passes = self.at.passes.saturating_add(1);
        if self.at.passes.is_multiple_of(REFRESH) {
            let mut y = vec![0.0; self.at.alpha.len()];
            problem.weigh(&self.at.alpha, &mut y);
            self.at.u = problem.map().written(&y, false).0;
            self.at.touched.add(problem.map().stored(), 0);
            self.at.centre.add_to(&mut self.at.u);
            self.project_anew(problem)?;
        }
        if visited && self.at.centre.is_set() && self.at.passes.is_multiple_of(self.at.round) {
            let x = self.written();
            self.at.centre.advance(&mut self.at.u, |at, _, _| x[at]);
        }
        self.project_anew(problem)
    }

    /// Chooses the examples of the next block; the last block of a pass may be smaller.
    fn gather<M: Map, L: Losses>(&mut self, problem: &BallProblem<M, L>) -> Result<()> {
        self.which.clear();
        while self.which.is_empty() {
            self.which.extend(std::iter::from_fn(|| self.at.shrinking.next()).take(self.size));
            if self.which.is_empty() {
                self.begin_pass(problem)?;
            }
        }
        Ok(())
    }

    /// Computes the moves of the block's α; returns ⟨X, ΔU⟩, Q and S.
    fn choose<M: Map, L: Losses<Scratch = S>>(
        &mut self,
        problem: &BallProblem<M, L>,
        rows: &Rows,
    ) -> [f64; 3] {
        let (losses, c, count) = (problem.losses(), self.at.spread.nrows(), self.which.len());
        looks(rows, &self.which, &self.at.u, &mut self.before[..count * c]);
        let a = &mut self.a[..count * c];
        a.fill(0.0);
        let out = MatMut::from_row_major_slice_mut(a, count, c);
        add_product(
            out,
            1.0,
            by_rows(&self.before[..count * c], count, c),
            self.at.spread.as_ref(),
        );
        let curvature = self.at.pull / self.at.centre.strength();
        let [mut along, mut squares, mut own] = [0.0; 3];
        for (at, &i) in self.which.iter().enumerate() {
            let (part, mass) = (at * c..(at + 1) * c, problem.masses()[i]);
            let (a, moves) = (&self.a[part.clone()], &mut self.moves[part.clone()]);
            let alpha = &self.at.alpha[i * c..][..c];
            let met = mass * problem.map().squared_norm(i);
            let q = curvature * met;
            losses.maximizer(i, a, alpha, q, moves, &mut self.scratch);
            let mut square = 0.0;
            for (to, from) in moves.iter_mut().zip(alpha) {
                *to -= from;
                square += *to * *to;
            }
            if !square.is_finite() {
                moves.fill(0.0);
                square = 0.0;
            }
            let moved = self.weighed[part].iter_mut().zip(moves);
            moved.for_each(|(weighed, by)| *weighed = mass * *by);
            along += mass * kernels::dot(a, &self.moves[at * c..][..c]);
            squares += mass * q * square;
            own += mass * losses.smoothness() * square;
            let change = (mass * square * (losses.smoothness() + q)).sqrt();
            // The centre's strength depends on the curvature of the data: a ς below one only shows that the ball
            // restricts X for now.
            self.at.shrinking.note(i, change, self.at.pull.max(1.0) * met);
        }
        [along, squares, own]
    }

    /// Moves U by `factor` times the block's ΔU.
    fn shift(&mut self, rows: &Rows, factor: f64) {
        let c = self.at.spread.nrows();
        for (&i, by) in self.which.iter().zip(self.weighed.chunks_exact(c)) {
            kernels::add_outer(rows.row(i), by, factor, &mut self.at.u);
        }
    }
}

/// Computes U'x of some rows.
fn looks(rows: &Rows, which: &[usize], u: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let c = out.len() / which.len();
    for (&i, out) in which.iter().zip(out.chunks_exact_mut(c)) {
        kernels::add_scores(rows.row(i), u, out);
    }
}

/// `Σ_ij a_ij b_ij`.
fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    (0..a.ncols())
        .map(|j| a.col(j).iter().zip(b.col(j).iter()).map(|(a, b)| a * b).sum::<f64>())
        .sum()
}

impl<M: Map, L: Losses> Moves<M, L> for Blocks<L::Scratch> {
    /// Ignores the halt flag: a block is little work.
    fn step(&mut self, problem: &BallProblem<M, L>, _: Halted<'_>) -> Result<Option<Looked>> {
        self.gather(problem)?;
        let Some(rows) = problem.map().features() else { return Ok(Some(Looked::Examples(1))) };
        let (c, count) = (self.at.spread.nrows(), self.which.len());
        let [along, said, own] = self.choose(problem, rows);
        self.shift(rows, 1.0);
        looks(rows, &self.which, &self.at.u, &mut self.after[..count * c]);
        // ΔU'U and ΔU'(U + ΔU): the change of U'U is the first plus the transpose of the second.
        let by = by_rows(&self.weighed[..count * c], count, c);
        let from = product(by.transpose(), by_rows(&self.before[..count * c], count, c));
        let to = product(by.transpose(), by_rows(&self.after[..count * c], count, c));
        let old = self.at.square.clone();
        self.at.square = &old + &from + to.transpose();
        self.project(problem)?;
        let met = inner(self.at.spread.as_ref(), to.as_ref()) - along;
        let (mut share, mut looked) = (1.0, 3);
        if met > FAR * said + own {
            share = (said + own) / (met + own);
            (self.at.shortened, looked) = (self.at.shortened.saturating_add(1), 4);
            self.shift(rows, share - 1.0);
            let both = &from + from.transpose();
            self.at.square = &old + share * (&both + share * (&to - &from));
            self.project(problem)?;
        }
        for (&i, by) in self.which.iter().zip(self.moves.chunks_exact(c)) {
            let alpha = &mut self.at.alpha[i * c..][..c];
            alpha.iter_mut().zip(by).for_each(|(alpha, by)| *alpha += share * by);
        }
        if said > 0.0 && met.is_finite() {
            let next = self.at.pull * (met / said).clamp(0.25, 4.0).sqrt();
            self.at.pull = next.clamp(WEAKEST, count as f64);
        }
        let entries: usize = self.which.iter().map(|&i| rows.row(i).stored()).sum();
        self.at.touched.add(looked * entries, 0);
        Ok(Some(Looked::Examples(count as u64)))
    }

    fn iterate(&mut self, problem: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        let (d, c) = problem.map().shape();
        let (left, sizes, right) = thin_svd(by_rows(&self.at.u, d, c).to_owned())?;
        let strength = self.at.centre.strength();
        let theta = threshold(&sizes, strength * problem.radius());
        let values: Vec<f64> = (sizes.iter())
            .map(|size| (size - theta) / strength)
            .take_while(|&value| value > 0.0)
            .collect();
        Ok(LowRank::of(left.as_ref(), sizes, right.as_ref()).with_values(&values))
    }

    fn alpha(&self) -> Option<&[f64]> {
        Some(&self.at.alpha)
    }

    fn certified(&mut self, problem: &BallProblem<M, L>, told: Told<'_, M>) -> Result<()> {
        let Told { gap, fell, .. } = told;
        if fell && self.at.centre.is_set() {
            self.at.round = (self.at.round + 1).min(LONGEST);
        }
        if !self.at.centre.is_set() && gap > SLOW * self.at.gap {
            self.recentre(problem, self.at.shrinking.mean_curvature())?;
        }
        self.at.gap = gap;
        Ok(())
    }

    fn touched(&self) -> Option<Touched> {
        Some(self.at.touched)
    }

    fn tactics(&self) -> Vec<String> {
        let (size, Place { rank, pull, shortened, .. }) = (self.size, &self.at);
        let mut tactics = vec![format!(
            "blocks of {size} examples, rank {rank}, they pull {pull:.2} times as one, {shortened} steps shortened"
        )];
        tactics.extend(self.at.centre.describe());
        tactics
    }
}

impl<M: Map, L: Losses> Resumes<M, L> for Blocks<L::Scratch> {
    type State = Place;

    fn state(&self) -> Place {
        self.at.clone()
    }

    fn resume(&mut self, problem: &BallProblem<M, L>, at: Place) -> Result<bool> {
        let strongest = self.size as f64; // as many as pull together
        let sound = at.is_sound(&self.at, problem.mu())
            && (1..=LONGEST).contains(&at.round)
            && (WEAKEST..=strongest).contains(&at.pull);
        if sound {
            self.at = at;
        }
        Ok(sound)
    }
}

#[cfg(test)]
mod tests;
