//! What the engine's generality costs: multiclass BCFW through `Blocks`, `Link` and `Solver`, beside the
//! same algorithm written by hand for sparse rows and the 0/1 loss and nothing else.

use clap::Args;
use dualgap::data::{Alphabet, Classes, Examples};
use dualgap::dual::{Engine, Problem, Sampling, Settings};
use dualgap::linalg::{Random, Rows, add_scores};
use dualgap::run::{Quota, Solver};
use dualgap::structure::MulticlassBlocks;
use dualgap::term::{Costs, L2};
use dualgap::{Error, Result};
use std::time::Instant;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Examples.
    #[arg(long, default_value_t = 20_000)]
    examples: usize,
    /// Features.
    #[arg(long, default_value_t = 5_000)]
    features: usize,
    /// Features of a row.
    #[arg(long, default_value_t = 50)]
    stored: usize,
    /// How often each side runs; the fastest of each counts.
    #[arg(long, default_value_t = 7)]
    repetitions: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { examples: 20_000, features: 5_000, stored: 50, repetitions: 7 }
    }
}

const PASSES: usize = 5;

pub fn run(options: &Options) -> Result<()> {
    let Options { examples, features, stored, repetitions } = *options;
    println!(
        "dualgap-bench engine --examples {examples} --features {features} --stored {stored} \
         --repetitions {repetitions}"
    );
    for classes in [2, 5, 20] {
        let data = generate(options, classes)?;
        let lambda = 1.0 / examples as f64;
        let (mut by_engine, mut by_hand) = (f64::INFINITY, f64::INFINITY);
        let mut distance: f64 = 0.0;
        for _ in 0..repetitions {
            let (w, seconds) = with_engine(&data, lambda)?;
            by_engine = by_engine.min(seconds);
            let (v, seconds) = hand_written(&data, lambda)?;
            by_hand = by_hand.min(seconds);
            distance = w.iter().zip(&v).map(|(w, v)| (w - v).abs()).fold(distance, f64::max);
        }
        println!(
            "  {classes:>2} classes, {PASSES} passes: engine {by_engine:.4} s, by hand {by_hand:.4} s, \
             ratio {:.3}; weights differ by {distance:.1e}",
            by_engine / by_hand
        );
    }
    println!();
    Ok(())
}

fn with_engine(data: &Examples, lambda: f64) -> Result<(Vec<f64>, f64)> {
    let blocks = MulticlassBlocks::new(data, &Costs::ZeroOne)?;
    let settings = Settings {
        lambda,
        threads: 1,
        sampling: Sampling::Cyclic,
        shrinking: false,
        ..Settings::plain()
    };
    let mut engine = Engine::new(Problem::new(&blocks, L2, lambda, None)?, &settings)?;
    let calls = engine.calls_per_pass() * PASSES as u64;
    let quota = Quota { oracle_calls: calls, steps: u64::MAX, pause: calls, halted: &|| false };
    let start = Instant::now();
    engine.advance(&quota)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((engine.weights(), seconds))
}

/// Algorithm 4 for one problem only: no traits, no options, dense dual variables.
fn hand_written(data: &Examples, lambda: f64) -> Result<(Vec<f64>, f64)> {
    let labels = data.classes()?;
    let (n, classes) = (data.len(), labels.alphabet().len());
    let labels = labels.numbers();
    let scale = 1.0 / (lambda * n as f64);
    let norms: Vec<f64> = (0..n).map(|i| data.rows().row(i).squared_norm()).collect();
    let mut w = vec![0.0; data.rows().width() * classes];
    let mut alpha = vec![0.0; n * classes];
    for i in 0..n {
        alpha[i * classes + labels[i] as usize] = 1.0;
    }
    let mut scores = vec![0.0; classes];
    let mut d = vec![0.0; classes];
    let start = Instant::now();
    for _ in 0..PASSES {
        for i in 0..n {
            let truth = labels[i] as usize;
            let row = data.rows().row(i);
            scores.fill(1.0);
            scores[truth] = 0.0;
            add_scores(row, &w, &mut scores);
            let mut best = 0;
            for y in 1..classes {
                if scores[y] > scores[best] {
                    best = y;
                }
            }
            let alpha = &mut alpha[i * classes..(i + 1) * classes];
            d.copy_from_slice(alpha);
            d[best] -= 1.0;
            let gap: f64 = -d.iter().zip(&scores).map(|(d, a)| d * a).sum::<f64>();
            if gap <= 0.0 {
                continue;
            }
            let curvature = norms[i] * d.iter().map(|d| d * d).sum::<f64>();
            let gamma = (gap / (scale * curvature)).min(1.0);
            alpha.iter_mut().for_each(|alpha| *alpha *= 1.0 - gamma);
            alpha[best] += gamma;
            row.for_each(|f, x| {
                let run = &mut w[f * classes..(f + 1) * classes];
                for (w, d) in run.iter_mut().zip(&d) {
                    *w += gamma * scale * d * x;
                }
            });
        }
    }
    Ok((w, start.elapsed().as_secs_f64()))
}

/// Sparse rows around a random centre for each class, with some noise in the labels.
fn generate(options: &Options, classes: usize) -> Result<Examples> {
    let mut random = Random::new(1);
    let mut rows = Rows::sparse();
    let mut labels = Vec::with_capacity(options.examples);
    for _ in 0..options.examples {
        let class = random.below(classes);
        let mut row: Vec<(u32, f64)> = (0..options.stored)
            .map(|_| {
                // Half of the features are typical of the class.
                let f = random.below(options.features);
                let f = if random.unit() < 0.5 { f / classes * classes + class } else { f };
                (f.min(options.features - 1) as u32, 2.0 * random.unit() - 0.5)
            })
            .collect();
        row.sort_by_key(|&(f, _)| f);
        row.dedup_by_key(|&mut (f, _)| f);
        rows.push_sparse(&row);
        labels.push(if random.unit() < 0.1 { random.below(classes) } else { class } as u32);
    }
    let alphabet = Alphabet::new((0..classes).map(|class| class.to_string()));
    if alphabet.len() != classes {
        return Err(Error::setting("every class needs a name"));
    }
    Examples::new(rows, Classes::new(labels, alphabet)?)
}
