//! Algorithms that are the same algorithm: over one block, over all blocks at once, as a subgradient
//! method, and as the dual coordinate method of the binary SVM. The other side of each comparison is
//! written here, with dense vectors and by looking at all outputs.

use crate::common::explicit::{Explicit, dot};
use crate::common::wide::Wide;
use crate::common::{Kind, Small, calls, cases, distance, generic};
use dualgap::dual::{Algorithm, Order, Sampling, Settings, Step};
use dualgap::term::Costs;
use proptest::prelude::*;

const STEPS: [Step; 2] = [Step::LineSearch, Step::Predefined];

/// Σ mass_i ψ_i(y_i*) and Σ mass_i L_i(y_i*) for the best outputs at w.
fn best_corners(problem: &Explicit, w: &[f64]) -> (Vec<f64>, f64) {
    let (mut psi, mut loss) = (vec![0.0; problem.dim], 0.0);
    for (i, corners) in problem.examples.iter().enumerate() {
        let (corner, mass) = (&corners[problem.best(i, w)], problem.masses[i].float());
        psi.iter_mut().zip(&corner.psi).for_each(|(sum, psi)| *sum += mass * psi);
        loss += mass * corner.loss;
    }
    (psi, loss)
}

/// Algorithm 2 of the BCFW paper; the weights after each step, as far as they are decided by more
/// than rounding.
fn frank_wolfe(problem: &Explicit, step: Step, steps: usize) -> Vec<Vec<f64>> {
    let lambda = problem.lambda;
    let (mut w, mut l) = (vec![0.0; problem.dim], 0.0);
    let mut iterates = Vec::new();
    for k in 0..steps {
        if problem.is_tied(&w) {
            break;
        }
        let (psi, l_s) = best_corners(problem, &w); // lines 3 to 5
        let w_s: Vec<f64> = psi.iter().map(|psi| psi / lambda).collect();
        let toward: Vec<f64> = w_s.iter().zip(&w).map(|(s, w)| s - w).collect();
        let gap = -lambda * dot(&toward, &w) - l + l_s;
        let gamma = match step {
            Step::Predefined => 2.0 / (k as f64 + 2.0),
            Step::LineSearch if gap <= 0.0 => 0.0,
            Step::LineSearch => (gap / (lambda * dot(&toward, &toward))).min(1.0),
            other => panic!("{other:?} is none of the paper's"),
        };
        w.iter_mut().zip(&toward).for_each(|(w, toward)| *w += gamma * toward);
        l += gamma * (l_s - l);
        iterates.push(w.clone());
    }
    iterates
}

/// Compares batch Frank-Wolfe with Algorithm 2 step by step; how many steps were decided.
fn follow_algorithm_2(small: &Small, step: Step) -> usize {
    let settings = Settings { method: Algorithm::Fw, step, ..small.settings() };
    let iterates = frank_wolfe(&small.explicit(), step, 15);
    for (k, expected) in iterates.iter().enumerate() {
        let report = small.train(&settings, &calls((k as u64 + 1) * small.len() as u64));
        let apart = distance(expected, &report.model.weights);
        assert!(apart < 1e-9, "{step:?}, step {}: {apart:e}", k + 1);
    }
    iterates.len()
}

/// Whether rounding decides which output of example i is best.
fn is_tied(problem: &Explicit, i: usize, w: &[f64]) -> bool {
    let (best, corners) = (problem.best(i, w), &problem.examples[i]);
    let size = w.iter().fold(0.0_f64, |size, w| size.max(w.abs()));
    let score = |y: usize| corners[y].loss - dot(&corners[y].psi, w);
    let near = |y: usize| y != best && score(best) - score(y) < 1e-9 * (1.0 + size);
    size > 0.0 && (0..corners.len()).any(near)
}

/// Algorithm 4 of the BCFW paper over blocks in this order; the weights after each step, as far as they are decided by
/// more than rounding.
fn block_coordinate_frank_wolfe(
    problem: &Explicit,
    step: Step,
    order: impl Iterator<Item = usize>,
) -> Vec<Vec<f64>> {
    let (lambda, n) = (problem.lambda, problem.examples.len());
    let mut w = vec![0.0; problem.dim];
    let mut blocks = vec![(vec![0.0; problem.dim], 0.0); n]; // w_i and l_i
    let mut iterates = Vec::new();
    for (k, i) in order.enumerate() {
        let (corner, mass) = (&problem.examples[i][problem.best(i, &w)], problem.masses[i].float());
        let (w_i, l_i) = &mut blocks[i];
        let toward: Vec<f64> =
            corner.psi.iter().zip(&*w_i).map(|(psi, w_i)| mass * psi / lambda - w_i).collect();
        let l_s = mass * corner.loss;
        let gap = -lambda * dot(&toward, &w) - *l_i + l_s;
        let squares = lambda * dot(&toward, &toward);
        // A line search ends where outputs tie. If nothing is to be gained there, it does not matter which of them is taken.
        let nothing = step == Step::LineSearch && gap.abs() < 1e-13;
        if is_tied(problem, i, &w) && !nothing {
            break;
        }
        let gamma = match step {
            Step::Predefined => 2.0 * n as f64 / (k as f64 + 2.0 * n as f64),
            Step::LineSearch if gap <= 0.0 => 0.0,
            Step::LineSearch if squares == 0.0 => 1.0,
            Step::LineSearch => (gap / squares).min(1.0),
            other => panic!("{other:?} is none of the paper's"),
        };
        for ((w, w_i), toward) in w.iter_mut().zip(w_i).zip(&toward) {
            *w += gamma * toward;
            *w_i += gamma * toward;
        }
        *l_i += gamma * (l_s - *l_i);
        iterates.push(w.clone());
    }
    iterates
}

/// Hsieh et al. (2008), Algorithm 1 for the hinge: `min ½‖u‖² + C Σ max(0, 1 − y_i⟨u, x_i⟩)`, one
/// clipped Newton step on one α_i ∈ [0, C] after the other; u after each step.
fn coordinate_descent(x: &[Vec<f64>], y: &[f64], c: f64, steps: usize) -> Vec<Vec<f64>> {
    let mut u = vec![0.0; x[0].len()];
    let mut alpha = vec![0.0_f64; x.len()];
    let mut iterates = Vec::new();
    for step in 0..steps {
        let i = step % x.len();
        let gradient = y[i] * dot(&u, &x[i]) - 1.0;
        let before = alpha[i];
        alpha[i] = (before - gradient / dot(&x[i], &x[i])).clamp(0.0, c);
        u.iter_mut().zip(&x[i]).for_each(|(u, x)| *u += (alpha[i] - before) * y[i] * x);
        iterates.push(u.clone());
    }
    iterates
}

// Small random problems may tie early. These do not, so that not a single step goes unlooked at.
#[test]
fn all_blocks_at_once_are_algorithm_2_for_fifteen_steps() {
    for kind in Kind::all(3) {
        let small = Small::random(1, kind, 12, 3, 4);
        for step in STEPS {
            assert_eq!(follow_algorithm_2(&small, step), 15);
        }
    }
}

// Twelve passes: long enough for examples that have nothing to gain to be left out, if that were allowed.
#[test]
fn the_plain_settings_are_algorithm_4_pass_after_pass() {
    let (mut decided, mut shrunk) = (0, 0);
    for kind in Kind::all(3) {
        let small = Small { lambda: 0.5, ..Small::random(3, kind, 10, 3, 3) };
        let problem = small.explicit();
        for (sampling, step) in [
            (Sampling::Permuted, Step::LineSearch),
            (Sampling::Cyclic, Step::LineSearch),
            (Sampling::Uniform, Step::LineSearch),
            (Sampling::Permuted, Step::Predefined),
        ] {
            let settings = Settings { sampling, step, seed: 4, ..small.settings() };
            // A permutation for every pass, and nobody is left out.
            let mut order = Order::new(sampling, small.len(), settings.seed, false);
            let order = std::iter::repeat_with(|| order.next_block()).take(12 * small.len());
            let iterates = block_coordinate_frank_wolfe(&problem, step, order);
            decided += iterates.len();
            for (k, expected) in iterates.iter().enumerate() {
                let report = small.train(&settings, &calls(k as u64 + 1));
                let apart = distance(expected, &report.model.weights);
                assert!(apart < 1e-9, "{sampling:?} {step:?}, step {}: {apart:e}", k + 1);
            }
            let last = calls(iterates.len() as u64);
            let shrinking = Settings { shrinking: true, ..settings };
            let apart = distance(
                &iterates[iterates.len() - 1],
                &small.train(&shrinking, &last).model.weights,
            );
            shrunk += usize::from(apart > 1e-6);
        }
    }
    assert!(decided > 16 * 12 * 10 / 2, "{decided} steps are decided by more than rounding");
    assert!(shrunk > 0, "nobody would have been left out, so nothing was tested");
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn over_one_block_bcfw_is_frank_wolfe(small in generic()) {
        let small = small.select(&[0]);
        for step in STEPS {
            for k in 1..=12 {
                let run = |method| {
                    small.train(&Settings { method, step, ..small.settings() }, &calls(k))
                };
                let (blockwise, batch) = (run(Algorithm::Bcfw), run(Algorithm::Fw));
                let apart = distance(&blockwise.model.weights, &batch.model.weights);
                prop_assert!(apart < 1e-9, "{step:?}, {k} steps: {apart:e}");
                prop_assert_eq!(blockwise.work, batch.work);
                let (a, b) = (blockwise.certificate, batch.certificate);
                prop_assert!((a.primal - b.primal).abs() < 1e-9 * a.primal.max(1.0));
                prop_assert!((a.dual - b.dual).abs() < 1e-9 * a.primal.max(1.0));
            }
        }
    }

    #[test]
    fn all_blocks_at_once_are_algorithm_2(small in generic()) {
        for step in STEPS {
            let steps = follow_algorithm_2(&small, step);
            prop_assert!(steps > 0);
        }
    }

    // The step length is found without the closed form: the dual along the segment is a parabola, and
    // three of its values, computed to 32 digits, give its top.
    #[test]
    fn frank_wolfe_is_the_subgradient_method_with_step_gamma_over_lambda(small in generic()) {
        let problem = small.explicit();
        let settings = Settings { method: Algorithm::Fw, ..small.settings() };
        let run = |k: u64| small.train(&settings, &calls(k * small.len() as u64)).model;
        for k in 0..12 {
            let (now, next) = (run(k), run(k + 1));
            let w = &now.weights;
            if problem.is_tied(w) {
                break;
            }
            let (psi, _) = best_corners(&problem, w);
            let subgradient: Vec<f64> =
                w.iter().zip(&psi).map(|(w, psi)| problem.lambda * w - psi).collect();

            let alpha = small.distributions(&now.points);
            let dual = |gamma: f64| {
                let moved: Vec<Vec<Wide>> = alpha.iter().enumerate().map(|(i, alpha)| {
                    let best = problem.best(i, w);
                    let mix = |(y, &a): (usize, &Wide)| {
                        let corner = Wide::from(f64::from(u8::from(y == best)));
                        a + Wide::from(gamma) * (corner - a)
                    };
                    alpha.iter().enumerate().map(mix).collect()
                }).collect();
                problem.dual(&moved)
            };
            let (start, middle, end) = (dual(0.0), dual(0.5), dual(1.0));
            let (two, four) = (Wide::from(2.0), Wide::from(4.0));
            let bend = (start - two * middle + end) * two; // the coefficient of γ²
            let slope = four * middle - Wide::from(3.0) * start - end; // that of γ
            let top = if bend < Wide::ZERO { (-slope / (bend + bend)).float() } else { 1.0 };
            let gamma = top.clamp(0.0, 1.0);

            let expected: Vec<f64> = w.iter().zip(&subgradient)
                .map(|(w, g)| w - gamma / problem.lambda * g).collect();
            let apart = distance(&expected, &next.weights);
            prop_assert!(apart < 1e-9, "step {}: {apart:e}", k + 1);
        }
    }

    // Two classes have ψ = ±x ⊗ (e₊ − e₋), so w₊ = −w₋ = u/2 with u = w₊ − w₋, ‖w‖² = ‖u‖²/2, and
    // λ/2‖w‖² = (λ/2)/2 ‖u‖²: the binary λ is λ/2, and C = 1/(λ_binary n) = 2/(λn).
    #[test]
    fn with_two_classes_bcfw_is_the_dual_coordinate_method_of_the_binary_svm(
        small in generic(),
        signs in prop::collection::vec(any::<bool>(), 5),
    ) {
        let n = small.len();
        let small = Small {
            kind: Kind::Multiclass(Costs::ZeroOne),
            labels: 2,
            inputs: small.inputs.iter().map(|positions| vec![positions[0].clone()]).collect(),
            truths: signs[..n].iter().map(|&sign| vec![u16::from(sign)]).collect(),
            weights: None,
            ..small
        };
        let x: Vec<Vec<f64>> = small.inputs.concat();
        let y: Vec<f64> = signs.iter().map(|&sign| if sign { 1.0 } else { -1.0 }).collect();
        let settings = Settings { sampling: Sampling::Cyclic, ..small.settings() };
        let c = 2.0 / (small.lambda * n as f64);
        for (k, u) in coordinate_descent(&x, &y, c, 10 * n).iter().enumerate() {
            let report = small.train(&settings, &calls(k as u64 + 1));
            let class = |y: usize| -> Vec<f64> {
                report.model.weights.iter().skip(y).step_by(2).copied().collect()
            };
            let (minus, plus) = (class(0), class(1));
            let difference: Vec<f64> = plus.iter().zip(&minus).map(|(p, m)| p - m).collect();
            let sum: Vec<f64> = plus.iter().zip(&minus).map(|(p, m)| p + m).collect();
            let apart = distance(u, &difference);
            prop_assert!(apart < 1e-9, "step {}: {apart:e}", k + 1);
            prop_assert!(distance(&sum, &vec![0.0; sum.len()]) < 1e-9);

            let hinges = x.iter().zip(&y).map(|(x, y)| (1.0 - y * dot(u, x)).max(0.0));
            let binary = small.lambda / 4.0 * dot(u, u) + hinges.sum::<f64>() / n as f64;
            let primal = report.certificate.primal;
            prop_assert!((primal - binary).abs() < 1e-9 * binary.max(1.0));
        }
    }
}
