//! Pure l1 problems, `P(w) = Σ mass_i loss_i(w) + σ‖w‖₁`, certified as they are.
//!
//! Whichever solver moves the weights, the certificate is that of the l1 problem itself: the primal value at the
//! weights, and the dual value at a point that is scaled until it is feasible. With α⁰ the starting point, whose image
//! is zero (no dual variable, or all weight on the true output),
//!
//! ```text
//! θ = α⁰ + t (α − α⁰),   t = min(1, σ / max_j |Σ mass_i X_i α_i|_j),        D(θ) = Σ mass_i dual_i(θ_i)
//! ```
//!
//! The points of a block are convex, so θ is one, and its image is t times that of α.
//!
//! The dual steps need strong convexity. The paper adds a small `λ/2‖w‖²`; here it is `κ/2‖w − z‖²` around a centre z (the
//! proximal point method of `proximal_point`). The centre moves to the weights as soon as the gap of that problem is
//! well below the gap of the l1 problem. The square vanishes in the limit, so κ need not be small, and it shrinks only if
//! the moves gain little.

mod certificate;

pub(crate) use certificate::L1Certificate;

use super::problem::Problem;
use super::proximal_point::{Centred, ProximalPoint, ProximalState, Rule};
use super::{Algorithm, Average, Best, Blocks, Engine, Settings, Solution, Step};
use crate::linalg::memory::Need;
use crate::run::{
    Budget, Certificate, Checkpoint, CheckpointSink, Observer, Report, Solver, run_from,
};
use crate::term::{ElasticNet, Regulariser};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// κ is divided by this when it shrinks, ...
const SHRINK: f64 = 4.0;

/// ... which it does when a move of the centre leaves more than this share of the gap.
const SLOW: f64 = 0.5;

/// The problem around a centre counts as solved when its gap is below this share of the l1 problem's.
const SOLVED: f64 = 0.25;

/// κ shrinks no further once it is this small: w = soft(v, σ/κ) would be nothing but rounding.
const SMALLEST: f64 = 1e-13;

/// Copies of the weights in a run around a centre, as they were measured, and those of a checkpoint.
const COPIES: usize = 13;
const CHECKPOINT_COPIES: usize = 3;

/// Returns an error for settings that a pure l1 problem of so many weights does not go with.
pub(crate) fn check_pure_l1(dim: usize, settings: &Settings) -> Result<()> {
    check_settings(settings)?;
    settings.regulariser.check(dim)
}

/// The same whatever the number of weights is.
pub(crate) fn check_settings(settings: &Settings) -> Result<()> {
    let sigma = settings.regulariser.l1;
    if !(sigma > 0.0 && sigma.is_finite()) {
        return Err(Error::setting("without lambda the l1 regularisation must be positive"));
    }
    if settings.regulariser.q_norm {
        return Err(Error::setting("the q-norm needs a lambda; without one the l1 norm is alone"));
    }
    let plain = settings.method == Algorithm::Bcfw
        && settings.step == Step::LineSearch
        && settings.average == Average::None;
    if !plain {
        return Err(Error::setting(
            "without lambda there are solvers of their own: no batch steps, no averages",
        ));
    }
    Ok(())
}

/// Trains under `σ‖w‖₁` alone by dual steps around a centre; the settings' λ is not used. `squares` is the largest
/// squared length of a block's input. Checkpoints go to the sink.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::dual::{Settings, train_around_centre};
/// use dualgap::run::Budget;
/// use dualgap::structure::MulticlassBlocks;
/// use dualgap::term::{Costs, Regulariser};
/// let rows = [vec![1.0, 0.1], vec![-1.0, 0.1], vec![0.9, -0.1]];
/// let data = Examples::from_dense(&rows, &["a", "b", "a"])?;
/// let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne)?;
/// let regulariser = Regulariser { l1: 0.1, ..Regulariser::default() };
/// let settings = Settings { regulariser, ..Settings::default() };
/// let report = train_around_centre(&blocks, 1.01, &settings, None, &Budget::relative(1e-6), &mut (), None)?;
/// // The second feature tells nothing that the first does not.
/// assert_eq!(report.model.weights[2..], [0.0, 0.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_around_centre<B: Blocks<Point: Serialize + DeserializeOwned>>(
    blocks: &B,
    squares: f64,
    settings: &Settings,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>> {
    check_pure_l1(blocks.dim(), settings)?;
    let copies = COPIES + if sink.is_some() { CHECKPOINT_COPIES } else { 0 };
    // The points, those scaled for a certificate, the best of them and the starting point.
    let others = blocks.numbers().saturating_mul(4);
    Need { weights: blocks.dim(), copies, others }.check()?;
    let begin = from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
    let certificate = L1Certificate::new(blocks, settings)?;
    let mut rule = CloseGap {
        certificate,
        regulariser: settings.regulariser,
        gap: f64::INFINITY,
        inner: f64::INFINITY,
    };
    let inner = |kappa: f64| {
        let link = settings.regulariser.link(kappa)?;
        Problem::new(blocks, link, kappa, settings.sample_weights.as_deref())
    };
    let solver = if let Some(from) = from {
        let state: ProximalState<B::Point, f64> = from.state()?;
        ProximalPoint::resumed(inner(state.kappa)?, settings, state, |gap, _| {
            rule.gap = gap;
            Ok(rule)
        })?
    } else {
        // At this κ a block's own curvature is about that of its loss, so no step is slow.
        let kappa = (squares / blocks.len() as f64).max(1e-12);
        let best = rule.certificate.start()?;
        ProximalPoint::new(Engine::new(inner(kappa)?, settings)?, kappa, best, rule)
    };
    run_from(solver, begin, budget, observer, sink)
}

/// The elastic net around a centre.
type AroundCentre<'a, B> = Centred<'a, B, ElasticNet>;

/// The rule of the elastic net around a moving centre: the centre moves when the gap around it is closed.
struct CloseGap<'a, B: Blocks> {
    certificate: L1Certificate<'a, B>,
    regulariser: Regulariser,
    /// The gap of the l1 problem when the centre last moved.
    gap: f64,
    /// The gap of the problem around the centre, at the last certification.
    inner: f64,
}

impl<'a, B: Blocks> Rule<'a, B, ElasticNet> for CloseGap<'a, B> {
    type Memory = f64;

    fn memory(&self) -> &f64 {
        &self.gap
    }

    fn prove(&self, best: &mut Best<B::Point>) -> Result<()> {
        self.certificate.prove(best)
    }

    fn certify(&mut self, centred: &mut AroundCentre<'a, B>) -> Result<Certificate> {
        let Centred { engine, best, .. } = centred;
        self.inner = engine.certify()?.iterate.gap();
        // The current weights, not the engine's best: because the centre moves, the current ones are nearer to the
        // solution.
        self.certificate.certify(engine.weights(), engine.points(), best)
    }

    fn certified(&mut self, centred: &mut AroundCentre<'a, B>, model: &Certificate) -> Result<()> {
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

    fn moves(&self, centred: &AroundCentre<'a, B>) -> bool {
        centred.kappa > SMALLEST
    }
}
