//! Runs over a product: from the start, from a given point or from a checkpoint.

use super::objective::{Objective, Point};
use super::problem::Product;
use super::set::Set;
use super::settings::ProductSettings;
use super::solver::FrankWolfe;
use crate::Result;
use crate::dual::Begin;
use crate::run::{Budget, CheckpointSink, Observer, Report, RunState, run_from};

/// Minimises over a product, from the starting points of the sets. The report's certificate has f at the returned point
/// as `primal`, and as `dual` the best lower bound `f(x) − gap` of all certified iterates.
pub fn minimise<F: Objective, S: Set>(
    product: &Product<F, S>,
    settings: &ProductSettings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Point>> {
    minimise_from(product, settings, Begin::Fresh, budget, observer, None)
}

/// [`minimise`] from any beginning; checkpoints go to the sink.
///
/// ```
/// use dualgap::dual::Begin;
/// use dualgap::linalg::Measured;
/// use dualgap::methods::product::{L1Ball, Objective, Point, Product, ProductSettings, minimise, minimise_from};
/// use dualgap::run::{Budget, InMemory};
///
/// struct Distance; // ½‖x − 1‖²
/// impl Objective for Distance {
///     fn value(&self, at: &Point) -> Measured {
///         Measured::rounded(at.coordinates().iter().map(|x| 0.5 * (x - 1.0) * (x - 1.0)).sum(), 9)
///     }
///     fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
///         out.iter_mut().zip(at.block(block)).for_each(|(g, x)| *g = x - 1.0);
///         1e-15
///     }
/// }
///
/// let problem = Product::new(Distance, vec![L1Ball::new(3, 1.0)?, L1Ball::new(2, 1.0)?])?;
/// let (settings, mut memory) = (ProductSettings::default(), InMemory::default());
/// let sink = Some(&mut memory as _);
/// minimise_from(&problem, &settings, Begin::Fresh, &Budget::passes(4), &mut (), sink)?;
/// let begin = Begin::At(memory.last.unwrap());
/// let more = minimise_from(&problem, &settings, begin, &Budget::passes(9), &mut (), None)?;
/// let whole = minimise(&problem, &settings, &Budget::passes(9), &mut ())?;
/// assert_eq!(more.model, whole.model);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn minimise_from<F: Objective, S: Set>(
    product: &Product<F, S>,
    settings: &ProductSettings,
    begin: Begin<Vec<f64>>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Point>> {
    let (solver, state) = match begin {
        Begin::Fresh => (FrankWolfe::new(product, settings)?, RunState::default()),
        Begin::Points(blocks) => {
            let point = product.point(blocks.concat())?;
            (FrankWolfe::at(product, settings, point)?, RunState::default())
        }
        Begin::At(checkpoint) => {
            let state = checkpoint.state()?;
            (FrankWolfe::resumed(product, settings, state)?, checkpoint.run)
        }
    };
    run_from(solver, state, budget, observer, sink)
}
