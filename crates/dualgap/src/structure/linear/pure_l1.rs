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
//! need strong convexity. The paper adds a small `λ/2‖w‖²`; here it is `κ/2‖w − z‖²` around a centre z (the proximal
//! point method of `dual/proximal_point`). The centre moves to the weights as soon as the gap of that problem is well
//! below the gap of the l1 problem. The square vanishes in the limit, so κ need not be small, and it shrinks only if the
//! moves gain little.

use super::LinearBlocks;
use super::coordinates::Coordinates;
use super::l1_certificate::L1Certificate;
use crate::dual::problem::masses;
use crate::dual::proximal_point::{Centred, ProximalPoint, ProximalState, Rule};
use crate::dual::{Average, Best, Blocks, Engine, Method, Problem, Settings, Solution, Step};
use crate::linalg::memory::Need;
use crate::run::{
    Budget, Certificate, Checkpoint, CheckpointSink, Observer, Report, Solver, run_from,
};
use crate::term::{ElasticNet, Loss, Regulariser};
use crate::{Error, Result};

/// κ is divided by this when it shrinks, ...
const SHRINK: f64 = 4.0;

/// ... which it does when a move of the centre leaves more than this share of the gap.
const SLOW: f64 = 0.5;

/// The problem around a centre counts as solved when its gap is below this share of the l1 problem's.
const SOLVED: f64 = 0.25;

/// κ shrinks no further once it is this small: w = soft(v, σ/κ) would be nothing but rounding.
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
    settings.regulariser.check(blocks.dim())?;
    // The numbers of copies were measured: coordinate descent stores the matrix by columns, the other solver an engine
    // around a centre.
    let smooth = blocks.loss().smoothness() > 0.0;
    let copies = if smooth { 10 } else { 13 } + if sink.is_some() { 3 } else { 0 };
    let others = if smooth { 2 * blocks.rows().stored() } else { 0 };
    Need { weights: blocks.dim(), copies, others }.check()?;
    let certificate = L1Certificate::new(blocks, settings)?;
    let n = blocks.targets().len();
    let begin = from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
    if blocks.loss().smoothness() > 0.0 {
        let mut solver = Coordinates::new(blocks, certificate, masses(n, weights)?, settings)?;
        if let Some(from) = from {
            solver.resume(from.state()?)?;
        }
        return run_from(solver, begin, budget, observer, sink);
    }
    let mut rule = CloseGap::new(certificate, settings.regulariser);
    let inner = |kappa: f64| {
        let link = settings.regulariser.link(kappa)?;
        Problem::new(blocks, link, kappa, settings.sample_weights.as_deref())
    };
    let solver = if let Some(from) = from {
        let state: ProximalState<f64, f64> = from.state()?;
        ProximalPoint::resumed(inner(state.kappa)?, settings, state, |gap, _| {
            rule.gap = gap;
            Ok(rule)
        })?
    } else {
        // At this κ a block's own curvature is about that of its loss, so no step is slow.
        let kappa = (blocks.largest_squared_norm() / blocks.len() as f64).max(1e-12);
        let best = rule.certificate.start()?;
        ProximalPoint::new(Engine::new(inner(kappa)?, settings)?, kappa, best, rule)
    };
    run_from(solver, begin, budget, observer, sink)
}

/// The elastic net around a centre.
type AroundCentre<'a, 'b, L> = Centred<'a, LinearBlocks<'b, L>, ElasticNet>;

/// The rule of the elastic net around a moving centre: the centre moves when the gap around it is closed.
struct CloseGap<'a, 'b, L: Loss> {
    certificate: L1Certificate<'a, 'b, L>,
    regulariser: Regulariser,
    /// The gap of the l1 problem when the centre last moved.
    gap: f64,
    /// The gap of the problem around the centre, at the last certification.
    inner: f64,
}

impl<'a, 'b, L: Loss> CloseGap<'a, 'b, L> {
    fn new(certificate: L1Certificate<'a, 'b, L>, regulariser: Regulariser) -> Self {
        Self { certificate, regulariser, gap: f64::INFINITY, inner: f64::INFINITY }
    }
}

impl<'a, 'b, L: Loss> Rule<'a, LinearBlocks<'b, L>, ElasticNet> for CloseGap<'a, 'b, L> {
    type Memory = f64;

    fn memory(&self) -> &f64 {
        &self.gap
    }

    fn prove(&self, best: &mut Best<f64>) -> Result<()> {
        self.certificate.prove(best)
    }

    fn certify(&mut self, centred: &mut AroundCentre<'a, 'b, L>) -> Result<Certificate> {
        let Centred { engine, best, .. } = centred;
        self.inner = engine.certify()?.iterate.gap();
        // The current weights, not the engine's best: because the centre moves, the current ones are nearer to the
        // solution.
        self.certificate.certify(engine.weights(), engine.points(), best)
    }

    fn certified(
        &mut self,
        centred: &mut AroundCentre<'a, 'b, L>,
        model: &Certificate,
    ) -> Result<()> {
        let gap = model.gap();
        if self.inner <= SOLVED * gap {
            let centre = self.certificate.bounded(centred.engine.weights());
            if gap > SLOW * self.gap && self.moves(centred) {
                centred.kappa /= SHRINK;
                let link = self.regulariser.link(centred.kappa)?;
                centred.engine.retune(link, centred.kappa)?;
            }
            self.gap = gap;
            centred.engine.recentre(centre);
        }
        Ok(())
    }

    fn moves(&self, centred: &AroundCentre<'a, 'b, L>) -> bool {
        centred.kappa > SMALLEST
    }
}
