//! Pure l1 problems, `P(w) = Σ mass_i φ_i(⟨x_i, w⟩) + σ‖w‖₁`, certified as they are.
//!
//! Whichever solver moves the weights, the certificate is that of the l1 problem itself: the primal value at the
//! weights, and the dual value at a point that is scaled until it is feasible,
//!
//! ```text
//! θ = t α,   t = min(1, σ / max_j |Σ mass_i x_ij α_i|),        D(θ) = −Σ mass_i φ_i*(−θ_i)
//! ```
//!
//! (α ∈ dom φ* and 0 ∈ dom φ*, so θ ∈ dom φ*). Smooth losses are solved weight by weight (`coordinates.rs`). The others
//! need strong convexity. The paper adds a small `λ/2‖w‖²`; here it is `λ/2‖w − z‖²` around a centre z (the proximal
//! point method). The centre moves to the weights as soon as the gap of that problem is well below the gap of the l1
//! problem. The square vanishes in the limit, so λ need not be small, and it shrinks only if the moves gain little.

use super::LinearBlocks;
use super::coordinates::Coordinates;
use super::l1_certificate::L1Certificate;
use crate::dual::problem::masses;
use crate::dual::{
    Average, Best, Blocks, Engine, Method, Problem, Settings, Solution, State, Step,
};
use crate::linalg::memory::Need;
use crate::run::{
    Budget, Certificate, Certified, Checkpoint, CheckpointSink, Observer, Quota, Report, Resumable,
    Solver, Work, run_from,
};
use crate::term::{ElasticNet, Free, Loss, PureL1, Regulariser, Unpenalised};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// λ is divided by this when it shrinks, ...
const SHRINK: f64 = 4.0;

/// ... which it does when a move of the centre leaves more than this share of the gap.
const SLOW: f64 = 0.5;

/// The problem around a centre counts as solved when its gap is below this share of the l1 problem's.
const SOLVED: f64 = 0.25;

/// While λ can still shrink, a run stalls only after more consecutive certifications without progress than this: the
/// gap rests while the problem around a new centre is solved.
const QUIET: u32 = 100;

/// λ shrinks no further once it is this small: w = soft(v, σ/λ) would be nothing but rounding.
const SMALLEST: f64 = 1e-13;

/// Trains with `σ‖w‖₁` alone; the settings' λ is not used.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::structure::{Choice, LinearBlocks, train_pure_l1};
/// use dualgap::term::{Regulariser, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.1], vec![0.0, 0.1], vec![-1.0, 0.1]])?;
/// let blocks = LinearBlocks::new(&rows, vec![1.0, 0.0, -1.0], ScalarLoss::Squared, Choice::I)?;
/// let regulariser = Regulariser { l1: 0.1, ..Regulariser::default() };
/// let settings = Settings { regulariser, ..Settings::default() };
/// let report = train_pure_l1(&blocks, &settings, &Budget::relative(1e-8), &mut ())?;
/// // The soft threshold of the least squares solution, by hand.
/// assert!((report.model.weights[0] - (1.0 - 0.15)).abs() < 1e-4);
/// assert_eq!(report.model.weights[1], 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_pure_l1<L: Loss>(
    blocks: &LinearBlocks<'_, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<f64>>> {
    train_pure_l1_from(blocks, settings, None, budget, observer, None)
}

/// [`train_pure_l1`] from the checkpoint of an earlier run, if there was one; checkpoints go to the sink.
pub fn train_pure_l1_from<L: Loss>(
    blocks: &LinearBlocks<'_, L>,
    settings: &Settings,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<f64>>> {
    let sigma = settings.regulariser.l1;
    if !(sigma > 0.0 && sigma.is_finite()) {
        return Err(Error::setting("without lambda the l1 regularisation must be positive"));
    }
    if settings.regulariser.q_norm {
        return Err(Error::setting("the q-norm needs a lambda; without one the l1 norm is alone"));
    }
    let plain = settings.method == Method::Bcfw
        && settings.step == Step::LineSearch
        && settings.average == Average::None;
    if !plain {
        return Err(Error::setting(
            "without lambda there are solvers of their own: no batch steps, no averages",
        ));
    }
    let weights = settings.sample_weights.as_deref();
    let Regulariser { nonnegative, free, .. } = settings.regulariser;
    settings.regulariser.check(blocks.dim())?;
    let link = Unpenalised { link: PureL1 { nonnegative }, free };
    // The numbers of copies were measured: coordinate descent stores the matrix by columns, the other solver an engine
    // around a centre.
    let smooth = blocks.loss().smoothness() > 0.0;
    let copies = if smooth { 10 } else { 13 } + if sink.is_some() { 3 } else { 0 };
    let others = if smooth { 2 * blocks.rows().stored() } else { 0 };
    Need { weights: blocks.dim(), copies, others }.check()?;
    let certificate = L1Certificate::new(blocks, sigma, link, settings)?;
    let n = blocks.targets().len();
    let begin = from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
    if blocks.loss().smoothness() > 0.0 {
        let mut solver = Coordinates::new(blocks, certificate, masses(n, weights)?);
        if let Some(from) = from {
            solver.resume(from.state()?)?;
        }
        return run_from(solver, begin, budget, observer, sink);
    }
    let solver = match from {
        Some(from) => ProximalPoint::resumed(blocks, certificate, settings, from.state()?)?,
        None => ProximalPoint::new(blocks, certificate, settings)?,
    };
    run_from(solver, begin, budget, observer, sink)
}

/// The elastic net around a moving centre.
struct ProximalPoint<'a, 'b, L: Loss> {
    engine: Engine<'a, LinearBlocks<'b, L>, ElasticNet>,
    certificate: L1Certificate<'a, 'b, L>,
    regulariser: Regulariser,
    lambda: f64,
    /// The gap of the l1 problem when the centre last moved.
    gap: f64,
    /// Consecutive certifications without progress.
    quiet: u32,
}

/// What a run resumes from.
#[derive(Serialize, Deserialize)]
struct ProximalState {
    engine: State<f64>,
    centre: Vec<f64>,
    lambda: f64,
    gap: f64,
    quiet: u32,
    best: Best<f64>,
}

impl<'a, 'b, L: Loss> ProximalPoint<'a, 'b, L> {
    fn new(
        blocks: &'a LinearBlocks<'b, L>,
        certificate: L1Certificate<'a, 'b, L>,
        settings: &Settings,
    ) -> Result<Self> {
        let regulariser = settings.regulariser;
        // At this λ a block's own curvature is about that of its loss, so no step is slow.
        let lambda = (blocks.largest_squared_norm() / blocks.len() as f64).max(1e-12);
        let weights = settings.sample_weights.as_deref();
        let inner = Problem::new(blocks, regulariser.link(lambda)?, lambda, weights)?;
        let engine = Engine::new(inner, settings)?;
        Ok(Self { engine, certificate, regulariser, lambda, gap: f64::INFINITY, quiet: 0 })
    }

    fn resumed(
        blocks: &'a LinearBlocks<'b, L>,
        mut certificate: L1Certificate<'a, 'b, L>,
        settings: &Settings,
        state: ProximalState,
    ) -> Result<Self> {
        let ProximalState { engine, centre, lambda, gap, quiet, best } = state;
        let regulariser = settings.regulariser;
        let weights = settings.sample_weights.as_deref();
        let inner = Problem::new(blocks, regulariser.link(lambda)?, lambda, weights)?;
        let engine = Engine::resumed(inner.centred(centre)?, settings, engine)?;
        certificate.resume(best)?;
        Ok(Self { engine, certificate, regulariser, lambda, gap, quiet })
    }
}

impl<L: Loss> Resumable for ProximalPoint<'_, '_, L> {
    type State = ProximalState;

    fn state(&self) -> ProximalState {
        ProximalState {
            engine: self.engine.state(),
            centre: self.engine.centre().to_vec(),
            lambda: self.lambda,
            gap: self.gap,
            quiet: self.quiet,
            best: self.certificate.best().clone(),
        }
    }
}

impl<L: Loss> Solver for ProximalPoint<'_, '_, L> {
    type Model = Solution<f64>;

    fn calls_per_pass(&self) -> u64 {
        self.engine.calls_per_pass()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        self.engine.advance(quota)
    }

    fn certify(&mut self) -> Result<Certified> {
        let inner = self.engine.certify()?;
        let before = self.certificate.best().certificate().transpose()?.map(|best| best.gap());
        // The current weights, not the engine's best: because the centre moves, the current ones are nearer to the
        // solution.
        let certified = self.certificate.certify(&self.engine.weights(), self.engine.points())?;
        let gap = certified.model.gap();
        self.quiet = if before == Some(gap) { self.quiet.saturating_add(1) } else { 0 };
        if inner.iterate.gap() <= SOLVED * gap {
            let mut centre = self.engine.weights();
            if gap > SLOW * self.gap && self.lambda > SMALLEST {
                self.lambda /= SHRINK;
                self.engine.retune(self.regulariser.link(self.lambda)?, self.lambda)?;
            }
            self.gap = gap;
            if let Some(Free { column, bound }) = self.certificate.free() {
                centre[column] = centre[column].clamp(-bound, bound);
            }
            self.engine.recentre(centre);
        }
        Ok(certified)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.certificate.best().certificate()
    }

    /// Around a new centre the gap of the l1 problem makes no progress until the new inner problem is solved.
    fn may_stall(&self) -> bool {
        self.lambda <= SMALLEST || self.quiet > QUIET
    }

    fn weights(&self) -> &[f64] {
        self.certificate.weights().unwrap_or(&[])
    }

    fn into_model(self) -> Solution<f64> {
        let current = self.engine.weights();
        self.certificate.into_solution(current)
    }
}
