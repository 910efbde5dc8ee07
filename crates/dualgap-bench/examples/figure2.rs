//! The trace norm of Figure 2: n = 1000, d = 800, c = 600, squared loss, B = A X₀ with X₀ of rank 10, 20 and 100.
//!
//! `cargo run --release -p dualgap-bench --example figure2 -- [rank] [tolerance] [method] [seconds]`

use dualgap::linalg::{Random, Rows};
use dualgap::pdbfw::{PerOutput, Problem, Settings, trace};
use dualgap::run::Budget;
use dualgap::term::{Ball, ScalarLoss};

/// About normal, of variance one.
fn normal(random: &mut Random) -> f64 {
    ((0..12).map(|_| random.unit()).sum::<f64>()) - 6.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rank: usize = arguments.first().map_or(Ok(10), |x| x.parse())?;
    let tolerance: f64 = arguments.get(1).map_or(Ok(1e-6), |x| x.parse())?;
    let method = match arguments.get(2) {
        Some(name) => serde_json::from_value(serde_json::Value::String(name.clone()))?,
        None => dualgap::pdbfw::Method::default(),
    };
    let seconds: f64 = arguments.get(3).map_or(Ok(120.0), |x| x.parse())?;
    let (n, d, c) = (1000, 800, 600);
    let mut random = Random::new(1);
    let a: Vec<f64> = (0..n * d).map(|_| normal(&mut random)).collect();
    let scale = 1.0 / (d as f64 * c as f64).sqrt();
    let left: Vec<f64> = (0..d * rank).map(|_| normal(&mut random)).collect();
    let right: Vec<f64> = (0..rank * c).map(|_| scale * normal(&mut random)).collect();
    // X₀ = LR has singular values near one, so a trace norm near its rank.
    let mut b = vec![0.0; n * c];
    let mut inner = vec![0.0; n * rank];
    for i in 0..n {
        for j in 0..d {
            for k in 0..rank {
                inner[i * rank + k] += a[i * d + j] * left[j * rank + k];
            }
        }
        for k in 0..rank {
            for y in 0..c {
                b[i * c + y] += inner[i * rank + k] * right[k * c + y];
            }
        }
    }
    let rows = Rows::dense(&a.chunks(d).map(<[f64]>::to_vec).collect::<Vec<_>>())?;
    let losses = PerOutput::new(ScalarLoss::Squared, b, c)?;
    let radius = rank as f64;
    let problem = Problem::new(&rows, losses, 10.0 / n as f64, Ball::Trace { radius }, None)?;
    let settings = Settings { method, ..Settings::default() };
    let budget = Budget { seconds: Some(seconds), ..Budget::relative(tolerance) };
    let report = trace::train(&problem, &settings, &budget, &mut ())?;
    for p in &report.history {
        println!(
            "{:8.2} s {:8.1} passes {:6} steps  primal {:.10e}  relative gap {:.3e}",
            p.solve_seconds,
            p.passes,
            p.work.steps,
            p.certificate.primal,
            p.certificate.relative_gap()
        );
    }
    println!(
        "rank {rank} {method:?}: {:?}, relative gap {:.3e}, {:.2} s solving and {:.2} s certifying, rank of X {}; {:?}",
        report.stop,
        report.certificate.relative_gap(),
        report.solve_seconds,
        report.certify_seconds,
        report.model.weights.rank(),
        report.tactics
    );
    Ok(())
}
