//! Rates of Prox-SDCA (Shalev-Shwartz and Zhang 2012): the paper has no plot, so its theorems are what is drawn beside.
//!
//! ```text
//! Theorem 1   loss 1/γ-smooth:    gap ≤ ε after  T ≥ (n + R²/(λγ)) log((n + R²/(λγ))/ε)  steps
//! Theorem 2   loss L-Lipschitz:   gap of the average ≤ ε after  T ≥ max(0, n log(λn/(2R²L²))) + n + 20R²L²/(λε)  steps
//! ```

use super::Effort;
use super::axis::Axis;
use super::curves::{Curve, Role, Trace};
use super::draw::{Figure, Panel};
use super::files::{Outcome, Remark};
use super::pdbfw::AUTO;
use super::runs::{Run, passes, side_by_side};
use super::structured::{LOG_PASSES, PASSES};
use crate::balls::{Prepared, prepare};
use crate::comparators::{self, Objective};
use dualgap::Result;
use dualgap::dual::{Average, Sampling, Settings};
use dualgap::linalg::Rows;
use dualgap::structure::{Choice, LinearBlocks, train_linear};
use dualgap::term::{Regulariser, ScalarLoss};

/// Rows of length one, as the paper assumes R to be known: 2,000 texts.
const FILE: &str = "reuters_corpacq.train";
const RADIUS: f64 = 1.0;

/// The smooth hinge of width one, and the hinge: γ and L are one.
const SMOOTH: ScalarLoss = ScalarLoss::SmoothHinge { width: 1.0 };
const WIDTH: f64 = 1.0;
const LIPSCHITZ: f64 = 1.0;

/// λ times n, and σ for σ‖w‖₁: the sparse problem of section 3.1.
const LAMBDAS_N: [f64; 2] = [1.0, 10.0];
const SIGMA: f64 = 1e-4;

const OPTIONS: [(&str, Choice); 5] = [
    ("option I", Choice::I),
    ("option II", Choice::II),
    ("option III", Choice::III),
    ("option IV", Choice::IV),
    ("option V", Choice::V),
];

/// A loss with a λ.
struct Case<'a> {
    rows: &'a Rows,
    targets: &'a [f64],
    loss: ScalarLoss,
    lambda_n: f64,
}

impl Case<'_> {
    fn is_smooth(&self) -> bool {
        self.loss == SMOOTH
    }

    fn lambda(&self) -> f64 {
        self.lambda_n / self.rows.len() as f64
    }

    /// One run, with examples drawn as in the theory. The theorem for losses that are not smooth is one of averages.
    fn run(&self, choice: Choice, seed: u64, length: u64) -> Result<Run> {
        let blocks = LinearBlocks::new(self.rows, self.targets.to_vec(), self.loss, choice)?;
        let settings = Settings {
            lambda: self.lambda(),
            regulariser: Regulariser { l1: SIGMA, ..Regulariser::default() },
            sampling: Sampling::Uniform,
            average: if self.is_smooth() { Average::None } else { Average::Suffix },
            threads: 1,
            seed,
            ..Settings::plain()
        };
        let report = train_linear(&blocks, &settings, &passes(length, 1.0), &mut ())?;
        Ok(Run::of(&report))
    }

    /// The gap that the theorem promises after so many passes.
    fn promised(&self, passes: f64) -> f64 {
        let (n, lambda) = (self.rows.len() as f64, self.lambda());
        let steps = passes * n;
        if self.is_smooth() {
            let condition = n + RADIUS * RADIUS / (lambda * WIDTH);
            // The largest ε with T ≥ condition·log(condition/ε).
            return condition * (-steps / condition).exp();
        }
        let curvature = (RADIUS * LIPSCHITZ).powi(2);
        let first = (n * (0.5 * lambda * n / curvature).ln()).max(0.0) + n;
        20.0 * curvature / (lambda * (steps - first).max(0.0))
    }

    fn title(&self) -> String {
        let loss = if self.is_smooth() { "smooth hinge" } else { "hinge" };
        format!("{loss}, λ = {}/n", self.lambda_n)
    }
}

pub fn figure(effort: &Effort) -> Result<Outcome> {
    let data = effort.folder.libsvm(FILE)?;
    let rows = prepare(data.rows(), Prepared::Unit)?;
    let targets = data.signs()?;
    let mut panels = Vec::new();
    let mut remarks = Vec::new();
    for loss in [SMOOTH, ScalarLoss::Hinge] {
        for lambda_n in LAMBDAS_N {
            let case = Case { rows: &rows, targets: &targets, loss, lambda_n };
            let panel = compare(&case, effort)?;
            judge(&case, &panel, &mut remarks);
            panels.push(panel);
        }
    }
    for lambda_n in LAMBDAS_N {
        let case = Case { rows: &rows, targets: &targets, loss: SMOOTH, lambda_n };
        panels.push(comparators(&case, effort, &mut remarks)?);
    }
    let figure = Figure {
        name: "sdca",
        title: "Prox-SDCA: every option beside its theorems, and the methods it is compared with"
            .into(),
        columns: 2,
        panels,
        notes: vec![
            format!("{}: {FILE}, rows of length one, σ = {SIGMA};", effort.command),
            format!(
                "median of {} seeds, worst and best shaded; examples drawn uniformly.",
                effort.seeds()
            ),
        ],
    };
    Ok(Outcome { remarks, ..Outcome::of(figure) })
}

/// What the optimum is known to, and where the comparators end.
const TIGHT: f64 = 1e-10;
const END: f64 = 1e-8;

/// Prox-SDCA, our default and the methods of other papers, with the steps of their theories.
fn comparators(case: &Case<'_>, effort: &Effort, remarks: &mut Vec<Remark>) -> Result<Panel> {
    let pair = (case.lambda(), SIGMA);
    let objective = Objective::new(case.rows, case.targets.to_vec(), case.loss, pair)?;
    let optimum = objective.optimum(TIGHT)?;
    let seeds: Vec<u64> = (0..effort.seeds()).collect();
    let all = side_by_side(effort.jobs, &seeds, |&seed| {
        objective.traces(effort.of(60.0, 300.0), END, seed)
    })?;
    let above = |trace: &comparators::Trace| -> Trace {
        let later = trace.points.iter().filter(|point| point.passes > 0.0);
        later.map(|point| (point.passes, point.primal - optimum)).collect()
    };
    let names = all.first().into_iter().flatten().map(|trace| trace.method);
    let curves: Vec<Curve> = names
        .enumerate()
        .map(|(k, name)| {
            let runs: Vec<Trace> = all.iter().map(|traces| above(&traces[k])).collect();
            match name {
                "FISTA" => Curve::new(name, Role::Batch, &runs[..1]),
                "auto" => Curve::new(AUTO, Role::Stochastic, &runs),
                name => Curve::new(name, Role::Stochastic, &runs),
            }
        })
        .collect();
    let title = format!("{}, against others", case.title());
    if let Some(ours) = curves.iter().find(|curve| curve.name == "Prox-SDCA") {
        for other in curves.iter().filter(|c| c.name != ours.name && c.name != AUTO) {
            // Both at the last place that they have in common.
            let end = ours.last().zip(other.last()).map(|((a, _), (b, _))| a.min(b));
            let values = end.and_then(|x| Some((x, ours.at(x)?, other.at(x)?)));
            if let Some((x, a, b)) = values {
                let name = &other.name;
                let text = format!(
                    "{title}, {x:.0} passes: Prox-SDCA ({a:.1e}) is below {name} ({b:.1e})"
                );
                remarks.push(Remark::Claim(text, a < b));
            }
        }
    }
    let y = Axis::logarithmic("primal suboptimality").from(TIGHT);
    Ok(Panel { title, x: LOG_PASSES, y, curves, level: None })
}

/// Theorem 1 is of each run's mean, and a median of some seeds is near it; a promise is kept if the gap is below.
fn judge(case: &Case<'_>, panel: &Panel, remarks: &mut Vec<Remark>) {
    for curve in panel.curves.iter().filter(|curve| curve.role != Role::Promise) {
        let kept = curve.spreads.iter().all(|s| s.median <= case.promised(s.x));
        let text = format!("{}, {}: the gap is never above the theorem's", panel.title, curve.name);
        remarks.push(Remark::Claim(text, kept));
    }
}

fn compare(case: &Case<'_>, effort: &Effort) -> Result<Panel> {
    let length = effort.of(30, 100);
    let options = OPTIONS
        .iter()
        .filter(|(name, choice)| effort.wants(name) && (case.is_smooth() || *choice != Choice::V));
    let options: Vec<_> = options.collect();
    let work: Vec<(Choice, u64)> = options
        .iter()
        .flat_map(|(_, choice)| (0..effort.seeds()).map(|seed| (*choice, seed)))
        .collect();
    let runs = side_by_side(effort.jobs, &work, |&(choice, seed)| case.run(choice, seed, length))?;
    // Below this a gap is rounding.
    let gap = |run: &Run| run.trace(|seen| seen.passes, |seen| seen.gap.max(1e-14));
    let traces: Vec<Trace> = runs.iter().map(gap).collect();
    let mut curves: Vec<Curve> = (options.iter().zip(traces.chunks(effort.seeds() as usize)))
        .map(|((name, _), traces)| Curve::new(*name, Role::Stochastic, traces))
        .collect();
    let places = (1..=4 * length).map(|k| k as f64 / 4.0);
    let promise: Trace =
        places.map(|x| (x, case.promised(x))).filter(|p| p.1.is_finite()).collect();
    let theorem = if case.is_smooth() { "Theorem 1" } else { "Theorem 2" };
    curves.push(Curve::new(theorem, Role::Promise, &[promise]));
    Ok(Panel {
        title: case.title(),
        x: PASSES,
        y: Axis::logarithmic("duality gap").from(1e-10),
        curves,
        level: None,
    })
}
