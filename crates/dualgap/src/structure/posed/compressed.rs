//! Few examples with long rows under λ/2‖w‖²: runs on rows of as many numbers as there are examples.
//!
//! Such a problem depends on its rows only through their inner products ([`compression`]), and a pass over n rows of n numbers
//! takes n² multiplications in the place of one for every entry. Smooth losses are trained by Newton's method, whose matrix is
//! then small, and others by dual ascent. Certificates are those of the data (`dual/compressed.rs`).
//!
//! Whether that pays is a matter of the shape of the data, and does not depend on the tolerance or a limit of a run.

use super::penalised::{begin, trained};
use super::{Run, Start, Trained};
use crate::dual::{
    Algorithm, Average, Begin, Cache, Pair, Settings, Step, Witnessed, train_compressed,
};
use crate::linalg::{Rows, compression};
use crate::methods::newton::{self, CurvedBlocks};
use crate::run::Report;
use crate::structure::linear::LinearBlocks;
use crate::structure::multiclass::ScoreBlocks;
use crate::term::Loss;
use crate::{Error, Result};

/// A row has at least this many entries for every example, so that passes over short rows take a fraction of the time.
const LONG: usize = 4;

/// The inner products may take as long as so many passes over the data. Losses that are not smooth take 50 to 500 passes to a
/// relative gap of 1e-4 on what was tried, of 38 to 400 examples with 2,000 to 20,000 columns, ...
const MOST_PASSES: f64 = 25.0;

/// ... and smooth ones (1 + q/γ) times the logarithm of 1/ε; see `pace.rs`.
const DIGITS: f64 = 11.5;

/// Blocks that can have other rows in the place of their own.
pub trait Compressible: Witnessed + CurvedBlocks {
    /// The same blocks with other rows.
    type Over<'r>: Witnessed<Point = Self::Point> + CurvedBlocks
    where
        Self: 'r;

    /// Returns these blocks with other rows, one for each of theirs.
    fn over<'r>(&'r self, rows: &'r Rows) -> Self::Over<'r>;
}

impl<L: Loss + Clone> Compressible for LinearBlocks<'_, L> {
    type Over<'r>
        = LinearBlocks<'r, L>
    where
        Self: 'r;

    fn over<'r>(&'r self, rows: &'r Rows) -> LinearBlocks<'r, L> {
        self.over(rows)
    }
}

impl Compressible for ScoreBlocks<'_> {
    type Over<'r>
        = ScoreBlocks<'r>
    where
        Self: 'r;

    fn over<'r>(&'r self, rows: &'r Rows) -> ScoreBlocks<'r> {
        self.over(rows)
    }
}

/// Returns short rows for a run with these settings if they leave the choice to the run and it pays, or if the run resumes on such
/// rows.
pub(super) fn short_rows<B: Compressible>(
    blocks: &B,
    settings: &Settings,
    start: &Start<'_>,
) -> Result<Option<Rows>> {
    let short = || compression::compressed(blocks.inputs());
    match start {
        // A run that resumes goes on as it began.
        Start::At(checkpoint) if checkpoint.run.compressed => short().map(Some).ok_or_else(|| {
            Error::setting("the state is one of compressed rows, and these cannot be compressed")
        }),
        Start::Fresh | Start::Entries { .. } if pays(blocks, settings) => Ok(short()),
        _ => Ok(None),
    }
}

fn pays<B: Compressible>(blocks: &B, settings: &Settings) -> bool {
    let open = settings.handover
        && settings.regulariser.is_plain()
        && settings.regulariser.free.is_none()
        && settings.average == Average::None
        && settings.method == Algorithm::Bcfw
        && settings.step == Step::LineSearch
        && settings.cache != Cache::On
        && settings.batch == 1;
    let (rows, n) = (blocks.inputs(), blocks.len());
    if !open || rows.stored() < LONG.saturating_mul(n).saturating_mul(n) {
        return false;
    }
    let squares: f64 = (0..n).map(|i| blocks.importance(i).powi(2)).sum();
    let q = squares / ((n * n) as f64 * settings.lambda);
    let ascent = (1.0 + q / blocks.smoothness()) * DIGITS;
    compression::work_in_passes(rows) <= ascent.min(MOST_PASSES)
}

/// Trains on short rows.
pub(super) fn on_short_rows<B: Compressible>(
    blocks: &B,
    rows: &Rows,
    settings: &Settings,
    run: Run<'_>,
) -> Result<Report<Trained>> {
    let short = blocks.over(rows);
    let Run { start, factors, budget, observer, sink, .. } = run;
    let begin: Begin<B::Point> = begin(blocks, start)?;
    let cost = blocks.inputs().stored() as f64 / rows.stored().max(1) as f64;
    let pair = Pair::new(blocks, &short, settings, cost)?;
    let report = if short.is_curved() {
        let own = newton::NewtonSettings {
            threads: settings.threads,
            ..newton::NewtonSettings::default()
        };
        newton::train_compressed(pair, &short, settings, &own, begin, budget, observer, sink)?
    } else {
        train_compressed(pair, settings, begin, budget, observer, sink)?
    };
    Ok(trained(blocks, report, factors))
}
