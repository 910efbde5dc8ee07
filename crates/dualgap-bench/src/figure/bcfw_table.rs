//! Table 1 of the BCFW paper: oracle calls until an accuracy ε, measured and promised.
//!
//! What the table is about is n: batch methods are promised `O(nR²/(λε))` calls, those that visit one example a step
//! `O(R²/(λε))`, whatever n is. So the letters are trained on twice, on fold 0 (n = 626) and on the others (n = 6,251). The
//! promises have no constants; they are drawn with a constant of one.

use super::Effort;
use super::axis::Axis;
use super::curves::{Curve, Role, Trace};
use super::draw::{Figure, Panel};
use super::files::{Outcome, Remark, Table};
use super::runs::{Run, Seen};
use super::structured::{Arena, Length, Method, Raced, named};
use crate::letters;
use dualgap::Result;
use dualgap::data::Sequences;
use dualgap::structure::{ChainBlocks, Hamming, Radius};

const LAMBDA: f64 = 0.01;

/// What the table promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rate {
    /// R²/(λε).
    PerStep,
    /// nR²/(λε).
    PerPass,
    /// (n + log|Y|)R²/(λε); log|Y| is that of a word of mean length.
    Exponentiated,
}

/// What the guarantee is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guarantee {
    DualityGap,
    PrimalError,
}

/// The methods of the table that are here, with its columns.
const ROWS: [(&str, &str, Guarantee, Rate); 5] = [
    ("BCFW", "maximisation", Guarantee::DualityGap, Rate::PerStep),
    ("SSG-wavg", "maximisation", Guarantee::PrimalError, Rate::PerStep),
    ("FW", "maximisation", Guarantee::DualityGap, Rate::PerPass),
    ("cutting plane", "maximisation", Guarantee::DualityGap, Rate::PerPass),
    ("online-EG", "expectation", Guarantee::DualityGap, Rate::Exponentiated),
];

/// The accuracies that are looked at, and the one of the table: P is about one half.
const LADDER: [f64; 11] = [0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005];
const AT: f64 = 0.2;

/// The letters of one size, and what is needed for the promises.
struct Side {
    raced: Raced,
    n: f64,
    /// R² = max ‖ψ‖², from the bound of the blocks on ‖φ‖.
    radius: f64,
    log_outputs: f64,
}

impl Side {
    fn new(data: &Sequences, effort: &Effort) -> Result<Self> {
        let blocks = ChainBlocks::new(data, Hamming::Normalized)?;
        let longest = (0..data.len()).filter_map(|i| blocks.radius(i)).fold(0.0, f64::max);
        let names: Vec<&str> = ROWS.iter().map(|row| row.0).collect();
        let length = Length {
            seeds: effort.seeds(),
            // As many calls whatever n is: the fewer examples, the more passes are promised to be needed.
            passes: effort.of(250_000, 2_500_000) / data.len().max(1) as u64,
            share: 1.0,
            early: true,
            tight: effort.of((1e-3, 40.0), (1e-4, 300.0)),
        };
        let title = format!("n = {}", data.len());
        let arena = Arena { title, blocks: &blocks, lambda: LAMBDA, judge: None };
        let raced = arena.race(&named(&names, effort), &length, effort)?;
        let letters = data.labels().len() as f64 / data.len() as f64;
        let log_outputs = letters * (data.alphabet().len() as f64).ln();
        Ok(Self { raced, n: data.len() as f64, radius: 4.0 * longest * longest, log_outputs })
    }

    fn promised(&self, rate: Rate, epsilon: f64) -> f64 {
        let calls = self.radius / (LAMBDA * epsilon);
        match rate {
            Rate::PerStep => calls,
            Rate::PerPass => self.n * calls,
            Rate::Exponentiated => (self.n + self.log_outputs) * calls,
        }
    }

    /// Oracle calls until every accuracy of the ladder that a run came to, the finest first.
    fn calls(&self, run: &Run, guarantee: Guarantee) -> Trace {
        let (dual, _) = self.raced.optimum;
        let left = |seen: &Seen| match guarantee {
            Guarantee::DualityGap => seen.gap,
            Guarantee::PrimalError => seen.primal - dual,
        };
        let reached = |&epsilon: &f64| {
            let seen = run.seen.iter().find(|seen| left(seen) <= epsilon)?;
            Some((epsilon, self.n * seen.passes))
        };
        LADDER.iter().rev().filter_map(reached).collect()
    }

    fn curve(&self, name: &str, guarantee: Guarantee) -> Option<Curve> {
        let (Method { role, .. }, runs) =
            self.raced.runs.iter().find(|(method, _)| method.name == name)?;
        let traces: Vec<Trace> = runs.iter().map(|run| self.calls(run, guarantee)).collect();
        Some(Curve::new(name, *role, &traces))
    }

    fn panel(&self) -> Panel {
        let measured = ROWS.iter().filter_map(|&(name, _, of, _)| self.curve(name, of));
        let mut curves: Vec<Curve> = measured.collect();
        for (name, rate) in [("R²/(λε)", Rate::PerStep), ("nR²/(λε)", Rate::PerPass)] {
            let line = LADDER.iter().rev().map(|&e| (e, self.promised(rate, e))).collect();
            curves.push(Curve::new(name, Role::Promise, &[line]));
        }
        Panel {
            title: format!("letters, λ = {LAMBDA}, {}", self.raced.title),
            x: Axis::logarithmic("accuracy ε"),
            // The promises have to be seen, however far above they are.
            y: Axis::logarithmic("oracle calls").to(self.promised(Rate::PerPass, 0.1)),
            curves,
            level: None,
        }
    }
}

pub fn table_1(effort: &Effort) -> Result<Outcome> {
    let (large, small) = letters::split()?;
    let (small, large) = (Side::new(&small, effort)?, Side::new(&large, effort)?);
    let mut rows = Vec::new();
    let mut remarks = Vec::new();
    let share = |x: Option<f64>| x.map_or("–".into(), |x| format!("{x:.1e}"));
    for (name, oracle, guarantee, rate) in ROWS {
        let calls = |side: &Side| side.curve(name, guarantee)?.at(AT);
        let (few, many) = (calls(&small), calls(&large));
        if few.is_none() && many.is_none() {
            continue;
        }
        let grown = few.zip(many).map(|(few, many)| many / few);
        let promised = large.promised(rate, AT) / small.promised(rate, AT);
        rows.push(vec![
            name.into(),
            oracle.into(),
            if guarantee == Guarantee::DualityGap { "duality gap" } else { "primal error" }.into(),
            format!("{:.1e}", large.promised(rate, AT)),
            share(many),
            share(few),
            grown.map_or("–".into(), |grown| format!("{grown:.1}")),
            format!("{promised:.1}"),
        ]);
        if let Some(many) = many {
            let text =
                format!("{name}: no more calls to {AT} than promised with a constant of one");
            remarks.push(Remark::Claim(text, many <= large.promised(rate, AT)));
        }
        if let Some(grown) = grown {
            let text = format!(
                "{name}: calls grow by {grown:.1} with ten times as many examples; promised {promised:.1}"
            );
            remarks.push(Remark::Claim(text, grown <= 1.5 * promised));
        }
    }
    let header = vec![
        "method",
        "oracle",
        "guarantee",
        "promised calls, n = 6,251",
        "measured",
        "measured, n = 626",
        "grows by",
        "promised to grow by",
    ];
    let figure = Figure {
        name: "bcfw-table-1",
        title: "BCFW paper, Table 1: oracle calls until an accuracy".into(),
        columns: 2,
        panels: vec![small.panel(), large.panel()],
        notes: vec![
            format!("{}: median of {} seeds;", effort.command, effort.seeds()),
            "promises with a constant of one. SSG by its primal error, the others by the certified gap.".into(),
            format!("{};  {}", small.raced.note(), large.raced.note()),
        ],
    };
    let calls = Table { name: "calls", header, rows };
    Ok(Outcome { tables: vec![calls], remarks, ..Outcome::of(figure) })
}
