//! Ascent on the dual, with a handover to gradients of all examples when the gap stalls: see `handover_policy.rs`.

use super::ascent::Walk;
use super::baselines::{Gradients, GradientsPlace, gradients_from};
use super::handover_policy::HandoverPolicy;
use super::{Ascent, BestPair, Losses, Solution};
use crate::run::{Certificate, Certified, Counters, Quota, Resumable, Solver, Work};
use crate::{Error, Result};

/// Both methods. The second is built at the first handover; `ascent` holds the best pair of both.
pub(super) struct Handover<'p, 'a, L: Losses> {
    ascent: Ascent<'p, 'a, L>,
    all: Option<Gradients<'p, 'a, L>>,
    policy: HandoverPolicy,
}

impl<'p, 'a, L: Losses> Handover<'p, 'a, L> {
    /// Starts with the ascent.
    pub fn new(ascent: Ascent<'p, 'a, L>) -> Self {
        Self { ascent, all: None, policy: HandoverPolicy::new() }
    }

    /// Returns the gradient method if it is the active one.
    fn second(&mut self) -> Option<&mut Gradients<'p, 'a, L>> {
        self.all.as_mut().filter(|_| self.policy.is_second())
    }

    /// Resumes from a checkpoint; recomputes the values that a certificate will rest on.
    pub fn resume(&mut self, (walk, all, policy): <Self as Resumable>::State) -> Result<()> {
        self.ascent.resume(walk)?;
        let mut sound = policy.is_sound(all.is_some());
        if let Some(place) = all {
            let begun = self.all.insert(gradients_from(self.ascent.problem, None)?);
            sound &= begun.resume(place);
        }
        self.policy = policy;
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        Ok(())
    }
}

impl<L: Losses> Resumable for Handover<'_, '_, L> {
    type State = ((Walk, BestPair), Option<GradientsPlace>, HandoverPolicy);

    fn state(&self) -> Self::State {
        (self.ascent.state(), self.all.as_ref().map(Gradients::place), self.policy.clone())
    }
}

impl<L: Losses> Solver for Handover<'_, '_, L> {
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
        self.policy.record_work(passes);
        Ok(work)
    }

    fn certify(&mut self) -> Result<Certified> {
        let certified = match self.all.as_mut().filter(|_| self.policy.is_second()) {
            None => self.ascent.certify()?,
            Some(all) => {
                let iterate = all.certify()?.iterate;
                self.ascent.best_pair.take(all.best_pair());
                Certified { model: self.ascent.best_pair.certificate()?, iterate }
            }
        };
        // Without features there is no gradient to hand over to.
        let features = self.ascent.problem.dim() > 0;
        let handed = features && self.policy.certified(certified.model.gap());
        if handed && self.policy.is_second() && self.all.is_none() {
            let best = &self.ascent.best_pair.best().weights;
            self.all = Some(gradients_from(self.ascent.problem, Some(best))?);
        }
        Ok(certified)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.ascent.proved()
    }

    fn may_stall(&self) -> bool {
        self.policy.may_stall()
    }

    fn weights(&self) -> &[f64] {
        self.ascent.weights()
    }

    fn tactics(&self) -> Vec<String> {
        let mut tactics = self.ascent.tactics();
        if let Some(all) = &self.all {
            tactics.push(self.policy.describe());
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
