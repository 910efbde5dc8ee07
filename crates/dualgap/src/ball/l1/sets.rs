//! The two sets of plain vectors, which differ by the signs of their corners: the l1 ball and the simplex.

use crate::ball::own_term::Feasible;
use crate::linalg::Measured;
use crate::term::ball::{l1, simplex};

/// The corners of the set, and so the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ball) enum Corners {
    /// ±r e_j: the l1 ball.
    Signed,
    /// r e_j: the simplex.
    Positive,
}

impl Corners {
    /// Where a run begins: at zero, or at the centre of the simplex.
    pub fn start(self, dim: usize, radius: f64) -> Vec<f64> {
        match self {
            Self::Signed => vec![0.0; dim],
            Self::Positive => vec![radius / dim.max(1) as f64; dim],
        }
    }

    /// See [`Design::miss`](crate::ball::Design::miss).
    pub fn miss(self, x: &[f64], radius: f64) -> Option<f64> {
        match self {
            Self::Signed => l1::contains(x, radius).then_some(0.0),
            Self::Positive => simplex::miss(x, radius),
        }
    }

    /// Brings an x inside that is so up to rounding.
    pub fn bring_inside(self, x: &mut [f64], radius: f64) {
        match self {
            Self::Signed => l1::bring_inside(x, radius),
            Self::Positive => simplex::bring_inside(x, radius),
        }
    }

    /// The nearest point with at most s entries that are not zero.
    pub fn nearest_sparse(
        self,
        v: &[f64],
        s: usize,
        radius: f64,
        x: &mut Vec<(u32, f64)>,
        buffer: &mut Vec<f64>,
    ) {
        match self {
            Self::Signed => l1::nearest_sparse(v, s, radius, x, buffer),
            Self::Positive => simplex::nearest_sparse(v, s, radius, x, buffer),
        }
    }

    /// The bound on h(v), and μ times the maximiser.
    pub fn conjugate(self, v: &[f64], radius: f64, mu: f64) -> (Measured, Vec<f64>) {
        let l1::Conjugate { bound, shrunk } = match self {
            Self::Signed => l1::conjugate(v, radius, mu),
            Self::Positive => simplex::conjugate(v, radius, mu),
        };
        (bound, shrunk)
    }

    /// The set of this radius, for the search of a bound.
    pub fn feasible(self, radius: f64) -> Set {
        Set { corners: self, radius, buffer: Vec::new() }
    }
}

/// One of the two sets, with a workspace.
pub(in crate::ball) struct Set {
    corners: Corners,
    radius: f64,
    buffer: Vec<f64>,
}

impl Feasible for Set {
    fn project(&mut self, x: &mut [f64]) {
        match self.corners {
            Corners::Signed => l1::project(x, self.radius, &mut self.buffer),
            Corners::Positive => simplex::project(x, self.radius, &mut self.buffer),
        }
    }

    fn support(&self, v: &[f64]) -> (f64, f64) {
        let top = match self.corners {
            Corners::Signed => v.iter().fold(0.0_f64, |top, v| top.max(v.abs())),
            Corners::Positive => v.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        (self.radius * top, self.radius)
    }
}
