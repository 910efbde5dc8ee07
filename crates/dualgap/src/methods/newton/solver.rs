//! The method as a [`Solver`].

use super::blocks::CurvedBlocks;
#[cfg(feature = "low-rank")]
use super::cholesky::{Hessian, Sample};
use super::conjugate_gradient;
use super::cost::{Way, suits_corners};
#[cfg(feature = "low-rank")]
use super::cost::{cholesky_in_passes, gram_in_passes, passes_of_preconditioner};
use super::design::{Derivatives, Design, blocks_of, smoothed_slopes};
#[cfg(feature = "low-rank")]
use super::kronecker::Kronecker;
use super::point::{End, Local};
use super::settings::{Equations, NewtonSettings};
use super::smoothing::Smoothing;
use super::tangent::{Step, Tangent};
use crate::dual::problem::Masses;
use crate::dual::proximal_point::{OuterProblem, foreign_state};
use crate::dual::{self, Best, Solution};
use crate::linalg::kernels::dot;
use crate::linalg::{Measured, parallel};
use crate::run::{Certificate, Certified, Counters, Expected, Quota, Resumable, Solver, Work};
use crate::term::L2;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The curvature that the weight without penalty has at least, as a share of the most that it can have. Losses with flat
/// parts may have none at all; the share is so small that it does not slow down the last steps.
const DAMPING: f64 = 1e-6;

/// The residual of conjugate gradients: at most this share of the gradient, so that every step makes good progress, ...
const COARSE: f64 = 0.1;

/// ... or this share, where the preconditioner is good: a step takes about as long as five products besides its own. On
/// handwritten digits 0.2 takes 137 products in all, 0.05 takes 208, and what the gradient's fall suggests 212.
#[cfg(feature = "low-rank")]
const COARSER: f64 = 0.2;

/// ... and at most this many products a step.
const MOST_PRODUCTS: usize = 1000;

/// A certification takes as long as at least this many products with the data: 8 on a9a and 14 on ijcnn1 under the logistic loss,
/// 22 under softmax on 15,000 rows of 16 columns with 26 classes.
const CERTIFICATION: f64 = 8.0;

/// The solver; see the module's head.
pub struct Newton<'a, B: CurvedBlocks> {
    pub(super) problem: OuterProblem<'a, B, L2>,
    pub(super) design: Design<'a>,
    pub(super) masses: Masses,
    /// λ for every weight, and zero for the one without penalty.
    pub(super) ridge: Vec<f64>,
    /// The same in H, which must be positive definite: a trifle for the weight without penalty.
    pub(super) damped: Vec<f64>,
    pub(super) best: Best<B::Point>,
    pub(super) pool: Arc<parallel::Pool>,
    pub(super) by_cholesky: bool,
    /// How long the matrix and its factorisation take, in passes over the data, if equations are solved by Cholesky.
    #[cfg(feature = "low-rank")]
    pub(super) passes: [f64; 2],
    /// Whether conjugate gradients have the preconditioner of several outputs.
    #[cfg(feature = "low-rank")]
    pub(super) by_factors: bool,
    pub(super) w: Vec<f64>,
    /// If the losses have corners.
    pub(super) smoothing: Option<Smoothing>,
    /// What is known at w; computed when it is needed.
    pub(super) local: Option<Local>,
    /// Memory for the end of a step: to ask for it anew takes a tenth of a step with many examples.
    pub(super) spare: End,
    /// The same for the predictions of a direction.
    pub(super) ahead: Vec<f64>,
    /// The largest squared norm of a gradient so far.
    pub(super) steepest: f64,
    /// Whether the tangents so far were better than the slopes: those of losses that are parabolas in parts are not.
    pub(super) tangents_pay: bool,
    pub(super) products: u64,
    pub(super) factorisations: u64,
}

/// What a run needs to resume.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    w: Vec<f64>,
    /// The predictions, if they are known: steps add to them, and their rounding is part of what later steps depend on.
    a: Vec<f64>,
    steepest: f64,
    tangent: Option<Tangent>,
    tangents_pay: bool,
    smoothing: Option<Smoothing>,
    best: Best<P>,
}

impl<'a, B: CurvedBlocks> Newton<'a, B> {
    pub(super) fn new(
        blocks: &'a B,
        problem: &dual::Settings,
        settings: &NewtonSettings,
    ) -> Result<Self> {
        if !blocks.is_curved() && !blocks.has_corners() {
            return Err(Error::setting(
                "Newton's method does not know how to smooth this loss: take dual ascent",
            ));
        }
        let design = Design::new(blocks.inputs(), blocks.outputs()).with_matrix();
        let masses = Masses::new(blocks.len(), problem.sample_weights.as_deref())?;
        let outer = OuterProblem::new(blocks, L2, problem.lambda, problem)?;
        let mut ridge = vec![problem.lambda; blocks.dim()];
        let mut damped = ridge.clone();
        if let Some(free) = outer.free() {
            ridge[free.column] = 0.0;
            // The largest curvature that its column can have, or λ if the column is zero.
            let square =
                |(i, mass): (usize, f64)| mass * design.rows.row(i).get(free.column).powi(2);
            // That of a smoothed loss is not known ahead: as if its width were one.
            let smooth = if blocks.is_curved() { blocks.smoothness() } else { 1.0 };
            let most = masses.iter().enumerate().map(square).sum::<f64>() / smooth;
            damped[free.column] = if most > 0.0 { DAMPING * most } else { problem.lambda };
        }
        let start: Vec<B::Point> = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        let start = outer.balanced(&start)?.unwrap_or(start);
        let pool = dual::engine::pool_for(blocks, problem)?;
        // Its dual value is not worth a pass over the data.
        let unknown = Measured { value: f64::NEG_INFINITY, error: 0.0 };
        let best = Best::new(unknown, Some(start));
        let dim = blocks.dim();
        let by_cholesky = match settings.equations {
            _ if cfg!(not(feature = "low-rank")) => false,
            Equations::Cholesky => true,
            Equations::ConjugateGradient => false,
            Equations::Auto if blocks.has_corners() => suits_corners(blocks),
            Equations::Auto => {
                matches!(Way::fastest(design.rows, design.outputs), Way::Cholesky(_))
            }
        };
        #[cfg(feature = "low-rank")]
        let passes =
            if by_cholesky { cholesky_in_passes(design.rows, design.outputs) } else { [0.0; 2] };
        #[cfg(feature = "low-rank")]
        let by_factors = outer.free().is_none()
            && passes_of_preconditioner(design.rows, design.outputs).is_some();
        let mut solver = Self {
            problem: outer,
            design,
            masses,
            ridge,
            damped,
            best,
            pool,
            by_cholesky,
            #[cfg(feature = "low-rank")]
            passes,
            #[cfg(feature = "low-rank")]
            by_factors,
            w: vec![0.0; dim],
            smoothing: None,
            local: None,
            spare: End::default(),
            ahead: Vec::new(),
            steepest: 0.0,
            tangents_pay: blocks.is_curved() && !blocks.is_quadratic(),
            products: 0,
            factorisations: 0,
        };
        solver.smoothing = solver.smoothed_around(solver.best_points(), 1.0);
        Ok(solver)
    }

    /// Returns the smoothing of losses with corners around these dual points, whose weights have this relative gap.
    fn smoothed_around(&self, points: &[B::Point], relative_gap: f64) -> Option<Smoothing> {
        let blocks = self.blocks();
        if blocks.is_curved() {
            return None;
        }
        let mut centres = vec![0.0; self.design.predictions()];
        let each = centres.chunks_exact_mut(self.design.outputs).zip(points);
        each.enumerate().for_each(|(i, (slope, at))| blocks.slope_at(i, at, slope));
        let smoothing = Smoothing::new(centres, 1.0, 1.0);
        let at_zero = vec![0.0; smoothing.centres.len()];
        let mut known = Derivatives::default();
        self.design.derive(blocks, &self.masses, &at_zero, Some(&smoothing), &mut known);
        Some(Smoothing::new(smoothing.centres, relative_gap, known.exact))
    }

    /// Begins at the weights of these dual points.
    pub(super) fn begin_at(&mut self, points: &[B::Point]) {
        self.smoothing = self.smoothed_around(points, 1.0);
        self.w = self.problem.weights(&self.problem.image(points));
        if let Some((column, free)) = self.problem.best_free(&self.w) {
            self.w[column] = free;
        }
    }

    /// Begins at these weights.
    pub(super) fn begin_at_weights(&mut self, weights: Vec<f64>) -> Result<()> {
        if weights.len() != self.w.len() || weights.iter().any(|w| !w.is_finite()) {
            let need = self.w.len();
            return Err(Error::setting(format!("a run begins at {need} finite weights, or anew")));
        }
        self.w = self.problem.bounded(weights);
        Ok(())
    }

    /// Begins at the weights that another solver has ended with; its pair is the best so far.
    pub(super) fn begin_after(&mut self, before: Solution<B::Point>) -> Result<()> {
        let Solution { weights, points } = before;
        parallel::install(&self.pool, || {
            let primal = self.problem.primal_at(&weights, &points)?;
            let dual = self.problem.dual(&points)?.value;
            self.best.offer_pair(primal, weights.clone(), dual, &points);
            Ok(())
        })?;
        let gap = self.best.certificate().transpose()?.map_or(1.0, |best| best.relative_gap());
        self.smoothing = self.smoothed_around(&points, gap);
        self.w = weights;
        Ok(())
    }

    /// Returns the best points so far.
    pub(super) fn best_points(&self) -> &[B::Point] {
        self.best.points().unwrap_or_default()
    }

    /// Returns the thread pool that the method runs on.
    pub(super) fn pool(&self) -> Arc<parallel::Pool> {
        Arc::clone(&self.pool)
    }

    fn blocks(&self) -> &'a B {
        self.problem.blocks()
    }

    /// Returns P, its slope and its curvature at these weights and their predictions, of which the losses are known.
    pub(super) fn local(&self, w: &[f64], a: Vec<f64>, known: Derivatives) -> Local {
        let Derivatives { loss, exact, left, slopes, curves } = known;
        let mut gradient = self.ridge_slope(w);
        self.design.add_adjoint(&slopes, &mut gradient);
        let penalty = self.penalty(w);
        let (value, exact) = (loss + penalty, exact + penalty);
        Local { value, exact, left, a, slopes, gradient, curves, tangent: None }
    }

    fn ridge_slope(&self, w: &[f64]) -> Vec<f64> {
        w.iter().zip(&self.ridge).map(|(w, r)| w * r).collect()
    }

    /// Returns the slopes of a step's model at its end, where the predictions have moved by `moved`, if they prove anything.
    pub(super) fn tangent(
        &self,
        begin: &Local,
        moved: &[f64],
        end: &Local,
        w: &[f64],
    ) -> Option<Tangent> {
        let step = Step { begin: begin.at(), end: end.at(), moved, ridge: self.ridge_slope(w) };
        Tangent::of(&self.design, self.blocks(), &self.masses, self.problem.lambda(), step)
            .filter(|tangent| tangent.gap < end.value)
    }

    pub(super) fn penalty(&self, w: &[f64]) -> f64 {
        0.5 * w.iter().zip(&self.ridge).map(|(w, ridge)| ridge * w * w).sum::<f64>()
    }

    pub(super) fn derive(&self, a: &[f64], out: &mut Derivatives) {
        self.design.derive(self.blocks(), &self.masses, a, self.smoothing.as_ref(), out);
    }

    /// Returns what is known at w, given its predictions.
    pub(super) fn local_at(&self, w: &[f64], a: Vec<f64>, mut buffers: Derivatives) -> Local {
        self.derive(&a, &mut buffers);
        self.local(w, a, buffers)
    }

    /// Returns the gap of w and −∇φ(a), if no weight is free: ‖∇P‖²/(2λ).
    pub(super) fn gap_of_slopes(&self, local: &Local) -> f64 {
        dot(&local.gradient, &local.gradient) / (2.0 * self.problem.lambda())
    }

    /// Returns what is known at w, and how many products with the data it took to know it.
    pub(super) fn take_local(&mut self) -> (Local, f64) {
        if let Some(local) = self.local.take() {
            return (local, 0.0);
        }
        let a = self.design.predict(&self.w);
        (self.local_at(&self.w, a, Derivatives::default()), 2.0)
    }

    /// Returns H⁻¹b, and the work that it took in products with the data.
    pub(super) fn direction(
        &mut self,
        local: &Local,
        b: &[f64],
        halted: &dyn Fn() -> bool,
    ) -> (Vec<f64>, f64) {
        let (blocks, design) = (self.blocks(), &self.design);
        #[cfg(feature = "low-rank")]
        if self.by_cholesky {
            let sample = self
                .smoothing
                .as_ref()
                .map(|smoothing| Sample::of(&local.curves, design, smoothing.per_column));
            let (masses, curves) = (&self.masses, &local.curves);
            let hessian = Hessian { design, blocks, masses, curves, sample: sample.as_ref() };
            let solution = hessian.solve(&self.damped, b);
            self.factorisations += 1;
            if let Some(p) = solution {
                let [matrix, factors] = self.passes;
                let all = self.masses.len() as f64;
                let share = sample.map_or(1.0, |sample| sample.examples.len() as f64 / all);
                return (p, share * matrix + factors);
            }
        }
        let (masses, damped) = (&self.masses, &self.damped);
        let mut product = |p: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(p).zip(damped).for_each(|((out, p), ridge)| *out = ridge * p);
            design.add_product(blocks, masses, &local.curves, p, out);
        };
        #[cfg(feature = "low-rank")]
        if self.by_factors
            && let Some(factors) =
                Kronecker::new(design, blocks, masses, &local.curves, self.problem.lambda())
        {
            let mut equations = conjugate_gradient::Equations {
                product: &mut product,
                precondition: &|r| factors.solve(r),
            };
            let (p, products) =
                conjugate_gradient::solve(&mut equations, b, COARSER, MOST_PRODUCTS, halted);
            self.products += products as u64;
            return (p, 2.0 * products as f64 + gram_in_passes(design.rows, design.outputs));
        }
        let mut diagonal = self.damped.clone();
        design.add_diagonal(blocks, masses, &local.curves, &mut diagonal);
        let by_diagonal = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, h)| r / h).collect();
        let mut equations =
            conjugate_gradient::Equations { product: &mut product, precondition: &by_diagonal };
        // The square root makes steps converge faster than linearly, and no product is wasted on a step far away.
        let accuracy = (dot(b, b) / self.steepest).sqrt().sqrt().min(COARSE);
        let (p, products) =
            conjugate_gradient::solve(&mut equations, b, accuracy, MOST_PRODUCTS, halted);
        self.products += products as u64;
        (p, 2.0 * products as f64)
    }
}

impl<B: CurvedBlocks> Resumable for Newton<'_, B>
where
    B::Point: Serialize + serde::de::DeserializeOwned,
{
    type State = State<B::Point>;

    fn state(&self) -> Self::State {
        let local = self.local.as_ref();
        let a = local.map_or_else(Vec::new, |local| local.a.clone());
        let tangent = local.and_then(|local| local.tangent.clone());
        State {
            w: self.w.clone(),
            a,
            steepest: self.steepest,
            tangent,
            tangents_pay: self.tangents_pay,
            smoothing: self.smoothing.clone(),
            best: self.best.clone(),
        }
    }
}

impl<B: CurvedBlocks> Newton<'_, B> {
    /// Resumes from the state of an earlier run; proves again everything that a certificate rests on.
    pub(super) fn resume(&mut self, state: State<B::Point>) -> Result<()> {
        let State { w, a, steepest, tangent, tangents_pay, smoothing, mut best } = state;
        let sound = w.len() == self.w.len()
            && (a.is_empty() || a.len() == self.design.predictions())
            && w.iter().chain(&a).all(|x| x.is_finite())
            && steepest >= 0.0
            && tangent.as_ref().is_none_or(|tangent| tangent.is_sound(a.len()))
            && smoothing.is_some() == self.smoothing.is_some()
            && smoothing.as_ref().is_none_or(|s| s.is_sound(self.design.predictions()))
            && best.is_sound(w.len(), true);
        if !sound {
            return Err(foreign_state());
        }
        // Only where the losses have tangents that may pay.
        self.tangents_pay &= tangents_pay;
        let tangent = tangent.filter(|_| self.tangents_pay);
        self.smoothing = smoothing;
        let pool = Arc::clone(&self.pool);
        parallel::install(&pool, || {
            if !a.is_empty() {
                let local = self.local_at(&w, a, Derivatives::default());
                self.local = Some(Local { tangent, ..local });
            }
            let is_certified = best.dual.value > f64::NEG_INFINITY;
            self.problem.prove(&mut best)?;
            if !is_certified {
                best.forget();
            }
            Ok(())
        })?;
        (self.w, self.steepest, self.best) = (w, steepest, best);
        Ok(())
    }
}

impl<B: CurvedBlocks> Solver for Newton<'_, B> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.masses.len() as u64
    }

    fn passes_per_certification(&self) -> f64 {
        CERTIFICATION
    }

    /// A step is always completed: what it takes is known only afterwards.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        let pool = Arc::clone(&self.pool);
        while quota.allows(done, 1) {
            let passes = parallel::install(&pool, || Ok(self.step(&|| (quota.halted)())))?;
            let calls = (passes * self.calls_per_pass() as f64).ceil() as u64;
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.best.certificate()
    }

    fn certify(&mut self) -> Result<Certified> {
        // A certificate needs memory for dual points.
        (self.spare, self.ahead) = (End::default(), Vec::new());
        let (blocks, k) = (self.blocks(), self.design.outputs);
        let pool = Arc::clone(&self.pool);
        let iterate = parallel::install(&pool, || {
            let w = self.problem.bounded(self.w.clone());
            // Any predictions give a feasible point; those of the steps differ from the exact ones by rounding.
            let fresh = if self.local.is_some() { Vec::new() } else { self.design.predict(&w) };
            let a = self.local.as_ref().map_or(&fresh, |local| &local.a);
            let tangent = self.local.as_ref().and_then(|local| local.tangent.as_ref());
            let of_part = |range: std::ops::Range<usize>| {
                if let Some(around) = &self.smoothing {
                    let (mut points, mut slopes) = (Vec::with_capacity(range.len()), Vec::new());
                    for block in blocks_of(range) {
                        slopes.resize(block.len() * k, 0.0);
                        let of_block = &a[block.start * k..block.end * k];
                        smoothed_slopes(blocks, around, block.start, of_block, &mut slopes);
                        let each = block.zip(slopes.chunks_exact(k));
                        points.extend(each.map(|(i, slope)| blocks.opposite(i, slope)));
                    }
                    return Ok(points);
                }
                let mut slope = vec![0.0; k];
                let of_example = |i: usize| match tangent {
                    Some(tangent) => tangent.point(blocks, i, &mut slope),
                    None => blocks.touching(i, &a[i * k..(i + 1) * k]),
                };
                Ok(range.map(of_example).collect::<Vec<_>>())
            };
            let parts = parallel::map_ranges(blocks.len(), self.design.parts(), of_part)?;
            let points: Vec<B::Point> = parallel::joined(parts);
            let points = self.problem.balanced(&points)?.unwrap_or(points);
            let (primal, dual) = (self.problem.primal(&w)?, self.problem.dual(&points)?.value);
            let iterate = primal.certificate(dual)?;
            self.best.offer_primal(primal, || w);
            self.best.take_dual(dual, points);
            Ok(iterate)
        })?;
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    fn expected(&self) -> Option<Expected> {
        let local = self.local.as_ref()?;
        let of_slopes = || local.left + self.gap_of_slopes(local);
        let gap = local.tangent.as_ref().map_or_else(of_slopes, |tangent| tangent.gap);
        Some(Expected { primal: local.exact, gap, off: 1.0 })
    }

    fn tactics(&self) -> Vec<String> {
        let how = match self {
            _ if self.by_cholesky => "Cholesky",
            #[cfg(feature = "low-rank")]
            _ if self.by_factors => "conjugate gradients, preconditioned by inputs and by outputs",
            _ => "conjugate gradients",
        };
        let around = self.smoothing.as_ref().map_or_else(String::new, |smoothing| {
            let Smoothing { rounds, width, .. } = smoothing;
            format!(
                ", on losses smoothed around {rounds} dual points in turn (now over {width:.1e})"
            )
        });
        vec![format!("Newton steps, by {how}{around}")]
    }

    fn counters(&self) -> Counters {
        Counters::from([("factorisations", self.factorisations), ("products", self.products)])
    }

    fn weights(&self) -> &[f64] {
        self.best.weights().unwrap_or(&self.w)
    }

    fn into_model(self) -> Solution<B::Point> {
        self.best.into_solution(|| self.w, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Random, Rows};
    use crate::structure::{Choice, LinearBlocks};
    use crate::term::ScalarLoss;

    type Change = fn(&mut State<f64>);

    fn smoothing(state: &mut State<f64>) -> &mut Smoothing {
        state.smoothing.as_mut().expect("a hinge is smoothed")
    }

    const REFUSED: [Change; 11] = [
        |state| state.smoothing = None,
        |state| smoothing(state).width = 0.0,
        |state| smoothing(state).width = -1.0,
        |state| smoothing(state).width = f64::NAN,
        |state| smoothing(state).width = f64::INFINITY,
        |state| {
            smoothing(state).centres.pop();
        },
        |state| smoothing(state).centres[0] = f64::NAN,
        |state| {
            state.w.pop();
        },
        |state| {
            state.a.pop();
        },
        |state| state.w[0] = f64::INFINITY,
        |state| state.steepest = f64::NAN,
    ];

    const TAKEN: [Change; 11] = [
        |state| smoothing(state).centres.fill(1e9),
        |state| smoothing(state).centres.fill(-0.5),
        |state| smoothing(state).width = 1e6,
        |state| smoothing(state).width = 1e-300,
        |state| smoothing(state).per_column = 0,
        |state| smoothing(state).per_column = usize::MAX,
        |state| (smoothing(state).rounds, smoothing(state).steps) = (u32::MAX, u32::MAX),
        |state| state.a.fill(7.0),
        |state| state.w.fill(100.0),
        |state| state.tangents_pay = true,
        |state| state.tangent = Some(Tangent { slopes: vec![1.0; state.a.len()], gap: 0.0 }),
    ];

    /// A forged state of smoothed losses is refused, or what comes of it is certified as it is.
    #[test]
    fn no_forged_state_moves_a_bound_beyond_the_optimum() -> Result<()> {
        let mut random = Random::new(9);
        let rows: Vec<Vec<f64>> =
            (0..40).map(|_| (0..3).map(|_| random.unit() - 0.5).collect()).collect();
        let noisy = |row: &Vec<f64>, noise: f64| if row[0] + noise > 0.0 { 1.0 } else { -1.0 };
        let targets = rows.iter().map(|row| noisy(row, random.unit() - 0.5)).collect();
        let rows = Rows::dense(&rows)?;
        let blocks = LinearBlocks::new(&rows, targets, ScalarLoss::Hinge, Choice::I)?;
        let problem = dual::Settings { lambda: 0.01, ..dual::Settings::default() };
        let new = || Newton::new(&blocks, &problem, &NewtonSettings::default());
        let steps = |solver: &mut Newton<'_, _>, count: u64| {
            let quota =
                Quota { oracle_calls: u64::MAX, steps: count, pause: u64::MAX, halted: &|| false };
            solver.advance(&quota)
        };
        let mut exact = new()?;
        steps(&mut exact, 60)?;
        let optimum = exact.certify()?.model;
        assert!(optimum.relative_gap() < 1e-9);

        let mut honest = new()?;
        steps(&mut honest, 3)?;
        honest.certify()?;
        let forged = |change: &Change| {
            let mut state = honest.state();
            change(&mut state);
            state
        };
        for (number, change) in REFUSED.iter().enumerate() {
            assert!(new()?.resume(forged(change)).is_err(), "change {number}");
        }
        for (number, change) in TAKEN.iter().enumerate() {
            let mut solver = new()?;
            solver.resume(forged(change))?;
            for _ in 0..4 {
                let found = solver.certify()?;
                for certificate in [found.model, found.iterate] {
                    let off = certificate.rounding_error + optimum.rounding_error;
                    assert!(certificate.primal + off >= optimum.dual, "change {number}");
                    assert!(certificate.dual - off <= optimum.primal, "change {number}");
                }
                steps(&mut solver, 1)?;
            }
        }
        Ok(())
    }
}
