//! Frank-Wolfe with away steps, or pairwise, for the l1 ball (Lacoste-Julien and Jaggi 2015).
//!
//! X is a convex combination of corners ±r e_j. The away corner W is the worst corner of the active set; S is the best
//! corner of the ball:
//!
//! ```text
//! away steps   X + γ(S − X), or X + γ(X − W) for γ ≤ λ_W/(1 − λ_W), whichever is steeper
//! pairwise     X + γ(S − W)                  for γ ≤ λ_W
//! ```
//!
//! A pairwise step moves two entries of X, so the line search, the predictions and V cost two columns and the rows of
//! the examples in them.

use super::common::{Common, Descent, Standing};
use super::l1_ball::Corner;
use super::line::Direction;
use crate::ball::Losses;
use crate::ball::l1::table::BallTable;
use crate::ball::solver::Told;
use crate::linalg::Halted;

/// The methods; see the module's head.
pub(super) struct ActiveSet {
    pairwise: bool,
    at: Standing,
    direction: Direction,
    /// V − μX, the direction of steepest descent.
    descent: Vec<f64>,
    /// The weights λ of the corners r e_j and −r e_j.
    weights: Vec<[f64; 2]>,
    /// The entries j where one of the two weights is not zero.
    active: Vec<u32>,
    /// Whether the current pairwise step moves an example's predictions.
    moved: Vec<bool>,
}

/// A corner of the l1 ball: the index of an entry, and 0 for r or 1 for −r.
type Vertex = (usize, usize);

fn sign((_, side): Vertex) -> f64 {
    if side == 0 { 1.0 } else { -1.0 }
}

impl ActiveSet {
    pub fn new<L: Losses>(common: &mut Common<'_, '_, L>, pairwise: bool) -> Self {
        let problem = common.problem;
        let mut at = Standing::start(problem);
        common.image(&at.alpha, &mut at.v);
        // Start from the best corner at X = 0, or at the centre of the simplex.
        let corner = common.ball.corner(&at.v);
        let first = vertex(corner);
        at.x.fill(0.0);
        at.a.fill(0.0);
        at.x[corner.at] += corner.value;
        common.add_corner(corner, &mut at.a);
        problem.corners(&at.a, &mut at.alpha);
        common.image(&at.alpha, &mut at.v);
        let mut weights = vec![[0.0; 2]; problem.dim()];
        weights[first.0][first.1] = 1.0;
        Self {
            pairwise,
            at,
            direction: Direction::new(problem.len(), problem.outputs()),
            descent: vec![0.0; problem.dim()],
            weights,
            active: vec![first.0 as u32],
            moved: vec![false; problem.len()],
        }
    }

    /// Returns the worst corner of the active set, and its inner product with the descent direction divided by r.
    fn worst(&self) -> (Vertex, f64) {
        let mut worst = ((0, 0), f64::INFINITY);
        for &j in &self.active {
            let j = j as usize;
            for side in 0..2 {
                let product = sign((j, side)) * self.descent[j];
                if self.weights[j][side] > 0.0 && product < worst.1 {
                    worst = ((j, side), product);
                }
            }
        }
        worst
    }

    /// Multiplies all weights, and X, by a factor.
    fn scale(&mut self, factor: f64) {
        for &j in &self.active {
            let j = j as usize;
            self.weights[j].iter_mut().for_each(|weight| *weight *= factor);
            self.at.x[j] *= factor;
        }
    }

    /// Changes the weight of a corner, and drops the corner if only rounding is left of its weight.
    fn shift(&mut self, to: Vertex, change: f64, radius: f64) {
        let (j, side) = to;
        let was = self.weights[j] != [0.0; 2];
        let weight = self.weights[j][side] + change;
        self.weights[j][side] = if weight > f64::EPSILON { weight } else { 0.0 };
        self.at.x[j] = radius * (self.weights[j][0] - self.weights[j][1]);
        match (was, self.weights[j] != [0.0; 2]) {
            (false, true) => self.active.push(j as u32),
            (true, false) => self.active.retain(|&k| k as usize != j),
            _ => {}
        }
    }

    /// Sets the direction to S − W, with its predictions.
    fn swap<L: Losses>(&mut self, common: &mut Common<'_, '_, L>, best: Vertex, away: Vertex) {
        let (problem, r, c) = (common.problem, common.ball.radius, common.problem.outputs());
        let Direction { delta, rows, along, square, .. } = &mut self.direction;
        for &i in rows.iter() {
            self.moved[i as usize] = false;
            delta[i as usize * c..][..c].fill(0.0);
        }
        rows.clear();
        for (vertex, factor) in [(best, r * sign(best)), (away, -r * sign(away))] {
            let column = problem.columns().column(vertex.0 / c);
            *common.touched += column.stored() as u64;
            column.for_each(|i, x| {
                delta[i * c + vertex.0 % c] += factor * x;
                if x != 0.0 && !std::mem::replace(&mut self.moved[i], true) {
                    rows.push(i as u32);
                }
            });
        }
        let x = |vertex: Vertex| r * sign(vertex) * self.at.x[vertex.0];
        *along = x(best) - x(away);
        // The two corners of the same entry are 2r apart, those of different entries √2·r.
        *square = if best.0 == away.0 { 4.0 } else { 2.0 } * r * r;
    }

    fn pairwise_step<L: Losses>(
        &mut self,
        common: &mut Common<'_, '_, L>,
        best: Vertex,
        away: Vertex,
    ) {
        self.swap(common, best, away);
        let most = self.weights[away.0][away.1];
        let gamma = self.direction.search(common, &self.at, most);
        let radius = common.ball.radius;
        self.shift(away, if gamma < most { -gamma } else { -1.0 }, radius);
        self.shift(best, gamma, radius);
        self.direction.follow(common, &mut self.at, gamma);
    }

    /// Takes the step X + γ(T − X) toward a corner T, or away from it with γ < 0.
    fn step_along<L: Losses>(
        &mut self,
        common: &mut Common<'_, '_, L>,
        vertex: Vertex,
        away: bool,
    ) {
        let (radius, c) = (common.ball.radius, common.problem.outputs());
        let way = if away { -1.0 } else { 1.0 };
        if self.direction.rows.len() < common.problem.len() {
            self.direction.rows.clear();
            self.direction.rows.extend(0..common.problem.len() as u32);
        }
        let delta = &mut self.direction.delta;
        delta.iter_mut().zip(&self.at.a).for_each(|(delta, a)| *delta = -way * a);
        let column = common.problem.columns().column(vertex.0 / c);
        column.for_each(|i, x| delta[i * c + vertex.0 % c] += way * radius * sign(vertex) * x);
        *common.touched += column.stored() as u64;
        let own: f64 = self.active.iter().map(|&j| self.at.x[j as usize].powi(2)).sum();
        let cross = radius * sign(vertex) * self.at.x[vertex.0];
        self.direction.along = way * (cross - own);
        self.direction.square = radius * radius - 2.0 * cross + own;
        let weight = self.weights[vertex.0][vertex.1];
        let most = if away { weight / (1.0 - weight).max(f64::EPSILON) } else { 1.0 };
        let gamma = self.direction.search(common, &self.at, most);
        self.scale(1.0 - way * gamma);
        self.shift(vertex, if away && gamma >= most { -1.0 } else { way * gamma }, radius);
        if gamma >= 1.0 && !away {
            self.active.clear();
            self.active.push(vertex.0 as u32);
        }
        self.direction.follow(common, &mut self.at, gamma);
    }
}

/// Returns the index and the sign of a corner of the l1 ball.
fn vertex(corner: Corner) -> Vertex {
    (corner.at, usize::from(corner.value < 0.0))
}

impl<L: Losses> Descent<L> for ActiveSet {
    fn step(&mut self, common: &mut Common<'_, '_, L>, _: Halted<'_>) -> bool {
        let mu = common.problem.mu();
        self.descent.copy_from_slice(&self.at.v);
        for &j in &self.active {
            self.descent[j as usize] -= mu * self.at.x[j as usize];
        }
        let corner = common.ball.corner(&self.descent);
        let best = vertex(corner);
        let (away, least) = self.worst();
        if self.pairwise {
            self.pairwise_step(common, best, away);
        } else {
            let own: f64 =
                self.active.iter().map(|&j| self.at.x[j as usize] * self.descent[j as usize]).sum();
            let radius = common.ball.radius;
            let toward = corner.value * self.descent[corner.at] - own;
            let is_away = own - radius * least > toward;
            self.step_along(common, if is_away { away } else { best }, is_away);
        }
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.at.x
    }

    fn refresh(&mut self, certified: &Told<'_, BallTable<'_>>) {
        self.at.copy(certified);
        // The weights have to add up to one, which rounding may have changed.
        let total: f64 = self.active.iter().flat_map(|&j| self.weights[j as usize]).sum();
        if total > 0.0 {
            self.active.iter().for_each(|&j| {
                self.weights[j as usize].iter_mut().for_each(|weight| *weight /= total);
            });
        }
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("{} entries have weight", self.active.len())]
    }
}
