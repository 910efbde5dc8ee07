//! The figures of the BCFW paper (Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013).

use super::Effort;
use super::curves::Curve;
use super::draw::{Figure, Panel};
use super::files::{Outcome, Remark, Table};
use super::structured::{Arena, Judge, LOG_PASSES, Length, PASSES, Raced, named};
use crate::{conll, letters, solvers};
use dualgap::data::Sequences;
use dualgap::structure::{
    Chain, ChainBlocks, Fitted, Hamming, LinkLoss, Matching, MatchingBlocks, Structure,
};
use dualgap::{Error, Result};

/// The paper has it on the letters alone, since it was substantially worse there.
const EXPONENTIATED: &str = "online-EG";

/// The solvers of Figure 1, of Figure 2, and of Figures 3 to 5.
const SOLVERS: [&str; 8] =
    ["BCFW", "BCFW-wavg", "SSG", "SSG-wavg", "FW", "cutting plane", "online-EG", "auto (ours)"];
const STEPS: [&str; 5] = ["BCFW", "BCFW, predefined steps", "FW", "FW, predefined steps", "SSG"];
const STOCHASTIC: [&str; 9] = [
    "BCFW",
    "BCFW-wavg",
    "BCFW-tavg",
    "SSG",
    "SSG-wavg",
    "SSG-tavg",
    "SSG-avg",
    EXPONENTIATED,
    "auto (ours)",
];

/// λ of the letters and of CoNLL-2000; none stands for 1/n.
const LAMBDAS: [(Option<f64>, &str); 3] =
    [(Some(0.01), "λ = 0.01"), (Some(0.001), "λ = 0.001"), (None, "λ = 1/n")];

/// λ of the alignments, of which n = 100; the least is near 1/5,000, the paper's 1/n.
const LAMBDAS_OF_ALIGNMENTS: [(Option<f64>, &str); 3] =
    [(None, "λ = 1/n = 0.01"), (Some(0.001), "λ = 0.001"), (Some(2e-4), "λ = 0.0002")];

const CONLL: &str = "CoNLL-2000";
const WRONG_LABELS: &str = "test error";
const WRONG_LINKS: &str = "alignment error rate";

/// Training and test sequences.
struct Chains {
    name: &'static str,
    train: Sequences,
    test: Sequences,
}

impl Chains {
    fn letters() -> Result<Self> {
        let (train, test) = letters::split()?;
        Ok(Self { name: "letters", train, test })
    }

    fn conll(effort: &Effort) -> Result<Self> {
        let (train, test) = conll::split(&effort.folder, false)?;
        Ok(Self { name: CONLL, train, test })
    }

    /// The methods on these data, with the mean fraction of wrong labels in a test sequence as their error.
    fn race(
        &self,
        (lambda, title): (Option<f64>, &str),
        methods: &[&str],
        length: Length,
        effort: &Effort,
    ) -> Result<Raced> {
        let blocks = ChainBlocks::new(&self.train, Hamming::Normalized)?;
        let chain = Chain::new(Hamming::Normalized);
        let names = chain.names(&self.train)?;
        let error = |weights: &[f64]| {
            let fitted =
                Fitted { names: &names, weights, low_rank: None, support: None, packed: None };
            let evaluation = chain.evaluate(fitted, &self.test)?;
            let labels = evaluation.labels().map(|labels| labels.figures().normalized_hamming);
            labels.ok_or_else(|| Error::setting("chains have labels"))
        };
        let lambda = lambda.unwrap_or(1.0 / self.train.len() as f64);
        let judge: Judge<'_> = &error;
        let title = format!("{}, {title}", self.name);
        let arena = Arena { title, blocks: &blocks, lambda, judge: Some(judge) };
        let mut methods = named(methods, effort);
        methods.retain(|method| self.name != CONLL || method.name != EXPONENTIATED);
        arena.race(&methods, &length, effort)
    }
}

/// The methods on the alignments: the first hundred pairs with links to train on, the other 347 to test with.
fn race_alignments(
    (lambda, title): (Option<f64>, &str),
    methods: &[&str],
    length: Length,
    effort: &Effort,
) -> Result<Raced> {
    let (train, test) = solvers::hansards(&effort.folder)?;
    let blocks = MatchingBlocks::new(&train, LinkLoss::default())?;
    let matching = Matching::new(LinkLoss::default());
    let names = matching.names(&train)?;
    let error = |weights: &[f64]| {
        let fitted = Fitted { names: &names, weights, low_rank: None, support: None, packed: None };
        Ok(matching.evaluate(fitted, &test)?.error())
    };
    let lambda = lambda.unwrap_or(1.0 / train.len() as f64);
    let title = format!("alignments, {title}");
    let arena = Arena { title, blocks: &blocks, lambda, judge: Some(&error) };
    arena.race(&named(methods, effort), &length, effort)
}

/// How long the methods race on each of the data: in the paper about 130 passes on the letters, and fewer elsewhere.
fn on_letters(effort: &Effort) -> Length {
    let tight = effort.of((2e-3, 60.0), (1e-4, 900.0));
    Length {
        seeds: effort.seeds(),
        passes: effort.of(20, 130),
        share: effort.of(0.5, 1.0),
        early: false,
        tight,
    }
}

fn on_conll(effort: &Effort) -> Length {
    let tight = effort.of((2e-2, 90.0), (1e-3, 3600.0));
    Length {
        seeds: effort.seeds_or(1),
        passes: effort.of(6, 50),
        share: effort.of(0.5, 1.0),
        early: true,
        tight,
    }
}

fn on_alignments(effort: &Effort) -> Length {
    let tight = effort.of((1e-3, 30.0), (1e-5, 900.0));
    Length {
        seeds: effort.seeds(),
        passes: effort.of(40, 200),
        share: effort.of(0.5, 1.0),
        early: false,
        tight,
    }
}

fn assemble(
    name: &'static str,
    title: &str,
    panels: Vec<Panel>,
    raced: &[Raced],
    effort: &Effort,
) -> Figure {
    let mut notes = vec![format!(
        "{}: median of the seeds, worst and best shaded; of batch methods the lower envelope. P is measured from the largest dual value seen.",
        effort.command
    )];
    let brackets: Vec<String> = raced.iter().map(Raced::note).collect();
    notes.extend(brackets.chunks(3).map(|three| three.join(";  ")));
    Figure { name, title: title.into(), columns: 3, panels, notes }
}

pub fn figure_1(effort: &Effort) -> Result<Outcome> {
    let letters = Chains::letters()?;
    let race = |lambda| letters.race(lambda, &SOLVERS, on_letters(effort), effort);
    let mut raced = LAMBDAS.iter().map(|&lambda| race(lambda)).collect::<Result<Vec<_>>>()?;
    raced.push(Chains::conll(effort)?.race(LAMBDAS[2], &SOLVERS, on_conll(effort), effort)?);
    raced.push(race_alignments(LAMBDAS[1], &SOLVERS, on_alignments(effort), effort)?);
    let mut panels: Vec<Panel> = (raced.iter().zip(["a", "b", "c"]))
        .map(|(race, place)| race.suboptimality(&format!("({place}) {}", race.title), PASSES))
        .collect();
    let (on_conll, on_alignments) = (&raced[3], &raced[4]);
    panels.push(on_conll.suboptimality(&format!("(d) {}", on_conll.title), LOG_PASSES));
    panels.push(on_conll.errors(&format!("(e) {}", on_conll.title), LOG_PASSES, WRONG_LABELS));
    panels.push(on_alignments.suboptimality(&format!("(f) {}", on_alignments.title), PASSES));
    let said = [
        "stochastic (BCFW, SSG) < batch (FW, cutting plane); BCFW-wavg best",
        "BCFW-wavg best",
        "BCFW < batch < SSG in the first passes",
        "BCFW low after few examples; SSG-wavg worst",
    ];
    let first = panels[..4].iter().zip(said);
    let order = Table {
        name: "order",
        header: vec!["data", "the paper says", "after the first passes", "at the end"],
        rows: first.map(|(panel, said)| order(panel, said)).collect(),
    };
    let mut remarks = Vec::new();
    claims_of_figure_1(&panels, &mut remarks);
    let title = "BCFW paper, Figure 1: solvers of structural SVMs";
    let figure = assemble("bcfw-1", title, panels, &raced, effort);
    Ok(Outcome { tables: vec![order], remarks, ..Outcome::of(figure) })
}

/// After so many passes methods are compared "early", and at the end of all runs.
const EARLY: f64 = 2.0;
const END: f64 = f64::INFINITY;

/// The methods of a panel from the best to the worst, early and at the end.
fn order(panel: &Panel, said: &str) -> Vec<String> {
    let end =
        (panel.curves.iter().filter_map(Curve::last)).map(|(x, _)| x).fold(f64::INFINITY, f64::min);
    let sorted = |x: f64| {
        let values = panel.curves.iter().filter_map(|curve| Some((curve.at(x)?, &curve.name)));
        let mut values: Vec<(f64, &String)> = values.collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let names = values.iter().map(|(value, name)| format!("{name} {value:.1e}"));
        names.collect::<Vec<_>>().join(" < ")
    };
    vec![panel.title.clone(), said.into(), sorted(EARLY), sorted(end)]
}

/// What the paper says that one method is below another at so many passes, if both are in the panel.
fn below(panel: &Panel, (low, high): (&str, &str), x: f64, remarks: &mut Vec<Remark>) {
    let at = |name: &str| {
        let curve = panel.curves.iter().find(|curve| curve.name == name)?;
        curve.at(x).or_else(|| curve.last().map(|(_, y)| y))
    };
    if let (Some(a), Some(b)) = (at(low), at(high)) {
        let title = &panel.title;
        let when = if x == END { "at the end".into() } else { format!("after {x} passes") };
        let text = format!("{title}, {when}: {low} ({a:.2e}) is below {high} ({b:.2e})");
        remarks.push(Remark::Claim(text, a < b));
    }
}

fn claims_of_figure_1(panels: &[Panel], remarks: &mut Vec<Remark>) {
    for stochastic in ["BCFW", "SSG"] {
        for batch in ["FW", "cutting plane"] {
            below(&panels[0], (stochastic, batch), 20.0, remarks);
        }
    }
    for batch in ["FW", "cutting plane"] {
        below(&panels[2], (batch, "SSG"), 8.0, remarks);
        below(&panels[2], ("BCFW", batch), 8.0, remarks);
    }
    for panel in &panels[..4] {
        for other in ["BCFW", "SSG", "SSG-wavg", "FW", "cutting plane", "online-EG"] {
            below(panel, ("BCFW-wavg", other), END, remarks);
        }
    }
    below(&panels[4], ("SSG-wavg", "BCFW"), END, remarks);
    below(&panels[4], ("BCFW-wavg", "BCFW"), END, remarks);
}

pub fn figure_2(effort: &Effort) -> Result<Outcome> {
    let letters = Chains::letters()?;
    let race = |&lambda| letters.race(lambda, &STEPS, on_letters(effort), effort);
    let raced = LAMBDAS.iter().map(race).collect::<Result<Vec<_>>>()?;
    let panels: Vec<Panel> =
        raced.iter().map(|race| race.suboptimality(&race.title, PASSES)).collect();
    let mut remarks = Vec::new();
    for panel in &panels {
        below(panel, ("BCFW", "BCFW, predefined steps"), END, &mut remarks);
        below(panel, ("FW", "FW, predefined steps"), END, &mut remarks);
    }
    below(&panels[2], ("FW", "BCFW, predefined steps"), 4.0, &mut remarks);
    let title = "BCFW paper, Figure 2: steps with and without line search, on the letters";
    let figure = assemble("bcfw-2", title, panels, &raced, effort);
    Ok(Outcome { remarks, ..Outcome::of(figure) })
}

/// Suboptimality above, errors below.
fn two_rows(raced: &[Raced], x: super::axis::Axis, error: &'static str) -> Vec<Panel> {
    let above = raced.iter().map(|race| race.suboptimality(&race.title, x));
    above.chain(raced.iter().map(|race| race.errors(&race.title, x, error))).collect()
}

fn averages(panels: &[Panel], remarks: &mut Vec<Remark>) {
    for panel in &panels[..3] {
        below(panel, ("BCFW-wavg", "BCFW"), END, remarks);
        for other in ["SSG", "SSG-wavg", "SSG-tavg", "BCFW"] {
            below(panel, (other, "SSG-avg"), END, remarks);
        }
    }
    for panel in &panels[3..] {
        below(panel, ("BCFW-wavg", "BCFW"), END, remarks);
        below(panel, ("SSG-wavg", "SSG"), END, remarks);
    }
}

fn stochastic(
    name: &'static str,
    title: &str,
    raced: &[Raced],
    panels: Vec<Panel>,
    effort: &Effort,
) -> Outcome {
    let mut remarks = Vec::new();
    averages(&panels, &mut remarks);
    let rows = panels.iter().map(|panel| order(panel, "")).map(|row| {
        let [title, _, early, end]: [String; 4] = row.try_into().unwrap_or_default();
        vec![title, early, end]
    });
    let header = vec!["data", "after the first passes", "at the end"];
    let order = Table { name: "order", header, rows: rows.collect() };
    let figure = assemble(name, title, panels, raced, effort);
    Outcome { tables: vec![order], remarks, ..Outcome::of(figure) }
}

pub fn figure_3(effort: &Effort) -> Result<Outcome> {
    let letters = Chains::letters()?;
    let race = |&lambda| letters.race(lambda, &STOCHASTIC, on_letters(effort), effort);
    let raced = LAMBDAS.iter().map(race).collect::<Result<Vec<_>>>()?;
    let panels = two_rows(&raced, PASSES, WRONG_LABELS);
    let title = "BCFW paper, Figure 3: stochastic solvers on the letters";
    Ok(stochastic("bcfw-3", title, &raced, panels, effort))
}

pub fn figure_4(effort: &Effort) -> Result<Outcome> {
    let conll = Chains::conll(effort)?;
    let race = |&lambda| conll.race(lambda, &STOCHASTIC, on_conll(effort), effort);
    let raced = LAMBDAS.iter().map(race).collect::<Result<Vec<_>>>()?;
    let panels = two_rows(&raced, LOG_PASSES, WRONG_LABELS);
    let title = "BCFW paper, Figure 4: stochastic solvers on CoNLL-2000";
    Ok(stochastic("bcfw-4", title, &raced, panels, effort))
}

pub fn figure_5(effort: &Effort) -> Result<Outcome> {
    let race = |&lambda| race_alignments(lambda, &STOCHASTIC, on_alignments(effort), effort);
    let raced = LAMBDAS_OF_ALIGNMENTS.iter().map(race).collect::<Result<Vec<_>>>()?;
    let panels = two_rows(&raced, PASSES, WRONG_LINKS);
    let title =
        "BCFW paper, Figure 5: stochastic solvers on word alignments (100 pairs, not 5,000)";
    Ok(stochastic("bcfw-5", title, &raced, panels, effort))
}
