//! Tables 1 and 2 of the PDBFW paper.
//!
//! Table 1 promises the cost of an iteration and the number of iterations. Both are measured on generated data: entries of
//! A that a step touches as the number of features grows, and steps until the optimum is near as the problem becomes worse
//! conditioned. Table 2 has the statistics of the data sets.

use super::Effort;
use super::axis::Axis;
use super::curves::{Curve, Role, Trace, first_below};
use super::draw::{Figure, Panel};
use super::files::{Outcome, Remark, Table};
use super::pdbfw::{AUTO, THEOREM, nonzeros, paper};
use super::runs::{Run, passes};
use crate::balls::{Prepared, SETS, load};
use dualgap::Result;
use dualgap::ball::{self, BallMethod, BallProblem, BallSettings, PerOutput, TheoremConstants};
use dualgap::linalg::{Random, Rows};
use dualgap::run::Budget;
use dualgap::term::ScalarLoss;

/// Examples, and how many features the classes depend on: s of the first panel; that of the second is the optimum's.
const EXAMPLES: usize = 400;
const SPARSITY: usize = 8;
const RADIUS: f64 = 10.0;

/// Features of the first panel; ns ≥ d for all of them, as the paper asks. The second panel has 800.
const FEATURES: [usize; 6] = [100, 200, 400, 800, 1600, 3200];

/// μ times n of the second panel: κ = R/μ with R = 1.
const MUS_N: [f64; 5] = [100.0, 30.0, 10.0, 3.0, 1.0];

/// How near to the optimum, relative to it.
const NEAR: f64 = 1e-4;

/// A method, the cost of an iteration and the number of iterations that are promised, and the exponents of d and of κ in
/// them where κ is large.
struct Promise {
    name: &'static str,
    /// For an optimum with so many nonzero weights.
    settings: fn(usize) -> BallSettings,
    cost: &'static str,
    iterations: &'static str,
    exponents: Option<(f64, f64)>,
}

fn promises() -> Vec<Promise> {
    fn theorem(size: usize) -> BallSettings {
        paper(TheoremConstants { s: Some(size), ..TheoremConstants::default() })
    }
    fn baseline(method: BallMethod) -> BallSettings {
        BallSettings { method, ..BallSettings::default() }
    }
    let promise = |name, settings: fn(usize) -> BallSettings, cost, iterations, exponents| {
        Promise { name, settings, cost, iterations, exponents }
    };
    let linear = "(1 + κ/n) log 1/ε";
    vec![
        promise(THEOREM, theorem, "ns", linear, Some((0.0, 1.0))),
        promise(
            "Acc PG",
            |_| baseline(BallMethod::ProjectedGradient),
            "nd",
            "√κ log 1/ε",
            Some((1.0, 0.5)),
        ),
        promise("Frank-Wolfe", |_| baseline(BallMethod::FrankWolfe), "nd", "1/ε", Some((1.0, 0.0))),
        promise("SVRG", |_| baseline(BallMethod::Svrg), "nd an epoch", linear, None),
        promise(AUTO, |_| BallSettings::default(), "–", "–", None),
    ]
}

/// Rows of length one, and classes that depend on the first features.
fn generate(features: usize) -> Result<(Rows, Vec<f64>)> {
    let mut random = Random::new(7);
    let (mut values, mut signs) = (Vec::new(), Vec::new());
    for _ in 0..EXAMPLES {
        let row: Vec<f64> = (0..features).map(|_| random.unit() - 0.5).collect();
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let score: f64 = row[..SPARSITY].iter().sum();
        signs.push(if score > 0.0 { 1.0 } else { -1.0 });
        values.push(row.iter().map(|x| x / length).collect());
    }
    Ok((Rows::dense(&values)?, signs))
}

/// One run on the generated data.
fn run(
    (rows, signs): &(Rows, Vec<f64>),
    mu_n: f64,
    settings: &BallSettings,
    budget: &Budget,
) -> Result<Solved> {
    let losses = PerOutput::new(ScalarLoss::SmoothHinge { width: 1.0 }, signs.clone(), 1)?;
    let problem = BallProblem::l1(rows, losses, mu_n / EXAMPLES as f64, RADIUS, None)?;
    let report = ball::train(&problem, settings, budget, &mut ())?;
    let size = nonzeros(&report.model.weights);
    Ok(Solved { run: Run::of(&report), dual: report.certificate.dual, size })
}

/// A run, the dual value that it proved, and how many of its weights are not zero.
struct Solved {
    run: Run,
    dual: f64,
    size: usize,
}

/// Entries of A for every step.
fn cost_of_a_step(settings: &BallSettings) -> Result<Trace> {
    let mut trace = Trace::new();
    for features in FEATURES {
        let data = generate(features)?;
        let found = run(&data, 10.0, settings, &passes(24, 0.25))?;
        if let Some(last) = found.run.seen.last() {
            let entries = last.passes * data.0.stored() as f64;
            trace.push((features as f64, entries / last.steps as f64));
        }
    }
    Ok(trace)
}

/// Steps until the optimum is near, for every κ where it was.
fn steps_to_near(settings: fn(usize) -> BallSettings, seconds: f64) -> Result<Trace> {
    let data = generate(800)?;
    let mut trace = Trace::new();
    for mu_n in MUS_N {
        let tight = Budget { seconds: Some(60.0), ..Budget::relative(1e-8) };
        let Solved { dual: optimum, size, .. } =
            run(&data, mu_n, &BallSettings::default(), &tight)?;
        let budget =
            Budget { seconds: Some(seconds), certify_share: 1.0, ..Budget::relative(0.1 * NEAR) };
        let found = run(&data, mu_n, &settings(size), &budget)?;
        let above =
            found.run.trace(|seen| seen.steps as f64, |seen| (seen.primal - optimum) / optimum);
        let kappa = EXAMPLES as f64 / mu_n;
        trace.extend(first_below(&above, NEAR).map(|steps| (kappa, steps)));
    }
    Ok(trace)
}

/// The exponent between the two ends of a curve.
fn exponent(trace: &[(f64, f64)]) -> Option<f64> {
    let (&(x, y), &(u, v)) = (trace.first()?, trace.last()?);
    (x != u).then(|| (v / y).ln() / (u / x).ln())
}

fn promised(name: &str, xs: impl Iterator<Item = f64>, of: impl Fn(f64) -> f64) -> Curve {
    Curve::new(name, Role::Promise, &[xs.map(|x| (x, of(x))).collect()])
}

pub fn table_1(effort: &Effort) -> Result<Outcome> {
    let (mut costs, mut iterations) = (Vec::new(), Vec::new());
    let (mut rows, mut remarks) = (Vec::new(), Vec::new());
    let number = |x: Option<f64>| x.map_or("–".into(), |x| format!("{x:.2}"));
    for promise in promises().into_iter().filter(|promise| effort.wants(promise.name)) {
        let cost = cost_of_a_step(&(promise.settings)(SPARSITY))?;
        let steps = steps_to_near(promise.settings, effort.of(10.0, 60.0))?;
        let (of_d, of_kappa) = (exponent(&cost), exponent(&steps));
        let last = cost.last().map(|&(_, entries)| entries);
        rows.push(vec![
            promise.name.into(),
            promise.cost.into(),
            last.map_or("–".into(), |entries| format!("{entries:.0}")),
            number(of_d),
            number(promise.exponents.map(|(d, _)| d)),
            promise.iterations.into(),
            steps.last().map_or("–".into(), |(_, steps)| format!("{steps:.0}")),
            number(of_kappa),
            number(promise.exponents.map(|(_, kappa)| kappa)),
        ]);
        if let (Some(measured), Some((d, _))) = (of_d, promise.exponents) {
            let text = format!(
                "{}: a step costs d^{measured:.2}, promised d^{d} ({})",
                promise.name, promise.cost
            );
            remarks.push(Remark::Claim(text, (measured - d).abs() <= 0.25));
        }
        costs.push(Curve::new(promise.name, Role::Single, &[cost]));
        iterations.push(Curve::new(promise.name, Role::Single, &[steps]));
    }
    let n = EXAMPLES as f64;
    let features = || FEATURES.iter().map(|&d| d as f64);
    costs.push(promised("promised: nd, and ns", features(), |d| n * d));
    costs.push(promised("promised: nd, and ns", features(), |_| n * SPARSITY as f64));
    let kappas = || MUS_N.iter().map(|mu| n / mu);
    let log = (1.0 / NEAR).ln();
    iterations.push(promised("(1 + κ/n) log 1/ε", kappas(), |k| (1.0 + k / n) * log));
    iterations.push(promised("√κ log 1/ε", kappas(), |k| k.sqrt() * log));
    let panel = |title: String, x, y, curves| Panel { title, x, y, curves, level: None };
    let figure = Figure {
        name: "pdbfw-table-1",
        title: "PDBFW paper, Table 1: the cost of an iteration, and their number".into(),
        columns: 2,
        panels: vec![
            panel(
                format!("n = {n}, s = {SPARSITY}"),
                Axis::logarithmic("features d"),
                Axis::logarithmic("entries touched a step"),
                costs,
            ),
            panel(
                "d = 800, to 10⁻⁴ of the optimum".into(),
                Axis::logarithmic("condition number κ"),
                Axis::logarithmic("steps"),
                iterations,
            ),
        ],
        notes: vec![
            effort.command.clone(),
            "Promises are drawn with a constant of one. A step of SVRG and of auto is one example."
                .into(),
        ],
    };
    let header = vec![
        "method",
        "promised cost",
        "entries a step, d = 3,200",
        "exponent of d",
        "promised",
        "promised iterations",
        "steps, κ = 400",
        "exponent of κ",
        "promised",
    ];
    let statistics = statistics(effort, &mut remarks)?;
    let table = Table { name: "costs", header, rows };
    Ok(Outcome { tables: vec![table, statistics], remarks, ..Outcome::of(figure) })
}

/// Table 2: the paper's samples, features, and nonzero entries, for the sets that are at hand.
const TABLE_2: [(&str, usize, usize, usize); 3] = [
    ("duke", 44, 7129, 313_676),
    ("ijcnn1", 49_990, 58_699, 14_997_000),
    ("cod-rna_zscore", 59_535, 81_398, 5_953_500),
];

/// Samples and nonzero entries have to be the paper's. Features have to be where they are not drawn at random.
fn statistics(effort: &Effort, remarks: &mut Vec<Remark>) -> Result<Table> {
    let mut rows = Vec::new();
    for set in SETS {
        let (data, _) = load(set, &effort.folder)?;
        let ours = (data.len(), data.width(), data.stored());
        let theirs = TABLE_2.iter().find(|(file, ..)| *file == set.0);
        if let Some(&(file, n, d, entries)) = theirs {
            let drawn = matches!(set.2, Prepared::Binned(..));
            let text = format!("Table 2, {file}: {n} samples and {entries} entries");
            remarks.push(Remark::Assertion(text, (ours.0, ours.2) == (n, entries)));
            if !drawn {
                let text = format!("Table 2, {file}: {d} features");
                remarks.push(Remark::Assertion(text, ours.1 == d));
            }
        }
        let paper = theirs.map_or(["–"; 3].map(String::from), |&(_, n, d, entries)| {
            [n, d, entries].map(|count| count.to_string())
        });
        let mut row = vec![set.0.to_string()];
        let ours = [ours.0, ours.1, ours.2].map(|count| count.to_string());
        row.extend(ours.into_iter().zip(paper).flat_map(|(ours, paper)| [ours, paper]));
        rows.push(row);
    }
    let header = vec!["data", "samples", "paper", "features", "paper", "entries", "paper"];
    Ok(Table { name: "data", header, rows })
}
