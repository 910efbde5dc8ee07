//! Iterates and averages, step by step, against dense references that are written from the formulas.

use crate::common::explicit::{Explicit, dot};
use crate::common::{Kind, Small, distance, with_blocks, with_oracle};
use crate::subgradient::{AVERAGES, METHODS, grids, settings, step};
use dualgap::data::{Classes, Examples};
use dualgap::dual::{Blocks, Order, Problem, Sampling};
use dualgap::linalg::{Random, Rows};
use dualgap::methods::subgradient::{
    Subgradient, SubgradientAverage, SubgradientMethod, SubgradientSettings,
};
use dualgap::structure::{
    Choice, LinearBlocks, LinkLoss, MatchingBlocks, MatchingOracle, OracleBlocks, ScoreBlocks,
};
use dualgap::term::{Costs, L2, MulticlassLoss, ScalarLoss};

/// `w ← (1 − 1/(k+1))w + ψ/(λ(k+1))` from w = 0, where ψ is what `psi` returns for the blocks of a step, each with its
/// factor; the weights after every step, as long as `psi` returns something.
fn pegasos(
    (n, dim, lambda): (usize, usize, f64),
    settings: &SubgradientSettings,
    steps: usize,
    psi: impl Fn(usize, &[f64]) -> Option<Vec<f64>>,
    mass: impl Fn(usize) -> f64,
) -> Vec<Vec<f64>> {
    let mut order = Order::new(settings.sampling, n, settings.seed, false);
    let mut w = vec![0.0; dim];
    let mut iterates = Vec::new();
    for k in 0..steps {
        let chosen: Vec<(usize, f64)> = match settings.method {
            SubgradientMethod::Stochastic => {
                let i = order.next_block();
                vec![(i, n as f64 * mass(i))]
            }
            SubgradientMethod::Batch => (0..n).map(|i| (i, mass(i))).collect(),
        };
        let mut sum = vec![0.0; dim];
        for (i, factor) in chosen {
            let Some(psi) = psi(i, &w) else { return iterates };
            sum.iter_mut().zip(&psi).for_each(|(sum, psi)| *sum += factor * psi);
        }
        let share = 1.0 / (k as f64 + 1.0);
        w.iter_mut().zip(&sum).for_each(|(w, psi)| *w = (1.0 - share) * *w + share * psi / lambda);
        iterates.push(w.clone());
    }
    iterates
}

/// The average of these iterates, or `None` if it does not begin at a step that all implementations would choose.
fn average(kind: SubgradientAverage, iterates: &[Vec<f64>]) -> Vec<f64> {
    let k = iterates.len();
    let begin = match kind {
        SubgradientAverage::Doubling => 1 << k.ilog2(),
        SubgradientAverage::Suffix { fraction } => {
            // The last of 0, 1, …, 16, 18, 20, …, each an eighth further, that is before ⌈(1 − f)k⌉.
            let wanted = ((1.0 - fraction) * k as f64).ceil() as usize;
            let mut stored = 0;
            while stored + (stored / 8).max(1) < wanted {
                stored += (stored / 8).max(1);
            }
            stored + 1
        }
        _ => 1,
    };
    let weight = |t: usize| if kind == SubgradientAverage::Weighted { t as f64 } else { 1.0 };
    let total: f64 = (begin..=k).map(weight).sum();
    let coordinate = |j: usize| (begin..=k).map(|t| weight(t) * iterates[t - 1][j]).sum::<f64>();
    (0..iterates[0].len()).map(|j| coordinate(j) / total).collect()
}

/// Whether rounding decides which output of example i is best.
fn is_tied(problem: &Explicit, i: usize, w: &[f64]) -> bool {
    let (best, corners) = (problem.best(i, w), &problem.examples[i]);
    let size = w.iter().fold(0.0_f64, |size, w| size.max(w.abs()));
    let score = |y: usize| corners[y].loss - dot(&corners[y].psi, w);
    let near = |y: usize| y != best && score(best) - score(y) < 1e-9 * (1.0 + size);
    size > 0.0 && (0..corners.len()).any(near)
}

/// Compares a method with the iterates of a reference, its average with theirs, and at the end of every pass in rounds
/// the image of the corners' means with w.
fn follow<B: Blocks>(
    blocks: &B,
    (lambda, weights): (f64, Option<&[f64]>),
    settings: &SubgradientSettings,
    iterates: &[Vec<f64>],
) {
    let problem = Problem::new(blocks, L2, lambda, weights).unwrap();
    let mut method = Subgradient::new(blocks, lambda, weights, settings).unwrap();
    let pass = match settings.method {
        SubgradientMethod::Stochastic => blocks.len(),
        SubgradientMethod::Batch => 1,
    };
    for (k, expected) in (1..).zip(iterates) {
        step(&mut method);
        let w = method.iterate();
        let apart = distance(expected, &w);
        assert!(apart < 1e-9, "{settings:?}, step {k}: {apart:e}");
        match (settings.average, method.average()) {
            (SubgradientAverage::None, none) => assert!(none.is_none()),
            (kind, mean) => {
                let apart = distance(&average(kind, &iterates[..k]), &mean.unwrap());
                assert!(apart < 1e-9, "{settings:?}, average after {k}: {apart:e}");
            }
        }
        if settings.sampling != Sampling::Uniform && k % pass == 0 {
            let image = problem.dual(method.corner_means()).unwrap().v;
            assert!(distance(&image, &w) < 1e-12, "{settings:?}, pass {}", k / pass);
        }
    }
}

fn ways() -> Vec<SubgradientSettings> {
    let mut ways = Vec::new();
    for method in METHODS {
        ways.extend(AVERAGES.map(|average| settings(method, average)));
    }
    let uniform = SubgradientSettings {
        sampling: Sampling::Uniform,
        ..settings(SubgradientMethod::Stochastic, SubgradientAverage::Weighted)
    };
    ways.push(uniform);
    ways
}

#[test]
fn structural_steps_are_those_of_pegasos_with_any_average() {
    let mut decided = 0;
    for (kind, seed) in Kind::all(3).into_iter().zip(1..) {
        let small = Small::random(seed, kind, 7, 3, 3);
        let counts = (0..7).map(|i| 0.5 + f64::from(i % 4)).collect();
        let small = Small { weights: (seed % 2 == 0).then_some(counts), lambda: 0.3, ..small };
        let small = if seed == 2 { small.with_pairs(5, 2) } else { small };
        let problem = small.explicit();
        let psi = |i: usize, w: &[f64]| {
            let tied = is_tied(&problem, i, w);
            (!tied).then(|| problem.examples[i][problem.best(i, w)].psi.clone())
        };
        let size = (small.len(), small.dim(), small.lambda);
        for settings in ways() {
            let mass = |i: usize| problem.masses[i].float();
            let iterates = pegasos(size, &settings, 42, psi, mass);
            decided += iterates.len();
            let under = (small.lambda, small.weights.as_deref());
            with_blocks!(small, |blocks| follow(&blocks, under, &settings, &iterates));
            // An oracle knows no search at a quotient: it gets the weights written out.
            with_oracle!(small, |oracle, examples| {
                let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
                follow(&blocks, under, &settings, &iterates);
            });
        }
    }
    assert!(decided > 4 * 13 * 42 * 3 / 4, "{decided} steps are decided by more than rounding");
}

#[test]
fn matchings_take_the_same_steps_as_their_oracle() {
    let data = grids(6);
    let (loss, lambda) = (LinkLoss::default(), 0.2);
    let blocks = MatchingBlocks::new(&data, loss).unwrap();
    let oracle = MatchingOracle::new(3, loss);
    let examples: Vec<_> =
        (0..data.len()).map(|i| (data.graph(i), data.graph(i).truth().collect())).collect();
    let by_oracle = OracleBlocks::new(&oracle, &examples).unwrap();
    for method in METHODS {
        let settings = settings(method, SubgradientAverage::Weighted);
        let mut reference = Subgradient::new(&by_oracle, lambda, None, &settings).unwrap();
        let mut iterates = Vec::new();
        for _ in 0..30 {
            step(&mut reference);
            iterates.push(reference.iterate());
        }
        assert!(iterates[29].iter().any(|w| w.abs() > 0.1));
        follow(&blocks, (lambda, None), &settings, &iterates);
    }
}

fn table(n: usize, width: usize) -> Vec<Vec<f64>> {
    let mut random = Random::new(11);
    (0..n).map(|_| (0..width).map(|_| 2.0 * random.unit() - 1.0).collect()).collect()
}

/// φ' by its formula, of a prediction and its target.
type Slope = fn(f64, f64) -> f64;

#[test]
fn for_losses_of_a_prediction_the_steps_are_stochastic_gradients() {
    let x = table(6, 4);
    let y: Vec<f64> = x.iter().map(|x| if x[0] + 0.3 * x[1] > 0.1 { 1.0 } else { -1.0 }).collect();
    let losses: [(ScalarLoss, Slope); 3] = [
        (ScalarLoss::Hinge, |a, y| if y * a < 1.0 { -y } else { 0.0 }),
        (ScalarLoss::Logistic, |a, y| -y / (1.0 + (y * a).exp())),
        (ScalarLoss::Squared, |a, y| a - y),
    ];
    for sparse in [false, true] {
        let mut rows = Rows::dense(&x).unwrap();
        if sparse {
            rows = Rows::sparse();
            for x in &x {
                let entries: Vec<_> = x.iter().enumerate().map(|(j, &x)| (j as u32, x)).collect();
                rows.push_sparse(&entries);
            }
        }
        for (loss, slope) in losses {
            let blocks = LinearBlocks::new(&rows, y.clone(), loss, Choice::I).unwrap();
            let weights = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0];
            for settings in ways() {
                let psi = |i: usize, w: &[f64]| {
                    let slope = slope(dot(w, &x[i]), y[i]);
                    Some(x[i].iter().map(|x| -slope * x).collect())
                };
                let mass = |i: usize| weights[i] / 7.5;
                let iterates = pegasos((6, 4, 0.4), &settings, 25, psi, mass);
                follow(&blocks, (0.4, Some(&weights)), &settings, &iterates);
            }
        }
    }
}

#[test]
fn under_softmax_the_steps_are_stochastic_gradients() {
    let (x, labels) = (table(5, 3), vec![0, 1, 2, 1, 0]);
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let classes = Classes::new(labels.clone(), names.into()).unwrap();
    let data = Examples::new(Rows::dense(&x).unwrap(), classes).unwrap();
    let softmax = MulticlassLoss::Softmax;
    let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, softmax, Choice::I).unwrap();
    for method in METHODS {
        let settings = settings(method, SubgradientAverage::Uniform);
        // x ⊗ (e_y − p), laid out by feature.
        let psi = |i: usize, w: &[f64]| {
            let score = |y: usize| (0..3).map(|f| x[i][f] * w[f * 3 + y]).sum::<f64>().exp();
            let scores = [score(0), score(1), score(2)];
            let total: f64 = scores.iter().sum();
            let d = |y: usize| f64::from(u8::from(y == labels[i] as usize)) - scores[y] / total;
            Some((0..9).map(|place| x[i][place / 3] * d(place % 3)).collect())
        };
        let iterates = pegasos((5, 9, 0.2), &settings, 25, psi, |_| 0.2);
        follow(&blocks, (0.2, None), &settings, &iterates);
    }
}
