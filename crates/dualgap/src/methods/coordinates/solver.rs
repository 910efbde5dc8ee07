//! The method as a [`Solver`]: its state, its work and its certificates.

use super::certificate::Certifier;
use super::data::Data;
use super::gram::{Curve, Gram};
use super::local::Local;
use super::newton::DAMPING;
use super::terms::Terms;
use crate::dual::problem::Masses;
use crate::dual::proximal_point::foreign_state;
use crate::dual::{self, Best, Solution};
use crate::linalg::parallel;
use crate::methods::newton::CurvedBlocks;
use crate::run::{Certificate, Certified, Expected, Quota, Resumable, Solver, Work};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// So often a certification touches every entry, in compensated sums and bounds of their rounding, ...
const PASS: u64 = 4;

/// ... and of every example it takes as long as this many entries besides: as many touched entries count as a pass.
const EXAMPLE: u64 = 64;

/// The solver; see the module's head.
pub struct Coordinates<'a, B: CurvedBlocks> {
    pub(super) blocks: &'a B,
    pub(super) certifier: Certifier<'a, B>,
    pub(super) data: Data<'a>,
    pub(super) terms: Terms,
    pub(super) pool: Arc<parallel::Pool>,
    /// D, if it is the same for all examples and everywhere.
    pub(super) same: Option<f64>,
    pub(super) gram: Gram,
    pub(super) walk: Walk,
    pub(super) best: Best<B::Point>,
    /// The losses at the weights of `walk`, if they are known.
    pub(super) local: Option<Local>,
    /// The slopes of the losses along all weights after a step that began at zero, as the matrix of all weights has them.
    pub(super) by_matrix: Option<Vec<f64>>,
}

/// What a run needs to resume.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    /// [`MARK`]: the bytes of another solver's state may have a meaning as one of these.
    mark: u64,
    walk: Walk,
    best: Best<P>,
}

/// What a state of this solver begins with.
const MARK: u64 = 0x636f_6f72_6469_6e32;

impl<P> State<P> {
    /// Whether this is a state of coordinate descent.
    pub(crate) fn is_own(&self) -> bool {
        self.mark == MARK
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Walk {
    pub(super) w: Vec<f64>,
    /// The working set of the next step; none before the first.
    pub(super) set: Option<Vec<u32>>,
    /// The weights that are proved to be zero.
    pub(super) dropped: Vec<bool>,
    /// The least primal value so far, the largest dual value, and the predictions whose slopes are its point; rounded.
    pub(super) primal: f64,
    pub(super) dual: f64,
    pub(super) dual_at: Vec<f64>,
    /// The largest slope of the losses along any weight there, in units of σ, if it is known.
    pub(super) reach: Option<f64>,
    /// The weights that an extrapolation of the last step had.
    pub(super) extrapolated: Vec<(u32, f64)>,
    pub(super) damping: f64,
    /// The weights of the matrix, and the work since it was used.
    pub(super) slots: Vec<u32>,
    pub(super) spent: u64,
    /// Entries that were touched and are not yet counted as work.
    pub(super) touched: u64,
}

/// Returns how many oracle calls the touched entries are worth, where a pass has `pass` calls and `all` entries, and
/// how many of the entries these calls account for. The products have twice the bits of their factors.
fn in_calls(touched: u64, pass: u64, all: u64) -> (u64, u64) {
    let [touched, pass, all] = [touched, pass, all].map(u128::from);
    let calls = touched * pass / all;
    (calls.try_into().unwrap_or(u64::MAX), (calls * all / pass) as u64)
}

impl<'a, B: CurvedBlocks> Coordinates<'a, B> {
    pub(super) fn new(blocks: &'a B, problem: &dual::Settings) -> Result<Self> {
        if !blocks.is_curved() {
            return Err(Error::setting(
                "coordinate descent is for smooth losses: take dual ascent, or round the loss off",
            ));
        }
        let certifier = Certifier::new(blocks, problem)?;
        let masses = Masses::new(blocks.len(), problem.sample_weights.as_deref())?;
        let all_alike = masses.iter().all(|mass| mass == masses.of(0));
        let exact = blocks.is_quadratic() && blocks.outputs() == 1;
        let same = (exact && all_alike).then(|| masses.of(0) / blocks.smoothness());
        let pool = dual::engine::pool(problem)?;
        let data = parallel::install(&pool, || Ok(Data::new(blocks, masses)))?;
        let terms = Terms {
            lambda: problem.lambda,
            sigma: problem.regulariser.l1,
            nonnegative: problem.regulariser.nonnegative,
            free: certifier.free(),
        };
        let walk = Walk {
            w: vec![0.0; data.dim()],
            dropped: vec![false; data.dim()],
            primal: f64::INFINITY,
            dual: f64::NEG_INFINITY,
            damping: DAMPING,
            ..Walk::default()
        };
        Ok(Self {
            best: certifier.start(blocks)?,
            gram: Gram::default(),
            local: None,
            by_matrix: None,
            pool,
            blocks,
            certifier,
            data,
            terms,
            same,
            walk,
        })
    }

    /// Begins at these weights, brought to where the penalty is finite.
    pub(super) fn begin_at(&mut self, mut weights: Vec<f64>) -> Result<()> {
        if weights.len() != self.walk.w.len() || weights.iter().any(|w| !w.is_finite()) {
            let need = self.walk.w.len();
            return Err(Error::setting(format!("a run begins at {need} finite weights, or anew")));
        }
        for (c, w) in weights.iter_mut().enumerate() {
            *w = match self.terms.free {
                Some(free) if free.column == c => w.clamp(-free.bound, free.bound),
                _ if self.terms.nonnegative => w.max(0.0),
                _ => *w,
            };
        }
        self.walk.w = weights;
        Ok(())
    }

    /// Begins at the weights of these dual points, or returns an error if they have none.
    pub(super) fn begin_at_points(&mut self, points: &[B::Point]) -> Result<()> {
        let Some(w) = self.certifier.weights(points) else {
            return Err(Error::setting(
                "without lambda a run cannot begin with the dual point of another model",
            ));
        };
        self.begin_at(w)
    }

    /// Returns the entries of a pass; an empty matrix counts as one entry, so that every step counts as work.
    fn entries(&self) -> u64 {
        let (stored, examples) = (self.data.stored(), self.data.masses().len());
        (PASS * stored as u64 + EXAMPLE * examples as u64).max(1)
    }

    /// Resumes from the state of an earlier run; proves again everything that a certificate rests on.
    pub(super) fn resume(&mut self, state: State<B::Point>) -> Result<()> {
        if !state.is_own() {
            return Err(Error::setting(
                "the checkpoint is not one of coordinate descent: begin the run anew, or resume it with the version that stored it",
            ));
        }
        let State { walk, mut best, .. } = state;
        let (dim, finite) = (self.data.dim(), |x: &[f64]| x.iter().all(|x| x.is_finite()));
        let weights = |set: &[u32]| set.iter().all(|&c| (c as usize) < dim);
        let slots: std::collections::HashSet<u32> = walk.slots.iter().copied().collect();
        let sound = walk.w.len() == dim
            && walk.dropped.len() == dim
            && finite(&walk.w)
            && [0, self.data.predictions()].contains(&walk.dual_at.len())
            && finite(&walk.dual_at)
            && walk.reach.is_none_or(|reach| reach.is_finite() && reach >= 0.0)
            && walk.set.as_ref().is_none_or(|set| weights(set) && set.is_sorted_by(|a, b| a < b))
            && weights(&walk.slots)
            && slots.len() == walk.slots.len()
            && walk.slots.len() <= super::gram::MOST
            && (walk.slots.is_empty() || self.blocks.is_quadratic() && self.data.outputs() == 1)
            && walk.extrapolated.iter().all(|(c, w)| (*c as usize) < dim && w.is_finite())
            && (0.0..=1.0).contains(&walk.damping)
            && walk.touched <= 2 * self.entries()
            && best.is_sound(dim, true);
        if !sound {
            return Err(foreign_state());
        }
        let is_certified = best.dual.value > f64::NEG_INFINITY;
        parallel::install(&self.pool, || self.certifier.prove(&mut best))?;
        if !is_certified {
            best.forget();
        }
        if let (Data::Columns(design), false) = (&self.data, walk.slots.is_empty()) {
            let each: Vec<f64> =
                design.masses.iter().map(|m| m / self.blocks.smoothness()).collect();
            let curve = self.same.map_or(Curve::Each(&each), Curve::Same);
            self.gram.include(&walk.slots, design, curve);
        }
        (self.walk, self.best) = (walk, best);
        Ok(())
    }
}

impl<B: CurvedBlocks> Resumable for Coordinates<'_, B>
where
    B::Point: Serialize + serde::de::DeserializeOwned,
{
    type State = State<B::Point>;

    fn state(&self) -> State<B::Point> {
        State { mark: MARK, walk: self.walk.clone(), best: self.best.clone() }
    }
}

impl<B: CurvedBlocks> Solver for Coordinates<'_, B> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.data.masses().len() as u64
    }

    /// A step is always completed: what it takes is known only afterwards.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        let pool = Arc::clone(&self.pool);
        while quota.allows(done, 1) {
            parallel::install(&pool, || self.step(&|| (quota.halted)()))?;
            let (calls, counted) =
                in_calls(self.walk.touched, self.calls_per_pass(), self.entries());
            // A step without any entry is work all the same.
            self.walk.touched -= counted;
            done += Work { steps: 1, oracle_calls: calls.max(1) };
            // The loop looks at what is expected after every step.
            if self.expected().is_some() {
                break;
            }
        }
        Ok(done)
    }

    fn expected(&self) -> Option<Expected> {
        let Walk { primal, dual, .. } = self.walk;
        let gap = primal - dual;
        gap.is_finite().then_some(Expected { primal, gap, off: 1.0 })
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.best.certificate()
    }

    fn certify(&mut self) -> Result<Certified> {
        // Before the first step no dual point is known, and a certification must not leave a mark.
        let at = if self.walk.dual_at.is_empty() {
            self.data.predict(self.walk.w.iter().copied().enumerate()).0
        } else {
            self.walk.dual_at.clone()
        };
        let (k, mut reach) = (self.data.outputs(), self.walk.reach.unwrap_or_default());
        if self.certifier.is_scaled() && self.walk.reach.is_none() {
            let local = Local::at(self.blocks, self.data.masses(), at.clone());
            let (slopes, _) = self.data.slopes(&local.slopes, &vec![false; self.data.dim()]);
            let pulls = slopes.iter().map(|&z| self.terms.pull(-z) / self.terms.sigma);
            reach = pulls.fold(0.0, f64::max);
            self.walk.reach = (!self.walk.dual_at.is_empty()).then_some(reach);
        }
        let Self { blocks, certifier, walk, best, pool, .. } = self;
        let iterate = parallel::install(pool, || {
            let each = at.chunks_exact(k).enumerate();
            let points = each.map(|(i, a)| blocks.touching(i, a)).collect();
            certifier.certify(walk.w.clone(), points, reach, best)
        })?;
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    fn tactics(&self) -> Vec<String> {
        let count = |yes: &dyn Fn(usize) -> bool| (0..self.data.dim()).filter(|&c| yes(c)).count();
        let working = self.walk.set.as_ref().map_or(0, Vec::len);
        let (nonzero, dropped) =
            (count(&|c| self.walk.w[c] != 0.0), count(&|c| self.walk.dropped[c]));
        let dim = self.data.dim();
        let mut tactics = vec![format!(
            "coordinate descent: of {dim} weights {nonzero} are not zero, {working} in the working set, {dropped} proved to be zero"
        )];
        if let Data::Rows(_) = self.data {
            tactics.push("with the matrix of all weights".into());
        } else if !self.walk.slots.is_empty() {
            tactics.push(format!("with the matrix of {} weights", self.walk.slots.len()));
        }
        tactics
    }

    fn weights(&self) -> &[f64] {
        self.best.weights().unwrap_or(&self.walk.w)
    }

    fn into_model(self) -> Solution<B::Point> {
        self.best.into_solution(|| self.walk.w, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rows;
    use crate::structure::{Choice, LinearBlocks};
    use crate::term::{Regulariser, ScalarLoss};
    use proptest::prelude::*;

    // A σ that no weight is worth: looks at the weights are all there is to do, and all that counts. A look touches every entry at
    // most twice, for the predictions and for the slopes, and a step without any counts as one call.
    #[test]
    fn a_run_in_which_no_weight_moves_counts_no_more_work_than_its_looks() {
        let inputs: Vec<Vec<f64>> =
            (0..100).map(|i| vec![f64::from(i % 7) - 3.0, f64::from(i % 5) - 2.0]).collect();
        let rows = Rows::dense(&inputs).unwrap();
        let signs: Vec<f64> = (0..100).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        for loss in [ScalarLoss::Logistic, ScalarLoss::Squared] {
            let blocks = LinearBlocks::new(&rows, signs.clone(), loss, Choice::I).unwrap();
            let regulariser = Regulariser { l1: 1e3, ..Regulariser::default() };
            let problem = dual::Settings {
                lambda: 0.0,
                regulariser,
                threads: 1,
                ..dual::Settings::default()
            };
            let mut solver = Coordinates::new(&blocks, &problem).unwrap();
            let (pass, all) = (solver.calls_per_pass(), solver.entries());
            let (look, _) = in_calls(2 * rows.stored() as u64, pass, all);
            assert!(look + 1 < pass / 10, "a look is far from a pass: {look} of {pass}");
            let quota =
                Quota { oracle_calls: u64::MAX, steps: 1, pause: u64::MAX, halted: &|| false };
            for step in 0..50 {
                let done = solver.advance(&quota).unwrap();
                assert_eq!(done.steps, 1);
                // What is left of a call is counted with the next look.
                assert!(done.oracle_calls <= look + 1, "step {step}: {done:?}");
                assert!(solver.walk.w.iter().all(|w| *w == 0.0));
            }
        }
    }

    proptest! {
        // Sizes up to those where a product of two of them has more than 64 bits.
        #[test]
        fn entries_become_calls_without_loss(
            (pass, all) in (1..u64::MAX >> 8, 1..u64::MAX >> 8),
            share in 0.0..1.0_f64,
        ) {
            let touched = all.min((share * all as f64) as u64);
            let (calls, counted) = in_calls(touched, pass, all);
            prop_assert!(calls <= pass && counted <= touched);
            // Not one more call would be covered.
            let wide = u128::from;
            prop_assert!(wide(calls) * wide(all) <= wide(touched) * wide(pass));
            prop_assert!((wide(calls) + 1) * wide(all) > wide(touched) * wide(pass));
            // What is counted is what the calls are worth, to within one entry.
            prop_assert!((wide(counted) + 1) * wide(pass) > wide(calls) * wide(all));
        }
    }
}
