//! Runs of visits in one loop, against the textbook's loop over the same order: the same points and weights, to the last bit.

use dualgap::dual::{Engine, Order, Problem, Sampling, Settings};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Quota, Solver};
use dualgap::structure::{Choice, LinearBlocks};
use dualgap::term::{L2, Loss, ScalarLoss};

const VISITS: u64 = 1000;

fn generated(n: usize, d: usize) -> (Rows, Vec<f64>) {
    let mut random = Random::new(5);
    let (mut rows, mut targets) = (Rows::sparse(), Vec::new());
    for _ in 0..n {
        let mut entries = Vec::new();
        for j in 0..d as u32 {
            if random.below(3) == 0 {
                entries.push((j, random.unit() - 0.3));
            }
        }
        rows.push_sparse(&entries);
        targets.push(if random.below(2) == 0 { 1.0 } else { -1.0 });
    }
    rows.fit_width(d);
    (rows, targets)
}

#[test]
fn a_sweep_is_exact_coordinate_ascent_step_by_step() {
    let (rows, targets) = generated(300, 12);
    let lambda = 0.01;
    let scale = 1.0 / 300.0 / lambda;
    for loss in
        [ScalarLoss::Hinge, ScalarLoss::SquaredHinge, ScalarLoss::Logistic, ScalarLoss::Squared]
    {
        for sampling in [Sampling::Permuted, Sampling::Cyclic, Sampling::Chunked] {
            let blocks = LinearBlocks::new(&rows, targets.clone(), loss, Choice::I).unwrap();
            let settings = Settings { sampling, threads: 1, lambda, ..Settings::plain() };
            let problem = Problem::new(&blocks, L2, lambda, None).unwrap();
            let mut engine = Engine::new(problem, &settings).unwrap();
            let quota =
                Quota { oracle_calls: VISITS, steps: u64::MAX, pause: VISITS, halted: &|| false };
            engine.advance(&quota).unwrap();

            let mut order = Order::new(sampling, 300, settings.seed, false);
            let (mut w, mut alpha) = (vec![0.0; 12], vec![0.0; 300]);
            for _ in 0..VISITS {
                let i = order.next_block();
                let (row, y) = (rows.row(i), targets[i]);
                // Every other entry by itself, as scores are added up.
                let half = |first| -> f64 {
                    row.iter().skip(first).step_by(2).map(|(j, x)| x * w[j]).sum()
                };
                let a = half(0) + half(1);
                let squares: f64 = row.squared_norm();
                let to = loss.maximizer(a, y, alpha[i], scale * squares);
                let step = scale * (to - alpha[i]);
                row.iter().for_each(|(j, x)| w[j] += step * x);
                alpha[i] = to;
            }
            assert_eq!(engine.points(), alpha, "{loss:?} {sampling:?}");
            assert_eq!(engine.weights(), w, "{loss:?} {sampling:?}");
        }
    }
}
