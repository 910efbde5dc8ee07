//! Whether a weight may go without a penalty, as a type, so that what a free weight needs is compiled only for blocks
//! that support one.

use super::{Blocks, InterceptBlocks, Problem};
use crate::term::{Free, Link, Unpenalised};
use crate::{Error, Result};

/// The free weight of a problem with these blocks. The module is private, so [`NoIntercept`] and [`FreeIntercept`] are
/// all there are.
pub trait Intercept<B: Blocks>: Copy {
    /// The link of the problem that is certified, given that of the penalised weights.
    type Link<L: Link>: Link;

    /// Returns the link of the problem that is certified, or an error if these blocks support no free weight.
    fn certified<L: Link>(link: L, free: Option<Free>) -> Result<Self::Link<L>>;

    /// Returns the link of the penalised weights.
    fn penalised<L: Link>(link: &Self::Link<L>) -> &L;

    /// Returns the free weight, if there is one.
    fn of<L: Link>(link: &Self::Link<L>) -> Option<Self>;

    /// Returns the column and the bound of the free weight.
    fn free(self) -> Free;

    /// Returns points near these that the dual of the problem allows, or an error if there are none.
    fn balanced<L: Link>(
        self,
        problem: &Problem<'_, B, Self::Link<L>>,
        points: &[B::Point],
    ) -> Result<Vec<B::Point>>;

    /// Returns the best value of the free weight with the others fixed.
    fn best<L: Link>(self, problem: &Problem<'_, B, Self::Link<L>>, w: &[f64]) -> f64;
}

/// All weights are penalised. No value of this type exists, so that code for a free weight is dropped.
#[derive(Clone, Copy, Debug)]
pub enum NoIntercept {}

impl<B: Blocks> Intercept<B> for NoIntercept {
    type Link<L: Link> = L;

    fn certified<L: Link>(link: L, free: Option<Free>) -> Result<L> {
        match free {
            Some(_) => Err(Error::setting("a weight can be without penalty in linear models only")),
            None => Ok(link),
        }
    }

    fn penalised<L: Link>(link: &L) -> &L {
        link
    }

    fn of<L: Link>(_: &L) -> Option<Self> {
        None
    }

    fn free(self) -> Free {
        match self {}
    }

    fn balanced<L: Link>(self, _: &Problem<'_, B, L>, _: &[B::Point]) -> Result<Vec<B::Point>> {
        match self {}
    }

    fn best<L: Link>(self, _: &Problem<'_, B, L>, _: &[f64]) -> f64 {
        match self {}
    }
}

/// One weight, usually that of a constant column, may go without a penalty.
#[derive(Clone, Copy, Debug)]
pub struct FreeIntercept(Free);

impl<B: InterceptBlocks> Intercept<B> for FreeIntercept {
    type Link<L: Link> = Unpenalised<L>;

    fn certified<L: Link>(link: L, free: Option<Free>) -> Result<Unpenalised<L>> {
        Ok(Unpenalised { link, free })
    }

    fn penalised<L: Link>(link: &Unpenalised<L>) -> &L {
        &link.link
    }

    fn of<L: Link>(link: &Unpenalised<L>) -> Option<Self> {
        link.free.map(Self)
    }

    fn free(self) -> Free {
        self.0
    }

    fn balanced<L: Link>(
        self,
        problem: &Problem<'_, B, Unpenalised<L>>,
        points: &[B::Point],
    ) -> Result<Vec<B::Point>> {
        problem.blocks.balanced(points, &problem.weighed.masses, self.0.column).ok_or_else(|| {
            Error::setting("a weight can be without penalty only if its column is nowhere negative")
        })
    }

    fn best<L: Link>(self, problem: &Problem<'_, B, Unpenalised<L>>, w: &[f64]) -> f64 {
        let Free { column, bound } = self.0;
        problem.blocks.best_free(w, &problem.weighed.masses, column).clamp(-bound, bound)
    }
}
