//! Prox-SDCA beside the methods that its paper compares it with: passes until the primal value is near the optimum.

use crate::comparators::{Objective, Trace};
use crate::folder::Folder;
use crate::problem::Problem;
use clap::Args;
use dualgap::container::write_atomically;
use dualgap::linalg::{Random, Rows};
use dualgap::term::ScalarLoss;
use dualgap::{Error, Result};
use std::fmt::Write;
use std::path::PathBuf;

/// How near to the optimum, in units of the objective.
const NEAR: [f64; 3] = [1e-2, 1e-4, 1e-6];

/// What the optimum is known to.
const TIGHT: f64 = 1e-9;

#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    folder: Folder,
    /// FILE-LOSS: a LIBSVM file of the folder, or `generated`, which needs no data, and logistic, smooth-hinge or squared.
    #[arg(long, default_value = "generated-logistic")]
    problem: String,
    /// λ times n.
    #[arg(long, value_delimiter = ',', default_value = "1000,100,10,1")]
    lambda_n: Vec<f64>,
    /// σ.
    #[arg(long, default_value_t = 1e-4)]
    l1: f64,
    /// At most so many passes of a method.
    #[arg(long, default_value_t = 300.0)]
    passes: f64,
    /// The seed of the random orders.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write passes, primal value above the optimum and gap of all methods to this csv file.
    #[arg(long)]
    curves: Option<PathBuf>,
}

/// A data set with its loss.
pub struct Case {
    rows: Rows,
    targets: Vec<f64>,
    loss: ScalarLoss,
}

/// The ways of all methods at one λ.
pub struct AtLambda {
    pub lambda: f64,
    /// Certified to [`TIGHT`].
    pub optimum: f64,
    pub traces: Vec<Trace>,
}

impl Case {
    /// Returns the problem of this name; see [`Options::problem`].
    pub fn load(name: &str, folder: &Folder) -> Result<Self> {
        let unknown = || Error::setting(format!("there is no problem of the name {name}"));
        let (file, loss) = [
            ("-logistic", ScalarLoss::Logistic),
            ("-smooth-hinge", ScalarLoss::SmoothHinge { width: 1.0 }),
            ("-squared", ScalarLoss::Squared),
        ]
        .into_iter()
        .find_map(|(end, loss)| Some((name.strip_suffix(end)?, loss)))
        .ok_or_else(unknown)?;
        if file == "generated" {
            let (rows, targets) = generated();
            return Ok(Self { rows, targets, loss });
        }
        let data = folder.libsvm(file)?;
        Ok(Self { targets: Problem::targets(&data)?, rows: data.rows().clone(), loss })
    }

    /// Compares all methods at λ = `lambda_n`/n and this σ, each for so many passes.
    pub fn compare(&self, lambda_n: f64, l1: f64, passes: f64, seed: u64) -> Result<AtLambda> {
        let lambda = lambda_n / self.targets.len() as f64;
        let objective = Objective::new(&self.rows, self.targets.clone(), self.loss, (lambda, l1))?;
        let optimum = objective.optimum(TIGHT)?;
        // A method ends when its gap proves the last column.
        let traces = objective.traces(passes, 0.5 * NEAR[2], seed)?;
        Ok(AtLambda { lambda, optimum, traces })
    }
}

/// Sparse rows of length one, of which the first few features decide the class, with some noise.
fn generated() -> (Rows, Vec<f64>) {
    const EXAMPLES: usize = 5_000;
    const FEATURES: usize = 1_000;
    const STORED: usize = 20;
    let mut random = Random::new(1);
    let (mut rows, mut targets) = (Rows::sparse(), Vec::with_capacity(EXAMPLES));
    for _ in 0..EXAMPLES {
        // Squares make the first features frequent, as in text.
        let feature = |random: &mut Random| (random.unit().powi(2) * FEATURES as f64) as u32;
        let mut row: Vec<(u32, f64)> =
            (0..STORED).map(|_| (feature(&mut random), 2.0 * random.unit() - 1.0)).collect();
        row.sort_by_key(|&(j, _)| j);
        row.dedup_by_key(|&mut (j, _)| j);
        let length = row.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|(_, x)| *x /= length);
        let score: f64 = row.iter().filter(|&&(j, _)| j < 50).map(|(_, x)| x).sum();
        let noise = 0.5 * (2.0 * random.unit() - 1.0);
        targets.push(if score + noise > 0.0 { 1.0 } else { -1.0 });
        rows.push_sparse(&row);
    }
    rows.fit_width(FEATURES);
    (rows, targets)
}

pub fn run(options: &Options) -> Result<()> {
    let Options { problem, l1, passes, seed, .. } = options;
    let lambdas: Vec<String> = options.lambda_n.iter().map(f64::to_string).collect();
    println!(
        "dualgap-bench sdca --problem {problem} --lambda-n {} --l1 {l1} --passes {passes} --seed {seed}",
        lambdas.join(",")
    );
    println!(
        "  passes until the primal value is within 1e-2, 1e-4 and 1e-6 of the optimum, and the last certified gap"
    );
    let mut curves = String::from("problem,lambda,method,passes,above_optimum,gap\n");
    let case = Case::load(problem, &options.folder)?;
    for &lambda_n in &options.lambda_n {
        let found = case.compare(lambda_n, *l1, *passes, *seed)?;
        println!("  lambda {:.3e}: optimum {:.9}", found.lambda, found.optimum);
        for trace in &found.traces {
            let reached = NEAR.map(|near| {
                let passes = trace.passes_to(found.optimum, near);
                passes.map_or_else(|| format!("{:>8}", "–"), |passes| format!("{passes:>8.1}"))
            });
            let gap = trace.points.last().map_or(f64::NAN, |point| point.gap);
            println!("    {:<20} {}   {gap:.1e}", trace.method, reached.join(" "));
            for point in &trace.points {
                let above = point.primal - found.optimum;
                let (lambda, gap) = (found.lambda, point.gap);
                let _ = writeln!(
                    curves,
                    "{problem},{lambda:e},{},{},{above:e},{gap:e}",
                    trace.method, point.passes
                );
            }
        }
    }
    println!();
    match &options.curves {
        Some(path) => write_atomically(path, curves.as_bytes()),
        None => Ok(()),
    }
}
