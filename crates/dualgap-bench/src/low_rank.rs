//! The trace ball: generated data as in Figure 2 of the paper, n = 1000, d = 800, c = 600, where all examples are taken at
//! once,
//!
//! ```text
//! P(X) = 1/(2n) ‖AX − A X₀‖² + 5/n ‖X‖²,  ‖X‖_* ≤ rank of X₀        entries of A normal, singular values of X₀ near one
//! ```
//!
//! and with `--only NAME` classes of real data with few of them, where blocks are, with μ = 1/n and smooth hinges.

use crate::balls::{Prepared, prepare};
use crate::folder::Folder;
use crate::race::{Goal, race};
use clap::Args;
use dualgap::Result;
use dualgap::ball::trace::Features;
use dualgap::ball::{self, BallMethod, BallProblem, ClassLosses, Losses, PerOutput};
use dualgap::linalg::{Random, Rows};
use dualgap::term::{Costs, MulticlassLoss, ScalarLoss};

/// Examples, features and outputs.
pub const SIZES: (usize, usize, usize) = (1000, 800, 600);

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The rank of X₀.
    #[arg(long, value_delimiter = ',', default_value = "10,20,100")]
    rank: Vec<usize>,
    /// Not the generated data, but the classes of the sets whose name has this in it: letter.scale, news20.
    #[arg(long)]
    only: Option<String>,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    goal: Goal,
}

/// Classes: the file, how its rows are prepared, and r.
const SETS: [(&str, Prepared, f64); 3] = [
    ("letter.scale", Prepared::Plain, 50.0),
    ("letter.scale", Prepared::Plain, 500.0),
    ("news20", Prepared::Unit, 1000.0),
];

/// About normal, of variance one.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// `left · right`, of so many columns in between.
fn product(left: &[f64], right: &[f64], between: usize) -> Vec<f64> {
    let columns = right.len() / between;
    let mut out = vec![0.0; left.len() / between * columns];
    for (row, out) in left.chunks_exact(between).zip(out.chunks_exact_mut(columns)) {
        for (x, right) in row.iter().zip(right.chunks_exact(columns)) {
            out.iter_mut().zip(right).for_each(|(out, right)| *out += x * right);
        }
    }
    out
}

pub fn run(options: &Options) -> Result<()> {
    let Options { rank, goal, only, folder } = options;
    let Goal { seconds, near, .. } = goal;
    if let Some(only) = only {
        println!(
            "dualgap-bench low-rank --only {only} --seconds {seconds} --near {near}  (passes and seconds of solving)"
        );
        let sets = SETS.iter().filter(|set| set.0.contains(only.as_str()));
        let curves = sets.map(|&set| classes(set, folder, goal)).collect::<Result<String>>()?;
        return goal.keep(&curves);
    }
    let all: Vec<String> = rank.iter().map(usize::to_string).collect();
    println!(
        "dualgap-bench low-rank --rank {} --seconds {seconds} --near {near}  (passes and seconds of solving)",
        all.join(",")
    );
    let curves = rank.iter().map(|&rank| compare(rank, goal)).collect::<Result<String>>()?;
    goal.keep(&curves)
}

/// Generated data: A, and A X₀ with X₀ of this rank, whose singular values are near one.
pub fn generate((n, d, c): (usize, usize, usize), rank: usize) -> Result<(Rows, Vec<f64>)> {
    let mut random = Random::new(1);
    let mut normals = |count: usize, scale: f64| -> Vec<f64> {
        (0..count).map(|_| scale * normal(&mut random)).collect()
    };
    let a = normals(n * d, 1.0);
    let left = normals(d * rank, 1.0);
    let right = normals(rank * c, 1.0 / ((d * c) as f64).sqrt());
    let targets = product(&product(&a, &left, d), &right, rank);
    Ok((Rows::dense(&a.chunks(d).map(<[f64]>::to_vec).collect::<Vec<_>>())?, targets))
}

fn compare(rank: usize, goal: &Goal) -> Result<String> {
    let (rows, targets) = generate(SIZES, rank)?;
    let losses = PerOutput::new(ScalarLoss::Squared, targets, SIZES.2)?;
    let problem = BallProblem::trace(&rows, losses, 10.0 / SIZES.0 as f64, rank as f64, None)?;
    measure(&problem, &format!("rank {rank}"), goal)
}

fn classes(
    (file, how, radius): (&str, Prepared, f64),
    folder: &Folder,
    goal: &Goal,
) -> Result<String> {
    let data = folder.libsvm(file)?;
    let rows = prepare(data.rows(), how)?;
    let labels = data.classes()?;
    let (n, classes) = (rows.len(), labels.alphabet().len());
    println!("  {file}: {n} x {}, {classes} classes, r = {radius}", rows.width());
    let hinge = MulticlassLoss::SmoothHinge { width: 1.0 };
    let losses = ClassLosses::new(hinge, labels.numbers(), classes, &Costs::ZeroOne)?;
    let problem = BallProblem::trace(&rows, losses, 1.0 / n as f64, radius, None)?;
    measure(&problem, &format!("{file}, r = {radius}"), goal)
}

fn measure<L: Losses>(
    problem: &BallProblem<Features<'_>, L>,
    name: &str,
    goal: &Goal,
) -> Result<String> {
    race(
        &BallMethod::LOW_RANK_BASELINES,
        goal,
        |settings, budget| ball::train(problem, settings, budget, &mut ()),
        |best| format!("{name}, X of rank {}", best.model.weights.rank()),
    )
}
