//! Ascent on the dual, and where it does not get on, gradients of all examples: see `leg.rs`.

use super::ascent::Walk;
use super::baselines::{Gradients, GradientsPlace, gradients_from};
use super::leg::Leg;
use super::{Ascent, Losses, Sides, Solution};
use crate::run::{Certificate, Certified, Counters, Quota, Resumable, Solver, Work};
use crate::{Error, Result};

/// Both methods, the second once it has had a turn. The best of both sides is with the first.
pub(super) struct Relay<'p, 'a, L: Losses> {
    ascent: Ascent<'p, 'a, L>,
    all: Option<Gradients<'p, 'a, L>>,
    leg: Leg,
}

impl<'p, 'a, L: Losses> Relay<'p, 'a, L> {
    /// Ascent begins.
    pub fn new(ascent: Ascent<'p, 'a, L>) -> Self {
        Self { ascent, all: None, leg: Leg::new() }
    }

    /// Gradients, if it is their turn.
    fn second(&mut self) -> Option<&mut Gradients<'p, 'a, L>> {
        self.all.as_mut().filter(|_| self.leg.is_second())
    }

    /// Goes on where an earlier run stood; what a certificate will rest on is proved again.
    pub fn resume(&mut self, (walk, all, leg): <Self as Resumable>::State) -> Result<()> {
        self.ascent.resume(walk)?;
        let mut sound = leg.is_sound(all.is_some());
        if let Some(place) = all {
            let begun = self.all.insert(gradients_from(self.ascent.problem, None)?);
            sound &= begun.resume(place);
        }
        self.leg = leg;
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        Ok(())
    }
}

impl<L: Losses> Resumable for Relay<'_, '_, L> {
    type State = ((Walk, Sides), Option<GradientsPlace>, Leg);

    fn state(&self) -> Self::State {
        (self.ascent.state(), self.all.as_ref().map(Gradients::place), self.leg.clone())
    }
}

impl<L: Losses> Solver for Relay<'_, '_, L> {
    type Model = Solution;

    fn calls_per_pass(&self) -> u64 {
        self.ascent.calls_per_pass()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let (pass, second) = (self.calls_per_pass() as f64, self.second());
        let is_second = second.is_some();
        let work = match second {
            Some(all) => all.advance(quota)?,
            None => self.ascent.advance(quota)?,
        };
        let passes = work.oracle_calls as f64 / pass;
        if is_second {
            let entries = passes * self.ascent.problem.rows().stored() as f64;
            self.ascent.walk.touched.add(entries as usize, 0);
        }
        self.leg.went(passes);
        Ok(work)
    }

    fn certify(&mut self) -> Result<Certified> {
        let certified = match self.all.as_mut().filter(|_| self.leg.is_second()) {
            None => self.ascent.certify()?,
            Some(all) => {
                let iterate = all.certify()?.iterate;
                self.ascent.sides.take(all.sides());
                Certified { model: self.ascent.sides.certificate()?, iterate }
            }
        };
        // Without features there is no gradient.
        let features = self.ascent.problem.dim() > 0;
        let handed = features && self.leg.certified(certified.model.gap());
        if handed && self.leg.is_second() && self.all.is_none() {
            let best = &self.ascent.sides.best().weights;
            self.all = Some(gradients_from(self.ascent.problem, Some(best))?);
        }
        Ok(certified)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.ascent.proved()
    }

    fn may_stall(&self) -> bool {
        self.leg.may_stall()
    }

    fn weights(&self) -> &[f64] {
        self.ascent.weights()
    }

    fn tactics(&self) -> Vec<String> {
        let mut tactics = self.ascent.tactics();
        if let Some(all) = &self.all {
            tactics.push(self.leg.told());
            tactics.extend(all.tactics());
        }
        tactics
    }

    fn counters(&self) -> Counters {
        self.ascent.counters()
    }

    fn into_model(self) -> Solution {
        self.ascent.into_model()
    }
}
