//! The figures of the paper on primal-dual block Frank-Wolfe (Lei, Zhuo, Caramanis, Dhillon and Dimakis 2019).
//!
//! Every figure has the paper's algorithm twice, with the constants of its theorem and with constants that were tuned as its
//! authors tuned theirs, and beside it what this library does by default, which is another algorithm.

use super::Effort;
use super::axis::Axis;
use super::curves::{Curve, Role, Trace, first_below};
use super::draw::{Figure, Panel};
use super::files::{Outcome, Remark, Table};
use super::runs::{Run, Seen};
use crate::balls::{SETS, Set, load};
use crate::low_rank::{SIZES, generate};
use dualgap::Result;
use dualgap::ball::{self, BallMethod, BallProblem, BallSettings, PerOutput, TheoremConstants};
use dualgap::linalg::{LowRank, Rows};
use dualgap::run::{Budget, Report, Solution};
use dualgap::term::ScalarLoss;

pub const AUTO: &str = "auto (ours)";
pub const THEOREM: &str = "PDBFW, theorem";
pub const TUNED: &str = "PDBFW, tuned";

/// The baselines of the paper by its names; those of the trace ball have two more.
const BASELINES: [(&str, BallMethod); 7] = [
    ("Acc PG", BallMethod::ProjectedGradient),
    ("Frank-Wolfe", BallMethod::FrankWolfe),
    ("SVRG", BallMethod::Svrg),
    ("SCGS", BallMethod::Scgs),
    ("STORC", BallMethod::Storc),
    ("BlockFW", BallMethod::BlockFrankWolfe),
    ("stochastic FW", BallMethod::StochasticFrankWolfe),
];

/// δ is tuned over these multiples of the theorem's, with k the theorem's and a tenth of the examples.
const MULTIPLES: [f64; 6] = [0.1, 1.0, 10.0, 100.0, 1e3, 1e4];

/// What is known of the optimum of a race: relative to it, curves end here.
const TIGHT: f64 = 1e-9;
const NEAR: f64 = 1e-4;
const SHOWN: f64 = 1e-7;

/// A problem in a ball, whatever the ball.
pub struct Arena<'a, M> {
    pub title: String,
    /// Examples, the largest ‖a_i‖², and μ.
    pub n: usize,
    pub radius: f64,
    pub mu: f64,
    /// Entries of X, or the least number of its sides: s of the theorem is at most this.
    pub most: usize,
    pub baselines: &'a [BallMethod],
    pub train: &'a dyn Fn(&BallSettings, &Budget) -> Result<Report<M>>,
    /// Nonzero entries of weights, or their rank: s of the theorem.
    pub size: &'a dyn Fn(&M) -> usize,
}

/// The runs of all methods.
pub struct Raced {
    pub title: String,
    /// The two values that the optimum lies between, and the size of the best weights.
    pub optimum: (f64, f64),
    pub size: usize,
    pub runs: Vec<(&'static str, Run)>,
    /// The constants that were found by tuning.
    pub tuned: String,
}

/// The paper's algorithm with these constants.
pub fn paper(constants: TheoremConstants) -> BallSettings {
    BallSettings { method: BallMethod::Pdbfw, constants, ..BallSettings::default() }
}

/// The theorem's constants for an optimum of this size.
fn theorem(size: usize) -> TheoremConstants {
    TheoremConstants { s: Some(size.max(1)), ..TheoremConstants::default() }
}

impl<M> Arena<'_, M> {
    /// The theorem's δ: (1/k)(1/(nβ) + 25R/(2μn²))⁻¹ with β = 1.
    fn delta(&self, k: usize) -> f64 {
        let n = self.n as f64;
        1.0 / (k as f64 * (1.0 / n + 12.5 * self.radius / (self.mu * n * n)))
    }

    /// The best of a ladder of constants after a short time, as the authors chose theirs by hand.
    fn tune(&self, size: usize, seconds: f64) -> Result<TheoremConstants> {
        let balanced = (self.n * size / self.most.max(1)).clamp(1, self.n);
        let mut best = (f64::INFINITY, theorem(size));
        for k in [balanced, (self.n / 10).max(1)] {
            for multiple in MULTIPLES {
                let delta = Some(multiple * self.delta(k));
                let constants = TheoremConstants { k: Some(k), delta, ..theorem(size) };
                let settings = paper(constants);
                let budget = Budget { seconds: Some(seconds), ..Budget::relative(TIGHT) };
                let primal = (self.train)(&settings, &budget)?.certificate.primal;
                if primal < best.0 {
                    best = (primal, constants);
                }
            }
        }
        Ok(best.1)
    }

    /// Every method for so many seconds; they go one after the other, so that their times can be compared.
    pub fn race(&self, seconds: f64, effort: &Effort) -> Result<Raced> {
        let tight = Budget { seconds: Some(effort.of(30.0, 300.0)), ..Budget::relative(TIGHT) };
        let best = (self.train)(&BallSettings::default(), &tight)?;
        let size = (self.size)(&best.model);
        let mut lines = vec![(AUTO, BallSettings::default())];
        lines.push((THEOREM, paper(theorem(size))));
        let mut tuned = String::new();
        if effort.wants(TUNED) {
            let constants = self.tune(size, 0.1 * seconds)?;
            tuned = format!(
                "s = {size}, k = {}, δ = {:.1e}",
                constants.k.unwrap_or(0),
                constants.delta.unwrap_or(f64::NAN)
            );
            lines.push((TUNED, paper(constants)));
        }
        for &(name, method) in BASELINES.iter().filter(|(_, m)| self.baselines.contains(m)) {
            lines.push((name, BallSettings { method, ..BallSettings::default() }));
        }
        let budget = Budget {
            seconds: Some(seconds),
            passes: Some(effort.of(400, 5000)),
            certify_share: 1.0,
            ..Budget::relative(0.5 * SHOWN)
        };
        let mut runs = Vec::new();
        for (name, settings) in lines.into_iter().filter(|(name, _)| effort.wants(name)) {
            runs.push((name, Run::of(&(self.train)(&settings, &budget)?)));
        }
        let optimum = (best.certificate.dual, best.certificate.primal);
        println!(
            "  {}: the optimum is between {:.9} and {:.9}, of size {size}; tuned: {tuned}",
            self.title, optimum.0, optimum.1
        );
        Ok(Raced { title: self.title.clone(), optimum, size, runs, tuned })
    }
}

impl Raced {
    /// How far P is above the optimum, relative to it.
    pub fn above(&self, run: &Run, x: impl Fn(&Seen) -> f64) -> Trace {
        let (dual, _) = self.optimum;
        run.trace(x, |seen| (seen.primal - dual) / dual.abs())
    }

    fn panel(&self, x: Axis, of: impl Fn(&Seen) -> f64) -> Panel {
        let curve = |(name, run): &(&'static str, Run)| {
            Curve::new(*name, Role::Single, &[self.above(run, &of)])
        };
        let (dual, primal) = self.optimum;
        Panel {
            title: self.title.clone(),
            x,
            y: Axis::logarithmic("(P − P*)/P*").from(SHOWN).to(10.0),
            curves: self.runs.iter().map(curve).collect(),
            level: Some(((primal - dual) / dual.abs(), "bracket of the optimum".into())),
        }
    }

    /// Against passes: entries of the data that were read, divided by how many there are.
    fn against_passes(&self) -> Panel {
        self.panel(Axis::logarithmic("passes over the data"), |seen| seen.passes)
    }

    /// Against time, in units of what our default needs to come near.
    fn against_time(&self) -> Panel {
        let unit = self.time_of(AUTO).unwrap_or(1.0);
        self.panel(Axis::logarithmic("time, in that of auto to 10⁻⁴"), |seen| {
            seen.seconds / unit
        })
    }

    fn trace_of(&self, name: &str, x: impl Fn(&Seen) -> f64) -> Option<Trace> {
        let (_, run) = self.runs.iter().find(|(other, _)| *other == name)?;
        Some(self.above(run, x))
    }

    fn time_of(&self, name: &str) -> Option<f64> {
        first_below(&self.trace_of(name, |seen| seen.seconds)?, NEAR)
    }

    /// A line of the table: passes and time to near the optimum.
    fn row(&self, name: &str) -> Vec<String> {
        let passes = self
            .trace_of(name, |seen| seen.passes)
            .and_then(|trace| first_below(&trace, NEAR))
            .map_or("–".into(), |passes| format!("{passes:.0}"));
        let unit = self.time_of(AUTO);
        let time = self.time_of(name).zip(unit).map(|(time, unit)| time / unit);
        let time = time.map_or("–".into(), |times| format!("{times:.1}"));
        vec![self.title.clone(), name.into(), passes, time]
    }
}

/// The l1 ball: two classes under the smooth hinge.
fn race_l1(
    set: Set,
    (rows, targets): &(Rows, Vec<f64>),
    mu_n: f64,
    effort: &Effort,
) -> Result<Raced> {
    let (file, _, _, radius) = set;
    let n = rows.len();
    let mu = mu_n / n as f64;
    let losses = PerOutput::new(ScalarLoss::SmoothHinge { width: 1.0 }, targets.clone(), 1)?;
    let problem = BallProblem::l1(rows, losses, mu, radius, None)?;
    let arena = Arena {
        title: format!("{}, μ = {mu_n}/n", title(file)),
        n,
        radius: largest_row(rows),
        mu,
        most: rows.width(),
        baselines: &BallMethod::BASELINES,
        train: &|settings, budget| ball::train(&problem, settings, budget, &mut ()),
        size: &|solution: &Solution<f64>| nonzeros(&solution.weights),
    };
    arena.race(effort.of(6.0, 60.0), effort)
}

/// The largest ‖a_i‖².
pub fn largest_row(rows: &Rows) -> f64 {
    (0..rows.len()).map(|i| rows.row(i).squared_norm()).fold(0.0, f64::max)
}

pub fn nonzeros(weights: &[f64]) -> usize {
    weights.iter().filter(|&&x| x != 0.0).count()
}

/// What a set is called in titles.
fn title(file: &str) -> &str {
    match file {
        "ijcnn1" => "ijcnn1.RB",
        "cod-rna_zscore" => "cod-rna.RB",
        "reuters_corpacq.train" => "reuters",
        "news20" => "news20, class 1",
        other => other,
    }
}

/// The optimum of duke as published with the authors' code, and Table 2's number of its nonzero entries.
const DUKE: (f64, usize) = (0.499_446_323_868_131, 423);

fn check_duke(race: &Raced, remarks: &mut Vec<Remark>) {
    let ((dual, primal), (published, nonzero)) = (race.optimum, DUKE);
    let slack = 1e-12;
    let text = format!(
        "duke: the published optimum {published} lies in what is certified, [{dual:.12}, {primal:.12}]"
    );
    let inside = dual - slack <= published && published <= primal + slack;
    remarks.push(Remark::Assertion(text, inside));
    let text = format!("duke: the optimum has {nonzero} nonzero weights (here: {})", race.size);
    remarks.push(Remark::Assertion(text, race.size == nonzero));
}

/// Notes, the table, and what the paper says of its own method.
fn assemble(
    name: &'static str,
    title: &str,
    panels: Vec<Panel>,
    raced: &[Raced],
    effort: &Effort,
) -> Outcome {
    let mut notes = vec![
        format!("{}: one run each. P* is the dual value of a run certified to 10⁻⁹ or as far as it came.", effort.command),
        "theorem: Algorithm 1 or 2 with s the size of the optimum and the other constants of its theorem; tuned: the best δ and k of twelve; auto: another algorithm, ours.".into(),
    ];
    let optima: Vec<String> =
        raced.iter().map(|race| format!("{}: {:.7}", race.title, race.optimum.0)).collect();
    notes.extend(optima.chunks(4).map(|some| format!("P*  {}", some.join(";  "))));
    let methods = raced.iter().flat_map(|race| race.runs.iter().map(move |(name, _)| (race, name)));
    let rows = methods.map(|(race, name)| race.row(name)).collect();
    let header = vec!["data", "method", "passes to 10⁻⁴", "time to 10⁻⁴, in that of auto"];
    let mut remarks = Vec::new();
    for race in raced {
        let Some(tuned) = race.time_of(TUNED) else { continue };
        let baselines = BASELINES.iter().filter_map(|(name, _)| race.time_of(name));
        let fastest = baselines.fold(f64::INFINITY, f64::min);
        let text = format!(
            "{}: tuned PDBFW ({}) is faster to 10⁻⁴ than every baseline of the paper, by {:.1}",
            race.title,
            race.tuned,
            fastest / tuned
        );
        remarks.push(Remark::Claim(text, tuned < fastest));
    }
    let figure = Figure { name, title: title.into(), columns: 3, panels, notes };
    let table = Table { name: "near", header, rows };
    Outcome { tables: vec![table], remarks, ..Outcome::of(figure) }
}

pub fn figure_1(effort: &Effort) -> Result<Outcome> {
    let race = |&set: &Set| race_l1(set, &load(set, &effort.folder)?, 10.0, effort);
    let raced = SETS.iter().map(race).collect::<Result<Vec<_>>>()?;
    let passes = raced.iter().map(Raced::against_passes);
    let panels = passes.chain(raced.iter().map(Raced::against_time)).collect();
    let title = "PDBFW paper, Figure 1: the smooth hinge in the l1 ball";
    let mut outcome = assemble("pdbfw-1", title, panels, &raced, effort);
    check_duke(&raced[0], &mut outcome.remarks);
    Ok(outcome)
}

/// The sets in the place of rcv1 and news20.binary.
const TEXTS: [usize; 2] = [3, 2];

pub fn figure_3(effort: &Effort) -> Result<Outcome> {
    let mut raced = Vec::new();
    for set in TEXTS.map(|k| SETS[k]) {
        let data = load(set, &effort.folder)?;
        for mu_n in [1.0, 10.0, 100.0] {
            raced.push(race_l1(set, &data, mu_n, effort)?);
        }
    }
    let panels = raced.iter().map(Raced::against_passes).collect();
    let title = "PDBFW paper, Figure 3: other strengths of the regulariser, on other texts";
    Ok(assemble("pdbfw-3", title, panels, &raced, effort))
}

/// μ times n of Figure 2.
const MU_N: f64 = 10.0;

/// The paper's loss is ‖AX − B‖² without a half, and ours has one: its problem is twice ours with half of its μ.
pub fn figure_2(effort: &Effort) -> Result<Outcome> {
    let part = effort.of(4, 1);
    let sizes = (SIZES.0 / part, SIZES.1 / part, SIZES.2 / part);
    let (mut raced, mut remarks) = (Vec::new(), Vec::new());
    for rank in [10, 20, 100].map(|rank: usize| (rank / part).max(1)) {
        let (rows, targets) = generate(sizes, rank)?;
        let n = sizes.0 as f64;
        let mu = 0.5 * MU_N / n;
        let losses = PerOutput::new(ScalarLoss::Squared, targets.clone(), sizes.2)?;
        let problem = BallProblem::trace(&rows, losses, mu, rank as f64, None)?;
        let settings = BallSettings::default();
        let report = ball::train(&problem, &settings, &Budget::relative(1e-3), &mut ())?;
        let value = unhalved(&rows, &targets, &report.model.weights, MU_N / n);
        let ours = 2.0 * report.certificate.primal;
        let text =
            format!("rank {rank}: ‖AX − B‖²/n + μ/2‖X‖² = {value:.9} is twice our P = {ours:.9}");
        remarks.push(Remark::Assertion(text, (value - ours).abs() <= 1e-9 * value));
        let arena = Arena {
            title: format!("rank {rank}, {} × {} × {}", sizes.0, sizes.1, sizes.2),
            n: sizes.0,
            radius: largest_row(&rows),
            mu,
            most: sizes.1.min(sizes.2),
            baselines: &BallMethod::LOW_RANK_BASELINES,
            train: &|settings, budget| ball::train(&problem, settings, budget, &mut ()),
            size: &|solution: &Solution<f64, LowRank>| solution.weights.rank(),
        };
        raced.push(arena.race(effort.of(8.0, 60.0), effort)?);
    }
    let passes = raced.iter().map(Raced::against_passes);
    let panels = passes.chain(raced.iter().map(Raced::against_time)).collect();
    let title = "PDBFW paper, Figure 2: the trace ball";
    let mut outcome = assemble("pdbfw-2", title, panels, &raced, effort);
    outcome.remarks.append(&mut remarks);
    Ok(outcome)
}

/// The paper's own objective, summed up plainly: ‖AX − B‖²/n + μ/2‖X‖².
fn unhalved(rows: &Rows, targets: &[f64], x: &LowRank, mu: f64) -> f64 {
    let c = x.columns();
    let mut scores = vec![0.0; c];
    let mut loss = 0.0;
    for (i, b) in targets.chunks(c).enumerate() {
        scores.fill(0.0);
        x.scores(rows.row(i), &mut scores, &mut Vec::new());
        loss += scores.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    }
    let norm: f64 = x.to_dense().iter().map(|x| x * x).sum();
    loss / rows.len() as f64 + 0.5 * mu * norm
}
