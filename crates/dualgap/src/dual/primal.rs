//! The primal side of the engine: v, and the weights w = ∇g*(v), updated with it.

use super::View;
use super::journal::Journal;
use crate::linalg::{Accumulate, Row, kernels};
use crate::term::Link;

/// v and w. Blocks read w as a plain slice, and whatever they add goes to v.
#[derive(Debug)]
pub struct Primal<L> {
    link: L,
    v: Vec<f64>,
    /// The weights up to the common factor; empty if the link is the identity. Under a link that spreads, what blocks
    /// read in their place.
    w: Vec<f64>,
    /// Under a link that spreads: the changes of coefficients that the values do not have yet.
    pending: Vec<(usize, f64)>,
    /// For a coupled link: its reference, the sum that the common factor depends on, and the number of non-zero
    /// weights.
    reference: f64,
    shares: f64,
    active: usize,
    /// Under the identity, where the changes of a lane are noted.
    journal: Option<Journal>,
    /// Whether v may differ from that of the [copies](Self::equal).
    differs: bool,
}

impl<L: Link> Primal<L> {
    /// Computes the weights at this v.
    pub fn new(link: &L, v: Vec<f64>) -> Self {
        let reference = link.reference(&v);
        let mut primal = if L::SPREAD {
            let w = link.readable(&v).values.into_owned();
            Self::joined(link.clone(), v, w, [reference, 0.0])
        } else {
            Self::kept(link, v, [reference, 0.0])
        };
        if L::COUPLED {
            let both = primal.v.iter().zip(&primal.w).enumerate();
            primal.shares = both.map(|(j, (&v, &w))| primal.link.share(j, v, w)).sum();
        }
        primal
    }

    /// Restores a stored state, bit for bit.
    pub(super) fn kept(link: &L, mut v: Vec<f64>, coupling: [f64; 2]) -> Self {
        let link = link.based(coupling[0]);
        let w: Vec<f64> = if L::SPREAD {
            v.split_off(v.len() / 2)
        } else if L::IDENTITY {
            Vec::new()
        } else {
            v.iter().enumerate().map(|(j, &v)| link.weight(j, v)).collect()
        };
        Self::joined(link, v, w, coupling)
    }

    fn joined(link: L, v: Vec<f64>, w: Vec<f64>, [reference, shares]: [f64; 2]) -> Self {
        let active = if L::COUPLED { w.iter().filter(|&&w| w != 0.0).count() } else { 0 };
        Self {
            link,
            v,
            w,
            pending: Vec::new(),
            reference,
            shares,
            active,
            journal: None,
            differs: true,
        }
    }

    /// Returns what a checkpoint stores as v. Under a link that spreads these are v and the values behind it, which have
    /// a rounding error of their own.
    pub(super) fn stored(&self) -> Vec<f64> {
        if L::SPREAD { [&self.v[..], &self.w].concat() } else { self.v.clone() }
    }

    /// Returns the number of entries of [`stored`](Self::stored) for this number of weights.
    pub(super) fn stored_len(dim: usize) -> usize {
        if L::SPREAD { 2 * dim } else { dim }
    }

    /// Brings the values that blocks read up to date, if the link spreads. The engine calls this before another block
    /// reads them, and not after every step of a block: one update then serves several steps.
    #[inline]
    pub(super) fn publish(&mut self) {
        if L::SPREAD && !self.pending.is_empty() {
            self.link.spread(&mut self.pending, &mut self.w);
            self.pending.clear();
        }
    }

    /// Returns v.
    pub(super) fn v(&self) -> &[f64] {
        &self.v
    }

    /// Returns v to be changed in place, if it is w as well.
    pub(super) fn identical(&mut self) -> Option<&mut [f64]> {
        self.differs = true;
        (L::IDENTITY && !L::SPREAD && !L::COUPLED).then_some(&mut self.v)
    }

    /// Gives copies of this v whatever has changed in it since they were last equal. Only under the identity.
    pub(super) fn equal<'e>(&'e mut self, copies: impl Iterator<Item = &'e mut Self>)
    where
        L: 'e,
    {
        for copy in copies {
            if self.differs || copy.differs {
                copy.v.copy_from_slice(&self.v);
            }
            copy.differs = false;
        }
        self.differs = false;
    }

    /// Says that the copies of this v have the same changes.
    pub(super) fn is_equal(&mut self) {
        self.differs = false;
    }

    /// Notes all changes to v from now on, or no longer; returns the journal so far. Only under the identity.
    pub(super) fn keep(&mut self, journal: Option<Journal>) -> Option<Journal> {
        std::mem::replace(&mut self.journal, journal)
    }

    /// Returns what a checkpoint stores besides v.
    pub(super) fn coupling(&self) -> [f64; 2] {
        [self.reference, self.shares]
    }

    /// Returns what a step on a block with this `mass / λ` sees.
    #[inline]
    pub(super) fn view(&self, scale: f64, fresh: bool) -> View<'_> {
        let factor = if L::COUPLED { self.link.factor(self.shares) } else { 1.0 };
        let w = if L::IDENTITY && !L::SPREAD { &self.v } else { &self.w };
        View { w, factor, scale, norm: L::NORM, fresh }
    }

    /// Returns the weights.
    pub fn weights(&self) -> Vec<f64> {
        if L::SPREAD {
            return self.v.clone();
        }
        let View { w, factor, .. } = self.view(1.0, true);
        w.iter().map(|w| factor * w).collect()
    }

    /// Adjusts a coupled link's reference if the size of v has changed much. The engine calls this after every step.
    #[inline]
    pub(super) fn settle(&mut self) {
        let usual = 0.1..100.0 * self.v.len() as f64;
        if L::COUPLED && self.active > 0 && !usual.contains(&self.shares) {
            let v = std::mem::take(&mut self.v);
            *self = Self::new(&self.link, v);
        }
    }
}

impl<L: Link> Accumulate for Primal<L> {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        if L::IDENTITY {
            match &mut self.journal {
                Some(journal) => journal.note(index, &self.v),
                None => self.differs = true,
            }
        }
        let before = self.v[index];
        self.v[index] += value;
        if L::SPREAD {
            if self.link.is_coefficient(index) {
                self.pending.push((index, value));
            } else {
                self.w[index] += value;
            }
            return;
        }
        if L::IDENTITY {
            return;
        }
        let old = self.w[index];
        let new = self.link.weight(index, self.v[index]);
        self.w[index] = new;
        if L::COUPLED {
            self.shares +=
                self.link.share(index, self.v[index], new) - self.link.share(index, before, old);
            self.active = self.active + usize::from(new != 0.0) - usize::from(old != 0.0);
        }
    }

    #[inline]
    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        if L::IDENTITY && !L::SPREAD {
            match &mut self.journal {
                Some(journal) => {
                    row.for_each(|f, _| journal.note_run(f * d.len(), d.len(), &self.v));
                }
                None => self.differs = true,
            }
            kernels::add_outer(row, d, factor, &mut self.v);
        } else {
            for (f, x) in row.iter() {
                self.add_run(f * d.len(), d, factor * x);
            }
        }
    }

    #[inline]
    fn add_classes(&mut self, row: Row<'_>, classes: usize, parts: &[(usize, f64)]) {
        if L::IDENTITY && !L::SPREAD && self.journal.is_none() {
            self.differs = true;
            kernels::add_classes(row, classes, parts, &mut self.v);
        } else {
            row.for_each(|f, x| {
                for &(y, d) in parts {
                    self.add(f * classes + y, d * x);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn under_a_ridge_weights_are_v() {
        use crate::{dual::Primal, linalg::Accumulate, term::L2};
        let mut primal = Primal::new(&L2, vec![0.0; 3]);
        primal.add(1, 2.0);
        assert_eq!(primal.weights(), [0.0, 2.0, 0.0]);
    }
}
