//! The primal side of the engine: v, and the weights w = ∇g*(v) kept in step with it.

use super::View;
use crate::linalg::{Accumulate, Row, kernels};
use crate::term::Link;

/// v and w. Blocks read w as a plain slice, and whatever they add goes to v.
///
/// ```
/// # use dualgap::{dual::Primal, linalg::Accumulate, term::L2};
/// let mut primal = Primal::new(L2, vec![0.0; 3]);
/// primal.add(1, 2.0);
/// assert_eq!(primal.w(), [0.0, 2.0, 0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Primal<L> {
    link: L,
    v: Vec<f64>,
    /// Empty when the link is the identity.
    w: Vec<f64>,
}

impl<L: Link> Primal<L> {
    /// At this v.
    pub fn new(link: L, v: Vec<f64>) -> Self {
        let w = if L::IDENTITY { Vec::new() } else { link.weights(&v) };
        Self { link, v, w }
    }

    /// v, from which a state can be rebuilt bit for bit.
    pub(super) fn v(&self) -> &[f64] {
        &self.v
    }

    /// What a step on a block of this `mass / λ` sees.
    #[inline]
    pub(super) fn view(&self, scale: f64, fresh: bool) -> View<'_> {
        View { w: self.w(), factor: 1.0, scale, norm: L::NORM, fresh }
    }

    /// The weights.
    #[inline]
    pub fn w(&self) -> &[f64] {
        if L::IDENTITY { &self.v } else { &self.w }
    }
}

impl<L: Link> Accumulate for Primal<L> {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        self.v[index] += value;
        if !L::IDENTITY {
            self.w[index] = self.link.weight(index, self.v[index]);
        }
    }

    #[inline]
    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        if L::IDENTITY {
            kernels::add_outer(row, d, factor, &mut self.v);
        } else {
            for (f, x) in row.iter() {
                self.add_run(f * d.len(), d, factor * x);
            }
        }
    }
}
