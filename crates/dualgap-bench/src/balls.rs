//! Linear models in the l1 ball: every method until it is near the optimum.
//!
//! ```text
//! P(x) = (1/n) Σ smooth_hinge(y_i a_i'x) + μ/2‖x‖²,  ‖x‖₁ ≤ r
//! ```

use crate::folder::Folder;
use crate::race::{Goal, race};
use clap::Args;
use dualgap::Result;
use dualgap::ball::{self, BallMethod, PerOutput};
use dualgap::data::RandomBinning;
use dualgap::linalg::Rows;
use dualgap::term::ScalarLoss;

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    folder: Folder,
    /// Only data sets whose name has this in it.
    #[arg(long)]
    only: Option<String>,
    /// μ times n.
    #[arg(long, value_delimiter = ',', default_value = "1,10,100")]
    mu_n: Vec<f64>,
    #[command(flatten)]
    goal: Goal,
}

/// What becomes of the rows before training.
#[derive(Clone, Copy, Debug)]
pub enum Prepared {
    /// Nothing.
    Plain,
    /// Divided by their sum.
    BySum,
    /// Of length one.
    Unit,
    /// Random binning features of so many grids and this bandwidth.
    Binned(usize, f64),
}

/// A data set: its file, the class against the others, how it is prepared, and r.
pub type Set = (&'static str, Option<&'static str>, Prepared, f64);

pub const SETS: [Set; 6] = [
    ("duke", None, Prepared::BySum, 0.5),
    ("a9a", None, Prepared::Unit, 20.0),
    ("news20", Some("1"), Prepared::Unit, 300.0),
    ("reuters_corpacq.train", None, Prepared::Unit, 300.0),
    ("ijcnn1", None, Prepared::Binned(300, 1.9), 300.0),
    ("cod-rna_zscore", None, Prepared::Binned(100, 2.05), 300.0),
];

/// The rows as they are trained on.
pub fn prepare(rows: &Rows, how: Prepared) -> Result<Rows> {
    if let Prepared::Plain = how {
        return Ok(rows.clone());
    }
    if let Prepared::Binned(grids, bandwidth) = how {
        return Ok(RandomBinning::fit(rows, grids, bandwidth, 0)?.apply(rows)?.0);
    }
    let mut prepared = Rows::sparse();
    for i in 0..rows.len() {
        let row = rows.row(i);
        let by: f64 = match how {
            Prepared::BySum => row.iter().map(|(_, x)| x).sum(),
            _ => row.squared_norm().sqrt(),
        };
        let by = if by == 0.0 { 1.0 } else { by };
        let entries: Vec<(u32, f64)> = row.iter().map(|(j, x)| (j as u32, x / by)).collect();
        prepared.push_sparse(&entries);
    }
    prepared.fit_width(rows.width());
    Ok(prepared)
}

pub fn run(options: &Options) -> Result<()> {
    let Options { mu_n, goal, .. } = options;
    let Goal { seconds, near, .. } = goal;
    let all: Vec<String> = mu_n.iter().map(f64::to_string).collect();
    println!(
        "dualgap-bench balls --mu-n {} --seconds {seconds} --near {near}  (passes and seconds of solving, one thread)",
        all.join(",")
    );
    let mut curves = String::new();
    for set in SETS {
        if options.only.as_ref().is_none_or(|only| set.0.contains(only.as_str())) {
            curves += &compare(set, options)?;
        }
    }
    goal.keep(&curves)
}

/// The rows of a set as they are trained on, and their targets.
pub fn load((file, class, how, _): Set, folder: &Folder) -> Result<(Rows, Vec<f64>)> {
    let data = folder.libsvm(file)?;
    let rows = prepare(data.rows(), how)?;
    let Some(class) = class else { return Ok((rows, data.signs()?)) };
    let labels = data.classes()?;
    let class = labels.alphabet().index(class);
    let is_class = |&label: &u32| class == Some(label as usize);
    let signs = labels.numbers().iter();
    Ok((rows, signs.map(|label| if is_class(label) { 1.0 } else { -1.0 }).collect()))
}

fn compare(set: Set, options: &Options) -> Result<String> {
    let (file, _, _, radius) = set;
    let (rows, targets) = load(set, &options.folder)?;
    let n = rows.len() as f64;
    println!("  {file}: {} x {}, r = {radius}", rows.len(), rows.width());
    let mut curves = String::new();
    for &mu_n in &options.mu_n {
        let losses = PerOutput::new(ScalarLoss::SmoothHinge { width: 1.0 }, targets.clone(), 1)?;
        let problem = ball::BallProblem::l1(&rows, losses, mu_n / n, radius, None)?;
        curves += &race(
            &BallMethod::BASELINES,
            &options.goal,
            |settings, budget| ball::train(&problem, settings, budget, &mut ()),
            |best| {
                let nonzero = best.model.weights.iter().filter(|&&x| x != 0.0).count();
                format!("{file}, mu = {mu_n}/n, {nonzero} weights")
            },
        )?;
    }
    Ok(curves)
}
