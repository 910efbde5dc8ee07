//! Both sides of a problem in the l1 ball by their formulas, to 32 digits, without a line of the library's.

use crate::balls::case::{Case, Kind};
use crate::common::losses::{dual_term, phi, x_ln_x};
use crate::common::wide::{Wide, exp, ln, wide};
use dualgap::term::{MulticlassLoss, ScalarLoss};

/// The nearest α of the domain.
fn feasible(loss: ScalarLoss, alpha: f64, y: f64) -> f64 {
    match loss {
        ScalarLoss::SmoothHinge { .. } | ScalarLoss::Logistic => y * (y * alpha).clamp(0.0, 1.0),
        ScalarLoss::SquaredHinge => y * (y * alpha).max(0.0),
        ScalarLoss::Huber { width } => alpha.clamp(-width, width),
        _ => alpha,
    }
}

/// The θ at which Σ max(x − θ, 0) is the radius, by sorting.
fn level(mut x: Vec<Wide>, radius: Wide) -> Wide {
    x.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let (mut sum, mut level) = (Wide::ZERO, Wide::ZERO);
    for (k, &x) in x.iter().enumerate() {
        sum = sum + x;
        let candidate = (sum - radius) / wide(k as f64 + 1.0);
        if candidate >= x {
            break;
        }
        level = candidate;
    }
    level
}

/// ⟨β, s⟩ − R(β) at the best β, less the score of the truth.
fn phi_of_classes(loss: MulticlassLoss, mut scores: Vec<Wide>, truth: usize) -> Wide {
    let own = scores[truth];
    match loss {
        MulticlassLoss::Softmax => {
            let top = scores.iter().copied().fold(own, Wide::max);
            ln(scores.iter().map(|&s| exp(s - top)).sum()) + top - own
        }
        MulticlassLoss::SmoothHinge { width } => {
            scores.iter_mut().enumerate().for_each(|(j, s)| {
                *s = *s + wide(f64::from(u8::from(j != truth)));
            });
            // Scores far below the others never count, and a level below zero does not occur among shifted ones.
            let least = scores.iter().copied().fold(scores[0], |a, b| if b < a { b } else { a });
            let shifted: Vec<Wide> = scores.iter().map(|&s| (s - least) / wide(width)).collect();
            let (one, low) = (Wide::ONE, wide(1e9));
            // Above a billion so that the level is positive: then it is the one of the simplex.
            let level = level(shifted.iter().map(|&s| s + low).collect(), one) - low;
            let beta: Vec<Wide> = shifted.iter().map(|&s| (s - level).max(Wide::ZERO)).collect();
            let linear: Wide = beta.iter().zip(&scores).map(|(&b, &s)| b * s).sum();
            let squares: Wide = beta.iter().map(|&b| b * b).sum();
            linear - wide(width / 2.0) * squares - own
        }
        MulticlassLoss::Hinge => panic!("not smooth"),
    }
}

fn masses(case: &Case) -> Vec<Wide> {
    let counts = case.weights.clone().unwrap_or(vec![1.0; case.len()]);
    let total: Wide = counts.iter().map(|&c| wide(c)).sum();
    counts.into_iter().map(|c| wide(c) / total).collect()
}

/// P(X).
pub fn primal(case: &Case, x: &[f64]) -> Wide {
    let c = case.kind.outputs();
    let mut total: Wide = x.iter().map(|&x| wide(x) * wide(x)).sum::<Wide>() * wide(case.mu / 2.0);
    for (i, mass) in masses(case).into_iter().enumerate() {
        let score = |k: usize| -> Wide {
            case.rows[i].iter().enumerate().map(|(j, &a)| wide(a) * wide(x[j * c + k])).sum()
        };
        let loss = match case.kind {
            Kind::Outputs(loss, _) => {
                (0..c).map(|k| phi(loss, score(k), case.targets[i * c + k])).sum()
            }
            Kind::Classes(loss, _) => {
                phi_of_classes(loss, (0..c).map(score).collect(), case.targets[i] as usize)
            }
        };
        total = total + mass * loss;
    }
    total
}

/// D(α), at the nearest α of the domain, for classes at e_y − α divided by its sum.
pub fn dual(case: &Case, alpha: &[f64]) -> Wide {
    let c = case.kind.outputs();
    let mut v = vec![Wide::ZERO; case.rows[0].len() * c];
    let mut total = Wide::ZERO;
    for (i, mass) in masses(case).into_iter().enumerate() {
        let mut alpha: Vec<Wide> = alpha[i * c..][..c].iter().map(|&x| wide(x)).collect();
        let own = match case.kind {
            Kind::Outputs(loss, _) => {
                let each = alpha.iter_mut().zip(&case.targets[i * c..]);
                each.map(|(alpha, &y)| {
                    *alpha = wide(feasible(loss, alpha.float(), y));
                    dual_term(loss, *alpha, y)
                })
                .sum()
            }
            Kind::Classes(loss, _) => {
                let truth = case.targets[i] as usize;
                let one = |j: usize| wide(f64::from(u8::from(j == truth)));
                let mut beta: Vec<Wide> = (0..c).map(|j| one(j) - alpha[j]).collect();
                let sum: Wide = beta.iter().copied().sum();
                beta.iter_mut().for_each(|b| *b = *b / sum);
                alpha = (0..c).map(|j| one(j) - beta[j]).collect();
                match loss {
                    MulticlassLoss::Softmax => -beta.iter().map(|&b| x_ln_x(b)).sum::<Wide>(),
                    MulticlassLoss::SmoothHinge { width } => {
                        let squares: Wide = beta.iter().map(|&b| b * b).sum();
                        Wide::ONE - beta[truth] - wide(width / 2.0) * squares
                    }
                    MulticlassLoss::Hinge => panic!("not smooth"),
                }
            }
        };
        total = total + mass * own;
        for (j, &a) in case.rows[i].iter().enumerate() {
            for k in 0..c {
                v[j * c + k] = v[j * c + k] + mass * wide(a) * alpha[k];
            }
        }
    }
    let (mu, radius) = (wide(case.mu), wide(case.radius));
    let sizes: Vec<Wide> = v.into_iter().map(Wide::abs).collect();
    if case.mu == 0.0 {
        return total - radius * sizes.into_iter().fold(Wide::ZERO, Wide::max);
    }
    let within = sizes.iter().copied().sum::<Wide>() <= mu * radius;
    let level = if within { Wide::ZERO } else { level(sizes.clone(), mu * radius) };
    let squares: Wide = sizes
        .iter()
        .map(|&v| {
            let left = (v - level).max(Wide::ZERO);
            left * left
        })
        .sum();
    total - squares / (wide(2.0) * mu) - radius * level
}
